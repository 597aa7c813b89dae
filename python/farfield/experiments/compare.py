# SPDX-License-Identifier: Apache-2.0
"""Methods side by side on one task: the same seeds, starts and seconds for each; curves, success rates and one figure.

An entry is a contact model and a way to compute gradients. Every run is a run directory of its own (see `farfield.experiments.runner`), so
that what is complete is never repeated and any motion can be replayed.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import farfield as ff
from farfield.contact_models import TRADES
from farfield.experiments import runner
from farfield.experiments.registry import find_method, recipe, task_of
from farfield.experiments.runner import OtherRun, Run, Setup
from farfield.experiments.runs import TRAJECTORY, RunDir
from farfield.optimize.rollout_input import RolloutInput
from farfield.optional import pyplot
from farfield.options import with_options
from farfield.output import BusyFolder, clean_json
from farfield.reading import BadFile
from farfield.tasks.task import Task

# Name -> contact model and method. A gradient bundle is offered over both kinds of contact; `bundle` is the rival: it has to make up by
# sampling for contact that ends at a range.
ENTRIES: dict[str, dict[str, str]] = {
    "longrange": {"contact": "longrange"},
    "polyhedral": {"contact": "polyhedral"},
    "ipc": {"contact": "ipc"},
    "ipc-global": {"contact": "ipc-global"},
    "softmin": {"contact": "softmin"},
    "mujoco-fd": {"method": "mujoco-fd"},
    "bundle": {"contact": "ipc", "method": "bundle"},
    "bundle-longrange": {"contact": "longrange", "method": "bundle"},
}
DEFAULT_ENTRIES = ("longrange", "polyhedral", "ipc", "mujoco-fd", "bundle")
STARTS = ("trivial", "sampled")
# Dashes keep curves visible that lie on each other, as those of all methods without a gradient do.
DASHES = ("-", (0, (5, 2)), (0, (2, 2)), (0, (6, 2, 1, 2)), (0, (1, 1.5)), (0, (8, 3)), (0, (3, 4)), (0, (4, 1, 1, 1)))
COLORS = ("#1f77b4", "#2ca02c", "#d62728", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2")


@dataclass(frozen=True)
class Plan:
    """What is compared. entries: name -> setup with the trivial start. settings of methods are in their setups."""

    task: Task
    entries: Mapping[str, Setup]
    starts: Sequence[str]
    seeds: Sequence[int]
    budget: float  #: seconds for every run
    clock: str = "wall"  #: "wall", or "cpu": processor time, for machines that others use as well
    tuning_seconds: float = 0.0  #: for every trial of the sweep (`farfield.experiments.tuning`); 0: none
    variants: Mapping[str, Task] = field(default_factory=dict)  #: entry -> the task with another value of an option

    def __getstate__(self) -> dict[str, Any]:
        """Tasks go to other processes as what they are made of: one of a file is loaded from it there."""
        variants = {entry: recipe(task) for entry, task in self.variants.items()}
        return vars(self) | {"task": recipe(self.task), "variants": variants}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Loads the tasks."""
        variants = {entry: task_of(made) for entry, made in state["variants"].items()}
        vars(self).update(state, task=task_of(state["task"]), variants=variants)

    def task_of(self, entry: str) -> Task:
        """The task that an entry solves."""
        return self.variants.get(entry, self.task)

    @property
    def tuning_seed(self) -> int:
        """A seed that is not reported."""
        return max(self.seeds) + 1

    def jobs(self) -> list[tuple[str, str, int]]:
        """(entry, start, seed) of every run; all entries have had a seed before the next one begins."""
        return [(entry, start, seed) for seed in self.seeds for start in self.starts for entry in self.entries]


def find_entries(names: Sequence[str], settings: Mapping[str, Mapping[str, str]]) -> dict[str, Setup]:
    """Setups of entries by name or by the path of a method's file; ``settings``: entry -> options of its method."""
    found: dict[str, Setup] = {}
    for name in names:
        if name not in ENTRIES and not name.endswith(".py"):
            known = ", ".join(ENTRIES)
            raise ValueError(f"method '{name}' is unknown, expected some of: {known}, or the path of a .py file")
        label = name if name in ENTRIES else Path(name).stem
        if label in found:
            raise ValueError(f"method '{label}' is named twice")
        fields: dict[str, Any] = ENTRIES.get(name, {"method": name})
        given = settings.get(label, {})
        setup = runner.complete_setup(**fields, method_set=tuple(given.items()))
        with_options(find_method(setup.method).Options, given)  # mistakes are found before anything is run
        found[label] = setup
    unknown = [label for label in settings if label not in found]
    if unknown:
        raise ValueError(f"options for method '{unknown[0]}', which does not take part; these do: {', '.join(found)}")
    return found


def vary(plan: Plan, name: str, values: Sequence[str]) -> Plan:
    """The plan with every entry once for each value of an option of the task."""
    variants = {
        value: with_options(type(plan.task), {k: str(v) for k, v in plan.task.options().items()} | {name: value})
        for value in values
    }
    entries = {f"{entry} {name}={value}": setup for value in values for entry, setup in plan.entries.items()}
    tasks = {f"{entry} {name}={value}": variants[value] for value in values for entry in plan.entries}
    return replace(plan, entries=entries, variants=tasks)


def run_directory(folder: Path, entry: str, start: str, seed: int) -> Path:
    """Where one run is kept."""
    return folder / f"{entry.replace(' ', '-')}-{start}-seed-{seed}"


def run_one(
    plan: Plan, folder: Path, job: tuple[str, str, int], watch: Callable[[Run, dict], None]
) -> tuple[dict[str, Any], bool]:
    """The result of one run, read when it is complete, and whether it is. A scene that a method refuses is a result, too."""
    entry, start, seed = job
    fields = vars(plan.entries[entry]) | {"start": start}
    path = run_directory(folder, entry, start, seed)
    about = {"entry": entry, "start": start, "seed": seed}
    complete = True
    try:
        current, result = runner.find_or_start(plan.task_of(entry), seed, Setup(**fields), path)
        if result is None:
            complete = runner.execute(current, quiet=True, budget=plan.budget, clock=plan.clock, watch=watch)
            result = clean_json(runner.finish(current))
    except (BadFile, BusyFolder, OtherRun):  # the directory, not the method
        raise
    except ValueError as error:  # explicit steps that are too long are refused with the first rollout
        return {**about, "error": " ".join(str(error).split()), "success": False}, True
    rows = RunDir.open(path).read_metrics(("seconds", "cpu_seconds"))
    column = "cpu_seconds" if plan.clock == "cpu" else "seconds"
    arrived = next((row[column] for row in rows if row.get("loss") is not None and row["loss"] <= 0.0), None)
    replay = _replayed(plan.task_of(entry), seed, RunDir.open(path)) if complete else None
    return {**about, **result, "seconds_to_zero": arrived, "replayed": replay}, complete


def _replayed(task: Task, seed: int, folder: RunDir) -> dict[str, Any]:
    """The controls and the start that were found, in long-range contact: does what works in one simulator work in the other?"""
    run = runner.prepare(task, seed, Setup())
    found = ff.load_trajectory(folder.given(TRAJECTORY))
    inputs = RolloutInput(found.controls, found.state(0))
    try:
        motion = run.objective.roll(inputs, tolerance=run.problem.final_tolerance)
    except ValueError as error:
        return {"success": False, "reason": " ".join(str(error).split())}
    sound = bool(motion.converged) and motion.min_gap > 0.0
    return clean_json({"success": sound and bool(run.problem.success(motion)), **run.problem.report(motion)})


def summarize(plan: Plan, results: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One row per entry and start: success rates and what they cost."""
    rows = []
    for start in plan.starts:
        for entry in plan.entries:
            runs = [each for each in results if (each["entry"], each["start"]) == (entry, start)]
            done = [each for each in runs if "error" not in each]
            setup = plan.entries[entry]
            rows.append(
                {
                    "entry": entry,
                    "start": start,
                    "contact": setup.contact,
                    "method": setup.method,
                    "trade": TRADES.get(setup.contact),
                    "stiffness": setup.stiffness,
                    "runs": len(runs),
                    "successes": sum(bool(each["success"]) for each in runs),
                    "replayed_successes": sum(bool(each["replayed"] and each["replayed"]["success"]) for each in done),
                    "cut_off": sum(bool(each["cut_off"]) for each in done),
                    "stuck": sum(each["stuck"] is not None for each in done),
                    "certified": sum(bool(each["certified"]) for each in done),
                    "loss_ratio": _median(_ratio(each) for each in done),
                    "seconds": _median(each["cpu_seconds" if plan.clock == "cpu" else "seconds"] for each in done),
                    "seconds_to_zero": _median(each["seconds_to_zero"] for each in done),
                    "iterations": _median(each["iterations"] for each in done),
                    "min_gap": min((each["min_gap"] for each in done if each["min_gap"] is not None), default=None),
                    "error": next((each["error"] for each in runs if "error" in each), None),
                }
            )
    return rows


def _ratio(result: Mapping[str, Any]) -> float | None:
    first, last = result["loss_initial"], result["loss_final"]
    return last / first if first else None


def _median(values: Any) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


@dataclass
class Curve:
    """Loss of one run relative to the trivial start of its entry and seed, against iterations and seconds."""

    iterations: np.ndarray
    seconds: np.ndarray
    losses: np.ndarray
    success: bool
    cut_off: bool


def read_curves(plan: Plan, folder: Path, results: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], list[Curve]]:
    """(entry, start) -> curves of its seeds."""
    first: dict[tuple[str, int], float] = {}
    found: dict[tuple[str, str], list[Curve]] = {}
    ordered = sorted((each for each in results if "error" not in each), key=lambda each: STARTS.index(each["start"]))
    for each in ordered:
        entry, start, seed = each["entry"], each["start"], each["seed"]
        rows = [
            row
            for row in RunDir.open(run_directory(folder, entry, start, seed)).read_metrics(("seconds", "cpu_seconds"))
        ]
        losses = np.array([np.nan if row.get("loss") is None else row["loss"] for row in rows])
        if not np.isfinite(losses).any():
            continue
        scale = first.setdefault((entry, seed), float(losses[np.isfinite(losses)][0]) or 1.0)
        seconds = np.array([row["cpu_seconds" if plan.clock == "cpu" else "seconds"] for row in rows])
        curve = Curve(np.arange(1, len(rows) + 1), seconds, losses / scale, each["success"], each["cut_off"])
        found.setdefault((entry, start), []).append(curve)
    return found


def plot(path: Path, plan: Plan, curves: Mapping[tuple[str, str], Sequence[Curve]]) -> None:
    """Loss against iterations and against seconds, one row of panels per start."""
    plt = pyplot()

    from farfield.output import atomic_path

    size = (11.0, 3.6 * len(plan.starts) + 0.6)
    figure, panels = plt.subplots(len(plan.starts), 2, figsize=size, squeeze=False, constrained_layout=True)
    for row, start in zip(panels, plan.starts, strict=True):
        for panel, key in zip(row, ("iterations", "seconds"), strict=True):
            for k, entry in enumerate(plan.entries):
                _plot_entry(panel, key, entry, curves.get((entry, start), ()), k)
            panel.set_yscale("symlog", linthresh=1e-2)
            panel.set_ylim(0.0, 3.0)
            panel.set_yticks([0.0, 0.01, 0.1, 1.0], ["0", "0.01", "0.1", "1"])
            unit = {"wall": "seconds of wall clock", "cpu": "seconds of processor time"}[plan.clock]
            panel.set(xlabel=key if key == "iterations" else unit, title=f"{start} start")
            panel.grid(alpha=0.3)
            if key == "iterations":
                panel.set_xscale("log")
                panel.set_ylabel("loss / first loss of the trivial start")
        row[1].set_xlim(0.0, 1.04 * plan.budget)
        if row[1].get_legend_handles_labels()[0]:
            row[1].legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5), title="successes")
    seeds = f"{len(plan.seeds)} seed{'s' * (len(plan.seeds) > 1)}"
    ends = "ends: dot success, cross cut off, bar not reached"
    figure.suptitle(f"{plan.task.name}: {plan.budget:g} s for every run, {seeds}; {ends}", fontsize=11)
    with atomic_path(path) as temporary:
        figure.savefig(temporary, format="png", dpi=110)
    plt.close(figure)


def _plot_entry(panel: Any, key: str, entry: str, curves: Sequence[Curve], index: int) -> None:
    if not curves:
        return
    color, dashes = COLORS[index % len(COLORS)], DASHES[index % len(DASHES)]
    solved = f"{entry}: {sum(curve.success for curve in curves)} of {len(curves)}"
    for curve in curves:
        at = getattr(curve, key)
        panel.plot(at, curve.losses, color=color, lw=0.7, alpha=0.35)
        mark = "o" if curve.success else "x" if curve.cut_off else "|"
        panel.plot(at[-1:], curve.losses[-1:], mark, color=color, ms=7, alpha=0.9, clip_on=False)
    grid, median = median_curve(curves, key)
    panel.plot(grid, median, color=color, lw=2.0, ls=dashes, label=solved)


def median_curve(curves: Sequence[Curve], key: str) -> tuple[np.ndarray, np.ndarray]:
    """The median over runs at every iteration or second; a run that has ended stays at its last loss."""
    ends = [getattr(curve, key)[-1] for curve in curves]
    grid = np.arange(1, int(max(ends)) + 1) if key == "iterations" else np.linspace(0.0, max(ends), 400)
    values = []
    for curve in curves:
        at = np.searchsorted(getattr(curve, key), grid, side="right") - 1
        values.append(np.where(at >= 0, curve.losses[np.maximum(at, 0)], curve.losses[0]))
    return grid, np.median(np.array(values), axis=0)
