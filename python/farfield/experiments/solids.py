# SPDX-License-Identifier: Apache-2.0
"""Closed triangle meshes of solids that a shape type does not have: unit cells joined at their sides, stars, hulls of points."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

import farfield as ff

L_CELLS = ((0, 0), (1, 0), (0, 1), (0, 2))
U_CELLS = ((0, 0), (1, 0), (2, 0), (0, 1), (2, 1))


def polyomino(name: str, cells: Sequence[tuple[int, int]], side: float) -> ff.TriangleMesh:
    """Cubes of this side [m] on a grid, joined where they are neighbours, about the mean of their centres."""
    corners: dict[tuple[int, int, int], int] = {}
    triangles = []
    solid = {(x, y, 0) for x, y in cells}
    for cell, axis, sign in itertools.product(sorted(solid), range(3), (0, 1)):
        neighbour = tuple(c + (2 * sign - 1) * (k == axis) for k, c in enumerate(cell))
        if neighbour in solid:
            continue
        u, v = np.eye(3, dtype=int)[(axis + 1) % 3], np.eye(3, dtype=int)[(axis + 2) % 3]
        base = np.array(cell) + sign * np.eye(3, dtype=int)[axis]
        square = [tuple(int(c) for c in base + s * u + t * v) for s, t in ((0, 0), (1, 0), (1, 1), (0, 1))]
        a, b, c, d = (corners.setdefault(corner, len(corners)) for corner in (square if sign else square[::-1]))
        triangles += [(a, b, c), (a, c, d)]
    middle = np.mean([(x + 0.5, y + 0.5, 0.5) for x, y in cells], axis=0)
    vertices = side * (np.array(list(corners), dtype=float) - middle)
    return ff.TriangleMesh(name=name, vertices=vertices, triangles=np.array(triangles, dtype=np.int32))


def star(name: str, points: int, outer: float, inner: float, thickness: float) -> ff.TriangleMesh:
    """A flat star with this many points, radii and thickness [m], across z."""
    count = 2 * points
    angle = np.pi * np.arange(count) / points
    radius = np.where(np.arange(count) % 2 == 0, outer, inner)
    rim = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    halves = [np.column_stack([rim, np.full(count, z)]) for z in (-0.5 * thickness, 0.5 * thickness)]
    vertices = np.vstack([*halves, [[0.0, 0.0, -0.5 * thickness], [0.0, 0.0, 0.5 * thickness]]])
    triangles = []
    for i in range(count):
        j = (i + 1) % count
        triangles += [
            (2 * count, j, i),
            (2 * count + 1, count + i, count + j),
            (i, j, count + j),
            (i, count + j, count + i),
        ]
    return ff.TriangleMesh(name=name, vertices=vertices, triangles=np.array(triangles, dtype=np.int32))


def hull(name: str, points: np.ndarray) -> ff.TriangleMesh:
    """Convex hull of a few points in general position, shape (n, 3): three make a side when all others are behind them."""
    triangles = []
    for i, j, k in itertools.combinations(range(len(points)), 3):
        side = (points - points[i]) @ np.cross(points[j] - points[i], points[k] - points[i])
        others = np.delete(side, [i, j, k])
        if np.all(others < 0.0):
            triangles.append((i, j, k))
        elif np.all(others > 0.0):
            triangles.append((i, k, j))
    used, indices = np.unique(np.array(triangles), return_inverse=True)
    return ff.TriangleMesh(name=name, vertices=points[used], triangles=indices.reshape(-1, 3).astype(np.int32))
