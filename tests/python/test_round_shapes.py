# SPDX-License-Identifier: Apache-2.0
"""Spheres and capsules of the long-range model are round: they roll, lie and meet as such."""

from __future__ import annotations

import json
import time
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import farfield as ff
from farfield._core import contact_from_description

RADIUS, SPEED, SECONDS, DT = 0.1, 0.3, 3.0, 0.005


def ball_on_floor(kind: str = "Sphere") -> ff.Model:
    scene = ff.Scene()
    scene.add_shape("world", name="floor", type="HalfSpace")
    scene.add_body(name="ball", position=[0.0, 0.0, RADIUS + 5e-4], joints=[ff.Joint(name="ball", type="Free")])
    size, turn = [RADIUS, 0.2, 0.0], [np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0]  # lying along y
    scene.add_shape("ball", name="ball", type=kind, size=size, orientation=turn, density=1000.0)
    return ff.build_model(scene)


def rolled(
    model: ff.Model, contact: ff.LongRange, speed: float = SPEED, dt: float = DT, seconds: float = SECONDS
) -> ff.Trajectory:
    """Started as a body that rolls without slip along x."""
    parameters = model.default_parameters()
    rest = ff.settle(model, parameters, model.default_state(), contact).state
    start = ff.State(q=rest.q, v=[speed, 0.0, 0.0, 0.0, speed / RADIUS, 0.0])
    return ff.rollout(model, parameters, start, np.zeros((round(seconds / dt), 0)), dt=dt, contact=contact)


@pytest.mark.parametrize("kind", ["Sphere", "Capsule"])
def test_a_rolling_body_comes_as_far_as_it_should(kind):
    motion = rolled(ball_on_floor(kind), ff.LongRange())
    assert motion.converged
    assert motion.q[-1, 0] == pytest.approx(SPEED * SECONDS, rel=0.02)
    assert abs(motion.q[-1, 1]) < 1e-3
    assert motion.v[-1, 4] * RADIUS == pytest.approx(motion.v[-1, 0], rel=0.02)


def test_what_is_missing_is_the_spin_that_steps_lose():
    """Half as much with half the step, as of a body that spins freely."""
    short = [SPEED * SECONDS - rolled(ball_on_floor(), ff.LongRange(), dt=dt).q[-1, 0] for dt in (0.01, 0.005)]
    assert short[1] == pytest.approx(0.5 * short[0], rel=0.1)


def test_its_triangles_do_not_roll():
    """What the option is for: a ball of 80 triangles comes to rest on one of them."""
    motion = rolled(ball_on_floor(), ff.LongRange(round_shapes=False))
    assert motion.converged
    assert motion.q[-1, 0] < 0.5 * SPEED * SECONDS


def test_gradient_of_a_rolling_ball():
    """By the speed, which is how far a ball that rolls comes per unit of it, and against differences."""
    model, contact, seconds = ball_on_floor(), ff.LongRange(), 0.25

    def distance(speed: float) -> float:
        return float(rolled(model, contact, speed, seconds=seconds).q[-1, 0])

    motion = rolled(model, contact, seconds=seconds)
    by_q = np.zeros_like(motion.v)
    by_q[-1, 0] = 1.0
    found = ff.rollout_vjp(motion, dL_dq=by_q, dL_dv=np.zeros_like(motion.v)).v0
    along = found[0] + found[4] / RADIUS
    assert along == pytest.approx(seconds, rel=0.02)
    h = 1e-4
    assert along == pytest.approx((distance(SPEED + h) - distance(SPEED - h)) / (2 * h), rel=1e-5)


def test_closest_points_are_those_of_the_ball():
    model = ball_on_floor()
    state = model.default_state()
    state.q[2] = 0.35
    (found,) = ff.closest_points(model, model.default_parameters(), state.q)
    assert found.distance == pytest.approx(0.25, rel=1e-12)
    one = ff.LongRange().evaluate(model, model.default_parameters(), state.q)
    assert one.blocks[0].gap == pytest.approx(0.25, rel=1e-9)


def test_a_ball_in_the_floor_is_refused_and_settled():
    """Its triangles, which lie inside the ball, would still be clear."""
    model, contact = ball_on_floor(), ff.LongRange()
    parameters, state = model.default_parameters(), model.default_state()
    state.q[2] = RADIUS - 1e-4
    with pytest.raises(ValueError, match="ball"):
        ff.rollout(model, parameters, state, np.zeros((1, 0)), dt=DT, contact=contact)
    settled = ff.settle(model, parameters, state, contact)
    assert settled.state.q[2] > RADIUS


def test_descriptions_without_the_option_mean_triangles():
    """Motions kept before there were round shapes were made with triangles."""
    text = ff.LongRange().description
    assert json.loads(text)["round_shapes"] is True
    assert contact_from_description(text).description == text
    old = {key: value for key, value in json.loads(text).items() if key != "round_shapes"}
    assert json.loads(contact_from_description(json.dumps(old)).description)["round_shapes"] is False


def test_the_humanoid_costs_less():
    """All its links are capsules and spheres; both in one process, the cheapest of three."""
    path = Path(gymnasium.__file__).parent / "envs/mujoco/assets/humanoid.xml"
    model, parameters = ff.load(path)

    def seconds(contact: ff.LongRange) -> float:
        state = ff.settle(model, parameters, model.default_state(), contact).state
        simulation = ff.Simulation(model, parameters, contact=contact, dt=5e-3, state=state)
        for _ in range(20):
            assert simulation.step(model.default_control()).status == "converged"
        begun = time.thread_time()
        for _ in range(20):
            simulation.step(model.default_control())
        return time.thread_time() - begun

    costs = {
        round_shapes: min(seconds(ff.LongRange(round_shapes=round_shapes)) for _ in range(3))
        for round_shapes in (True, False)
    }
    assert costs[True] < 0.3 * costs[False]
