# SPDX-License-Identifier: Apache-2.0
"""Gradient bundles: unbiased, the exact gradient without noise, the same for any number of threads, sound about starts that intersect."""

import dataclasses

import numpy as np
import pytest

import farfield as ff
from command_line import exit_code
from farfield.engines.adjoint import Adjoint
from farfield.engines.bundle import REDRAWS, Bundle, BundleOptions
from farfield.optimize import Adam, DirectTargets, ReachLoss, RecedingHorizon
from farfield.optimize.rollout_input import InputGradient, RolloutInput
from farfield.tasks.push import Push

STILL = BundleOptions(samples=3, width=0.0, position_width=0.0, velocity_width=0.0)


def cart(steps=4, place=0.3):
    """A cart on a rail: its motion is linear in the controls and in the first state, so the loss is a quadratic."""
    scene = ff.Scene(name="rail", gravity=[0, 0, 0])
    scene.add_body(name="cart")
    scene.add_joint("cart", name="rail", type="Slide", axis=[1, 0, 0])
    scene.add_shape("cart", type="Box", size=[0.1, 0.1, 0.1])
    scene.add_actuator(name="drive", type="Pd", joint="rail", kp=2000.0, kd=250.0, velocity_input=False)
    model = ff.build_model(scene)
    loss = ReachLoss(["cart"], [[place, 0.0, 0.0]], 0.0)
    return model, DirectTargets(np.zeros((steps, 1))), loss


def bundle(options, kind=Bundle, **more):
    model, unknowns, loss = cart()
    return kind(model, model.default_parameters(), unknowns, loss, dt=0.05, options=options, **more)


def test_without_noise_it_is_the_exact_gradient():
    problem = dataclasses.replace(Push(), horizon=6).build(0)
    made = [
        kind(
            problem.model,
            problem.parameters,
            problem.parameterization,
            problem.loss,
            dt=problem.dt,
            contact=ff.LongRange(weight_in_joules=1e-6, leaf_weights="paper", slip_speed=1e-2),
            tolerance=1e-10,
            options=options,
        )
        for kind, options in ((Adjoint, None), (Bundle, STILL))
    ]
    (exact,), (mean,) = (objective.evaluate([problem.parameterization.initial()]) for objective in made)
    assert exact.value == mean.value
    assert np.abs(exact.gradient).max() > 1e-4
    assert np.allclose(mean.gradient, exact.gradient, rtol=1e-9, atol=0.0)


def test_it_is_an_unbiased_estimate_of_the_gradient_of_the_smoothed_loss():
    # the smoothed quadratic has the gradient of the quadratic itself: means of n samples miss it by their standard error
    options = BundleOptions(samples=400, width=0.2, position_width=0.05, velocity_width=0.3)
    x = np.array([[0.1], [0.2], [0.0], [0.4]])
    (exact,) = bundle(None, Adjoint).evaluate([x])
    single = bundle(dataclasses.replace(options, samples=1))
    draws = np.array([single.evaluate([x])[0].gradient for _ in range(300)])
    deviation = draws.std(axis=0, ddof=1)
    assert np.all(deviation > 0.01 * np.abs(exact.gradient))  # there is noise
    (mean,) = bundle(options).evaluate([x])
    assert np.all(np.abs(mean.gradient - exact.gradient) < 4.0 * deviation / np.sqrt(400))
    assert np.all(np.abs(draws.mean(axis=0) - exact.gradient) < 4.0 * deviation / np.sqrt(300))
    assert mean.value == exact.value  # the value has no noise


def test_noise_depends_on_seed_and_call_alone():
    options = BundleOptions(samples=5, width=0.1)
    x = np.full((4, 1), 0.1)
    one, two = bundle(options, threads=1), bundle(options, threads=2)
    first = [objective.evaluate([x, 2.0 * x]) for objective in (one, two)]
    for a, b in zip(*first, strict=True):
        assert a.gradient.tobytes() == b.gradient.tobytes()
    assert not np.array_equal(first[0][0].gradient, one.evaluate([x])[0].gradient)  # fresh noise
    other = bundle(dataclasses.replace(options, seed=1)).evaluate([x, 2.0 * x])
    assert not np.array_equal(other[0].gradient, first[0][0].gradient)
    resumed = bundle(options)
    resumed.restore(one.memory())
    assert resumed.evaluate([x])[0].gradient.tobytes() == one.evaluate([x])[0].gradient.tobytes()
    assert resumed.counts() == one.counts()


def test_a_loss_of_zero_needs_no_samples():
    objective = bundle(BundleOptions())
    objective.loss = ReachLoss(["cart"], [[0.0, 0.0, 0.0]], 10.0)
    (here,) = objective.evaluate([np.zeros((4, 1))])
    assert here.value == 0.0 and not here.gradient.any()
    assert objective.rollouts == 1 and objective.counts()["bundle"]["samples"] == 0


def boxes(gap):
    """Two free boxes in a row with a gap between them [m]."""
    scene = ff.Scene(name="row", gravity=[0, 0, 0])
    for k in range(2):
        scene.add_body(name=f"box {k}", position=[k * (0.2 + gap), 0.0, 0.0])
        scene.add_joint(f"box {k}", name=f"box {k}", type="Free")
        scene.add_shape(f"box {k}", type="Box", size=[0.1, 0.1, 0.1], density=100.0)
    model = ff.build_model(scene)
    unknowns = DirectTargets(np.zeros((3, 0)))
    loss = ReachLoss(["box 1"], [[1.0, 0.0, 0.0]], 0.0)
    return model, unknowns, loss


@pytest.mark.parametrize(("gap", "width"), [(1e-3, 1e-2), (0.02, 0.1)])
def test_starts_that_intersect_are_drawn_again(gap, width):
    model, unknowns, loss = boxes(gap)
    options = BundleOptions(samples=20, position_width=width, velocity_width=0.0)
    objective = Bundle(model, model.default_parameters(), unknowns, loss, dt=0.01, contact=ff.Ipc(), options=options)
    (here,) = objective.evaluate([unknowns.initial()])
    assert here.gradient is not None
    counts = objective.counts()["bundle"]
    assert counts["samples"] == 20 and counts["redrawn"] > 0 and counts["unmoved_starts"] == 0
    for sample in objective._neighbours(here, 0):
        gaps = ff.closest_points(model, model.default_parameters(), sample.state.q)
        assert min(each.distance for each in gaps) > 0.0


def test_a_start_that_cannot_be_moved_stays(monkeypatch):
    model, unknowns, loss = boxes(0.1)
    objective = Bundle(model, model.default_parameters(), unknowns, loss, dt=0.01, contact=ff.Ipc())
    monkeypatch.setattr(objective, "_free", lambda given: False)
    q, v = model.default_state().q, np.zeros(12)
    state = objective._start(RolloutInput(state=ff.State(q=q, v=v)), np.random.default_rng(0))
    assert np.array_equal(state.q, q) and not np.array_equal(state.v, v)
    assert objective.redrawn == REDRAWS and objective.unmoved == 1


def test_samples_that_fail_are_left_out(monkeypatch):
    class Failed:
        converged = False

    batch = ff.rollout_batch
    options = BundleOptions(samples=4, width=0.1)
    x = np.full((4, 1), 0.1)
    whole = bundle(options)
    neighbours = whole._neighbours(whole.evaluate([x])[0], 0)  # of a second call; not those below
    assert len(neighbours) == 4

    def some(model, parameters, states, controls, **more):
        found = batch(model, parameters, states, controls, **more)
        return [Failed() if k % 2 and len(found) == 4 else each for k, each in enumerate(found)]

    monkeypatch.setattr(ff, "rollout_batch", some)
    objective = bundle(options)
    (here,) = objective.evaluate([x])
    assert here.gradient is not None and objective.counts()["bundle"]["failed"] == 2
    monkeypatch.setattr(ff, "rollout_batch", lambda *a, **k: [Failed()] * 4 if len(a[2]) == 4 else batch(*a, **k))
    assert bundle(options).evaluate([x])[0].gradient is None


def test_a_window_goes_on_when_a_drawn_gradient_is_zero():
    class Silent(Bundle):
        def _gradients(self, samples, guesses):
            zero = InputGradient(np.zeros((4, 1)), *np.zeros((2, 1)), np.zeros((4, 0)), ff.zero_parameters(self.model))
            return [zero] * len(samples)

    objective = bundle(STILL, Silent)
    driver = RecedingHorizon(objective, Adam(0.02), frames=2, iterations=3)
    rows = []
    while not driver.done:
        rows.append(driver.advance())
    assert len(rows) == 6


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["samples=0"], "option samples: 0, expected > 0"),
        (["width=-1"], "option width: -1.0, expected >= 0"),
        (["width=wide"], "option width: 'wide', expected a number"),
        (["size=3"], "option 'size' is unknown; method bundle has: samples, width"),
        (["samples"], "--set samples: expected key=value"),
    ],
)
def test_mistakes_are_one_line(capsys, tmp_path, monkeypatch, settings, said):
    monkeypatch.chdir(tmp_path)
    arguments = [part for setting in settings for part in ("--method-set", setting)]
    assert exit_code("run", "push", "--method", "bundle", *arguments) == 2
    output = capsys.readouterr()
    assert said in output.err and output.err.count("\n") == 1
    assert not (tmp_path / "runs").exists()


def test_methods_without_options_say_so(capsys):
    assert exit_code("run", "push", "--method-set", "samples=3") == 2
    assert "option 'samples' is unknown; this method has: none" in capsys.readouterr().err


def test_a_run_that_is_stopped_continues_with_the_same_bits(tmp_path):
    from farfield.experiments import registry, runner
    from farfield.experiments.runs import RunDir
    from farfield.options import with_options

    settings = {"frames": "2", "horizon": "4", "iterations": "2", "first_iterations": "2"}
    task = with_options(registry.find_task("push"), settings)
    found = []
    for stop in (None, 3):
        options = {"contact": "ipc", "method": "bundle", "method_set": (("samples", "2"),)}
        run = runner.start(task, seed=0, out=tmp_path / f"run {stop}", **options)
        if not runner.execute(run, quiet=True, stop_after=stop):
            run = runner.resume(task, RunDir.open(run.folder.path))
            assert runner.execute(run, quiet=True)
        found.append((run.driver.inputs().controls.tobytes(), run.objective.counts()))
    assert found[0] == found[1]
