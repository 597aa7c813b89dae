# SPDX-License-Identifier: Apache-2.0
"""`farfield compare`: methods side by side on one task, each with the same seeds, starts and seconds; one figure, one table, one file."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from farfield.commands.arguments import add_executor_argument, parse_settings, positive_float, positive_int
from farfield.optional import left_out
from farfield.terminal import ProgressBar, Table, show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", help="name (see `farfield tasks`) or path of a Python file with a task")
    parser.add_argument(
        "--budget-seconds", type=positive_float, default=300.0, metavar="S", help="time of every run (default: 300)"
    )
    parser.add_argument(
        "--clock",
        choices=("wall", "cpu"),
        default="wall",
        help="what the budget counts: wall clock, or processor time of all threads on a machine that others use as well",
    )
    parser.add_argument("--seeds", type=positive_int, default=3, metavar="N", help="seeds 0 to N - 1 (default: 3)")
    parser.add_argument(
        "--methods",
        metavar="M,...",
        help="contact models and methods, or .py files of one's own (default: longrange,polyhedral,ipc,mujoco-fd,bundle)",
    )
    parser.add_argument("--starts", default="trivial,sampled", metavar="S,...", help="(default: trivial,sampled)")
    parser.add_argument("--start-samples", type=positive_int, metavar="N", help="random points (default: 64)")
    parser.add_argument(
        "--tune-seconds",
        type=seconds,
        metavar="S",
        help="for each of three stiffnesses of every rival's contact, on a seed that is not reported; the best takes part "
        "(default: a third of the budget; 0: none)",
    )
    parser.add_argument("--set", action="append", default=[], metavar="K=V", dest="settings", help="change the task")
    parser.add_argument(
        "--vary", metavar="K=V,V", help="also compare values of an option of the task, as friction=0.2,0.4"
    )
    parser.add_argument(
        "--method-set",
        action="append",
        default=[],
        metavar="M:K=V",
        help="change an option of a method, as bundle:samples=8; repeatable",
    )
    parser.add_argument("--out", metavar="DIR", help="folder of the runs (default: runs/compare-TASK)")
    add_executor_argument(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object on standard output")
    parser.add_argument("--quiet", action="store_true", help="no progress and no table")


def run(args: argparse.Namespace) -> int:
    from farfield.executors import open_executor
    from farfield.experiments import tuning
    from farfield.output import dump_json

    plan = make_plan(args)
    folder = _open(plan, Path(args.out if args.out is not None else f"runs/compare-{plan.task.name}"))
    results = []
    with open_executor(args.executor) as executor:
        trials, complete = _tune(plan, folder.path, executor, quiet=args.quiet)
        if complete:
            plan = tuning.tuned(plan, trials)
            results, complete = _run_all(plan, folder.path, executor, quiet=args.quiet)
    summary = _write(plan, folder, trials, results, complete)
    if args.json:
        print(dump_json(summary))
    if not args.quiet:
        _print_table(summary, folder.path)
    if not complete:
        raise KeyboardInterrupt
    return 0


def make_plan(args: argparse.Namespace):
    """What the command line asks for; mistakes are found here, before anything runs."""
    from dataclasses import replace

    from farfield.experiments import compare
    from farfield.experiments.registry import find_task
    from farfield.options import with_options

    task = with_options(find_task(args.task), parse_settings(args.settings))
    starts = _list(args.starts)
    for start in starts:
        if start not in compare.STARTS:
            raise ValueError(f"--starts {args.starts}: '{start}', expected some of: {', '.join(compare.STARTS)}")
    settings: dict[str, dict[str, str]] = {}
    for text in args.method_set:
        name, colon, rest = text.partition(":")
        if not colon:
            raise ValueError(f"--method-set {text}: expected method:key=value")
        settings.setdefault(name, {}).update(parse_settings([rest]))
    names = compare.DEFAULT_ENTRIES if args.methods is None else _list(args.methods)
    entries = compare.find_entries(names, settings)
    if args.start_samples is not None:
        entries = {name: replace(setup, start_samples=args.start_samples) for name, setup in entries.items()}
    tune = args.budget_seconds / 3.0 if args.tune_seconds is None else args.tune_seconds
    plan = compare.Plan(task, entries, starts, range(args.seeds), args.budget_seconds, args.clock, tune)
    if args.vary is None:
        return plan
    name, equals, values = args.vary.partition("=")
    if not equals or not name.strip():
        raise ValueError(f"--vary {args.vary}: expected option=value,value")
    return compare.vary(plan, name.strip(), _list(values))


def seconds(text: str) -> float:
    """Argument type: a time, or 0."""
    return 0.0 if text == "0" else positive_float(text)


def _list(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ValueError(f"'{text}', expected at least one name")
    return list(dict.fromkeys(names))


def _open(plan, path: Path):
    """The folder of the comparison; one that was begun is taken up when task and budget are the same."""
    from farfield.experiments.runs import RunDir
    from farfield.output import clean_json

    fixed = {"task": plan.task.name, "set": plan.task.options(), "budget_seconds": plan.budget}
    fixed |= {"clock": plan.clock, "tuning_seconds": plan.tuning_seconds, "tuning_seed": plan.tuning_seed}
    if (path / "config.json").is_file():
        folder = RunDir.open(path).lock()
        if folder.config["options"] != clean_json(fixed):
            raise ValueError(f"{path}: holds a comparison with another task, option or budget; choose another --out")
        return folder
    return RunDir.create(f"compare-{plan.task.name}", options=fixed, path=path)


def _tune(plan, folder: Path, executor, *, quiet: bool) -> tuple[list[dict], bool]:
    """What every rival reaches at every stiffness of the sweep."""
    from farfield.experiments import tuning

    if plan.tuning_seconds == 0.0:
        return [], True
    name = lambda job: f"{job[0]}, stiffness {job[1]:g}"  # noqa: E731
    return _run_jobs(plan, folder, tuning.jobs(plan), tuning.try_one, name, plan.tuning_seconds, executor, quiet=quiet)


def _run_all(plan, folder: Path, executor, *, quiet: bool) -> tuple[list[dict], bool]:
    """Results of all runs, in order, until the end or Ctrl-C."""
    from farfield.experiments import compare

    name = lambda job: f"{job[0]}, {job[1]}, seed {job[2]}"  # noqa: E731
    return _run_jobs(plan, folder, plan.jobs(), compare.run_one, name, plan.budget, executor, quiet=quiet)


def _run_jobs(
    plan, folder: Path, jobs, run_one, name, budget: float, executor, *, quiet: bool
) -> tuple[list[dict], bool]:
    if executor is not None:
        return _run_elsewhere(partial(_job, run_one, plan, folder.resolve()), jobs, executor, quiet=quiet)
    results = []
    with ProgressBar(total=len(jobs), unit="run", quiet=quiet) as bar:

        def watch(current, row) -> None:
            spent = f"{current.spent(plan.clock):.0f} of {budget:g} s"
            bar.tell(f"{spent}, loss {row['loss']:.4g}")

        for job in jobs:
            bar.describe(name(job))
            try:
                result, complete = run_one(plan, folder, job, watch)
            except KeyboardInterrupt:  # before its first iteration or after its last
                return results, False
            if result:
                results.append(result)
            if not complete:
                return results, False
            bar.update()
    return results, True


def _run_elsewhere(work, jobs, executor, *, quiet: bool) -> tuple[list[dict], bool]:
    """The same by other processes: those that are complete, in order, until the end or Ctrl-C."""
    from farfield.executors import in_order

    with ProgressBar(total=len(jobs), unit="run", quiet=quiet) as bar:
        results = in_order(work, jobs, executor, told=lambda result: bar.update())
    return [result for result, _ in results if result], all(complete for _, complete in results)


def _job(run_one, plan, folder: Path, job) -> tuple[dict, bool]:
    from farfield.executors import require_shared

    require_shared(folder)
    return run_one(plan, folder, job, lambda current, row: None)


def _write(plan, folder, trials: list[dict], results: list[dict], complete: bool) -> dict:
    """compare.png, then compare.json, each in one piece."""
    from farfield.experiments import compare, tuning
    from farfield.threads import default_threads

    figure = folder.file("compare.png")
    with left_out("compare.png"):
        compare.plot(figure, plan, compare.read_curves(plan, folder.path, results))
    summary = {
        **folder.config["options"],
        "starts": plan.starts,
        "seeds": len(plan.seeds),
        "methods": {
            name: {
                "contact": setup.contact,
                "method": setup.method,
                "method_set": dict(setup.method_set),
                "stiffness": setup.stiffness,
            }
            for name, setup in plan.entries.items()
        },
        "tuning": {"stiffnesses": tuning.STIFFNESSES, "trials": trials, "chosen": tuning.best(trials)},
        "complete": complete,
        "threads": default_threads(),
        "cpu": folder.config["cpu"],
        "commit": folder.config["commit"],
        "versions": folder.config["versions"],
        "figure": figure,
        "rows": compare.summarize(plan, results),
        "results": results,
    }
    folder.write_json("compare.json", summary)
    return summary


def _print_table(summary: dict, folder: Path) -> None:
    title = f"{summary['task']}: {summary['budget_seconds']:g} s per run, {summary['threads']} threads"
    table = Table(title, ("start", "method", ">success", ">replay", ">loss", ">time", ">steps", "note"))
    number = lambda value, form: "-" if value is None else format(value, form)  # noqa: E731
    for row in summary["rows"]:
        table.row(
            row["start"],
            row["entry"],
            f"{row['successes']}/{row['runs']}",
            f"{row['replayed_successes']}/{row['runs']}",
            number(row["loss_ratio"], ".3g"),
            number(row["seconds"], ".0f"),
            number(row["iterations"], ".0f"),
            _note(row),
        )
    show(
        table,
        "success: in the method's own simulator; replay: the same controls in long-range contact. Medians over seeds of: "
        "loss, last over first; time in s; steps of the optimiser.",
    )
    for contact, trade in {row["contact"]: row["trade"] for row in summary["rows"] if row["trade"]}.items():
        show(f"{contact}: {trade}")
    chosen = summary["tuning"]["chosen"]
    if chosen:
        tried = ", ".join(f"{value:g}" for value in summary["tuning"]["stiffnesses"])
        best = ", ".join(f"{entry} {value:g}" for entry, value in chosen.items())
        show(
            f"stiffness of rivals, the best of {tried} on seed {summary['tuning_seed']} "
            f"in {summary['tuning_seconds']:g} s each: {best}"
        )
    show(f"figure: {summary['figure']}\nruns and compare.json: {folder}")


def _note(row: dict) -> str:
    notes = [f"{row[key]} {text}" for key, text in (("cut_off", "cut off"), ("stuck", "stuck")) if row[key]]
    if row["error"] is not None:
        notes.append(row["error"])
    elif row["min_gap"] is not None and row["min_gap"] < 0.0:
        notes.append(f"penetrates {-1e3 * row['min_gap']:.2g} mm")
    elif row["certified"] < row["runs"]:
        notes.append(f"{row['runs'] - row['certified']} not certified")
    return ", ".join(notes)
