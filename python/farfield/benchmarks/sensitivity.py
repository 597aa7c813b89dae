# SPDX-License-Identifier: Apache-2.0
"""How much the time step, the contact weight and smoothness matter to planning [LongRange2026, A.6.3, A.6.4, Tables 4 and 5, Fig. 13].

Each run plans until the success test of the task holds for the motion so far; the simulated time of that frame is what counts. The
horizon is the same in seconds for every time step, and so are optimiser iterations per simulated second. A run that does not get there within the task's own duration has no time.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from farfield.benchmarks.measure import Check, result_hash
from farfield.experiments.registry import TASKS, find_task
from farfield.experiments.runner import Setup, prepare
from farfield.optimize.driver import Stuck
from farfield.optional import pyplot
from farfield.options import option, with_options
from farfield.tasks.task import Task

PAPER_TIME_STEPS = {
    0.01: 5.76,
    0.02: 3.28,
    0.04: 2.96,
    0.08: 2.80,
}  # [s] -> simulated time to converge [s], weight 1e-7
PAPER_WEIGHTS = {1e-6: 3.20, 1e-7: 3.28, 1e-8: 3.24, 1e-10: 4.80}  # [J] -> the same, time step 0.04 s
TABLE_WEIGHT, TABLE_TIME_STEP = 1e-7, 0.04
STUDIES = ("time_step", "weight", "smoothness")
SMOOTHNESS_TASKS = tuple(name for name in ("push", "gather") if name in TASKS)
CONTACTS = ("longrange", "ipc-global")


@dataclasses.dataclass(frozen=True)
class Options:
    """What `farfield bench sensitivity --set` changes."""

    name = "sensitivity"
    seeds: int = option(3, "seeds 0 to N - 1 of every setting", above=0)
    studies: str = option(",".join(STUDIES), "which of the studies, separated by commas")
    time_steps: str = option(",".join(f"{dt:g}" for dt in PAPER_TIME_STEPS), "of the study of that name [s]")
    weights: str = option(",".join(f"{mu:g}" for mu in PAPER_WEIGHTS), "of the study of that name [J]")
    tasks: str = option(",".join(SMOOTHNESS_TASKS), "tasks of the smoothness study, separated by commas")
    seconds: float = option(900.0, "most CPU time that one run of the smoothness study may take [s]", above=0)
    frames: int = option(0, "steps of a motion at most; 0: the task's own duration", least=0)
    figure: str = option("", "file for the curves of the smoothness study (PNG)")


@dataclasses.dataclass
class Planned:
    """How planning went."""

    time: float | None  #: simulated time to success [s]
    losses: list[float]  #: of the window, one per frame
    seconds: float  #: of CPU time
    cut_off: bool
    stuck: str | None
    last: np.ndarray  #: the last coordinates


def plan_until_success(
    task: Task, seed: int, contact: str, *, seconds: float = float("inf"), tick=lambda: None
) -> Planned:
    """Plan a task with a receding horizon until its success test holds for the motion so far, or it ends."""
    run = prepare(task, seed, Setup(contact=contact))
    problem, driver = run.problem, run.driver
    began, losses, found, stuck = time.process_time(), [], None, None
    while not driver.done and found is None and time.process_time() - began < seconds:
        frame = driver.frame
        try:
            row = driver.advance()
        except Stuck as reason:
            stuck = str(reason)
            break
        if driver.frame == frame:
            continue
        losses.append(row["loss"])
        tick()
        motion = _so_far(problem, driver)
        if problem.success(motion):
            found = motion.num_steps * problem.dt
    spent = time.process_time() - began
    last = driver.state()["q"][-1]
    return Planned(found, losses, spent, found is None and not driver.done and stuck is None, stuck, last)


def _so_far(problem: Any, driver: Any) -> Any:
    """The motion up to now."""
    import farfield as ff

    state = driver.state()
    arrays = (state["q"], state["v"], state["controls"])
    return ff.Trajectory.from_states(problem.model, problem.parameters, *arrays, dt=problem.dt)


def _row(study: str, task: str, setting: str, runs: list[Planned], paper: float | None) -> dict[str, Any]:
    times = [run.time for run in runs]
    reached = [each for each in times if each is not None]
    return {
        "study": study,
        "task": task,
        "setting": setting,
        "reached": f"{len(reached)} of {len(runs)}",
        "times": " ".join("-" if each is None else f"{each:.2f}" for each in times),
        "median": statistics.median(reached) if len(reached) == len(runs) else None,
        "paper": paper,
        "cpu_seconds": round(sum(run.seconds for run in runs), 1),
        "cut_off": sum(run.cut_off for run in runs),
    }


def _push(options: Options, dt: float, weight: float) -> Task:
    """Push with horizon, duration and optimiser iterations that are the same per simulated second for every time step.

    Iterations too: one moves a target by at most the learning rate, so their number per frame bounds how fast the rod may go.
    """
    usual = find_task("push")()
    frames = options.frames or round(usual.frames * usual.dt / dt)
    horizon = max(round(usual.horizon * usual.dt / dt), 1)
    iterations = math.ceil(usual.iterations * dt / usual.dt - 1e-9)
    return dataclasses.replace(
        usual,
        dt=dt,
        weight=weight,
        frames=frames,
        horizon=horizon,
        iterations=iterations,
        first_iterations=max(iterations, usual.first_iterations),
    )


def _tables(options: Options, progress: Callable) -> list[tuple[dict, list[Planned]]]:
    settings = []
    chosen = _names(options.studies, STUDIES, "studies")
    if "time_step" in chosen:
        steps = _numbers(options.time_steps, "time_steps")
        settings += [("time_step", f"{dt:g} s", dt, TABLE_WEIGHT, PAPER_TIME_STEPS.get(dt)) for dt in steps]
    if "weight" in chosen:
        weights = _numbers(options.weights, "weights")
        settings += [("weight", f"{mu:g} J", TABLE_TIME_STEP, mu, PAPER_WEIGHTS.get(mu)) for mu in weights]
    found = []
    for study, setting, dt, weight, paper in settings:
        task = _push(options, dt, weight)
        tick = progress(f"{study} {setting}", options.seeds * task.frames)
        runs = [plan_until_success(task, seed, "longrange", tick=tick) for seed in range(options.seeds)]
        found.append((_row(study, "push", setting, runs, paper), runs))
    return found


def _smoothness(options: Options, progress: Callable) -> list[tuple[dict, list[Planned]]]:
    if "smoothness" not in _names(options.studies, STUDIES, "studies"):
        return []
    found = []
    for name in options.tasks.split(","):
        kind = find_task(name.strip())
        for contact in CONTACTS:
            task = with_options(kind, {"frames": str(options.frames)} if options.frames else {})
            tick = progress(f"{kind.name} {contact}", options.seeds * task.frames)
            runs = [
                plan_until_success(task, seed, contact, seconds=options.seconds, tick=tick)
                for seed in range(options.seeds)
            ]
            found.append((_row("smoothness", kind.name, contact, runs, None), runs))
    return found


def _names(text: str, known: tuple[str, ...], what: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise ValueError(f"option {what}: '{text}', expected some of: {', '.join(known)}")
    return names


def _numbers(text: str, what: str) -> list[float]:
    try:
        values = [float(each) for each in text.split(",")]
    except ValueError:
        values = [-1.0]
    if not all(0.0 < value < float("inf") for value in values):
        raise ValueError(f"option {what}: '{text}', expected numbers > 0 separated by commas")
    return values


def run(progress: Callable[[str, int], Callable[[], None]], options: Options | None = None) -> dict:
    """Rows of all studies; the bounds are the paper's tables, with the slack that seeds need."""
    options = options or Options()
    _names(options.studies, STUDIES, "studies")
    for name in options.tasks.split(","):  # mistakes are found before anything takes long
        find_task(name.strip())
    tables, smooth = _tables(options, progress), _smoothness(options, progress)
    rows = [row for row, _ in (*tables, *smooth)]
    curves = {f"{row['task']} {row['setting']}": [run.losses for run in runs] for row, runs in smooth}
    if options.figure and curves:
        plot(Path(options.figure), curves)
    return {
        "rows": rows,
        "timings": {},
        "checks": [
            Check(f"push, {row['study']} {row['setting']}: seeds that get there", _share(row), ">=", 1.0)
            for row, _ in tables
        ],
        "hashes": {
            f"{row['task']} {row['setting']}": result_hash([run.last for run in runs])
            for row, runs in (*tables, *smooth)
        },
        "curves": curves,
    }


def _share(row: dict[str, Any]) -> float:
    reached, _, of = row["reached"].partition(" of ")
    return int(reached) / int(of)


def plot(path: Path, curves: dict[str, list[list[float]]]) -> None:
    """Loss of the window against frames, one panel per task, one colour per contact model, one line per seed."""
    plt = pyplot()

    from farfield.output import atomic_path

    tasks = list(dict.fromkeys(key.split()[0] for key in curves))
    figure, panels = plt.subplots(
        1, len(tasks), figsize=(5.2 * len(tasks), 3.8), squeeze=False, constrained_layout=True
    )
    colors = dict(zip(CONTACTS, ("#1f77b4", "#d62728"), strict=True))
    for panel, name in zip(panels[0], tasks, strict=True):
        for contact, color in colors.items():
            for k, losses in enumerate(curves[f"{name} {contact}"]):
                relative = np.array(losses) / losses[0]
                label = {"longrange": "longrange", "ipc-global": "ipc-global (not smooth)"}[contact] if k == 0 else None
                panel.plot(relative, color=color, lw=1.2, alpha=0.85, label=label)
        panel.set(title=name, xlabel="frame", ylabel="loss of the window / first", ylim=(0.0, None))
        panel.grid(alpha=0.3)
        panel.legend(fontsize=8)
    with atomic_path(path) as temporary:
        figure.savefig(temporary, format="png", dpi=110)
    plt.close(figure)
