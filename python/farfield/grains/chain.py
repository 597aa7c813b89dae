# SPDX-License-Identifier: Apache-2.0
"""A chain of ball-and-socket links lowered onto a floor, where it coils."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from farfield._core import GrainLaw, GrainMotion, GrainShape, GrainSystem, GrainWall
from farfield.grains.maps import MapOptions, contact_maps
from farfield.grains.scene import Scene

FULL = 500  # links; the published scene holds 100 more grains, fixed, whose place is not given
GRAINS = 120
LOWERING = 4.0  # [m/s]
REST_SECONDS = 3.0
DEPTH = 0.015  # wanted penetration of a joint, in circumradii: a quarter of its clearance
FINE = 192  # table nodes per axis and slices per turn: the joint's clearance needs several nodes


def pitch(link: GrainShape) -> float:
    """Distance from the centre of a link's socket to that of its ball [m]."""
    ring = link.rings[0]
    ball, socket = _circle_centre(ring[[0, 5, 10]]), _circle_centre(ring[[15, 18, 22]])
    return float(np.linalg.norm(ball - socket))


def _circle_centre(points: np.ndarray) -> np.ndarray:
    matrix = 2.0 * (points[1:] - points[0])
    right = np.sum(points[1:] ** 2, axis=1) - np.sum(points[0] ** 2)
    return np.linalg.solve(matrix, right)


def build(
    *,
    grains: int = GRAINS,
    seconds: float | None = None,
    friction: float = 0.4,
    seed: int = 0,
    threads: int = 1,
    maps: MapOptions | None = None,
    progress=None,
) -> Scene:
    """A slightly bent vertical chain; its top link is driven down until it reaches a tenth of its length."""
    if grains < 4:
        raise ValueError(f"chain: {grains} links, expected at least 4")
    link = GrainShape.library("link")
    maps = maps or MapOptions()
    maps = dataclasses.replace(maps, theta=max(FINE, maps.theta), space=max(FINE, maps.space))
    generator = np.random.default_rng(seed)
    step = pitch(link)
    lowered = 0.9 * step * grains / LOWERING
    seconds = lowered + REST_SECONDS if seconds is None else seconds
    layers = grains  # the top joint carries the whole chain
    law = GrainLaw.default(
        mass=link.area, radius=link.radius, layers=layers, speed=LOWERING, friction=friction, depth=DEPTH
    )
    system = GrainSystem([link], contact_maps([link], maps, progress=progress), law=law, threads=threads)
    system.add_wall(GrainWall.half_plane(np.array([0.0, 1.0]), 0.0, friction=friction))
    holder = system.add_motion(GrainMotion(velocity=np.array([0.0, -LOWERING])))
    # Ball of the lower link in the socket of the upper one; the axis of a link points from socket to ball.
    poses = np.zeros((grains, 3))
    offset = _circle_centre(link.rings[0][[15, 18, 22]])  # socket centre in the link's frame
    top = np.array([0.0, 1.5 + step * grains])
    angles = -0.5 * math.pi + 0.02 * generator.standard_normal(grains)
    ball = _circle_centre(link.rings[0][[0, 5, 10]])
    socket = top
    for k in range(grains):
        c, s = math.cos(angles[k]), math.sin(angles[k])
        turn = np.array([[c, -s], [s, c]])
        poses[k] = [*(socket - turn @ offset), angles[k]]
        socket = socket + turn @ (ball - offset)
    system.add(0, poses[:1], motion=holder)
    falling = np.tile([0.0, -LOWERING, 0.0], (grains - 1, 1))
    system.add(0, poses[1:], velocities=falling)

    def halt(now: GrainSystem) -> None:
        now.set_motion(holder, GrainMotion())

    def measure(now: GrainSystem, poses: np.ndarray) -> dict:
        joints = np.linalg.norm(_ends(poses, ball)[:-1] - _ends(poses, offset)[1:], axis=1)
        return {
            "longest_joint": float(joints.max()),
            "holder_load": now.reaction(holder)[1],
            "coil_width": float(np.ptp(poses[poses[:, 1] < 2.0, 0])) if np.any(poses[:, 1] < 2.0) else 0.0,
        }

    def finish(rows: list[dict], frames: np.ndarray) -> dict:
        longest = max(row["longest_joint"] for row in rows)
        return {
            "grains": grains,
            "longest_joint": longest,
            "broken": bool(longest > 0.5 * step),
            "coil_width": rows[-1]["coil_width"],
        }

    height = top[1] + 2.0
    stages = [(lowered, halt)]
    return Scene(
        "chain",
        system,
        seconds,
        0.1,
        measure,
        finish,
        ((-max(20.0, 0.15 * height), max(20.0, 0.15 * height)), (-1.0, height)),
        stages,
        _figure,
    )


def _ends(poses: np.ndarray, point: np.ndarray) -> np.ndarray:
    """World position of a body point of every link."""
    c, s = np.cos(poses[:, 2]), np.sin(poses[:, 2])
    return poses[:, :2] + np.column_stack([c * point[0] - s * point[1], s * point[0] + c * point[1]])


def _figure(rows: list[dict], result: dict, axes) -> None:
    axes.plot([row["time"] for row in rows], [row["longest_joint"] for row in rows])
    axes.set_xlabel("time [s]")
    axes.set_ylabel("largest gap of a joint [m]")
    axes.set_title(f"chain of {result['grains']} links")
