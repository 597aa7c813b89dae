# SPDX-License-Identifier: Apache-2.0
"""`farfield scorecard`: one self-contained page of what holds and what does not, from recorded results."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

DATA, PAGE = "docs/data", "docs/scorecard.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", default=DATA, metavar="DIR", help=f"recorded results (default: {DATA})")
    parser.add_argument("--out", default=PAGE, metavar="FILE", help=f"the page (default: {PAGE})")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--quiet", action="store_true", help="say nothing")


def run(args: argparse.Namespace) -> int:
    from dataclasses import asdict

    from farfield.experiments import scorecard
    from farfield.output import atomic_path, dump_json

    made = scorecard.sections(Path(args.data))
    with atomic_path(Path(args.out)) as temporary:
        temporary.write_text(scorecard.page(made), encoding="utf-8")
    rows = [asdict(row) for section in made for row in section.rows]
    if args.json:
        print(dump_json(rows))
    if not args.quiet:
        for row in rows:
            word = {True: "yes", False: "NO", None: ""}[row["holds"]]
            print(f"{word:>4}  {row['what']}: {row['measured']}", file=sys.stderr)
        print(f"page: {args.out}", file=sys.stderr)
    return 0
