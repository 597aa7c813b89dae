# SPDX-License-Identifier: Apache-2.0
"""Meshes that designs start from."""

from __future__ import annotations

import numpy as np

import farfield as ff

RINGS = {32: (5, 6), 64: (6, 10), 128: (9, 14), 256: (14, 18)}  # vertices -> rings and their vertices, about


def ellipsoid(name: str, half_axes, vertices: int = 32) -> ff.TriangleMesh:
    """Rings of vertices between two poles on z; ``vertices``: 32, 64, 128 or 256 (62, 128 and 254 in truth but for the first)."""
    rings, sides = RINGS[vertices]
    latitude = np.pi * np.arange(1, rings + 1) / (rings + 1)
    longitude = 2.0 * np.pi * np.arange(sides) / sides
    ring = np.stack([np.cos(longitude), np.sin(longitude)], axis=1)
    points = [[0.0, 0.0, 1.0]]
    points += [[np.sin(t) * c, np.sin(t) * s, np.cos(t)] for t in latitude for c, s in ring]
    points.append([0.0, 0.0, -1.0])
    last, triangles = len(points) - 1, []
    for k in range(sides):
        following = (k + 1) % sides
        triangles.append([0, 1 + k, 1 + following])
        for r in range(rings - 1):
            a, b = 1 + r * sides + k, 1 + r * sides + following
            triangles += [[a, a + sides, b + sides], [a, b + sides, b]]
        first = 1 + (rings - 1) * sides
        triangles.append([last, first + following, first + k])
    return ff.TriangleMesh(name=name, vertices=np.array(points) * np.asarray(half_axes), triangles=triangles)
