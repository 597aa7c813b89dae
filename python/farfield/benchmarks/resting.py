# SPDX-License-Identifier: Apache-2.0
"""Three boxes, two of them stacked and one beside, that lie on the ground or slide over it."""

from __future__ import annotations

import numpy as np

import farfield as ff

BOXES = {  # half extents, place [m], mass [kg]
    "below": ((0.1, 0.1, 0.05), (0.0, 0.0, 0.051), 1.0),
    "above": ((0.08, 0.08, 0.05), (0.01, 0.0, 0.153), 0.7),
    "beside": ((0.05, 0.1, 0.05), (0.4, 0.02, 0.051), 0.5),
}


def boxes(friction: float) -> ff.Model:
    """All of them rub with this coefficient."""
    scene = ff.Scene(name="three boxes", gravity=[0.0, 0.0, -9.81])
    scene.add_shape(0, name="ground", type="HalfSpace", friction=friction)
    for name, (half, place, mass) in BOXES.items():
        scene.add_body(name=name, position=place)
        scene.add_joint(name, name=name, type="Free")
        density = mass / (8.0 * np.prod(half))
        scene.add_shape(name, name=name, type="Box", size=half, density=density, friction=friction)
    return ff.build_model(scene)


def sliding(model: ff.Model, state: ff.State, speed: float) -> ff.State:
    """The state with the stack pushed one way and the third box another [m/s]."""
    v = np.array(state.v)
    v[model.joint_dofs("below").start] = v[model.joint_dofs("above").start] = speed
    v[model.joint_dofs("beside").start + 1] = -speed
    return ff.State(q=state.q, v=v)
