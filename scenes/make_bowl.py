# SPDX-License-Identifier: Apache-2.0
"""Writes bowl.obj: a thick hemispherical bowl, closed and not convex. Run it again after changing the numbers."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

OUTER, INNER = 0.30, 0.26  # radii [m]
SECTORS, RINGS = 16, 5  # around, and from the pole to the rim


def bowl() -> tuple[list[tuple[float, float, float]], list[tuple[int, int, int]]]:
    """Vertices and triangles: outer half sphere below, inner half sphere above it, joined at the rim z = 0."""
    vertices, triangles = [], []
    rings = []
    for radius in (OUTER, INNER):
        pole = len(vertices)
        vertices.append((0.0, 0.0, -radius))
        shell = []
        for ring in range(1, RINGS + 1):
            polar = 0.5 * math.pi * ring / RINGS
            shell.append(len(vertices))
            for sector in range(SECTORS):
                angle = 2.0 * math.pi * sector / SECTORS
                across, down = radius * math.sin(polar), -radius * math.cos(polar) if ring < RINGS else 0.0
                vertices.append((across * math.cos(angle), across * math.sin(angle), down))
        rings.append((pole, shell))
    for flip, (pole, shell) in zip((False, True), rings, strict=True):
        for sector in range(SECTORS):
            following = (sector + 1) % SECTORS
            faces = [(pole, shell[0] + following, shell[0] + sector)]
            for lower, upper in itertools.pairwise(shell):
                faces += _quad(lower + sector, lower + following, upper + following, upper + sector)
            triangles += [face[::-1] if flip else face for face in faces]
    outer, inner = rings[0][1][-1], rings[1][1][-1]
    for sector in range(SECTORS):
        following = (sector + 1) % SECTORS
        triangles += _quad(outer + sector, outer + following, inner + following, inner + sector)
    return vertices, triangles


def _quad(a: int, b: int, c: int, d: int) -> list[tuple[int, int, int]]:
    return [(a, b, c), (a, c, d)]


def main() -> None:
    vertices, triangles = bowl()
    lines = ["# SPDX-License-Identifier: CC0-1.0", "# written by make_bowl.py"]
    lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in vertices]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in triangles]
    Path(__file__).with_name("bowl.obj").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
