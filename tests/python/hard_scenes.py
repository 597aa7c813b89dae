# SPDX-License-Identifier: Apache-2.0
"""Scenes that are hard for a step, besides those of `farfield corpus rigid`: edges, great masses, small gaps, high speeds."""

from __future__ import annotations

import math

import numpy as np

from farfield.experiments.rigid_scenes import (
    GRAVITY,
    Hard,
    add_free,
    box,
    chain,
    lever_arm,
    spiked_plates,
    turned,
    wedge_in_crack,
    world,
)

__all__ = ["GRAVITY", "Hard", "chain", "lever_arm", "spiked_plates", "wedge_in_crack"]


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
