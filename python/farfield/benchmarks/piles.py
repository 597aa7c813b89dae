# SPDX-License-Identifier: Apache-2.0
"""Cubes dropped onto the ground in a loose pile."""

from __future__ import annotations

import math

import numpy as np

import farfield as ff
from farfield.tasks.cube import add_cube

SIDE, FRICTION = 0.1, 0.5  # [m]
LAYER = 5  # cubes side by side
PITCH = 1.3 * SIDE  # between layers, and between neighbours in one


def pile(count: int, seed: int = 0) -> ff.Model:
    """Layers of five, each turned and moved aside at random, the lowest just above the ground."""
    draw = np.random.default_rng(seed)
    scene = ff.Scene(name=f"pile of {count}", gravity=[0.0, 0.0, -9.81])
    scene.add_shape(0, name="ground", type="HalfSpace", friction=FRICTION)
    for k in range(count):
        layer, seat = divmod(k, LAYER)
        if seat == 0:
            turn, aside = draw.uniform(-math.pi, math.pi), draw.uniform(-0.2 * SIDE, 0.2 * SIDE, 2)
        ring = 2.0 * math.pi * seat / LAYER + turn
        away = 0.5 * PITCH * math.sqrt(2.0) / math.sin(math.pi / LAYER)
        place = away * np.array([math.cos(ring), math.sin(ring)]) + aside
        name = f"cube {k}"
        add_cube(scene, name, place, draw.uniform(-math.pi, math.pi), side=SIDE, friction=FRICTION)
        x, y, z = scene.bodies[scene.body_index(name)].position
        scene.replace_body(name, position=[x, y, z + layer * PITCH])
    return ff.build_model(scene)
