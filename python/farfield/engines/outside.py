# SPDX-License-Identifier: Apache-2.0
"""Engines from outside: what a simulator has to offer to take part in tasks and comparisons.

    class Mine(Outside):
        "My engine."
        capabilities = Capabilities(own_contact="mine")

        def rollout(self, state, controls): ...     # -> Motion

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
from farfield.motion import Motion
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
    def rollout(self, state: ff.State, controls: np.ndarray) -> Motion:
        """The motion of len(controls) steps of ``self.dt`` from a state. A failure is a Motion with converged=False, not an exception."""

    def vjp(self, motion: Motion, partials: Partials) -> InputGradient:
        """The gradient of a loss with these partials by poses, coordinates and velocities; those that are None are zero."""
        raise TypeError(f"{type(self).__name__} declares gradients but has no vjp(motion, partials)")

    def contact_description(self) -> str:
        """The engine's own contact."""
        return engine_description(self.capabilities.own_contact or type(self).__name__)

    def simulate(self, points: Sequence[np.ndarray]) -> list[Motion]:
        """One rollout per point."""
        return self._rollouts(self._decoded(points))

    def roll(self, inputs: RolloutInput, *, tolerance: float | None = None) -> Motion:
        """One rollout of decoded inputs; the tolerance is for solvers that have one."""
        return self._rollouts([self._complete(inputs)])[0]

    def _rollouts(self, inputs: Sequence[RolloutInput]) -> list[Motion]:
        self.rollouts += len(inputs)
        return [self._rollout(each) for each in inputs]

    def _rollout(self, given: RolloutInput) -> Motion:
        motion = self.rollout(given.state, np.asarray(given.controls))
        motion.contact = self.contact_description()
        return motion

    def _vjp(self, trajectories: list[Motion], partials: list[Partials]) -> list[InputGradient]:
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
