# SPDX-License-Identifier: Apache-2.0
"""The cube that is pushed: free, resting on the ground."""

from __future__ import annotations

import math
from collections.abc import Sequence

import farfield as ff

REST_GAP = 1e-3  # between the ground and what lies on it at the start [m]
ORANGE = (0.85, 0.5, 0.25, 1.0)


def add_cube(
    scene: ff.Scene,
    name: str,
    place: Sequence[float],
    yaw: float = 0.0,
    *,
    side: float,
    friction: float,
    density: float = 100.0,
    color: Sequence[float] = ORANGE,
) -> None:
    """A free cube at a place (x, y) [m] on the ground, turned by ``yaw`` [rad]."""
    scene.add_body(
        name=name,
        position=[place[0], place[1], 0.5 * side + REST_GAP],
        orientation=[math.cos(0.5 * yaw), 0.0, 0.0, math.sin(0.5 * yaw)],
    )
    scene.add_joint(name, name=name, type="Free")
    scene.add_shape(
        name, name=name, type="Box", size=3 * [0.5 * side], density=density, friction=friction, color=list(color)
    )
