# SPDX-License-Identifier: Apache-2.0
"""Sort: a rod has to bring cubes of two kinds, which lie mixed on the ground, to one region for each kind.

Settings after [LongRange2026, A.6], with the schedule of active objects and the disc of `farfield.tasks.gather`.
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
COLORS = ([0.85, 0.5, 0.25, 1.0], [0.3, 0.6, 0.4, 1.0])


@dataclass(frozen=True)
class Sort(Clutter):
    """Bring mixed cubes of two kinds to one region per kind with a rod that cannot turn."""

    frames: int = option(700, "time steps of the motion", above=0)
    horizon: int = option(16, "time steps looked ahead", above=0)
    waiting: float = option(
        0.2, "weight in the loss of objects that are pushed away while they wait for their turn", least=0
    )
    share: float = option(0.7, "success: this share of the objects ends in its region", above=0)
    extent: float = option(0.45, "the cubes lie within this distance of the middle at the start [m]", above=0)
    apart: float = option(0.8, "distance of the regions from the middle [m]", above=0)

    def build(self, seed: int) -> Problem:
        """The scene: places, headings and kinds of the cubes are drawn from the seed; half of them are of each kind."""
        generator = np.random.default_rng(seed)
        places = scatter(generator, self.objects, 0.0, self.extent, 2.0 * SIDE)
        kinds = generator.permutation(np.arange(self.objects) % 2)
        turns = generator.uniform(-np.pi, np.pi, self.objects)
        scene = rod_scene("sort", self, place=(0.0, -self.extent - 0.2, HEIGHT), yaw=0.0)
        names = [f"cube {k}" for k in range(self.objects)]
        for name, place, turn, kind in zip(names, places, turns, kinds, strict=True):
            add_cube(scene, name, place, turn, side=SIDE, friction=self.grip, color=COLORS[kind])
        centers = np.array([[-self.apart, 0.0], [self.apart, 0.0]])
        markers = [
            Marker(f"region {kind}", (*centers[kind], 2e-3), self.radius, rgba=(*COLORS[kind][:3], 0.5), flat=True)
            for kind in (0, 1)
        ]
        return self._problem(scene, names, centers[kinds], (0, 1, 2), markers)
