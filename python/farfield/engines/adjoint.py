# SPDX-License-Identifier: Apache-2.0
"""Exact gradients of our own rollouts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

import farfield as ff
from farfield.contact_models import certifies
from farfield.engines.engine import Engine
from farfield.engines.rollouts import roll_batch, roll_one, vjp_batch, vjp_rows
from farfield.executors import in_order
from farfield.optimize.losses import Partials
from farfield.optimize.objective import Capabilities, Evaluation
from farfield.optimize.parameterizations import Gradient
from farfield.optimize.rollout_input import PARTS, RolloutInput

Result = TypeVar("Result")


class Adjoint(Engine):
    """Exact gradients by the adjoint of the steps."""

    capabilities = Capabilities(certifies=True, gradients=True, jacobian=True, parts=True, spreads=True, inputs=PARTS)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if not certifies(self.contact):
            self.capabilities = replace(self.capabilities, certifies=False)

    def evaluate(self, points: Sequence[np.ndarray]) -> list[Evaluation]:
        """Value, gradient and trajectory of every point; of several by the executor, if there is one."""
        if self.executor is None or len(points) < 2:
            return super().evaluate(points)
        return self._spread(_evaluate_one, points)

    def _spread(self, function: Callable[[Engine, Any], Result], jobs: Sequence[Any]) -> list[Result]:
        """function(this engine, job) of all jobs by the executor, in their order; what is counted there is counted here."""
        kept = {name: value for name, value in vars(self).items() if name not in ("executor", "guess", "model")}
        work = partial(_elsewhere, self.model, type(self), kept, function)
        results = []
        for result, rollouts, gradients in in_order(work, jobs, self.executor):
            self.rollouts, self.gradients = self.rollouts + rollouts, self.gradients + gradients
            results.append(result)
        return results

    def simulate(self, points: Sequence[np.ndarray]) -> list[ff.Trajectory]:
        """One rollout per point; a single one from the guess if there is one."""
        inputs = self._decoded(points)
        self.rollouts += len(inputs)
        if self.guess is not None and len(inputs) == 1:
            return [roll_one(self.model, inputs[0], guess=self.guess, **self._options())]
        return roll_batch(self.model, inputs, threads=self.threads, **self._options())

    def roll(self, inputs: RolloutInput, *, tolerance: float | None = None) -> ff.Trajectory:
        """One rollout of decoded inputs; what they leave out is the objective's."""
        return roll_one(self.model, self._complete(inputs), **self._options(tolerance))

    def _options(self, tolerance: float | None = None) -> dict[str, Any]:
        return {
            "dt": self.dt,
            "contact": self.contact,
            "tolerance": self.tolerance if tolerance is None else tolerance,
            "max_iterations": self.max_iterations,
        }

    def _vjp(self, trajectories: list[ff.Trajectory], partials: list[Partials]) -> list[Gradient]:
        self.gradients += len(trajectories)
        return vjp_batch(trajectories, partials, threads=self.threads)

    def _vjp_rows(self, trajectory: ff.Trajectory, partials: list[Partials]) -> list[Gradient]:
        self.gradients += len(partials)
        return vjp_rows(trajectory, partials, threads=self.threads)


def _elsewhere(
    model: ff.Model, kind: type[Adjoint], kept: dict[str, Any], function: Callable[[Engine, Any], Result], job: Any
) -> tuple[Result, int, int]:
    """In a worker: the result, and how many rollouts and gradients it took."""
    engine = kind.__new__(kind)
    vars(engine).update(kept, model=model, executor=None, guess=None, rollouts=0, gradients=0)
    return function(engine, job), engine.rollouts, engine.gradients


def _evaluate_one(engine: Engine, point: np.ndarray) -> Evaluation:
    return engine.evaluate([point])[0]
