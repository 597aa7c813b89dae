# SPDX-License-Identifier: Apache-2.0
"""Jobs on other processes: the order and the numbers of here, errors as they were raised, workers that are killed."""

from __future__ import annotations

import json
import os
import pickle
import signal
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import farfield as ff
from farfield.cli import main
from farfield.contact_models import CONTACT_MODELS
from farfield.executors import RayExecutor, in_order, open_executor
from farfield.experiments import compare, runner
from farfield.experiments.registry import find_method, find_task, recipe, task_of
from farfield.experiments.study import study
from farfield.options import with_options

SETTINGS = {"frames": "2", "iterations": "2", "first_iterations": "2"}
SET = [word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}")]


@pytest.fixture(scope="module")
def pool():
    """Two processes that begin as a worker on another machine does: with nothing of ours in memory."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        yield executor


@pytest.fixture(scope="module")
def ray():
    """A cluster of two workers on this machine."""
    pytest.importorskip("ray")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parent))  # workers find the jobs of this file
        patch.setenv("RAY_DISABLE_MEMORY_MONITOR", "1")
        executor = RayExecutor("local", num_cpus=2, object_store_memory=100_000_000, include_dashboard=False)
        yield executor
        executor.shutdown()


def later(seconds: float, job: int) -> int:
    if job == 0:
        time.sleep(seconds)
    return job * job


def fail(job: int) -> None:
    raise ValueError(f"job {job}: expected something else")


def dies_once(folder: str, job: int) -> tuple[int, int]:
    """Notes that it began; the first time, job 2 is killed."""
    attempts = len(list(Path(folder).glob(f"{job}-*")))
    (Path(folder) / f"{job}-{attempts}").touch()
    if job == 2 and attempts == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return job, attempts


def push():
    return with_options(find_task("push"), SETTINGS)


def numbers(results: list[dict]) -> list[tuple]:
    return [(each["seed"], each["loss_final"], each["steps"], each["min_gap"], each["success"]) for each in results]


def test_results_come_in_the_order_of_the_jobs_and_are_told_as_they_come():
    told: list[int] = []
    with ThreadPoolExecutor(2) as threads:
        assert in_order(partial(later, 0.2), range(4), threads, told=told.append) == [0, 1, 4, 9]
    assert sorted(told) == [0, 1, 4, 9] and told[-1] == 0
    assert in_order(partial(later, 0.0), range(4), told=told.append) == [0, 1, 4, 9]


def test_an_error_is_the_job_s_own():
    with ThreadPoolExecutor(2) as threads, pytest.raises(ValueError, match=r"job \d: expected something else"):
        in_order(fail, range(4), threads)


def test_a_wrong_name_is_one_line(capsys, tmp_path):
    assert main(["study", "push", "--executor", "slurm", "--out", str(tmp_path)]) == 2
    assert "--executor slurm: expected local, ray or ray:address" in capsys.readouterr().err


def test_a_study_by_processes_is_the_study_here(pool, tmp_path):
    setup = runner.complete_setup()
    here = study(push(), range(2), setup, tmp_path / "here", quiet=True)
    there_folder = tmp_path / "there"
    there_folder.mkdir()
    there = study(push(), range(2), setup, there_folder, executor=pool, quiet=True)
    assert numbers(here) == numbers(there)
    for seed in range(2):
        first, second = (
            ff.load_trajectory(tmp_path / place / f"seed-{seed}" / "trajectory.safetensors")
            for place in ("here", "there")
        )
        assert np.array_equal(first.q, second.q)
        assert (there_folder / f"seed-{seed}" / "checkpoint.npz").is_file()
    again = study(push(), range(2), setup, there_folder, executor=pool, quiet=True)
    assert [each["seconds"] for each in again] == [each["seconds"] for each in there]  # read, not run


def test_a_folder_that_workers_do_not_share_is_named(pool, tmp_path):
    with pytest.raises(ValueError, match=r"--out must be a folder that all workers share"):
        study(push(), range(1), runner.complete_setup(), tmp_path / "absent", executor=pool, quiet=True)


def test_contact_models_can_be_sent():
    for name, kind in CONTACT_MODELS.items():
        made = kind(slip_speed=0.0123)
        again = pickle.loads(pickle.dumps(made))
        assert type(again) is kind and again.description == made.description, name


@pytest.mark.parametrize("method", ["adjoint", "bundle"])
def test_batches_by_processes_have_the_bits_of_here(method, pool):
    run = runner.prepare(
        push(), 0, runner.complete_setup(method=method, method_set=(("samples", "3"),) if method == "bundle" else ())
    )
    start = run.problem.parameterization.initial()
    points = [start, start + 0.01, start - 0.02]
    here = run.objective.evaluate(points)
    counted = run.objective.rollouts, run.objective.gradients
    other = runner.prepare(push(), 0, run.setup).objective
    other.use(pool)
    there = other.evaluate(points)
    for one, two in zip(here, there, strict=True):
        assert one.value == two.value and np.array_equal(one.gradient, two.gradient)
        assert np.array_equal(one.trajectory.q, two.trajectory.q)
        assert np.abs(one.gradient).max() > 0.0
    assert (other.rollouts, other.gradients) == counted


def test_an_engine_that_cannot_spread_says_so(pool):
    engine = runner.prepare(push(), 0, runner.complete_setup(method="mujoco-fd")).objective
    with pytest.raises(ValueError, match="MujocoFd has no batches for other processes"):
        engine.use(pool)
    assert not find_method("mujoco-fd").capabilities.spreads


def test_a_task_of_a_file_is_loaded_from_it_elsewhere(tmp_path, monkeypatch):
    file = tmp_path / "mine.py"
    file.write_text(
        "from dataclasses import dataclass\nfrom farfield.tasks.push import Push\n\n@dataclass(frozen=True)\nclass Mine(Push):\n    name = 'mine'\n"
    )
    monkeypatch.chdir(tmp_path)
    made = recipe(with_options(find_task("mine.py"), {"iterations": "7"}))
    assert made[0] == str(file.resolve()) and made[1]["iterations"] == "7"
    monkeypatch.chdir("/")
    assert task_of(made).iterations == 7


def test_a_comparison_by_processes_is_the_comparison_here(pool, tmp_path, capsys):
    from farfield.commands import compare as command

    plan = compare.Plan(push(), compare.find_entries(["longrange"], {}), ("trivial",), range(2), 60.0)
    results = {}
    for name, executor in (("here", None), ("there", pool)):
        (tmp_path / name).mkdir()
        results[name], complete = command._run_all(plan, tmp_path / name, executor, quiet=True)
        assert complete
    assert numbers(results["here"]) == numbers(results["there"])


@pytest.mark.long
def test_ray_does_the_jobs_of_a_killed_worker_again(ray, tmp_path):
    found = in_order(partial(dies_once, str(tmp_path)), range(5), ray)
    assert found == [(0, 0), (1, 0), (2, 1), (3, 0), (4, 0)]


@pytest.mark.long
def test_ray_has_the_numbers_of_here(ray, tmp_path):
    (tmp_path / "ray").mkdir()
    setup = runner.complete_setup()
    there = study(push(), range(3), setup, tmp_path / "ray", executor=ray, quiet=True)
    assert numbers(study(push(), range(3), setup, tmp_path / "here", quiet=True)) == numbers(there)
    run = runner.prepare(push(), 0, setup)
    start = run.problem.parameterization.initial()
    here = run.objective.evaluate([start, start + 0.01])
    run.objective.use(ray)
    for one, two in zip(here, run.objective.evaluate([start, start + 0.01]), strict=True):
        assert one.value == two.value and np.array_equal(one.gradient, two.gradient)


@pytest.mark.long
def test_ray_tells_a_job_s_own_error(ray):
    with pytest.raises(ValueError, match=r"job \d: expected something else"):
        in_order(fail, range(3), ray)


@pytest.mark.long
def test_the_command_runs_on_ray(ray, tmp_path, capsys):
    code = main(
        [
            "study",
            "push",
            "--seeds",
            "2",
            "--iterations",
            "2",
            "--executor",
            "ray",
            "--out",
            str(tmp_path),
            "--json",
            "--quiet",
        ]
    )
    assert code == 0
    assert [each["seed"] for each in json.loads(capsys.readouterr().out)["results"]] == [0, 1]
    with open_executor("local") as here:
        assert here is None
