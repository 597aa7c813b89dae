# SPDX-License-Identifier: Apache-2.0
"""Collapse of a column on a rough floor: the angle of repose by shape."""

from __future__ import annotations

import math

import numpy as np

from farfield._core import GrainMotion, GrainShape, GrainSystem, GrainWall
from farfield.grains.maps import MapOptions, contact_maps
from farfield.grains.outline_files import shape_named
from farfield.grains.scene import Scene, lattice, pile_law, still_since

FULL, FULL_FIXED = 6990, 690  # the published size, fixed ones included
GRAINS = 1000
SPACING, JITTER = 2.25, 0.12  # of the initial lattice, in circumradii: disordered, and no two grains can overlap
ASPECT = 1.0  # height of the settled column over its width
HULLS = 0.8  # share of a settled column that convex hulls of grains take, about: 0.76 (O) to 0.98 (U, which nest)
REST = 2e-4  # kinetic energy per grain that counts as rest, in m g R
FLOOR_SPACING = 1.5  # of the fixed grains that roughen the floor, in circumradii


def build(
    *,
    shape: str = "#",
    grains: int = GRAINS,
    settle: float | None = None,
    seconds: float | None = None,
    friction: float = 0.4,
    seed: int = 0,
    threads: int = 1,
    maps: MapOptions | None = None,
    progress=None,
) -> Scene:
    """A column between a wall and a gate, which is removed after `settle` seconds; settled it is about as high as wide.

    How far a column runs out depends on its height over its width, so this is the same for all shapes. grains counts the fixed
    ones in the floor, a tenth of all or four column widths. Times are by default those of a fall from the height of the loose
    grains and of coming to rest; the run ends earlier once the heap is at rest.
    """
    if grains < 40:
        raise ValueError(f"column: {grains} grains, expected at least 40")
    grain = shape_named(shape)
    generator = np.random.default_rng(seed)
    hull = GrainShape("hull", [grain.hull])
    fixed = round(grains * FULL_FIXED / FULL)
    while True:
        free = grains - fixed
        settled = math.sqrt(max(free, 1) * hull.area / HULLS / ASPECT)  # width
        columns = max(3, round(settled / SPACING))
        rows = math.ceil(free / columns)
        height = SPACING * rows
        width = SPACING * columns + 0.2
        if FLOOR_SPACING * fixed >= 4.0 * width:
            break
        fixed += 1  # a small column still needs a floor to run out on
    settle = 0.9 * math.sqrt(height) if settle is None else settle
    seconds = settle + 2.2 * math.sqrt(height) if seconds is None else seconds
    if not 0 < settle < seconds:
        raise ValueError(f"column: settles for {settle:g} s of {seconds:g} s, expected less")
    system = GrainSystem(
        [grain],
        contact_maps([grain], maps, progress=progress),
        law=pile_law(grain, layers=rows, fall=0.35 * height, friction=friction),
        threads=threads,
    )
    system.add_wall(GrainWall.half_plane(np.array([0.0, 1.0]), -1.0, friction=friction))
    system.add_wall(GrainWall.half_plane(np.array([1.0, 0.0]), 0.0, friction=0.0))
    gate = system.add_wall(GrainWall.half_plane(np.array([-1.0, 0.0]), -width, friction=0.0))
    still = system.add_motion(GrainMotion())
    system.add(0, lattice(columns, rows, SPACING, (1.2, 2.2), generator, JITTER)[:free])
    floor = np.column_stack(
        [0.5 * FLOOR_SPACING + FLOOR_SPACING * np.arange(fixed), np.zeros(fixed), generator.uniform(-3, 3, fixed)]
    )
    system.add(0, floor, motion=still)

    def remove_gate(now: GrainSystem) -> None:
        wall = now.wall(gate)
        wall.enabled = False
        now.set_wall(gate, wall)

    def measure(now: GrainSystem, poses: np.ndarray) -> dict:
        return {
            "column": now.wall(gate).enabled,
            "height": float(poses[:free, 1].max()),
            "reach": float(np.percentile(poses[:free, 0], 99.0)),
        }

    def finish(rows: list[dict], frames: np.ndarray) -> dict:
        column = [row for row in rows if row["column"]][-1]
        return {
            "grains": grains,
            "free": free,
            "shape": shape,
            "column_aspect": column["height"] / width,
            "column_kinetic_per_grain": column["kinetic"] / free,
            "repose_angle": repose_angle(frames[-1][:free]),
            "profile": surface(frames[-1][:free]).tolist(),
            "height": rows[-1]["height"],
            "reach": rows[-1]["reach"],
            "kinetic_per_grain": rows[-1]["kinetic"] / free,
        }

    view = ((-2.0, FLOOR_SPACING * fixed + 2.0), (-3.0, height + 6.0))
    rest = REST * grain.area * 9.81 * free

    def at_rest(rows: list[dict]) -> bool:
        return still_since(rows, settle + 1.0, rest)

    stages = [(settle, remove_gate)]
    return Scene("column", system, seconds, 0.1, measure, finish, view, stages, _figure, None, at_rest)


def surface(poses: np.ndarray, bin_width: float = 4.0) -> np.ndarray:
    """Rows (x, highest centroid) of bins along the floor [m]."""
    bins = np.floor(poses[:, 0] / bin_width).astype(int)
    columns = np.unique(bins)
    return np.column_stack([(columns + 0.5) * bin_width, [poses[bins == k, 1].max() for k in columns]])


def front(profile: np.ndarray) -> np.ndarray | None:
    """The two points (x, height) of a surface where it last has 85 and 15 % of its greatest height; None when they coincide."""
    x, height = profile.T
    points = []
    for share in (0.85, 0.15):
        level = share * height.max()
        last = int(np.flatnonzero(height >= level)[-1])
        at = x[last]
        if last + 1 < len(x):
            at += (height[last] - level) / (height[last] - height[last + 1]) * (x[last + 1] - x[last])
        points.append([at, level])
    return np.array(points) if points[1][0] > points[0][0] else None


def repose_angle(poses: np.ndarray) -> float | None:
    """Slope of the front of a heap [degrees], crest and toe left out; a cliff that stays standing counts."""
    ends = front(surface(poses))
    if ends is None:
        return None
    return math.degrees(math.atan2(ends[0, 1] - ends[1, 1], ends[1, 0] - ends[0, 0]))


def _figure(rows: list[dict], result: dict, axes) -> None:
    profile = np.array(result["profile"])
    axes.plot(*profile.T, "o-", markersize=3, color="tab:blue", label="highest grain")
    angle, ends = result["repose_angle"], front(profile)
    if ends is not None:
        axes.plot(*ends.T, "s-", color="tab:orange", label="from 85 to 15 % of the height")
    axes.set_xlabel("x [m]")
    axes.set_ylabel("height [m]")
    axes.set_aspect("equal")
    axes.legend()
    text = "no slope" if angle is None else f"{angle:.1f} degrees"
    axes.set_title(f"column, {result['shape']}, {result['free']} grains: angle of repose {text}")
