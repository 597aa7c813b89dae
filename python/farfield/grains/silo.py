# SPDX-License-Identifier: Apache-2.0
"""A silo of fixed grains with an opening: discharge against time, and whether it jams."""

from __future__ import annotations

import math

import numpy as np

from farfield._core import GrainMotion, GrainShape, GrainSystem, GrainWall
from farfield.grains.maps import MapOptions, contact_maps
from farfield.grains.scene import Scene, along, lattice, pile_law

GRAINS, FIXED = 11311, 1411  # the published size, fixed ones included
SPACING = 2.03  # of the initial lattice, in circumradii: no two grains can overlap
WALL_SPACING = 1.2  # largest, of the fixed grains, in circumradii: nothing passes between them
JAM_SECONDS = 0.75


def build(
    *,
    shape: str = "octagon",
    opening: float = 16.0,
    grains: int = GRAINS,
    settle: float = 1.5,
    seconds: float = 4.0,
    friction: float = 0.4,
    seed: int = 0,
    threads: int = 1,
    maps: MapOptions | None = None,
    progress=None,
) -> Scene:
    """A hopper over an opening [m], filled with grains of circumradius 1 m.

    grains counts the fixed ones, an eighth of all or what tight walls need. A lid holds for `settle` seconds; `seconds` is the whole time.
    """
    if grains < 80:
        raise ValueError(f"silo: {grains} grains, expected at least 80")
    if not 0 < settle < seconds:
        raise ValueError(f"silo: settles for {settle} s of {seconds} s, expected less")
    grain = GrainShape.library(shape)
    generator = np.random.default_rng(seed)
    fixed = round(grains * FIXED / GRAINS)
    while True:
        free = grains - fixed
        columns = max(4, round(math.sqrt(0.6 * max(free, 1))))
        half = 0.5 * SPACING * columns + 1.1
        if opening >= 2 * half - 2:
            raise ValueError(f"silo: opening {opening} m in a silo {2 * half:.0f} m wide, expected smaller")
        slope = half - 0.5 * opening  # the hopper falls at 45 degrees
        rows = math.ceil(free / columns)
        top = slope + SPACING * rows + 6.0
        length = 2.0 * (top - slope + math.sqrt(2.0) * slope)
        if length <= WALL_SPACING * fixed:
            break
        fixed += 1  # a small silo needs a larger share of its grains for the walls
    system = GrainSystem(
        [grain],
        contact_maps([grain], maps, progress=progress),
        law=pile_law(grain, layers=0.5 * rows, friction=friction),
        threads=threads,
    )
    lid = system.add_wall(GrainWall.half_plane(np.array([0.0, 1.0]), 0.0, friction=friction))
    still = system.add_motion(GrainMotion())
    left = [[-half - 1.0, top], [-half - 1.0, slope], [-0.5 * opening - 1.0, 0.0]]
    right = [[-x, y] for x, y in left]
    walls = np.vstack([along(left, fixed - fixed // 2), along(right, fixed // 2)])
    poses = _fill(columns, rows, half, slope, opening, generator)[:free]
    system.add(0, poses)
    system.add(0, np.column_stack([walls, np.zeros(fixed)]), motion=still)

    def open_lid(now: GrainSystem) -> None:
        wall = now.wall(lid)
        wall.enabled = False
        now.set_wall(lid, wall)

    def measure(now: GrainSystem, poses: np.ndarray) -> dict:
        return {"discharged": int(np.count_nonzero(poses[:free, 1] < -1.0))}

    def finish(rows: list[dict], frames: np.ndarray) -> dict:
        times = np.array([row["time"] for row in rows])
        out = np.array([row["discharged"] for row in rows])
        return {
            "grains": grains,
            "free": free,
            "shape": shape,
            "opening": opening,
            "discharged": int(out[-1]),
            **jam_report(times, out, free, settle),
        }

    view = ((-half - 3.0, half + 3.0), (-0.35 * top, top + 2.0))
    return Scene("silo", system, seconds, 0.05, measure, finish, view, [(settle, open_lid)], _figure)


def _fill(columns: int, rows: int, half: float, slope: float, opening: float, generator) -> np.ndarray:
    """Lattice nodes in the hopper and above it that keep clear of the walls, lowest first, as many as needed."""
    poses = lattice(columns, 2 * rows + 2, SPACING, (-0.5 * SPACING * (columns - 1), 1.05), generator)
    x, y = np.abs(poses[:, 0]), poses[:, 1]
    # Distance to the hopper line x = opening/2 + 1 + y (45 degrees), which fixed grains of radius 1 stand on.
    clear = (0.5 * opening + 1.0 + y - x) / math.sqrt(2.0) > 2.05
    return poses[clear & (x < half - 1.0)]


def jam_report(times: np.ndarray, discharged: np.ndarray, free: int, opened: float) -> dict:
    """Rate of discharge [1/s] since the opening, and whether it stopped with a tenth of the grains or more inside."""
    after = times >= opened
    span = float(times[-1] - opened)
    rate = float((discharged[-1] - discharged[after][0]) / span) if span > 0 and after.any() else 0.0
    recent = times > times[-1] - JAM_SECONDS
    stopped = span >= JAM_SECONDS and discharged[-1] == discharged[recent][0]
    return {"jammed": bool(stopped and discharged[-1] < 0.9 * free), "rate": rate}


def _figure(rows: list[dict], result: dict, axes) -> None:
    axes.plot([row["time"] for row in rows], [row["discharged"] for row in rows])
    axes.set_xlabel("time [s]")
    axes.set_ylabel("grains discharged")
    axes.set_title(f"silo, {result['shape']}, opening {result['opening']:g} m, {result['free']} grains")
