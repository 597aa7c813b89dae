# SPDX-License-Identifier: Apache-2.0
"""The engines a user would otherwise take for a pile of '#': Box2D (pyb2d3), and pymunk where that is missing.

All start from the same dense lattice between the same walls and run for the same simulated time. A '#' is four boxes there.
"""

from __future__ import annotations

import itertools
import math
import time

import numpy as np

from farfield.benchmarks.measure import Check, Timing

COUNTS = (2_000, 10_000)
SECONDS = 1.0
STEP, SUBSTEPS = 1 / 60, 4
FRICTION = 0.4


class Box2dPile:
    """Box2D of the third generation, through pyb2d3; one thread."""

    name = "Box2D"

    def __init__(self, shape, poses: np.ndarray, width: float) -> None:
        import pyb2d3 as b2

        self.world = b2.World(gravity=(0, -9.81))
        material = b2.surface_material(friction=FRICTION, restitution=0.0)
        shape_def = b2.shape_def(density=1.0, material=material)
        top = float(poses[:, 1].max()) + 100.0
        ground = self.world.create_static_body(position=(0, 0))
        for a, b in itertools.pairwise([(0.0, top), (0.0, 0.0), (width, 0.0), (width, top)]):
            ground.create_shape(shape_def, b2.segment(a, b))
        self.bodies = []
        for x, y, angle in poses:
            turn = b2.Rot()  # make_rot and body.angle are approximate, by a milliradian
            turn.c, turn.s = math.cos(angle), math.sin(angle)
            body = self.world.create_dynamic_body(position=(float(x), float(y)), rotation=turn)
            for x0, y0, x1, y1 in bars(shape):
                centre = (0.5 * (x0 + x1), 0.5 * (y0 + y1))
                body.create_shape(shape_def, b2.box(0.5 * (x1 - x0), 0.5 * (y1 - y0), center=centre))
            self.bodies.append(body)

    def step(self) -> None:
        self.world.step(STEP, SUBSTEPS)

    def poses(self) -> np.ndarray:
        rows = []
        for body in self.bodies:
            turn = body.rotation
            rows.append([body.position[0], body.position[1], math.atan2(turn.s, turn.c)])
        return np.array(rows)


class PymunkPile:
    """Chipmunk, through pymunk; ten iterations."""

    name = "pymunk"

    def __init__(self, shape, poses: np.ndarray, width: float) -> None:
        import pymunk

        self.space = pymunk.Space()
        self.space.gravity = (0, -9.81)
        for x, y, angle in poses:
            body = pymunk.Body(shape.area, shape.area * shape.gyration2)
            body.position, body.angle = (float(x), float(y)), float(angle)
            self.space.add(body)
            for x0, y0, x1, y1 in bars(shape):
                bar = pymunk.Poly(body, [(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
                bar.friction = FRICTION
                self.space.add(bar)
        top = float(poses[:, 1].max()) + 100.0
        for a, b in itertools.pairwise([(0.0, top), (0.0, 0.0), (width, 0.0), (width, top)]):
            wall = pymunk.Segment(self.space.static_body, a, b, 0.01)
            wall.friction = FRICTION
            self.space.add(wall)

    def step(self) -> None:
        self.space.step(STEP)

    def poses(self) -> np.ndarray:
        return np.array([[*body.position, body.angle] for body in self.space.bodies])


def find_peer():
    """The first engine that is installed, or None."""
    for peer, module in ((Box2dPile, "pyb2d3"), (PymunkPile, "pymunk")):
        try:
            __import__(module)
        except ImportError:
            continue
        return peer
    return None


def bars(shape) -> list[tuple[float, float, float, float]]:
    """The four bars of a '#' as boxes (x0, y0, x1, y1)."""
    ring = shape.rings[0]
    tip = float(ring[:, 0].max())
    outer = float(np.sort(np.unique(np.round(np.abs(ring), 9)))[-2])
    inner = float(np.abs(shape.rings[1]).max())
    flat = [(-tip, *sorted((s * inner, s * outer))[:1], tip, *sorted((s * inner, s * outer))[1:]) for s in (-1, 1)]
    return flat + [(y0, x0, y1, x1) for x0, y0, x1, y1 in flat]


def penetrations(poses: np.ndarray, contact) -> np.ndarray:
    """Overlaps of all pairs of grains by our contact map [m]."""
    order = np.argsort(poses[:, 0])
    found = []
    for position, i in enumerate(order):
        later = order[position + 1 : position + 1 + np.searchsorted(poses[order[position + 1 :], 0], poses[i, 0] + 2.0)]
        near = later[np.abs(poses[later, 1] - poses[i, 1]) < 2.0]
        if not len(near):
            continue
        offset = poses[near, :2] - poses[i, :2]
        c, s = math.cos(poses[i, 2]), math.sin(poses[i, 2])
        rows = np.column_stack(
            [poses[near, 2] - poses[i, 2], c * offset[:, 0] + s * offset[:, 1], c * offset[:, 1] - s * offset[:, 0]]
        )
        distance = contact.evaluate(rows)[:, 0]
        found.append(-distance[distance < 0])
    return np.concatenate(found) if found else np.zeros(1)


def measure(shape, contact, pile, progress, timings, checks) -> None:
    """Processor time of one simulated second and the penetration at its end, ours and the peer's."""
    peer = find_peer()
    if peer is None:
        note = "neither pyb2d3 nor pymunk is installed: pip install pyb2d3"
        checks.append(Check("2-D engine / grains, time per simulated second", None, ">=", 0.0, note))
        return
    tick = progress(f"grains and {peer.name}", 2 * len(COUNTS))
    for count in COUNTS:
        system, width = pile(shape, contact, count)
        other = peer(shape, system.state()["poses"], width)
        started = time.thread_time()
        system.run(round(SECONDS / system.dt))
        ours = (time.thread_time() - started) / SECONDS
        tick()
        steps = round(SECONDS / STEP)
        started = time.thread_time()
        for _ in range(steps):
            other.step()
        theirs = (time.thread_time() - started) / (steps * STEP)
        tick()
        name = f"{count:,} '#'"
        timings[f"simulated second, {name}, grains"] = Timing(ours, ours, 1)
        timings[f"simulated second, {name}, {peer.name}"] = Timing(theirs, theirs, 1)
        mine, yours = penetrations(system.state()["poses"], contact), penetrations(other.poses(), contact)
        note = (
            f"deepest and mean overlap [m]: grains {mine.max():.3f}, {mine.mean():.4f}; "
            f"{peer.name} {yours.max():.3f}, {yours.mean():.4f}; steps {system.dt:.1e} and {STEP:.1e} s"
        )
        checks.append(Check(f"{peer.name} / grains, time per simulated second, {name}", theirs / ours, ">=", 0.0, note))
        checks.append(
            Check(
                f"{peer.name} / grains, deepest overlap, {name}",
                float(yours.max() / mine.max()),
                ">=",
                1.0,
                "same start",
            )
        )
