# SPDX-License-Identifier: Apache-2.0
"""Tasks: options, files of one's own, the receding horizon, runs that are stopped and continued, and push."""

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

import farfield as ff
from command_line import exit_code
from farfield.engines.adjoint import Adjoint
from farfield.experiments import registry, runner
from farfield.experiments.runs import TRAJECTORY, RunDir
from farfield.optimize import Adam, Box, DirectTargets, ReachLoss, RecedingHorizon, RolloutInput
from farfield.optimize.driver import Stuck
from farfield.options import with_options
from farfield.tasks.push import Push
from farfield.viewer.recording import FIELD, FORCES
from run_directory import recorded

QUICK = ("--set", "frames=4", "--set", "horizon=5", "--set", "first_iterations=3", "--iterations", "2")

SLIDER = '''
"""A cart on a rail that has to be brought to a place: no contact, so it is quick."""
from dataclasses import dataclass

import numpy as np

import farfield as ff
from farfield.optimize import Adam, DirectTargets, ReachLoss, RecedingHorizon
from farfield.tasks import Problem, Task, option


@dataclass(frozen=True)
class Slide(Task):
    """Bring a cart to a place."""

    place: float = option(0.3, "where to [m]")
    frames: int = option(30, "steps", above=0)
    iterations: int = 4
    mode: str = option("sum", "loss", choices=("sum", "end"))
    brake: bool = False

    def build(self, seed):
        scene = ff.Scene(name="rail", gravity=[0, 0, 0])
        scene.add_body(name="cart")
        scene.add_joint("cart", name="rail", type="Slide", axis=[1, 0, 0])
        scene.add_shape("cart", type="Box", size=[0.1, 0.1, 0.1])
        scene.add_actuator(name="drive", type="Pd", joint="rail", kp=2000.0, kd=250.0, velocity_input=False)
        model = ff.build_model(scene)
        loss = ReachLoss(["cart"], [[self.place, 0.0, 0.0]], 0.02, when=self.mode)
        return Problem(
            model=model,
            parameters=model.default_parameters(),
            parameterization=DirectTargets(np.zeros((8, 1))),
            loss=loss,
            driver=lambda objective: RecedingHorizon(
                objective, Adam(0.02), frames=self.frames, iterations=self.iterations
            ),
            success=lambda trajectory: loss.distances(trajectory)[-1, 0] <= 0.02,
            dt=0.05,
        )
'''


@pytest.fixture
def slider(tmp_path):
    file = tmp_path / "slide.py"
    file.write_text(SLIDER)
    return file


@pytest.fixture
def rail(slider):
    """Makes the objective of that task and a receding horizon of 6 steps for it."""

    def make(**options):
        problem = registry.find_task(str(slider))().build(0)
        unknowns = DirectTargets(np.zeros((6, 1)))
        objective = Adjoint(problem.model, problem.parameters, unknowns, problem.loss, dt=problem.dt)
        return objective, RecedingHorizon(objective, Adam(0.02), **{"frames": 5, "iterations": 3, **options})

    return make


def test_tasks_are_listed_with_one_line_each(capsys, slider):
    assert exit_code("tasks") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(registry.TASKS)
    assert all(len(line.split()) > 4 for line in lines)
    assert exit_code("tasks", slider) == 0
    said = capsys.readouterr().out
    assert "slide: Bring a cart to a place." in said
    assert "place=0.3" in said and "where to [m]" in said


def test_a_task_of_ones_own_runs_and_says_how_it_went(capfd, slider, tmp_path):
    assert len(SLIDER.splitlines()) < 60
    assert exit_code("run", slider, "--contact", "none", "--out", tmp_path / "run", "--json") == 0
    output = capfd.readouterr()
    result = json.loads(output.out)
    assert output.out.count("\n") == 1
    wanted = {"task", "contact", "method", "success", "loss_initial", "loss_final", "iterations", "steps", "seconds"}
    assert wanted | {"min_gap", "run_dir"} <= set(result)
    assert (result["task"], result["contact"], result["method"]) == ("slide", "none", "adjoint")
    assert result["success"] is True
    assert result["loss_initial"] == pytest.approx(8 * (0.3**2 - 0.02**2))
    assert result["loss_final"] == 0.0
    assert result["iterations"] < 30 * 4  # a window without loss takes a single look
    assert result["min_gap"] is None
    assert result["run_dir"] == str(tmp_path / "run")
    run = RunDir.open(tmp_path / "run")
    rows = run.read_metrics()
    assert len(rows) == result["iterations"]
    assert sum(row["steps"] for row in rows) == result["steps"]
    motion = ff.load_trajectory(run.file(TRAJECTORY))
    assert motion.q.shape == (31, 1) and motion.controls.shape == (30, 1) and motion.converged
    assert abs(motion.q[-1, 0] - 0.3) <= 0.02
    assert recorded(run.path).num_frames == 31
    assert run.file("convergence.png").stat().st_size > 10_000
    assert "loss over" in run.file("replay.html").read_text(encoding="utf-8")
    assert "SUCCESS" in output.err


def test_a_task_that_is_not_reached_exits_1(slider, tmp_path):
    arguments = ["run", slider, "--contact", "none", "--set", "frames=3", "--quiet", "--out", tmp_path / "run"]
    assert exit_code(*arguments) == 1
    assert json.loads((tmp_path / "run" / "result.json").read_text())["success"] is False


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fly"], "task 'fly' is unknown, expected one of: push"),
        (["none.py"], "none.py: no such file"),
        (["push", "--method", "magic"], "method 'magic' is unknown, expected one of: adjoint"),
        (["push", "--contact", "magic"], "contact model 'magic' is unknown"),
        (["push", "--set", "frames"], "--set frames: expected key=value"),
        (["push", "--set", "height=3"], "option 'height' is unknown; push has: frames, horizon"),
        (["push", "--set", "frames=many"], "option frames: 'many', expected a whole number"),
        (["push", "--set", "frames=0"], "option frames: 0, expected > 0"),
        (["push", "--set", "reach=-1"], "option reach: -1.0, expected >= 0"),
        (["push", "--set", "dt=nan"], "option dt: 'nan', expected a finite number"),
        (["push", "--set", "optimizer=best"], "option optimizer: 'best', expected one of: isotropic, plain"),
        (["push", "--resume", "--out", "none"], "none: no such run directory"),
        (["push", "--resume"], "no run of 'push' with a checkpoint"),
    ],
)
def test_mistakes_are_one_line(capsys, monkeypatch, tmp_path, arguments, said):
    monkeypatch.chdir(tmp_path)
    assert exit_code("run", *arguments) == 2
    output = capsys.readouterr()
    assert said in output.err and output.err.count("\n") == 1
    assert output.out == ""
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1", "defines 0 tasks, expected one"),
        (SLIDER + "\n\n@dataclass\nclass Other(Task): pass", "defines 2 tasks, expected one"),
        ("from farfield.tasks import Task\nclass A(Task): pass", "expected one dataclass"),
        ("1 / 0", "cannot be loaded (ZeroDivisionError: division by zero)"),
    ],
)
def test_files_that_are_no_tasks_are_refused(capsys, tmp_path, text, said):
    file = tmp_path / "odd.py"
    file.write_text(text)
    assert exit_code("run", file) == 2
    assert said in capsys.readouterr().err


def test_options_take_the_type_of_their_default(slider):
    kind = registry.find_task(str(slider))
    task = with_options(kind, {"place": "1", "brake": "yes", "frames": "7", "mode": "end"})
    assert task.options() == {"place": 1.0, "frames": 7, "iterations": 4, "mode": "end", "brake": True}
    with pytest.raises(ValueError, match="brake: 'maybe', expected true or false"):
        with_options(kind, {"brake": "maybe"})


def test_a_window_is_shifted_and_ends_when_nothing_is_left_to_gain(rail):
    objective, driver = rail()
    for _ in range(3):
        driver.advance()
    assert driver.frame == 1
    state = driver.state()
    applied = driver.inputs().controls[0, 0]
    start = ff.State(q=state["q"][0], v=state["v"][0])
    one = objective.roll(RolloutInput(np.array([[applied]]), start), tolerance=1e-8)
    assert np.array_equal(one.q[-1], state["q"][1])
    assert np.array_equal(state["x"][-1], state["x"][-2])  # the last row is repeated
    assert not np.array_equal(state["x"][-2], state["x"][-3])
    objective.loss = ReachLoss(["cart"], [[0.0, 0.0, 0.0]], 10.0)
    row = driver.advance()
    assert row["loss"] == 0.0 and driver.frame == 2
    assert driver.inputs().controls[1, 0] == state["x"][0, 0]


def test_the_first_window_may_have_more_iterations_and_projections_hold(rail):
    _, driver = rail(first_iterations=6, projection=lambda state: Box(-1.0, 0.05))
    assert driver.total == 6 + 4 * 3
    rows = []
    while not driver.done:
        rows.append(driver.advance())
    assert [row["frame"] for row in rows].count(0) == 6
    assert len(rows) == driver.total
    assert driver.inputs().controls.max() == 0.05


def test_a_rollout_that_fails_sends_the_window_half_the_way_back(rail):
    objective, driver = rail(iterations=5)
    driver.advance()
    good, tried = np.zeros((6, 1)), driver.state()["x"]
    objective.max_iterations, objective.tolerance = 1, 1e-300
    row = driver.advance()
    assert row["loss"] == np.inf and row["gradient_norm"] is None
    assert np.array_equal(driver.state()["x"], 0.5 * (good + tried))
    objective.state = ff.State(q=np.zeros(1), v=np.ones(1))
    driver = RecedingHorizon(objective, Adam(0.02), frames=5, iterations=5)
    with pytest.raises(Stuck, match="first rollout ended with 'max_iterations'"):
        driver.advance()


def test_a_run_that_is_stuck_says_so_and_keeps_what_it_has(slider, tmp_path, monkeypatch, capfd):
    advance = RecedingHorizon.advance

    def stuck(driver):
        if driver.frame == 2:
            raise Stuck("step 3 ended with 'max_iterations'")
        return advance(driver)

    monkeypatch.setattr(RecedingHorizon, "advance", stuck)
    assert exit_code("run", slider, "--contact", "none", "--out", tmp_path / "run", "--json") == 1
    output = capfd.readouterr()
    result = json.loads(output.out)
    assert result["success"] is False and result["stuck"] == "step 3 ended with 'max_iterations'"
    assert "stuck: step 3" in output.err
    assert recorded(tmp_path / "run").num_frames == 3


def run_push(folder, *more):
    return exit_code("run", "push", *QUICK, "--out", folder, "--quiet", *more)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A short run of push from beginning to end."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    assert run_push(folder) == 1  # too short to get there
    return RunDir.open(folder)


def same_bits(one, other):
    assert one.file(TRAJECTORY).read_bytes() == other.file(TRAJECTORY).read_bytes()
    drop = ("seconds", "cpu_seconds")
    rows = [[{k: v for k, v in row.items() if k not in drop} for row in run.read_metrics()] for run in (one, other)]
    assert rows[0] == rows[1]


@pytest.mark.parametrize("stop", [1, 3, 6])
def test_a_stopped_run_continues_with_the_same_bits(whole, tmp_path, stop):
    settings = {"frames": "4", "horizon": "5", "first_iterations": "3", "iterations": "2"}
    task = with_options(registry.find_task("push"), settings)
    run = runner.start(task, seed=0, contact="longrange", method="adjoint", out=tmp_path / "run")
    assert runner.execute(run, quiet=True, stop_after=stop) is False
    run.folder.append_metrics({"loss": 1.0})  # of an iteration that came after the checkpoint
    assert exit_code("run", "push", "--resume", "--out", tmp_path / "run", "--quiet") == 1
    same_bits(whole, RunDir.open(tmp_path / "run"))


def test_ctrl_c_leaves_a_usable_run_that_can_go_on(whole, tmp_path, monkeypatch, capfd):
    advance = RecedingHorizon.advance

    def interrupted(driver):
        if driver.frame == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return advance(driver)

    monkeypatch.setattr(RecedingHorizon, "advance", interrupted)
    handler = signal.getsignal(signal.SIGINT)  # may be ignored, when all of this runs in the background
    assert run_push(tmp_path / "run", "--json") == 130
    result = json.loads(capfd.readouterr().out)
    assert result["complete"] is False and result["success"] is False and result["certified"] is True
    run = RunDir.open(tmp_path / "run")
    assert recorded(run.path).num_frames == 3
    assert run.file("replay.html").is_file() and run.file("checkpoint.npz").is_file()
    assert signal.getsignal(signal.SIGINT) == handler
    monkeypatch.undo()
    assert exit_code("run", "push", "--resume", "--out", tmp_path / "run", "--quiet") == 1
    same_bits(whole, RunDir.open(tmp_path / "run"))


def test_resuming_keeps_to_the_options_of_the_run(capsys, whole):
    for arguments, named in (
        (["--set", "frames=9"], "frames"),
        (["--seed", "3"], "seed"),
        (["--contact", "none"], "contact"),
    ):
        assert exit_code("run", "push", "--resume", "--out", whole.path, *arguments) == 2
        assert f"was started with other values of {named}; resume without them" in capsys.readouterr().err


def test_a_new_run_in_an_old_folder_starts_afresh(whole, tmp_path):
    assert run_push(tmp_path / "run", "--seed", "4") == 1
    assert run_push(tmp_path / "run") == 1
    same_bits(whole, RunDir.open(tmp_path / "run"))


def test_a_study_tells_how_many_seeds_succeed_and_repeats_nothing(slider, tmp_path, capfd, monkeypatch):
    command = ["study", slider, "--seeds", 2, "--contact", "none", "--out", tmp_path / "study"]
    assert exit_code(*command, "--json") == 0
    output = capfd.readouterr()
    summary = json.loads(output.out)
    assert summary["successes"] == summary["seeds"] == 2
    assert [result["seed"] for result in summary["results"]] == [0, 1]
    assert json.loads((tmp_path / "study" / "study.json").read_text()) == summary
    assert "slide: 2 of 2 seeds" in output.err
    monkeypatch.setattr(RecedingHorizon, "advance", None)  # nothing is computed again
    assert exit_code(*command, "--json", "--quiet") == 0
    assert json.loads(capfd.readouterr().out) == summary
    assert exit_code(*command, "--set", "frames=3") == 2
    assert "holds a run with other options" in capfd.readouterr().err


def test_gradcheck_takes_tasks(slider, tmp_path, capsys):
    command = ["gradcheck", slider, "--contact", "none", "--out", tmp_path / "check", "--json", "--quiet"]
    assert exit_code(*command) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["cases"]
    assert RunDir.open(tmp_path / "check").config["options"]["dt"] == 0.05  # the task's
    assert (tmp_path / "check" / "gradcheck.png").is_file()


def test_a_run_shows_target_paths_forces_and_field(whole, tmp_path, capsys):
    recording = recorded(whole.path)
    assert [marker.flat for marker in recording.markers] == [False, True]
    assert set(recording.trails) == {"rod path", "box path"}
    forces, field = recording.arrows[FORCES], recording.arrows[FIELD]
    assert all(len(arrows) == 2 for arrows in forces)  # rod and box
    rise = forces[-1][1, 1] - forces[-1][1, 0]
    assert rise[2] > 0.9 * np.linalg.norm(rise)  # the ground carries the box
    start, end = field[0][:, 0], field[0][:, 1]
    box = recording.poses[0, 2, :2]
    outwards = ((end - start)[:, :2] * (start[:, :2] - box)).sum(axis=1)
    assert len(start) > 100 and np.mean(outwards > 0) > 0.99  # the box pushes the rod away everywhere
    assert exit_code("view", whole.path, "--png", tmp_path / "still.png", "--frames", "0,4", "--elevation", "40") == 0
    assert (tmp_path / "still.png").stat().st_size > 5_000
    assert exit_code("view", whole.path, "--png", tmp_path / "still.png", "--frames", "0,x") == 2
    assert "expected whole numbers with commas" in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(6))
def test_push_starts_trivially_with_the_rod_in_the_way(seed):
    problem = Push().build(seed)
    model, state = problem.model, problem.model.default_state()
    assert model.num_dofs == 12 and model.num_controls == 6
    assert ("rod", "box") in model.contact_pairs and ("world", "rod") in model.contact_pairs
    surfaces = {model.body_names[item.body]: item for item in model.drawables()}
    assert len(surfaces["rod"].triangles) == 12
    np.testing.assert_allclose(np.ptp(surfaces["box"].vertices, axis=0), 0.4)
    target = problem.loss.targets[0]
    poses = ff.forward_kinematics(model, problem.parameters, state.q)
    rod, box = poses[model.body("rod"), :2], poses[model.body("box"), :2]
    bearing = [np.arctan2(*(place - box)[::-1]) for place in (target, rod)]
    assert abs((bearing[0] - bearing[1] + np.pi) % (2 * np.pi) - np.pi) <= np.pi / 4
    assert 1.0 <= np.linalg.norm(target - box) <= 1.5
    assert np.linalg.norm(rod - box) < np.linalg.norm(target - box)
    assert not state.v.any()
    coordinates = [poses[model.body("rod"), 0], poses[model.body("rod"), 1], poses[model.body("rod"), 2]]
    controls = problem.parameterization.decode(problem.parameterization.initial()).controls
    np.testing.assert_allclose(controls[:, :3], np.tile(coordinates, (48, 1)), atol=1e-12)
    np.testing.assert_allclose(controls, np.tile(state.q[:6], (48, 1)), atol=1e-12)
    gap = min(
        item.distance for item in ff.closest_points(model, problem.parameters, state.q) if {item.a, item.b} == {1, 2}
    )
    assert gap > 0.08
    friction = np.asarray(problem.parameters.friction)
    assert np.all((friction >= 0.3) & (friction <= 0.5))


def test_push_feels_the_box_from_a_distance_and_its_gradient_is_right():
    problem = with_options(Push, {"horizon": "6"}).build(1)
    contact = ff.LongRange(**problem.contact_options["longrange"])
    objective = Adjoint(
        problem.model,
        problem.parameters,
        problem.parameterization,
        problem.loss,
        dt=0.04,
        contact=contact,
        tolerance=1e-11,
    )
    x = problem.parameterization.initial()
    (here,) = objective.evaluate([x])
    assert here.trajectory.min_gap > 0
    towards = np.linalg.norm(here.gradient[:-1], axis=1)
    assert np.all(towards > 1e-12)  # every control but the last, which no state before the end feels in full
    direction = np.random.default_rng(0).standard_normal(x.shape)
    from farfield.differences import slope

    def value(h):
        return objective.evaluate([x + h * direction])[0].value

    assert slope(value).relative_error(float((here.gradient * direction).sum())) < 1e-4


def test_the_default_reach_has_no_traps_and_a_short_one_has(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "examples" / "python")
    import push_landscape as landscape

    monkeypatch.setattr(landscape, "ANGLES", landscape.ANGLES[::2])
    problem = Push().build(0)
    contact = ff.LongRange(**problem.contact_options["longrange"])
    assert landscape.trapped(landscape.forces_on_box(problem, contact, 0.4)) >= 5
    assert landscape.trapped(landscape.forces_on_box(problem, contact, Push().reach)) == 0


@pytest.mark.long
def test_push_goes_round_the_box_and_pushes_it_home(tmp_path):
    assert exit_code("run", "push", "--out", tmp_path / "run", "--quiet") == 0
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result["success"] and result["certified"] and result["min_gap"] > 0
