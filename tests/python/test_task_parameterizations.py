# SPDX-License-Identifier: Apache-2.0
"""Parameterisations: the trivial start, pullbacks against finite differences, convexity of splines, errors."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import farfield as ff
from farfield.differences import slope
from farfield.engines.adjoint import Adjoint
from farfield.engines.mujoco_fd import MujocoFd
from farfield.engines.rollouts import roll_batch
from farfield.optimize import Combined, ParameterSubset, Partials, ReachLoss, RolloutInput
from farfield.optimize.parameterizations import CubicSpline, DirectTargets, InitialState, SumOfSines, bspline_matrix

SCENES = Path(__file__).parents[2] / "scenes"
STEPS, CONTROLS = 30, 5
BASE = np.random.default_rng(7).standard_normal((STEPS, CONTROLS))
SIZES = {"amplitude": 0.3, "frequency": [0.5, 1.3, 2.0], "phase": [[0.1], [-0.7]]}
MADE = {
    "direct": DirectTargets(BASE, [3, 0]),
    "spline": CubicSpline(BASE, 8, [3, 0]),
    "sines": SumOfSines(BASE, 0.04, waves=3, channels=[3, 0], **SIZES),
}


@pytest.mark.parametrize("name", MADE)
def test_pullback_matches_differences(name):
    made, random = MADE[name], np.random.default_rng(8)
    x = made.initial() + 0.3 * random.standard_normal(made.initial().shape)
    weight = random.standard_normal(BASE.shape)
    gradient = made.pullback(x, SimpleNamespace(controls=weight))
    assert gradient.shape == x.shape
    assert gradient.size == made.size
    for _ in range(3):
        direction = random.standard_normal(x.shape)
        numeric = slope(lambda h, d=direction: float((weight * made.decode(x + h * d).controls).sum()))
        assert numeric.relative_error(float((gradient * direction).sum())) < 1e-8


@pytest.mark.parametrize("name", MADE)
def test_other_channels_stay_and_flat_arrays_do(name):
    made = MADE[name]
    x = made.initial() + 0.1
    controls = made.decode(x).controls
    assert np.array_equal(controls[:, [1, 2, 4]], BASE[:, [1, 2, 4]])
    assert not np.allclose(controls[:, 3], BASE[:, 3])
    assert np.array_equal(made.decode(x.ravel()).controls, controls)
    flat = made.pullback(x.ravel(), SimpleNamespace(controls=BASE))
    assert np.array_equal(flat, made.pullback(x, SimpleNamespace(controls=BASE)).ravel())
    with pytest.raises(ValueError, match="expected"):
        made.decode(x.ravel()[1:])


def test_trivial_starts_are_the_base_motion():
    assert np.array_equal(MADE["direct"].decode(MADE["direct"].initial()).controls, BASE)
    sines = SumOfSines(BASE, 0.04)
    assert np.array_equal(sines.decode(sines.initial()).controls, BASE)
    assert sines.size == 5 * 4 * 3
    ramp = np.linspace(-1.0, 2.0, STEPS)[:, None] * np.ones(CONTROLS)
    spline = CubicSpline(ramp, 8)
    np.testing.assert_allclose(spline.decode(spline.initial()).controls, ramp, atol=1e-12)
    # from amplitude 0 the gradient leads away: amplitudes have one, and waves of one frequency differ by their phase
    gradient = sines.pullback(sines.initial(), SimpleNamespace(controls=BASE))
    assert np.abs(gradient[..., 0]).min() > 0.0
    assert not gradient[..., 1:].any()


def test_sines_are_sines_in_time():
    sines = SumOfSines(np.zeros((STEPS, 1)), 0.04, waves=2)
    x = np.array([[[0.5, 1.5, 0.2], [0.25, 3.0, -1.0]]])
    t = 0.04 * np.arange(STEPS)
    expected = 0.5 * np.sin(2 * np.pi * 1.5 * t + 0.2) + 0.25 * np.sin(2 * np.pi * 3.0 * t - 1.0)
    np.testing.assert_allclose(sines.decode(x).controls[:, 0], expected, atol=1e-14)


@pytest.mark.parametrize("knots", [4, 7, 30])
def test_splines_are_convex_smooth_and_clamped(knots):
    matrix = bspline_matrix(STEPS, knots)
    assert matrix.shape == (STEPS, knots)
    assert matrix.min() >= 0.0
    assert (matrix > 0.0).sum(axis=1).max() <= 4
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0, atol=1e-14)
    np.testing.assert_array_equal(matrix[0], np.eye(knots)[0])
    np.testing.assert_array_equal(matrix[-1], np.eye(knots)[-1])
    np.testing.assert_allclose(matrix, matrix[::-1, ::-1], atol=1e-13)
    if knots == 7:  # C2: second differences of a fine sampling do not jump
        fine = bspline_matrix(4001, knots)
        second = np.diff(fine, 2, axis=0) * 4000.0**2
        assert np.abs(np.diff(second, axis=0)).max() < 0.01 * np.abs(second).max()


def test_initial_state():
    model, parameters = ff.load(SCENES / "push.xml")
    box = model.joint_dofs("box").start
    state = model.default_state()
    controls = np.tile(model.default_control(), (12, 1))
    made = InitialState(model, state, controls, positions=[box, box + 1, 0], velocities=[box + 1, 2])
    assert made.size == 5
    np.testing.assert_array_equal(made.initial(), [0.0, 0.0, state.q[0], 0.0, 0.0])
    random = np.random.default_rng(9)
    x = made.initial() + 0.05 * random.standard_normal(5)
    weight = random.standard_normal((13, model.num_bodies, 3))

    def run(y: np.ndarray) -> ff.Trajectory:
        inputs = made.decode(y)
        return ff.rollout(
            model, parameters, inputs.state, inputs.controls, dt=0.02, contact=ff.LongRange(), tolerance=1e-11
        )

    partials = np.zeros((13, model.num_bodies, 6))
    partials[..., :3] = weight
    gradient = made.pullback(x, ff.rollout_vjp(run(x), dL_dpose=partials))
    direction = random.standard_normal(5)
    numeric = slope(
        lambda h: float((weight * run(x + h * direction).poses()[..., :3]).sum()), [10.0**-k for k in (2, 3, 4, 5)]
    )
    assert numeric.relative_error(gradient @ direction) < 1e-6


def test_bad_values_are_named():
    model, _ = ff.load(SCENES / "push.xml")
    state, controls = model.default_state(), np.zeros((3, model.num_controls))
    turn = model.joint_dofs("box").start + 3
    with pytest.raises(ValueError, match=f"position {turn} is a rotation"):
        InitialState(model, state, controls, positions=[turn])
    with pytest.raises(ValueError, match="degree of freedom 99"):
        InitialState(model, state, controls, velocities=[99])
    with pytest.raises(ValueError, match="3 knots for 30 steps"):
        CubicSpline(BASE, 3)
    with pytest.raises(ValueError, match="expected different ones of 0 to 4"):
        DirectTargets(BASE, [5])
    with pytest.raises(ValueError, match=r"expected \(steps, num_controls\)"):
        DirectTargets(BASE[0])
    with pytest.raises(ValueError, match="0 waves"):
        SumOfSines(BASE, 0.04, waves=0)


def dropped() -> tuple[ff.Model, ff.Parameters, np.ndarray]:
    """A scene in contact at a distance, its parameters, and controls."""
    model, parameters = ff.load(SCENES / "push.xml")
    return model, parameters, np.tile(model.default_control(), (12, 1))


@pytest.mark.parametrize("directions", [None, np.array([[1.0, 0.5], [0.0, 1.0], [2.0, -1.0]])])
def test_parameters_are_unknowns(directions):
    """Gains, damping and the mass moments of the box, which the loss reads as well: the whole gradient, through an engine."""
    model, parameters, controls = dropped()
    names = ff.parameter_names(model)
    chosen = [names.index(name) for name in ("kp[rod_x]", "moments[box].hx", "moments[box].mass")]
    made = ParameterSubset(parameters, chosen, controls, directions=directions)
    assert made.size == (3 if directions is None else 2)
    assert np.array_equal(made.decode(made.initial()).parameters.flatten(), parameters.flatten())
    engine = Adjoint(
        model, parameters, made, ReachLoss(["box"], [[1.0, 0.2]], 0.1), dt=0.02, contact=ff.LongRange(), tolerance=1e-11
    )
    x = 0.01 * np.arange(1.0, made.size + 1)
    (here,) = engine.evaluate([x])
    direction = np.random.default_rng(1).standard_normal(made.size)
    numeric = slope(
        lambda h: engine.loss(engine.simulate([x + h * direction])[0])[0], [10.0**-k for k in (2, 2.5, 3, 3.5, 4)]
    )
    assert here.gradient.all()
    assert numeric.relative_error(here.gradient @ direction) < 1e-6
    np.testing.assert_array_equal(parameters.flatten(), made.base)  # the objective's own stay as they are


def test_a_loss_of_parameters_alone_has_its_gradient():
    model, parameters, controls = dropped()
    made = ParameterSubset(parameters, ff.parameter_mask(model, ["kp"]), controls)

    def effort(trajectory):
        gains = np.asarray(trajectory.parameters.kp)
        return float((gains**2).sum()), Partials(by_parameters={"kp": 2.0 * gains})

    (here,) = Adjoint(model, parameters, made, effort, contact=ff.LongRange()).evaluate([made.initial()])
    np.testing.assert_array_equal(here.gradient, 2.0 * np.asarray(parameters.kp))


def test_controls_and_design_together():
    model, parameters, controls = dropped()
    targets = DirectTargets(controls, [0])
    design = ParameterSubset(parameters, ff.parameter_mask(model, ["kp"])[:2], np.full(controls.shape, np.nan))
    both = Combined(targets, design)
    assert both.moves == {"controls", "parameters"} and both.size == 14
    x = both.initial() + 0.1 * np.arange(14)
    given = both.decode(x)
    np.testing.assert_array_equal(given.controls, targets.decode(x[:12]).controls)  # those of the design do not count
    np.testing.assert_array_equal(given.parameters.flatten(), design.decode(x[12:]).parameters.flatten())
    assert np.array_equal(Combined(design, targets).decode(np.roll(x, 2)).controls, given.controls)
    gradient = SimpleNamespace(controls=np.random.default_rng(2).standard_normal(controls.shape), parameters=parameters)
    pulled = both.pullback(x, gradient)
    np.testing.assert_array_equal(pulled[:12], gradient.controls[:, 0])
    np.testing.assert_array_equal(pulled[12:], np.asarray(parameters.kp)[:2])
    with pytest.raises(ValueError, match="parts move controls, controls"):
        Combined(targets, targets)


def test_an_engine_that_cannot_move_parameters_says_so():
    model, parameters, controls = dropped()
    made = ParameterSubset(parameters, ff.parameter_mask(model, ["kp"]), controls)
    with pytest.raises(ValueError, match="engine MujocoFd takes no parameters, which ParameterSubset moves"):
        MujocoFd(model, parameters, made, ReachLoss(["box"], [[1.0, 0.2]], 0.1))


def test_scripted_bodies_are_inputs():
    """A pusher that is led along a path: the input's script is what the rollout gets, alone and in a batch."""
    scene = ff.Scene(name="pusher", gravity=[0.0, 0.0, 0.0])
    scene.add_body(name="tool", motion="Kinematic")
    scene.add_shape("tool", type="Box", size=[0.1, 0.1, 0.1])
    model = ff.build_model(scene)
    path = np.tile(np.asarray(model.default_state().q), (5, 1))
    path[:, 0] = 0.1 * np.arange(1, 6)
    made = DirectTargets(np.zeros((5, 0)))
    engine = Adjoint(model, model.default_parameters(), made, ReachLoss([1], [[0.0, 0.0]], 0.1))
    np.testing.assert_allclose(engine.roll(RolloutInput(np.zeros((5, 0)), script=path)).q[1:], path)
    inputs = [engine._complete(RolloutInput(np.zeros((5, 0)), script=factor * path)) for factor in (1.0, 1.0)]
    for each in roll_batch(model, inputs, dt=0.01):
        np.testing.assert_allclose(each.q[1:], path)
