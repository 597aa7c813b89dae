# SPDX-License-Identifier: Apache-2.0
"""Arcs released into a column: the packed height against the share of the circle they cover."""

from __future__ import annotations

import math

import numpy as np

from farfield._core import GrainLaw, GrainMotion, GrainShape, GrainSystem
from farfield.grains.maps import MapOptions, contact_maps
from farfield.grains.scene import Scene, lattice, still_since, tiles

FULL, FULL_FIXED = 1152, 152  # the published size, fixed ones included
GRAINS = FULL
CIRCLE = 0.7  # radius of the circle that arcs are cut from [m]
SPACING, JITTER = 2.25, 0.12  # of the initial lattice, in circumradii: disordered, and no two grains can overlap
THICKNESS = 0.6  # of the fixed blocks [m]
DEPTH = 0.05  # wanted penetration of the fastest impact [m]; the arcs are 0.14 m thick
REST = 1e-4  # kinetic energy per grain that counts as rest, in m g R


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
    grains: int = GRAINS,
    seconds: float = 20.0,
    friction: float = 0.1,
    seed: int = 0,
    threads: int = 1,
    maps: MapOptions | None = None,
    progress=None,
) -> Scene:
    """Grains fall from a loose lattice into a column of fixed blocks, 80 circle radii wide at the published size.

    grains counts the blocks, about an eighth of all. The run ends once the packing is at rest.
    """
    if grains < 40:
        raise ValueError(f"packing: {grains} grains, expected at least 40")
    grain = arc(shape)
    generator = np.random.default_rng(seed)
    fixed = round(grains * FULL_FIXED / FULL)
    free = grains - fixed
    width = CIRCLE * 80.0 * math.sqrt(grains / FULL)
    spacing = SPACING * grain.radius
    columns = max(2, int(width / spacing))
    rows = math.ceil(free / columns)
    height = spacing * rows
    top = height + 2.0
    block = GrainShape.block(1.2 * (width + 2 * top) / fixed, THICKNESS)
    shapes = [grain, block]
    system = GrainSystem(
        shapes,
        contact_maps(shapes, maps, driven=[1], progress=progress),
        law=GrainLaw.default(
            mass=grain.area,
            radius=grain.radius,
            layers=0.5 * height / CIRCLE,
            speed=math.sqrt(9.81 * height),  # of a fall from half the height
            friction=friction,
            depth=DEPTH / grain.radius,
        ),
        threads=threads,
    )
    still = system.add_motion(GrainMotion())
    start = ((width - spacing * (columns - 1)) / 2, 1.2 * grain.radius)
    system.add(0, lattice(columns, rows, spacing, start, generator, JITTER * grain.radius)[:free])
    outline = np.array([[0.0, top], [0.0, 0.0], [width, 0.0], [width, top]])
    system.add(1, tiles(outline, fixed, 0.5 * THICKNESS), motion=still)

    def measure(now: GrainSystem, poses: np.ndarray) -> dict:
        return {"height": packed_height(poses[:free], width)}

    def finish(rows: list[dict], frames: np.ndarray) -> dict:
        return {
            "grains": grains,
            "free": free,
            "shape": shape,
            "height": rows[-1]["height"],
            "solid_fraction": free * grain.area / (rows[-1]["height"] * width),
            "kinetic_per_grain": rows[-1]["kinetic"] / free,
            "outside": int(
                np.count_nonzero((frames[-1][:free, 1] < 0) | (np.abs(frames[-1][:free, 0] - width / 2) > width / 2))
            ),
        }

    rest = REST * grain.area * 9.81 * grain.radius * free

    def at_rest(rows: list[dict]) -> bool:
        return still_since(rows, 1.0, rest)

    view = ((-1.5, width + 1.5), (-1.5, top + 1.0))
    return Scene("packing", system, seconds, 0.1, measure, finish, view, [], _figure, None, at_rest)


def packed_height(poses: np.ndarray, width: float, bins: int = 8) -> float:
    """Mean over vertical strips of the highest centroid [m]."""
    strip = np.clip((poses[:, 0] / width * bins).astype(int), 0, bins - 1)
    return float(np.mean([poses[strip == k, 1].max() for k in range(bins) if np.any(strip == k)]))


def _figure(rows: list[dict], result: dict, axes) -> None:
    axes.plot([row["time"] for row in rows], [row["height"] for row in rows])
    axes.set_xlabel("time [s]")
    axes.set_ylabel("packed height [m]")
    axes.set_title(f"packing, {result['shape']}: {result['height']:.2f} m")
