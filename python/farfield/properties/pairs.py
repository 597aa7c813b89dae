# SPDX-License-Identifier: Apache-2.0
"""Seeded random pairs to measure on: two free bodies, or one above a half-space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import farfield as ff
from farfield.gradcheck import moved_to_gap

KINDS = ("box", "ellipsoid", "capsule")
MESHED = ("box", "ellipsoid")  # what is a mesh for every model; capsules are round for some


@dataclass
class Pair:
    """A scene of one contact pair. ``body`` moves, the other one stays at the origin."""

    model: ff.Model
    parameters: ff.Parameters
    radius: float  #: of both bodies together, about their origins [m]
    ground: bool = False  #: the other one is the half-space z < 0

    @property
    def body(self) -> int:
        return 1 if self.ground else 2

    def placed(self, random: np.random.Generator, distance: float) -> np.ndarray:
        """Coordinates, every body randomly turned, the moving one ``distance`` from the origin (above the half-space)."""
        if self.ground:
            return np.concatenate([[0.0, 0.0, distance], unit(random, 4)])
        return placed(random, distance)[0]

    def moved(self, q: np.ndarray, twist: np.ndarray) -> np.ndarray:
        """The body moved by (translation, rotation vector), shape (3,) or (6,)."""
        full = np.zeros(self.model.num_dofs)
        first = 0 if self.ground else 6
        full[first : first + len(twist)] = twist
        return np.asarray(ff.retract(self.model, q, full))

    def to_gap(self, q: np.ndarray, gap: float) -> np.ndarray:
        """The body moved along the line of closest points until it is ``gap`` away."""
        found = moved_to_gap(self.model, self.parameters, q, self.body, gap)
        if found is None:
            raise RuntimeError(f"a gap of {gap} m was not reached")
        return found

    def outward(self, q: np.ndarray) -> tuple[np.ndarray, float]:
        """Direction from the other body's closest point to the moving one's, and their distance."""
        nearest = ff.closest_points(self.model, self.parameters, q)[0]
        return (np.array(nearest.point_b) - np.array(nearest.point_a)) / nearest.distance, nearest.distance

    def away(self, q: np.ndarray) -> np.ndarray:
        """Unit vector from the other body's origin to that of the moving one; up, above a half-space."""
        if self.ground:
            return np.array([0.0, 0.0, 1.0])
        line = q[7:10] - q[:3]
        return line / np.linalg.norm(line)


def unit(random: np.random.Generator, size: int = 3) -> np.ndarray:
    direction = random.normal(size=size)
    return direction / np.linalg.norm(direction)


def placed(random: np.random.Generator, distance: float) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates of two bodies, randomly turned, the second ``distance`` away, and the direction to it."""
    direction = unit(random)
    return np.concatenate([np.zeros(3), unit(random, 4), distance * direction, unit(random, 4)]), direction


def triangle(random: np.random.Generator) -> ff.TriangleMesh:
    """A random triangle with its centroid at the origin."""
    while True:
        vertices = random.normal(size=(3, 3)) * 0.3 * 10.0 ** random.uniform(-1, 0)
        vertices -= vertices.mean(axis=0)
        sides = np.linalg.norm(vertices - np.roll(vertices, 1, axis=0), axis=1)
        if np.linalg.norm(np.cross(vertices[1] - vertices[0], vertices[2] - vertices[0])) > 0.05 * sides.max() ** 2:
            return ff.TriangleMesh(name="triangle", vertices=vertices, triangles=np.array([[0, 1, 2]], dtype=np.int32))


def random_shape(random: np.random.Generator, kinds: tuple[str, ...] = KINDS) -> dict:
    """A solid primitive of random proportions."""
    kind = kinds[random.integers(len(kinds))]
    if kind == "box":
        return {"type": ff.ShapeType.Box, "size": random.uniform(0.05, 0.4, 3)}
    if kind == "ellipsoid":
        return {"type": ff.ShapeType.Ellipsoid, "size": random.uniform(0.1, 0.4, 3)}
    return {"type": ff.ShapeType.Capsule, "size": [random.uniform(0.05, 0.2), random.uniform(0.1, 0.4), 0.0]}


def pair_model(shapes: list[dict], meshes: list[ff.TriangleMesh]) -> tuple[ff.Model, ff.Parameters]:
    """Free bodies of 1 kg, one shape each, above a half-space if there is only one."""
    moments = ff.Moments(mass=1.0, first=np.zeros(3), second=0.01 * np.eye(3))
    bodies = [
        ff.Body(
            name=f"body {k}",
            position=[0.0, 0.0, 10.0 * (k + 1)],
            joints=[ff.Joint(name=f"joint {k}", type=ff.JointType.Free)],
            moments=moments,
        )
        for k in range(len(shapes))
    ]
    own = [ff.Shape(name=f"shape {k}", body=k + 1, **shape) for k, shape in enumerate(shapes)]
    if len(shapes) == 1:
        own.append(ff.Shape(name="ground", body=0, type=ff.ShapeType.HalfSpace))
    scene = ff.Scene(gravity=np.zeros(3), bodies=[*ff.Scene().bodies, *bodies], shapes=own, meshes=meshes)
    model = ff.build_model(scene)
    return model, model.default_parameters()


def solids(random: np.random.Generator, *, kinds: tuple[str, ...] = KINDS) -> Pair:
    """Two solids."""
    model, parameters = pair_model([random_shape(random, kinds), random_shape(random, kinds)], [])
    return Pair(model, parameters, 1.5)


def grounded(random: np.random.Generator, *, kinds: tuple[str, ...] = KINDS) -> Pair:
    """A solid above a half-space."""
    model, parameters = pair_model([random_shape(random, kinds)], [])
    return Pair(model, parameters, 0.7, ground=True)


def triangles(random: np.random.Generator) -> Pair:
    """Two bodies of one triangle each."""
    meshes = [triangle(random), triangle(random)]
    shapes = [{"type": ff.ShapeType.Mesh, "mesh": k} for k in range(2)]
    radius = sum(float(np.linalg.norm(mesh.vertices, axis=1).max()) for mesh in meshes)
    return Pair(*pair_model(shapes, meshes), radius)
