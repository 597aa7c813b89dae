# SPDX-License-Identifier: Apache-2.0
"""A wrong argument is named, with what came and what is expected; nothing else changes."""

from __future__ import annotations

import pickle

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
        ((model, parameters, state, controls), {"contact": ff.LongRange}, r"contact: got the class LongRange, not an instance \(write LongRange\(...\)\), expected a farfield.ContactModel or a text"),
        ((ff.Model, parameters, state, controls), {}, r"model: got the class Model, not an instance .*, expected a farfield.Model"),
        ((model, parameters, state), {}, "'controls' is missing; expected an array"),
        ((model, parameters, state, controls, 0.01), {}, "5 arguments without a name, expected 4"),
        ((model, parameters, state, controls), {"dt": "fast"}, "dt: got 'fast', expected a number"),
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


def test_every_function_method_constructor_and_attribute(scene):
    model, parameters, state, _ = scene
    q = np.asarray(state.q)
    cases = [
        (lambda: ff.build_model(model), "build_model: scene: got Model, expected a farfield.Scene"),
        (lambda: ff.forward_kinematics(model, parameters), "forward_kinematics: 'q' is missing; expected an array of floats of shape"),
        (lambda: ff.forward_kinematics(model, parameters, [0.0] * 7), r"q: got a list of shape \(7,\) \(numpy.asarray makes it an array\)"),
        (lambda: ff.retract(model, q, 2), "retract: delta: got 2, expected an array of floats"),
        (lambda: ff.save_trajectory(model, "x"), "save_trajectory: path: got Model, expected a text or a path"),
        (lambda: ff.Simulation(model, time_step=0.1), "Simulation: 'time_step' is no argument; it has: model, parameters"),
        (lambda: ff.Simulation(ff.Model), "Simulation: model: got the class Model"),
        (lambda: ff.LongRange(stifness=2), "LongRange: 'stifness' is no argument; did you mean 'stiffness'"),
        (lambda: ff.LongRange(blend="x"), "LongRange: blend: got 'x', expected a list"),
        (lambda: ff.LongRange(3), "LongRange: 1 arguments without a name, expected 0: none; others need theirs"),
        (lambda: ff.SoftDistance(3), "SoftDistance: cloud: got 3, expected a farfield.PointCloud"),
        (lambda: model.body(3.5), "Model.body: name: got 3.5, expected a text"),
        (lambda: parameters.flatten(3), "Parameters.flatten: 1 arguments without a name, expected 0: none"),
        (lambda: setattr(parameters, "gravity", "down"), r"Parameters.gravity: got 'down', expected an array of floats of shape \(3\)"),
        (lambda: ff.Trajectory.from_states(model, parameters, 1, q, q), "Trajectory.from_states: q: got 1, expected an array"),
    ]  # fmt: skip
    for call, message in cases:
        with pytest.raises(TypeError, match=f"^{message}|^[^:]*: {message}"):
            call()


def test_nothing_public_shows_a_signature_dump():
    """Every function of the core is covered, whatever it is called with."""
    plain = [name for name in ff.__all__ if hasattr(getattr(ff, name), "__nb_signature__")]
    assert plain == []
    for name in ff.__all__:
        thing = getattr(ff, name)
        if callable(thing) and getattr(thing, "__module__", "") == "farfield._core":
            with pytest.raises((TypeError, ValueError)) as caught:
                thing(surely_wrong=object())
            assert "incompatible function arguments" not in str(caught.value), name


def test_classes_stay_classes(scene):
    model, parameters, *_ = scene

    class Mine(ff.Simulation):
        pass

    assert Mine(model, parameters, dt=0.02).dt == 0.02
    assert isinstance(ff.LongRange(), ff.ContactModel) and isinstance(Mine(model), ff.Simulation)
    assert pickle.loads(pickle.dumps(ff.Simulation(model, dt=0.02))).dt == 0.02


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
