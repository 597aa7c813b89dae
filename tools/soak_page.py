#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/results/soak.md and docs/data/soak.json from run directories of `farfield soak`.

tools/soak_page.py runs/soak [runs/more ...]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from farfield.experiments.runs import RunDir
from farfield.experiments.soak import stopped, summarize

DOCS = Path(__file__).resolve().parents[1] / "docs"
LINES = {
    "scenes": "scenes",
    "steps": "steps",
    "stops": "stops",
    "left": "left at the limit of evaluations",
    "intersections": "scenes with an intersection",
    "cut_steps": "steps in pieces",
    "pieces_max": "most pieces of a step",
    "detours": "steps that seem to lead around a body",
    "iterations_mean": "iterations a step, mean",
    "evaluations_mean": "contact evaluations a step, mean",
    "evaluations_p95": "95th percentile",
    "evaluations_max": "largest",
}
PAGE = """# Does every step arrive?

`farfield soak` on seeds that nothing was chosen by: {seeds}, contact models in turn, 60 steps each; a thousand of 5000 to 5999 are the
goal, and the same command goes on where a run was left. Scenes are described in [the step](../step.md); all rows are in `docs/data/soak.json`, and `tools/soak_page.py` makes this page from run directories.

{table}
{failures}
"""


def seeds_of(rows: list[dict]) -> str:
    """Runs of seeds, as in '5000 to 5059, 5500 to 5529'."""
    ranges: list[list[int]] = []
    for seed in sorted(row["seed"] for row in rows):
        if ranges and seed == ranges[-1][1] + 1:
            ranges[-1][1] = seed
        else:
            ranges.append([seed, seed])
    return ", ".join(f"{a} to {b}" if a < b else f"{a}" for a, b in ranges)


def table_of(totals: list[dict]) -> str:
    head = "| | " + " | ".join(total["contact"] for total in totals) + " |"
    lines = [head, "|---" * (len(totals) + 1) + "|"]
    for key, words in LINES.items():
        values = (f"{t[key]:.1f}" if isinstance(t[key], float) else str(t[key]) for t in totals)
        lines.append(f"| {words} | " + " | ".join(values) + " |")
    return "\n".join(lines)


def compact(row: dict) -> dict:
    return {
        **{key: row[key] for key in ("seed", "contact", "bodies", "status", "steps", "intersection", "detours")},
        **{key: float(f"{row[key]:.3g}") for key in ("dt", "stiffness", "friction", "min_gap")},
        "cut_steps": sum(pieces > 1 for pieces in row["pieces"]),
        "evaluations": sum(row["evaluations"]),
        "evaluations_max": max(row["evaluations"]),
    }


def main(folders: list[str]) -> None:
    if not folders:
        sys.exit(__doc__)
    rows = [row for folder in folders for row in RunDir.open(folder).read_metrics()]
    rows.sort(key=lambda row: row["seed"])
    bad = [row for row in rows if stopped(row) or row["intersection"]]
    failures = "".join(
        f"\nSeed {row['seed']} ({row['contact']}) ended as {row['status']} at step {row['steps']}"
        f"{', ' + row['intersection'] if row['intersection'] else ''}.\n"
        for row in bad
    )
    page = PAGE.format(seeds=seeds_of(rows), table=table_of(summarize(rows)), failures=failures).rstrip() + "\n"
    (DOCS / "results" / "soak.md").write_text(page)
    lines = ",\n".join(json.dumps(compact(row)) for row in rows)
    (DOCS / "data" / "soak.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main(sys.argv[1:])
