# SPDX-License-Identifier: Apache-2.0
"""What an experiment is: a system, stages in time, and what to measure."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from farfield._core import GrainLaw, GrainShape, GrainSystem


@dataclass
class Scene:
    """An experiment ready to run.

    stages: (time [s], action) in order; an action changes the system and runs once. measure: numbers of the present
    state, one row per frame. finish: the result from all rows. view: x and y range of pictures [m].
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


def pile_law(
    shape: GrainShape, *, layers: float, friction: float, density: float = 1.0, depth: float = 0.01
) -> GrainLaw:
    """Stiff enough that `layers` grains on top press a grain in by `depth` of its radius."""
    return GrainLaw.default(
        mass=density * shape.area, radius=shape.radius, layers=layers, friction=friction, depth=depth
    )


def lattice(columns: int, rows: int, spacing: float, origin, generator: np.random.Generator) -> np.ndarray:
    """Poses on a square lattice with random angles, row by row from `origin` (its lower left node) [m]."""
    x, y = np.meshgrid(np.arange(columns) * spacing + origin[0], np.arange(rows) * spacing + origin[1])
    return np.column_stack([x.ravel(), y.ravel(), generator.uniform(-math.pi, math.pi, x.size)])


def along(points: np.ndarray, count: int) -> np.ndarray:
    """`count` positions (count, 2) evenly spaced along a polyline, ends included."""
    points = np.asarray(points, dtype=float)
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    at = np.linspace(0.0, lengths[-1], count)
    return np.column_stack([np.interp(at, lengths, points[:, k]) for k in range(2)])
