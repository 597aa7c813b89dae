# SPDX-License-Identifier: Apache-2.0
"""Grain outlines from SVG path data: M L H V C Q Z, absolute and relative. Curves become short straight pieces."""

from __future__ import annotations

import re

import numpy as np

from farfield._core import GrainShape

TOKEN = re.compile(r"[A-Za-z]|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
ARGUMENTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "Q": 4, "Z": 0}
CURVE_PIECES = 8


def shape_from_svg(name: str, path: str, *, radius: float = 1.0) -> GrainShape:
    """A grain from the `d` attribute of an SVG path, scaled to a circumradius [m].

    The largest ring is the outline and the others are holes, whatever their direction; y points up in the result.
    """
    rings = [ring * [1.0, -1.0] for ring in path_rings(path)]
    if not rings:
        raise ValueError(f"shape '{name}': the SVG path has no points")
    rings.sort(key=lambda ring: -abs(_area(ring)))
    oriented = [ring if (_area(ring) > 0) == (k == 0) else ring[::-1] for k, ring in enumerate(rings)]
    return GrainShape(name, [np.ascontiguousarray(ring) for ring in oriented]).scaled(radius)


def path_rings(path: str) -> list[np.ndarray]:
    """The closed rings of SVG path data, each of shape (n, 2), y down as in SVG."""
    rest = TOKEN.sub("", path).replace(",", "").strip()
    if rest:
        raise ValueError(f"SVG path: cannot read '{rest[:20]}'")
    tokens = TOKEN.findall(path)
    rings: list[list[np.ndarray]] = []
    here, command, at = np.zeros(2), "", 0
    while at < len(tokens):
        if tokens[at].isalpha():
            command, at = tokens[at], at + 1
        if command.upper() not in ARGUMENTS:
            raise ValueError(f"SVG path: command '{command}', expected one of {' '.join(ARGUMENTS)}")
        if command.upper() == "Z":
            if rings and len(rings[-1]):
                here = rings[-1][0]
            command = ""
            continue
        count = ARGUMENTS[command.upper()]
        if at + count > len(tokens) or any(token.isalpha() for token in tokens[at : at + count]):
            raise ValueError(f"SVG path: '{command}' needs {count} numbers")
        numbers = np.array([float(token) for token in tokens[at : at + count]])
        at += count
        if command.upper() == "M":
            rings.append([])
        elif not rings:
            raise ValueError(f"SVG path: starts with '{command}', expected M")
        points = _points(command, numbers, here)
        rings[-1].extend(points)
        here = points[-1]
        command = {"M": "L", "m": "l"}.get(command, command)  # further pairs after a move are lines
    return [_without_repeats(np.array(ring)) for ring in rings if len(ring) > 1]


def _points(command: str, numbers: np.ndarray, here: np.ndarray) -> list[np.ndarray]:
    origin = here if command.islower() else np.zeros(2)
    kind = command.upper()
    if kind == "H":
        return [np.array([numbers[0] + origin[0], here[1]])]
    if kind == "V":
        return [np.array([here[0], numbers[0] + origin[1]])]
    corners = numbers.reshape(-1, 2) + origin
    if kind in "ML":
        return [corners[0]]
    t = np.linspace(0.0, 1.0, CURVE_PIECES + 1)[1:, None]
    if kind == "Q":
        return list((1 - t) ** 2 * here + 2 * t * (1 - t) * corners[0] + t**2 * corners[1])
    return list(
        (1 - t) ** 3 * here + 3 * t * (1 - t) ** 2 * corners[0] + 3 * t**2 * (1 - t) * corners[1] + t**3 * corners[2]
    )


def _without_repeats(ring: np.ndarray) -> np.ndarray:
    keep = np.linalg.norm(ring - np.roll(ring, 1, axis=0), axis=1) > 1e-9 * max(np.ptp(ring), 1e-300)
    return ring[keep]


def _area(ring: np.ndarray) -> float:
    x, y = ring.T
    return 0.5 * float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
