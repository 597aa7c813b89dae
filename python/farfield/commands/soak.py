# SPDX-License-Identifier: Apache-2.0
"""`farfield soak`: random heaps under certificates, checked for intersections by another test; one table at the end."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

from farfield.commands.arguments import add_output_arguments, positive_float, positive_int
from farfield.terminal import ProgressBar, Table, show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--scenes", type=positive_int, metavar="N", help="how many (default: 60, or as many as --hours allow)"
    )
    parser.add_argument("--hours", type=positive_float, metavar="H", help="begin no scene after this time")
    parser.add_argument(
        "--determinism",
        action="store_true",
        help="every scene on 1, 2 and 4 threads: do its states have the same bits?",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the first scene, counted up (default: 0)")
    parser.add_argument(
        "--contact",
        nargs="+",
        metavar="M",
        help="contact models; they take turns by seed (default: longrange ipc polyhedral)",
    )
    parser.add_argument("--steps", type=positive_int, metavar="K", help="of every scene (default: 60)")
    parser.add_argument(
        "--evaluations",
        type=positive_int,
        metavar="N",
        help="contact evaluations after which a scene is left (default: 6000)",
    )
    parser.add_argument("--threads", type=positive_int, default=1, metavar="T", help="scenes at a time (default: 1)")
    parser.add_argument("--only", type=int, metavar="SEED", help="this scene alone; keeps its model, motion and replay")
    add_output_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from farfield.experiments import soak
    from farfield.output import dump_json

    given = {key: getattr(args, key) for key in ("contact", "steps", "evaluations", "determinism")}
    given = {key: value for key, value in given.items() if value is not None}
    most = args.scenes or (60 if args.hours is None else sys.maxsize // 2)
    first, scenes = (args.seed, most) if args.only is None else (args.only, 1)
    if first < 0:
        raise ValueError(f"seed {first}, expected a whole number >= 0")
    plan = soak.Plan(first=first, scenes=scenes, **given)
    folder = _folder(args, plan)
    interrupted = False
    if args.only is None:
        interrupted = _roll_all(plan, folder, args)
        rows = [row for row in folder.read_metrics(("seed",)) if row["seed"] in plan.seeds()]
    else:
        row, made, motion = soak.roll(plan, args.only)
        soak.save(folder.path, made, motion)
        folder.append_metrics(row)
        rows = folder.read_metrics(("seed",))
    summary = {"options": plan.options(), "rows": soak.summarize(rows), "failed": _failures(rows)}
    folder.write_json("soak.json", summary)
    if args.json:
        print(dump_json(summary))
    if not args.quiet:
        _print_summary(summary, folder.path)
    if interrupted:
        raise KeyboardInterrupt
    return 1 if summary["failed"] else 0


def _folder(args: argparse.Namespace, plan):
    """The run directory: a new one, or the one named that was begun with the same options."""
    from farfield.experiments.runs import RunDir

    if args.out is None or args.only is not None or not (Path(args.out) / "config.json").is_file():
        return RunDir.create("soak", options=plan.options(), seed=plan.first, path=args.out)
    folder = RunDir.open(args.out)
    if folder.config["options"] != plan.options():
        raise ValueError(f"{args.out}: was begun with other options, {folder.config['options']}; expected the same")
    return folder.lock()


def _roll_all(plan, folder, args: argparse.Namespace) -> bool:
    """Appends a row per scene; whether Ctrl-C ended it."""
    from farfield.experiments import soak

    done = [row["seed"] for row in folder.read_metrics(("seed",))]
    begun = sum(seed in plan.seeds() for seed in done)
    total = plan.scenes if args.hours is None else None
    with ProgressBar("soak", total, done=begun, unit="scene", quiet=args.quiet) as bar:
        try:
            for row in soak.run(plan, done, args.threads, 3600.0 * (args.hours or math.inf)):
                folder.append_metrics(row)
                bar.update()
        except KeyboardInterrupt:
            return True
    return False


def _failures(rows: list[dict]) -> list[dict]:
    """Scenes that stopped, intersect, or depend on the number of threads."""
    from farfield.experiments.soak import stopped

    keys = ("seed", "contact", "status", "steps", "intersection", "dt", "stiffness")
    failed = [row for row in rows if stopped(row) or row["intersection"] is not None or row.get("other_bits")]
    return [{key: row[key] for key in keys} | {"other_bits": row.get("other_bits", [])} for row in failed]


def _print_summary(summary: dict, folder: Path) -> None:
    table = Table("Random heaps")
    for key, *values in zip(
        summary["rows"][0] if summary["rows"] else (), *map(dict.values, summary["rows"]), strict=True
    ):
        table.row(key.replace("_", " "), *(f"{v:.3g}" if isinstance(v, float) else str(v) for v in values))
    show(table)
    for each in summary["failed"]:
        bits = f"other bits on {each['other_bits']} threads" if each["other_bits"] else ""
        what = each["intersection"] or bits or f"{each['status']} at step {each['steps']}"
        about = f"dt {each['dt']:.3g} s, stiffness {each['stiffness']:.3g}"
        show(f"seed {each['seed']}, {each['contact']}: {what} ({about})")
    show(f"rows and soak.json: {folder}")
