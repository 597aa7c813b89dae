# SPDX-License-Identifier: Apache-2.0
"""Scenes of every kind whose gradients are checked: stacks, robots, loops, scripted bodies, limits, critical friction, all scales."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import farfield as ff
from farfield.experiments import solids
from farfield.experiments.rigid_scenes import (
    GRAVITY,
    add_chain,
    add_driven,
    add_fixed_mesh,
    add_frame,
    add_free,
    add_free_mesh,
    box,
    script_of,
    turned,
    world,
)


@dataclass
class Checked:
    """A scene, how it starts, and where its scripted bodies go."""

    scene: ff.Scene
    velocity: dict[str, list[float]] = field(default_factory=dict)  #: joint -> velocities
    pose: dict[str, float] = field(default_factory=dict)  #: hinge or slide -> coordinate
    path: Callable[[int], np.ndarray] | None = None  #: number of steps -> script
    dt: float = 0.01
    body: str | None = None
    refused: str | None = None  #: words that say why there is no case, where there should be none
    steps: int = 20


THROWN = [0.4, 0.2, -0.1, 0.5, -0.3, 0.2]
BALL = {"type": "Sphere", "size": [0.1, 0.0, 0.0]}


def stack(count: int, masses: tuple[float, ...] = (1.0,)) -> Checked:
    """Boxes on each other, the topmost in motion."""
    scene = world()
    for k in range(count):
        add_free(
            scene, f"box {k}", [0.01 * k, 0.0, 0.1 + 0.203 * k + 3e-3], mass=masses[k % len(masses)], **box([0.1] * 3)
        )
    return Checked(scene, {f"box {count - 1}": THROWN})


def single(shape: dict, size: float = 1.0, velocity=THROWN) -> Checked:
    """One body over the ground, of any size: times go with the root of lengths."""
    scene = world()
    shape = {**shape, "size": [size * each for each in shape["size"]]}
    add_free(scene, "body", [0.0, 0.0, 0.25 * size], turn=turned([1, 0, 0], 0.3), friction=0.4, **shape)
    root = math.sqrt(size)
    thrown = [root * each for each in velocity[:3]] + [each / root for each in velocity[3:]]
    return Checked(scene, {"body": thrown}, dt=0.01 * root)


def solid(mesh: ff.TriangleMesh) -> Checked:
    """One mesh over the ground."""
    scene = world()
    add_free_mesh(scene, "body", [0.0, 0.0, 0.3], mesh, turn=turned([1, 1, 0], 0.2), friction=0.4)
    return Checked(scene, {"body": THROWN})


def pyramid_of_boxes() -> Checked:
    """Two boxes side by side, a third on both."""
    scene = world()
    for name, place in (("left", [-0.11, 0, 0.103]), ("right", [0.11, 0, 0.103]), ("top", [0.0, 0, 0.306])):
        add_free(scene, name, place, mass=1.0, **box([0.1] * 3))
    return Checked(scene, {"top": THROWN}, body="top")


def ball_on_box() -> Checked:
    """A ball a little off the middle of a box."""
    scene = world()
    add_free(scene, "box", [0.0, 0.0, 0.103], mass=1.0, **box([0.1] * 3))
    add_free(scene, "ball", [0.02, 0.01, 0.31], **BALL)
    return Checked(scene, {"ball": THROWN})


def rings(count: int) -> Checked:
    """Linked rings: none of them can be moved far from the next."""
    scene = world(ground=False)
    add_chain(scene, count)
    return Checked(scene, {f"ring {k}": [0.2, 0.1, 0.0, 0.0, 0.3, 0.1] for k in range(count)}, steps=2)


def links(joints: list[dict], ground: bool = True) -> ff.Scene:
    """Bars that hang from each other by these joints."""
    scene = world(ground)
    parent: int | str = 0
    for k, joint in enumerate(joints):
        name = f"link {k}"
        scene.add_body(name=name, parent=parent, position=[0.0, 0.0, 1.0] if k == 0 else [0.0, 0.0, -0.4])
        scene.add_joint(name, name=name, **{"axis": [0, 1, 0], "damping": 0.05, **joint})
        size = [0.04, 0.03, 0.15]
        scene.add_shape(name, name=name, type="Box", size=size, position=[0.0, 0.0, -0.2], friction=0.5)
        parent = name
    return scene


def pendulum(contact: bool) -> Checked:
    """Two hinges, over the ground or alone."""
    scene = links([{"type": "Hinge"}] * 2, ground=contact)
    return Checked(scene, {"link 0": [0.5], "link 1": [-1.0]}, {"link 0": 0.4, "link 1": -0.3})


def arm(actuator: dict | None = None) -> Checked:
    """Three hinges that reach down to a box."""
    scene = links([{"type": "Hinge"}] * 3)
    scene.replace_body("link 0", position=[0.0, 0.0, 1.25])
    add_free(scene, "box", [0.35, 0.0, 0.11], mass=1.0, **box([0.1] * 3))
    if actuator:
        for k in range(3):
            scene.add_actuator(name=f"drive {k}", joint=f"link {k}", **actuator)
    return Checked(scene, {"link 1": [1.0]}, {"link 0": 0.2, "link 1": -0.4, "link 2": 0.3})


def quadruped() -> Checked:
    """A trunk on four legs with knees, all of them driven."""
    scene = world()
    add_free(scene, "trunk", [0.0, 0.0, 0.43], mass=5.0, **box([0.2, 0.1, 0.04]))
    for side, front in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        parent, place = "trunk", [0.18 * front, 0.14 * side, 0.0]
        for part in ("thigh", "shin"):
            name = f"{part} {side} {front}"
            scene.add_body(name=name, parent=parent, position=place)
            scene.add_joint(name, name=name, type="Hinge", axis=[0, 1, 0], damping=0.1, armature=0.01)
            scene.add_shape(
                name, name=name, type="Capsule", size=[0.02, 0.06, 0.0], position=[0.0, 0.0, -0.09], friction=0.8
            )
            scene.add_actuator(name=name, type="Pd", joint=name, kp=20.0, kd=1.0)
            parent, place = name, [0.0, 0.0, -0.2]
    return Checked(scene, {"trunk": [0.2, 0.0, 0.0, 0.0, 0.1, 0.0]})


def cart_pole() -> Checked:
    """A slide that carries a hinge, pushed by a motor."""
    scene = world(ground=False)
    scene.add_body(name="cart", position=[0.0, 0.0, 0.5])
    scene.add_joint("cart", name="cart", type="Slide", axis=[1, 0, 0], damping=0.1)
    scene.add_shape("cart", name="cart", **box([0.1, 0.05, 0.05]))
    scene.add_body(name="pole", parent="cart", position=[0.0, 0.1, 0.0])
    scene.add_joint("pole", name="pole", type="Hinge", axis=[0, 1, 0])
    scene.add_shape("pole", name="pole", position=[0.0, 0.0, 0.3], **box([0.02, 0.02, 0.3]))
    scene.add_actuator(name="motor", type="Motor", joint="cart")
    return Checked(scene, {"cart": [0.3]}, {"pole": 0.2})


def limited(joint: dict, coordinate: float, speed: float) -> Checked:
    """A joint that runs into its limit."""
    scene = links([joint], ground=False)
    return Checked(scene, {"link 0": [speed]}, {"link 0": coordinate})


def ball_limit() -> Checked:
    """A ball joint that runs into its largest angle."""
    scene = links([{"type": "Ball", "range": (0.0, 0.3)}], ground=False)
    return Checked(scene, {"link 0": [2.0, 1.0, 0.3]})


def tied() -> Checked:
    """Two fingers whose joints are tied, over a box between them."""
    scene = world()
    for k, side in enumerate((-1.0, 1.0)):
        name = f"finger {k}"
        scene.add_body(name=name, position=[0.25 * side, 0.0, 0.15])
        scene.add_joint(name, name=name, type="Slide", axis=[1, 0, 0], damping=1.0)
        scene.add_shape(name, name=name, **box([0.03, 0.1, 0.1]))
    scene.add_tie(joint="finger 1", source="finger 0", ratio=-1.0)
    scene.add_actuator(name="grip", type="Motor", joint="finger 0")
    add_free(scene, "box", [0.02, 0.0, 0.104], mass=1.0, **box([0.1] * 3))
    return Checked(scene, {"finger 0": [0.3], "finger 1": [-0.3]})


def coupled() -> Checked:
    """A hinge that follows the square of another."""
    scene = links([{"type": "Hinge"}] * 2)
    terms = [[ff.LengthTerm(joint=f"link {k}", coefficient=1.0)] for k in (1, 0)]
    scene.add_constraint(name="couple", type="Coupling", terms=terms[0], source=terms[1], polynomial=[0.0, 0.5, 0.2])
    return Checked(scene, {"link 0": [1.0], "link 1": [0.5]})


def four_bar(kind: str) -> Checked:
    """A loop of bars that is closed by a constraint."""
    scene = links([{"type": "Hinge"}] * 2, ground=False)
    if kind == "Weld":
        add_free(scene, "load", [0.0, 0.0, 0.2], mass=1.0, **box([0.05] * 3))
        scene.exclude("link 1", "load")
        scene.add_constraint(name="weld", type="Weld", body="link 1", other="load", anchor=[0.0, 0.0, -0.4])
        return Checked(scene)
    scene.add_body(name="far", position=[0.0, 0.0, 0.2])
    scene.add_joint("far", name="far", type="Slide", axis=[0, 0, 1], damping=0.5)
    scene.add_shape("far", name="far", position=[0.0, 0.3, 0.0], **box([0.05] * 3))
    scene.add_constraint(name="close", type="Connect", body="link 1", other="far", anchor=[0.0, 0.0, -0.4])
    return Checked(scene)


def tendon() -> Checked:
    """A spring over two hinges."""
    scene = links([{"type": "Hinge"}] * 2)
    terms = [ff.LengthTerm(joint="link 0", coefficient=0.5), ff.LengthTerm(joint="link 1", coefficient=-1.0)]
    scene.add_tendon(name="spring", terms=terms, stiffness=20.0, rest=(0.1, 0.1), damping=0.3)
    scene.add_actuator(name="pull", type="Motor", tendon="spring")
    return Checked(scene, {"link 0": [0.5]}, {"link 0": 0.4})


def scripted(moves: bool) -> Checked:
    """A box before a wall that a script holds, or pushes against it."""
    scene = world()
    add_driven(scene, "wall", [0.3, 0.0, 0.2], **box([0.05, 0.3, 0.18]))
    add_free(scene, "box", [0.1, 0.0, 0.104], mass=1.0, **box([0.1] * 3))

    def path(steps: int) -> np.ndarray:
        gone = 0.003 * np.arange(1, steps + 1)
        return script_of(np.column_stack([0.3 - gone, 0.0 * gone, 0.2 + 0.0 * gone]))

    return Checked(scene, {"box": [0.5, 0.1, 0.0, 0.0, 0.0, 0.2]}, path=path if moves else None)


def on_turntable() -> Checked:
    """A box on a disc that a script turns."""
    scene = world(ground=False)
    add_driven(scene, "disc", [0.0, 0.0, -0.05], type="Cylinder", size=[1.0, 0.05, 0.0], friction=0.4)
    add_free(scene, "box", [0.5, 0.0, 0.053], **box([0.05] * 3, 0.4))

    def path(steps: int) -> np.ndarray:
        turns = np.array([turned([0, 0, 1], 0.02 * k) for k in range(1, steps + 1)])
        return script_of(np.tile([0.0, 0.0, -0.05], (steps, 1)), turns)

    return Checked(scene, {"box": [0.0, 1.0, 0.0, 0.0, 0.0, 2.0]}, path=path)


def pinched() -> Checked:
    """A box between two scripted jaws that have closed: nothing has a way to move it."""
    scene = world()
    for side in (-1.0, 1.0):
        add_driven(scene, f"jaw {side:g}", [0.16 * side, 0.0, 0.2], **box([0.05, 0.3, 0.18]))
    add_free(scene, "box", [0.0, 0.0, 0.104], mass=1.0, **box([0.1] * 3))
    return Checked(scene, {"box": [0.1, 0.2, 0.0, 0.0, 0.0, 0.1]})


def heights(cells: int, shape: dict) -> Checked:
    """A body over hills."""
    scene = world(ground=False)
    hills = solids.plate(cells, 0.2, 0.1, 0.05)
    add_fixed_mesh(scene, "hills", hills, friction=0.5)
    add_free(scene, "body", [0.05, 0.02, 0.22], friction=0.5, **shape)
    return Checked(scene, {"body": THROWN})


def incline(friction: float) -> Checked:
    """A box on a slope of 0.5."""
    angle = math.atan(0.5)
    scene = world(friction=friction)
    scene.gravity = [GRAVITY * math.sin(angle), 0.0, -GRAVITY * math.cos(angle)]
    add_free(scene, "box", [0.0, 0.0, 0.103], mass=1.0, **box([0.1] * 3, friction))
    return Checked(scene, {"box": [0.05, 0.0, 0.0, 0.0, 0.0, 0.0]})


def stick_slip() -> Checked:
    """A box that a spring drags over the ground."""
    scene = world(friction=0.6)
    scene.add_body(name="box", position=[0.0, 0.0, 0.103])
    for axis in "xz":
        spring = {"stiffness": 30.0, "spring_reference": 0.25} if axis == "x" else {}
        scene.add_joint("box", name=f"box {axis}", type="Slide", axis=[float(axis == each) for each in "xyz"], **spring)
    scene.add_shape("box", name="box", type="Box", size=[0.1] * 3, friction=0.6)
    return Checked(scene, {"box x": [0.02]})


def many(count: int) -> Checked:
    """Balls and boxes strewn over the ground."""
    scene = world()
    for k in range(count):
        place = [0.26 * (k % 4), 0.26 * (k // 4), 0.12 + 0.01 * (k % 3)]
        add_free(
            scene,
            f"thing {k}",
            place,
            turn=turned([0, 0, 1], 0.3 * k),
            friction=0.4,
            **(BALL if k % 2 else {"type": "Box", "size": [0.1, 0.08, 0.1]}),
        )
    return Checked(scene, {f"thing {k}": [0.3 * (-1) ** k, 0.2, 0, 0, 0, 0.5] for k in range(count)}, steps=3)


def bead() -> Checked:
    """A ball of 1 mm over a box of 1 m."""
    scene = world(ground=False)
    scene.add_shape(0, name="block", type="Box", size=[0.5] * 3, position=[0.0, 0.0, -0.5], friction=0.4)
    add_free(scene, "bead", [0.01, 0.02, 1.5e-3], type="Sphere", size=[5e-4, 0.0, 0.0], friction=0.4)
    return Checked(scene, {"bead": [0.02, 0.0, 0.0, 0.0, 0.0, 0.0]}, dt=1e-3)


def card_frame() -> Checked:
    """Two cards that lean against each other."""
    scene = world(friction=1.0)
    add_frame(scene, "card", 0.0, 0.0)
    return Checked(scene, {"card 1": [0.0, 0.1, 0.0, 0.0, 0.0, 0.1]})


def intersecting() -> Checked:
    """Two boxes, one in the other."""
    scene = world()
    for k in range(2):
        add_free(scene, f"box {k}", [0.05 * k, 0.0, 0.2], mass=1.0, **box([0.1] * 3))
    return Checked(scene, refused="'box 0' and 'box 1' intersect")


def weightless() -> Checked:
    """Two bodies without gravity that drift past each other."""
    scene = world(ground=False)
    scene.gravity = [0.0, 0.0, 0.0]
    add_free(scene, "box", [0.0, 0.0, 0.0], mass=1.0, **box([0.1] * 3))
    add_free(scene, "ball", [0.25, 0.05, 0.0], **BALL)
    return Checked(scene, {"ball": [-0.3, 0.1, 0.0, 1.0, 0.0, 2.0]})


HINGE, SLIDE = {"type": "Hinge"}, {"type": "Slide", "axis": [0, 0, 1]}
CAPSULE = {"type": "Capsule", "size": [0.06, 0.1, 0.0]}
SMALL_BOX = {"type": "Box", "size": [0.1, 0.07, 0.05]}

SCENES: dict[str, Callable[[], Checked]] = {
    "box": lambda: single(SMALL_BOX),
    "ball": lambda: single(BALL),
    "capsule": lambda: single(CAPSULE),
    "stack-2": lambda: stack(2),
    "stack-5": lambda: stack(5),
    "stack-of-unlike-masses": lambda: stack(3, (1e3, 1e-3, 1.0)),
    "pyramid": pyramid_of_boxes,
    "ball-on-box": ball_on_box,
    "L": lambda: solid(solids.polyomino("L", solids.L_CELLS, 0.1)),
    "star": lambda: solid(solids.star("star", 5, 0.2, 0.1, 0.05)),
    "two-rings": lambda: rings(2),
    "three-rings": lambda: rings(3),
    "card-frame": card_frame,
    "pendulum": lambda: pendulum(contact=False),
    "pendulum-over-ground": lambda: pendulum(contact=True),
    "arm": arm,
    "arm-with-motors": lambda: arm({"type": "Motor"}),
    "arm-with-drives": lambda: arm({"type": "Pd", "kp": 30.0, "kd": 2.0}),
    "quadruped": quadruped,
    "cart-pole": cart_pole,
    "ball-joints": lambda: Checked(links([{"type": "Ball"}] * 2), {"link 0": [0.5, 0.3, 0.2]}),
    "universal-joint": lambda: Checked(links([{"type": "Universal", "axis2": [1, 0, 0]}]), {"link 0": [0.5, 0.3]}),
    "hinge-limit": lambda: limited({**HINGE, "range": (-0.5, 0.5)}, 0.45, 2.0),
    "slide-limit": lambda: limited({**SLIDE, "range": (-0.1, 0.1)}, -0.09, -1.0),
    "ball-limit": ball_limit,
    "dry-friction": lambda: limited({**HINGE, "friction": 0.5, "friction_speed": 0.05}, 0.4, 0.3),
    "tie": tied,
    "coupling": coupled,
    "loop": lambda: four_bar("Connect"),
    "weld": lambda: four_bar("Weld"),
    "tendon": tendon,
    "wall-at-rest": lambda: scripted(moves=False),
    "wall-that-pushes": lambda: scripted(moves=True),
    "turntable": on_turntable,
    "closed-jaws": pinched,
    "hills-and-ball": lambda: heights(4, BALL),
    "hills-and-box": lambda: heights(8, SMALL_BOX),
    "critical-incline": lambda: incline(0.5),
    "incline": lambda: incline(0.3),
    "stick-slip": stick_slip,
    "fast-spin": lambda: single(SMALL_BOX, velocity=[0.3, 0.0, 0.0, 60.0, 3.0, 2.0]),
    "twelve-bodies": lambda: many(12),
    "millimetres": lambda: single(SMALL_BOX, 1e-3),
    "kilometres": lambda: single(SMALL_BOX, 1e3),
    "bead-on-block": bead,
    "weightless": weightless,
    "intersecting": intersecting,
}
