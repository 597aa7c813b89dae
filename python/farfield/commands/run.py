# SPDX-License-Identifier: Apache-2.0
"""`farfield run`: optimise a task, with progress, checkpoints, a replay and a summary."""

from __future__ import annotations

import argparse
import math
import shlex
from pathlib import Path

from farfield.commands.arguments import (
    add_executor_argument,
    add_method_arguments,
    add_output_arguments,
    method_setup,
    parse_settings,
    positive_int,
)
from farfield.terminal import Table, show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", help="name (see `farfield tasks`) or path of a Python file with a task")
    parser.add_argument("--contact", metavar="M", help="contact model (default: the task's, mostly longrange)")
    parser.add_argument("--method", metavar="M", help="how gradients are computed (default: adjoint)")
    add_method_arguments(parser)
    parser.add_argument("--iterations", type=positive_int, metavar="N", help="the same as --set iterations=N")
    parser.add_argument("--seed", type=int, metavar="S", help="of the task (default: 0)")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="K=V",
        dest="settings",
        help="change an option of the task; repeatable",
    )
    parser.add_argument(
        "--resume", action="store_true", help="continue the run in --out, or the latest unfinished one of this task"
    )
    add_executor_argument(parser)
    add_output_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from farfield.executors import open_executor
    from farfield.experiments import runner
    from farfield.output import dump_json

    settings = parse_settings(args.settings, args.iterations)
    current = _resumed(args, settings) if args.resume else _started(args, settings)
    with open_executor(args.executor) as executor:
        current.objective.use(executor)
        complete = runner.execute(current, quiet=args.quiet)
        current.objective.use(None)
    result = runner.finish(current)
    if args.json:
        print(dump_json(result))
    if not args.quiet:
        _print_summary(result, current, args)
    if not complete:
        raise KeyboardInterrupt
    return 0 if result["success"] else 1


def _started(args: argparse.Namespace, settings: dict[str, str]):
    from farfield.experiments import runner
    from farfield.experiments.registry import find_task
    from farfield.options import with_options

    task = with_options(find_task(args.task), settings)
    return runner.start(task, seed=args.seed or 0, out=args.out, **method_setup(args))


def _resumed(args: argparse.Namespace, settings: dict[str, str]):
    """The run with the options it was started with; options given again have to agree."""
    from farfield.experiments import runner
    from farfield.experiments.registry import find_task
    from farfield.experiments.runs import RunDir
    from farfield.options import with_options
    from farfield.reading import blamed_on

    kind = find_task(args.task)
    folder = RunDir.open(args.out) if args.out is not None else _latest(kind.name)
    options = folder.config["options"]
    if options.get("task") != kind.name or "set" not in options:
        raise ValueError(f"{folder.path}: is a run of '{options.get('task')}', expected one of task '{kind.name}'")
    kept_setup = runner.kept_setup(folder)
    kept = {name: str(value) for name, value in options["set"].items()}
    with blamed_on(folder.file("config.json")):
        task = with_options(kind, kept)
    given = with_options(kind, kept | settings)
    wanted = {"seed": args.seed, **method_setup(args)}
    had = {"seed": folder.config["seed"], **vars(kept_setup)}
    differing = [key for key, value in wanted.items() if value is not None and value != had[key]]
    differing += [key for key, value in given.options().items() if value != task.options()[key]]
    if differing:
        raise ValueError(f"{folder.path}: was started with other values of {', '.join(differing)}; resume without them")
    return runner.resume(task, folder, method=args.method)


def _latest(name: str):
    from farfield.experiments.runs import RunDir

    for path in sorted(Path("runs").glob(f"*-{name}*"), reverse=True):
        if (path / "checkpoint.npz").is_file() and (path / "config.json").is_file():
            return RunDir.open(path)
    raise ValueError(f"runs: no run of '{name}' with a checkpoint; name its directory with --out")


def _print_summary(result: dict, current, args: argparse.Namespace) -> None:
    table = Table(f"{result['task']}, seed {result['seed']}")
    state = "SUCCESS" if result["success"] else "not reached" if result["complete"] else "interrupted"
    table.row("result", f"stuck: {result['stuck']}" if result["stuck"] else state)
    if "distance" in result:
        table.row("distance", f"{result['distance']:.4f} m from the target at the last frame")
    if "inside" in result:
        table.row("objects", f"{result['inside']} of {result['objects']} in their region at the last frame")
    if result["loss_initial"] is not None:
        table.row("loss", f"{result['loss_initial']:.4g} at the start, {result['loss_final']:.4g} at the end")
    certificate = "every step converged, no intersections" if result["certified"] else "NOT certified"
    gap = f"; smallest gap {result['min_gap']:.2e} m" if math.isfinite(result["min_gap"]) else ""
    table.row("certificate", certificate + gap)
    speed = result["steps"] / max(result["seconds"], 1e-9)
    table.row(
        "work",
        f"{result['iterations']} iterations, {result['steps']:,} steps, {result['seconds']:.1f} s ({speed:,.0f} steps/s)",
    )
    folder = current.folder
    if folder.file("replay.html").is_file():
        table.row("replay", f"{folder.file('replay.html')}  (open in a browser)")
        table.row("interactive", f"farfield view {folder.path}")
    if folder.file("convergence.png").is_file():
        table.row("convergence", str(folder.file("convergence.png")))
    show(table)
    if not result["complete"]:  # below the table, which would cut a long line
        words = ["farfield", "run", args.task, *(["--method", args.method] if args.method else [])]
        show("continue: " + shlex.join([*words, "--resume", "--out", str(folder.path)]))
