# SPDX-License-Identifier: Apache-2.0
"""Where a search begins besides the trivial start: the best of random points, the same ones for every method."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from farfield.optimize.objective import Objective
from farfield.optimize.parameterizations import Gradient, Parameterization
from farfield.optimize.rollout_input import RolloutInput

START_SAMPLES = 64  # points of which a sampled start is the best
KNOTS = 6  # of the random curves in time
SPREAD = 0.3  # standard deviation of their knots, or of unknowns without time, in the unit of the unknowns
Sample = Callable[[np.random.Generator], np.ndarray]  # a random point
STREAM = 20_001  # keeps these draws apart from those that a task makes from the same seed


class Started(Parameterization):
    """A parameterisation with another initial point."""

    def __init__(self, inner: Parameterization, first: np.ndarray) -> None:
        self.inner, self.first = inner, np.array(first, dtype=float)
        self.moves, self.per_step = inner.moves, inner.per_step

    @property
    def size(self) -> int:
        """How many numbers."""
        return self.inner.size

    def initial(self) -> np.ndarray:
        """The point found by sampling."""
        return self.first.copy()

    def decode(self, x: np.ndarray) -> RolloutInput:
        """As the inner one."""
        return self.inner.decode(x)

    def pullback(self, x: np.ndarray, gradient: Gradient) -> np.ndarray:
        """As the inner one."""
        return self.inner.pullback(x, gradient)


def draw(parameterization: Parameterization, sample: Sample | None, seed: int, count: int) -> list[np.ndarray]:
    """``count`` random points, by ``sample`` or around the trivial start. The first k do not depend on ``count``, none on the method."""
    generator = np.random.default_rng([seed, STREAM])
    sample = sample or (lambda random: noisy(parameterization, random))
    return [np.asarray(sample(generator), dtype=float) for _ in range(count)]


def curve(knots: np.ndarray, steps: int) -> np.ndarray:
    """Values at ``steps`` even times between knots (k, channels) at even times, along straight lines."""
    times, places = np.linspace(0.0, 1.0, steps), np.linspace(0.0, 1.0, len(knots))
    return np.stack([np.interp(times, places, column) for column in np.asarray(knots).T], axis=1)


def noisy(parameterization: Parameterization, generator: np.random.Generator) -> np.ndarray:
    """The trivial start plus noise: a random curve in time for controls of every step (rows of x), else independent numbers."""
    first = np.asarray(parameterization.initial(), dtype=float)
    if parameterization.per_step:
        return first + curve(generator.normal(0.0, SPREAD, (KNOTS, first.shape[1])), len(first))
    return first + generator.normal(0.0, SPREAD, first.shape)


def best_sample(objective: Objective, sample: Sample | None, seed: int, count: int) -> np.ndarray:
    """The point of smallest loss among the draws and the trivial start; a rollout that fails or cannot start has none."""
    points = [objective.parameterization.initial(), *draw(objective.parameterization, sample, seed, count)]
    values = np.array(_losses(objective, points))
    if not np.isfinite(values).any():
        return points[0]
    return points[int(np.argmin(values))]


def _losses(objective: Objective, points: list[np.ndarray]) -> list[float]:
    """Losses of points, inf where the rollout fails or begins in an intersection."""
    try:
        trajectories = objective.simulate(points)
    except ValueError as error:
        if "intersect" not in str(error):
            raise
        return [float("inf")] if len(points) == 1 else [_losses(objective, [point])[0] for point in points]
    return [float(objective.loss(each)[0]) if each.converged else float("inf") for each in trajectories]
