# SPDX-License-Identifier: Apache-2.0
"""A silo of fixed grains with an opening: discharge against time, and whether it jams."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from farfield._core import GrainMotion, GrainSystem, GrainWall
from farfield.grains.maps import MapOptions, contact_maps
from farfield.grains.outline_files import shape_named
from farfield.grains.scene import REMOVED, Scene, along, pile_law, staggered

FULL, FULL_FIXED = 11311, 1411  # the published size, fixed ones included
GRAINS = 2000
RADIUS = 0.8  # circumradius of the grains [m]; not published. See the results for how jamming depends on it.
SPACING = 2.03  # of the initial lattice, in circumradii: no two grains can overlap
ROW = 0.5 * math.sqrt(3.0) * SPACING
WALL_SPACING = 1.2  # largest, of the fixed grains, in circumradii: nothing passes between them
FLOW_SECONDS = 8.0
JAM_SECONDS = 1.5
FRAME = 0.05


@dataclass(frozen=True)
class Hopper:
    """Sizes of a silo, in circumradii of its grains."""

    free: int
    fixed: int
    columns: int  # of the fill
    gap: float  # width of the opening
    half: float  # half the width
    slope: float  # height of the hopper, which falls at 45 degrees
    height: float  # of the fill above it
    top: float

    @property
    def reach(self) -> float:
        """A heap this wide to either side stays below the opening."""
        return self.half + 10.0

    @property
    def drop(self) -> float:
        """From the opening to the floor."""
        return 0.9 * self.reach

    @classmethod
    def of(cls, grains: int, gap: float) -> Hopper:
        """For so many grains, the fixed ones of its walls included."""
        fixed = round(grains * FULL_FIXED / FULL)
        while True:
            free = grains - fixed
            columns = max(4, round(math.sqrt(0.6 * max(free, 1))))
            half = 0.5 * SPACING * columns + 1.1
            if gap >= 2 * half - 2:
                raise ValueError(f"silo: opening of {gap:g} radii in a silo of {2 * half:.0f}, expected smaller")
            slope = half - 0.5 * gap
            height = ROW * free / (columns - 0.5)
            top = slope + height + 6.0
            if 2.0 * (top - slope + math.sqrt(2.0) * slope) <= WALL_SPACING * fixed:
                return cls(free, fixed, columns, gap, half, slope, height, top)
            fixed += 1  # a small silo needs a larger share of its grains for the walls

    def walls(self) -> np.ndarray:
        """Poses of the fixed grains."""
        left = [[-self.half - 1.0, self.top], [-self.half - 1.0, self.slope], [-0.5 * self.gap - 1.0, 0.0]]
        right = [[-x, y] for x, y in left]
        places = np.vstack([along(left, self.fixed - self.fixed // 2), along(right, self.fixed // 2)])
        return np.column_stack([places, np.zeros(self.fixed)])

    def fill(self, generator: np.random.Generator) -> np.ndarray:
        """Poses of the free grains: lattice nodes that keep clear of the walls, lowest first."""
        count, origin = 2 * self.free + 4 * self.columns, (-0.5 * SPACING * (self.columns - 1), 1.05)
        poses = staggered(self.columns, count, SPACING, origin, generator)
        x, y = np.abs(poses[:, 0]), poses[:, 1]
        # Distance to the hopper line x = gap/2 + 1 + y, which fixed grains of radius 1 stand on.
        clear = (0.5 * self.gap + 1.0 + y - x) / math.sqrt(2.0) > 2.05
        return poses[clear & (x < self.half - 1.0)][: self.free]


def build(
    *,
    shape: str = "octagon",
    opening: float = 16.0,
    radius: float = RADIUS,
    grains: int = GRAINS,
    settle: float | None = None,
    seconds: float | None = None,
    friction: float = 0.4,
    seed: int = 0,
    threads: int = 1,
    maps: MapOptions | None = None,
    progress=None,
) -> Scene:
    """A hopper over an opening [m] and a floor to catch what falls, filled with grains of this circumradius [m].

    grains counts the fixed ones, an eighth of all or what tight walls need. A lid holds for `settle` seconds (by default what
    the fill takes to fall together); `seconds` is the whole time. What runs off beside the silo is taken out.
    """
    if grains < 80:
        raise ValueError(f"silo: {grains} grains, expected at least 80")
    grain = shape_named(shape, radius)
    hopper = Hopper.of(grains, opening / radius)
    free = hopper.free
    settle = 0.28 * math.sqrt(hopper.top * radius) if settle is None else settle
    seconds = settle + FLOW_SECONDS if seconds is None else seconds
    if not 0 < settle < seconds:
        raise ValueError(f"silo: settles for {settle:g} s of {seconds:g} s, expected less")
    system = GrainSystem(
        [grain],
        contact_maps([grain], maps, progress=progress),
        law=pile_law(grain, layers=0.3 * hopper.height, friction=friction),
        threads=threads,
    )
    up = np.array([0.0, 1.0])
    lid = system.add_wall(GrainWall.half_plane(up, 0.0, friction=friction))
    system.add_wall(GrainWall.half_plane(up, -hopper.drop * radius, friction=friction))
    still = system.add_motion(GrainMotion())
    scale = [radius, radius, 1.0]
    system.add(0, hopper.fill(np.random.default_rng(seed)) * scale)
    system.add(0, hopper.walls() * scale, motion=still)

    def open_lid(now: GrainSystem) -> None:
        wall = now.wall(lid)
        wall.enabled = False
        now.set_wall(lid, wall)

    def take_out(now: GrainSystem) -> None:
        poses = now.state()["poses"][:free]
        for number in np.flatnonzero(
            (np.abs(poses[:, 0]) > hopper.reach * radius) & (poses[:, 1] < -radius) & now.free[:free]
        ):
            now.set_driver(int(number), REMOVED)

    def measure(now: GrainSystem, poses: np.ndarray) -> dict:
        return {"discharged": int(np.count_nonzero(poses[:free, 1] < -radius))}

    def jammed_or_empty(rows: list[dict]) -> bool:
        times, out = _curve(rows)
        return out[-1] == free or jam_report(times, out, free, settle)["jammed"]

    def finish(rows: list[dict], frames: np.ndarray) -> dict:
        times, out = _curve(rows)
        return {
            "grains": grains,
            "free": free,
            "shape": shape,
            "opening": opening,
            "radius": radius,
            "opened": settle,
            "discharged": int(out[-1]),
            **jam_report(times, out, free, settle),
        }

    right = (hopper.reach - 1.0) * radius  # what is taken out stays out of sight
    view = ((-right, right), (-(hopper.drop + 2.0) * radius, (hopper.top + 2.0) * radius))
    stages = [(settle, open_lid)]
    return Scene("silo", system, seconds, FRAME, measure, finish, view, stages, _figure, take_out, jammed_or_empty)


def _curve(rows: list[dict]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([row["time"] for row in rows]), np.array([row["discharged"] for row in rows])


def jam_report(times: np.ndarray, discharged: np.ndarray, free: int, opened: float) -> dict:
    """Rate of discharge [1/s] since the opening, and whether it stopped with a tenth of the grains or more inside."""
    after = times >= opened
    span = float(times[-1] - opened)
    rate = float((discharged[-1] - discharged[after][0]) / span) if span > 0 and after.any() else 0.0
    recent = times > times[-1] - JAM_SECONDS
    stopped = span >= JAM_SECONDS and discharged[-1] == discharged[recent][0]
    return {"jammed": bool(stopped and discharged[-1] < 0.9 * free), "rate": rate}


def _figure(rows: list[dict], result: dict, axes) -> None:
    times, out = _curve(rows)
    window = max(1, round(0.25 / FRAME))
    axes.plot(times, out, color="tab:blue")
    axes.axvline(result["opened"], color="0.7", linestyle=":")
    axes.set_xlabel("time [s]")
    axes.set_ylabel("grains discharged", color="tab:blue")
    if len(times) > window:
        rate = axes.twinx()
        middle = 0.5 * (times[window:] + times[:-window])
        rate.plot(middle, (out[window:] - out[:-window]) / (times[window:] - times[:-window]), color="tab:orange")
        rate.set_ylabel("grains per second, over 0.25 s", color="tab:orange")
        rate.set_ylim(bottom=0)
    verdict = "jammed" if result["jammed"] else "flowing or empty"
    axes.set_title(f"silo, {result['shape']}, opening {result['opening']:g} m, {result['free']} grains: {verdict}")
