#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/images/architecture.svg: the way a simulation and its gradient take through the rooms of the core."""

from __future__ import annotations

from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "docs" / "images" / "architecture.svg"
INK, SOFT, FORWARD, BACKWARD = "#1f2933", "#7b8794", "#2563a8", "#b4451f"
FILLS = {"data": "#eef4fb", "work": "#ffffff", "gradient": "#fdf1ec"}

# name: (x, y, width, height, kind, title, lines)
BOXES = {
    "scene": (20, 60, 150, 74, "data", "Scene", ["MJCF, URDF or builder", "plain description"]),
    "model": (220, 60, 170, 74, "data", "Model, Parameters", ["immutable; a vector", "with names"]),
    "simulation": (440, 60, 180, 74, "work", "Simulation.step", ["state, warm starts;", "rollout is a loop over it"]),
    "trajectory": (680, 60, 160, 74, "data", "Trajectory", ["states, controls,", "one report per step"]),
    "contact": (190, 210, 170, 64, "work", "ContactStep", ["energy, linearize, vjp"]),
    "models": (190, 305, 170, 64, "work", "contact models", ["longrange, polyhedral, ipc"]),
    "problem": (390, 210, 150, 64, "work", "step_problem", ["inertia, joints, contact"]),
    "newton": (570, 210, 120, 64, "work", "newton", ["direction, free way"]),
    "pieces": (720, 210, 120, 64, "work", "piecewise_step", ["where it stops"]),
    "linearization": (555, 305, 150, 64, "work", "step_linearization", ["blocks, factor, solve"]),
    "vjp": (680, 405, 160, 64, "gradient", "rollout_vjp", ["k losses at once"]),
    "jacobian": (440, 405, 150, 64, "gradient", "step_jacobian", ["A, B, C of one step"]),
    "optimize": (20, 405, 150, 74, "gradient", "optimize", ["new controls, state,", "parameters"]),
}
# from, side, to, side, colour
ARROWS = [
    ("scene", "r", "model", "l", FORWARD),
    ("model", "r", "simulation", "l", FORWARD),
    ("simulation", "r", "trajectory", "l", FORWARD),
    ("simulation", "b", "newton", "t", FORWARD),
    ("newton", "l", "problem", "r", FORWARD),
    ("problem", "l", "contact", "r", FORWARD),
    ("contact", "b", "models", "t", FORWARD),
    ("newton", "b", "linearization", "t", FORWARD),
    ("newton", "r", "pieces", "l", FORWARD),
    ("vjp", "t", "linearization", "r", BACKWARD),
    ("jacobian", "t", "linearization", "l", BACKWARD),
]
# round corners, not straight through other boxes: colour and path
DETOURS = [
    (BACKWARD, "M840,97 H850 V437 H840"),
    (BACKWARD, "M440,442 H170"),
    (BACKWARD, "M760,469 V485 H150 V479"),
    (BACKWARD, "M95,405 V170 H305 V134"),
]


def port(name: str, side: str) -> tuple[float, float]:
    """The middle of one side of a box."""
    x, y, w, h, *_ = BOXES[name]
    return {"l": (x, y + h / 2), "r": (x + w, y + h / 2), "t": (x + w / 2, y), "b": (x + w / 2, y + h)}[side]


def arrow(start: str, out: str, end: str, into: str, color: str) -> str:
    """A smooth line that leaves and enters at right angles."""
    (x0, y0), (x1, y1) = port(start, out), port(end, into)
    reach = 0.45 * (abs(x1 - x0) + abs(y1 - y0))
    away = {"l": (-1, 0), "r": (1, 0), "t": (0, -1), "b": (0, 1)}
    (a, b), (c, d) = away[out], away[into]
    path = f"M{x0},{y0} C{x0 + a * reach},{y0 + b * reach} {x1 + c * reach},{y1 + d * reach} {x1},{y1}"
    return f'<path d="{path}" fill="none" stroke="{color}" stroke-width="1.6" marker-end="url(#{color[1:]})"/>'


def box(name: str) -> str:
    x, y, w, h, kind, title, lines = BOXES[name]
    text = f'<text x="{x + w / 2}" y="{y + 24}" text-anchor="middle" font-weight="600" fill="{INK}">{title}</text>'
    for k, line in enumerate(lines):
        text += f'<text x="{x + w / 2}" y="{y + 43 + 16 * k}" text-anchor="middle" font-size="12" fill="{SOFT}">{line}</text>'
    return f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="7" fill="{FILLS[kind]}" stroke="{INK}"/>{text}'


def main() -> None:
    heads = "".join(
        f'<marker id="{c[1:]}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0,0 L8,4 L0,8 z" fill="{c}"/></marker>'
        for c in (FORWARD, BACKWARD)
    )
    titles = [(20, 34, "forward", FORWARD), (20, 392, "backward", BACKWARD)]
    words = "".join(f'<text x="{x}" y="{y}" font-weight="600" fill="{c}">{t}</text>' for x, y, t, c in titles)
    lines = "".join(
        f'<path d="{path}" fill="none" stroke="{c}" stroke-width="1.6" marker-end="url(#{c[1:]})"/>'
        for c, path in DETOURS
    )
    body = words + lines + "".join(arrow(*each) for each in ARROWS) + "".join(box(name) for name in BOXES)
    TARGET.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 490" font-family="Helvetica, Arial, sans-serif" '
        f'font-size="14"><rect width="860" height="490" fill="white"/><defs>{heads}</defs>{body}</svg>\n'
    )


if __name__ == "__main__":
    main()
