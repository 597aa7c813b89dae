# SPDX-License-Identifier: Apache-2.0
"""Arcs released into a column: the packed height against the share of the circle they cover."""

from __future__ import annotations

import math

import numpy as np

from farfield._core import GrainShape, GrainSystem, GrainWall
from farfield.grains.maps import MapOptions, contact_maps
from farfield.grains.scene import Scene, lattice, pile_law

CIRCLE = 0.7  # radius of the circle that arcs are cut from [m]


def arc(shape: str) -> GrainShape:
    """An arc of the library, cut from a circle of radius 0.7 m."""
    unit = GrainShape.library(shape)
    return unit.scaled(unit.radius * CIRCLE / circle_radius(unit.rings[0][:3]))


def circle_radius(points: np.ndarray) -> float:
    """Radius of the circle through three points."""
    a, b, c = (np.linalg.norm(points[i] - points[j]) for i, j in ((0, 1), (1, 2), (2, 0)))
    (ux, uy), (vx, vy) = points[1] - points[0], points[2] - points[0]
    return float(a * b * c / (2.0 * abs(ux * vy - uy * vx)))


def build(
    *,
    shape: str = "arc50",
    grains: int = 1000,
    seconds: float = 12.0,
    friction: float = 0.1,
    seed: int = 0,
    threads: int = 1,
    maps: MapOptions | None = None,
    progress=None,
) -> Scene:
    """Grains fall from a loose lattice between two smooth walls 20 circle radii apart (scaled with the number)."""
    if grains < 20:
        raise ValueError(f"packing: {grains} grains, expected at least 20")
    grain = arc(shape)
    generator = np.random.default_rng(seed)
    width = CIRCLE * 20.0 * math.sqrt(grains / 1000.0)
    spacing = 2.03 * grain.radius
    columns = max(2, int(width / spacing))
    rows = math.ceil(grains / columns)
    system = GrainSystem(
        [grain],
        contact_maps([grain], maps, progress=progress),
        law=pile_law(grain, layers=0.5 * rows, friction=friction, depth=0.02),
        threads=threads,
    )
    system.add_wall(GrainWall.half_plane(np.array([0.0, 1.0]), 0.0, friction=friction))
    system.add_wall(GrainWall.half_plane(np.array([1.0, 0.0]), 0.0, friction=friction))
    system.add_wall(GrainWall.half_plane(np.array([-1.0, 0.0]), -width, friction=friction))
    start = ((width - spacing * (columns - 1)) / 2, 1.05 * grain.radius)
    system.add(0, lattice(columns, rows, spacing, start, generator)[:grains])

    def measure(now: GrainSystem, poses: np.ndarray) -> dict:
        return {"height": packed_height(poses, width)}

    def finish(rows: list[dict], frames: np.ndarray) -> dict:
        return {
            "grains": grains,
            "shape": shape,
            "height": rows[-1]["height"],
            "solid_fraction": grains * grain.area / (rows[-1]["height"] * width),
            "kinetic_per_grain": rows[-1]["kinetic"] / grains,
        }

    view = ((-1.0, width + 1.0), (-1.0, spacing * rows + 2.0))
    return Scene("packing", system, seconds, 0.1, measure, finish, view, [], _figure)


def packed_height(poses: np.ndarray, width: float, bins: int = 8) -> float:
    """Mean over vertical strips of the highest centroid [m]."""
    strip = np.clip((poses[:, 0] / width * bins).astype(int), 0, bins - 1)
    return float(np.mean([poses[strip == k, 1].max() for k in range(bins) if np.any(strip == k)]))


def _figure(rows: list[dict], result: dict, axes) -> None:
    axes.plot([row["time"] for row in rows], [row["height"] for row in rows])
    axes.set_xlabel("time [s]")
    axes.set_ylabel("packed height [m]")
    axes.set_title(f"packing, {result['shape']}: {result['height']:.2f} m")
