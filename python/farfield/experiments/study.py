# SPDX-License-Identifier: Apache-2.0
"""A task over many seeds, here or by an executor. Runs that are complete are not repeated, those that were begun are continued."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

from farfield.executors import in_order, require_shared
from farfield.experiments import runner
from farfield.experiments.registry import recipe, task_of
from farfield.experiments.runner import Setup
from farfield.output import clean_json
from farfield.tasks.task import Task
from farfield.terminal import ProgressBar


def study(
    task: Task,
    seeds: Sequence[int],
    setup: Setup,
    folder: Path,
    *,
    executor: Executor | None = None,
    quiet: bool = False,
) -> list[dict[str, Any]]:
    """The result of every seed, in order; each run is kept in its own directory ``seed-N`` of the folder, where it can be continued."""
    if executor is None:
        return [run_once(task, setup, folder, seed, quiet=quiet) for seed in seeds]
    work = partial(_elsewhere, recipe(task), setup, folder.resolve())
    with ProgressBar(f"study {task.name}", len(seeds), unit="run", quiet=quiet) as bar:

        def told(result: dict[str, Any]) -> None:
            bar.note = _verdict(task.name, result)
            bar.update()

        return in_order(work, seeds, executor, told=told)


def run_once(task: Task, setup: Setup, folder: Path, seed: int, *, quiet: bool) -> dict[str, Any]:
    """The result of one seed: read when its run is complete, continued when it is not, else begun."""
    current, result = runner.find_or_start(task, seed, setup, folder / f"seed-{seed}")
    if result is not None:
        return result
    complete = runner.execute(current, quiet=quiet)
    result = clean_json(runner.finish(current))
    if not complete:
        raise KeyboardInterrupt
    if not quiet:
        print(_verdict(task.name, result), file=sys.stderr)
    return result


def _elsewhere(made: tuple[str, dict[str, str]], setup: Setup, folder: Path, seed: int) -> dict[str, Any]:
    require_shared(folder)
    return run_once(task_of(made), setup, folder, seed, quiet=True)


def _verdict(name: str, result: dict[str, Any]) -> str:
    return (
        f"{name}, seed {result['seed']}: {'success' if result['success'] else 'not reached'}, {result['seconds']:.0f} s"
    )
