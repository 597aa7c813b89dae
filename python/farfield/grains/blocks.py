# SPDX-License-Identifier: Apache-2.0
"""One block and friction: thresholds that theory knows. Incline, leaning block, and half of a triangle of two blocks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from farfield._core import GrainLaw, GrainShape, GrainSystem, GrainWall
from farfield.grains.maps import MapOptions, contact_maps

GRAVITY = 9.81
STIFFNESS, DAMPING_RATIO = 1e5, 0.35
MASS = 1.0
DT = 1e-3
BISECTIONS = 12
FRAMES = 40


@dataclass(frozen=True)
class BlockTest:
    """A block whose motion tells whether friction holds it: `build(mu)` gives the system, `moved` what decides."""

    name: str
    build: Callable[[float], GrainSystem]
    seconds: float
    slip: float  # a displacement that counts as sliding [m]
    theory: float  # critical friction
    mus: tuple[float, ...]


@dataclass(frozen=True)
class Outcome:
    mu: float
    slides: bool
    displacement: float
    speed: float
    poses: np.ndarray  # one row (x, y, theta) per frame


def law(friction: float) -> GrainLaw:
    """The stiffness of the reference block test, damping 0.35 of critical."""
    damping = 2.0 * DAMPING_RATIO * math.sqrt(STIFFNESS * MASS)
    return GrainLaw(
        normal_stiffness=STIFFNESS,
        normal_damping=damping,
        tangent_stiffness=2.0 / 7.0 * STIFFNESS,
        tangent_damping=0.5 * damping,
        friction=friction,
    )


def block_system(shape: GrainShape, walls: list[GrainWall], pose, *, mu: float, gravity, dt: float) -> GrainSystem:
    system = GrainSystem(
        [shape],
        contact_maps([shape], MapOptions(back_end="exact")),
        law=law(mu),
        gravity=np.asarray(gravity, dtype=float),
        dt=dt,
        density=MASS / shape.area,
    )
    for wall in walls:
        system.add_wall(wall)
    system.add(0, np.array([pose], dtype=float))
    return system


def incline(angle: float = 16.0, width: float = 1.0, height: float = 0.5) -> BlockTest:
    """A block on a plane of this slope [degrees]: slides below mu = tan(angle)."""
    slope = math.radians(angle)
    shape = GrainShape.block(width, height)
    normal = [-math.sin(slope), math.cos(slope)]

    def build(mu: float) -> GrainSystem:
        floor = GrainWall.half_plane(np.array(normal), 0.0, friction=mu)
        pose = [0.5 * height * normal[0], 0.5 * height * normal[1], slope]
        return block_system(shape, [floor], pose, mu=mu, gravity=[0.0, -GRAVITY], dt=DT)

    # A decade above the elastic stretch of a block that holds, far below what the slowest slider covers.
    return BlockTest("incline", build, 4.0, 0.01, math.tan(slope), (0.28, 0.30, 0.32))


def _leaning_pose(length: float, width: float, tilt: float) -> list[float]:
    """Centre and angle of a block whose lower left corner region stands on y = 0 and whose top leans on x = 0.

    tilt: of its long axis from the vertical [rad]; the foot is to the right of the wall.
    """
    axis = np.array([-math.sin(tilt), math.cos(tilt)])
    across = np.array([math.cos(tilt), math.sin(tilt)])
    corners = [0.5 * (i * length * axis + j * width * across) for i in (-1, 1) for j in (-1, 1)]
    low = -np.min(corners, axis=0)
    return [float(low[0]), float(low[1]), tilt]


def _leaning(name: str, tilt: float, ratio: float, wall_rough: bool, theory: float, mus) -> BlockTest:
    shape = GrainShape.block(ratio, 1.0)  # length 1
    start = _leaning_pose(1.0, ratio, tilt)

    def build(mu: float) -> GrainSystem:
        floor = GrainWall.half_plane(np.array([0.0, 1.0]), 0.0, friction=mu)
        wall = GrainWall.half_plane(np.array([1.0, 0.0]), 0.0, friction=mu if wall_rough else 0.0)
        return block_system(shape, [floor, wall], start, mu=mu, gravity=[0.0, -GRAVITY], dt=1e-4)

    return BlockTest(name, build, 1.5, 0.02, theory, mus)


def leaning(tilt: float = 0.6, ratio: float = 0.02) -> BlockTest:
    """A thin block against a wall, both contacts rough: stands from mu = tan(tilt / 2), tilt from the vertical [rad]."""
    return _leaning("leaning", tilt, ratio, True, math.tan(0.5 * tilt), (0.1, 0.3, 0.5))


def triangle(tilt: float = math.radians(15.0), ratio: float = 0.01) -> BlockTest:
    """Half of two blocks that lean on each other: by symmetry a block against a smooth wall.

    Stands from mu = (L sin(tilt) - w cos(tilt)) / (2 L cos(tilt)).
    """
    theory = 0.5 * (math.tan(tilt) - ratio)
    return _leaning("triangle", tilt, ratio, False, theory, (0.1, 0.3, 0.5))


TESTS = {"incline": incline, "leaning": leaning, "triangle": triangle}


def observe(test: BlockTest, mu: float, frames: int = FRAMES) -> Outcome:
    """Run one block; it slides when it moved farther than `slip`, or still moves faster than slip per second."""
    system = test.build(mu)
    steps = max(1, round(test.seconds / system.dt / frames))
    poses = [system.state()["poses"][0]]
    for _ in range(frames):
        if not system.run(steps):
            raise RuntimeError(f"{test.name}: mu {mu}: coordinates are no longer finite")
        poses.append(system.state()["poses"][0])
        if np.linalg.norm(poses[-1][:2] - poses[0][:2]) > 40 * test.slip:
            break  # it is off; no need to follow it
    speed = float(np.linalg.norm(system.state()["velocities"][0][:2]))
    moved = float(np.linalg.norm(poses[-1][:2] - poses[0][:2]))
    return Outcome(mu, moved > test.slip or speed > test.slip, moved, speed, np.array(poses))


def critical_friction(test: BlockTest, tick: Callable[[], object] = lambda: None) -> float:
    """The friction between sliding and holding, by bisection between half and one and a half times the theory."""
    low, high = 0.5 * test.theory, 1.5 * test.theory
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if observe(test, middle).slides:
            low = middle
        else:
            high = middle
        tick()
    return 0.5 * (low + high)


def run(name: str, tick: Callable[[], object] = lambda: None) -> tuple[dict, list[Outcome], BlockTest]:
    """The JSON result (rows for the listed frictions, critical_mu, theory), the motions and the test."""
    test = TESTS[name]()
    outcomes = []
    for mu in test.mus:
        outcomes.append(observe(test, mu))
        tick()
    critical = critical_friction(test, tick)
    rows = [{"mu": o.mu, "slides": o.slides, "displacement": o.displacement, "speed": o.speed} for o in outcomes]
    result = {
        "task": name,
        "rows": rows,
        "critical_mu": critical,
        "theory_mu": test.theory,
        "relative_error": critical / test.theory - 1.0,
    }
    return result, outcomes, test


def draw(test: BlockTest, outcomes: list[Outcome], result: dict, axes) -> None:
    """Displacement against time at each friction."""
    for outcome in outcomes:
        moved = np.linalg.norm(outcome.poses[:, :2] - outcome.poses[0, :2], axis=1)
        times = np.arange(len(moved)) * test.seconds / FRAMES
        verdict = "slides" if outcome.slides else "holds"
        axes.semilogy(times[1:], np.maximum(moved[1:], 1e-9), label=f"friction {outcome.mu:g}: {verdict}")
    axes.axhline(test.slip, color="0.7", linestyle=":")
    axes.set_xlabel("time [s]")
    axes.set_ylabel("displacement [m]")
    axes.legend()
    axes.set_title(f"{test.name}: critical friction {result['critical_mu']:.4f}, theory {result['theory_mu']:.4f}")
