# SPDX-License-Identifier: Apache-2.0
"""Collapse of a column on a rough floor: the angle of repose by shape."""

from __future__ import annotations

import math

import numpy as np

from farfield._core import GrainMotion, GrainShape, GrainSystem, GrainWall
from farfield.grains.maps import MapOptions, contact_maps
from farfield.grains.scene import Scene, lattice, pile_law

GRAINS, FIXED = 6990, 690
SPACING = 2.03
FLOOR_SPACING = 1.5  # of the fixed grains that roughen the floor, in circumradii


def build(
    *,
    shape: str = "#",
    grains: int = GRAINS,
    settle: float = 3.0,
    seconds: float = 12.0,
    friction: float = 0.4,
    seed: int = 0,
    threads: int = 1,
    maps: MapOptions | None = None,
    progress=None,
) -> Scene:
    """A column twice as high as wide between a wall and a gate, which is removed after `settle` seconds.

    grains counts the fixed ones in the floor, a tenth of all or four column widths.
    """
    if grains < 40:
        raise ValueError(f"column: {grains} grains, expected at least 40")
    if not 0 < settle < seconds:
        raise ValueError(f"column: settles for {settle} s of {seconds} s, expected less")
    grain = GrainShape.library(shape)
    generator = np.random.default_rng(seed)
    fixed = round(grains * FIXED / GRAINS)
    while True:
        free = grains - fixed
        columns = max(3, round(math.sqrt(0.5 * max(free, 1))))
        rows = math.ceil(free / columns)
        width = SPACING * columns + 0.1
        if FLOOR_SPACING * fixed >= 4.0 * width:
            break
        fixed += 1  # a small column still needs a floor to run out on
    system = GrainSystem(
        [grain],
        contact_maps([grain], maps, progress=progress),
        law=pile_law(grain, layers=rows, friction=friction),
        threads=threads,
    )
    system.add_wall(GrainWall.half_plane(np.array([0.0, 1.0]), -1.0, friction=friction))
    system.add_wall(GrainWall.half_plane(np.array([1.0, 0.0]), 0.0, friction=0.0))
    gate = system.add_wall(GrainWall.half_plane(np.array([-1.0, 0.0]), -width, friction=0.0))
    still = system.add_motion(GrainMotion())
    system.add(0, lattice(columns, rows, SPACING, (1.05, 2.1), generator)[:free])
    floor = np.column_stack(
        [0.5 * FLOOR_SPACING + FLOOR_SPACING * np.arange(fixed), np.zeros(fixed), generator.uniform(-3, 3, fixed)]
    )
    system.add(0, floor, motion=still)

    def remove_gate(now: GrainSystem) -> None:
        wall = now.wall(gate)
        wall.enabled = False
        now.set_wall(gate, wall)

    def measure(now: GrainSystem, poses: np.ndarray) -> dict:
        return {"height": float(poses[:free, 1].max()), "reach": float(np.percentile(poses[:free, 0], 99.0))}

    def finish(rows: list[dict], frames: np.ndarray) -> dict:
        return {
            "grains": grains,
            "free": free,
            "shape": shape,
            "repose_angle": repose_angle(frames[-1][:free]),
            "height": rows[-1]["height"],
            "reach": rows[-1]["reach"],
            "kinetic_per_grain": rows[-1]["kinetic"] / free,
        }

    view = ((-2.0, FLOOR_SPACING * fixed + 2.0), (-3.0, SPACING * rows + 4.0))
    return Scene("column", system, seconds, 0.1, measure, finish, view, [(settle, remove_gate)], _figure)


def repose_angle(poses: np.ndarray, bin_width: float = 4.0) -> float | None:
    """Slope of the free surface [degrees]: a line through the highest grain of each bin, without crest and toe."""
    bins = np.floor(poses[:, 0] / bin_width).astype(int)
    columns = np.unique(bins)
    height = np.array([poses[bins == k, 1].max() for k in columns])
    x = (columns + 0.5) * bin_width
    crest = int(np.argmax(height))
    part = (x >= x[crest]) & (height < 0.85 * height[crest]) & (height > 0.15 * height[crest])
    if np.count_nonzero(part) < 2:
        return None
    return float(-math.degrees(math.atan(np.polyfit(x[part], height[part], 1)[0])))


def _figure(rows: list[dict], result: dict, axes) -> None:
    times = [row["time"] for row in rows]
    axes.plot(times, [row["height"] for row in rows], label="height")
    axes.plot(times, [row["reach"] for row in rows], label="reach")
    axes.set_xlabel("time [s]")
    axes.set_ylabel("[m]")
    axes.legend()
    angle = result["repose_angle"]
    axes.set_title(f"column, {result['shape']}: repose {'-' if angle is None else f'{angle:.1f} degrees'}")
