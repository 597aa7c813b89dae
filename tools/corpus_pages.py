#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the pages and data of `farfield corpus rigid` and `farfield corpus gradients` from their run directories.

tools/corpus_pages.py runs/corpus-rigid runs/corpus-rigid-ipc runs/corpus-gradients ...

Of the same scene, contact model and jitter the last row given counts.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from farfield.experiments import gradient_corpus, rigid_corpus
from farfield.experiments.gradient_scenes import SCENES as GRADIENT_SCENES
from farfield.experiments.rigid_scenes import SCENES as RIGID_SCENES

DOCS = Path(__file__).resolve().parents[1] / "docs"
RIGID = """# Hard scenes of rigid bodies

`farfield corpus rigid --contact M`: scenes with which contact of rigid bodies is usually tried, built here from what is published about
them ([Erleben2018], [Ferguson2021]). A scene passes when every step arrives, no state intersects (exact triangle tests, and those of the IPC
Toolkit), between any two states every pair of bodies has a way that the IPC Toolkit finds free, and the outcome is what mechanics says:
arches and card houses stand, boxes slide and hold where Coulomb says, chains stay linked, nuts turn as they go down, mechanisms transmit.

{summary}

Times are CPU time of a step on one core of a busy machine, median and worst [ms]; `-`: hulls would meet at the start, or fill a hole. All rows are in
`docs/data/corpus_rigid.json`.

{table}

{problems}
"""
GRADIENTS = """# Gradients of many scenes

`farfield corpus gradients`: `gradcheck` on scenes of every kind, with one body at a hundredth of and at once the size of the smallest thing
from its neighbour, or as the scene is where it cannot be moved there. A derivative passes within 1e-5 of the differences, or within their own noise. All rows
are in `docs/data/corpus_gradients.json`.

{summary}

| scene | derivatives | limited by noise | largest error | |
|---|---|---|---|---|
{table}
"""


def rows_of(folders: list[Path], kind: str) -> dict[tuple, dict]:
    rows = {}
    for folder in folders:
        if json.loads((folder / "config.json").read_text())["name"] == kind:
            for line in (folder / "metrics.jsonl").read_text().splitlines():
                row = json.loads(line)
                rows[row["scene"], row["contact"], row.get("jitter", 0)] = row
    return rows


def rounded(row: dict) -> dict:
    return {key: float(f"{value:.3g}") if isinstance(value, float) else value for key, value in row.items()}


def write_rows(name: str, rows: list[dict]) -> None:
    lines = ",\n".join(json.dumps(rounded(row)) for row in rows)
    (DOCS / "data" / name).write_text(f"[\n{lines}\n]\n")


def rigid_page(rows: dict[tuple, dict]) -> None:
    models = [name for name in rigid_corpus.CERTIFIED if any(key[1] == name for key in rows)]
    names = [name for name in RIGID_SCENES if any(key[0] == name for key in rows)]
    write_rows("corpus_rigid.json", [row for name in names for (scene, *_), row in rows.items() if scene == name])
    totals = {model: rigid_corpus.summarize([row for key, row in rows.items() if key[1] == model]) for model in models}
    keys = [key for key in totals[models[0]] if key != "scenes"]
    summary = "| | " + " | ".join(models) + " |\n" + "|---" * (len(models) + 1) + "|\n"
    summary += "\n".join(
        f"| {key.replace('_', ' ')} | " + " | ".join(str(totals[m][key]) for m in models) + " |" for key in keys
    )
    table = "| scene | " + " | ".join(models) + " |\n" + "|---" * (len(models) + 1) + "|\n"
    table += "\n".join(
        f"| {name} | " + " | ".join(cell(rows.get((name, m, 0))) for m in models) + " |" for name in names
    )
    wrong = [row for row in rows.values() if row["status"] != "skipped" and not rigid_corpus.passed(row)]
    problems = "\n".join(f"- {row['scene']}, {row['contact']}: {problem(row)}" for row in wrong)
    text = RIGID.format(
        summary=summary, table=table, problems=f"What does not pass:\n\n{problems}" if wrong else "All pass."
    )
    (DOCS / "results" / "corpus_rigid.md").write_text(text)


def problem(row: dict) -> str:
    return (
        row["intersection"]
        or row["passed_through"]
        or row["problem"]
        or f"{row['status']} at step {row['steps']} of {row['of']}"
    )


def cell(row: dict | None) -> str:
    if row is None:
        return ""
    if row["status"] == "skipped":
        return "-"
    mark = "" if rigid_corpus.passed(row) else ", fails"
    return f"{row['median_ms']:.2g} ({row['worst_ms']:.2g}){mark}"


def gradient_page(rows: dict[tuple, dict]) -> None:
    ordered = [row for name in GRADIENT_SCENES for key, row in rows.items() if key[0] == name]
    write_rows("corpus_gradients.json", ordered)
    total = gradient_corpus.summarize(ordered)
    summary = ", ".join(
        f"{value if not isinstance(value, float) else f'{value:.1e}'} {key.replace('_', ' ')}"
        for key, value in total.items()
    )
    lines = []
    for row in ordered:
        wrong = ", ".join(
            f"{case['quantity']} at {case['gap']:.2g} m off by {case['relative_error']:.1e}" for case in row["failed"]
        )
        said = row["refused"] or wrong or ("; ".join(row["skipped"]))
        error = row.get("max_relative_error")
        lines.append(
            f"| {row['scene']} | {row['cases']} | {row.get('noise_limited', 0)} | {'' if error is None else f'{error:.1e}'} "
            f"| {'' if row['passed'] else 'fails: '}{said[:160]} |"
        )
    (DOCS / "results" / "corpus_gradients.md").write_text(
        GRADIENTS.format(summary=f"In all: {summary}.", table="\n".join(lines))
    )


def main() -> int:
    folders = [Path(each) for each in sys.argv[1:]]
    if not folders:
        print(__doc__, file=sys.stderr)
        return 2
    for kind, page in (("corpus-rigid", rigid_page), ("corpus-gradients", gradient_page)):
        rows = rows_of(folders, kind)
        if rows:
            page(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
