# SPDX-License-Identifier: Apache-2.0
"""Scenes that are hard for a step: long levers, wedges, spikes, edges, linked rings, great masses, small gaps, high speeds."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

import numpy as np

import farfield as ff

GRAVITY = 9.81


@dataclass
class Hard:
    """A scene, how long it is watched, and how it starts."""

    scene: ff.Scene
    steps: int
    dt: float = 0.01
    velocity: dict[str, list[float]] = field(default_factory=dict)  #: free joint -> linear and angular velocity

    def model(self) -> ff.Model:
        return ff.build_model(self.scene)

    def state(self, model: ff.Model) -> ff.State:
        v = np.zeros(model.num_dofs)
        for joint, value in self.velocity.items():
            v[model.joint_dofs(joint)] = value
        return ff.State(q=model.default_state().q, v=v)


def world(ground: bool = True, friction: float = 0.5) -> ff.Scene:
    scene = ff.Scene(gravity=[0.0, 0.0, -GRAVITY])
    if ground:
        scene.add_shape(0, name="ground", type="HalfSpace", friction=friction)
    return scene


def add_free(
    scene: ff.Scene, name: str, place, *, mass: float | None = None, turn=(1.0, 0.0, 0.0, 0.0), **shape
) -> None:
    """A free body with one shape; a mass [kg] instead of the density of boxes."""
    scene.add_body(name=name, position=place, orientation=turn)
    scene.add_joint(name, name=name, type="Free")
    if mass is not None:
        shape["density"] = mass / (8.0 * np.prod(shape["size"]))
    scene.add_shape(name, name=name, **shape)


def add_free_mesh(scene: ff.Scene, name: str, place, mesh: ff.TriangleMesh, **options) -> None:
    scene.meshes = [*scene.meshes, mesh.replace(name=name)]
    add_free(scene, name, place, type="Mesh", mesh=name, **options)


def box(size, friction: float = 0.5) -> dict:
    return {"type": "Box", "size": list(size), "friction": friction}


def turned(axis, angle: float) -> list[float]:
    return [math.cos(0.5 * angle), *(math.sin(0.5 * angle) * np.asarray(axis, dtype=float))]


def prism(points, half: float) -> ff.TriangleMesh:
    """A convex polygon in x and z, counter-clockwise seen against y, from -half to half along y."""
    count = len(points)
    vertices = np.array([(x, y, z) for y in (-half, half) for x, z in points])
    triangles = []
    for k in range(1, count - 1):
        triangles += [(0, k, k + 1), (count, count + k + 1, count + k)]
    for i in range(count):
        j = (i + 1) % count
        triangles += [(i, count + i, count + j), (i, count + j, j)]
    return ff.TriangleMesh(name="prism", vertices=vertices, triangles=np.array(triangles, dtype=np.int32))


def spikes(count: int, pitch: float, height: float, base: float) -> ff.TriangleMesh:
    """A square plate with count x count pyramids on it, points up."""
    grid = np.arange(count + 1) * pitch - 0.5 * count * pitch
    vertices = [(x, y, 0.0) for x, y in itertools.product(grid, grid)]
    triangles = []

    def corner(i: int, j: int) -> int:
        return i * (count + 1) + j

    for i, j in itertools.product(range(count), repeat=2):
        ring = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)]
        top = len(vertices)
        vertices.append((grid[i] + 0.5 * pitch, grid[j] + 0.5 * pitch, height))
        triangles += [(ring[k], ring[(k + 1) % 4], top) for k in range(4)]
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
    return ff.TriangleMesh(name="spikes", vertices=np.array(vertices), triangles=np.array(triangles, dtype=np.int32))


def ring(radius: float, thick: float, around: int = 12, across: int = 6) -> ff.TriangleMesh:
    """A torus about z."""
    u, w = (2.0 * math.pi * np.arange(n) / n for n in (around, across))
    vertices = [
        (
            (radius + thick * math.cos(b)) * math.cos(a),
            (radius + thick * math.cos(b)) * math.sin(a),
            thick * math.sin(b),
        )
        for a in u
        for b in w
    ]
    triangles = []
    for i, j in itertools.product(range(around), range(across)):
        a, b = i * across + j, ((i + 1) % around) * across + j
        c, d = ((i + 1) % around) * across + (j + 1) % across, i * across + (j + 1) % across
        triangles += [(a, b, c), (a, c, d)]
    return ff.TriangleMesh(name="ring", vertices=np.array(vertices), triangles=np.array(triangles, dtype=np.int32))


def lever_arm() -> Hard:
    """A plank on a fulcrum; eight tonnes fall on its short end, a ball lies on the other."""
    scene = world()
    scene.meshes = [prism([(-0.3, 0.0), (0.3, 0.0), (0.0, 0.5)], 0.5).replace(name="fulcrum")]
    scene.add_shape(0, name="fulcrum", type="Mesh", mesh="fulcrum", friction=0.5, position=[0.0, 0.0, 0.01])
    add_free(scene, "plank", [1.0, 0.0, 0.41], mass=100.0, turn=turned([0, 1, 0], 0.14), **box([2.0, 0.3, 0.03]))
    add_free(scene, "weight", [-0.7, 0.0, 2.2], mass=8000.0, **box([0.3, 0.3, 0.3]))
    add_free(scene, "ball", [2.8, 0.0, 0.3], type="Sphere", size=[0.1, 0.0, 0.0], density=300.0)
    return Hard(scene, 150)


def wedge_in_crack() -> Hard:
    """A wedge dropped between two fixed walls that leave less and less room."""
    scene = world(ground=False)
    walls = (
        (-1.0, [(-0.9, -1.0), (-0.05, -1.0), (-0.3, 0.0), (-0.9, 0.0)]),
        (1.0, [(0.05, -1.0), (0.9, -1.0), (0.9, 0.0), (0.3, 0.0)]),
    )
    for side, points in walls:
        scene.meshes = [*scene.meshes, prism(points, 0.5).replace(name=f"wall {side:g}")]
        scene.add_shape(0, name=f"wall {side:g}", type="Mesh", mesh=f"wall {side:g}", friction=0.3)
    wedge = prism([(0.0, -0.6), (0.15, 0.0), (-0.15, 0.0)], 0.3)
    add_free_mesh(scene, "wedge", [0.03, 0.02, 0.4], wedge, turn=turned([0, 1, 0], 0.1), density=2000.0, friction=0.3)
    return Hard(scene, 120, velocity={"wedge": [0, 0, -5.0, 0, 0, 0]})


def spiked_plates() -> Hard:
    """Spikes fall upside down onto spikes."""
    scene = world()
    mesh = spikes(4, 0.2, 0.3, 0.1)
    add_free_mesh(scene, "below", [0.0, 0.0, 0.105], mesh, density=1000.0, friction=0.2)
    add_free_mesh(
        scene, "above", [0.03, -0.02, 1.0], mesh, turn=turned([1, 0, 0], math.pi), density=1000.0, friction=0.2
    )
    return Hard(scene, 100, velocity={"above": [0, 0, -3.0, 0, 0, 1.0]})


def cliff_edge(overhang: float) -> Hard:
    """A box at the edge of a cliff, its centre beyond the edge by `overhang` times its half length."""
    scene = world(ground=False)
    scene.add_shape(0, name="cliff", type="Box", size=[1.0, 1.0, 0.5], position=[-1.0, 0.0, -0.5], friction=0.6)
    add_free(scene, "box", [0.2 * overhang, 0.0, 0.1 + 2e-3], mass=5.0, **box([0.2, 0.15, 0.1], 0.6))
    return Hard(scene, 120)


def cube_on_its_edge() -> Hard:
    """A thousand kilograms on an edge, a little out of balance."""
    scene = world()
    height = 0.5 * math.sqrt(2.0) + 2e-3
    add_free(
        scene, "cube", [0.0, 0.0, height], mass=1000.0, turn=turned([0, 1, 0], 0.25 * math.pi + 1e-2), **box([0.5] * 3)
    )
    return Hard(scene, 250)


def chain(links: int = 5) -> Hard:
    """Linked rings that hang from a fixed one, let go when the chain is bent aside."""
    scene = world(ground=False)
    mesh = ring(0.1, 0.02)
    scene.meshes = [mesh.replace(name="hook")]
    upright = turned([1, 0, 0], 0.5 * math.pi)
    scene.add_shape(0, name="hook", type="Mesh", mesh="hook", orientation=upright, friction=0.3)
    for k in range(links):
        turn = turned([0, 1, 0], 0.5 * math.pi) if k % 2 == 0 else upright
        add_free_mesh(scene, f"ring {k}", [0.0, 0.0, -0.14 * (k + 1)], mesh, turn=turn, density=5000.0, friction=0.3)
    velocity = {f"ring {k}": [0.5 * (k + 1), 0.2 * (k + 1), 0, 0, 0, 0] for k in range(links)}
    return Hard(scene, 100, velocity=velocity)


def small_gaps() -> Hard:
    """Two boxes, each a billionth of a metre above what it lies on."""
    scene = world()
    add_free(scene, "below", [0.0, 0.0, 0.1 + 1e-9], mass=1.0, **box([0.1] * 3))
    add_free(scene, "above", [0.02, 0.0, 0.3 + 2e-9], mass=1.0, **box([0.1] * 3))
    return Hard(scene, 60)


def rough_slabs() -> Hard:
    """Flat on flat on flat, all with friction 1."""
    scene = world(friction=1.0)
    add_free(scene, "below", [0.0, 0.0, 0.05 + 1e-3], mass=1.0, **box([0.2, 0.2, 0.05], 1.0))
    add_free(scene, "above", [0.0, 0.0, 0.12 + 2e-3], mass=1.0, **box([0.1, 0.1, 0.02], 1.0))
    return Hard(scene, 60)


def bullet() -> Hard:
    """A ball at 300 m/s against a plate of two millimetres that does not move."""
    scene = world(ground=False)
    scene.gravity = [0.0, 0.0, 0.0]
    scene.add_shape(0, name="plate", type="Box", size=[0.5, 0.5, 1e-3])
    add_free(scene, "bullet", [0.02, 0.01, 0.5], type="Sphere", size=[0.02, 0.0, 0.0], density=8000.0)
    return Hard(scene, 20, velocity={"bullet": [0, 0, -300.0, 0, 0, 0]})


def great_masses() -> Hard:
    """A million kilograms on one."""
    scene = world()
    add_free(scene, "light", [0.0, 0.0, 0.1 + 1e-3], mass=1.0, **box([0.1] * 3))
    add_free(scene, "heavy", [0.0, 0.0, 0.4 + 2e-3], mass=1e6, **box([0.2] * 3))
    return Hard(scene, 100)


def feather_on_truck() -> Hard:
    """Ten grams on ten tonnes."""
    scene = world()
    add_free(scene, "truck", [0.0, 0.0, 1.0 + 1e-2], mass=1e4, **box([2.0, 1.0, 1.0]))
    add_free(scene, "feather", [0.0, 0.0, 2.1], mass=1e-2, **box([0.1, 0.02, 1e-3]))
    return Hard(scene, 200)


def long_steps() -> Hard:
    """Five boxes thrown onto each other, in steps of a tenth of a second."""
    scene = world()
    for k in range(5):
        place, turn = [0.05 * k, 0.0, 0.2 + 0.3 * k], turned([1, 0, 0], 0.3 * k)
        add_free(scene, f"box {k}", place, mass=1.0, turn=turn, **box([0.1, 0.08, 0.06]))
    return Hard(scene, 40, dt=0.1, velocity={f"box {k}": [0, 0, -5.0, 1.0, 2.0, 3.0] for k in range(5)})


def press(room: float) -> tuple[Hard, np.ndarray]:
    """A box between two plates that a script closes until `room` [m] is left between them; the script."""
    scene = world(ground=False)
    scene.gravity = [0.0, 0.0, 0.0]
    for name, side in (("left jaw", -1.0), ("right jaw", 1.0)):
        scene.add_body(name=name, position=[0.3 * side, 0.0, 0.0], motion="Kinematic")
        scene.add_shape(name, name=name, type="Box", size=[0.05, 0.5, 0.5])
    add_free(scene, "nut", [0.01, 0.0, 0.0], mass=1.0, **box([0.1] * 3))
    steps = 40
    fraction = np.minimum(np.arange(1, steps + 1) / 30.0, 1.0)
    place = 0.3 + fraction * (0.05 + 0.5 * room - 0.3)
    script = np.zeros((steps, 14))
    script[:, [3, 10]] = 1.0
    script[:, 0], script[:, 7] = -place, place
    return Hard(scene, steps), script
