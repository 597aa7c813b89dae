# SPDX-License-Identifier: Apache-2.0
"""Billiard balls: the rack that the task and the benchmarks share, and coarse balls that stand on a face."""

from __future__ import annotations

import itertools
import math

import numpy as np

import farfield as ff

RADIUS = 0.1  # of a ball [m]
ROWS = 5  # of the rack: 15 balls


def rack_places(spacing: float) -> np.ndarray:
    """A triangle of five rows that points against x, shape (15, 2) [m]; ``spacing``: between the centres of neighbours."""
    seats = [(row, seat - 0.5 * row) for row in range(ROWS) for seat in range(row + 1)]
    return np.array([(row * spacing * math.sqrt(3.0) / 2.0, seat * spacing) for row, seat in seats])


def ball_mesh(radius: float, frequency: int) -> ff.TriangleMesh:
    """An octahedron with every edge cut into ``frequency`` parts, all corners on the sphere: 8 frequency^2 triangles.

    Turned so that it stands on the middle triangle of a side (which exists unless frequency is a multiple of 3).
    """
    corners: dict[tuple[int, int, int], int] = {}
    triangles = []

    def corner(grid: tuple[int, int, int]) -> int:
        return corners.setdefault(grid, len(corners))

    upward, downward = ((1, 0, 0), (0, 1, 0), (0, 0, 1)), ((0, 1, 1), (1, 0, 1), (1, 1, 0))
    for signs in itertools.product((1, -1), repeat=3):
        for shape, rest in ((upward, frequency - 1), (downward, frequency - 2)):
            for i, j in itertools.product(range(rest + 1), repeat=2):
                if i + j > rest:
                    continue
                base = np.array([i, j, rest - i - j])
                points = [corner(tuple(np.array(signs) * (base + np.array(offset)))) for offset in shape]
                triangles.append(points if math.prod(signs) > 0 else points[::-1])
    grid = np.array(list(corners), dtype=float)
    down = -np.ones(3) / math.sqrt(3.0)
    side = np.array([1.0, -1.0, 0.0]) / math.sqrt(2.0)
    axes = np.array([side, np.cross(-down, side), -down])  # rows: the new x, y and z
    vertices = radius * (grid / np.linalg.norm(grid, axis=1, keepdims=True)) @ axes.T
    return ff.TriangleMesh(name="ball", vertices=vertices, triangles=np.array(triangles, dtype=np.int32))
