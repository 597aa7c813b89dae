# SPDX-License-Identifier: Apache-2.0
"""A wrong argument is named, with what came and what is expected; nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

import farfield as ff
from farfield.cli import main


@pytest.fixture(scope="module")
def scene():
    made = ff.Scene()
    made.add_body(name="ball", position=[0.0, 0.0, 1.0])
    made.add_joint("ball", name="ball", type="Free")
    made.add_shape("ball", type="Sphere", size=[0.1, 0.0, 0.0])
    model = ff.build_model(made)
    return model, model.default_parameters(), model.default_state(), np.zeros((3, 0))


def test_rollout(scene):
    model, parameters, state, controls = scene
    cases = [
        ((model, parameters, state, [[], []]), {}, r"controls: got a list of shape \(2, 0\).*expected an array of floats of shape \(steps, num_controls\)"),
        ((model, parameters, state, np.zeros(3)), {}, r"controls: got an array of float64 of shape \(3,\), expected"),
        ((model, parameters, state, controls), {"contct": "ipc"}, "'contct' is no argument; did you mean 'contact'?"),
        ((model, parameters, state, controls), {"contact": ff.LongRange}, r"contact: got the class LongRange, not an instance, expected LongRange\(...\)"),
        ((ff.Model, parameters, state, controls), {}, r"model: got the class Model, not an instance, expected a farfield.Model"),
        ((model, parameters, state), {}, "'controls' is missing; expected an array"),
        ((model, parameters, state, controls, 0.01), {}, "5 arguments without a name, expected 4"),
        ((model, parameters, state, controls), {"dt": "fast"}, "dt='fast'"),
    ]  # fmt: skip
    for args, kwargs, message in cases:
        with pytest.raises(TypeError, match=f"^rollout: .*{message}"):
            ff.rollout(*args, **kwargs)
    assert ff.rollout(model, parameters, state, controls, dt=0.02).converged
    assert "Simulates len(controls) steps" in ff.rollout.__doc__


def test_batches(scene):
    model, parameters, state, controls = scene
    with pytest.raises(
        TypeError, match=r"parameters: got a single Parameters \(write \[Parameters\]\), expected a list"
    ):
        ff.rollout_batch(model, parameters, [state], [controls])
    with pytest.raises(TypeError, match=r"controls: got an array of float64 of shape \(3, 0\), expected a list"):
        ff.rollout_batch(model, [parameters], [state], controls)
    with pytest.raises(TypeError, match="states: got 3 at index 1"):
        ff.rollout_batch([model, model], [parameters], [state, 3], [controls, controls])
    trajectory = ff.rollout(model, parameters, state, controls)
    with pytest.raises(TypeError, match=r"trajectory: got Model, expected a farfield.Trajectory"):
        ff.rollout_vjp(model)
    with pytest.raises(TypeError, match=r"dL_dq: got a list of shape \(2,\)"):
        ff.rollout_vjp(trajectory, dL_dq=[1.0, 2.0])
    with pytest.raises(TypeError, match="trajectories: got a single Trajectory"):
        ff.rollout_vjp_batch(trajectory)


def test_an_error_inside_a_policy_stays_its_own(scene):
    model, parameters, state, controls = scene

    class Policy:
        def control(self, step, state):
            raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"):
        ff.rollout(model, parameters, state, controls, policy=Policy())


def test_the_doctor_says_ten_lines(capsys):
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 10
    assert lines[0].startswith("farfield")
    assert lines[-1].split() == ["verdict", "works"]


def test_the_doctor_finds_a_wrong_gradient(monkeypatch, capsys):
    right = ff.rollout_vjp

    class Wrong:
        def __init__(self, gradient):
            self.v0 = 1.00001 * gradient.v0

    monkeypatch.setattr(ff, "rollout_vjp", lambda *args, **kwargs: Wrong(right(*args, **kwargs)))
    assert main(["doctor"]) == 1
    assert "FAILED" in capsys.readouterr().out
