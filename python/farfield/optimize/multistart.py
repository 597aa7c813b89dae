# SPDX-License-Identifier: Apache-2.0
"""Many starts at once, the hopeless ones given up early, the best iterate of each kept, the best of all polished.

All starts advance together, one batch of rollouts and gradients per iteration, so all cores are busy and results do not depend on
the number of threads. After each round only the best few go on (successive halving).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from farfield.optimize.driver import Driver
from farfield.optimize.gauss_newton import GaussNewton, GaussNewtonOptions
from farfield.optimize.objective import Evaluation, Objective
from farfield.optimize.projections import Projection
from farfield.optimize.rollout_input import RolloutInput


def ring(center: Sequence[float], radius: float, count: int, *, phase: float = 0.0) -> np.ndarray:
    """Even points on a circle [m], shape (count, 2); the first at angle ``phase``."""
    angle = phase + 2.0 * np.pi * np.arange(count) / count
    return np.asarray(center, dtype=float) + radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


@dataclass
class Round:
    """Iterations that the ``keep`` best starts so far take part in, each from its best iterate, with steps ``rate`` times as long."""

    iterations: int
    keep: int
    rate: float = 1.0


@dataclass
class Start:
    """One start, where it is, and the best it has seen."""

    index: int
    x: np.ndarray
    optimizer: Any
    best_x: np.ndarray
    best_value: float = float("inf")

    @property
    def rank(self) -> tuple[float, int]:
        """Best first; of equals the earlier."""
        return (self.best_value, self.index)


class Multistart(Driver):
    """The driver of a search from several starts, each with an optimiser of its own. Ends with the first iterate of loss zero.

    One start and one round are a plain descent that keeps its best iterate; a first round of one iteration picks the best of samples.
    A start whose rollout does not converge goes half the way back to its best iterate; without one it is given up.
    """

    def __init__(
        self,
        objective: Objective,
        starts: Sequence[np.ndarray],
        optimizer: Callable[[], Any],
        rounds: Sequence[Round],
        *,
        projection: Projection | None = None,
    ) -> None:
        if not len(starts):
            raise ValueError("Multistart: no starts, expected at least one")
        self.objective, self.rounds, self.projection = objective, list(rounds), projection
        self.starts = [
            Start(k, np.array(x, dtype=float), optimizer(), np.array(x, dtype=float)) for k, x in enumerate(starts)
        ]
        self.total = sum(each.iterations for each in self.rounds)
        self.iterations = 0
        self._active = list(range(len(self.starts)))
        self._rate = 1.0

    @property
    def ranking(self) -> list[Start]:
        """All starts, best first."""
        return sorted(self.starts, key=lambda start: start.rank)

    @property
    def best_value(self) -> float:
        """The smallest loss seen."""
        return self.ranking[0].best_value

    @property
    def done(self) -> bool:
        """Reached, or nothing is left to do."""
        return self.iterations >= self.total or not self._active or self.best_value <= 0.0

    def advance(self) -> dict[str, Any]:
        """One iteration of all starts that still take part. The row's loss is the best so far, ``losses`` is start -> its loss now."""
        self._choose()
        active = [self.starts[k] for k in self._active]
        evaluations = self.objective.evaluate([start.x for start in active])
        best = min(evaluations, key=lambda each: each.value)
        self.improved = best.trajectory if best.value < self.best_value else None
        for start, evaluation in zip(active, evaluations, strict=True):
            self._move(start, evaluation)
        self._active = [start.index for start in active if np.isfinite(start.best_value)]
        self.iterations += 1
        norms = [np.linalg.norm(each.gradient) for each in evaluations if each.gradient is not None]
        return {
            "loss": self.best_value,
            "gradient_norm": float(max(norms)) if norms else None,
            "min_gap": min(each.trajectory.min_gap for each in evaluations),
            "steps": sum(each.trajectory.num_steps for each in evaluations),
            "losses": {str(start.index): each.value for start, each in zip(active, evaluations, strict=True)},
        }

    def _choose(self) -> None:
        """At the beginning of a round, who takes part, and from where."""
        begin = 0
        for each in self.rounds:
            if self.iterations == begin:
                alive = [start for start in self.ranking if begin == 0 or np.isfinite(start.best_value)]
                self._active = sorted(start.index for start in alive[: each.keep])
                for start in (self.starts[k] for k in self._active):
                    start.x = start.best_x.copy()
                    start.optimizer.reset()
            if self.iterations >= begin:
                self._rate = each.rate
            begin += each.iterations

    def _move(self, start: Start, evaluation: Evaluation) -> None:
        if evaluation.gradient is None:
            start.x = 0.5 * (start.x + start.best_x)
            start.optimizer.reset()
            return
        if evaluation.value < start.best_value:
            start.best_x, start.best_value = evaluation.x, evaluation.value
        start.x = start.x + self._rate * (start.optimizer.step(start.x, evaluation.gradient) - start.x)
        if self.projection is not None:
            start.x = self.projection.project(start.x)

    def inputs(self) -> RolloutInput:
        """Rollout inputs of the best iterate of all."""
        return self.objective.parameterization.decode(self.ranking[0].best_x)

    def state(self) -> dict[str, np.ndarray]:
        """Everything that later iterations depend on."""
        state = {"iterations": np.array(self.iterations), "active": np.array(self._active, dtype=int)}
        for start in self.starts:
            own = {"x": start.x, "best_x": start.best_x, "best_value": np.array(start.best_value)}
            own |= {f"optimizer.{key}": value for key, value in start.optimizer.state().items()}
            state |= {f"start{start.index}.{key}": np.array(value) for key, value in own.items()}
        return state

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Continues, bit for bit, where ``state`` was taken."""
        self.iterations, self._active = int(state["iterations"]), [int(k) for k in state["active"]]
        for start in self.starts:
            own = part(state, f"start{start.index}.")
            start.x, start.best_x = np.array(own["x"]), np.array(own["best_x"])
            start.best_value = float(own["best_value"])
            start.optimizer.restore(part(own, "optimizer."))


class Polished(Driver):
    """The driver that lets a multi-start search end in Gauss-Newton from its ``count`` best starts, one after the other."""

    def __init__(self, search: Multistart, options: GaussNewtonOptions, *, count: int = 2) -> None:
        self.search, self.options, self.count = search, options, count
        self.total = search.total + count * options.iterations
        self._queue: list[int] | None = None  # starts to polish, best first, once the search is over
        self._polish: GaussNewton | None = None

    @property
    def best_value(self) -> float:
        """The smallest loss seen."""
        return self.search.best_value

    @property
    def done(self) -> bool:
        """Reached, or nothing is left to do."""
        return self.search.done and (self.best_value <= 0.0 or not self._turns())

    def _turns(self) -> list[int]:
        if self._queue is None:
            ranking = [start for start in self.search.ranking if np.isfinite(start.best_value)]
            self._queue = [start.index for start in ranking[: self.count]]
        return self._queue

    def advance(self) -> dict[str, Any]:
        """One iteration of the search, or of the polish."""
        if not self.search.done:
            row = self.search.advance()
            self.improved = self.search.improved
            return row
        start = self.search.starts[self._turns()[0]]
        if self._polish is None:
            self._polish = self._begin(start)
        row = self._polish.advance()
        here = self._polish.here
        self.improved = here.trajectory if here.value < self.best_value else None
        if here.value < start.best_value:  # a smaller residual may still have the larger loss
            start.best_x, start.best_value = here.x, here.value
        if self._polish.done:
            self._queue, self._polish = self._turns()[1:], None
        return row | {"loss": self.best_value, "losses": {str(start.index): here.value}}

    def _begin(self, start: Start) -> GaussNewton:
        return GaussNewton(self.search.objective, start.best_x, self.options, projection=self.search.projection)

    def inputs(self) -> RolloutInput:
        """Rollout inputs of the best point of all."""
        return self.search.inputs()

    def state(self) -> dict[str, np.ndarray]:
        """Everything that later iterations depend on."""
        state = self.search.state()
        if self._queue is not None:
            state["queue"] = np.array(self._queue, dtype=int)
        if self._polish is not None:
            state |= {f"polish.{key}": value for key, value in self._polish.state().items()}
        return state

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Continues, bit for bit, where ``state`` was taken."""
        self.search.restore(state)
        self._queue = [int(k) for k in state["queue"]] if "queue" in state else None
        self._polish = None
        if "polish.x" in state:
            self._polish = self._begin(self.search.starts[self._turns()[0]])
            self._polish.restore(part(state, "polish."))


class Attempts(Driver):
    """The driver that makes several searches, one after the other, until one arrives; the best of all counts."""

    def __init__(self, searches: Sequence[Multistart | Polished]) -> None:
        if not len(searches):
            raise ValueError("Attempts: no searches, expected at least one")
        self.searches = list(searches)
        self.total = sum(search.total for search in self.searches)

    @property
    def best_value(self) -> float:
        """The smallest loss seen."""
        return min(search.best_value for search in self.searches)

    @property
    def done(self) -> bool:
        """Reached, or nothing is left to do."""
        return self.best_value <= 0.0 or all(search.done for search in self.searches)

    def advance(self) -> dict[str, Any]:
        """One iteration of the first search that is not over."""
        attempt, search = next((k, search) for k, search in enumerate(self.searches) if not search.done)
        before = self.best_value
        row = search.advance()
        self.improved = search.improved if self.best_value < before else None
        return row | {"loss": self.best_value, "attempt": attempt}

    def inputs(self) -> RolloutInput:
        """Rollout inputs of the best point of all."""
        return min(self.searches, key=lambda search: search.best_value).inputs()

    def state(self) -> dict[str, np.ndarray]:
        """Everything that later iterations depend on."""
        return {
            f"attempt{k}.{key}": value
            for k, search in enumerate(self.searches)
            for key, value in search.state().items()
        }

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Continues, bit for bit, where ``state`` was taken."""
        for k, search in enumerate(self.searches):
            search.restore(part(state, f"attempt{k}."))


def part(state: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """The entries under a prefix, without it."""
    return {key.removeprefix(prefix): value for key, value in state.items() if key.startswith(prefix)}
