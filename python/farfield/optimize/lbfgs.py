# SPDX-License-Identifier: Apache-2.0
"""L-BFGS of SciPy as a driver: for smooth losses with one basin, where it needs a tenth of Adam's iterations.

SciPy's method calls the loss and cannot be left in the middle. So every iteration here starts it anew and answers from what is known, until it asks
for a point that is not: that one is rolled out. What it was told is the driver's whole state, and a run goes on from it bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from farfield.optimize.driver import Driver
from farfield.optimize.objective import Evaluation, Objective
from farfield.optimize.rollout_input import RolloutInput
from farfield.optional import needed

MEMORY = 20  # pairs of steps and gradients that shape the Hessian


class _Unknown(Exception):
    """The method asks for a point."""

    def __init__(self, x: np.ndarray) -> None:
        self.x = x


class Lbfgs(Driver):
    """Limited-memory quasi-Newton with a line search and bounds (L-BFGS-B), one rollout and gradient per iteration.

    bounds: lower and upper, arrays that broadcast against x, infinite where there is none. Ends at loss zero, where no step leads further down, or after
    ``iterations``. A point whose rollout does not converge is a wall: the search turns back before it.
    """

    def __init__(
        self,
        objective: Objective,
        start: np.ndarray,
        *,
        iterations: int = 100,
        bounds: tuple[Any, Any] | None = None,
        memory: int = MEMORY,
    ) -> None:
        needed("scipy.optimize", extra="tasks")
        if iterations < 1:
            raise ValueError(f"Lbfgs: iterations {iterations}, expected 1 or more")
        self.objective, self.start, self.total, self.memory = (
            objective,
            np.array(start, dtype=float),
            iterations,
            memory,
        )
        self.bounds = None if bounds is None else _bounds(bounds, self.start.shape)
        self._points: list[np.ndarray] = []
        self._values: list[float] = []
        self._gradients: list[np.ndarray] = []
        self._next: np.ndarray | None = self.start.ravel()
        if self.bounds is not None:
            self._next = np.clip(self._next, *self.bounds)

    @property
    def best_value(self) -> float:
        """The smallest loss seen."""
        return min(self._values, default=float("inf"))

    @property
    def done(self) -> bool:
        """Reached, or nothing is left to do."""
        return len(self._points) >= self.total or self.best_value <= 0.0 or self._next is None

    def advance(self) -> dict[str, Any]:
        """The rollout and gradient of the next point of the line search."""
        x, before = self._next, self.best_value
        (evaluation,) = self.objective.evaluate([x.reshape(self.start.shape)])
        self._points.append(x)
        self._values.append(float(evaluation.value))
        known = evaluation.gradient is not None
        self._gradients.append(np.ravel(evaluation.gradient) if known else np.full(x.size, np.nan))
        self.improved = evaluation.trajectory if self._values[-1] < before else None
        self._next = self._ask()
        return self._row(evaluation)

    def _row(self, evaluation: Evaluation) -> dict[str, Any]:
        norm = None if evaluation.gradient is None else float(np.linalg.norm(evaluation.gradient))
        steps, gap = evaluation.trajectory.num_steps, evaluation.trajectory.min_gap
        return {
            "loss": self.best_value,
            "gradient_norm": norm,
            "min_gap": gap,
            "steps": steps,
            "losses": {"0": evaluation.value},
        }

    def _ask(self) -> np.ndarray | None:
        """The point that SciPy asks for after all that it has been told; None when it has ended."""
        minimize = needed("scipy.optimize", extra="tasks").minimize
        if not np.isfinite(self._values[0]):
            return None  # there is nothing to go down from
        # Gradients through contact at a distance may be 1e-9: no absolute threshold may end the search.
        scale = 1.0 / max(np.abs(self._gradients[0]).max(), 1e-300)
        count = 0

        def answer(x: np.ndarray) -> tuple[float, np.ndarray]:
            nonlocal count
            if count == len(self._points):
                raise _Unknown(np.array(x))
            value, gradient = self._told(count)
            count += 1
            return scale * value, scale * gradient

        options = {
            "maxcor": self.memory,
            "ftol": 1e-15,
            "gtol": 1e-12,
            "maxiter": 10 * self.total,
            "maxfun": 10 * self.total,
        }
        limits = None if self.bounds is None else list(zip(*self.bounds, strict=True))
        try:
            minimize(answer, self._points[0], jac=True, method="L-BFGS-B", bounds=limits, options=options)
        except _Unknown as wanted:
            return wanted.x
        return None

    def _told(self, index: int) -> tuple[float, np.ndarray]:
        """Value and gradient; where there are none, those of a bowl around the best point before it that is ten times as high here."""
        if np.isfinite(self._values[index]):
            return self._values[index], self._gradients[index]
        best = int(np.argmin(self._values[:index]))
        away = self._points[index] - self._points[best]
        height = 10.0 * max(abs(self._values[best]), 1e-300)
        return self._values[best] + height, 2.0 * height * away / max(away @ away, 1e-300)

    def inputs(self) -> RolloutInput:
        """Rollout inputs of the best point."""
        best = self._points[int(np.argmin(self._values))] if self._points else self.start
        return self.objective.parameterization.decode(best.reshape(self.start.shape))

    def state(self) -> dict[str, np.ndarray]:
        """Everything that later iterations depend on: what SciPy has been told."""
        empty = np.zeros((0, self.start.size))
        rows = {"points": self._points, "gradients": self._gradients}
        kept = {name: np.array(row) if row else empty for name, row in rows.items()}
        return kept | {"values": np.array(self._values)}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Continues, bit for bit, where ``state`` was taken."""
        self._points, self._gradients = list(state["points"]), list(state["gradients"])
        self._values = [float(value) for value in state["values"]]
        if self._points:
            self._next = self._ask()


def _bounds(given: Sequence[Any], shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    lower, upper = (np.broadcast_to(np.asarray(each, dtype=float), shape).ravel() for each in given)
    if not np.all(lower <= upper):
        raise ValueError(f"Lbfgs: bounds {given}, expected lower <= upper")
    return lower, upper
