# SPDX-License-Identifier: Apache-2.0
"""What an experiment is: a system, stages in time, and what to measure."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from farfield._core import GrainLaw, GrainShape, GrainSystem

REMOVED = -2  # driver of a grain that is taken out


@dataclass
class Scene:
    """An experiment ready to run.

    stages: (time [s], action) in order; an action changes the system and runs once. each_frame: runs before every frame;
    it may look at the state alone, so that a resumed run does the same. measure: numbers of the present state, one row per
    frame. at_rest: from the rows so far, whether nothing more will happen. finish: the result from all rows. view: x and y
    range of pictures [m].
    """

    name: str
    system: GrainSystem
    seconds: float
    frame_seconds: float
    measure: Callable[[GrainSystem, np.ndarray], dict]
    finish: Callable[[list[dict], np.ndarray], dict]
    view: tuple[tuple[float, float], tuple[float, float]]
    stages: list[tuple[float, Callable[[GrainSystem], None]]] = field(default_factory=list)
    figure: Callable[[list[dict], dict, object], None] | None = None  # (rows, result, matplotlib axes)
    each_frame: Callable[[GrainSystem], None] | None = None
    at_rest: Callable[[list[dict]], bool] | None = None

    def __post_init__(self) -> None:
        self.moving = self.system.free  # grains that are free at the start


def pile_law(
    shape: GrainShape,
    *,
    layers: float,
    friction: float,
    fall: float = 0.0,
    density: float = 1.0,
    depth: float = 0.01,
    impact_depth: float = 0.1,
) -> GrainLaw:
    """Stiff enough that `layers` grains on top press a grain in by `depth` of its radius, and a fall [m] by `impact_depth`."""
    mass, radius = density * shape.area, shape.radius
    at_rest = GrainLaw.default(mass=mass, radius=radius, layers=layers, friction=friction, depth=depth)
    speed = math.sqrt(2.0 * 9.81 * fall)
    hit = GrainLaw.default(mass=mass, radius=radius, layers=1.0, speed=speed, friction=friction, depth=impact_depth)
    return max(at_rest, hit, key=lambda law: law.normal_stiffness)


def still_since(rows: list[dict], start: float, energy: float, seconds: float = 0.5) -> bool:
    """Whether the kinetic energy [J] was below `energy` in all rows of the last `seconds`, all after `start`."""
    now = rows[-1]["time"]
    late = [row for row in rows if row["time"] >= now - seconds]
    return now - seconds > start and all(row["kinetic"] < energy for row in late)


def lattice(
    columns: int, rows: int, spacing: float, origin, generator: np.random.Generator, jitter: float = 0.0
) -> np.ndarray:
    """Poses on a square lattice with random angles, row by row from `origin` (its lower left node), moved by up to
    `jitter` either way along x and y [m]."""
    x, y = np.meshgrid(np.arange(columns) * spacing + origin[0], np.arange(rows) * spacing + origin[1])
    places = np.column_stack([x.ravel(), y.ravel()])
    angles = generator.uniform(-math.pi, math.pi, len(places))
    return np.column_stack([places + generator.uniform(-jitter, jitter, places.shape), angles])


def staggered(columns: int, count: int, spacing: float, origin, generator: np.random.Generator) -> np.ndarray:
    """At least `count` poses on a triangular lattice with random angles, row by row; every other row has one node less."""
    rows = 2 * math.ceil(count / (2 * columns - 1))
    x, y = np.meshgrid(np.arange(columns, dtype=float), np.arange(rows, dtype=float))
    x[1::2] += 0.5
    inside = x <= columns - 1
    places = spacing * np.column_stack([x[inside], 0.5 * math.sqrt(3.0) * y[inside]]) + origin
    return np.column_stack([places, generator.uniform(-math.pi, math.pi, len(places))])


def along(points: np.ndarray, count: int) -> np.ndarray:
    """`count` positions (count, 2) evenly spaced along a polyline, ends included."""
    points = np.asarray(points, dtype=float)
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    at = np.linspace(0.0, lengths[-1], count)
    return np.column_stack([np.interp(at, lengths, points[:, k]) for k in range(2)])


def tiles(points: np.ndarray, count: int, outward: float) -> np.ndarray:
    """Poses of `count` blocks along a polyline that turns left around the inside, shifted outwards [m].

    Every straight part is tiled from end to end, so that blocks overlap at its corners and none cuts one.
    """
    points = np.asarray(points, dtype=float)
    steps = np.diff(points, axis=0)
    lengths = np.linalg.norm(steps, axis=1)
    bounds = np.round(np.concatenate([[0.0], np.cumsum(lengths)]) / lengths.sum() * count).astype(int)
    out = []
    for start, step, length, number in zip(points, steps, lengths, np.diff(bounds), strict=False):
        if number == 0:
            continue
        direction = step / length
        at = (np.arange(number) + 0.5) / number
        places = start + at[:, None] * step + outward * np.array([direction[1], -direction[0]])
        out.append(np.column_stack([places, np.full(number, math.atan2(direction[1], direction[0]))]))
    return np.vstack(out)
