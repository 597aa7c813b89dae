# SPDX-License-Identifier: Apache-2.0
"""Many starts at once, the hopeless ones given up early, the best iterate of all kept.

All starts advance together, one batch of rollouts and gradients per iteration, so both cores are busy and results do not depend on
the number of threads. After each round only the best few go on (successive halving).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from farfield.tasks.objective import Evaluation, Objective
from farfield.tasks.projections import Projection


def ring(center: Sequence[float], radius: float, count: int, *, phase: float = 0.0) -> np.ndarray:
    """Even points on a circle [m], shape (count, 2); the first at angle ``phase``."""
    angle = phase + 2.0 * np.pi * np.arange(count) / count
    return np.asarray(center, dtype=float) + radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


@dataclass
class Round:
    """Iterations that the ``keep`` best starts so far take part in."""

    iterations: int
    keep: int


@dataclass
class Start:
    """One start and where it got to."""

    index: int
    x: np.ndarray
    optimizer: Any
    best: Evaluation | None = None
    history: list[float] = field(default_factory=list)  #: loss of every iterate


@dataclass
class MultistartResult:
    """All starts, best first."""

    starts: list[Start]
    iterations: int

    @property
    def best(self) -> Evaluation | None:
        """The best iterate of all; None when no rollout converged."""
        return self.starts[0].best


def multistart(
    objective: Objective,
    starts: Sequence[np.ndarray],
    optimizer: Callable[[], Any],
    rounds: Sequence[Round],
    *,
    projection: Projection | None = None,
    done: Callable[[Evaluation], bool] = lambda evaluation: evaluation.value <= 0.0,
    progress: Callable[[int, list[Evaluation]], None] = lambda iteration, evaluations: None,
) -> MultistartResult:
    """Runs every start with an optimiser of its own through the rounds, and stops at the first iterate that is ``done``.

    A start whose rollout does not converge goes half the way back to its best iterate; without one it is given up.
    """
    if not len(starts):
        raise ValueError("multistart: no starts, expected at least one")
    runs = [Start(k, np.array(x, dtype=float), optimizer()) for k, x in enumerate(starts)]
    iteration = 0
    for each in rounds:
        active = sorted(runs, key=_rank)[: each.keep]
        active.sort(key=lambda run: run.index)
        for _ in range(each.iterations):
            evaluations = objective.evaluate([run.x for run in active])
            iteration += 1
            for run, evaluation in zip(active, evaluations, strict=True):
                _advance(run, evaluation, projection)
            progress(iteration, evaluations)
            if any(evaluation.gradient is not None and done(evaluation) for evaluation in evaluations):
                return MultistartResult(sorted(runs, key=_rank), iteration)
            active = [run for run in active if run.best is not None]
            if not active:
                return MultistartResult(sorted(runs, key=_rank), iteration)
    return MultistartResult(sorted(runs, key=_rank), iteration)


def _rank(run: Start) -> tuple[float, int]:
    return (float("inf") if run.best is None else run.best.value, run.index)


def _advance(run: Start, evaluation: Evaluation, projection: Projection | None) -> None:
    run.history.append(evaluation.value)
    if evaluation.gradient is None:
        if run.best is not None:
            run.x = 0.5 * (run.x + run.best.x)
            run.optimizer.reset()
        return
    if run.best is None or evaluation.value < run.best.value:
        run.best = evaluation
    run.x = run.optimizer.step(run.x, evaluation.gradient)
    if projection is not None:
        run.x = projection.project(run.x)
