# SPDX-License-Identifier: Apache-2.0
"""`farfield gradcheck FILE`: analytic derivatives against finite differences, swept over separation; of a task also its loss and its unknowns."""

from __future__ import annotations

import argparse
import math
from typing import Any

from farfield.commands.arguments import (
    add_contact_argument,
    add_import_arguments,
    add_output_arguments,
    import_options,
    parse_settings,
    positive_float,
)
from farfield.contact_models import contact_model
from farfield.optional import left_out, pyplot
from farfield.terminal import ProgressBar, Table, show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="TASK|FILE", help="task (name or .py file), or MJCF or URDF file")
    parser.add_argument("--body", metavar="B", help="free body to move (default: the lightest)")
    parser.add_argument("--key", metavar="NAME", help="keyframe to start from")
    parser.add_argument("--dt", type=positive_float, metavar="S", help="time step [s] (default: of the task or file)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the loss and the directions (default: 0)")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="K=V",
        dest="settings",
        help="change an option of the task; repeatable",
    )
    add_contact_argument(parser, default="longrange")
    add_import_arguments(parser)
    add_output_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from farfield.experiments.runs import RunDir
    from farfield.gradcheck import check_problem, gradcheck
    from farfield.output import dump_json

    scene, problem = _scene(args)
    options = {"file": args.file, "body": args.body, "contact": args.contact, "dt": scene["dt"]}
    folder = RunDir.create("gradcheck", options=options, seed=args.seed, path=args.out)
    with ProgressBar(unit="check", quiet=args.quiet) as bar:

        def progress(text: str) -> None:
            bar.describe(text)
            bar.update()

        report = gradcheck(**scene, body=args.body, seed=args.seed, progress=progress)
        if problem is not None:
            check_problem(report, problem, contact=scene["contact"], seed=args.seed, progress=progress)
    folder.write_json("gradcheck.json", report.to_dict())
    with left_out("gradcheck.png"):
        plot(report, folder.file("gradcheck.png"))
    if args.json:
        print(dump_json(report.to_dict()))
    if not args.quiet:
        summarise(report, folder)
    return 0 if report.passed else 1


def _scene(args: argparse.Namespace) -> tuple[dict, Any]:
    """Model, parameters, contact model, start and time step of a task or a file, and the problem of a task."""
    import farfield as ff
    from farfield.commands.arguments import start_state
    from farfield.experiments.registry import TASKS, find_task
    from farfield.options import with_options

    settings = parse_settings(args.settings)
    if args.file in TASKS or args.file.endswith(".py"):
        problem = with_options(find_task(args.file), settings).build(args.seed)
        scene = {
            "model": problem.model,
            "parameters": problem.parameters,
            "contact": contact_model(args.contact, **problem.contact_options.get(args.contact, {})),
            "state": problem.state or start_state(problem.model, args.key)[0],
            "dt": args.dt or problem.dt,
        }
        return scene, problem
    if settings:
        raise ValueError(f"--set {args.settings[0]}: a file has no options, expected a task")
    model, parameters = ff.load(args.file, **import_options(args))
    scene = {
        "model": model,
        "parameters": parameters,
        "contact": contact_model(args.contact),
        "state": start_state(model, args.key)[0],
        "dt": args.dt or model.default_dt,
    }
    return scene, None


def plot(report, path) -> None:
    """Relative error and gradient size against the gap."""
    plt = pyplot()

    from farfield.gradcheck import TOLERANCE
    from farfield.output import atomic_path

    figure, (errors, sizes) = plt.subplots(1, 2, figsize=(11, 4.2), constrained_layout=True)
    alone = all(math.isnan(case.gap) for case in report.cases)  # nothing to have a gap to
    for quantity in dict.fromkeys(case.quantity for case in report.cases):
        cases = [case for case in report.cases if case.quantity == quantity]
        gaps = [1.0 if alone else case.gap for case in cases]
        # Between rounding and "nothing is right": an exact zero makes ratios that no axis can hold.
        shown = [min(max(case.relative_error, 1e-16), 1e3) for case in cases]
        (line,) = errors.loglog(gaps, shown, "o-", label=quantity)
        noise = [case.fd_noise / max(abs(case.fd), abs(case.analytic), 1e-300) for case in cases]
        noise = [min(max(ratio, 1e-16), 1e3) for ratio in noise]
        errors.loglog(gaps, noise, ":", color=line.get_color(), alpha=0.6)
        sizes.loglog(gaps, [abs(case.analytic) or float("nan") for case in cases], "o-", label=quantity)
    errors.axhline(TOLERANCE, color="0.5", lw=0.8)
    gap_label = "no gap: nothing to touch" if alone else "gap [m]"
    errors.set(
        xlabel=gap_label,
        ylabel="relative error (dotted: noise of the differences)",
        title="analytic against differences" + (f", body '{report.body}'" if report.body else ""),
    )
    sizes.set(xlabel=gap_label, ylabel="|derivative|", title="size of the derivative")
    if alone:
        for axes in (errors, sizes):
            axes.set_xticks([], [])
            axes.set_xticks([], [], minor=True)
    errors.legend(fontsize=8)
    with atomic_path(path) as temporary:
        figure.savefig(temporary, format="png", dpi=120)
    plt.close(figure)


def summarise(report, folder) -> None:
    table = Table(
        f"gradcheck, body '{report.body}': {'passed' if report.passed else 'FAILED'}",
        ("quantity", ">cases", ">worst relative error", ">noise-limited", ">failed"),
    )
    for quantity in dict.fromkeys(case.quantity for case in report.cases):
        cases = [case for case in report.cases if case.quantity == quantity]
        clear = [case.relative_error for case in cases if not case.noise_limited]
        worst = f"{max(clear):.1e}" if clear else "-"
        table.row(
            quantity,
            str(len(cases)),
            worst,
            str(sum(c.noise_limited for c in cases)),
            str(sum(not c.ok for c in cases)),
        )
    for quantity, reason in report.unchecked.items():
        table.row(quantity, "0", reason, "", "")
    show(table)
    for text in report.mistakes:
        show(f"WRONG: {text}")
    for text in report.skipped:
        show(f"skipped: {text}")
    if folder.file("gradcheck.png").is_file():
        show(f"plot: {folder.file('gradcheck.png')}")
