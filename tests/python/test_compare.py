# SPDX-License-Identifier: Apache-2.0
"""`farfield compare`: the same seeds, starts and seconds for every method; stopping, going on, and engines from outside."""

import json
import os
import re
import signal
from pathlib import Path

import numpy as np
import pytest

import farfield as ff
from command_line import exit_code
from farfield.experiments import compare, registry, runner, tuning
from farfield.experiments.compare import Curve
from farfield.experiments.runner import Setup
from farfield.experiments.runs import TRAJECTORY, RunDir
from farfield.optimize import RecedingHorizon, starts
from farfield.tasks.push import Push

ROOT = Path(__file__).parents[2]

SHOVE = '''
"""A cart on a rail has to bring another one, some way off, to a place: little to compute, with contact."""
from dataclasses import dataclass

import numpy as np

import farfield as ff
from farfield.optimize import Adam, DirectTargets, ReachLoss, RecedingHorizon
from farfield.tasks import Problem, Task, option


@dataclass(frozen=True)
class Shove(Task):
    """Shove a cart to a place."""

    frames: int = option(4, "steps", above=0)
    iterations: int = 2

    def build(self, seed):
        scene = ff.Scene(name="rail", gravity=[0, 0, 0])
        for k, name in enumerate(("pusher", "cart")):
            scene.add_body(name=name, position=[0.5 * k, 0, 0])
            scene.add_joint(name, name=name, type="Slide", axis=[1, 0, 0])
            scene.add_shape(name, type="Box", size=[0.1, 0.1, 0.1], density=100.0)
        scene.add_actuator(name="drive", type="Pd", joint="pusher", kp=2000.0, kd=250.0, velocity_input=False)
        model = ff.build_model(scene)
        loss = ReachLoss(["cart"], [[0.6 + 0.05 * seed, 0.0, 0.0]], 0.02)
        return Problem(
            model=model,
            parameters=model.default_parameters(),
            parameterization=DirectTargets(np.zeros((5, 1))),
            loss=loss,
            driver=lambda objective: RecedingHorizon(
                objective, Adam(0.05), frames=self.frames, iterations=self.iterations
            ),
            success=lambda motion: bool(loss.distances(motion)[-1, 0] <= 0.02),
            report=lambda motion: {"distance": loss.distances(motion)[-1, 0]},
            dt=0.05,
        )
'''


@pytest.fixture
def shove(tmp_path):
    file = tmp_path / "shove.py"
    file.write_text(SHOVE)
    return file


def compared(folder):
    return json.loads((folder / "compare.json").read_text())


def losses(summary):
    """What does not depend on the clock."""
    keys = ("entry", "start", "seed", "success", "iterations", "steps", "loss_initial", "loss_final", "min_gap")
    return [{key: each.get(key) for key in keys} for each in summary["results"]]


def test_all_methods_have_the_same_seeds_starts_and_budget(shove, tmp_path, capfd, monkeypatch):
    command = [
        "compare",
        shove,
        "--tune-seconds",
        0,
        "--seeds",
        1,
        "--start-samples",
        3,
        "--budget-seconds",
        1e6,
        "--out",
        tmp_path / "out",
    ]
    methods = ("longrange", "polyhedral", "ipc", "mujoco-fd", "bundle")
    assert exit_code(*command, "--json", "--method-set", "bundle:samples=2") == 0
    output = capfd.readouterr()
    summary = json.loads(output.out)
    assert output.out.count("\n") == 1
    assert summary == compared(tmp_path / "out") and summary["complete"] is True
    done = {(each["entry"], each["start"], each["seed"]) for each in summary["results"]}
    assert done == {(m, s, k) for m in methods for s in ("trivial", "sampled") for k in (0,)}
    assert [(row["entry"], row["start"]) for row in summary["rows"]] == [
        (m, s) for s in ("trivial", "sampled") for m in methods
    ]
    assert summary["methods"]["bundle"]["contact"] == "ipc"
    assert summary["methods"]["bundle"]["method_set"] == {"samples": "2"}
    assert summary["methods"]["mujoco-fd"]["contact"] == "mujoco"
    for row in summary["rows"]:
        assert row["runs"] == 1 and row["cut_off"] == 0 and row["error"] is None
        assert row["certified"] == (0 if row["entry"] == "mujoco-fd" else 1)
    apart = {each["entry"]: each for each in summary["results"] if (each["start"], each["seed"]) == ("trivial", 0)}
    assert apart["ipc"]["loss_final"] == apart["ipc"]["loss_initial"]  # its gradient is zero
    assert apart["longrange"]["loss_final"] < apart["longrange"]["loss_initial"]
    assert (tmp_path / "out" / "compare.png").stat().st_size > 20_000
    assert (tmp_path / "out" / "ipc-sampled-seed-0" / "replay.html").is_file()
    assert "success: in the method's own simulator" in output.err
    monkeypatch.setattr(RecedingHorizon, "advance", None)  # nothing is computed again
    assert exit_code(*command, "--quiet", "--method-set", "bundle:samples=2") == 0
    assert compared(tmp_path / "out")["results"] == summary["results"]
    assert exit_code(*command, "--quiet") == 2  # without the option it is another bundle
    assert "bundle-trivial-seed-0: holds a run with other options" in capfd.readouterr().err
    assert exit_code(*command[:-4], "--budget-seconds", 5, "--out", tmp_path / "out") == 2
    assert "holds a comparison with another task, option or budget" in capfd.readouterr().err


def test_ctrl_c_leaves_what_is_there_and_the_rest_follows(shove, tmp_path, monkeypatch):
    def command(folder):
        methods = "longrange,ipc"
        return exit_code(
            "compare",
            shove,
            "--tune-seconds",
            0,
            "--seeds",
            1,
            "--methods",
            methods,
            "--start-samples",
            2,
            "--out",
            folder,
            "--quiet",
        )

    assert command(tmp_path / "whole") == 0
    advance, calls = RecedingHorizon.advance, []

    def interrupted(driver):
        calls.append(driver)
        if len(calls) == 10:  # in the second run
            os.kill(os.getpid(), signal.SIGINT)
        return advance(driver)

    monkeypatch.setattr(RecedingHorizon, "advance", interrupted)
    assert command(tmp_path / "part") == 130
    part = compared(tmp_path / "part")
    assert part["complete"] is False and 1 <= len(part["results"]) < 4
    assert (tmp_path / "part" / "compare.png").is_file()
    monkeypatch.setattr(runner, "best_sample", lambda *arguments: os.kill(os.getpid(), signal.SIGINT))
    monkeypatch.setattr(RecedingHorizon, "advance", advance)
    # may be ignored, when all of this runs in the background
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    assert command(tmp_path / "part") == 130  # while it samples, before any iteration
    signal.signal(signal.SIGINT, handler)
    assert compared(tmp_path / "part")["complete"] is False
    monkeypatch.undo()
    assert command(tmp_path / "part") == 0
    assert losses(compared(tmp_path / "part")) == losses(compared(tmp_path / "whole"))


@pytest.mark.parametrize("clock", ["wall", "cpu"])
def test_runs_that_are_cut_off_are_marked_and_judged_by_their_plan(shove, tmp_path, capfd, clock):
    command = [
        "compare",
        shove,
        "--tune-seconds",
        0,
        "--seeds",
        1,
        "--methods",
        "longrange",
        "--starts",
        "trivial",
        "--clock",
        clock,
    ]
    assert exit_code(*command, "--budget-seconds", 1e-9, "--out", tmp_path / "out", "--json") == 0
    output = capfd.readouterr()
    (result,) = json.loads(output.out)["results"]
    assert result["cut_off"] is True and result["complete"] is True and result["success"] is False
    assert "1 cut off" in output.err
    motion = ff.load_trajectory(tmp_path / "out" / "longrange-trivial-seed-0" / TRAJECTORY)
    assert motion.controls.shape == (4, 1)  # the plan, held to the last frame


def test_the_plan_of_a_window_is_what_is_left_of_it(shove):
    task = registry.find_task(str(shove))(frames=9)
    run = runner.prepare(task, 0, Setup())
    for _ in range(5):  # two frames and half a window
        run.driver.advance()
    applied, plan = run.driver.inputs().controls, run.driver.planned(lambda inputs: inputs).controls
    assert applied.shape == (2, 1) and plan.shape == (9, 1)
    assert np.array_equal(plan[:2], applied)
    assert np.array_equal(plan[2:7], run.driver.state()["good"])
    assert np.array_equal(plan[7:], plan[[6, 6]])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fly"], "task 'fly' is unknown"),
        (["push", "--methods", "magic"], "method 'magic' is unknown, expected some of: longrange, polyhedral"),
        (["push", "--methods", "none.py"], "none.py: no such file"),
        (["push", "--methods", ","], "',', expected at least one name"),
        (["push", "--starts", "warm"], "--starts warm: 'warm', expected some of: trivial, sampled"),
        (["push", "--method-set", "samples=3"], "--method-set samples=3: expected method:key=value"),
        (["push", "--method-set", "bundle:samples=0"], "option samples: 0, expected > 0"),
        (["push", "--method-set", "bundle:size=1"], "option 'size' is unknown; method bundle has: samples"),
        (["push", "--methods", "ipc", "--method-set", "bundle:samples=1"], "method 'bundle', which does not take part"),
        (["push", "--set", "height=3"], "option 'height' is unknown; push has: frames"),
    ],
)
def test_mistakes_are_one_line(capsys, monkeypatch, tmp_path, arguments, said):
    monkeypatch.chdir(tmp_path)
    assert exit_code("compare", *arguments) == 2
    output = capsys.readouterr()
    assert said in output.err and output.err.count("\n") == 1
    assert not (tmp_path / "runs").exists()


def test_draws_are_the_same_for_every_method_and_the_best_is_taken(shove):
    task = registry.find_task(str(shove))()
    problem = task.build(0)
    draws = starts.draw(problem.parameterization, problem.sample, 0, 5)
    assert all(
        np.array_equal(a, b)
        for a, b in zip(draws[:3], starts.draw(problem.parameterization, problem.sample, 0, 3), strict=True)
    )
    assert not np.array_equal(draws[0], starts.draw(problem.parameterization, problem.sample, 1, 1)[0])
    chosen = {}
    for name in ("longrange", "ipc", "mujoco-fd"):
        run = runner.prepare(task, 0, Setup(**compare.ENTRIES[name], start="sampled", start_samples=5))
        x = run.objective.parameterization.initial()
        values = [run.objective.loss(motion)[0] for motion in run.objective.simulate([np.zeros((5, 1)), *draws])]
        assert np.array_equal(x, [np.zeros((5, 1)), *draws][int(np.argmin(values))])
        assert np.array_equal(run.driver.state()["x"], x)
        chosen[name] = x
    assert run.objective.rollouts == 12  # sampling counts
    with pytest.raises(ValueError, match="start 'warm', expected trivial or sampled"):
        runner.prepare(task, 0, Setup(start="warm"))


def test_pushs_random_motions_stay_within_reach():
    problem = Push().build(0)
    for x in starts.draw(problem.parameterization, problem.sample, 0, 5):
        assert np.array_equal(x[0], problem.model.default_control())
        # straight lines between points of a disc and the rest pose, which is within it, too
        assert np.all(np.linalg.norm(x[:, :2], axis=1) <= 0.7 + 1e-12)
        assert np.all(np.abs(x[:, 2] - x[0, 2]) <= 0.1) and np.all(np.abs(x[:, 4:]) <= 0.2)
    assert starts.curve(np.array([[0.0], [1.0], [0.0]]), 5)[:, 0].tolist() == [0.0, 0.5, 1.0, 0.5, 0.0]


@pytest.mark.parametrize("name", ["gather", "sort", "ant-push"])
def test_sampled_starts_reach_the_driver(name):
    task = registry.find_task(name)(frames=6)
    run = runner.prepare(task, 0, Setup(start="sampled"), draw=False)
    point = starts.draw(run.problem.parameterization, run.problem.sample, 0, 1)[0]
    assert point.shape == run.problem.parameterization.initial().shape
    assert not np.array_equal(point, run.problem.parameterization.initial())
    run.objective.parameterization = starts.Started(run.problem.parameterization, point)
    state = run.problem.driver(run.objective).state()
    assert np.array_equal(state.get("x", state.get("start0.x")), point)


def test_starts_that_intersect_count_as_failures():
    class Refusing:
        def simulate(self, points):
            if any(point[0] > 0.0 for point in points):
                raise ValueError("rollout: state0: bodies 'a' and 'b' intersect at (0, 0, 0)")
            return [type("T", (), {"converged": point[0] > -2.0, "point": point})() for point in points]

        def loss(self, trajectory):
            return float(trajectory.point[0] ** 2), None

    assert starts._losses(Refusing(), [np.array([x]) for x in (-1.0, 1.0, -3.0)]) == [1.0, np.inf, np.inf]
    with pytest.raises(ValueError, match="shape"):
        starts._losses(type("Broken", (), {"simulate": lambda self, points: np.zeros(3).reshape(2)})(), [np.zeros(1)])


def test_a_billiards_start_from_outside_replaces_the_ring():
    task = registry.find_task("billiards")()
    run = runner.prepare(task, 0, Setup(start="sampled"), draw=False)
    assert len(run.driver.starts) == 1
    assert np.array_equal(run.driver.starts[0].x, run.problem.parameterization.initial())
    shot = run.problem.sample(np.random.default_rng(0))
    assert shot.shape == (4,) and 1.5 <= np.linalg.norm(shot[2:]) <= 3.0


def test_the_median_holds_runs_that_have_ended():
    short = Curve(np.array([1, 2]), np.array([0.5, 1.0]), np.array([1.0, 0.0]), True, False)
    long = Curve(np.array([1, 2, 3]), np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.8, 0.6]), False, True)
    grid, median = compare.median_curve([short, long], "iterations")
    assert grid.tolist() == [1, 2, 3] and median.tolist() == [1.0, 0.4, 0.3]
    grid, median = compare.median_curve([short, long], "seconds")
    assert grid[-1] == 3.0 and median[0] == 1.0 and median[-1] == 0.3


@pytest.fixture
def flick(tmp_path):
    """The task of the tutorial."""
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "tutorial_task.md").read_text(), flags=re.DOTALL)
    file = tmp_path / "flick.py"
    file.write_text(code)
    return file


ENGINE = ROOT / "examples" / "python" / "spring_engine.py"


def test_an_engine_from_outside_takes_part(flick, tmp_path, capsys):
    command = [
        "compare",
        flick,
        "--tune-seconds",
        0,
        "--methods",
        f"longrange,{ENGINE}",
        "--seeds",
        1,
        "--start-samples",
        40,
    ]
    assert exit_code(*command, "--set", "iterations=3", "--out", tmp_path / "out", "--json", "--quiet") == 0
    summary = json.loads(capsys.readouterr().out)
    found = {(each["entry"], each["start"]): each for each in summary["results"]}
    assert len(found) == 4
    trivial, sampled = found["spring_engine", "trivial"], found["spring_engine", "sampled"]
    assert trivial["contact"] == "springs" and trivial["certified"] is False
    assert trivial["loss_final"] == trivial["loss_initial"]  # springs end where discs part
    assert sampled["seconds"] > 0.0 and sampled["iterations"] == 3
    assert found["longrange", "trivial"]["loss_final"] < found["longrange", "trivial"]["loss_initial"]
    assert (tmp_path / "out" / "spring_engine-sampled-seed-0" / "replay.html").is_file()


def test_the_engine_of_the_example_has_the_gradient_of_its_own_rollouts(flick):
    run = runner.prepare(registry.find_task(str(flick))(), 0, Setup(method=str(ENGINE)))
    x = np.array([1.8, -0.2])
    (here,) = run.objective.evaluate([x])
    motion = here.trajectory
    assert motion.min_gap < 0.0 and motion.q[-1, 7] > 0.05  # it hits, and the puck moves
    for k, unit in enumerate(np.eye(2)):
        up, down = (run.objective.loss(run.objective.simulate([x + s * 1e-4 * unit])[0])[0] for s in (1, -1))
        assert here.gradient[k] == pytest.approx((up - down) / 2e-4, rel=1e-2, abs=1e-6)
    assert run.objective.rollouts == 1 + 4 + 4


def test_scenes_that_an_engine_refuses_are_a_line_of_the_table(shove, tmp_path, capfd, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    command = [
        "compare",
        shove,
        "--tune-seconds",
        0,
        "--methods",
        ENGINE,
        "--starts",
        "trivial",
        "--seeds",
        1,
        "--out",
        tmp_path / "out",
    ]
    assert exit_code(*command) == 0
    (row,) = compared(tmp_path / "out")["rows"]
    assert row["error"] == "spring_engine: expected a scene of free bodies only"
    assert row["successes"] == 0
    assert "expected a scene of free bodies only" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1", "defines 0 methods, expected one class that derives from farfield.engines.Outside"),
        ("1 / 0", "cannot be loaded (ZeroDivisionError: division by zero)"),
    ],
)
def test_files_that_are_no_methods_are_refused(capsys, tmp_path, text, said):
    file = tmp_path / "odd.py"
    file.write_text(text)
    assert exit_code("run", "push", "--method", file) == 2
    assert said in capsys.readouterr().err


def test_an_engine_without_rollout_says_so(capsys, tmp_path, shove):
    file = tmp_path / "empty.py"
    file.write_text("from farfield.engines import Outside\nclass Empty(Outside): pass\n")
    assert exit_code("run", shove, "--method", file, "--out", tmp_path / "out") == 2
    assert "empty.py: Empty has no rollout" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_an_engine_that_declares_gradients_needs_them(tmp_path, shove):
    file = tmp_path / "liar.py"
    file.write_text(
        "from farfield.engines import Capabilities, Outside\nimport numpy as np\n"
        "class Liar(Outside):\n"
        "    capabilities = Capabilities(own_contact='none', gradients=True)\n"
        "    def rollout(self, state, controls):\n"
        "        rows = [np.tile(each, (len(controls) + 1, 1)) for each in (state.q, state.v)]\n"
        "        return self.trajectory(*rows, controls)\n"
    )
    run = runner.prepare(registry.find_task(str(shove))(), 0, Setup(method=str(file)))
    with pytest.raises(TypeError, match="Liar declares gradients but has no vjp"):
        run.driver.advance()
    with pytest.raises(ValueError, match="engine Liar has no Jacobian"):
        run.objective.jacobian(run.objective.parameterization.initial(), None)


def test_a_run_directory_executes_no_code(capsys, tmp_path, shove):
    """Its config.json may name a file as the method; only the command line may have it executed."""
    trace, method = tmp_path / "executed", tmp_path / "stranger.py"
    method.write_text(f"open({str(trace)!r}, 'w').close()\n{Path(ENGINE).read_text()}")
    task = registry.find_task(str(shove))()
    options = Setup(contact="springs", method=str(method)).config(task)
    folder = RunDir.create(task.name, options=options, seed=0, path=tmp_path / "seed-0")
    assert exit_code("run", shove, "--resume", "--out", folder.path) == 2
    assert f"method '{method}', a file that is loaded only when you name it" in capsys.readouterr().err
    assert exit_code("run", shove, "--resume", "--out", folder.path, "--method", "bundle") == 2
    assert exit_code("study", shove, "--seeds", 1, "--out", tmp_path) == 2
    assert "holds a run with other options" in capsys.readouterr().err
    assert exit_code("view", folder.path, "--html", tmp_path / "x.html") == 2  # nothing recorded
    assert not trace.exists()
    exit_code(
        "run", shove, "--resume", "--out", folder.path, "--method", method, "--quiet"
    )  # refuses this scene, but runs
    assert trace.exists()


def test_rivals_run_at_the_stiffness_that_is_best_for_them(shove, tmp_path, capfd, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    command = ["compare", shove, "--seeds", 1, "--methods", "longrange,ipc,mujoco-fd", "--starts", "trivial"]
    command += ["--budget-seconds", 1e6, "--set", "frames=1", "--out", tmp_path / "out"]
    assert exit_code(*command) == 0
    summary = compared(tmp_path / "out")
    assert [(each["entry"], each["stiffness"]) for each in summary["tuning"]["trials"]] == [
        ("ipc", 0.1),
        ("ipc", 1.0),
        ("ipc", 10.0),
    ]
    assert summary["tuning_seed"] == 1 and {each["seed"] for each in summary["results"]} == {0}
    chosen = summary["tuning"]["chosen"]
    assert chosen == {"ipc": 1.0}  # its gradient is zero at any stiffness from here: the nearest to 1
    assert {row["entry"]: row["stiffness"] for row in summary["rows"]} == {
        "longrange": 1.0,
        "ipc": 1.0,
        "mujoco-fd": 1.0,
    }
    assert "the best of 0.1, 1, 10 on seed 1 in 333333 s each: ipc 1" in capfd.readouterr().err
    trial = RunDir.open(tmp_path / "out" / "tuning" / "stiffness-10" / "ipc-trivial-seed-1")
    assert trial.config["options"]["stiffness"] == 10.0 and trial.config["seed"] == 1
    monkeypatch.setattr(RecedingHorizon, "advance", None)  # what is there is not tried again
    assert exit_code(*command, "--quiet") == 0
    assert exit_code(*command, "--tune-seconds", 7, "--quiet") == 2
    assert "holds a comparison with another task, option or budget" in capfd.readouterr().err


def test_the_best_stiffness_has_most_successes_then_the_smallest_loss_then_is_near_one():
    def trial(entry, stiffness, successes, loss):
        return {"entry": entry, "stiffness": stiffness, "successes": successes, "loss": loss}

    trials = [trial("a", 0.1, 1, 5.0), trial("a", 1.0, 0, 1.0), trial("a", 10.0, 1, 4.0)]
    trials += [trial("b", 0.1, 0, 2.0), trial("b", 1.0, 0, 2.0), trial("b", 10.0, 0, np.inf)]
    assert tuning.best(trials) == {"a": 10.0, "b": 1.0}
    entries = {"a": Setup(contact="ipc"), "b": Setup(contact="polyhedral"), "c": Setup()}
    plan = compare.Plan(Push(), entries, ["trivial"], range(3), 10.0)
    assert plan.tuning_seed == 3
    found = tuning.tuned(plan, trials)
    assert [setup.stiffness for setup in found.entries.values()] == [10.0, 1.0, 1.0]
    assert tuning.rivals(plan) == ["a", "b"]


def test_stiffness_is_that_of_the_model_around_what_the_task_gives():
    runs = [runner.prepare(Push(horizon=4), 0, Setup(contact="ipc", stiffness=value)) for value in (1.0, 10.0)]
    weights = [[pair[2] for pair in run.objective.contact.pair_weights(run.objective.model)] for run in runs]
    assert weights[1] == [10.0 * weight for weight in weights[0]]
    assert all(run.objective.parameters.contact_stiffness == 1.0 for run in runs)
    assert Setup.of(Setup(stiffness=10.0).config(Push())).stiffness == 10.0
