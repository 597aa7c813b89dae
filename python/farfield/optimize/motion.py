# SPDX-License-Identifier: Apache-2.0
"""Motions as plain arrays: what losses, success tests and pictures read of a rollout, whoever computed it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import farfield as ff


@dataclass
class Motion:
    """The part of `farfield.Trajectory` that tasks read. An engine from outside returns this.

    q: shape (steps + 1, num_q), v: (steps + 1, num_dofs), controls: (steps, num_controls), in the layout of ``model``; poses are made of q.
    converged: every step asked for was taken. min_gap: smallest distance of bodies seen [m], negative where they penetrate.
    """

    model: ff.Model
    parameters: ff.Parameters
    q: np.ndarray
    v: np.ndarray
    controls: np.ndarray
    dt: float
    converged: bool = True
    min_gap: float = float("inf")
    reports: Sequence[Any] = ()
    extra: Any = None  #: whatever an engine keeps for its gradient
    _poses: np.ndarray | None = field(default=None, repr=False)

    @property
    def num_steps(self) -> int:
        """Steps taken."""
        return len(self.q) - 1

    def state(self, step: int) -> ff.State:
        """State after ``step`` steps; negative counts from the end."""
        return ff.State(q=np.array(self.q[step]), v=np.array(self.v[step]))

    def poses(self) -> np.ndarray:
        """World placement of every body at every state, shape (steps + 1, num_bodies, 7)."""
        if self._poses is None:
            rows = [ff.forward_kinematics(self.model, self.parameters, np.ascontiguousarray(q)) for q in self.q]
            self._poses = np.array(rows)
        return self._poses

    def until(self, step: int) -> Motion:
        """The first ``step`` steps."""
        poses = self.poses()[: step + 1]
        parts = (self.q[: step + 1], self.v[: step + 1], self.controls[:step])
        return Motion(self.model, self.parameters, *parts, self.dt, self.converged, self.min_gap, _poses=poses)


def as_motion(trajectory: Any) -> Motion:
    """The same motion as plain arrays."""
    return Motion(
        trajectory.model,
        trajectory.parameters,
        np.asarray(trajectory.q),
        np.asarray(trajectory.v),
        np.asarray(trajectory.controls),
        trajectory.dt,
        bool(trajectory.converged),
        float(trajectory.min_gap),
        _poses=np.asarray(trajectory.poses()),
    )


def time_to_success(trajectory: Any, success: Callable[[Any], bool]) -> float | None:
    """Simulated time of the first frame at which the success test holds for the motion up to it [s]; None when it never does."""
    motion = as_motion(trajectory)
    for step in range(1, motion.num_steps + 1):
        if success(motion.until(step)):
            return step * motion.dt
    return None
