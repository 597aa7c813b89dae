# SPDX-License-Identifier: Apache-2.0
"""Jacobians of single steps, many losses at once, losses of parameters, and options of steps."""

from __future__ import annotations

import numpy as np
import pytest

import farfield as ff


def box_on_ground():
    scene = ff.Scene(name="box", gravity=[0.0, 0.0, -9.81])
    scene.add_shape(0, name="ground", type="halfspace")
    body = scene.add_body(name="box", position=[0.0, 0.0, 0.101])
    scene.add_joint(body, name="box", type="free")
    scene.add_shape(body, name="box", type="box", size=[0.1, 0.1, 0.1])
    model = ff.build_model(scene)
    state = model.default_state()
    return model, model.default_parameters(), ff.State(q=state.q, v=np.array([0.5, 0.0, 0.0, 0.0, 0.0, 0.3]))


@pytest.fixture(scope="module")
def sliding():
    model, parameters, state = box_on_ground()
    trajectory = ff.rollout(model, parameters, state, np.zeros((6, 0)), dt=0.01, contact="longrange")
    assert trajectory.converged
    return trajectory


def test_step_jacobians_chain_to_the_gradient_of_a_rollout(sliding):
    n, steps = sliding.model.num_dofs, sliding.num_steps
    weight = np.random.default_rng(1).standard_normal(2 * n)
    by_q, by_v = np.zeros((steps + 1, n)), np.zeros((steps + 1, n))
    by_q[-1], by_v[-1] = weight[:n], weight[n:]
    gradient = ff.rollout_vjp(sliding, dL_dq=by_q, dL_dv=by_v)
    names = ["friction", "gravity"]
    chosen = ff.parameter_mask(sliding.model, names)
    row, by_parameters = weight, np.zeros(len(chosen))
    for t in reversed(range(steps)):
        jacobian = ff.step_jacobian(sliding, t, names)
        assert jacobian.A.shape == (2 * n, 2 * n) and jacobian.B.shape == (2 * n, 0) and jacobian.S.shape == (2 * n, 0)
        assert np.array_equal(jacobian.C, ff.step_jacobian(sliding, t - steps, parameters=chosen).C)
        by_parameters = by_parameters + row @ jacobian.C
        row = row @ jacobian.A
    assert np.allclose(row[:n], gradient.q0, rtol=1e-9, atol=1e-11)
    assert np.allclose(row[n:], gradient.v0, rtol=1e-9, atol=1e-11)
    assert np.allclose(by_parameters, gradient.parameters.flatten()[chosen], rtol=1e-9, atol=1e-11)
    assert np.abs(by_parameters).max() > 1e-3


def test_step_jacobian_refuses_what_is_not_there(sliding):
    with pytest.raises(ValueError, match="step 6, expected 0 to 5"):
        ff.step_jacobian(sliding, 6)
    with pytest.raises(ValueError, match="parameter_mask: 'colour'"):
        ff.step_jacobian(sliding, 0, ["colour"])


def test_many_losses_are_the_gradients_of_each(sliding):
    generator = np.random.default_rng(2)
    n, states = sliding.model.num_dofs, sliding.num_steps + 1
    by_q = generator.standard_normal((3, states, n))
    by_pose = generator.standard_normal((3, states, sliding.model.num_bodies, 6))
    together = ff.rollout_vjp(sliding, dL_dq=by_q, dL_dpose=by_pose)
    assert isinstance(together, list) and len(together) == 3
    for k, gradient in enumerate(together):
        alone = ff.rollout_vjp(sliding, dL_dq=by_q[k], dL_dpose=by_pose[k])
        assert np.array_equal(gradient.q0, alone.q0) and np.array_equal(gradient.v0, alone.v0)
        assert np.array_equal(gradient.parameters.flatten(), alone.parameters.flatten())
    for bad, text in (
        ({"dL_dq": by_q, "dL_dpose": by_pose[0]}, "one loss and of 3|several losses"),
        ({"dL_dq": by_q, "dL_dv": by_q[:2]}, "dL_dv has 2 losses, expected 3"),
        ({"dL_dq": by_q[:0]}, "0 losses"),
        ({}, "no partials of the loss"),
    ):
        with pytest.raises(ValueError, match=text):
            ff.rollout_vjp(sliding, **bad)


def test_partials_by_parameters_are_added(sliding):
    n, states = sliding.model.num_dofs, sliding.num_steps + 1
    by_q = np.ones((states, n))
    direct = ff.rollout_vjp(sliding, dL_dq=2.0 * by_q).parameters  # any value of that shape
    plain = ff.rollout_vjp(sliding, dL_dq=by_q).parameters.flatten()
    both = ff.rollout_vjp(sliding, dL_dq=by_q, dL_dparameters=direct).parameters.flatten()
    assert np.allclose(both - plain, direct.flatten(), rtol=1e-9, atol=1e-12)
    alone, twice = ff.rollout_vjp(sliding, dL_dparameters=[direct, direct])
    assert np.array_equal(alone.parameters.flatten(), twice.parameters.flatten())
    assert np.array_equal(alone.parameters.flatten(), direct.flatten())


def test_options_are_structs_and_reports_count_the_calls_of_contact():
    model, parameters, state = box_on_ground()
    controls = np.zeros((3, 0))
    options = ff.StepOptions(dt=0.005, tolerance=1e-9, max_iterations=50)
    a = ff.rollout(model, parameters, state, controls, contact="longrange", options=options)
    b = ff.rollout(model, parameters, state, controls, contact="longrange", dt=0.005, tolerance=1e-9, max_iterations=50)
    assert np.array_equal(a.q, b.q)
    assert (a.options.dt, a.options.tolerance, a.options.max_iterations) == (0.005, 1e-9, 50)
    assert a.options.pd_convention == "standard" and ff.StepOptions(pd_convention="paper").pd_convention == "paper"
    for report in a.reports:
        assert report.contact_linearizations >= report.iterations
        assert report.contact_evaluations == report.contact_linearizations + report.contact_energies
    free = ff.rollout(model, parameters, state, controls, dt=0.005, contact=None)
    assert all(report.contact_evaluations == 0 for report in free.reports)
    careful = ff.rollout(
        model, parameters, state, controls, contact="longrange", options=options, filter=ff.FilterOptions(keep=0.5)
    )
    assert careful.converged and ff.FilterOptions().keep == 0.1
    with pytest.raises(ValueError, match="options and dt"):
        ff.rollout(model, parameters, state, controls, dt=0.01, options=options, contact=None)
    with pytest.raises(ValueError, match="tolerance -1"):
        ff.StepOptions(tolerance=-1.0)
    with pytest.raises(ValueError, match="keep 2"):
        ff.FilterOptions(keep=2.0)
