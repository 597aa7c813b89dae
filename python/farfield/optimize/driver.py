# SPDX-License-Identifier: Apache-2.0
"""What a driver is: something that improves unknowns step by step and can be stopped and continued."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import farfield as ff
from farfield.optimize.rollout_input import RolloutInput


class Stuck(Exception):
    """A numerical outcome that a driver cannot get past; the run ends there, with what it has, and says so."""


class Driver(ABC):
    """Something that improves controls, one optimiser iteration at a time, and can be stopped between any two.

    After ``restore(state())`` it goes on bit for bit. ``total`` is the largest number of iterations it may take, ``done`` whether
    nothing is left to do. ``improved``: the motion of the last iteration if it is the best so far, else None. ``frames``: steps of the motion when it is applied step by step, ``frame`` of which are done; None: it is
    found as a whole.
    """

    total: int
    done: bool
    frames: int | None = None
    frame: int = 0
    improved: ff.Trajectory | None = None

    @abstractmethod
    def advance(self) -> dict[str, Any]:
        """One iteration; a row of metrics with at least loss, gradient_norm, min_gap and steps (steps simulated).

        Raises Stuck when no further iteration can be made.
        """

    @abstractmethod
    def inputs(self) -> RolloutInput:
        """What a rollout needs to show the motion found so far."""

    @abstractmethod
    def state(self) -> dict[str, np.ndarray]:
        """Everything that later iterations depend on."""

    @abstractmethod
    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Takes up a state."""

    def motion(self, roll: Callable[[RolloutInput], ff.Trajectory]) -> ff.Trajectory:
        """The motion found so far; ``roll`` makes one of inputs."""
        return roll(self.inputs())

    def planned(self, roll: Callable[[RolloutInput], ff.Trajectory]) -> ff.Trajectory:
        """The motion to judge when the time is up before the driver is done."""
        return self.motion(roll)
