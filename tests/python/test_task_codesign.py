# SPDX-License-Identifier: Apache-2.0
"""Co-design tasks at reduced size: they run, improve, are judged at finer steps and in MuJoCo, and can be taken elsewhere as files."""

from __future__ import annotations

import json

import numpy as np
import pytest

import farfield as ff
from command_line import exit_code
from farfield.engines.mujoco_replay import replay_in_mujoco
from farfield.experiments import runner
from farfield.export import save_design
from farfield.optimize.objective import Evaluation
from farfield.reshape import reshaped
from farfield.tasks.biped import Biped, FollowLoss, leg_angles, steps_upright
from farfield.tasks.parallel_jaw import ParallelJaw, at_friction
from farfield.tasks.quadruped import Quadruped, distance, flight_share


def run_of(task, name: str, seed: int = 0) -> runner.Run:
    type(task).name = name
    return runner.prepare(task, seed, runner.Setup(contact="polyhedral"))


def finished(run: runner.Run) -> runner.Run:
    while not run.driver.done:
        run.driver.advance()
    return run


def test_a_short_chain_reaches_by_design_what_control_cannot(tmp_path, capsys):
    settings = ["links=2", "frames=40", "iterations=8", "rate=0.1"]
    given = [x for setting in settings for x in ("--set", setting)]
    assert exit_code("run", "chain", "--json", "--quiet", "--out", tmp_path / "run", *given) in (0, 1)
    result = json.loads(capsys.readouterr().out)
    figures = result["figures"]
    assert figures["further_decrease"] > 0.5
    assert figures["further_decrease_half_dt"] > 0.5
    assert figures["error_links"] < figures["control_only_error_links"]
    assert result["certified"]
    assert set(result["design"]) == {"chain 0 link 0: scale z", "chain 0 link 1: scale z"}
    for name in ("before.png", "after.png", "replay.html", "convergence.png"):
        assert (tmp_path / "run" / name).stat().st_size > 1000


def test_the_quadruped_walks_from_its_start_gait_and_both_branches_improve():
    run = finished(run_of(Quadruped(frames=60, first_iterations=2, iterations=2), "quadruped"))
    driver = run.driver
    assert driver.best_value["gait"] < driver.first_value["gait"]
    assert max(driver.best_value["control"], driver.best_value["codesign"]) <= driver.best_value["gait"]
    motion = driver.motion(run.objective.roll)
    assert motion.converged
    assert distance(motion) > 0.1
    assert flight_share(motion, 8e-3) < 0.2
    feet = np.asarray(motion.parameters.hull_vertices) - run.problem.model.default_parameters().hull_vertices
    hulls = {hull.shape: hull for hull in run.problem.model.hulls}
    assert np.abs(feet[hulls["front left toe 1"].rows]).max() > 1e-5
    assert np.allclose(feet[hulls["front left toe 1"].rows], feet[hulls["rear right toe 1"].rows])
    replay, touching = replay_in_mujoco(run.problem.model, driver.inputs(), dt=0.01)
    assert replay.converged
    assert touching.any()
    assert distance(replay) == pytest.approx(distance(motion), abs=0.1)


def test_the_biped_stands_on_its_start_gait_and_a_fallen_one_is_seen():
    hip, knee, ankle = leg_angles(0.05, -0.75)
    y = 0.4 * np.sin(hip) + 0.4 * np.sin(hip + knee)
    z = -0.4 * np.cos(hip) - 0.4 * np.cos(hip + knee)
    assert (y, z) == pytest.approx((0.05, -0.75))
    assert hip + knee + ankle == pytest.approx(0.0)
    run = run_of(Biped(frames=40, iterations=1), "biped")
    motion = run.objective.roll(run.driver.horizon.inner.decode(run.driver.start))
    assert motion.converged
    assert steps_upright(motion) == 40
    q = np.array(motion.q)
    q[25:, 2] = 0.3
    fallen = ff.Trajectory.from_states(motion.model, motion.parameters, q, motion.v, motion.controls, dt=0.01)
    assert steps_upright(fallen) == 24


@pytest.mark.parametrize("loss", ["follow", "slip"])
def test_losses_of_the_tasks_have_the_right_partials(loss):
    """By poses and by mass moments, against differences of the unknowns of a short run."""
    if loss == "follow":
        run = run_of(Biped(frames=12, iterations=1), "biped")
        assert isinstance(run.problem.loss, FollowLoss)
    else:
        run = run_of(ParallelJaw(frames=66, objects=1, iterations=1), "parallel-jaw")
    run.objective.tolerance = 1e-11
    x = run.driver.start
    found: Evaluation = run.objective.evaluate([x])[0]
    generator = np.random.default_rng(1)
    direction = generator.normal(size=x.size)
    direction /= np.linalg.norm(direction)
    slope = float(found.gradient @ direction)
    errors = []
    for h in (3e-5, 1e-5, 3e-6):
        a, b, c, d = (run.objective.evaluate([x + k * h * direction])[0].value for k in (-2, -1, 1, 2))
        errors.append(abs((a - 8 * b + 8 * c - d) / (12 * h) - slope) / abs(slope))
    assert sorted(errors)[1] < 1e-4, errors


def test_jaws_hold_with_friction_and_drop_without():
    run = run_of(ParallelJaw(objects=2, iterations=1), "parallel-jaw")
    driver, loss = run.driver, run.problem.loss
    fall = driver.continuation
    x = np.zeros(driver.horizon.size)
    held = loss.slips(at_friction(driver, fall.design, fall.bodies, x, 0.3))
    dropped = loss.slips(at_friction(driver, fall.design, fall.bodies, x, 0.15))
    assert held.max() < 2e-3
    assert dropped.min() > 0.05


def test_friction_falls_while_objects_are_held():
    run = run_of(ParallelJaw(objects=1, iterations=2, friction=0.26, first_friction=0.3), "parallel-jaw")
    finished(run)
    assert run.driver.continuation.held == pytest.approx(0.26)
    again = run_of(ParallelJaw(objects=1, iterations=2, friction=0.26, first_friction=0.3), "parallel-jaw")
    again.driver.restore(run.driver.state())
    assert again.driver.continuation.friction == run.driver.continuation.friction


def test_a_design_taken_out_as_files_comes_back_with_the_same_motion(tmp_path):
    """Rebuilt from its scene, and read from MJCF: the same hulls, masses, drives and motion."""
    run = run_of(Quadruped(frames=30, iterations=1, first_iterations=1), "quadruped")
    x = run.driver.start.copy()
    x[-288:] = 2e-3 * np.random.default_rng(2).uniform(-1.0, 1.0, 288)
    inputs = run.driver.horizon.inner.decode(x)
    contact = ff.Polyhedral(range=8e-3, weight_in_joules=1e-3, slip_speed=1e-3)  # else they follow the description
    options = {"dt": 0.01, "contact": contact, "tolerance": 1e-11}
    first = ff.rollout(run.problem.model, inputs.parameters, inputs.state, inputs.controls, **options)
    own = reshaped(run.problem.model, inputs.parameters)
    second = ff.rollout(own, own.default_parameters(), inputs.state, inputs.controls, **options)
    assert np.allclose(first.q, second.q, atol=1e-9)
    report = save_design(run.problem.model, inputs.parameters, tmp_path)
    loaded, parameters = ff.load(tmp_path / "scene.xml")
    assert loaded.num_controls == own.num_controls
    third = ff.rollout(loaded, parameters, inputs.state, inputs.controls, **options)
    assert np.allclose(first.q, third.q, atol=1e-6), np.abs(first.q - third.q).max()
    leg = report["links"]["front left lower"]
    assert leg["hulls"] == 4
    assert leg["mass"] == pytest.approx(float(inputs.parameters.moments[run.problem.model.body("front left lower"), 0]))
    assert 0.0 < leg["thinnest_wall"] < 0.06
    assert (tmp_path / "front_left_lower.stl").stat().st_size == 84 + 50 * _triangles(tmp_path / "front_left_lower.stl")


def _triangles(path) -> int:
    return int.from_bytes(path.read_bytes()[80:84], "little")
