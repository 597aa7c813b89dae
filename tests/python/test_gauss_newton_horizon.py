# SPDX-License-Identifier: Apache-2.0
"""The receding horizon of Gauss-Newton steps: further with fewer iterations, hands over where it stalls, goes on bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from farfield.experiments.runner import Setup, prepare
from farfield.optimize import GaussNewtonHorizon, RecedingHorizon
from farfield.tasks.push import Push


def planned(planner="gauss-newton", method="adjoint", **options):
    """Push with a short horizon."""
    options = {
        "horizon": 16,
        "frames": 16,
        "stride": 8,
        "iterations": 3,
        "first_iterations": 3,
        "trust": 0.25,
    } | options
    return prepare(Push(planner=planner, **options), 3, Setup(method=method)).driver


def test_goes_further_than_as_many_iterations_of_adam():
    """How much nearer the box is at the end of the first plan, hardly touched yet: tiny, and twice as much."""
    falls = {}
    for planner in ("gauss-newton", "adam"):
        driver = planned(planner, first_iterations=4, learning_rate=0.05)
        squares = []
        for _ in range(4):
            residual = driver.objective.loss.residuals(driver.planned(driver.objective.roll))
            squares.append(float(residual @ residual))
            driver.advance()
        falls[planner] = squares[0] - squares[-1]
    assert falls["gauss-newton"] > 1.5 * falls["adam"] > 0.0


def test_the_optimizer_finishes_a_window_that_stalls(monkeypatch):
    """No length leads further down: the iterations that are left and ``patience`` more are the optimiser's."""
    driver = planned()
    monkeypatch.setattr(GaussNewtonHorizon, "_candidates", lambda self, here, jacobian, radii: [None] * len(radii))
    steps, step = [], driver.optimizer.step
    monkeypatch.setattr(
        driver.optimizer, "step", lambda x, gradient: (steps.append(driver.frame), step(x, gradient))[1]
    )
    while not driver.done:
        driver.advance()
    assert steps == [0] * (3 - 1 + driver.patience) + [8] * (3 - 1 + driver.patience)
    assert driver.trust == driver.floor == 0.25


def test_goes_on_bit_for_bit():
    whole, first, second = planned(), planned(), planned()
    for _ in range(5):
        whole.advance()
    for _ in range(2):
        first.advance()
    second.restore(first.state())
    for _ in range(3):
        second.advance()
    for key, value in whole.state().items():
        assert np.array_equal(value, second.state()[key]), key


def test_engines_without_residuals_plan_by_the_optimizer():
    driver = planned(method="mujoco-fd")
    assert type(driver) is RecedingHorizon
    with pytest.raises(ValueError, match="differentiates no residuals, expected an engine that does"):
        GaussNewtonHorizon(driver.objective, driver.optimizer, trust=1.0, floor=0.5, frames=4, iterations=1)
    objective = planned().objective
    with pytest.raises(ValueError, match=r"floor 2\.0 and trust 1\.0, expected 0 < floor <= trust"):
        GaussNewtonHorizon(objective, driver.optimizer, trust=1.0, floor=2.0, frames=4, iterations=1)
