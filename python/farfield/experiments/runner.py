# SPDX-License-Identifier: Apache-2.0
"""Runs a task: progress, metrics, checkpoints, and at the end the motion, its certificate and its pictures.

A run directory holds config.json, model.safetensors (the scene, complete), a copy of the task's file when it is one of your own,
metrics.jsonl (one line per optimiser iteration), checkpoint.npz (the driver's whole state, replaced as a whole), and at the end trajectory.safetensors, overlays.npz, replay.html, convergence.png and result.json.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import farfield as ff
from farfield.experiments.registry import METHODS, find_method, task_file
from farfield.experiments.runs import CHECKPOINT, RESULT, TRAJECTORY, RunDir
from farfield.optimize.driver import Driver, Stuck
from farfield.optimize.starts import START_SAMPLES, Started, best_sample
from farfield.options import with_options
from farfield.output import clean_json
from farfield.reading import BadFile, blamed_on, read_json, require
from farfield.stopping import shielded, stop_requests
from farfield.tasks.task import Problem, Task
from farfield.terminal import ProgressBar

CHECKPOINT_SECONDS = 10.0
COUNTS = ("iterations", "steps", "seconds", "cpu_seconds", "reached")
#: Of the options in config.json, and of result.json.
SETUP_FORM = {
    "task": str, "set": dict, "contact?": str, "method?": str, "start?": str, "start_samples?": int, "stiffness?": float, "method_set?": dict,
}  # fmt: skip
RESULT_FORM = {
    "complete": bool, "success": bool, "certified": bool, "cut_off": bool, "stuck": (str, None), "seed": int, "iterations": int,
    "steps": int, "seconds": float, "cpu_seconds": float, "min_gap": (float, None), "loss_initial": (float, None),
    "loss_final": (float, None), "distance?": (float, None), "loss_share?": (float, None), "inside?": int, "objects?": int,
}  # fmt: skip


@dataclass(frozen=True)
class Setup:
    """How a task is attempted.

    method_set: options of the method, as text. start: "trivial" or "sampled", the best of ``start_samples``. stiffness: of contact, around
    what the task gives the model.
    """

    contact: str = "longrange"
    method: str = "adjoint"
    method_set: tuple[tuple[str, str], ...] = ()
    start: str = "trivial"
    start_samples: int = START_SAMPLES
    stiffness: float = 1.0

    def config(self, task: Task) -> dict[str, Any]:
        """What a run directory keeps of it. Defaults are left out, so that older directories stay readable."""
        kept = {"task": task.name, "contact": self.contact, "method": self.method, "set": task.options()}
        if self.method_set:
            kept["method_set"] = dict(self.method_set)
        if self.start != "trivial":
            kept |= {"start": self.start, "start_samples": self.start_samples}
        if self.stiffness != 1.0:
            kept["stiffness"] = self.stiffness
        return kept

    @staticmethod
    def of(config: dict[str, Any]) -> Setup:
        """The setup that `config` describes."""
        keys = ("contact", "method", "start", "start_samples", "stiffness")
        given = {key: config[key] for key in keys if key in config}
        return Setup(**given, method_set=tuple(config.get("method_set", {}).items()))


@dataclass
class Run:
    """A task in a run directory, ready to go on."""

    task: Task
    seed: int
    setup: Setup
    folder: RunDir
    problem: Problem
    objective: Any
    driver: Driver
    iterations: int = 0
    steps: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0  #: of all threads; what an idle machine would need at most
    stuck: str | None = None  #: why the driver could not go on
    cut_off: bool = False  #: the time was up before the driver was done
    reached: bool = False  #: the task is solved, whatever the driver would still do

    @property
    def over(self) -> bool:
        """Nothing is left to do."""
        return self.driver.done or self.reached

    def spent(self, clock: str) -> float:
        """Seconds of the wall clock or of processor time so far."""
        return self.cpu_seconds if clock == "cpu" else self.seconds


def start(task: Task, *, seed: int, out=None, **setup: Any) -> Run:
    """A new run; `out` is its directory, by default a fresh one in runs/. ``setup``: fields of `Setup`."""
    run = prepare(task, seed, Setup(**{"contact": task.contact, **setup}))
    run.folder = RunDir.create(task.name, options=run.setup.config(task), seed=seed, path=out)
    run.folder.keep_sources(task_file(task), run.problem.model, run.problem.parameters)
    return run


def resume(task: Task, folder: RunDir, *, method: str | None = None) -> Run:
    """The run of a directory where its checkpoint left it; from the beginning when it has none.

    ``method``: the one that the user named. A directory says how it was run, but never which file is executed now: a method that is not
    built in has to be named again.
    """
    setup = kept_setup(folder)
    if setup.method not in METHODS and setup.method != method:
        raise ValueError(
            f"{folder.path}: was run with method '{setup.method}', a file that is loaded only when you name it: "
            f"add --method {setup.method} if you trust it"
        )
    folder.lock().require_same_source(task_file(task))
    file = folder.file(CHECKPOINT)
    known = file.exists()
    with blamed_on(folder.file("config.json")):
        run = prepare(task, folder.config["seed"], setup, draw=not known)
    run.folder = folder
    if known:
        arrays = folder.read_arrays(CHECKPOINT, sealed=True)
        with blamed_on(file, "no checkpoint of this run"):
            for name in COUNTS:
                setattr(run, name, arrays[f"run.{name}"].item())
            run.driver.restore({k: v for k, v in arrays.items() if not k.startswith(("run.", "method."))})
            run.objective.restore({k.removeprefix("method."): v for k, v in arrays.items() if k.startswith("method.")})
    else:
        folder.keep_sources(
            task_file(task), run.problem.model, run.problem.parameters
        )  # it may have ended before they were
    folder.truncate_metrics(run.iterations)
    return run


def kept_setup(folder: RunDir) -> Setup:
    """How the run of a directory was set up."""
    file, options = folder.file("config.json"), folder.config["options"]
    require(file, options, SETUP_FORM, "options")
    if folder.config["seed"] is None:
        raise BadFile(f"{file}: seed is null, expected a whole number")
    for name, value in {**options["set"], **options.get("method_set", {})}.items():
        require(file, value, (str, float, bool, None), f"options: {name}")
    return Setup.of(options)


def complete_setup(**fields: Any) -> Setup:
    """A setup with the contact that its method has, also when that is the method's own."""
    setup = Setup(**fields)
    own = find_method(setup.method).capabilities.own_contact
    return setup if own is None else replace(setup, contact=own)


class OtherRun(ValueError):
    """A directory holds another run than the one that is asked for."""


def find_or_start(task: Task, seed: int, setup: Setup, path) -> tuple[Run | None, dict | None]:
    """What a directory holds: (None, its result) when that is complete, else (the run to go on with, None)."""
    if not (path / "config.json").is_file():
        return start(task, seed=seed, out=path, **vars(setup)), None
    known = RunDir.open(path)
    if known.config["options"] != clean_json(setup.config(task)) or known.config["seed"] != seed:
        raise OtherRun(f"{path}: holds a run with other options; choose another --out")
    if known.file(RESULT).exists():
        result = read_json(known.file(RESULT), RESULT_FORM, links=False)
        if result["complete"]:
            return None, result
    return resume(task, known, method=setup.method), None


def prepare(task: Task, seed: int, setup: Setup, *, draw: bool = True) -> Run:
    """The task with its objective and driver, in no directory yet. ``draw``: False leaves a sampled start to a checkpoint."""
    if setup.start not in ("trivial", "sampled"):
        raise ValueError(f"start '{setup.start}', expected trivial or sampled")
    problem = task.build(seed)
    kind = find_method(setup.method)
    setup = complete_setup(**vars(setup))
    contact, parameters = None, problem.parameters
    if kind.capabilities.own_contact is None:
        contact, parameters = problem.contact(setup.contact, stiffness=setup.stiffness)
    objective = kind(
        problem.model,
        parameters,
        problem.parameterization,
        problem.loss,
        state=problem.state,
        dt=problem.dt,
        contact=contact,
        tolerance=problem.tolerance,
        max_iterations=problem.max_iterations,
        options=with_options(kind.Options, dict(setup.method_set)),
    )
    began, cpu = time.perf_counter(), time.process_time()
    if setup.start == "sampled":
        first = problem.parameterization.initial()
        if draw:
            first = best_sample(objective, problem.sample, seed, setup.start_samples)
        objective.parameterization = Started(problem.parameterization, first)
    run = Run(task, seed, setup, None, problem, objective, problem.driver(objective))
    run.seconds, run.cpu_seconds = time.perf_counter() - began, time.process_time() - cpu
    return run


def execute(
    run: Run,
    *,
    quiet: bool = False,
    stop_after: int | None = None,
    budget: float | None = None,
    clock: str = "wall",
    watch: Callable[[Run, dict], None] | None = None,
) -> bool:
    """Iterate until the driver is done or stuck, or `budget` seconds are spent on this run (an iteration is not broken off).

    `clock`: "wall", or "cpu" for the processor time of all threads, on a machine that others use as well.
    False when stopped by Ctrl-C or after `stop_after` iterations. Leaves a checkpoint. `watch` sees every row of metrics.
    """
    saved = time.monotonic()
    with stop_requests("this iteration") as stopped, _progress(run, quiet) as show, _last_state_kept(run) as keep:
        while not run.over and not stopped():
            if budget is not None and run.spent(clock) >= budget:
                run.cut_off = True
                break
            began, cpu = time.perf_counter(), time.process_time()
            try:
                row = run.driver.advance()
            except Stuck as reason:
                run.stuck = str(reason)
                break
            run.seconds += time.perf_counter() - began
            run.cpu_seconds += time.process_time() - cpu
            run.iterations += 1
            run.steps += row["steps"]
            times = {"seconds": round(run.seconds, 4), "cpu_seconds": round(run.cpu_seconds, 4)}
            run.folder.append_metrics({**row, **times})
            show(row)
            if watch is not None:
                watch(run, row)
            run.reached = _is_solved(run)
            keep()
            if stop_after is not None and run.iterations >= stop_after:
                break
            if time.monotonic() - saved > CHECKPOINT_SECONDS:
                save_checkpoint(run)
                saved = time.monotonic()
    save_checkpoint(run)
    return run.over or run.stuck is not None or run.cut_off


@contextlib.contextmanager
def _last_state_kept(run: Run) -> Iterator[Callable[[], None]]:
    """Gives a function that notes the state between two iterations. When one is broken off, its checkpoint is that of the state before."""
    state = checkpoint(run)

    def keep() -> None:
        nonlocal state
        state = checkpoint(run)

    try:
        yield keep
    except BaseException:
        with contextlib.suppress(OSError), shielded():  # the first error is told
            run.folder.write_arrays(state, CHECKPOINT)
        raise


def _is_solved(run: Run) -> bool:
    """Whether the new best motion is a success, and still one when it is rolled out as it will be judged."""
    improved, problem = run.driver.improved, run.problem
    if improved is None or not problem.stop_at_success or not improved.converged or not problem.success(improved):
        return False
    final = run.driver.motion(partial(run.objective.roll, tolerance=problem.final_tolerance))
    return bool(final.converged and problem.success(final))


def save_checkpoint(run: Run) -> None:
    """Replace the checkpoint by the present state."""
    with shielded():
        run.folder.write_arrays(checkpoint(run), CHECKPOINT)


def checkpoint(run: Run) -> dict[str, np.ndarray]:
    """The present state, as a checkpoint holds it."""
    kept = {**run.driver.state(), **{f"run.{key}": getattr(run, key) for key in COUNTS}}
    kept |= {f"method.{key}": value for key, value in run.objective.memory().items()}
    return {key: np.array(value) for key, value in kept.items()}


def finish(run: Run) -> dict:
    """Judge the motion, and write it, its overlays, replay, picture and result.json.

    A run that was cut off is judged by the motion it had planned until then. Methods that cannot certify are judged without.
    """
    from farfield.experiments.pictures import write_pictures

    roll = partial(run.objective.roll, tolerance=run.problem.final_tolerance)
    trajectory = run.driver.planned(roll) if run.cut_off else run.driver.motion(roll)
    rows = run.folder.read_metrics()
    losses = [row["loss"] for row in rows if row.get("loss") is not None]
    certifies = run.objective.capabilities.certifies
    certified = certifies and bool(trajectory.converged) and trajectory.min_gap > 0.0
    sound = certified if certifies else bool(trajectory.converged)
    result = {
        "task": run.task.name,
        "contact": run.setup.contact,
        "method": run.setup.method,
        "success": bool((run.over or run.cut_off) and sound and run.problem.success(trajectory)),
        "loss_initial": losses[0] if losses else None,
        "loss_final": losses[-1] if losses else None,
        "iterations": run.iterations,
        "steps": run.steps,
        "seconds": run.seconds,
        "min_gap": trajectory.min_gap,
        "run_dir": run.folder.path,
        "seed": run.seed,
        "complete": run.over or run.stuck is not None or run.cut_off,
        "stuck": run.stuck,
        "cut_off": run.cut_off,
        "certified": certified,
        "cpu_seconds": run.cpu_seconds,
        **run.objective.counts(),
        **run.problem.report(trajectory),
    }
    ff.save_trajectory(run.folder.file(TRAJECTORY), trajectory)
    write_pictures(run.folder, run.problem, run.objective.contact, trajectory, rows, title=run.task.name)
    run.folder.write_json(RESULT, result)
    return result


@contextlib.contextmanager
def _progress(run: Run, quiet: bool) -> Iterator:
    """A bar over all iterations with loss, gradient norm, smallest gap and steps per second."""
    begun, first = time.perf_counter(), run.steps
    frames = run.driver.frames
    total = run.driver.total if frames is None else frames
    done = run.iterations if frames is None else run.driver.frame
    unit = "it" if frames is None else "frame"
    with ProgressBar(run.task.name, total, done=done, unit=unit, quiet=quiet) as bar:

        def show(row: dict) -> None:
            speed = (run.steps - first) / max(time.perf_counter() - begun, 1e-9)
            gradient = "-" if row["gradient_norm"] is None else f"{row['gradient_norm']:.1e}"
            bar.note = f"loss {row['loss']:.4g}, |g| {gradient}, gap {row['min_gap']:.1e} m, {speed:,.0f} steps/s"
            bar.update((run.iterations if frames is None else run.driver.frame) - bar.done)

        yield show
