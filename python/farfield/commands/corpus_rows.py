# SPDX-License-Identifier: Apache-2.0
"""What every `farfield corpus` command does with its rows: keeps them as they come, and closes with a summary."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from farfield.experiments.runs import RunDir


def collect(
    folder: RunDir,
    rows: Iterable[dict],
    args: argparse.Namespace,
    *,
    options: dict,
    as_line: Callable[[dict], str],
    summarize: Callable[[list[dict]], dict],
) -> dict:
    """Writes metrics and corpus.json, prints a line for every row and the summary at the end; returns the summary."""
    from farfield.output import dump_json

    kept = []
    for row in rows:
        kept.append(row)
        folder.append_metrics(row)
        if not args.quiet:
            print(as_line(row), file=sys.stderr, flush=True)
    summary = {"options": options, **summarize(kept)}
    folder.write_json("corpus.json", {**summary, "rows": kept})
    if args.json:
        print(dump_json({**summary, "rows": kept}))
    if not args.quiet:
        for key, value in summary.items():
            if key != "options":
                print(f"{key.replace('_', ' '):>24}: {value}", file=sys.stderr)
        print(f"rows and corpus.json: {folder.path}", file=sys.stderr)
    return summary
