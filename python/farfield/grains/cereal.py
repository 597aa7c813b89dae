# SPDX-License-Identifier: Apache-2.0
"""Letters poured from a tilting box into a bowl."""

from __future__ import annotations

import math

import numpy as np

from farfield._core import GrainLaw, GrainMotion, GrainShape, GrainSystem, GrainWall
from farfield.grains.maps import MapOptions, contact_maps
from farfield.grains.scene import Scene, lattice, tiles

FULL = GRAINS = 385  # the published size, held ones included
HELD = 105
SHAPES = ("U", "D", "O", "N")
SPACING = 2.03
DEPTH = 0.05  # wanted penetration of the fastest impact, in circumradii
TILT_SECONDS = 10.0
HEAP = 1.5  # grains up to this height above the rim count as in the bowl [m]; the box stands higher


def build(
    *,
    grains: int = GRAINS,
    seconds: float = 20.0,
    friction: float = 0.7,
    seed: int = 0,
    threads: int = 1,
    maps: MapOptions | None = None,
    progress=None,
) -> Scene:
    """A box of driven blocks turns by 130 degrees about its lip over a bowl of fixed ones, above a floor."""
    if grains < 40:
        raise ValueError(f"cereal: {grains} grains, expected at least 40")
    held = round(grains * HELD / GRAINS)
    free = grains - held
    generator = np.random.default_rng(seed)
    columns = max(3, round(math.sqrt(2.5 * free)))
    rows = math.ceil(free / columns)
    width, height = SPACING * columns + 0.2, SPACING * rows + 1.0
    bowl_radius = 1.3 * math.sqrt(free) + 4.0
    # The box stands above the rim of the bowl, its lip (upper right corner) over the left part of it.
    lip = np.array([-0.5 * bowl_radius, height + 2.0])
    low = lip - [0.0, height]
    box = np.array([[lip[0] - width, lip[1]], [lip[0] - width, low[1]], [lip[0], low[1]], lip])
    box_count = held // 2
    phi = np.linspace(1.02 * math.pi, 1.98 * math.pi, held - box_count + 1)
    bowl = bowl_radius * np.column_stack([np.cos(phi), np.sin(phi)])
    tile = 1.3 * max(_length(box) / box_count, _length(bowl) / (held - box_count))
    block = GrainShape.block(tile, 0.6)
    shapes = [*(GrainShape.library(name) for name in SHAPES), block]
    system = GrainSystem(
        shapes,
        contact_maps(shapes, maps, driven=[len(SHAPES)], progress=progress),
        law=GrainLaw.default(
            mass=max(shape.area for shape in shapes[:-1]),
            radius=1.0,
            layers=2.0 * rows,
            speed=math.sqrt(2.0 * 9.81 * (lip[1] + bowl_radius)),
            friction=friction,
            depth=DEPTH,
        ),
        threads=threads,
    )
    system.add_wall(GrainWall.half_plane(np.array([0.0, 1.0]), -bowl_radius - 2.0, friction=friction))
    still, pouring = system.add_motion(GrainMotion()), system.add_motion(GrainMotion(pivot=lip))
    poses = lattice(columns, rows, SPACING, (lip[0] - width + 1.1, low[1] + 1.1), generator)[:free]
    kinds = generator.integers(0, len(SHAPES), free)
    for kind in range(len(SHAPES)):
        system.add(kind, poses[kinds == kind])
    # Blocks lie outside the lines, by half their thickness.
    system.add(len(SHAPES), tiles(box, box_count, 0.35), motion=pouring)
    system.add(len(SHAPES), tiles(bowl, held - box_count, 0.35), motion=still)

    def tilt(now: GrainSystem) -> None:
        now.set_motion(pouring, GrainMotion(spin=-math.radians(130.0) / TILT_SECONDS, pivot=lip))

    def stop(now: GrainSystem) -> None:
        now.set_motion(pouring, GrainMotion(pivot=lip))

    def measure(now: GrainSystem, poses: np.ndarray) -> dict:
        x, y, _ = poses[:free].T
        below_rim = np.hypot(x, y) < bowl_radius
        inside = (y < HEAP) & np.where(y > 0, np.abs(x) < bowl_radius, below_rim)
        return {"in_bowl": int(np.count_nonzero(inside))}

    def finish(rows: list[dict], frames: np.ndarray) -> dict:
        return {"grains": grains, "free": free, "shapes": list(SHAPES), "in_bowl": rows[-1]["in_bowl"]}

    swing = math.hypot(width, height)
    view = (
        (lip[0] - width - 4.0, max(bowl_radius, lip[0] + 0.7 * swing) + 4.0),
        (-bowl_radius - 3.0, lip[1] + swing + 2.0),
    )
    start = min(1.0, 0.2 * seconds)
    stages = [(start, tilt), (start + TILT_SECONDS, stop)]
    return Scene("cereal", system, seconds, 0.1, measure, finish, view, stages, _figure)


def _length(points: np.ndarray) -> float:
    return float(np.sum(np.linalg.norm(np.diff(points, axis=0), axis=1)))


def _figure(rows: list[dict], result: dict, axes) -> None:
    axes.plot([row["time"] for row in rows], [row["in_bowl"] for row in rows])
    axes.set_xlabel("time [s]")
    axes.set_ylabel("grains in the bowl")
    axes.set_title(f"cereal, {result['free']} grains")
