# SPDX-License-Identifier: Apache-2.0
"""Gauss-Newton and multi-start on a throw: reached, deterministic, best kept, unconverged rollouts survived."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import farfield as ff
from farfield.differences import slope
from farfield.tasks.gauss_newton import GaussNewtonOptions, damped_step, gauss_newton
from farfield.tasks.losses import ReachLoss
from farfield.tasks.multistart import Round, multistart, ring
from farfield.tasks.objective import Objective
from farfield.tasks.optimizers import Adam
from farfield.tasks.parameterizations import InitialState
from farfield.tasks.projections import Outside

SCENES = Path(__file__).parents[2] / "scenes"
STEPS, DT = 15, 0.04


def shot(target, *, radius=0.02, threads=2, **options) -> Objective:
    """The box of push.xml is thrown at the place of the rod: its place and horizontal velocity are free."""
    model, parameters = ff.load(SCENES / "push.xml")
    box = model.joint_dofs("box").start
    rest = np.tile(model.default_control(), (STEPS, 1))
    choice = InitialState(model, model.default_state(), rest, positions=[box, box + 1], velocities=[box, box + 1])
    loss = ReachLoss(["box"], [target], radius, when="end")
    return Objective(model, parameters, choice, loss, dt=DT, contact=ff.LongRange(), threads=threads, **options)


def test_objective_is_exact_and_counts():
    objective = shot([0.3, 0.4], tolerance=1e-11)
    x = np.array([-0.2, 0.1, 0.6, 0.3])
    found = objective.evaluate([x, x + 0.01])
    assert (objective.rollouts, objective.gradients) == (2, 2)
    direction = np.array([0.3, -0.2, 0.7, 0.4])
    numeric = slope(lambda h: objective.evaluate([x + h * direction])[0].value, [10.0**-k for k in (2, 3, 4, 5)])
    assert numeric.relative_error(found[0].gradient @ direction) < 1e-6
    jacobian = objective.jacobian(x, found[0].trajectory)
    residual = objective.loss.residuals(found[0].trajectory)
    np.testing.assert_allclose(2.0 * residual @ jacobian, found[0].gradient, rtol=1e-9)
    reached = shot(found[0].trajectory.poses()[-1, objective.model.body("box"), :2], tolerance=1e-11)
    assert reached.evaluate([x])[0].value == 0.0
    assert reached.gradients == 0


def test_damped_steps():
    random = np.random.default_rng(10)
    jacobian, residual, scale = (
        random.standard_normal((2, 4)),
        random.standard_normal(2),
        np.array([1.0, 2.0, 0.5, 1.0]),
    )
    free = damped_step(jacobian, residual, damping=0.0, scale=scale, trust=1e9)
    np.testing.assert_allclose(jacobian @ free, -residual, rtol=1e-12)
    damping = 0.3
    floor = damping * ((jacobian * scale) ** 2).sum() / 4
    normal = jacobian.T @ jacobian + floor * np.diag(scale**-2.0)
    damped = damped_step(jacobian, residual, damping=damping, scale=scale, trust=1e9)
    np.testing.assert_allclose(normal @ damped, -jacobian.T @ residual, rtol=1e-10)
    short = damped_step(jacobian, residual, damping=damping, scale=scale, trust=0.01)
    assert np.linalg.norm(short / scale) == pytest.approx(0.01, rel=1e-6)
    assert short @ (jacobian.T @ residual) < 0.0
    # the least sensitive direction is damped most, also when a singular value is 0
    flat = damped_step(np.array([[1.0, 0.0], [0.0, 0.0]]), np.ones(2), damping=0.0, scale=np.ones(2), trust=1.0)
    np.testing.assert_allclose(flat, [-1.0, 0.0])


def test_gauss_newton_reaches_what_a_throw_can_reach():
    objective = shot([0.3, 0.4], radius=0.002)
    start = np.array([-0.3, 0.2, 0.0, 0.0])
    seen = []
    result = gauss_newton(
        objective, start, GaussNewtonOptions(iterations=20), progress=lambda k, value: seen.append(value)
    )
    assert result.value == 0.0
    assert result.iterations == len(seen) == len(result.history) < 15
    assert all(b <= a for a, b in zip(result.history, result.history[1:], strict=False))
    again = objective.evaluate([result.x])[0]
    assert again.value == result.value
    assert objective.loss.distances(again.trajectory)[-1, 0] < 0.002


def test_gauss_newton_survives_rollouts_that_fail():
    """With no more Newton iterations than the start needs, a fast throw at the rod fails: it is refused and the region shrinks."""
    objective = shot([1.6, 0.0])
    start = np.array([-0.5, 0.0, 0.0, 0.0])
    first = objective.evaluate([start])[0]
    objective.max_iterations = max(report.iterations for report in first.trajectory.reports)
    thrown = GaussNewtonOptions(iterations=6, trust=8.0, candidates=1, scale=np.array([1e-3, 1e-3, 1.0, 1.0]))
    outcomes, simulate = [], objective.simulate

    def watched(points):
        trajectories = simulate(points)
        outcomes.extend(trajectory.converged for trajectory in trajectories)
        return trajectories

    objective.simulate = watched
    result = gauss_newton(objective, start, thrown)
    assert False in outcomes
    assert result.trajectory.converged
    assert result.value < first.value
    objective.max_iterations = 1
    with pytest.raises(ValueError, match="did not converge"):
        gauss_newton(objective, start)


def starts(count: int = 4) -> list[np.ndarray]:
    return [np.array([*place, 0.0, 0.0]) for place in ring([0.5, 0.0], 0.8, count, phase=0.3)]


def test_multistart_is_the_same_for_any_number_of_threads():
    runs = []
    for threads in (1, 2):
        objective = shot([0.3, 0.4], radius=0.001, threads=threads)
        runs.append(multistart(objective, starts(), lambda: Adam(0.05), [Round(4, 4), Round(3, 1)]))
    one, two = runs
    assert one.best.x.tobytes() == two.best.x.tobytes()
    assert [run.history for run in one.starts] == [run.history for run in two.starts]
    assert sorted(len(run.history) for run in one.starts) == [4, 4, 4, 7]
    assert one.best.value == min(min(run.history) for run in one.starts)
    longest = next(run for run in one.starts if len(run.history) == 7)
    assert min(longest.history[:4]) == min(min(run.history[:4]) for run in one.starts)


def test_multistart_stops_at_the_first_success_and_keeps_to_its_set():
    objective = shot([0.5, 0.9], radius=0.3)
    out = Outside([0.5, 0.0], 0.75, [0, 1])
    result = multistart(objective, starts(), lambda: Adam(0.1), [Round(40, 4)], projection=out)
    assert result.best.value == 0.0
    assert result.iterations < 40
    assert objective.rollouts == 4 * result.iterations
    assert all(np.hypot(run.x[0] - 0.5, run.x[1]) >= 0.75 - 1e-12 for run in result.starts)


def test_multistart_gives_up_what_never_converged():
    objective = shot([0.5, 0.9], max_iterations=1)
    result = multistart(objective, starts(), lambda: Adam(0.1), [Round(5, 4)])
    assert result.best is None
    assert result.iterations == 1
    with pytest.raises(ValueError, match="no starts"):
        multistart(objective, [], lambda: Adam(0.1), [Round(5, 4)])
