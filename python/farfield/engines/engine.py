# SPDX-License-Identifier: Apache-2.0
"""What all engines share: decode the unknowns, roll out, differentiate, pull back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

import farfield as ff
from farfield.optimize.losses import Loss, Partials, ResidualLoss
from farfield.optimize.objective import Capabilities, Evaluation, Objective
from farfield.optimize.parameterizations import Gradient, Parameterization
from farfield.optimize.rollout_input import RolloutInput
from farfield.options import NoOptions


class Engine(Objective, ABC):
    """The implementation of `farfield.optimize.objective.Objective` that engines derive from.

    ``threads``: for batches; None is FARFIELD_THREADS or all cores. Same bits for any number.
    ``options``: of the engine, an instance of its ``Options``. ``executor``: of other processes for batches, with ``capabilities.spreads``; None: threads.
    """

    Options: ClassVar[type] = NoOptions
    capabilities: Capabilities = Capabilities()

    def __init__(
        self,
        model: ff.Model,
        parameters: ff.Parameters,
        parameterization: Parameterization,
        loss: Loss,
        *,
        state: ff.State | None = None,
        dt: float = 0.01,
        contact: ff.ContactModel | None = None,
        tolerance: float = 1e-7,
        max_iterations: int = 200,
        threads: int | None = None,
        options: Any = None,
    ) -> None:
        self.options = self.Options() if options is None else options
        self.model, self.parameters, self.parameterization, self.loss = model, parameters, parameterization, loss
        self.state = model.default_state() if state is None else state
        self.dt, self.contact = dt, contact
        self.tolerance, self.max_iterations, self.threads = tolerance, max_iterations, threads
        self.guess: np.ndarray | None = None
        self.rollouts = self.gradients = 0
        self.executor: Executor | None = None
        unknown = sorted(parameterization.moves - self.capabilities.inputs)
        if unknown:
            raise ValueError(f"engine {_name(self)} takes no {unknown[0]}, which {_name(parameterization)} moves")

    @abstractmethod
    def roll(self, inputs: RolloutInput, *, tolerance: float | None = None) -> ff.Trajectory:
        """One rollout of decoded inputs; what they leave out is the objective's."""

    @abstractmethod
    def simulate(self, points: Sequence[np.ndarray]) -> list[ff.Trajectory]:
        """One rollout per point."""

    def evaluate(self, points: Sequence[np.ndarray]) -> list[Evaluation]:
        """Value, gradient and trajectory of every point. Where the loss is 0 so is the gradient, at no cost."""
        results = []
        for x, trajectory in zip(points, self.simulate(points), strict=True):
            results.append(Evaluation(np.array(x, dtype=float), float("inf"), None, trajectory))
        pending, partials = [], []
        for each in results:
            if not each.trajectory.converged:
                continue
            each.value, by = self._loss(each.trajectory)
            each.gradient = np.zeros(each.x.shape)
            if by.any():
                pending.append(each)
                partials.append(by)
        for each, gradient in zip(pending, self._vjp([e.trajectory for e in pending], partials), strict=True):
            each.gradient = self.parameterization.pullback(each.x, gradient)
        return results

    def jacobian(self, x: np.ndarray, trajectory: ff.Trajectory) -> np.ndarray:
        """dr/dx of the loss's residuals at a trajectory of x, shape (residuals, x.size): one vector-Jacobian product each."""
        self._require("jacobian", "Jacobian")
        if not isinstance(self.loss, ResidualLoss):
            raise ValueError(f"loss {_name(self.loss)} has no residuals; expected a ResidualLoss")
        partials = [self._relevant(each) for each in self.loss.residual_partials(trajectory)]
        rows = [self.parameterization.pullback(x, g) for g in self._vjp_rows(trajectory, partials)]
        return np.array([np.ravel(row) for row in rows])

    def part(self, model: ff.Model, parameters: ff.Parameters, loss: Loss, *, max_iterations: int) -> Engine:
        """The same unknowns in a part of the scene, by the same engine."""
        self._require("parts", "plans in parts of its scene")
        engine = type(self)(
            model,
            parameters,
            self.parameterization,
            loss,
            dt=self.dt,
            contact=self.contact,
            tolerance=self.tolerance,
            max_iterations=max_iterations,
            threads=self.threads,
            options=self.options,
        )
        engine.executor = self.executor
        return engine

    def use(self, executor: Executor | None) -> None:
        """Batches are computed by this executor; the numbers are the same."""
        if executor is not None:
            self._require("spreads", "batches for other processes")
        self.executor = executor

    def contact_description(self) -> str:
        """As `farfield.Trajectory.contact` has it."""
        return "" if self.contact is None else self.contact.description

    def memory(self) -> dict[str, np.ndarray]:
        """What later gradients depend on besides their point; kept in checkpoints."""
        return {}

    def restore(self, memory: Mapping[str, np.ndarray]) -> None:
        """Takes up a memory."""

    def counts(self) -> dict[str, Any]:
        """Figures of the engine for result.json."""
        return {}

    def _complete(self, inputs: RolloutInput) -> RolloutInput:
        """With this objective's state and parameters where the inputs have none."""
        return inputs.over(RolloutInput(state=self.state, parameters=self.parameters))

    def _decoded(self, points: Sequence[np.ndarray]) -> list[RolloutInput]:
        return [self._complete(self.parameterization.decode(x)) for x in points]

    def _loss(self, trajectory: ff.Trajectory) -> tuple[float, Partials]:
        value, partials = self.loss(trajectory)
        return value, self._relevant(partials)

    def _relevant(self, partials: Partials) -> Partials:
        """Without those by parameters when the unknowns do not move them."""
        return partials if "parameters" in self.parameterization.moves else replace(partials, by_parameters={})

    def _require(self, capability: str, what: str) -> None:
        if not vars(self.capabilities)[capability]:
            raise ValueError(f"engine {_name(self)} has no {what}; expected one that declares '{capability}'")

    @abstractmethod
    def _vjp(self, trajectories: list[ff.Trajectory], partials: list[Partials]) -> list[Gradient]:
        """The gradient of a loss with these partials by the inputs of every rollout."""

    def _vjp_rows(self, trajectory: ff.Trajectory, partials: list[Partials]) -> list[Gradient]:
        """The gradients of several losses of one trajectory."""
        return self._vjp([trajectory] * len(partials), partials)


def _name(thing: Any) -> str:
    return type(thing).__name__
