# SPDX-License-Identifier: Apache-2.0
"""Nine shapes in a turning drum whose wall is made of driven blocks."""

from __future__ import annotations

import math

import numpy as np

from farfield._core import GrainMotion, GrainShape, GrainSystem
from farfield.grains.maps import MapOptions, contact_maps
from farfield.grains.scene import Scene, pile_law

FULL = GRAINS = 1574  # the published size, driven ones included
DRIVEN = 547
SHAPES = ("O", "U", "N", "D", "#", "I", "heart", "star", "L")
SPACING = 2.03
SPIN = 0.3  # [rad/s]


def build(
    *,
    grains: int = GRAINS,
    seconds: float = 8.0,
    friction: float = 0.1,
    seed: int = 0,
    threads: int = 1,
    maps: MapOptions | None = None,
    progress=None,
) -> Scene:
    """The drum holds the initial lattice; grains counts its blocks, about a third of all."""
    if grains < 60:
        raise ValueError(f"drum: {grains} grains, expected at least 60")
    driven = round(grains * DRIVEN / GRAINS)
    free = grains - driven
    generator = np.random.default_rng(seed)
    positions, radius = disc_lattice(free)
    wall = radius + 1.6
    block = GrainShape.block(2.2 * math.pi * wall / driven, 0.8)
    shapes = [*(GrainShape.library(name) for name in SHAPES), block]
    heaviest = max(shapes[:-1], key=lambda shape: shape.area)
    system = GrainSystem(
        shapes,
        contact_maps(shapes, maps, driven=[len(SHAPES)], progress=progress),
        law=pile_law(heaviest, layers=radius, friction=friction, depth=0.02),
        threads=threads,
    )
    turning = system.add_motion(GrainMotion(spin=SPIN))
    kinds = generator.integers(0, len(SHAPES), free)
    order = np.argsort(kinds, kind="stable")
    angles = generator.uniform(-math.pi, math.pi, free)
    for kind in range(len(SHAPES)):
        chosen = order[kinds[order] == kind]
        system.add(kind, np.column_stack([positions[chosen], angles[chosen]]))
    phi = 2 * math.pi * np.arange(driven) / driven
    ring = np.column_stack([wall * np.cos(phi), wall * np.sin(phi), phi + 0.5 * math.pi])
    system.add(len(SHAPES), ring, motion=turning)

    def measure(now: GrainSystem, poses: np.ndarray) -> dict:
        centre = poses[:free, :2].mean(axis=0)
        return {
            "tilt": math.degrees(math.atan2(centre[0], -centre[1])),
            "torque": now.reaction(turning)[2],
            "outside": int(np.count_nonzero(np.hypot(poses[:free, 0], poses[:free, 1]) > wall)),
        }

    def finish(rows: list[dict], frames: np.ndarray) -> dict:
        late = rows[len(rows) // 2 :]
        return {
            "grains": grains,
            "free": free,
            "shapes": list(SHAPES),
            "tilt": float(np.mean([row["tilt"] for row in late])),
            "outside": rows[-1]["outside"],
        }

    view = ((-wall - 2, wall + 2), (-wall - 2, wall + 2))
    return Scene("drum", system, seconds, 0.1, measure, finish, view, [], _figure)


def disc_lattice(count: int) -> tuple[np.ndarray, float]:
    """The `count` lattice points nearest to the origin, and the radius of the disc that holds grains of radius 1 there."""
    side = math.ceil(math.sqrt(count)) + 3
    x, y = np.meshgrid(np.arange(-side, side + 1) * SPACING, np.arange(-side, side + 1) * SPACING)
    points = np.column_stack([x.ravel(), y.ravel()])
    distance = np.hypot(*points.T)
    chosen = np.argsort(distance, kind="stable")[:count]
    return points[chosen], float(distance[chosen[-1]] + 1.0)


def _figure(rows: list[dict], result: dict, axes) -> None:
    axes.plot([row["time"] for row in rows], [row["tilt"] for row in rows])
    axes.set_xlabel("time [s]")
    axes.set_ylabel("angle of the centre of mass [degrees]")
    axes.set_title(f"drum, {result['free']} grains of {len(result['shapes'])} shapes")
