# SPDX-License-Identifier: Apache-2.0
"""Gather: a rod in the middle of scattered cubes has to bring all of them into one region around the middle.

Settings after [LongRange2026, A.6]. The summed loss is the one given there (``--set loss=sum``); the schedule of active objects, which is
the default, and the disc around the active object are additions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from farfield.marker import Marker
from farfield.options import option
from farfield.tasks.clutter import Clutter, rod_scene, scatter
from farfield.tasks.cube import add_cube
from farfield.tasks.task import Problem

SIDE = 0.1  # [m]
HEIGHT = 0.06  # of the rod [m]


@dataclass(frozen=True)
class Gather(Clutter):
    """Bring ten scattered cubes into one region with a rod that starts in the middle of it, touching nothing."""

    inner: float = option(0.45, "smallest distance of a cube from the middle at the start [m]", above=0)
    outer: float = option(0.8, "largest one [m]", above=0)

    def build(self, seed: int) -> Problem:
        """The scene: places and headings of the cubes and the heading of the rod are drawn from the seed."""
        generator = np.random.default_rng(seed)
        places = scatter(generator, self.objects, self.inner, self.outer, 2.6 * SIDE)
        turns = generator.uniform(-np.pi, np.pi, self.objects + 1)
        scene = rod_scene("gather", self, place=(0.0, 0.0, HEIGHT), yaw=turns[-1])
        names = [f"cube {k}" for k in range(self.objects)]
        for name, place, turn in zip(names, places, turns, strict=False):
            color = [0.85, 0.5, 0.25, 1.0]
            add_cube(scene, name, place, turn, side=SIDE, friction=self.grip, color=color)
        markers = [Marker("region", (0.0, 0.0, 2e-3), self.radius, flat=True)]
        return self._problem(scene, names, np.zeros((self.objects, 2)), (0, 1, 2, 3), markers)
