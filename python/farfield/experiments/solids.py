# SPDX-License-Identifier: Apache-2.0
"""Closed triangle meshes of solids that a shape type does not have: cells joined at their sides, stars, hulls, prisms, turned outlines."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

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


def prism(points: Sequence[tuple[float, float]] | np.ndarray, half: float) -> ff.TriangleMesh:
    """A simple polygon in x and z, counter-clockwise seen against y, from -half to half along y."""
    count = len(points)
    vertices = np.array([(x, y, z) for y in (-half, half) for x, z in points])
    triangles = []
    for a, b, c in _ears(np.asarray(points, dtype=float)):
        triangles += [(a, b, c), (count + a, count + c, count + b)]
    for i in range(count):
        j = (i + 1) % count
        triangles += [(i, count + i, count + j), (i, count + j, j)]
    return ff.TriangleMesh(name="prism", vertices=vertices, triangles=np.array(triangles, dtype=np.int32))


def _ears(points: np.ndarray) -> list[tuple[int, int, int]]:
    """Triangles of a simple polygon, counter-clockwise as it is: corners are cut off that nothing else lies in, the fullest first."""
    left, triangles = list(range(len(points))), []
    while len(left) > 3:
        best, fullest = -1, 0.0
        for n in range(len(left)):
            corner = points[[left[n - 1], left[n], left[(n + 1) % len(left)]]]
            sides = np.roll(corner, -1, axis=0) - corner
            area = _cross(sides[0], sides[1])
            if area <= fullest * (sides**2).sum():
                continue
            rest = np.array([points[k] for k in left if not np.any(np.all(points[k] == corner, axis=1))])
            within = np.all(
                [_cross(side, rest - start) >= 0.0 for side, start in zip(sides, corner, strict=True)], axis=0
            )
            if not np.any(within):
                best, fullest = n, area / (sides**2).sum()
        if best < 0:
            raise ValueError("the outline crosses itself or is clockwise, expected a simple polygon, counter-clockwise")
        triangles.append((left[best - 1], left[best], left[(best + 1) % len(left)]))
        left.pop(best)
    return [*triangles, (left[0], left[1], left[2])]


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def lathe(
    profile: Callable[[float], np.ndarray] | Sequence[tuple[float, float]], around: int, *, closed: bool = True
) -> ff.TriangleMesh:
    """An outline (r, z) turned about z, counter-clockwise with r to the right, or a function of the angle that gives outlines of
    as many points. Not closed: its first and last points are on the axis."""
    angles = 2.0 * np.pi * np.arange(around) / around
    outlines = [np.asarray(profile(angle) if callable(profile) else profile, dtype=float) for angle in angles]
    count = len(outlines[0])
    vertices = [
        (r * np.cos(angle), r * np.sin(angle), z)
        for angle, outline in zip(angles, outlines, strict=True)
        for r, z in outline
    ]

    def vertex(i: int, j: int) -> int:
        pole = not closed and j in (0, count - 1)
        return (0 if pole else i % around) * count + j % count

    triangles = []
    for i, j in itertools.product(range(around), range(count if closed else count - 1)):
        a, b, c, d = vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1)
        triangles += [t for t in ((a, b, c), (a, c, d)) if len(set(t)) == 3]
    used, indices = np.unique(np.array(triangles), return_inverse=True)
    corners = indices.reshape(-1, 3).astype(np.int32)
    return ff.TriangleMesh(name="lathe", vertices=np.array(vertices)[used], triangles=corners)


def ring(radius: float, thick: float, around: int = 12, across: int = 6) -> ff.TriangleMesh:
    """A torus about z."""
    angle = 2.0 * np.pi * np.arange(across) / across
    return lathe(np.column_stack([radius + thick * np.cos(angle), thick * np.sin(angle)]), around)


def plate(count: int, pitch: float, base: float, height: float = 0.0) -> ff.TriangleMesh:
    """A square plate of count x count cells, their middles this high above its top: 0 is a plane of many triangles, more are spikes."""
    grid = np.arange(count + 1) * pitch - 0.5 * count * pitch
    vertices = [(x, y, 0.0) for x, y in itertools.product(grid, grid)]
    triangles = []

    def corner(i: int, j: int) -> int:
        return i * (count + 1) + j

    for i, j in itertools.product(range(count), repeat=2):
        around = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)]
        top = len(vertices)
        vertices.append((grid[i] + 0.5 * pitch, grid[j] + 0.5 * pitch, height))
        triangles += [(around[k], around[(k + 1) % 4], top) for k in range(4)]
    below = len(vertices)
    vertices += [(x, y, -base) for x, y in itertools.product(grid, grid)]
    for i, j in itertools.product(range(count), repeat=2):
        a, b, c, d = (below + k for k in (corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)))
        triangles += [(a, c, b), (a, d, c)]
    rim = [(i, 0) for i in range(count)] + [(count, j) for j in range(count)]
    rim += [(i, count) for i in range(count, 0, -1)] + [(0, j) for j in range(count, 0, -1)]
    for k, (i, j) in enumerate(rim):
        a, b = corner(i, j), corner(*rim[(k + 1) % len(rim)])
        triangles += [(a, below + a, below + b), (a, below + b, b)]
    return ff.TriangleMesh(name="plate", vertices=np.array(vertices), triangles=np.array(triangles, dtype=np.int32))
