# SPDX-License-Identifier: Apache-2.0
"""iLQR and its feedback: exact on linear problems, exact derivatives, bounds that hold, disturbances that are rejected."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import farfield as ff
from farfield.optimize import Feedback, Ilqr, Reach, TrackingCost
from farfield.optimize.driver import Stuck
from farfield.optimize.feedback import state_difference
from farfield.optimize.ilqr import boxed_minimum


def slider():
    """A mass on a rail with a motor: a step is linear."""
    scene = ff.Scene(name="slider", gravity=[0.0, 0.0, 0.0])
    scene.add_body(name="mass")
    scene.add_joint("mass", name="rail", type="Slide", axis=[1, 0, 0], damping=0.3)
    scene.add_shape("mass", name="mass", type="Box", size=[0.1, 0.1, 0.1], density=250.0)
    scene.add_actuator(name="push", joint="rail", type="Motor")
    return ff.build_model(scene)


def tumbler():
    """A free body on a moving base: translations, a hinge and a rotation."""
    scene = ff.Scene(name="tumbler", gravity=[0.0, 0.0, -1.0])
    scene.add_body(name="base", position=[0.0, 0.0, 1.0])
    scene.add_joint("base", name="hinge", type="Hinge", axis=[0, 0, 1])
    scene.add_shape("base", name="base", type="Box", size=[0.2, 0.1, 0.1], density=200.0)
    scene.add_body(name="arm", parent="base", position=[0.4, 0.0, 0.0])
    scene.add_joint("arm", name="ball", type="Ball")
    scene.add_shape("arm", name="arm", type="Box", size=[0.1, 0.05, 0.05], position=[0.1, 0.0, 0.0], density=200.0)
    scene.add_actuator(name="turn", joint="hinge", type="Motor")
    return ff.build_model(scene)


def solve(driver):
    losses = []
    while not driver.done:
        losses.append(driver.advance()["loss"])
    return losses


def test_one_iteration_solves_a_linear_problem():
    """The minimum over all controls at once, found by least squares on rollouts of unit controls."""
    model, steps = slider(), 30
    start, goal = ff.State(q=[1.0], v=[-0.5]), ff.State(q=[0.2], v=[0.0])
    cost = TrackingCost(model, goal, q=2.0, v=0.1, control=0.05, final_q=30.0, final_v=3.0, rest=[0.4])
    driver = Ilqr(model, cost, start, np.zeros((steps, 1)), dt=0.05)
    driver.advance()

    def states(controls):
        motion = ff.rollout(model, model.default_parameters(), start, controls, dt=0.05, tolerance=1e-13)
        return np.concatenate([motion.q[:, 0] - 0.2, motion.v[:, 0]])

    free = states(np.zeros((steps, 1)))
    reach = np.stack([states(np.eye(steps)[:, k : k + 1]) - free for k in range(steps)], axis=1)
    weights = np.concatenate([np.full(steps, 2.0), [32.0], np.full(steps, 0.1), [3.1]])
    normal = reach.T @ (weights[:, None] * reach) + 0.05 * np.eye(steps)
    best = np.linalg.solve(normal, 0.05 * 0.4 - reach.T @ (weights * free))
    np.testing.assert_allclose(driver.controls[:, 0], best, rtol=0, atol=1e-6 * np.abs(best).max())
    assert np.abs(best - 0.4).max() > 0.1  # far from doing nothing


def moved(model, trajectory, t, direction):
    """The trajectory with state t moved along a tangent direction."""
    q, v = np.array(trajectory.q), np.array(trajectory.v)
    n = model.num_dofs
    q[t], v[t] = ff.retract(model, q[t], direction[:n]), v[t] + direction[n:]
    return ff.Trajectory.from_states(
        model, trajectory.parameters, q, v, np.array(trajectory.controls), dt=trajectory.dt, min_gap=1.0
    )


def test_the_expansion_is_the_derivative_of_the_cost():
    model = tumbler()
    random = np.random.default_rng(3)
    away = ff.retract(model, model.default_state().q, np.array([0.4, 1.2, -0.7, 2.0]))
    cost = TrackingCost(
        model,
        ff.State(q=away, v=random.standard_normal(4)),
        q=[1.0, 2.0, 3.0, 4.0],
        v=0.7,
        control=0.3,
        final_q=2.0,
        reach=[Reach("arm", (0.1, None, 1.4), weight=0.8, final_weight=3.0, point=(0.2, 0.1, -0.05))],
    )
    start = ff.State(q=model.default_state().q, v=random.standard_normal(4))
    motion = ff.rollout(model, model.default_parameters(), start, random.standard_normal((4, 1)), dt=0.05, contact=None)
    expansion = cost.expand(motion)
    for t, direction in itertools.product((0, 2, 4), random.standard_normal((3, 8))):
        slopes = [
            (cost(moved(model, motion, t, h * direction)) - cost(moved(model, motion, t, -h * direction))) / (2 * h)
            for h in (1e-4, 1e-5)
        ]
        assert slopes[1] == pytest.approx(slopes[0], rel=1e-6)
        assert expansion.by_state[t] @ direction == pytest.approx(slopes[1], rel=1e-7)
    assert np.linalg.eigvalsh(expansion.by_states).min() > -1e-12


@pytest.mark.parametrize("bounded", [False, True])
def test_gradients_pass_through_the_feedback(bounded):
    """d loss / d start of a closed loop, against differences; a control at its bound passes nothing on."""
    model = tumbler()
    random = np.random.default_rng(4)
    n, steps = model.num_dofs, 6
    p, dt = model.default_parameters(), 0.05
    start = ff.State(
        q=ff.retract(model, model.default_state().q, random.standard_normal(n)), v=random.standard_normal(n)
    )
    plan = ff.rollout(model, p, model.default_state(), np.zeros((steps, 1)), dt=dt, contact=None)
    gains = random.standard_normal((steps, 1, 2 * n))
    free = Feedback(model, plan.controls, plan.q, plan.v, gains)
    bounds = None
    if bounded:
        used = ff.rollout(model, p, start, plan.controls, dt=dt, contact=None, policy=free).controls
        middle = float(np.median(used))
        bounds = ([middle - 0.3 * np.ptp(used)], [middle + 0.3 * np.ptp(used)])
    policy = Feedback(model, plan.controls, plan.q, plan.v, gains, bounds=bounds)
    weights = random.standard_normal((steps + 1, n))

    def motion(direction):
        state = ff.State(q=ff.retract(model, start.q, direction[:n]), v=start.v + direction[n:])
        return ff.rollout(model, p, state, plan.controls, dt=dt, contact=None, policy=policy, tolerance=1e-13)

    def loss(direction):
        return float((weights * motion(direction).v).sum())

    gradient = ff.rollout_vjp(motion(np.zeros(2 * n)), dL_dv=weights, policy=policy)
    exact = np.concatenate([gradient.q0, gradient.v0])
    if bounded:
        controls = motion(np.zeros(2 * n)).controls
        held = (controls <= bounds[0]) | (controls >= bounds[1])
        assert held.any() and not held.all()
    for direction in random.standard_normal((3, 2 * n)):
        slopes = [(loss(h * direction) - loss(-h * direction)) / (2 * h) for h in (1e-5, 1e-6)]
        assert slopes[0] == pytest.approx(slopes[1], rel=1e-5)
        assert exact @ direction == pytest.approx(slopes[0], rel=1e-6)


def test_the_boxed_minimum_is_the_least_of_all_faces():
    random = np.random.default_rng(5)
    for _ in range(60):
        root = random.standard_normal((3, 3))
        H, g = root @ root.T + 0.01 * np.eye(3), 3.0 * random.standard_normal(3)
        lower, upper = -random.uniform(0.0, 1.0, 3), random.uniform(0.0, 1.0, 3)
        x, free = boxed_minimum(H, g, lower, upper)
        best = np.inf
        for face in itertools.product((-1, 0, 1), repeat=3):
            f = np.array(face)
            y = np.where(f < 0, lower, np.where(f > 0, upper, 0.0))
            inside = f == 0
            if inside.any():
                y[inside] = np.linalg.solve(H[np.ix_(inside, inside)], -(g + H @ y)[inside])
            if np.all(y >= lower) and np.all(y <= upper):
                best = min(best, 0.5 * y @ H @ y + g @ y)
        assert 0.5 * x @ H @ x + g @ x == pytest.approx(best, rel=1e-9, abs=1e-12)
        assert np.all((g + H @ x)[free] ** 2 < 1e-16 * (g @ g + 1.0))


def test_bounds_hold_and_bind():
    model = slider()
    start, goal = ff.State(q=[1.0], v=[0.0]), ff.State(q=[0.0], v=[0.0])
    cost = TrackingCost(model, goal, control=1e-4, final_q=100.0, final_v=10.0)
    driver = Ilqr(model, cost, start, np.zeros((40, 1)), dt=0.05, bounds=([-1.5], [1.0]))
    losses = solve(driver)
    assert losses == sorted(losses, reverse=True) and len(losses) < 30
    assert driver.controls.min() == -1.5 and driver.controls.max() == 1.0
    # no admissible change of one control does better
    p = model.default_parameters()
    for t in range(0, 40, 7):
        for change in (-0.05, 0.05):
            controls = driver.controls.copy()
            controls[t] = np.clip(controls[t] + change, -1.5, 1.0)
            assert cost(ff.rollout(model, p, start, controls, dt=0.05)) >= (1 - 1e-9) * losses[-1]


def stroke():
    """A short push of a box by a rod."""
    from farfield.benchmarks import feedback

    case = feedback.push()
    controls = np.tile(case.model.default_control(), (25, 1))
    controls[:, 0] += np.linspace(0.0, 0.4, 25)
    return case, Ilqr(case.model, case.cost, case.state, controls, dt=case.dt, iterations=12)


def test_feedback_rejects_a_disturbance_through_contact():
    case, driver = stroke()
    losses = solve(driver)
    assert losses[-1] < 0.5 * losses[0]
    plan, policy, n = driver.best, driver.feedback(), case.model.num_dofs
    # undisturbed, the closed loop repeats the plan to the bit
    p = case.model.default_parameters()
    same = ff.rollout(case.model, p, case.state, plan.controls, dt=case.dt, policy=policy)
    assert np.array_equal(same.q, plan.q) and np.array_equal(same.controls, plan.controls)
    box = case.model.joint_dofs("box")
    shift = np.zeros(n)
    shift[box] = [0.0, 0.05, 0.0, 0.0, 0.0, 0.15]
    start = ff.State(q=ff.retract(case.model, case.state.q, shift), v=case.state.v)
    aside = {}
    for loop, chosen in (("open", None), ("closed", policy)):
        motion = ff.rollout(case.model, p, start, plan.controls, dt=case.dt, policy=chosen)
        assert motion.converged
        last = [ff.State(q=m.q[-1], v=m.v[-1]) for m in (plan, motion)]
        aside[loop] = np.linalg.norm(state_difference(case.model, *last)[box][:2])
    assert aside["closed"] < 0.5 * aside["open"]


def test_goes_on_bit_for_bit():
    _, whole = stroke()
    _, first = stroke()
    _, second = stroke()
    for _ in range(5):
        whole.advance()
    for _ in range(2):
        first.advance()
    second.restore(first.state())
    for _ in range(3):
        second.advance()
    assert np.array_equal(whole.controls, second.controls)
    assert np.array_equal(whole.best.q, second.best.q)


def test_errors_name_what_is_wrong():
    model = slider()
    state = model.default_state()
    with pytest.raises(ValueError, match=r"TrackingCost: v = -1\.0, expected a finite number >= 0 or 1 of them"):
        TrackingCost(model, state, v=-1.0)
    with pytest.raises(ValueError, match=r"rest of shape \(2,\), expected \(1,\)"):
        TrackingCost(model, state, rest=np.zeros(2))
    cost = TrackingCost(model, state)
    with pytest.raises(ValueError, match=r"controls of shape \(3,\), expected \(steps, 1\)"):
        Ilqr(model, cost, state, np.zeros(3))
    with pytest.raises(ValueError, match="expected lower < upper"):
        Ilqr(model, cost, state, np.zeros((3, 1)), bounds=([1.0], [-1.0]))
    with pytest.raises(ValueError, match=r"gains of shape \(3, 1, 1\), expected \(3, 1, 2\)"):
        Feedback(model, np.zeros((3, 1)), np.zeros((3, 1)), np.zeros((3, 1)), np.zeros((3, 1, 1)))
    free = TrackingCost(model, state, control=0.0)
    with pytest.raises(Stuck, match="controls have no curvature"):
        Ilqr(model, free, state, np.zeros((3, 1)), dt=0.05).advance()
