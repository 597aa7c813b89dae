# SPDX-License-Identifier: Apache-2.0
"""L-BFGS as a driver: minimises, is stopped and continued to the same bits, keeps bounds, turns back before failures."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from farfield.optimize import Lbfgs, RolloutInput
from farfield.optimize.objective import Evaluation


class Valley:
    """Rosenbrock's function; no rollout beyond ``wall`` in x."""

    parameterization = SimpleNamespace(decode=lambda x: RolloutInput(np.array(x)))

    def __init__(self, wall: float = np.inf, scale: float = 1.0) -> None:
        self.wall, self.scale = wall, scale

    def evaluate(self, points):
        (x,) = points
        trajectory = SimpleNamespace(num_steps=1, min_gap=1.0, converged=True)
        a, b = np.ravel(x)
        if a > self.wall:
            return [Evaluation(x, float("inf"), None, trajectory)]
        value = (1 - a) ** 2 + 100 * (b - a * a) ** 2
        gradient = np.array([-2 * (1 - a) - 400 * a * (b - a * a), 200 * (b - a * a)])
        return [Evaluation(x, self.scale * value, self.scale * gradient.reshape(np.shape(x)), trajectory)]


def run(driver: Lbfgs) -> Lbfgs:
    while not driver.done:
        driver.advance()
    return driver


@pytest.mark.parametrize("scale", [1.0, 1e-12])
def test_it_finds_the_minimum(scale):
    driver = run(Lbfgs(Valley(scale=scale), np.array([[-1.2], [1.0]])))
    assert np.allclose(driver.inputs().controls, [[1.0], [1.0]], atol=1e-5)
    assert len(driver._points) < 80


def test_stopped_and_continued_it_has_the_same_bits():
    whole = run(Lbfgs(Valley(), np.array([-1.2, 1.0])))
    first = Lbfgs(Valley(), np.array([-1.2, 1.0]))
    for _ in range(7):
        first.advance()
    second = Lbfgs(Valley(), np.array([-1.2, 1.0]))
    second.restore(first.state())
    run(second)
    assert np.array_equal(np.array(whole._points), np.array(second._points))


def test_bounds_hold():
    driver = run(Lbfgs(Valley(), np.array([-1.2, 1.0]), bounds=(-2.0, 0.5)))
    assert np.max(driver._points) <= 0.5
    assert np.allclose(driver.inputs().controls, [0.5, 0.25], atol=1e-4)


def test_it_turns_back_before_a_failure():
    driver = run(Lbfgs(Valley(wall=0.7), np.array([-1.2, 1.0])))
    assert any(not np.isfinite(value) for value in driver._values)
    assert driver.best_value < 0.2
    assert driver.inputs().controls[0] <= 0.7


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="iterations 0, expected 1 or more"):
        Lbfgs(Valley(), np.zeros(2), iterations=0)
    with pytest.raises(ValueError, match="expected lower <= upper"):
        Lbfgs(Valley(), np.zeros(2), bounds=(1.0, 0.0))
