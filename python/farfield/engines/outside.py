# SPDX-License-Identifier: Apache-2.0
"""Engines from outside: what a simulator has to offer to take part in tasks and comparisons.

    class Mine(Outside):
        "My engine."
        capabilities = Capabilities(own_contact="mine")

        def rollout(self, state, controls):
            ...
            return self.trajectory(q, v, controls)

That is enough: gradients are then central differences of the loss in the unknowns. An engine with derivatives
declares ``gradients=True`` and has ``vjp``. `farfield compare TASK --methods longrange,mine.py` runs it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

import farfield as ff
from farfield.contact_models import engine_description
from farfield.engines.engine import Engine
from farfield.optimize.losses import Partials
from farfield.optimize.objective import Capabilities, Evaluation
from farfield.optimize.rollout_input import InputGradient, RolloutInput


class Outside(Engine):
    """A simulator of its own under the loss, the unknowns and the optimiser of a task.

    ``model`` and ``parameters`` describe the scene (`farfield.Model.scene` has shapes, joints and actuators), ``dt`` is the time between two
    controls. Motions are in the coordinates of ``model``. Drivers offer a warm start in ``guess``; most engines have no use for it.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(own_contact="outside")
    difference_step: ClassVar[float] = 1e-5  #: of central differences, in the unit of the unknowns

    @abstractmethod
    def rollout(self, state: ff.State, controls: np.ndarray) -> ff.Trajectory:
        """The motion of len(controls) steps of ``self.dt`` from a state. A failure is one with converged=False, not an exception."""

    def trajectory(
        self, q: np.ndarray, v: np.ndarray, controls: np.ndarray, *, converged: bool = True, min_gap: float = np.inf
    ) -> ff.Trajectory:
        """What `rollout` returns: q of shape (steps + 1, num_q), v (steps + 1, num_dofs), controls (steps, num_controls).

        converged: every step asked for was taken. min_gap: smallest distance of bodies seen [m], negative where they penetrate.
        Attributes that the engine sets on it are there again in ``vjp``.
        """
        return ff.Trajectory.from_states(
            self.model,
            self.parameters,
            q,
            v,
            controls,
            dt=self.dt,
            contact=self.contact_description(),
            converged=converged,
            min_gap=min_gap,
        )

    def vjp(self, motion: ff.Trajectory, partials: Partials) -> InputGradient:
        """The gradient of a loss with these partials by poses, coordinates and velocities; those that are None are zero."""
        raise TypeError(f"{type(self).__name__} declares gradients but has no vjp(motion, partials)")

    def contact_description(self) -> str:
        """The engine's own contact."""
        return engine_description(self.capabilities.own_contact or type(self).__name__)

    def simulate(self, points: Sequence[np.ndarray]) -> list[ff.Trajectory]:
        """One rollout per point."""
        return self._rollouts(self._decoded(points))

    def roll(self, inputs: RolloutInput, *, tolerance: float | None = None) -> ff.Trajectory:
        """One rollout of decoded inputs; the tolerance is for solvers that have one."""
        return self._rollouts([self._complete(inputs)])[0]

    def _rollouts(self, inputs: Sequence[RolloutInput]) -> list[ff.Trajectory]:
        self.rollouts += len(inputs)
        return [self._rollout(each) for each in inputs]

    def _rollout(self, given: RolloutInput) -> ff.Trajectory:
        return self.rollout(given.state, np.asarray(given.controls))

    def _vjp(self, trajectories: list[ff.Trajectory], partials: list[Partials]) -> list[InputGradient]:
        self.gradients += len(trajectories)
        return [self.vjp(motion, by) for motion, by in zip(trajectories, partials, strict=True)]

    def evaluate(self, points: Sequence[np.ndarray]) -> list[Evaluation]:
        """Value, gradient and motion of every point; by differences when the engine declares no gradients."""
        if self.capabilities.gradients:
            return super().evaluate(points)
        results = []
        for x, motion in zip(points, self.simulate(points), strict=True):
            here = Evaluation(np.array(x, dtype=float), float("inf"), None, motion)
            if motion.converged:
                here.value, by = self._loss(motion)
                here.gradient = self._differences(here.x) if by.any() else np.zeros(here.x.shape)
            results.append(here)
        return results

    def _differences(self, x: np.ndarray) -> np.ndarray | None:
        """Central differences of the loss; None when a rollout of them fails."""
        self.gradients += 1
        moves = self.difference_step * np.eye(x.size).reshape(x.size, *x.shape)
        motions = self.simulate([x + sign * move for move in moves for sign in (1.0, -1.0)])
        if not all(motion.converged for motion in motions):
            return None
        values = np.array([self.loss(motion)[0] for motion in motions]).reshape(-1, 2)
        return ((values[:, 0] - values[:, 1]) / (2.0 * self.difference_step)).reshape(x.shape)
