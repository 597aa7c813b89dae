# SPDX-License-Identifier: Apache-2.0
"""The rod that pushes things: six position drives in world coordinates."""

from __future__ import annotations

import math
from collections.abc import Sequence

import farfield as ff

ROD_HALF = (0.03, 0.15, 0.03)  # [m]
COORDINATES = ("x", "y", "z", "yaw", "pitch", "roll")  # controls 0 to 5


def add_rod(
    scene: ff.Scene,
    position: Sequence[float],
    yaw: float,
    *,
    friction: float,
    stiffness: float,
    half: Sequence[float] = ROD_HALF,
) -> None:
    """A body "rod", its length across the direction ``yaw`` [rad]; it may not touch the world either."""
    half_turn = 0.5 * yaw
    place = {"x": position[0], "y": position[1], "z": position[2], "yaw": yaw}
    scene.add_body(
        name="rod",
        position=[place["x"], place["y"], place["z"]],
        orientation=[math.cos(half_turn), 0.0, 0.0, math.sin(half_turn)],
    )
    cosine, sine = math.cos(yaw), math.sin(yaw)
    world_axes = {"x": [cosine, -sine, 0.0], "y": [sine, cosine, 0.0]}  # in the rod's turned frame
    turn_axes = {"z": [0, 0, 1], "yaw": [0, 0, 1], "pitch": [0, 1, 0], "roll": [1, 0, 0]}
    for name in COORDINATES:
        axis = world_axes.get(name) or turn_axes[name]
        kind = "Slide" if name in "xyz" else "Hinge"
        scene.add_joint("rod", name=f"rod_{name}", type=kind, axis=axis, reference=place.get(name, 0.0))
        # Critically damped for a mass of 1 kg and an inertia of 0.01 kg m^2, a little more than the rod has.
        kp, kd = stiffness, 2.0 * math.sqrt(stiffness)
        if kind == "Hinge":
            kp, kd = 0.02 * stiffness, 3.0 * math.sqrt(0.02 * stiffness * 0.01)
        scene.add_actuator(name=f"rod_{name}", type="Pd", joint=f"rod_{name}", kp=kp, kd=kd, velocity_input=False)
    scene.add_shape(
        "rod", name="rod", type="Box", size=half, density=500.0, friction=friction, color=[0.2, 0.45, 0.75, 1.0]
    )
    scene.include("world", "rod")
