# SPDX-License-Identifier: Apache-2.0
"""The scene of the billiards benchmarks: sixteen balls, fifteen racked and a cue ball, a millimetre apart, on the ground.

The rack is that of the task; the balls, finer and finer, are those of the C++ benchmarks (benchmarks/billiards_scene.hpp).
"""

from __future__ import annotations

import numpy as np

import farfield as ff
from farfield.tasks.balls import RADIUS, rack_places

GAP = 1e-3  # closest distance between two balls, and between a ball and the ground [m]


def octahedron_ball(subdivisions: int) -> tuple[np.ndarray, np.ndarray]:
    """Unit ball of 8 * 4**subdivisions triangles."""
    vertices = [np.array(x, dtype=float) for x in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))]
    triangles = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]
    for _ in range(subdivisions):
        middles: dict[tuple[int, int], int] = {}

        def middle(a: int, b: int, middles=middles) -> int:
            key = (min(a, b), max(a, b))
            if key not in middles:
                middles[key] = len(vertices)
                vertices.append((vertices[a] + vertices[b]) / np.linalg.norm(vertices[a] + vertices[b]))
            return middles[key]

        finer = []
        for i, j, k in triangles:
            a, b, c = middle(i, j), middle(j, k), middle(k, i)
            finer += [(i, a, c), (a, j, b), (c, b, k), (a, b, c)]
        triangles = finer
    return np.array(vertices), np.array(triangles, dtype=np.int32)


def fibonacci_ball(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Unit ball: the convex hull of a spiral of points, 2 count - 4 triangles."""
    from scipy.spatial import ConvexHull

    i = np.arange(count)
    z = 1.0 - (2.0 * i + 1.0) / count
    angle = np.pi * (1.0 + np.sqrt(5.0)) * i
    ring = np.sqrt(1.0 - z * z)
    points = np.column_stack([ring * np.cos(angle), ring * np.sin(angle), z])
    hull = ConvexHull(points)
    triangles = hull.simplices.astype(np.int32)
    a, b, c = (points[triangles[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a) < 0.0
    triangles[inward] = triangles[inward][:, [0, 2, 1]]
    return points, triangles


BALLS = {32: lambda: octahedron_ball(1), 128: lambda: octahedron_ball(2), 388: lambda: fibonacci_ball(196)}


def centres() -> np.ndarray:
    """Where the balls are; the cue ball is the last."""
    pitch = 2.0 * RADIUS + GAP
    places = np.vstack([rack_places(pitch), [-pitch, 0.0]])
    return np.column_stack([places, np.full(len(places), RADIUS + GAP)])


def rack(triangles: int) -> ff.Model:
    """Balls of this many triangles each on a half-space."""
    vertices, faces = BALLS[triangles]()
    scene = ff.Scene(name=f"billiards, {triangles} triangles per ball", gravity=[0.0, 0.0, -9.81])
    scene.add_mesh(name="ball", vertices=RADIUS * vertices, triangles=faces)
    for k, centre in enumerate(centres()):
        ball = scene.add_body(name=f"ball {k}", position=centre)
        scene.add_joint(ball, name=f"ball {k}", type="Free")
        scene.add_shape(ball, type="Mesh", mesh="ball")
    scene.add_shape(0, name="table", type="HalfSpace")
    return ff.build_model(scene)
