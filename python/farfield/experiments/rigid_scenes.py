# SPDX-License-Identifier: Apache-2.0
"""Scenes with which contact of rigid bodies is usually tried, built here from what is published about them, and what mechanics says of each.

Points, edges and faces that meet badly follow [Erleben2018]; chains, arches, card houses and mechanisms follow [Ferguson2021]. Sizes and
numbers are our own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import farfield as ff
from farfield.experiments import solids

GRAVITY = 9.81
UPRIGHT = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)  # a ring about z becomes one about y
SIDEWAYS = (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0)  # one about x
LINK, WIRE, SPACING = 0.1, 0.02, 0.14  # of chains: radii of rings and distance of their middles [m]


@dataclass
class Hard:
    """A scene, how long it is watched, how it starts, and what is expected of it."""

    scene: ff.Scene
    steps: int
    dt: float = 0.01
    velocity: dict[str, list[float]] = field(default_factory=dict)  #: free joint -> linear and angular velocity
    script: np.ndarray | None = None  #: places of kinematic bodies after every step, shape (steps, 7 kinematic)
    expect: Callable[[Seen], str | None] = lambda seen: None  #: what is wrong with a motion, or None
    concave: bool = False  #: hulls of its bodies would meet at the start, or fill a hole

    def model(self) -> ff.Model:
        return ff.build_model(self.scene)

    def state(self, model: ff.Model) -> ff.State:
        v = np.zeros(model.num_dofs)
        for joint, value in self.velocity.items():
            v[model.joint_dofs(joint)] = value
        return ff.State(q=model.default_state().q, v=v)


@dataclass
class Seen:
    """A motion to be judged."""

    model: ff.Model
    q: np.ndarray  #: shape (states, coordinates)
    v: np.ndarray
    poses: np.ndarray  #: shape (states, bodies, 7)
    dt: float

    def place(self, body: str, state: int = -1) -> np.ndarray:
        return self.poses[state, self.model.body(body), :3]

    def places(self, body: str) -> np.ndarray:
        return self.poses[:, self.model.body(body), :3]

    def angle(self, body: str, axis: int) -> np.ndarray:
        """How far a body has turned about an axis of the world that it keeps, at every state [rad]."""
        turn = self.poses[:, self.model.body(body), 3:]
        return np.unwrap(2.0 * np.arctan2(turn[:, 1 + axis], turn[:, 0]), period=2.0 * np.pi)

    def joint(self, name: str) -> np.ndarray:
        """The coordinate of a hinge or slide at every state."""
        return self.q[:, self.model.joint_q(name).start]

    def speed(self) -> float:
        """Of the fastest body in the last step [m/s]."""
        way = self.poses[-1, :, :3] - self.poses[-2, :, :3]
        return float(np.linalg.norm(way, axis=1).max()) / self.dt


# ---- parts ---------------------------------------------------------------------------------------------------------------------------


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
    add_mesh(scene, name, mesh)
    add_free(scene, name, place, type="Mesh", mesh=name, **options)


def add_fixed_mesh(scene: ff.Scene, name: str, mesh: ff.TriangleMesh, **options) -> None:
    add_mesh(scene, name, mesh)
    scene.add_shape(0, name=name, type="Mesh", mesh=name, **options)


def add_mesh(scene: ff.Scene, name: str, mesh: ff.TriangleMesh) -> None:
    scene.meshes = [*scene.meshes, mesh.replace(name=name)]


def add_driven(scene: ff.Scene, name: str, place, **shape) -> None:
    """A body that follows a script."""
    scene.add_body(name=name, position=place, motion="Kinematic")
    scene.add_shape(name, name=name, **shape)


def box(size, friction: float = 0.5) -> dict:
    return {"type": "Box", "size": list(size), "friction": friction}


def turned(axis, angle: float) -> list[float]:
    return [math.cos(0.5 * angle), *(math.sin(0.5 * angle) * np.asarray(axis, dtype=float))]


def after(second, first) -> list[float]:
    """The turn by `first`, then by `second`."""
    (a, *u), (b, *v) = second, first
    u, v = np.array(u), np.array(v)
    return [a * b - float(u @ v), *(a * v + b * u + np.cross(u, v))]


def script_of(places: np.ndarray, turns: np.ndarray | None = None) -> np.ndarray:
    """Rows for one kinematic body from places, shape (steps, 3), and quaternions."""
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (len(places), 1)) if turns is None else turns
    return np.hstack([places, turns])


def run_up(steps: int, dt: float, speed: float, seconds: float = 0.2) -> np.ndarray:
    """How far something has gone after every step that reaches a speed evenly within some seconds."""
    rates = speed * np.minimum(dt * np.arange(1, steps + 1) / seconds, 1.0)
    return np.cumsum(rates) * dt


def pyramid(half: float, height: float) -> ff.TriangleMesh:
    """Four sides and a square base at z = 0; its point is at this height."""
    return solids.lathe([(0.0, 0.0), (half * math.sqrt(2.0), 0.0), (0.0, height)], 4, closed=False)


def above_ground(*bodies: str) -> Callable[[Seen], str | None]:
    """They end lower than they began, and not in the ground."""

    def judge(seen: Seen) -> str | None:
        for body in bodies:
            begin, end = seen.place(body, 0)[2], seen.place(body)[2]
            if not 0.0 < end < begin:
                return f"'{body}' ends at a height of {end:.3g} m, begun at {begin:.3g} m"
        return None

    return judge


def near(what: str, value: float, expected: float, tolerance: float) -> str | None:
    """A sentence when a value is not as expected."""
    return (
        None
        if abs(value - expected) <= tolerance
        else f"{what} {value:.4g}, expected {expected:.4g} +- {tolerance:.2g}"
    )


# ---- points and edges ----------------------------------------------------------------------------------------------------------------


def spikes() -> Hard:
    """A point falls onto a point."""
    scene = world()
    add_fixed_mesh(scene, "below", pyramid(0.3, 0.6), position=[0.0, 0.0, 0.01], friction=0.3)
    turn = turned([1, 0, 0], math.pi)
    add_free_mesh(scene, "above", [5e-3, 2e-3, 1.3], pyramid(0.3, 0.6), turn=turn, friction=0.3)
    return Hard(scene, 150, velocity={"above": [0, 0, -1.0, 0, 0, 0]}, expect=above_ground("above"))


def spike_and_wedge() -> Hard:
    """A point falls onto the edge of a wedge."""
    scene = world()
    wedge = solids.prism([(-0.3, 0.0), (0.3, 0.0), (0.0, 0.5)], 0.5)
    add_fixed_mesh(scene, "wedge", wedge, position=[0.0, 0.0, 0.01], friction=0.3)
    turn = turned([1, 0, 0], math.pi)
    add_free_mesh(scene, "spike", [3e-3, 0.0, 1.2], pyramid(0.3, 0.6), turn=turn, friction=0.3)
    return Hard(scene, 150, velocity={"spike": [0, 0, -1.0, 0, 0, 0]}, expect=above_ground("spike"))


def wedges() -> Hard:
    """The edge of a wedge falls across the edge of another."""
    scene = world()
    wedge = solids.prism([(-0.3, 0.0), (0.3, 0.0), (0.0, 0.5)], 0.5)
    add_fixed_mesh(scene, "below", wedge, position=[0.0, 0.0, 0.01], friction=0.3)
    turn = after(turned([0, 0, 1], 0.5 * math.pi), turned([1, 0, 0], math.pi))
    add_free_mesh(scene, "above", [0.02, 0.02, 1.1], wedge, turn=turn, friction=0.3)
    return Hard(scene, 200, velocity={"above": [0, 0, -1.0, 0, 0, 0]}, expect=above_ground("above"))


def spike_in_hole() -> Hard:
    """A point falls into a square hole and is held by its four edges."""
    scene = world(ground=False)
    root = math.sqrt(2.0)
    plate = solids.lathe([(0.15 * root, -0.1), (0.6 * root, -0.1), (0.6 * root, 0.0), (0.15 * root, 0.0)], 4)
    add_fixed_mesh(scene, "plate", plate, friction=0.3)
    turn = turned([1, 0, 0], math.pi)
    add_free_mesh(scene, "spike", [0.01, -0.01, 0.7], pyramid(0.3, 0.6), turn=turn, friction=0.3)
    # sides of slope 2: where they are 0.15 m from the middle, the base is 0.3 m higher
    return Hard(
        scene, 150, expect=lambda seen: near("height of the base", seen.place("spike")[2], 0.3, 0.02), concave=True
    )


def spike_in_crack() -> Hard:
    """A point falls into a crack between two blocks."""
    scene = world(ground=False)
    for side in (-1.0, 1.0):
        scene.add_shape(
            0, name=f"block {side:g}", type="Box", size=[0.3, 0.6, 0.5], position=[0.4 * side, 0.0, -0.5], friction=0.3
        )
    turn = turned([1, 0, 0], math.pi)
    add_free_mesh(scene, "spike", [0.01, 0.0, 0.7], pyramid(0.3, 0.6), turn=turn, friction=0.3)

    # it meets the crack with two of its edges, which are 0.1 m from the middle where 0.1 / 0.424 of the height is below
    expected = 0.6 * (1.0 - 0.1 / (0.3 * math.sqrt(2.0)))
    return Hard(scene, 150, expect=lambda seen: near("height of the base", seen.place("spike")[2], expected, 0.02))


def wedge_in_crack() -> Hard:
    """A wedge dropped between two fixed walls that leave less and less room."""
    scene = world(ground=False)
    walls = (
        (-1.0, [(-0.9, -1.0), (-0.05, -1.0), (-0.3, 0.0), (-0.9, 0.0)]),
        (1.0, [(0.05, -1.0), (0.9, -1.0), (0.9, 0.0), (0.3, 0.0)]),
    )
    for side, points in walls:
        add_fixed_mesh(scene, f"wall {side:g}", solids.prism(points, 0.5), friction=0.3)
    wedge = solids.prism([(0.0, -0.6), (0.15, 0.0), (-0.15, 0.0)], 0.3)
    add_free_mesh(scene, "wedge", [0.03, 0.02, 0.4], wedge, turn=turned([0, 1, 0], 0.1), density=2000.0, friction=0.3)

    def expect(seen: Seen) -> str | None:
        # sides at atan(1/4) meet walls at the same angle where the crack is as wide as the wedge
        return near("height of the wedge", seen.place("wedge")[2], -0.6, 0.05)

    return Hard(scene, 120, velocity={"wedge": [0, 0, -5.0, 0, 0, 0]}, expect=expect)


def spiked_plates() -> Hard:
    """Sixteen spikes fall upside down onto sixteen."""
    scene = world()
    mesh = solids.plate(4, 0.2, 0.1, 0.3)
    add_free_mesh(scene, "below", [0.0, 0.0, 0.105], mesh, density=1000.0, friction=0.2)
    add_free_mesh(
        scene, "above", [0.03, -0.02, 1.0], mesh, turn=turned([1, 0, 0], math.pi), density=1000.0, friction=0.2
    )
    velocity = {"above": [0, 0, -3.0, 0, 0, 1.0]}
    return Hard(scene, 100, velocity=velocity, expect=above_ground("above"), concave=True)


def cliff_edges() -> Hard:
    """A box on a fixed one of the same size, edge on edge."""
    scene = world()
    scene.add_shape(0, name="cliff", type="Box", size=[0.3, 0.3, 0.3], position=[0.0, 0.0, 0.31], friction=0.5)
    add_free(scene, "box", [0.0, 0.0, 0.62 + 0.3], **box([0.3, 0.3, 0.3]))
    return Hard(scene, 100, expect=lambda seen: near("height", seen.place("box")[2], 0.91, 0.02) or still(seen))


def still(seen: Seen, limit: float = 0.03) -> str | None:
    """At rest."""
    return None if seen.speed() < limit else f"something still moves at {seen.speed():.2g} m/s"


def slides(seen: Seen, body: str, speed: float, friction: float, tolerance: float) -> str | None:
    """Coulomb's braking distance; implicit Euler ends half a step early."""
    way = seen.place(body)[0] - seen.place(body, 0)[0]
    expected = speed**2 / (2.0 * friction * GRAVITY) - 0.5 * speed * seen.dt
    hop = np.ptp(seen.places(body)[20:, 2])
    if hop > 0.01:
        return f"it hops {hop:.3g} m over edges within the ground"
    return near("braking distance", way, expected, tolerance * expected)


def internal_edges() -> Hard:
    """A box slides over a floor of blocks that lie flush side by side."""
    scene = world(ground=False)
    for k in range(8):
        scene.add_shape(
            0, name=f"block {k}", type="Box", size=[0.1, 0.3, 0.05], position=[0.2 * k, 0.0, -0.05], friction=0.3
        )
    add_free(scene, "box", [0.1, 0.0, 0.102], **box([0.1, 0.1, 0.1], 0.3))
    velocity = {"box": [2.0, 0, 0, 0, 0, 0]}
    return Hard(scene, 100, velocity=velocity, expect=lambda seen: slides(seen, "box", 2.0, 0.3, 0.1))


def tessellated_plane() -> Hard:
    """A box slides over a plane of five hundred triangles."""
    scene = world(ground=False)
    add_fixed_mesh(scene, "plane", solids.plate(12, 0.15, 0.1), friction=0.3)
    add_free(scene, "box", [-0.5, 0.03, 0.102], **box([0.1, 0.1, 0.1], 0.3))
    velocity = {"box": [2.0, 0, 0, 0, 0, 0]}
    return Hard(scene, 100, velocity=velocity, expect=lambda seen: slides(seen, "box", 2.0, 0.3, 0.1))


def edge_edge() -> Hard:
    """The edge of a cube falls across the edge of another."""
    scene = world()
    high = 0.3 * math.sqrt(2.0)
    below = turned([0, 1, 0], 0.25 * math.pi)
    scene.add_shape(0, name="below", position=[0.0, 0.0, high + 0.01], orientation=below, **box([0.3] * 3))
    turn = turned([1, 0, 0], 0.25 * math.pi)
    add_free(scene, "above", [0.02, 0.03, 3.0 * high + 0.1], turn=turn, **box([0.3] * 3))
    return Hard(scene, 150, velocity={"above": [0, 0, -2.0, 0, 0, 0]}, expect=above_ground("above"))


def corner_down() -> list[float]:
    """The turn of a cube that stands on a corner."""
    return turned(np.array([1.0, -1.0, 0.0]) / math.sqrt(2.0), math.acos(1.0 / math.sqrt(3.0)))


def face_vertex() -> Hard:
    """The corner of a cube falls onto a face, and the cube comes to lie on one of its own."""
    scene = world(ground=False)
    scene.add_shape(0, name="below", type="Box", size=[2.0, 2.0, 0.2], position=[0.0, 0.0, -0.2], friction=0.5)
    turn = after(turned([1, 0, 0], 0.02), corner_down())
    add_free(scene, "cube", [0.0, 0.0, 0.3], turn=turn, **box([0.1] * 3))
    return Hard(scene, 200, expect=lambda seen: near("height", seen.place("cube")[2], 0.102, 0.005) or still(seen))


def vertex_face() -> Hard:
    """The face of a cube falls onto a corner, from which it drops."""
    scene = world()
    high = 0.2 * math.sqrt(3.0)
    scene.add_shape(0, name="below", position=[0.0, 0.0, high + 0.01], orientation=corner_down(), **box([0.2] * 3))
    add_free(scene, "cube", [0.03, 0.02, 2.0 * high + 0.3], **box([0.2] * 3))
    return Hard(scene, 150, velocity={"cube": [0, 0, -2.0, 0, 0, 0]}, expect=above_ground("cube"))


def lever_arm() -> Hard:
    """A plank on a fulcrum; eight tonnes fall on its short end, a ball lies on the other."""
    scene = world()
    fulcrum = solids.prism([(-0.3, 0.0), (0.3, 0.0), (0.0, 0.5)], 0.5)
    add_fixed_mesh(scene, "fulcrum", fulcrum, friction=0.5, position=[0.0, 0.0, 0.01])
    add_free(scene, "plank", [1.0, 0.0, 0.41], mass=100.0, turn=turned([0, 1, 0], 0.14), **box([2.0, 0.3, 0.03]))
    add_free(scene, "weight", [-0.7, 0.0, 2.2], mass=8000.0, **box([0.3, 0.3, 0.3]))
    add_free(scene, "ball", [2.8, 0.0, 0.3], type="Sphere", size=[0.1, 0.0, 0.0], density=300.0)

    def expect(seen: Seen) -> str | None:
        highest = seen.places("ball")[:, 2].max()
        return None if highest > 2.0 else f"the ball is thrown {highest:.3g} m high, expected more than 2 m"

    return Hard(scene, 150, expect=expect)


# ---- fast bodies ---------------------------------------------------------------------------------------------------------------------


def bat() -> Hard:
    """A bat at 20 rad/s meets a ball at rest."""
    scene = world(ground=False)
    scene.gravity = [0.0, 0.0, 0.0]
    outline = [(0.0, 0.1), (0.015, 0.1), (0.015, 0.3), (0.035, 0.6), (0.035, 0.9), (0.0, 0.9)]
    add_mesh(scene, "bat", solids.lathe(outline, 12, closed=False))
    add_driven(scene, "bat", [0.0, 0.0, 0.0], type="Mesh", mesh="bat")
    add_free(scene, "ball", [0.7, 0.0, 0.005], type="Sphere", size=[0.037, 0.0, 0.0], density=700.0)
    steps, dt = 60, 0.002
    angles = -1.0 + run_up(steps, dt, 20.0, 1e-9)
    lying = turned([0, 1, 0], 0.5 * math.pi)
    turns = np.array([after(turned([0, 0, 1], angle), lying) for angle in angles])
    scene.replace_body("bat", orientation=after(turned([0, 0, 1], -1.0), lying))

    def expect(seen: Seen) -> str | None:
        speed = float(np.linalg.norm(seen.v[-1][seen.model.joint_dofs("ball")][:3]))
        return (
            None if 12.0 < speed < 30.0 else f"the ball leaves at {speed:.3g} m/s, expected 14 m/s of the bat to 28 m/s"
        )

    return Hard(scene, steps, dt, script=script_of(np.zeros((steps, 3)), turns), expect=expect)


def dzhanibekov() -> Hard:
    """A T that spins about its middle axis of inertia turns over."""
    scene = world(ground=False)
    scene.gravity = [0.0, 0.0, 0.0]
    add_free(scene, "handle", [0.0, 0.0, 0.0], **box([0.05, 0.3, 0.05]))
    scene.add_shape("handle", name="stem", position=[0.2, 0.0, 0.0], **box([0.15, 0.05, 0.05]))

    def expect(seen: Seen) -> str | None:
        _, _, y, z = seen.poses[:, seen.model.body("handle"), 3:].T
        along = 1.0 - 2.0 * (y * y + z * z)  # of the stem by its own direction at the start
        return None if along.min() < -0.9 else f"the stem turns to a cosine of {along.min():.3g} only, expected -1"

    return Hard(scene, 800, 2.5e-3, velocity={"handle": [0, 0, 0, 10.0, 0.05, 0.05]}, expect=expect)


# ---- chains --------------------------------------------------------------------------------------------------------------------------


def add_chain(
    scene: ff.Scene, links: int, tilt: float = 0.0, hook: float = 0.0, load: Callable[[str], None] | None = None
) -> None:
    """Linked rings that hang from a fixed one at a height, turned about y by a tilt; `load` adds to the last."""
    mesh = solids.ring(LINK, WIRE)
    lean = turned([0, 1, 0], tilt)
    add_fixed_mesh(scene, "hook", mesh, orientation=after(lean, UPRIGHT), position=[0.0, 0.0, hook], friction=0.3)
    down = -np.array([math.sin(tilt), 0.0, math.cos(tilt)])
    for k in range(links):
        turn = after(lean, SIDEWAYS if k % 2 == 0 else UPRIGHT)
        place = np.array([0.0, 0.0, hook]) + SPACING * (k + 1) * down
        add_free_mesh(scene, f"ring {k}", place, mesh, turn=turn, density=5000.0, friction=0.3)
    if load is not None:
        load(f"ring {links - 1}")


def below_ring(links: int) -> np.ndarray:
    """Where down is for the last ring, in its own frame."""
    return np.array([1.0, 0.0, 0.0] if links % 2 else [0.0, -1.0, 0.0])


def linked(links: int) -> Callable[[Seen], str | None]:
    """Whether every ring still goes through the one before, at every tenth state and the last."""
    around = 2.0 * np.pi * np.arange(100) / 100
    circle = LINK * np.column_stack([np.cos(around), np.sin(around), np.zeros(100)])

    def judge(seen: Seen) -> str | None:
        from farfield.experiments.intersections import rotation

        for state in {*range(0, len(seen.poses), 10), len(seen.poses) - 1}:
            poses = [seen.poses[state, seen.model.body(f"ring {k}")] for k in range(links)]
            poses.insert(0, seen.poses[state, 0])
            shape = next(each for each in seen.model.scene.shapes if each.name == "hook")
            poses[0] = np.concatenate([shape.position, shape.orientation])
            for k in range(links):
                one, other = poses[k], poses[k + 1]
                points = circle @ rotation(other[3:]).T + other[:3]
                local = (points - one[:3]) @ rotation(one[3:])
                below = local[:, 2] < 0.0
                crossings = np.flatnonzero(below != np.roll(below, -1))
                if sum(np.linalg.norm(local[i, :2]) < LINK for i in crossings) % 2 == 0:
                    return f"ring {k} is no longer linked at state {state}"
        return None

    return judge


def chain(links: int = 5, steps: int = 100) -> Hard:
    """Linked rings that hang from a fixed one, let go when the chain is bent aside."""
    scene = world(ground=False)
    add_chain(scene, links)
    velocity = {f"ring {k}": [0.5 * (k + 1), 0.2 * (k + 1), 0, 0, 0, 0] for k in range(links)}
    return Hard(scene, steps, velocity=velocity, expect=linked(links), concave=True)


def anchor() -> Hard:
    """A chain with an anchor of 15 kg that is let go from the side."""
    scene, links = world(ground=False), 4
    down = below_ring(links)
    across = np.array([0.0, 0.0, 1.0])

    def load(ring: str) -> None:
        for name, size, way in (("shank", 0.15, 0.28), ("arms", 0.03, 0.46)):
            half = (
                size * np.abs(down)
                + (0.2 if name == "arms" else 0.02) * np.abs(across)
                + 0.02 * np.abs(np.cross(down, across))
            )
            scene.add_shape(ring, name=name, position=way * down, density=8000.0, **box(half, 0.3))

    add_chain(scene, links, tilt=0.8, load=load)
    return Hard(scene, 100, expect=linked(links), concave=True)


def wrecking_ball() -> Hard:
    """A ball on a chain swings into a wall of boxes."""
    scene, links = world(), 4

    def load(ring: str) -> None:
        scene.add_shape(
            ring, name="ball", type="Sphere", size=[0.14, 0.0, 0.0], position=0.27 * below_ring(links), density=4000.0
        )

    add_chain(scene, links, tilt=1.0, hook=1.05, load=load)
    for row in range(3):
        for side in (-1, 1):
            add_free(
                scene, f"box {row} {side}", [0.35, 0.104 * side, 0.102 + 0.204 * row], density=300.0, **box([0.1] * 3)
            )

    def expect(seen: Seen) -> str | None:
        way = max(
            np.linalg.norm(seen.place(f"box {row} {side}") - seen.place(f"box {row} {side}", 0))
            for row in range(3)
            for side in (-1, 1)
        )
        return linked(links)(seen) or (None if way > 0.1 else f"the wall moved {way:.2g} m, expected more than 0.1 m")

    return Hard(scene, 100, expect=expect, concave=True)


# ---- friction ------------------------------------------------------------------------------------------------------------------------


def turntable(friction: float, holds: bool) -> Hard:
    """A box on a disc that comes to turn at 2 rad/s, 0.5 m from the middle: it is carried when friction exceeds 0.204."""
    scene = world(ground=False)
    add_driven(
        scene, "disc", [0.0, 0.0, -0.05], type="Cylinder", size=[1.0, 0.05, 0.0], resolution=32, friction=friction
    )
    add_free(scene, "box", [0.5, 0.0, 0.052], **box([0.05] * 3, friction))
    steps, dt = 200, 0.01
    turns = np.array([turned([0, 0, 1], angle) for angle in run_up(steps, dt, 2.0, 1.0)])

    def expect(seen: Seen) -> str | None:
        out = float(np.linalg.norm(seen.place("box")[:2]))
        if holds:
            return near("distance from the middle", out, 0.5, 0.02)
        return None if out > 0.6 else f"distance from the middle {out:.3g} m, expected to have been thrown beyond 0.6 m"

    places = np.tile([0.0, 0.0, -0.05], (steps, 1))
    return Hard(scene, steps, dt, script=script_of(places, turns), expect=expect)


def incline(friction: float, holds: bool) -> Hard:
    """A box on a plane with a slope of 0.5, a turned gravity."""
    angle = math.atan(0.5)
    scene = world(ground=False)
    scene.gravity = [GRAVITY * math.sin(angle), 0.0, -GRAVITY * math.cos(angle)]
    scene.add_shape(0, name="plane", type="Box", size=[4.0, 1.0, 0.1], position=[2.0, 0.0, -0.1], friction=friction)
    add_free(scene, "box", [0.0, 0.0, 0.102], **box([0.1] * 3, friction))
    steps, dt = 150, 0.01
    gained = GRAVITY * (math.sin(angle) - friction * math.cos(angle))

    def expect(seen: Seen) -> str | None:
        if holds:  # friction that is smoothed creeps
            return near("distance it slid", seen.place("box")[0], 0.0, 0.03)
        speed = float(np.diff(seen.places("box")[-51:, 0])[-1] - np.diff(seen.places("box")[-51:, 0])[0]) / (49 * dt**2)
        return near("acceleration", speed, gained, 0.05 * gained)

    return Hard(scene, steps, dt, expect=expect)


# ---- structures ----------------------------------------------------------------------------------------------------------------------

CARD = (0.01, 0.35, 0.25)  # half thickness, width and length [m]
LEAN = math.radians(20.0)


def add_frame(scene: ff.Scene, name: str, middle: float, height: float) -> float:
    """Two cards that lean against each other over a height; the height of their top."""
    gap = 4e-3
    thick, _, half = CARD
    x = half * math.sin(LEAN) + thick * math.cos(LEAN) + 0.5 * gap
    z = half * math.cos(LEAN) + thick * math.sin(LEAN) + gap
    for side in (-1.0, 1.0):
        turn = turned([0, 1, 0], -side * LEAN)
        add_free(
            scene,
            f"{name} {side:g}",
            [middle + side * x, 0.0, height + z],
            turn=turn,
            **{**box(CARD, 1.0), "density": 500.0},
        )
    return height + 2.0 * z - gap


def card_house(storeys: int) -> Hard:
    """Cards that lean in pairs, one more pair in every storey below."""
    scene = world(friction=1.0)
    floor, pitch, names = 0.0, 0.42, []
    for storey in range(storeys):
        count = storeys - storey
        for k in range(count):
            names.append(f"{storey} {k} 1")
            top = add_frame(scene, f"{storey} {k}", pitch * (k - 0.5 * (count - 1)), floor)
        for k in range(count - 1):
            place = [pitch * (k - 0.5 * (count - 2)), 0.0, top + CARD[0] + 4e-3]
            size = [0.5 * pitch - 4e-3 if count > 2 else 0.26, CARD[1], CARD[0]]
            add_free(scene, f"roof {storey} {k}", place, **{**box(size, 1.0), "density": 500.0})
        floor = top + 2.0 * CARD[0] + 4e-3

    def expect(seen: Seen) -> str | None:
        for name in names:
            wrong = near(f"height of card '{name}'", seen.place(name)[2], seen.place(name, 0)[2], 0.03)
            if wrong:
                return wrong
        return still(seen)

    return Hard(scene, 100, expect=expect)


def arch(stones: int, thickness: float, steps: int) -> Hard:
    """Half a circle of equal stones, 1 m in radius, on two blocks; it stands when it is thicker than 0.107 m."""
    scene = world(ground=False)
    step, gap = math.pi / stones, 1e-3 / stones
    half = 0.5 * step - gap
    corners = [(1.0 + 0.5 * s * thickness, a) for s, a in ((-1, half), (-1, -half), (1, -half), (1, half))]
    outline = [(r * math.sin(a), r * math.cos(a) - 1.0) for r, a in corners][::-1]
    mesh = solids.prism(outline, 0.15)
    for k in range(stones):
        angle = (k + 0.5) * step
        place, turn = [math.cos(angle), 0.0, math.sin(angle)], turned([0, -1, 0], angle - 0.5 * math.pi)
        add_free_mesh(scene, f"stone {k}", place, mesh, turn=turn, density=2000.0, friction=0.7)
    for side in (-1.0, 1.0):
        scene.add_shape(0, name=f"block {side:g}", position=[side, 0.0, -0.1], **box([0.3, 0.3, 0.1], 0.7))
    crown = f"stone {stones // 2}"

    def expect(seen: Seen) -> str | None:
        return near("height of the crown", seen.place(crown)[2], 1.0, 0.05) or still(seen, 0.1)

    return Hard(scene, steps, expect=expect)


# ---- mechanisms ----------------------------------------------------------------------------------------------------------------------


def bolt() -> Hard:
    """A nut without friction runs down the thread of a fixed bolt."""
    scene = world(ground=False)
    pitch, depth, clear, around = 0.1, 0.02, 0.008, 16

    def thread(angle: float, z: np.ndarray) -> np.ndarray:
        return 0.1 - depth * (0.5 - 0.5 * np.cos(2.0 * np.pi * z / pitch - angle))

    def shaft(angle: float) -> np.ndarray:
        z = np.linspace(0.0, 0.5, 51)
        rows = np.column_stack([thread(angle, z), z])
        return np.vstack([[0.0, -0.05], [0.2, -0.05], [0.2, 0.0], rows[1:], [0.0, 0.5]])

    def nut(angle: float) -> np.ndarray:
        z = np.linspace(0.25, 0.4, 16)
        inner = np.column_stack([thread(angle, z) + clear, z])
        return np.vstack([inner[::-1], [[0.18, 0.25], [0.18, 0.4]]])

    add_fixed_mesh(scene, "bolt", solids.lathe(shaft, around, closed=False), friction=0.0)
    add_free_mesh(scene, "nut", [0.0, 0.0, 0.0], solids.lathe(nut, around), density=2000.0, friction=0.0)

    def expect(seen: Seen) -> str | None:
        down = seen.place("nut")[2] - seen.place("nut", 0)[2]
        turn = seen.angle("nut", 2)
        if down > -0.02:
            return f"the nut has gone {-down:.3g} m down, expected more than 0.02 m"
        return near("way down per turn", down, pitch * (turn[-1] - turn[0]) / (2.0 * np.pi), 0.2 * pitch)

    return Hard(scene, 100, expect=expect, concave=True)


def gear(teeth: int, phase: float) -> ff.TriangleMesh:
    """Trapezoidal teeth on a wheel with a pitch radius of 0.5 m about y."""
    outline = []
    for k in range(teeth):
        middle = phase + 2.0 * math.pi * k / teeth
        for radius, angle in ((0.42, -0.16), (0.57, -0.07), (0.57, 0.07), (0.42, 0.16)):
            outline.append((radius * math.cos(middle + angle), radius * math.sin(middle + angle)))
    return solids.prism(outline, 0.1)


def gears() -> Hard:
    """A wheel with eight teeth that a script turns, and one on a hinge that it drives."""
    scene, steps, dt = world(ground=False), 100, 0.01
    add_mesh(scene, "driver", gear(8, 0.0))
    add_mesh(scene, "wheel", gear(8, math.pi / 8))
    add_driven(scene, "driver", [0.0, 0.0, 0.0], type="Mesh", mesh="driver", friction=0.1)
    scene.add_body(name="wheel", position=[1.02, 0.0, 0.0])
    scene.add_joint("wheel", name="wheel", type="Hinge", axis=[0, -1, 0], damping=0.1)
    scene.add_shape("wheel", name="wheel", type="Mesh", mesh="wheel", friction=0.1)
    angles = run_up(steps, dt, 2.0)
    turns = np.array([turned([0, -1, 0], angle) for angle in angles])

    def expect(seen: Seen) -> str | None:
        wrong = np.abs(seen.joint("wheel")[1:] + angles).max()
        return None if wrong < 0.2 else f"the wheel is off by {wrong:.3g} rad, expected less than the play of 0.2 rad"

    return Hard(scene, steps, dt, script=script_of(np.zeros((steps, 3)), turns), expect=expect, concave=True)


def add_planar(scene: ff.Scene, name: str, place, slides: str, hinge: bool) -> None:
    """A body that slides along some axes of the world and turns about y, if it does."""
    scene.add_body(name=name, position=place)
    for axis in slides:
        scene.add_joint(name, name=f"{name} {axis}", type="Slide", axis=[float(axis == each) for each in "xyz"])
    if hinge:
        scene.add_joint(name, name=f"{name} turn", type="Hinge", axis=[0, 1, 0])


def pin(radius: float = 0.05) -> dict:
    """Across the plane of a mechanism."""
    return {"type": "Capsule", "size": [radius, 0.12, 0.0], "orientation": list(UPRIGHT), "friction": 0.1}


def piston() -> Hard:
    """A crank pin turns in the eye of a rod; its other eye moves a piston between two walls."""
    scene, steps, dt = world(ground=False), 150, 0.01
    crank, rod = 0.2, 0.8
    add_driven(scene, "crank", [crank, 0.0, 0.0], **pin())
    add_mesh(scene, "eye", solids.ring(0.1, 0.03, 16))
    add_planar(scene, "rod", [crank, 0.0, 0.0], "xz", hinge=True)
    for name, x in (("big eye", 0.0), ("small eye", rod)):
        scene.add_shape(
            "rod", name=name, type="Mesh", mesh="eye", orientation=UPRIGHT, position=[x, 0.0, 0.0], friction=0.1
        )
    scene.add_shape("rod", name="rod", position=[0.5 * rod, 0.0, 0.0], **box([0.5 * rod - 0.12, 0.03, 0.03], 0.1))
    add_planar(scene, "piston", [crank + rod, 0.0, 0.0], "xz", hinge=True)
    scene.add_shape("piston", name="pin", **pin())
    scene.add_shape("piston", name="head", position=[0.35, 0.0, 0.0], **box([0.15, 0.15, 0.18], 0.1))
    for side in (-1.0, 1.0):
        scene.add_shape(0, name=f"wall {side:g}", position=[1.2, 0.0, 0.25 * side], **box([0.5, 0.15, 0.05], 0.1))
    angles = run_up(steps, dt, 4.0)
    places = crank * np.column_stack([np.cos(angles), 0.0 * angles, np.sin(angles)])
    expected = places[:, 0] + np.sqrt(rod**2 - places[:, 2] ** 2)

    def expect(seen: Seen) -> str | None:
        wrong = np.abs(seen.places("piston")[1:, 0] - expected).max()
        return None if wrong < 0.06 else f"the piston is off by {wrong:.3g} m, expected less than the play of 0.06 m"

    return Hard(scene, steps, dt, script=script_of(places), expect=expect, concave=True)


def punching_press() -> Hard:
    """A crank pin in the slot of a ram presses a block down on a sprung plate, and lets it come up again."""
    scene, steps, dt = world(ground=False), 136, 0.01
    add_driven(scene, "crank", [0.0, 0.0, 1.2], **pin())
    add_planar(scene, "ram", [0.0, 0.0, 1.2], "z", hinge=False)
    for side in (-1.0, 1.0):
        scene.add_shape("ram", name=f"slot {side:g}", position=[0.0, 0.0, 0.1 * side], **box([0.35, 0.05, 0.03], 0.1))
    scene.add_shape("ram", name="punch", position=[0.0, 0.0, -0.5], **box([0.06, 0.06, 0.1], 0.5))
    add_planar(scene, "plate", [0.0, 0.0, 0.3], "z", hinge=False)
    scene.add_shape("plate", name="plate", density=200.0, **box([0.3, 0.3, 0.02], 0.5))
    scene.replace_joint("plate z", stiffness=5000.0, damping=50.0)
    add_free(scene, "block", [0.0, 0.0, 0.39], **box([0.06] * 3))
    angles = run_up(steps, dt, 5.0)
    places = np.column_stack([0.2 * np.sin(angles), 0.0 * angles, 1.0 + 0.2 * np.cos(angles)])

    def expect(seen: Seen) -> str | None:
        heights = seen.places("block")[:, 2]
        wrong = np.abs(seen.places("ram")[1:, 2] - places[:, 2]).max()
        if wrong > 0.05:
            return f"the ram is off by {wrong:.3g} m, expected less than the play of 0.05 m"
        # the punch goes down to 0.2 m, the block is 0.12 m high
        return near("lowest place of the block", heights.min(), 0.14, 0.03) or near("its last", heights[-1], 0.37, 0.03)

    return Hard(scene, steps, dt, script=script_of(places), expect=expect, concave=True)


def intermittent_motion() -> Hard:
    """A pin on a crank turns a wheel with four slots by a quarter, then leaves it alone: a Geneva drive; friction of the hinge holds it."""
    scene, steps, dt = world(ground=False), 140, 0.01
    reach, width = math.sqrt(0.5), 0.065
    outline = []
    for k in range(4):
        angle = (k + 0.5) * 0.5 * math.pi
        u, n = np.array([math.cos(angle), math.sin(angle)]), np.array([-math.sin(angle), math.cos(angle)])
        slot = ((0.7, -width - 0.03), (0.6, -width), (0.2, -width), (0.2, width), (0.6, width), (0.7, width + 0.03))
        outline += [tuple(x * u + y * n) for x, y in slot]
        outline += [(0.7 * math.cos(angle + a), 0.7 * math.sin(angle + a)) for a in (0.45, 0.785, 1.12)]
    add_mesh(scene, "wheel", solids.prism(outline, 0.1))
    scene.add_body(name="wheel")
    scene.add_joint("wheel", name="wheel", type="Hinge", axis=[0, -1, 0], friction=200.0, damping=5.0)
    scene.add_shape("wheel", name="wheel", type="Mesh", mesh="wheel", friction=0.1)
    angles = -1.2 + run_up(steps, dt, 2.0)
    places = np.column_stack([1.0 - reach * np.cos(angles), 0.0 * angles, reach * np.sin(angles)])
    add_driven(scene, "pin", [1.0 - reach * math.cos(-1.2), 0.0, reach * math.sin(-1.2)], **pin())

    def expect(seen: Seen) -> str | None:
        return near("turn of the wheel", seen.joint("wheel")[-1], 0.5 * math.pi, 0.1)

    return Hard(scene, steps, dt, script=script_of(places), expect=expect, concave=True)


def compactor() -> Hard:
    """Two walls close in on a heap until it has little more room than it fills."""
    scene, steps, dt = world(), 120, 0.01
    for side in (-1.0, 1.0):
        scene.add_shape(0, name=f"wall {side:g}", position=[0.0, 0.35 * side, 0.5], **box([1.2, 0.05, 0.5], 0.3))
        add_driven(scene, f"jaw {side:g}", [0.8 * side, 0.0, 0.5], **box([0.05, 0.28, 0.48], 0.3))
    names = []
    for k in range(8):
        place = [0.3 * (k % 4) - 0.45, 0.13 * (-1) ** (k // 4), 0.15]
        names.append(f"thing {k}")
        if k % 3 == 0:
            add_free(scene, names[-1], place, type="Sphere", size=[0.1, 0.0, 0.0], density=500.0, friction=0.3)
        else:
            add_free(scene, names[-1], place, turn=turned([0, 0, 1], 0.3 * k), **box([0.1, 0.07, 0.1], 0.3))
    gone = np.minimum(run_up(steps, dt, 0.5), 0.35)
    rows = [script_of(np.column_stack([side * (0.8 - gone), 0.0 * gone, 0.5 + 0.0 * gone])) for side in (-1.0, 1.0)]

    def expect(seen: Seen) -> str | None:
        for name in names:
            x, y, z = seen.place(name)
            if abs(x) > 0.4 or abs(y) > 0.3 or z < 0.0:
                return f"'{name}' got out, to ({x:.3g}, {y:.3g}, {z:.3g}) m"
        return None

    return Hard(scene, steps, dt, script=np.hstack(rows), expect=expect)


#: Every scene by its name, quick ones first.
SCENES: dict[str, Callable[[], Hard]] = {
    "spikes": spikes,
    "spike-and-wedge": spike_and_wedge,
    "wedges": wedges,
    "spike-in-hole": spike_in_hole,
    "spike-in-crack": spike_in_crack,
    "wedge-in-crack": wedge_in_crack,
    "cliff-edges": cliff_edges,
    "internal-edges": internal_edges,
    "edge-edge": edge_edge,
    "face-vertex": face_vertex,
    "vertex-face": vertex_face,
    "lever-arm": lever_arm,
    "dzhanibekov": dzhanibekov,
    "bat": bat,
    "incline-holds": lambda: incline(0.51, holds=True),
    "incline-slides": lambda: incline(0.45, holds=False),
    "turntable-carries": lambda: turntable(0.25, holds=True),
    "turntable-throws": lambda: turntable(0.1, holds=False),
    "card-house-1": lambda: card_house(1),
    "card-house-2": lambda: card_house(2),
    "gears": gears,
    "piston": piston,
    "punching-press": punching_press,
    "intermittent-motion": intermittent_motion,
    "compactor": compactor,
    "chain-3": lambda: chain(3),
    "anchor": anchor,
    "tessellated-plane": tessellated_plane,
    "spiked-plates": spiked_plates,
    "chain-5": lambda: chain(5),
    "wrecking-ball": wrecking_ball,
    "bolt": bolt,
    "arch-25": lambda: arch(25, 0.25, 50),
    "chain-10": lambda: chain(10, 60),
    "arch-101": lambda: arch(101, 0.2, 60),
}
