# SPDX-License-Identifier: Apache-2.0
"""Commands that are killed, asked to stop, or run out of disk or memory: nothing that was complete is lost; see faults.py."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import farfield as ff
from command_line import exit_code
from farfield.experiments import runner
from farfield.experiments.registry import find_task
from farfield.experiments.runs import CHECKPOINT, TRAJECTORY, RunDir
from farfield.grains import runner as grains_runner
from farfield.output import FolderLock
from farfield.reading import BadFile
from faults import COMMANDS, GRAINS, RUN, Box, contents, finish, kill_and_resume, reference

SCRIPT = Path(__file__).with_name("faults.py")
SIMULATE = ("simulate", "pendulum.xml", "--steps", "100000000", "--quiet", "--out", "out")


@pytest.fixture
def box(tmp_path, monkeypatch):
    """Where commands run, with a checkpoint after every iteration and frame."""
    monkeypatch.setattr(runner, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(grains_runner, "CHECKPOINT_SECONDS", 0.0)
    return Box(tmp_path / "faults")


def one_line(ending, code: int) -> str:
    """The only line that a command says when it ends with this code."""
    assert ending.code == code, ending.err
    lines = [line for line in ending.err.splitlines() if line.strip()]
    assert len(lines) == 1, ending.err
    return lines[0]


@pytest.mark.parametrize(("name", "parts"), [("run", (0.4,)), ("grains", (0.1, 0.5, 0.9))])
def test_a_killed_command_ends_with_the_same_bits(box, name, parts):
    expected, seconds = reference(box, COMMANDS[name])
    assert kill_and_resume(box, COMMANDS[name], expected, [part * seconds for part in parts]) is None


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_25_kills_at_random_moments(name):
    command = [sys.executable, str(SCRIPT), "--json", "--count", "25", "--seed", "9", "--command", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout) == {"kills": 25, "wrong": []}, done.stderr[-2000:]


LONG = pytest.mark.long


@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGINT, marks=LONG), signal.SIGTERM, pytest.param(signal.SIGHUP, marks=LONG)]
)
def test_a_simulation_that_is_told_to_stop_keeps_its_motion(box, number):
    ending = box.run(SIMULATE, signals=[(0.3, number)], ready="out/config.json")
    assert ending.code == 130
    assert "farfield: interrupted" in ending.err
    part = ff.load_trajectory(box.path / "out" / TRAJECTORY)
    assert part.num_steps > 10
    assert json.loads((box.path / "out" / "result.json").read_text())["steps"] == part.num_steps
    steps = [*SIMULATE[:3], str(part.num_steps), *SIMULATE[4:-1], "whole"]
    assert box.run(tuple(steps)).code == 0
    assert ff.load_trajectory(box.path / "whole" / TRAJECTORY).q.tobytes() == part.q.tobytes()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_grains_that_are_told_to_stop_before_a_checkpoint_go_on_to_the_same_bits(box, monkeypatch, number):
    expected, _ = reference(box, COMMANDS["grains"])
    monkeypatch.setattr(grains_runner, "CHECKPOINT_SECONDS", 1e9)
    box.empty()
    ending = box.run(GRAINS, signals=[(0.0, number)], ready="out/metrics.jsonl")
    assert ending.code == 130
    assert (box.path / "out" / CHECKPOINT).is_file()
    assert finish(box, COMMANDS["grains"]).code == 0
    assert contents(box.path / "out", COMMANDS["grains"].files) == expected


def test_two_interrupts_end_a_run_at_once_and_lose_no_iteration(box, monkeypatch):
    expected, _ = reference(box, COMMANDS["run"])
    monkeypatch.setattr(runner, "CHECKPOINT_SECONDS", 1e9)
    box.empty()
    ending = box.run(RUN, signals=[(0.0, signal.SIGINT), (0.005, signal.SIGINT)], ready="out/metrics.jsonl")
    assert ending.code == 130
    with np.load(box.path / "out" / CHECKPOINT) as kept:
        lines = (box.path / "out" / "metrics.jsonl").read_text().splitlines()
        assert len(lines) - 1 <= kept["run.iterations"] <= len(lines)
    assert finish(box, COMMANDS["run"]).code in (0, 1)
    assert contents(box.path / "out", COMMANDS["run"].files) == expected


@pytest.mark.parametrize("options", [("--seed", "7"), ("--friction", "0.1"), ("--shape", "L"), ("--seconds", "0.3")])
def test_grains_of_another_experiment_are_not_resumed(box, options):
    assert box.run(GRAINS).code == 0
    line = one_line(box.run((*GRAINS, *options, "--resume")), 2)
    assert f"was started with {options[0][2:]} " in line
    assert f"now {options[1]}" in line.replace("'", "")
    assert box.run((*GRAINS, "--resume", "--threads", "2")).code == 0


def test_a_directory_is_written_by_one_process_at_a_time(box):
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; from farfield.output import FolderLock; from pathlib import Path\n"
         "lock = FolderLock.take(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()", str(box.path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as other:  # fmt: skip
        assert other.stdout.readline() == "held\n"
        for argv in (("simulate", "pendulum.xml", "--steps", "2", "--out", "."), ("study", "slide.py", "--out", ".")):
            assert "another process writes into it" in one_line(box.run(argv), 2)
        other.kill()
        other.wait()
    first = FolderLock.take(box.path)  # the system has released it
    assert FolderLock.take(box.path) is first  # this process may open it again


def test_what_a_killed_process_left_half_written_is_removed(tmp_path):
    folder = RunDir.create("a", options={}, path=tmp_path / "run").path
    for name in (".checkpoint.0123456789ab.npz", "trajectory.safetensors.partial-17-0", ".hidden", "mine.txt"):
        (folder / name).write_text("x")
    RunDir.open(folder)  # to read
    assert len(os.listdir(folder)) == 5
    RunDir.open(folder).lock()
    assert sorted(os.listdir(folder)) == [".hidden", "config.json", "mine.txt"]


@pytest.mark.parametrize("size", [pytest.param(500, marks=LONG), 2500, pytest.param(20_000, marks=LONG)])
def test_a_full_disk_is_one_line_and_the_run_goes_on_later(box, size):
    """A bound on the size of files stands for a full disk: both fail in the middle of a write."""
    expected, _ = reference(box, COMMANDS["run"])
    box.empty()
    line = one_line(box.run(RUN, largest_file=size), 3)
    assert "out/" in line
    assert "File too large" in line
    assert [file.name for file in (box.path / "out").iterdir() if file.name.startswith(".")] == []
    assert finish(box, COMMANDS["run"]).code in (0, 1)
    assert contents(box.path / "out", COMMANDS["run"].files) == expected


def test_metrics_that_were_lost_are_missed(box):
    """A checkpoint after more iterations than there are lines belongs to other metrics."""
    task = find_task(str(box.path / "slide.py"))()
    run = runner.start(task, seed=0, out=box.path / "out")
    runner.execute(run, quiet=True, stop_after=3)
    file = box.path / "out" / "metrics.jsonl"
    file.write_text(file.read_text().partition("\n")[0] + "\n")
    with pytest.raises(BadFile, match=r"metrics\.jsonl: 1 complete lines, expected the 3 of .*checkpoint\.npz"):
        runner.resume(task, RunDir.open(box.path / "out"))


@pytest.mark.parametrize("megabytes", [1, 20, 60])
def test_without_memory_a_command_says_so(box, megabytes):
    ending = box.run(
        ("grains", "column", "--grains", "900000", "--map", "exact", "--quiet", "--out", "out"), memory=megabytes << 20
    )
    assert "out of memory" in one_line(ending, 3)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("of 3 GB"),
        RuntimeError(os.strerror(errno.EAGAIN)),  # std::thread
        RuntimeError("can't start new thread"),
        ImportError("a.so: failed to map segment from shared object"),
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "out/a.json"),
        ff.FileError("out/a.safetensors: cannot write: " + os.strerror(errno.ENOSPC)),
    ],
)
def test_what_is_used_up_is_one_line_and_exit_code_3(monkeypatch, capsys, error):
    def fail(args):
        raise error

    monkeypatch.setattr("farfield.commands.doctor.run", fail)
    assert exit_code("doctor") == 3
    line = capsys.readouterr().err
    assert line.startswith("farfield doctor: error: ")
    assert line.endswith("; files that were complete are kept\n")
    assert line.count("\n") == 1


def test_a_bug_of_ours_keeps_its_trace(monkeypatch):
    def fail(args):
        raise RuntimeError("a bug")

    monkeypatch.setattr("farfield.commands.doctor.run", fail)
    with pytest.raises(RuntimeError, match="a bug"):
        exit_code("doctor")


def test_the_viewer_listens_to_this_machine_unless_told(tmp_path, monkeypatch, capfd):
    from farfield.viewer import server

    asked = []
    monkeypatch.setattr(server, "serve", lambda recording, **options: asked.append(options["host"]))
    scene = tmp_path / "a.xml"
    scene.write_text('<mujoco><worldbody><body pos="0 0 1"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>')
    assert exit_code("simulate", scene, "--steps", "2", "--quiet", "--out", tmp_path / "run") == 0
    capfd.readouterr()
    assert exit_code("view", tmp_path / "run") == 0
    assert "warning" not in capfd.readouterr().err
    assert exit_code("view", tmp_path / "run", "--host", "0.0.0.0") == 0
    assert "warning: 0.0.0.0: whoever reaches this machine can watch" in capfd.readouterr().err
    assert asked == ["127.0.0.1", "0.0.0.0"]
