# SPDX-License-Identifier: Apache-2.0
"""Rollouts and gradients from Python: differences, closed loops, batches, memory, threads, pickling, import time."""

from __future__ import annotations

import copy
import gc
import inspect
import json
import pickle
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import farfield as ff
from farfield.differences import slope

SCENES = Path(__file__).parents[2] / "scenes"
STEPS = 40
PARAMETERS = ("moments", "attachment", "kp", "kd", "damping", "armature", "stiffness", "gravity")
LADDER = tuple(10.0 ** (-k / 2) for k in range(4, 13))


class Experiment:
    """A seeded linear functional of all body positions and velocities of a rollout, with everything that can be varied."""

    def __init__(self, name: str) -> None:
        self.model, self.parameters = ff.load(SCENES / f"{name}.xml")
        rng = np.random.default_rng(7)
        n = self.model.num_dofs
        start = self.model.default_state()
        self.q = ff.retract(self.model, start.q, 0.2 * rng.standard_normal(n))
        self.v = 0.3 * rng.standard_normal(n)
        self.controls = self.model.default_control() + 0.1 * rng.standard_normal((STEPS, self.model.num_controls))
        self.weight_p = rng.standard_normal((STEPS + 1, self.model.num_bodies, 3))
        self.weight_v = 0.1 * rng.standard_normal((STEPS + 1, n))

    def run(self) -> ff.Trajectory:
        state = ff.State(q=self.q, v=self.v)
        trajectory = ff.rollout(
            self.model, self.parameters, state, self.controls, dt=0.01, tolerance=1e-14, contact=None
        )
        assert trajectory.converged
        return trajectory

    def loss(self) -> float:
        trajectory = self.run()
        return float(np.sum(self.weight_p * trajectory.poses()[:, :, :3]) + np.sum(self.weight_v * trajectory.v))

    def gradient(self) -> ff.RolloutGradient:
        partials = np.zeros((STEPS + 1, self.model.num_bodies, 6))
        partials[:, :, :3] = self.weight_p
        return ff.rollout_vjp(self.run(), dL_dpose=partials, dL_dv=self.weight_v)

    def moved(self, **changes) -> Experiment:
        other = copy.copy(self)
        other.parameters = self.parameters.copy()
        for name, value in changes.items():
            setattr(other.parameters if name in PARAMETERS else other, name, value)
        return other


def assert_slope(what: str, analytic: float, function) -> None:
    measured = slope(function, LADDER)
    assert analytic != 0.0, what
    assert measured.value != analytic, f"{what}: bit-equal"
    error = measured.relative_error(analytic)
    assert error < 1e-6, f"{what}: analytic {analytic}, differences {measured}, relative error {error:.1e}"


def point_masses(moments: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Moments of a light point near the centre of every body: a direction in which bodies stay bodies."""
    out = np.zeros_like(moments)
    for row, body in zip(out, moments, strict=True):
        if body[0] > 0.0:
            x = body[1:4] / body[0] + 0.05 * rng.standard_normal(3)
            second = [x[0] ** 2, x[1] ** 2, x[2] ** 2, x[0] * x[1], x[0] * x[2], x[1] * x[2]]
            row[:] = 0.1 * body[0] * np.concatenate([[1.0], x, second])
    return out


@pytest.mark.parametrize("name", ["pendulum", "double_pendulum", "arm7", "ant", "push", "chain14"])
def test_gradients_against_differences(name):
    e = Experiment(name)
    gradient, rng = e.gradient(), np.random.default_rng(8)
    s = rng.standard_normal(e.model.num_dofs)
    assert_slope("q0", gradient.q0 @ s, lambda h: e.moved(q=ff.retract(e.model, e.q, h * s)).loss())
    assert_slope("v0", gradient.v0 @ s, lambda h: e.moved(v=e.v + h * s).loss())
    if e.model.num_controls:
        u = rng.standard_normal(e.controls.shape)
        assert_slope("controls", np.sum(gradient.controls * u), lambda h: e.moved(controls=e.controls + h * u).loss())
    for field in PARAMETERS:
        value, by = getattr(e.parameters, field).copy(), getattr(gradient.parameters, field)
        assert value.shape == by.shape
        d = rng.standard_normal(value.shape)
        if field == "moments":
            d = point_masses(value, rng)
        elif field == "armature":
            d *= 1e-3  # small links have little inertia of their own, and the sum must stay positive
        if field in ("kp", "kd") and not np.any(by):
            assert not any(actuator.type == ff.ActuatorType.Pd for actuator in e.model.scene.actuators)
            continue
        assert_slope(field, np.sum(by * d), lambda h, f=field, x=value, d=d: e.moved(**{f: x + h * d}).loss())


# ---- closed loop -----------------------------------------------------------------------------------------------------------


class LinearFeedback:
    """u = K (q; v; 1) + sin(step) b: the parameters are K and b, stacked."""

    def __init__(self, numbers: np.ndarray, num_controls: int) -> None:
        self.numbers, self.num_controls = numbers, num_controls
        self.num_parameters = len(numbers)

    def split(self) -> tuple[np.ndarray, np.ndarray]:
        return self.numbers[: -self.num_controls].reshape(self.num_controls, -1), self.numbers[-self.num_controls :]

    def features(self, state: ff.State) -> np.ndarray:
        return np.concatenate([state.q, state.v, [1.0]])

    def control(self, step: int, state: ff.State) -> np.ndarray:
        gain, offset = self.split()
        return gain @ self.features(state) + np.sin(step) * offset

    def vjp(self, step: int, state: ff.State, control_bar: np.ndarray):
        gain, _ = self.split()
        by_features = gain.T @ control_bar
        n = len(state.q)
        by_numbers = np.concatenate([np.outer(control_bar, self.features(state)).ravel(), np.sin(step) * control_bar])
        return by_features[:n], by_features[n : 2 * n], by_numbers


def test_closed_loop_gradient_with_policy_parameters():
    model, parameters = ff.load(SCENES / "arm7.xml")  # hinges only, so q is its own tangent
    rng, n = np.random.default_rng(3), model.num_dofs
    numbers = 0.03 * rng.standard_normal(model.num_controls * (2 * n + 1) + model.num_controls)
    state = ff.State(q=0.2 * rng.standard_normal(n), v=0.2 * rng.standard_normal(n))
    weight = rng.standard_normal((STEPS + 1, n))

    def run(numbers, q, v, kp):
        changed = parameters.copy()
        changed.kp = kp
        policy = LinearFeedback(numbers, model.num_controls)
        trajectory = ff.rollout(
            model,
            changed,
            ff.State(q=q, v=v),
            np.zeros((STEPS, model.num_controls)),
            tolerance=1e-14,
            policy=policy,
            contact=None,
        )
        assert trajectory.converged
        return trajectory, policy

    def loss(numbers=numbers, q=state.q, v=state.v, kp=parameters.kp):
        return float(np.sum(weight * run(numbers, q, v, kp)[0].q))

    trajectory, policy = run(numbers, state.q, state.v, parameters.kp)
    np.testing.assert_array_equal(trajectory.controls[3], policy.control(3, trajectory.state(3)))
    gradient = ff.rollout_vjp(trajectory, dL_dq=weight, policy=policy)
    assert gradient.policy.shape == numbers.shape
    for what, by, base in (
        ("numbers", gradient.policy, numbers),
        ("q", gradient.q0, state.q),
        ("v", gradient.v0, state.v),
        ("kp", gradient.parameters.kp, parameters.kp.copy()),
    ):
        s = rng.standard_normal(base.shape)
        assert_slope(what, by @ s, lambda h, w=what, b=base, s=s: loss(**{w: b + h * s}))
    # without the policy the gradient is that of the recorded controls: different, and of open loop
    opened = ff.rollout_vjp(trajectory, dL_dq=weight)
    assert len(opened.policy) == 0
    assert not np.allclose(opened.q0, gradient.q0)


def test_errors_of_a_policy_reach_the_caller():
    model, parameters = ff.load(SCENES / "pendulum.xml")

    class Broken:
        def control(self, step, state):
            raise KeyError("lost at step", step)

    with pytest.raises(KeyError, match="lost at step"):
        ff.rollout(model, parameters, model.default_state(), np.zeros((3, 0)), policy=Broken(), contact=None)


# ---- batches -----------------------------------------------------------------------------------------------------------------


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def test_batches_are_single_rollouts_bit_for_bit():
    model, parameters = ff.load(SCENES / "ant.xml")
    rng = np.random.default_rng(5)
    states, controls, sets, partials = [], [], [], []
    for _ in range(7):
        q = ff.retract(model, model.default_state().q, 0.2 * rng.standard_normal(model.num_dofs))
        states.append(ff.State(q=q, v=rng.standard_normal(model.num_dofs)))
        controls.append(0.2 * rng.standard_normal((STEPS, model.num_controls)))
        changed = parameters.copy()
        changed.moments *= rng.uniform(0.8, 1.2)
        sets.append(changed)
        partials.append(rng.standard_normal((STEPS + 1, model.num_bodies, 6)))
    singles = [ff.rollout(model, p, s, u, contact=None) for p, s, u in zip(sets, states, controls, strict=True)]
    gradients = [ff.rollout_vjp(t, dL_dpose=g) for t, g in zip(singles, partials, strict=True)]
    for threads in (1, 2, 4):
        batch = ff.rollout_batch(model, sets, states, controls, threads=threads, contact=None)
        back = ff.rollout_vjp_batch(batch, dL_dpose=partials, threads=threads)
        for single, gradient, one, other in zip(singles, gradients, batch, back, strict=True):
            assert same_bits(single.q, one.q)
            assert same_bits(single.v, one.v)
            for field in ("q0", "v0", "controls"):
                assert same_bits(getattr(gradient, field), getattr(other, field)), field
            for field in PARAMETERS:
                assert same_bits(getattr(gradient.parameters, field), getattr(other.parameters, field)), field
    shared = ff.rollout_batch(model, [parameters], states, controls, threads=2, contact=None)
    assert same_bits(shared[2].q, ff.rollout(model, parameters, states[2], controls[2], contact=None).q)


def test_python_runs_during_a_rollout():
    model, parameters = ff.load(SCENES / "ant.xml")
    controls = np.zeros((4000, model.num_controls))
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(1e-3)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        begin = time.perf_counter()
        trajectory = ff.rollout(model, parameters, model.default_state(), controls, dt=1e-3, contact=None)
        middle = time.perf_counter()
        ff.rollout_vjp(trajectory, dL_dv=np.ones((trajectory.num_steps + 1, model.num_dofs)))
        end = time.perf_counter()
    finally:
        done.set()
        thread.join()
    for first, last in ((begin, middle), (middle, end)):
        inside = [t for t in ticks if first + 0.1 * (last - first) < t < last - 0.1 * (last - first)]
        assert len(inside) >= 5, f"{len(inside)} ticks in {last - first:.3f} s"


# ---- memory ------------------------------------------------------------------------------------------------------------------


def test_arrays_are_views():
    model, parameters = ff.load(SCENES / "arm7.xml")
    view = parameters.kp
    assert np.shares_memory(view, parameters.kp)
    view[2] = 123.0
    parameters.moments[3, 0] = 4.5
    assert parameters.kp[2] == 123.0
    assert parameters.moments[3, 0] == 4.5
    assert not np.shares_memory(parameters.kp, parameters.copy().kp)
    assert model.default_parameters().kp[2] != 123.0
    state = model.default_state()
    state.q[1] = 0.25
    assert state.q[1] == 0.25
    assert model.default_state().q[1] == 0.0
    trajectory = ff.rollout(model, parameters, state, np.zeros((3, model.num_controls)), contact=None)
    assert np.shares_memory(trajectory.q, trajectory.q)
    assert trajectory.parameters.kp[2] == 123.0
    assert not np.shares_memory(trajectory.parameters.kp, parameters.kp)


def test_arrays_outlive_their_owners():
    model, parameters = ff.load(SCENES / "arm7.xml")
    trajectory = ff.rollout(model, parameters, model.default_state(), np.zeros((50, model.num_controls)), contact=None)
    gradient = ff.rollout_vjp(trajectory, dL_dq=np.ones((51, model.num_dofs)))
    arrays = [
        trajectory.q,
        trajectory.controls,
        trajectory.poses(),
        gradient.controls,
        gradient.parameters.moments,
        parameters.kp,
    ]
    copies = [array.copy() for array in arrays]
    del trajectory, gradient, parameters, model
    gc.collect()
    waste = [np.full(100_000, 7.0) for _ in range(20)]
    assert all(np.array_equal(a, b) for a, b in zip(arrays, copies, strict=True))
    assert len(waste) == 20


def test_recorded_arrays_cannot_be_overwritten():
    """The backward pass reads the tape: a write into it would be a wrong gradient without a word."""
    model, parameters = ff.load(SCENES / "arm7.xml")
    trajectory = ff.rollout(model, parameters, model.default_state(), np.zeros((3, model.num_controls)), contact=None)
    for array in (trajectory.q, trajectory.v, trajectory.controls):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
    trajectory.parameters.kp[0] += 1.0
    assert trajectory.parameters.kp[0] == parameters.kp[0]


def test_partials_of_any_layout_give_the_same_gradient():
    model, parameters = ff.load(SCENES / "arm7.xml")
    trajectory = ff.rollout(model, parameters, model.default_state(), np.zeros((5, model.num_controls)), contact=None)
    partials = np.random.default_rng(1).standard_normal((6, model.num_dofs))
    expected = ff.rollout_vjp(trajectory, dL_dq=partials).q0
    for array in (np.asfortranarray(partials), np.repeat(partials, 2, axis=1)[:, ::2]):
        assert np.array_equal(ff.rollout_vjp(trajectory, dL_dq=array).q0, expected)


def test_pickles():
    model, parameters = ff.load(SCENES / "chain14.xml")
    state = ff.State(q=model.default_state().q, v=np.linspace(-1.0, 1.0, model.num_dofs) / 3)
    parameters.damping += 1.0 / 3.0
    again, parameters_again, state_again = pickle.loads(pickle.dumps((model, parameters, state)))
    assert again.body_names == model.body_names
    assert again.warnings == model.warnings
    for field in (*PARAMETERS, "friction", "hull_vertices"):
        assert same_bits(getattr(parameters, field), getattr(parameters_again, field)), field
    controls = np.zeros((STEPS, model.num_controls))
    first, second = (
        ff.rollout(model, parameters, state, controls, contact=None),
        ff.rollout(again, parameters_again, state_again, controls, contact=None),
    )
    assert same_bits(first.q, second.q)


# ---- the certificate ---------------------------------------------------------------------------------------------------------


def test_unconverged_trajectory_is_refused():
    model, parameters = ff.load(SCENES / "double_pendulum.xml")
    state, _ = model.keyframes["raised"]
    trajectory = ff.rollout(model, parameters, state, np.zeros((10, 0)), dt=0.1, max_iterations=1, contact=None)
    assert not trajectory.converged
    assert trajectory.num_steps == len(trajectory.reports) == 1
    assert trajectory.q.shape == (2, 2)
    assert trajectory.reports[-1].status == "max_iterations"
    with pytest.raises(ValueError, match=r"did not converge \(step 0: max_iterations"):
        ff.rollout_vjp(trajectory)
    with pytest.raises(ValueError, match="did not converge"):
        ff.rollout_vjp_batch([trajectory])
    assert ff.rollout_vjp(trajectory, dL_dq=np.ones((2, 2)), allow_unconverged=True).q0.shape == (2,)


# ---- the package -------------------------------------------------------------------------------------------------------------


def test_import_is_quick_and_light():
    program = (
        "import time; begin, work = time.perf_counter(), time.process_time(); import farfield\n"
        "seconds = [time.process_time() - work, time.perf_counter() - begin]\n"
        "import json, sys; print(json.dumps([seconds, sorted({m.split('.')[0] for m in sys.modules})]))"
    )
    runs = []
    for _ in range(5):
        result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        runs.append(json.loads(result.stdout))
    work, seconds = min(run[0] for run in runs)
    print(f"import farfield: {work:.3f} s of work, {seconds:.3f} s by the clock")
    assert not {"mujoco", "viser", "matplotlib", "trimesh", "scipy", "torch", "rich", "tqdm"} & set(runs[0][1])
    assert work < 0.3  # work rather than the clock: other processes of a busy machine must not fail the test


def described(value) -> bool:
    """Has a sentence beyond the signatures that the bindings write by themselves."""
    lines = (inspect.getdoc(value) or "").splitlines()
    return any(line.strip() and not re.match(r"(def )?\w*\(.*\) -> ", line) for line in lines)


def test_everything_public_is_described():
    missing = []
    for name in ff.__all__:
        value = getattr(ff, name)
        if name.startswith("__"):
            continue
        if not described(value):
            missing.append(name)
        if inspect.isclass(value) and value.__module__.startswith("farfield"):
            for member, item in vars(value).items():
                relevant = isinstance(item, property) or callable(item)
                if not member.startswith("_") and relevant and not isinstance(item, value) and not described(item):
                    missing.append(f"{name}.{member}")
    assert missing == []


def test_a_guess_saves_iterations_and_changes_nothing_else():
    model, parameters = ff.load("scenes/push.xml")
    controls = np.tile(model.default_control(), (15, 1))
    controls[:, 0] = np.linspace(0.0, -0.6, 15)  # towards the box and against it
    state = model.default_state()
    options = {
        "dt": 0.04,
        "contact": ff.LongRange(slip_speed=1e-2, weight_in_joules=1e-6, leaf_weights="paper"),
        "tolerance": 1e-9,
    }
    cold = ff.rollout(model, parameters, state, controls, **options)
    assert cold.converged and abs(cold.q[-1, 6]) > 0.01  # the box was pushed

    def iterations(trajectory):
        return sum(report.iterations for report in trajectory.reports)

    warm = ff.rollout(model, parameters, state, controls, guess=cold.v[1:], **options)
    np.testing.assert_allclose(warm.q, cold.q, atol=1e-9)
    assert iterations(warm) < 0.7 * iterations(cold)
    (batched,) = ff.rollout_batch(model, [parameters], [state], [controls], guesses=[np.array(cold.v[1:])], **options)
    assert np.array_equal(batched.q, warm.q)
    through = np.array(cold.v[1:])
    through[:, 0] = -100.0  # a guess on the other side of the box is not taken
    odd = ff.rollout(model, parameters, state, controls, guess=through, **options)
    np.testing.assert_allclose(odd.q, cold.q, atol=1e-9)
    with pytest.raises(ValueError, match=r"guess has shape \(14, 12\), expected \(15, 12\)"):
        ff.rollout(model, parameters, state, controls, guess=cold.v[2:], **options)
    with pytest.raises(ValueError, match="2 guesses for 1 states"):
        ff.rollout_batch(model, [parameters], [state], [controls], guesses=2 * [np.array(cold.v[1:])], **options)
