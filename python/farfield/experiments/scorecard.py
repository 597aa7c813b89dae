# SPDX-License-Identifier: Apache-2.0
"""One page that says what holds and what does not, from results that were recorded: every row has a mark that texts can link to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from farfield.experiments import gradient_corpus, rigid_corpus
from farfield.experiments.soak import stopped
from farfield.reading import BadFile, read_json, require

MODELS = ("longrange", "ipc", "polyhedral", "ipc-global")
COLORS = ("#2266aa", "#cc6622", "#338844", "#775599")
SPEED_FORM = [{"id": str, "what": str, "ours": float, "peer": float, "unit": str, "peer_name": str, "page": str}]
PROPERTY_FORM = [{"model": str, "barrier": bool, "smooth": bool, "non_prehensile": bool, "non_vanishing": bool}]
FAULT_FORM = [{"id": str, "what": str, "tried": int, "wrong": int, "command": str}]
SOAK_FORM = [{"seed": int, "contact": str, "status": str, "steps": int, "evaluations": int}]
RIGID_FORM = [{"scene": str, "contact": str, "status": str, "problem": (str, None)}]
GRADIENT_FORM = [{"scene": str, "passed": bool, "cases": int, "refused": (str, None), "failed": list, "skipped": list}]


@dataclass(frozen=True)
class Row:
    """A statement, what was measured, and whether it holds; None: neither, as for a speed."""

    mark: str
    what: str
    measured: str
    holds: bool | None
    source: str  #: a page, or the command that measures it anew


@dataclass(frozen=True)
class Section:
    """Rows under a heading, with plots."""

    title: str
    about: str
    rows: Sequence[Row]
    plots: Sequence[str] = ()


def load(folder: Path, name: str, form) -> list[dict]:
    """Rows of a recorded file, in the form that is needed."""
    file = folder / name
    if not file.is_file():
        raise BadFile(f"{file}: no such file, expected recorded results; name their folder with --data")
    rows = read_json(file)
    require(file, rows, form)
    if not rows:
        raise BadFile(f"{file}: no rows, expected at least one")
    return rows


def sections(folder: Path) -> list[Section]:
    """Everything that was recorded below a folder."""
    return [
        properties(load(folder, "properties.json", PROPERTY_FORM)),
        gradients(load(folder, "corpus_gradients.json", GRADIENT_FORM)),
        rigid(load(folder, "corpus_rigid.json", RIGID_FORM)),
        heaps(load(folder, "soak.json", SOAK_FORM)),
        faults(load(folder, "faults.json", FAULT_FORM)),
        speed(load(folder, "speed.json", SPEED_FORM)),
    ]


def properties(rows: list[dict]) -> Section:
    words = {
        "barrier": "never touches",
        "smooth": "twice differentiable",
        "non_prehensile": "never pulls",
        "non_vanishing": "reaches everywhere",
    }
    made = []
    for row in rows:
        holding = [text for key, text in words.items() if row[key]]
        lacking = [text for key, text in words.items() if not row[key]]
        measured = ", ".join(holding) + (f"; not: {', '.join(lacking)}" if lacking else "")
        made.append(
            Row(
                f"property-{row['model']}",
                f"contact by {row['model']}",
                measured,
                None if lacking else True,
                "farfield properties",
            )
        )
    return Section("Properties", "What each contact model keeps of the four things one may want.", made)


def gradients(rows: list[dict]) -> Section:
    total = gradient_corpus.summarize(rows)
    made = [
        Row(
            "gradients", "derivatives agree with differences within 1e-5",
            f"{total['passed']} of {total['scenes']} scenes, {total['derivatives'] - total['wrong']} of {total['derivatives']} derivatives",
            total["passed"] == total["scenes"], "farfield corpus gradients",
        )
    ]  # fmt: skip
    for row in rows:
        if not row["passed"]:
            wrong = (
                ", ".join(f"{case['quantity']} by {case['relative_error']:.1e}" for case in row["failed"])
                or row["refused"]
            )
            made.append(
                Row(
                    f"gradient-{row['scene']}",
                    row["scene"],
                    str(wrong),
                    False,
                    f"farfield corpus gradients --only {row['scene']}",
                )
            )
    errors = [
        (row["scene"], row["max_relative_error"], 0) for row in rows if row["cases"] and row["max_relative_error"]
    ]
    plot = dots("Largest relative error of a scene", errors, unit="", limit=gradient_limit())
    return Section("Gradients", "gradcheck on scenes of every kind; the line is what passes.", made, [plot])


def gradient_limit() -> float:
    from farfield.gradcheck import TOLERANCE

    return TOLERANCE


def rigid(rows: list[dict]) -> Section:
    made = []
    for model in MODELS:
        own = [row for row in rows if row["contact"] == model]
        if not own:
            continue
        total = rigid_corpus.summarize(own)
        measured = (
            f"{total['to_their_end']} of {total['runs']} to their end, {total['intersections']} intersections, "
            f"{total['passed']} also as mechanics says"
        )
        made.append(
            Row(
                f"rigid-{model}",
                f"hard scenes under {model}",
                measured,
                total["passed"] == total["runs"],
                f"farfield corpus rigid --contact {model}",
            )
        )
    points = [
        (row["scene"], row["median_ms"], MODELS.index(row["contact"]))
        for row in rows
        if row.get("median_ms") and not row.get("jitter")
    ]
    plot = dots("Median time of a step", points, unit="ms", names=MODELS)
    return Section(
        "Hard rigid scenes",
        "Spikes, chains, arches, card houses and mechanisms, with checks of their own.",
        made,
        [plot],
    )


def heaps(rows: list[dict]) -> Section:
    steps = sum(row["steps"] for row in rows)
    stops = sum(map(stopped, rows))
    crossing = sum(row.get("intersection") is not None for row in rows)
    made = [
        Row(
            "soak-stops",
            "every step of random heaps arrives",
            f"{stops} stops in {steps:,} steps",
            stops == 0,
            "farfield soak",
        ),
        Row(
            "soak-intersections",
            "nothing intersects",
            f"{crossing} intersections in {steps:,} steps",
            crossing == 0,
            "farfield soak",
        ),
    ]
    points = [
        (str(row["seed"]), row["evaluations"] / max(row["steps"], 1), MODELS.index(row["contact"]))
        for row in rows
        if row["contact"] in MODELS
    ]
    return Section(
        "Random heaps",
        "Seeds that nothing was chosen by.",
        made,
        [dots("Contact evaluations a step", points, unit="", names=MODELS)],
    )


def faults(rows: list[dict]) -> Section:
    made = [
        Row(row["id"], row["what"], f"{row['wrong']} wrong of {row['tried']:,}", row["wrong"] == 0, row["command"])
        for row in rows
    ]
    return Section("Faults and reliability", "Damaged files, threads, instruction sets.", made)


def speed(rows: list[dict]) -> Section:
    made = [
        Row(
            row["id"], row["what"], f"{row['ours']:g} {row['unit']}; {row['peer_name']} {row['peer']:g} {row['unit']}: "
            f"{row['peer'] / row['ours']:.2g} times as fast", None, row["page"],
        )
        for row in rows
    ]  # fmt: skip
    points = [(f"{row['what']} / {row['peer_name']}", row["peer"] / row["ours"], 0) for row in rows]
    plot = dots("Time of the peer over ours", points, unit="", limit=1.0)
    return Section(
        "Speed beside others", "As recorded on the pages named; right of the line ours is faster.", made, [plot]
    )


def dots(
    title: str,
    points: Sequence[tuple[str, float, int]],
    *,
    unit: str,
    names: Sequence[str] = (),
    limit: float | None = None,
) -> str:
    """A plot of numbers on a logarithmic axis, one line for each label, as SVG."""
    labels = list(dict.fromkeys(label for label, _, _ in points))
    values = [value for _, value, _ in points if value > 0.0] + ([limit] if limit else [])
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)
    left, width, row = 300, 560, 15
    height = row * len(labels)

    def x(value: float) -> float:
        return left + width * (math.log10(value) - low) / (high - low)

    out = [f'<svg viewBox="0 0 {left + width + 30} {height + 60}" role="img" aria-label="{escape(title)}">']
    out.append(f'<text x="{left}" y="14" class="title">{escape(title)}{f" [{unit}]" if unit else ""}</text>')
    for power in range(low, high + 1):
        at = x(10.0**power)
        out.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="24" y2="{24 + height}" class="grid"/>')
        out.append(f'<text x="{at:.1f}" y="{40 + height}" class="tick">1e{power}</text>')
    if limit:
        out.append(f'<line x1="{x(limit):.1f}" x2="{x(limit):.1f}" y1="24" y2="{24 + height}" class="limit"/>')
    for k, label in enumerate(labels):
        out.append(f'<text x="{left - 8}" y="{34 + row * k}" class="label">{escape(label[:50])}</text>')
        for other, value, color in points:
            if other == label and value > 0.0:
                told = f"{label}: {value:.3g} {unit}"
                out.append(
                    f'<circle cx="{x(value):.1f}" cy="{30 + row * k}" r="4" fill="{COLORS[color]}"><title>{escape(told)}</title></circle>'
                )
    used = sorted({color for *_, color in points})
    if names and len(used) > 1:
        for n, color in enumerate(used):
            at = left + 130 * n
            out.append(
                f'<circle cx="{at + 5}" cy="{51 + height}" r="4" fill="{COLORS[color]}"/><text x="{at + 14}" y="{55 + height}">{names[color]}</text>'
            )
    return "\n".join([*out, "</svg>"])


STYLE = """body{font:15px/1.45 system-ui,sans-serif;max-width:960px;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3em .6em;border-bottom:1px solid #ddd;vertical-align:top}
tr:target{background:#ffc}.yes{color:#286b34}.no{color:#a3281e}.code{font-family:monospace;font-size:13px}
svg{width:100%;margin:1em 0;font-size:11px}.title{font-size:13px;font-weight:600}.label{text-anchor:end}.tick{text-anchor:middle}
.grid{stroke:#ddd}.limit{stroke:#a3281e;stroke-dasharray:4 3}"""


def page(made: Sequence[Section]) -> str:
    """The whole page, without anything from elsewhere."""
    rows = [row for section in made for row in section.rows if row.holds is not None]
    holding = sum(bool(row.holds) for row in rows)
    body = [
        f"<h1>Farfield: scorecard</h1><p>{holding} of {len(rows)} statements hold. Made by <code>farfield scorecard</code> from recorded results.</p>"
    ]
    for section in made:
        body.append(f"<h2>{escape(section.title)}</h2><p>{escape(section.about)}</p><table>")
        body.append("<tr><th>statement</th><th>measured</th><th>holds</th><th>see</th></tr>")
        for row in section.rows:
            word, kind = {True: ("yes", "yes"), False: ("no", "no"), None: ("", "")}[row.holds]
            body.append(
                f'<tr id="{escape(row.mark)}"><td>{escape(row.what)}</td><td>{escape(row.measured)}</td>'
                f'<td class="{kind}">{word}</td><td class="code">{escape(row.source)}</td></tr>'
            )
        body.append("</table>")
        body += section.plots
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Farfield: scorecard</title><style>{STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{chr(10).join(body)}</body></html>\n'
