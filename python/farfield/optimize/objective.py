# SPDX-License-Identifier: Apache-2.0
"""A loss as a function of the numbers an optimiser moves: decode, roll out, differentiate, pull back; many at once on threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import farfield as ff


@dataclass(frozen=True)
class NoOptions:
    """The options of a method that has none."""

    name: ClassVar[str] = "this method"


@dataclass
class Evaluation:
    """A loss at one point. An unconverged rollout has value inf and no gradient."""

    x: np.ndarray
    value: float
    gradient: np.ndarray | None
    trajectory: ff.Trajectory


class Objective:
    """loss(rollout(parameterization.decode(x))) and its exact gradient.

    ``loss``: trajectory -> (value, dL_dpose). ``threads``: for batches; None is FARFIELD_THREADS or all cores. Same bits for any number.
    ``rollouts`` and ``gradients`` count what was computed. ``options``: of the method, an instance of its ``Options``.
    """

    Options: ClassVar[type] = NoOptions
    own_contact: ClassVar[str | None] = None  #: name of the contact model when the method brings its own
    certifies: ClassVar[bool] = True  #: rollouts prove that nothing intersects
    deterministic: ClassVar[bool] = True  #: the same point has the same gradient every time

    def __init__(
        self,
        model: ff.Model,
        parameters: ff.Parameters,
        parameterization: Any,
        loss: Callable[[ff.Trajectory], tuple[float, np.ndarray]],
        *,
        state: ff.State | None = None,
        dt: float = 0.01,
        contact: ff.ContactModel | None = None,
        tolerance: float = 1e-8,
        max_iterations: int = 100,
        threads: int | None = None,
        options: Any = None,
    ) -> None:
        self.options = self.Options() if options is None else options
        self.model, self.parameters, self.parameterization, self.loss = model, parameters, parameterization, loss
        self.state = model.default_state() if state is None else state
        self.dt, self.contact = dt, contact
        self.tolerance, self.max_iterations, self.threads = tolerance, max_iterations, threads
        self.rollouts = self.gradients = 0

    def simulate(self, points: Sequence[np.ndarray]) -> list[ff.Trajectory]:
        """One rollout per point."""
        inputs = [self.parameterization.decode(x) for x in points]
        states = [ff.State(q=each.get("q0", self.state.q), v=each.get("v0", self.state.v)) for each in inputs]
        self.rollouts += len(states)
        return ff.rollout_batch(
            self.model,
            [self.parameters],
            states,
            [each["controls"] for each in inputs],
            dt=self.dt,
            contact=self.contact,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
            threads=self.threads,
        )

    def evaluate(self, points: Sequence[np.ndarray]) -> list[Evaluation]:
        """Value, gradient and trajectory of every point. Where the loss is 0 so is the gradient, at no cost."""
        results = []
        for x, trajectory in zip(points, self.simulate(points), strict=True):
            results.append(Evaluation(np.array(x, dtype=float), float("inf"), None, trajectory))
        pending, partials = [], []
        for each in results:
            if not each.trajectory.converged:
                continue
            each.value, by_pose = self.loss(each.trajectory)
            each.gradient = np.zeros(each.x.shape)
            if by_pose.any():
                pending.append(each)
                partials.append(by_pose)
        for each, gradient in zip(pending, self._vjp([e.trajectory for e in pending], partials), strict=True):
            each.gradient = self.parameterization.pullback(each.x, gradient)
        return results

    def jacobian(self, x: np.ndarray, trajectory: ff.Trajectory) -> np.ndarray:
        """dr/dx of the loss's residuals at a trajectory of x, shape (residuals, x.size): one vector-Jacobian product each."""
        partials = self.loss.residual_partials(trajectory)
        rows = [self.parameterization.pullback(x, g) for g in self._vjp([trajectory] * len(partials), partials)]
        return np.array([np.ravel(row) for row in rows])

    def memory(self) -> dict[str, np.ndarray]:
        """What later gradients depend on besides their point; kept in checkpoints."""
        return {}

    def restore(self, memory: Mapping[str, np.ndarray]) -> None:
        """Takes up a memory."""

    def counts(self) -> dict[str, Any]:
        """Figures of the method for result.json."""
        return {}

    def _vjp(self, trajectories: list[ff.Trajectory], partials: list[np.ndarray]) -> list[ff.RolloutGradient]:
        if not trajectories:
            return []
        self.gradients += len(trajectories)
        return ff.rollout_vjp_batch(trajectories, dL_dpose=partials, threads=self.threads)
