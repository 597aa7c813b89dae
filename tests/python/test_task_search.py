# SPDX-License-Identifier: Apache-2.0
"""Gauss-Newton and multi-start on a throw: reached, deterministic, best kept, unconverged rollouts survived."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import farfield as ff
from farfield.differences import slope
from farfield.engines.adjoint import Adjoint
from farfield.optimize.gauss_newton import GaussNewton, GaussNewtonOptions, damped_step
from farfield.optimize.losses import ReachLoss
from farfield.optimize.multistart import Attempts, Multistart, Polished, Round, ring
from farfield.optimize.optimizers import Adam
from farfield.optimize.parameterizations import InitialState
from farfield.optimize.projections import Outside

SCENES = Path(__file__).parents[2] / "scenes"
STEPS, DT = 15, 0.04


def shot(target, *, radius=0.02, threads=2, **options) -> Adjoint:
    """The box of push.xml is thrown at the place of the rod: its place and horizontal velocity are free."""
    model, parameters = ff.load(SCENES / "push.xml")
    box = model.joint_dofs("box").start
    rest = np.tile(model.default_control(), (STEPS, 1))
    choice = InitialState(model, model.default_state(), rest, positions=[box, box + 1], velocities=[box, box + 1])
    loss = ReachLoss(["box"], [target], radius, when="end")
    return Adjoint(model, parameters, choice, loss, dt=DT, contact=ff.LongRange(), threads=threads, **options)


def test_objective_is_exact_and_counts():
    objective = shot([0.3, 0.4], radius=0.0, tolerance=1e-11)
    x = np.array([-0.2, 0.1, 0.6, 0.3])
    found = objective.evaluate([x, x + 0.01])
    assert (objective.rollouts, objective.gradients) == (2, 2)
    direction = np.array([0.3, -0.2, 0.7, 0.4])
    numeric = slope(lambda h: objective.evaluate([x + h * direction])[0].value, [10.0**-k for k in (2, 3, 4, 5)])
    assert numeric.relative_error(found[0].gradient @ direction) < 1e-6
    jacobian = objective.jacobian(x, found[0].trajectory)
    residual = objective.loss.residuals(found[0].trajectory)
    np.testing.assert_allclose(2.0 * residual @ jacobian, found[0].gradient, rtol=1e-9)
    reached = shot(found[0].trajectory.poses()[-1, objective.model.body("box"), :2], radius=0.02, tolerance=1e-11)
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


def run(driver) -> list[dict]:
    """All rows of a driver."""
    rows = []
    while not driver.done:
        rows.append(driver.advance())
    assert len(rows) <= driver.total
    return rows


def resumed(make, after: int):
    """A driver that was stopped after some iterations and taken up by a new one."""
    first, second = make(), make()
    for _ in range(after):
        first.advance()
    second.restore({key: np.array(value) for key, value in first.state().items()})
    return second


def test_gauss_newton_reaches_what_a_throw_can_reach():
    objective = shot([0.3, 0.4], radius=0.002)

    def make() -> GaussNewton:
        return GaussNewton(objective, np.array([-0.3, 0.2, 0.0, 0.0]), GaussNewtonOptions(iterations=20, trust=0.1))

    driver = make()
    rows = run(driver)
    assert driver.here.value == rows[-1]["loss"] == 0.0
    assert 3 <= len(rows) < 15
    residuals = [row["residual"] for row in rows]
    assert residuals == sorted(residuals, reverse=True)
    inputs = driver.inputs()
    box = objective.model.joint_q("box").start
    np.testing.assert_array_equal(inputs.state.q[box : box + 2], driver.x[:2])
    again = objective.evaluate([driver.x])[0]
    assert again.value == 0.0
    assert objective.loss.distances(again.trajectory)[-1, 0] < 0.002
    second = resumed(make, 2)
    assert run(second) == rows[2:]
    assert second.x.tobytes() == driver.x.tobytes()


def test_gauss_newton_survives_rollouts_that_fail():
    """With no more Newton iterations than the start needs, a fast throw at the rod fails: it is refused and the region shrinks."""
    objective = shot([1.6, 0.0])
    start = np.array([-0.5, 0.0, 0.0, 0.0])
    first = objective.evaluate([start])[0]
    objective.max_iterations = max(report.iterations for report in first.trajectory.reports)
    thrown = GaussNewtonOptions(iterations=12, trust=8.0, candidates=1, scale=np.array([1e-3, 1e-3, 1.0, 1.0]))
    outcomes, simulate = [], objective.simulate

    def watched(points):
        trajectories = simulate(points)
        outcomes.extend(trajectory.converged for trajectory in trajectories)
        return trajectories

    objective.simulate = watched
    driver = GaussNewton(objective, start, thrown)
    run(driver)
    assert False in outcomes
    assert driver.here.trajectory.converged
    assert driver.here.value < first.value
    objective.max_iterations = 1
    with pytest.raises(ValueError, match="did not converge"):
        run(GaussNewton(objective, start))


def starts(count: int = 4) -> list[np.ndarray]:
    return [np.array([*place, 0.0, 0.0]) for place in ring([0.5, 0.0], 0.8, count, phase=0.3)]


def test_multistart_is_the_same_for_any_number_of_threads_and_keeps_the_best():
    histories, drivers = [], []
    for threads in (1, 2):
        objective = shot([0.3, 0.4], radius=0.001, threads=threads)
        drivers.append(Multistart(objective, starts(), lambda: Adam(0.05), [Round(4, 4), Round(3, 1)]))
        histories.append(run(drivers[-1]))
    one, two = histories
    assert one == two
    assert drivers[0].ranking[0].best_x.tobytes() == drivers[1].ranking[0].best_x.tobytes()
    assert [len(row["losses"]) for row in one] == [4, 4, 4, 4, 1, 1, 1]
    early = {k: min(row["losses"][k] for row in one[:4]) for k in one[0]["losses"]}
    (kept,) = one[-1]["losses"]
    assert kept == min(early, key=early.get)
    assert one[-1]["loss"] == min(min(row["losses"].values()) for row in one)
    assert objective.evaluate([drivers[0].ranking[0].best_x])[0].value == one[-1]["loss"]


def test_multistart_stops_at_the_first_success_and_keeps_to_its_set():
    objective = shot([0.5, 1.2], radius=0.1)
    out = Outside([0.5, 0.0], 0.75, [0, 1])
    driver = Multistart(objective, starts(), lambda: Adam(0.1), [Round(40, 4)], projection=out)
    rows = run(driver)
    assert rows[-1]["loss"] == 0.0
    assert 1 < len(rows) < 40
    assert objective.rollouts == 4 * len(rows)
    assert all(np.hypot(start.x[0] - 0.5, start.x[1]) >= 0.75 - 1e-12 for start in driver.starts)


def test_multistart_gives_up_what_never_converged():
    objective = shot([0.5, 0.9], max_iterations=1)
    driver = Multistart(objective, starts(), lambda: Adam(0.1), [Round(5, 4)])
    rows = run(driver)
    assert len(rows) == 1
    assert rows[0]["loss"] == float("inf")
    with pytest.raises(ValueError, match="no starts"):
        Multistart(objective, [], lambda: Adam(0.1), [Round(5, 4)])


@pytest.mark.parametrize("after", [1, 3, 4])
def test_polish_finishes_the_search_and_resumes_bit_for_bit(after):
    """Two iterations of a short-sighted search cannot arrive; Gauss-Newton from its best does. Stopped in the search, at its end, in the polish."""
    objective = shot([0.3, 0.4], radius=0.002)

    def make() -> Polished:
        search = Multistart(objective, starts(3), lambda: Adam(0.01), [Round(2, 3), Round(1, 2)])
        return Polished(search, GaussNewtonOptions(iterations=15, trust=0.3), count=2)

    whole = make()
    rows = run(whole)
    assert rows[2]["loss"] > 0.1
    assert rows[-1]["loss"] == 0.0
    second = resumed(make, after)
    assert run(second) == rows[after:]
    mine, theirs = whole.inputs(), second.inputs()
    assert mine.controls.tobytes() == theirs.controls.tobytes()
    assert mine.state.q.tobytes() == theirs.state.q.tobytes() and mine.state.v.tobytes() == theirs.state.v.tobytes()


def test_attempts_go_on_until_one_arrives():
    """The first attempt is too short; the second arrives; a third is not begun. Resumed in the second, bit for bit."""
    objective = shot([0.3, 0.4], radius=0.002)

    def make() -> Attempts:
        searches = [Multistart(objective, starts(2), lambda: Adam(0.01), [Round(2, 2)]) for _ in range(3)]
        polish = GaussNewtonOptions(iterations=15, trust=0.3)
        return Attempts([searches[0], Polished(searches[1], polish, count=1), searches[2]])

    whole = make()
    rows = run(whole)
    assert rows[-1]["loss"] == 0.0
    assert {row["attempt"] for row in rows} == {0, 1}
    assert whole.searches[2].iterations == 0
    second = resumed(make, 5)
    assert run(second) == rows[5:]
    assert second.inputs().state.q.tobytes() == whole.inputs().state.q.tobytes()
    with pytest.raises(ValueError, match="no searches"):
        Attempts([])
