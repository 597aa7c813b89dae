# SPDX-License-Identifier: Apache-2.0
"""The command line: arguments, exit codes, JSON and what is left on disk."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import farfield
from command_line import exit_code
from farfield import cli
from farfield.experiments.runs import TRAJECTORY, RunDir
from run_directory import recorded

SCENE = """<mujoco><worldbody>
  <geom type="plane" size="0 0 1"/>
  <body name="torso" pos="0 0 1"><freejoint/><geom type="box" size=".1 .1 .1" margin=".01"/></body>
</worldbody><keyframe><key name="high" qpos="0 0 9 1 0 0 0"/></keyframe></mujoco>"""


@pytest.fixture
def scene(tmp_path):
    file = tmp_path / "box.xml"
    file.write_text(SCENE)
    return file


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "COMMAND"),
        (["fly"], "invalid choice"),
        (["simulate"], "FILE"),
        (["simulate", "a.xml", "--steps", "0"], "expected a whole number >= 1"),
        (["simulate", "a.xml", "--steps", "1.5"], "expected a whole number >= 1"),
        (["simulate", "a.xml", "--dt", "-0.1"], "expected a number > 0"),
        (["simulate", "a.xml", "--dt", "nan"], "expected a number > 0"),
        (["view", "run", "--port", "70000"], "expected 0 to 65535"),
    ],
)
def test_argument_errors_exit_2(capsys, arguments, said):
    assert exit_code(*arguments) == 2
    output = capsys.readouterr()
    assert said in output.err
    assert output.out == ""


def test_version(capsys):
    assert exit_code("--version") == 0
    assert capsys.readouterr().out.strip() == f"farfield {farfield.__version__}"


def test_bad_input_is_one_line_without_trace(capsys, scene, tmp_path):
    broken = tmp_path / "broken.xml"
    broken.write_text("hello")
    cases = [
        (["simulate", tmp_path / "none.xml"], "none.xml: no such file"),
        (["simulate", broken], "not readable as XML"),
        (["simulate", tmp_path], "is a folder, expected a regular file"),
        (["simulate", scene, "--key", "low"], "keyframe 'low' is unknown; the file has: 'high'"),
        (["simulate", scene, "--contact", "magic"], "contact model 'magic' is unknown"),
        (["simulate", scene, "--out", scene], "is a file, expected a directory"),
        (["simulate", scene, "--out", tmp_path], "not empty and not a run directory"),
        (["view", tmp_path / "none"], "no such run directory"),
        (["view", tmp_path], "not a run directory"),
    ]
    for arguments, said in cases:
        assert exit_code(*arguments) == 2, arguments
        output = capsys.readouterr()
        lines = [line for line in output.err.splitlines() if not line.startswith("warning: ")]
        assert len(lines) == 1, output.err
        assert said in lines[0]
        assert output.out == ""


def test_debug_variable_shows_the_trace(monkeypatch, tmp_path):
    monkeypatch.setenv("FARFIELD_DEBUG", "1")
    with pytest.raises(ValueError, match="no such file"):
        cli.main(["simulate", str(tmp_path / "none.xml")])


def test_simulate_prints_exactly_one_json_object(capfd, scene, tmp_path):
    arguments = ["simulate", scene, "--steps", 250, "--dt", 0.01, "--contact", "none", "--json"]
    assert exit_code(*arguments, "--out", tmp_path / "run") == 0
    output = capfd.readouterr()
    result = json.loads(output.out)
    assert output.out.count("\n") == 1
    assert set(result) == {
        "steps", "converged", "seconds", "min_gap", "detours", "final", "dt", "excluded_pairs",
        "cut_steps", "most_pieces", "contact_evaluations",
    }  # fmt: skip
    assert result["steps"] == 250
    assert result["converged"] is True
    assert result["min_gap"] is None
    height = 1.0 - 9.81 * 0.01**2 * 250 * 251 / 2
    np.testing.assert_allclose(result["final"]["torso"]["pos"], [0, 0, height], rtol=1e-9, atol=1e-9)
    assert result["final"]["world"]["quat"] == [1, 0, 0, 0]
    assert "margin" in output.err


def test_simulate_leaves_a_complete_run_directory(scene, tmp_path):
    folder = tmp_path / "run"
    assert exit_code("simulate", scene, "--steps", 30, "--key", "high", "--out", folder, "--quiet") == 0
    run = RunDir.open(folder)
    assert run.config["options"]["steps"] == 30
    motion = farfield.load_trajectory(run.file(TRAJECTORY))
    assert motion.q.shape == (31, 7) and motion.converged
    recording = recorded(run.path)
    assert recording.num_frames == 31
    assert recording.poses[0, 1, 2] == 9.0
    assert run.file("replay.html").stat().st_size > 100_000
    assert not [file for file in folder.iterdir() if file.name.startswith(".")]
    assert exit_code("view", folder, "--html", tmp_path / "again.html") == 0
    assert (tmp_path / "again.html").stat().st_size > 100_000


def test_simulate_has_contact_and_reports_the_gap(capfd, scene, tmp_path):
    arguments = ["simulate", scene, "--steps", 5, "--json", "--quiet"]
    assert exit_code(*arguments, "--out", tmp_path / "run") == 0
    output = capfd.readouterr()
    assert 0.7 < json.loads(output.out)["min_gap"] < 0.9


def test_simulate_traces_iterations_and_names_what_limits_them(capfd, scene, tmp_path):
    arguments = ["simulate", scene, "--steps", 45, "--dt", "0.02", "--trace", "--quiet"]
    assert exit_code(*arguments, "--out", tmp_path / "run") == 0
    lines = capfd.readouterr().out.splitlines()
    steps = [line for line in lines if line.startswith("step ")]
    motion = farfield.load_trajectory(RunDir.open(tmp_path / "run").file(TRAJECTORY))
    assert len(steps) == 45
    for line, report in zip(steps, motion.reports, strict=True):
        assert f": converged, {report.iterations} iterations, {report.contact_evaluations} contact" in line
    total = sum(report.iterations for report in motion.reports)
    assert sum(line.startswith("   0 + 1") for line in lines) == total
    assert any(line.endswith("world - torso") for line in lines)
    assert f"{total} iterations, " in lines[-2] and lines[-1].endswith("  world - torso")
    assert exit_code(*arguments, "--json", "--out", tmp_path / "json") == 0
    output = capfd.readouterr()
    assert json.loads(output.out)["steps"] == 45 and "limited by" in output.err


def test_steps_that_were_cut_are_told_and_kept(capfd, scene, tmp_path):
    for most in range(4, 20):  # the fewest iterations with which it arrives: too few for the hit as a whole
        arguments = ["simulate", scene, "--steps", 60, "--dt", "0.02", "--max-iterations", most]
        code = exit_code(*arguments, "--out", tmp_path / "run", "--json")
        output = capfd.readouterr()
        if code == 0:
            break
        shutil.rmtree(tmp_path / "run")
    result = json.loads(output.out)
    assert result["cut_steps"] > 0 and result["most_pieces"] > 1
    assert f"{result['cut_steps']} steps were taken in pieces" in output.err
    motion = farfield.load_trajectory(RunDir.open(tmp_path / "run").file(TRAJECTORY))
    assert sum(report.pieces - 1 for report in motion.reports) == len(motion.cuts)
    assert farfield.rollout_vjp(motion, dL_dq=np.ones((61, 6))).q0.any()


def test_an_unconverged_simulation_exits_1_and_keeps_what_it_has(capfd, scene, tmp_path):
    arguments = ["simulate", scene, "--steps", 300, "--dt", "0.02", "--max-iterations", 4]
    assert exit_code(*arguments, "--out", tmp_path / "run", "--json") == 1
    output = capfd.readouterr()
    result = json.loads(output.out)
    assert result["converged"] is False
    assert 10 < result["steps"] < 30  # it falls freely until it comes near the ground
    assert "max_iterations" in output.err
    assert recorded(tmp_path / "run").num_frames == result["steps"] + 1


def test_interrupting_a_simulation_keeps_what_it_has(capfd, monkeypatch, scene, tmp_path):
    class Interrupted(farfield.Simulation):
        def step(self, control):
            if self.num_steps == 7:
                raise KeyboardInterrupt
            return super().step(control)

    monkeypatch.setattr(farfield, "Simulation", Interrupted)
    assert exit_code("simulate", scene, "--steps", 500, "--out", tmp_path / "run", "--json") == 130
    assert json.loads(capfd.readouterr().out)["steps"] == 7
    assert recorded(tmp_path / "run").num_frames == 8
    assert (tmp_path / "run" / "replay.html").is_file()


def test_a_simulation_takes_what_the_command_line_says_of_its_steps(capfd, scene, tmp_path):
    ends = []
    for stiffness in ("0.01", "100"):
        arguments = ["simulate", scene, "--steps", 200, "--stiffness", stiffness, "--threads", 2, "--quiet", "--json"]
        assert exit_code(*arguments, "--out", tmp_path / stiffness) == 0
        ends.append(json.loads(capfd.readouterr().out)["final"]["torso"]["pos"][2])
    assert ends[0] < ends[1] - 1e-4
    assert exit_code("simulate", scene, "--stiffness", 2, "--contact", "none") == 2
    assert "--stiffness 2: there is no contact" in capfd.readouterr().err


def test_a_simulation_goes_on_as_a_rollout_does(capfd, scene, tmp_path):
    assert exit_code("simulate", scene, "--steps", 130, "--dt", "0.01", "--quiet", "--out", tmp_path / "run") == 0
    model, parameters = farfield.load(scene)
    whole = farfield.rollout(model, parameters, model.default_state(), np.zeros((130, 0)), dt=0.01)
    kept = farfield.load_trajectory(tmp_path / "run" / TRAJECTORY)
    np.testing.assert_array_equal(kept.q, whole.q)


def test_without_out_a_run_gets_its_own_folder(monkeypatch, scene, tmp_path):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert exit_code("simulate", scene, "--steps", 2, "--quiet") == 0
    names = sorted(folder.name for folder in (tmp_path / "runs").iterdir())
    assert len(names) == 2
    assert all("-simulate-box" in name for name in names)


def test_view_serves_until_interrupted(monkeypatch, capfd, scene, tmp_path):
    from farfield.viewer import server

    assert exit_code("simulate", scene, "--steps", 5, "--out", tmp_path / "run", "--quiet") == 0
    RunDir.open(tmp_path / "run").append_metrics({"loss": 1.0})
    seen = []

    def interrupt(player, seconds):
        seen.append(player)
        raise KeyboardInterrupt

    monkeypatch.setattr(server.Player, "advance", interrupt)
    capfd.readouterr()
    assert exit_code("view", tmp_path / "run", "--port", 0) == 0
    output = capfd.readouterr()
    assert len(seen) == 1
    assert output.out == ""
    assert "http://127.0.0.1:" in output.err


def test_help_is_quick_and_loads_nothing_heavy():
    code = (
        "import sys; from farfield import cli\n"
        "try:\n    cli.main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'viser', 'matplotlib', 'mujoco', 'rich', 'tqdm', 'PIL'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    for name, _, _ in cli.COMMANDS:
        assert name in done.stdout
