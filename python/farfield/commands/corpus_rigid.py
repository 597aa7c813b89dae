# SPDX-License-Identifier: Apache-2.0
"""`farfield corpus rigid`: hard scenes of rigid bodies and mechanisms, each to its end, checked by other means and by mechanics."""

from __future__ import annotations

import argparse

from farfield.commands.arguments import (
    add_contact_argument,
    add_output_arguments,
    positive_float,
    up_to,
)
from farfield.commands.corpus_rows import collect


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="scenes with this in their name; repeatable"
    )
    parser.add_argument(
        "--jitter",
        type=up_to(1000),
        default=0,
        metavar="N",
        help="run each N times more, velocities changed (default: 0)",
    )
    parser.add_argument(
        "--seconds",
        type=positive_float,
        default=300.0,
        metavar="S",
        help="CPU time after which a scene is left (default: 300)",
    )
    parser.add_argument("--list", action="store_true", help="name the scenes")
    add_contact_argument(parser, default="longrange")
    add_output_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from farfield.experiments import rigid_corpus
    from farfield.experiments.runs import RunDir

    plan = rigid_corpus.Plan(contact=args.contact, jitter=args.jitter, seconds=args.seconds)
    names = rigid_corpus.find(args.only)
    if args.list:
        print("\n".join(names))
        return 0
    folder = RunDir.create("corpus-rigid", options={**plan.options(), "scenes": names}, path=args.out)
    summary = collect(
        folder,
        rigid_corpus.run(plan, names),
        args,
        options=plan.options(),
        as_line=as_line,
        summarize=rigid_corpus.summarize,
    )
    return 0 if summary["passed"] == summary["runs"] else 1


def as_line(row: dict) -> str:
    """A row in one line of text."""
    name = row["scene"] + (f" (jitter {row['jitter']})" if row["jitter"] else "")
    if row["status"] == "skipped":
        return f"{name}: skipped: {row['problem']}"
    problem = row["intersection"] or row["passed_through"] or row["problem"]
    state = "done" if row["status"] == "done" else f"{row['status']} at step {row['steps']} of {row['of']}"
    speed = f"median {row['median_ms']:.3g} ms, worst {row['worst_ms']:.3g} ms"
    return f"{name}: {row['bodies']} bodies, {state}, {speed}{f': {problem}' if problem else ''}"
