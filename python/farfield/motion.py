# SPDX-License-Identifier: Apache-2.0
"""Motions that were not made by one rollout of ours, seen as a `farfield.Trajectory` and kept in its file.

A `Motion` has the part of the trajectory's interface that losses, success tests and pictures read. It is what an engine from outside returns,
and what a receding horizon has applied step by step. On disk there is one kind of motion, the file of a trajectory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

import farfield as ff
from farfield import _core
from farfield.output import atomic_path
from farfield.tensor_file import read_tensors, write_tensors

STATUS = ("converged", "max_iterations", "line_search_failed", "non_finite", "intersecting")  # numbers in files
FAILED = STATUS.index("non_finite")


@dataclass
class Motion:
    """The part of `farfield.Trajectory` that tasks read. An engine from outside returns this.

    q: shape (steps + 1, num_q), v: (steps + 1, num_dofs), controls: (steps, num_controls), in the layout of ``model``; poses are made of q.
    converged: every step asked for was taken. min_gap: smallest distance of bodies seen [m], negative where they penetrate.
    contact: description of the contact model as `farfield.Trajectory.contact` has it, or of the engine that the states come from.
    """

    model: ff.Model
    parameters: ff.Parameters
    q: np.ndarray
    v: np.ndarray
    controls: np.ndarray
    dt: float
    converged: bool = True
    min_gap: float = float("inf")
    reports: Sequence[ff.StepReport] = ()
    contact: str = ""
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


def save_motion(path: str | PathLike[str], motion: ff.Trajectory | Motion) -> None:
    """The file of a motion, as `farfield.load_trajectory` reads it; complete or not there at all.

    Of states that did not come from one rollout the file has what the motion knows: without reports, every step has its smallest gap.
    """
    if isinstance(motion, ff.Trajectory):
        ff.save_trajectory(path, motion)
        return
    start = np.zeros((0, motion.model.num_controls))
    empty = _core.rollout(motion.model, motion.parameters, motion.state(0), start, dt=motion.dt, contact=None)
    with atomic_path(Path(path)) as temporary:
        ff.save_trajectory(temporary, empty)
        tensors, metadata = read_tensors(temporary)
        q, v, controls = (np.asarray(part, dtype=float) for part in (motion.q, motion.v, motion.controls))
        if not motion.converged and not motion.reports:
            q, v, controls = _with_failed_step(q, v, controls)
        steps = len(q) - 1
        tensors |= {"q": q, "v": v, "controls": controls}
        scripted = motion.model.kinematic_bodies
        places = [motion.model.joint_q(f"{motion.model.body_names[body]} (scripted)") for body in scripted]
        tensors["script"] = np.concatenate([q[1:, place] for place in places] or [np.zeros((steps, 0))], axis=1)
        for name in [name for name in tensors if name.startswith("report.")]:
            tensors[name] = _column(motion, name.removeprefix("report."), steps).astype(tensors[name].dtype)
        write_tensors(temporary, tensors, metadata | {"contact": motion.contact})


def _with_failed_step(q: np.ndarray, v: np.ndarray, controls: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The states up to the last finite one, and once more for the step that failed; its state in a file is whatever was left."""
    finite = np.isfinite(q).all(axis=1) & np.isfinite(v).all(axis=1)
    end = len(q) if finite.all() else max(int(np.argmin(finite)), 1)
    rows = [*range(end), end - 1]
    # the step that failed may have no controls of its own
    padded = np.concatenate([controls, controls[-1:] if len(controls) else np.zeros((1, controls.shape[1]))])
    return q[rows], v[rows], padded[:end]


def _column(motion: Motion, name: str, steps: int) -> np.ndarray:
    """One field of the reports of all steps."""
    if motion.reports:
        values = [getattr(report, name) for report in motion.reports]
        return np.array([STATUS.index(value) for value in values] if name == "status" else values)
    usual = {"min_gap": motion.min_gap, "shortest_step": 1.0, "conditioning": 1.0}
    column = np.full(steps, usual.get(name, 0.0))
    if name == "status" and not motion.converged:
        column[-1] = FAILED
    return column
