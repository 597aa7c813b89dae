# SPDX-License-Identifier: Apache-2.0
"""`farfield corpus gradients`: analytic derivatives against differences on scenes of every kind."""

from __future__ import annotations

import argparse

from farfield.commands.arguments import add_contact_argument, add_output_arguments
from farfield.commands.corpus_rows import collect


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="scenes with this in their name; repeatable"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of losses and directions (default: 0)")
    parser.add_argument("--list", action="store_true", help="name the scenes")
    add_contact_argument(parser, default="longrange")
    add_output_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from farfield.experiments import gradient_corpus
    from farfield.experiments.runs import RunDir

    if args.seed < 0:
        raise ValueError(f"--seed {args.seed}, expected a whole number >= 0")
    plan = gradient_corpus.Plan(contact=args.contact, seed=args.seed)
    names = gradient_corpus.find(args.only)
    if args.list:
        print("\n".join(names))
        return 0
    folder = RunDir.create("corpus-gradients", options={**plan.options(), "scenes": names}, path=args.out)
    summary = collect(
        folder,
        gradient_corpus.run(plan, names),
        args,
        options=plan.options(),
        as_line=as_line,
        summarize=gradient_corpus.summarize,
    )
    return 0 if summary["passed"] == summary["scenes"] else 1


def as_line(row: dict) -> str:
    """A row in one line of text."""
    if row["refused"]:
        return f"{row['scene']}: refused: {row['refused']}"
    wrong = ", ".join(
        f"{case['quantity']} at gap {case['gap']:.3g} by {case['relative_error']:.1e}" for case in row["failed"]
    )
    return (
        f"{row['scene']}: {row['cases']} derivatives, largest error {row['max_relative_error']:.1e}"
        f"{f', wrong: {wrong}' if wrong else ''}{''.join(f'; {text}' for text in row['skipped'])}"
    )
