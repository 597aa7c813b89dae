# SPDX-License-Identifier: Apache-2.0
"""Random heaps: a scene for every seed, drawn over what users do, in which bodies of all kinds are thrown together.

5 to 15 things (boxes, balls, capsules, convex hulls, L, U, stars, chains), each let down until it nearly lies on the ones before it, then
thrown at up to 17 m/s. Time step, friction and stiffness of contact are drawn as well; the contact model is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import farfield as ff
from farfield.experiments import solids

KINDS = ("box", "ball", "capsule", "hull", "L", "U", "star", "chain")
SPEED, SPIN = 17.0, 20.0  # largest [m/s], [rad/s]
TIME_STEPS = (1e-3, 5e-2)  # [s]
STIFFNESSES = (1e-3, 1e3)  # around automatic
GAPS = (1e-4, 3e-2)  # above what a thing lies over at the start [m]
CHAINS = 2  # at most
LOWERINGS = 4  # of every thing at the start


@dataclass(frozen=True)
class Heap:
    """A scene about to move."""

    seed: int
    model: ff.Model
    state: ff.State
    dt: float  #: [s]
    stiffness: float  #: of contact, around automatic

    @property
    def about(self) -> dict:
        """What was drawn, in numbers."""
        friction = np.asarray(self.model.default_parameters().friction)[1:]
        return {
            "bodies": self.model.num_bodies - 1,
            "dt": self.dt,
            "stiffness": self.stiffness,
            "friction": float(friction.max()),
        }


def heap(seed: int) -> Heap:
    """The heap of this seed."""
    draw = np.random.default_rng(seed)
    scene = ff.Scene(name=f"heap {seed}")
    rough = draw.uniform(0.0, 1.0)
    if draw.random() < 0.5:
        scene.add_shape(0, name="ground", type="HalfSpace", friction=0.0)
    else:
        scene.add_shape(0, name="ground", type="Box", size=[3.0, 3.0, 0.2], position=[0.0, 0.0, -0.2], friction=0.0)
    count = int(draw.integers(5, 16))
    things: list[tuple[np.ndarray, float]] = []  # centre and radius of spheres around them
    roots = []
    chains = 0
    for k in range(count):
        kind = KINDS[draw.integers(len(KINDS) - (chains == CHAINS))]
        chains += kind == "chain"
        size = math.exp(draw.uniform(math.log(0.03), math.log(0.12)))
        material = {
            "density": 10.0 ** draw.uniform(2.0, 3.7),
            "friction": rough * draw.uniform(0.0, 1.0),
        }
        turn = draw.standard_normal(4)
        turn /= np.linalg.norm(turn)
        radius = _radius(kind, size)
        centre = _lowest(draw, things, radius)
        things.append((centre, radius))
        name = f"{kind} {k}"
        roots.append(name)
        if kind == "chain":
            _add_chain(draw, scene, name, centre, turn, size, material)
        else:
            scene.add_body(name=name, position=centre, orientation=turn)
            scene.add_joint(name, name=name, type="Free")
            _add_solid(draw, scene, name, kind, size, material)
    dt, stiffness = (math.exp(draw.uniform(math.log(a), math.log(b))) for a, b in (TIME_STEPS, STIFFNESSES))
    scene.dt = dt
    model = ff.build_model(scene)
    q = _let_down(draw, model, roots)
    return Heap(seed, model, ff.State(q=q, v=_thrown(draw, model, roots, q)), dt, stiffness)


def _radius(kind: str, size: float) -> float:
    """Of a sphere around a thing of this kind; no solid reaches farther than twice its size."""
    return 6.0 * size if kind == "chain" else 2.0 * size


def _lowest(draw: np.random.Generator, things: list[tuple[np.ndarray, float]], radius: float) -> np.ndarray:
    """A place over the middle, above whatever sphere or ground is under it."""
    angle, away = draw.uniform(-math.pi, math.pi), 0.25 * math.sqrt(draw.uniform(0.0, 1.0))
    x, y = away * math.cos(angle), away * math.sin(angle)
    height = radius
    for centre, other in things:
        across, reach = math.hypot(x - centre[0], y - centre[1]), radius + other
        if across < reach:
            height = max(height, centre[2] + math.sqrt(reach**2 - across**2))
    return np.array([x, y, height + GAPS[0]])


def _let_down(draw: np.random.Generator, model: ff.Model, roots: list[str]) -> np.ndarray:
    """Coordinates with every thing in turn as low as its distance to all others, less a gap, allows.

    Distances are those of convex solids around the things: contact that knows only hulls must be able to start there.
    """
    scene = model.scene
    scene.shapes = [_boxed(scene, shape) for shape in scene.shapes]
    convex = ff.build_model(scene)
    parameters, q = convex.default_parameters(), np.array(convex.default_state().q)
    for name in roots:
        own = {index for index, body in enumerate(convex.body_names) if body == name or body.startswith(f"{name} link")}
        gap = math.exp(draw.uniform(math.log(GAPS[0]), math.log(GAPS[1])))
        height = convex.joint_q(name).start + 2
        for _ in range(LOWERINGS):
            near = ff.closest_points(convex, parameters, q)
            room = min(pair.distance for pair in near if (pair.a in own) != (pair.b in own)) - gap
            if room < gap:
                break
            q[height] -= room
    return q


def _boxed(scene: ff.Scene, shape: ff.Shape) -> ff.Shape:
    """A box around a mesh; other shapes are convex themselves."""
    if shape.type != ff.ShapeType.Mesh:
        return shape
    vertices = np.asarray(scene.meshes[shape.mesh].vertices)
    lower, upper = vertices.min(axis=0), vertices.max(axis=0)
    return shape.replace(type="Box", mesh=-1, size=0.5 * (upper - lower), position=0.5 * (upper + lower))


def _add_solid(draw: np.random.Generator, scene: ff.Scene, name: str, kind: str, size: float, material: dict) -> None:
    """The shape of a thing, within 2 size of its origin."""
    if kind == "box":
        scene.add_shape(name, name=name, type="Box", size=size * draw.uniform(0.3, 1.1, 3), **material)
    elif kind == "ball":
        scene.add_shape(name, name=name, type="Sphere", size=[1.2 * size, 0.0, 0.0], **material)
    elif kind == "capsule":
        thick = draw.uniform(0.3, 0.6) * size
        scene.add_shape(name, name=name, type="Capsule", size=[thick, 1.8 * size - thick, 0.0], **material)
    else:
        mesh = _mesh(draw, name, kind, size)
        scene.meshes = [*scene.meshes, mesh]
        scene.add_shape(name, name=name, type="Mesh", mesh=name, **material)


def _mesh(draw: np.random.Generator, name: str, kind: str, size: float) -> ff.TriangleMesh:
    if kind == "hull":
        points = draw.standard_normal((int(draw.integers(6, 14)), 3))
        points *= 1.7 * size / np.linalg.norm(points, axis=1, keepdims=True)
        return solids.hull(name, points * draw.uniform(0.5, 1.0, 3))
    if kind == "star":
        return solids.star(name, int(draw.integers(4, 7)), 1.8 * size, 0.7 * size, 0.6 * size)
    return solids.polyomino(name, {"L": solids.L_CELLS, "U": solids.U_CELLS}[kind], 0.8 * size)


def _add_chain(
    draw: np.random.Generator,
    scene: ff.Scene,
    name: str,
    centre: np.ndarray,
    turn: np.ndarray,
    size: float,
    material: dict,
) -> None:
    """Three to five links on balls or hinges, straight along their own z, within 6 size of the middle."""
    links, half = int(draw.integers(3, 6)), size
    thick = 0.35 * size
    down = -np.array(_rotated(turn, [0.0, 0.0, 1.0]))
    place = np.asarray(centre) - links * half * down
    joint = "Ball" if draw.random() < 0.5 else "Hinge"
    parent: int | str = 0
    for k in range(links):
        link = name if k == 0 else f"{name} link {k}"
        if k == 0:
            scene.add_body(name=link, position=place, orientation=turn)
            scene.add_joint(link, name=link, type="Free")
        else:
            scene.add_body(name=link, parent=parent, position=[0.0, 0.0, -2.0 * half])
            axis = [1.0, 0.0, 0.0] if k % 2 else [0.0, 1.0, 0.0]
            scene.add_joint(link, name=link, type=joint, axis=axis, damping=1e-4)
        middle = [0.0, 0.0, -half]
        if k % 2:
            scene.add_shape(link, name=link, type="Box", size=[thick, thick, 0.9 * half], position=middle, **material)
        else:
            long = 0.9 * half - thick
            scene.add_shape(link, name=link, type="Capsule", size=[thick, long, 0.0], position=middle, **material)
        parent = link


def _rotated(turn: np.ndarray, vector: list[float]) -> np.ndarray:
    """A vector turned by a unit quaternion (w, x, y, z)."""
    w, axis = turn[0], np.asarray(turn[1:])
    across = np.cross(axis, vector)
    return np.asarray(vector) + 2.0 * (w * across + np.cross(axis, across))


def _thrown(draw: np.random.Generator, model: ff.Model, roots: list[str], q: np.ndarray) -> np.ndarray:
    """Velocities: half of the things fly at the middle of the heap, the others anywhere; all tumble."""
    places = [q[model.joint_q(name)][:3] for name in roots]
    middle = np.mean(places, axis=0)
    fastest = draw.uniform(0.0, SPEED)
    v = np.zeros(model.num_dofs)
    for name, place in zip(roots, places, strict=True):
        way = draw.standard_normal(3)
        if draw.random() < 0.5:
            way = middle - place + 1e-3 * way
        speed = draw.uniform(0.0, fastest)
        spin = draw.standard_normal(3)
        spin *= draw.uniform(0.0, SPIN) / np.linalg.norm(spin)
        v[model.joint_dofs(name)] = np.concatenate([speed * way / np.linalg.norm(way), spin])
    return v
