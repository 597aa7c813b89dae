# SPDX-License-Identifier: Apache-2.0
"""Gather-bunny: gather with Stanford bunnies of about 250 triangles in place of cubes [LongRange2026, A.6].

The bunny comes from the package pybullet and is decimated by fast-simplification; neither mesh nor package is part of this project.
Without them ``--set shape=trefoil`` takes a shape with three lobes that is made here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import farfield as ff
from farfield.marker import Marker
from farfield.optional import needed
from farfield.options import option
from farfield.tasks.balls import ball_mesh
from farfield.tasks.clutter import Clutter, rod_scene, scatter
from farfield.tasks.cube import REST_GAP
from farfield.tasks.task import Problem

SIZE = 0.12  # longest side of an object [m]
MASS = 0.1  # [kg]
HEIGHT = 0.04  # of the rod: bunnies lie flat [m]


@dataclass(frozen=True)
class GatherBunny(Clutter):
    """Bring ten scattered bunnies of 250 triangles into one region with a rod."""

    frames: int = option(550, "time steps of the motion", above=0)
    stride: int = option(2, "time steps applied of every window", above=0)
    tolerance: float = option(1e-6, "where Newton's method stops while planning, relative", above=0)
    inner: float = option(0.45, "smallest distance of an object from the middle at the start [m]", above=0)
    outer: float = option(0.8, "largest one [m]", above=0)
    triangles: int = option(250, "of every object, about", least=50)
    shape: str = option("bunny", "of the objects", choices=("bunny", "trefoil"))

    def build(self, seed: int) -> Problem:
        """The scene: places and headings of the objects and the heading of the rod are drawn from the seed."""
        generator = np.random.default_rng(seed)
        places = scatter(generator, self.objects, self.inner, self.outer, 2.2 * SIZE)
        turns = generator.uniform(-np.pi, np.pi, self.objects + 1)
        surface = bunny(self.triangles) if self.shape == "bunny" else trefoil(self.triangles)
        mesh, volume = resting(*surface)
        scene = rod_scene("gather-bunny", self, place=(0.0, 0.0, HEIGHT), yaw=turns[-1])
        scene.meshes = [mesh]
        names = [f"{self.shape} {k}" for k in range(self.objects)]
        height = REST_GAP - mesh.vertices[:, 2].min()
        for name, place, turn in zip(names, places, turns, strict=False):
            scene.add_body(
                name=name,
                position=[*place, height],
                orientation=[np.cos(0.5 * turn), 0.0, 0.0, np.sin(0.5 * turn)],
            )
            scene.add_joint(name, name=name, type="Free")
            scene.add_shape(
                name,
                name=name,
                type="Mesh",
                mesh=0,
                density=MASS / volume,
                friction=self.grip,
                color=[0.75, 0.65, 0.55, 1.0],
            )
        markers = [Marker("region", (0.0, 0.0, 2e-3), self.radius, flat=True)]
        return self._problem(scene, names, np.zeros((self.objects, 2)), (0, 1, 2, 3), markers)


def bunny(triangles: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of the bunny that pybullet brings, decimated; ValueError says what is missing."""
    try:
        import fast_simplification
        import pybullet_data
    except ImportError as error:
        raise ValueError(
            f"gather-bunny: the bunny needs the packages pybullet and fast-simplification ({error}); "
            "pip install farfield[meshes] pybullet, or use --set shape=trefoil"
        ) from error
    trimesh = needed("trimesh", extra="meshes")
    path = Path(pybullet_data.getDataPath()) / "bunny.obj"
    if not path.is_file():
        raise ValueError(f"gather-bunny: {path}: no such file; use --set shape=trefoil")
    loaded = trimesh.load(path, process=True, force="mesh")
    points, faces = fast_simplification.simplify(
        np.array(loaded.vertices, dtype=np.float32), np.array(loaded.faces), target_count=triangles
    )
    return np.array(points, dtype=float), np.array(faces, dtype=np.int32)


def trefoil(triangles: int) -> tuple[np.ndarray, np.ndarray]:
    """A ball with three lobes and dents between them; 8 n^2 triangles for the n that comes nearest."""
    ball = ball_mesh(1.0, max(2, round(np.sqrt(triangles / 8.0))))
    points = np.array(ball.vertices)
    angle = np.arctan2(points[:, 1], points[:, 0])
    across = np.hypot(points[:, 0], points[:, 1])
    stretch = 1.0 + 0.35 * across**2 * np.cos(3.0 * angle)
    return points * [[1.0, 1.0, 0.7]] * stretch[:, None], np.array(ball.triangles)


def resting(points: np.ndarray, triangles: np.ndarray) -> tuple[ff.TriangleMesh, float]:
    """The closed surface with its centre of mass at the origin, scaled, on the side where that centre is lowest; and its volume [m^3]."""
    trimesh, spatial = needed("trimesh", extra="meshes"), needed("scipy.spatial", extra="tasks")
    solid = trimesh.Trimesh(points, triangles, process=False)
    points = (points - solid.center_mass) * (SIZE / solid.extents.max())
    hull = spatial.ConvexHull(points)
    # Planes n.x + c = 0 of the hull, the origin inside, so c < 0: a body that lies on the nearest one cannot fall lower.
    down = hull.equations[np.argmin(-hull.equations[:, 3]), :3]
    points = points @ trimesh.geometry.align_vectors(down, [0.0, 0.0, -1.0])[:3, :3].T
    volume = abs(solid.volume) * (SIZE / solid.extents.max()) ** 3
    return ff.TriangleMesh(name="object", vertices=points, triangles=triangles.astype(np.int32)), volume
