# SPDX-License-Identifier: Apache-2.0
"""`farfield study`: a task over many seeds, one table at the end. Runs that are complete are not repeated."""

from __future__ import annotations

import argparse
from pathlib import Path

from farfield.commands.arguments import (
    add_executor_argument,
    add_method_arguments,
    method_setup,
    parse_settings,
    positive_int,
)
from farfield.terminal import Table, show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", help="name (see `farfield tasks`) or path of a Python file with a task")
    parser.add_argument("--seeds", type=positive_int, default=10, metavar="N", help="seeds 0 to N - 1 (default: 10)")
    parser.add_argument("--contact", metavar="M", help="contact model (default: longrange)")
    parser.add_argument("--method", metavar="M", help="how gradients are computed (default: adjoint)")
    add_method_arguments(parser)
    parser.add_argument("--iterations", type=positive_int, metavar="N", help="the same as --set iterations=N")
    parser.add_argument("--set", action="append", default=[], metavar="K=V", dest="settings", help="change an option")
    parser.add_argument("--out", metavar="DIR", help="folder of the runs (default: runs/study-TASK)")
    add_executor_argument(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object on standard output")
    parser.add_argument("--quiet", action="store_true", help="no progress and no table")


def run(args: argparse.Namespace) -> int:
    from farfield.executors import open_executor
    from farfield.experiments import runner
    from farfield.experiments.registry import find_task
    from farfield.experiments.study import study
    from farfield.options import with_options
    from farfield.output import FolderLock, dump_json, write_text

    task = with_options(find_task(args.task), parse_settings(args.settings, args.iterations))
    folder = Path(args.out if args.out is not None else f"runs/study-{task.name}")
    folder.mkdir(parents=True, exist_ok=True)
    lock = FolderLock.take(folder)  # noqa: F841, held until the end
    setup = runner.complete_setup(**method_setup(args))
    with open_executor(args.executor) as executor:
        results = study(task, range(args.seeds), setup, folder, executor=executor, quiet=args.quiet)
    summary = {
        **setup.config(task),
        "seeds": args.seeds,
        "successes": sum(result["success"] for result in results),
        "seconds": sum(result["seconds"] for result in results),
        "results": results,
    }
    write_text(folder / "study.json", dump_json(summary, indent=2) + "\n")
    if args.json:
        print(dump_json(summary))
    if not args.quiet:
        _print_table(summary, folder)
    return 0


def _print_table(summary: dict, folder: Path) -> None:
    title = f"{summary['task']}: {summary['successes']} of {summary['seeds']} seeds"
    extra = [key for key in ("distance", "loss_share", "inside", "objects") if key in summary["results"][0]]
    columns = (
        "seed",
        "success",
        *extra,
        "certified",
        "smallest gap [m]",
        "iterations",
        "steps",
        "seconds",
        "cpu seconds",
    )
    table = Table(title, [">" + column for column in columns])
    for result in summary["results"]:
        gap = "-" if result["min_gap"] is None else f"{result['min_gap']:.1e}"
        table.row(
            str(result["seed"]),
            "yes" if result["success"] else "no",
            *(f"{result[key]:.4g}" for key in extra),
            "yes" if result["certified"] else "no",
            gap,
            str(result["iterations"]),
            str(result["steps"]),
            f"{result['seconds']:.0f}",
            f"{result['cpu_seconds']:.0f}",
        )
    show(table, f"runs and study.json: {folder}")
