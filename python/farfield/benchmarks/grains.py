# SPDX-License-Identifier: Apache-2.0
"""Grains: cost of a list pair, against the exact polygon query; steps per second of the full silo; growth with size.

Peer: pymunk (Chipmunk) when it is installed, on a settled pile of the same '#' grains made of four boxes each.
"""

from __future__ import annotations

import itertools
import math
import os
import time

import numpy as np

from farfield.benchmarks.measure import Check, Timing, result_hash

QUERIES, EXACT_QUERIES = 20_000, 100
PILE_STEPS = 60
SILO_STEPS = 40
SIZES = (1_000, 3_000, 10_000, 30_000)
REPEATS = 5
PEER_GRAINS = (2_000, 10_000)
REFERENCE_PAIR = 140e-9  # all-in, one core of the reference machine [s]


def run(progress) -> dict:
    """All measurements; `progress(text, turns)` gives a function to call after each turn."""
    timings: dict[str, Timing] = {}
    checks: list[Check] = []
    hashes: dict[str, str] = {}
    from farfield import grains
    from farfield.grains.maps import MapOptions

    shape = grains.GrainShape.library("#")
    maps = {kind: grains.pair_map(shape, shape, MapOptions(back_end=kind)).map for kind in ("table", "exact")}
    exact = measure_queries(maps, progress, timings, checks)
    measure_pile(shape, maps["table"], exact, progress, timings, checks, hashes)
    measure_growth(shape, maps["table"], progress, timings, checks)
    measure_silo(progress, timings, checks)
    measure_peer(shape, maps["table"], progress, timings, checks)
    return {"timings": timings, "checks": checks, "hashes": hashes}


def touching_poses(count: int, seed: int = 1) -> np.ndarray:
    """Relative poses at which two '#' are near contact."""
    generator = np.random.default_rng(seed)
    angle, distance = generator.uniform(-math.pi, math.pi, count), generator.uniform(1.2, 1.9, count)
    return np.column_stack(
        [generator.uniform(-math.pi, math.pi, count), distance * np.cos(angle), distance * np.sin(angle)]
    )


def measure_queries(maps, progress, timings, checks) -> float:
    """One table query against one exact query, in turns; the time of the exact one [s]."""
    poses = touching_poses(QUERIES)
    tick = progress("contact queries", REPEATS)
    samples: dict[str, list[float]] = {"table": [], "exact": []}
    for _ in range(REPEATS):
        for kind, count in (("table", QUERIES), ("exact", EXACT_QUERIES)):
            started = time.thread_time()
            maps[kind].evaluate(poses[:count])
            samples[kind].append((time.thread_time() - started) / count)
        tick()
    for kind, times in samples.items():
        timings[f"# query, {kind}"] = Timing(min(times), float(np.median(times)), REPEATS)
    ratio = min(samples["exact"]) / min(samples["table"])
    checks.append(Check("exact polygon query / table query", ratio, ">=", 100.0, "near contact, Python rows included"))
    return min(samples["exact"])


def settled_pile(shape, contact, count: int, threads: int = 1):
    """A loose box of grains after a short fall: contacts as in a pile."""
    from farfield import grains
    from farfield.grains.scene import lattice, pile_law

    columns = max(4, round(math.sqrt(count)))
    rows = math.ceil(count / columns)
    # Touching circumcircles at the start, so that a few steps give a dense list with contacts.
    spacing = 1.72
    system = grains.GrainSystem(
        [shape],
        [[contact]],
        law=pile_law(shape, layers=rows, friction=0.4),
        threads=threads,
        start_depth=1.0,
    )
    width = spacing * columns + 0.4
    system.add_wall(grains.GrainWall.half_plane(np.array([0.0, 1.0]), 0.0, friction=0.4))
    system.add_wall(grains.GrainWall.half_plane(np.array([1.0, 0.0]), 0.0, friction=0.4))
    system.add_wall(grains.GrainWall.half_plane(np.array([-1.0, 0.0]), -width, friction=0.4))
    poses = lattice(columns, rows, spacing, (1.05, 1.05), np.random.default_rng(1))[:count]
    poses[:, 2] = 0.05 * np.random.default_rng(2).standard_normal(count)  # aligned '#' interlock without overlap
    system.add(0, poses)
    return system


def measure_pile(shape, contact, exact, progress, timings, checks, hashes) -> None:
    system = settled_pile(shape, contact, 2_000)
    system.run(PILE_STEPS)
    tick = progress("cost of a list pair", REPEATS)
    samples = []
    for _ in range(REPEATS):
        pairs = system.counters()["list_pairs"]
        started = time.thread_time()
        system.run(PILE_STEPS)
        samples.append((time.thread_time() - started) / (PILE_STEPS * pairs))
        tick()
    audit = system.audit()
    timings["list pair, all in, one thread"] = Timing(min(samples), float(np.median(samples)), REPEATS)
    note = f"{pairs / 2000:.1f} list pairs and {audit['contacts'] / 2000:.1f} contacts per grain, 2,000 '#'"
    checks.append(Check("list pair / 140 ns", min(samples) / REFERENCE_PAIR, "<=", 1.0, note))
    checks.append(Check("exact polygon query / list pair", exact / min(samples), ">=", 50.0))
    hashes["pile"] = result_hash([system.state()["poses"]])


def measure_growth(shape, contact, progress, timings, checks) -> None:
    """Time per step against the number of grains, list rebuilds included."""
    tick = progress("growth", len(SIZES))
    times = []
    for count in SIZES:
        system = settled_pile(shape, contact, count)
        system.run(10)
        started = time.thread_time()
        system.run(20)
        times.append((time.thread_time() - started) / 20)
        timings[f"step, {count} grains, one thread"] = Timing(times[-1], times[-1], 1)
        tick()
    exponent = float(np.polyfit(np.log(SIZES), np.log(times), 1)[0])
    checks.append(Check("growth: exponent in grains", exponent, "<=", 1.15, "1,000 to 30,000 grains"))


def measure_silo(progress, timings, checks) -> None:
    from farfield.grains import silo

    threads = min(2, os.cpu_count() or 1)
    scene = silo.build(shape="octagon", threads=threads)
    tick = progress("silo of 11,311 grains", REPEATS)
    scene.system.run(SILO_STEPS)
    samples = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        scene.system.run(SILO_STEPS)
        samples.append((time.perf_counter() - started) / SILO_STEPS)
        tick()
    timings[f"silo step, 11,311 grains, threads {threads}"] = Timing(min(samples), float(np.median(samples)), REPEATS)
    note = f"{scene.system.counters()['list_pairs']} list pairs; start of the fill, wall time"
    checks.append(Check("silo: steps per second", 1.0 / min(samples), ">=", 360.0, note))


def measure_peer(shape, contact, progress, timings, checks) -> None:
    """Seconds of one simulated second, ours at its own step, pymunk at 1/60 s with 10 iterations."""
    try:
        import pymunk
    except ImportError:
        checks.append(Check("pymunk / grains, time per simulated second", None, ">=", 0.0, "pymunk is not installed"))
        return
    tick = progress("pymunk", len(PEER_GRAINS))
    for count in PEER_GRAINS:
        system = settled_pile(shape, contact, count)
        poses = system.state()["poses"]
        started = time.thread_time()
        system.run(40)
        ours = (time.thread_time() - started) / (40 * system.dt)
        space = pymunk_pile(pymunk, shape, poses)
        started = time.thread_time()
        for _ in range(10):
            space.step(1 / 60)
        theirs = (time.thread_time() - started) / (10 / 60)
        name = f"{count} '#'"
        timings[f"simulated second, {name}, grains"] = Timing(ours, ours, 1)
        timings[f"simulated second, {name}, pymunk"] = Timing(theirs, theirs, 1)
        deepest = pymunk_deepest(space, contact)
        note = f"deepest: grains {system.audit()['deepest']:.3f}, pymunk {deepest:.3f} m; steps {system.dt:.1e} and 1.7e-02 s"
        checks.append(Check(f"pymunk / grains, time per simulated second, {name}", theirs / ours, ">=", 0.0, note))
        tick()


def pymunk_pile(pymunk, shape, poses: np.ndarray):
    """The same grains in pymunk: each '#' of four boxes."""
    space = pymunk.Space()
    space.gravity = (0, -9.81)
    space.iterations = 10
    ring = shape.rings[0]
    tip = float(ring[:, 0].max())
    outer = float(np.sort(np.unique(np.round(np.abs(ring), 9)))[-2])
    inner = float(np.abs(shape.rings[1]).max())
    bars = [((-tip, s * inner), (tip, s * outer)) for s in (-1, 1)] + [
        ((s * inner, -tip), (s * outer, tip)) for s in (-1, 1)
    ]
    for x, y, angle in poses:
        body = pymunk.Body(shape.area, shape.area * shape.gyration2)
        body.position, body.angle = (float(x), float(y)), float(angle)
        space.add(body)
        for (x0, y0), (x1, y1) in bars:
            bar = pymunk.Poly(body, [(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
            bar.friction = 0.4
            space.add(bar)
    low, high = poses[:, :2].min(axis=0) - 1.05, poses[:, :2].max(axis=0) + 1.05
    corners = [(low[0], high[1] + 50), (low[0], low[1]), (high[0], low[1]), (high[0], high[1] + 50)]
    for a, b in itertools.pairwise(corners):
        wall = pymunk.Segment(space.static_body, tuple(map(float, a)), tuple(map(float, b)), 0.01)
        wall.friction = 0.4
        space.add(wall)
    return space


def pymunk_deepest(space, contact) -> float:
    """Largest overlap of two grains by our contact map [m]."""
    poses = np.array([[*body.position, body.angle] for body in space.bodies])
    order = np.argsort(poses[:, 0])
    worst = 0.0
    for position, i in enumerate(order):
        near = [j for j in order[position + 1 : position + 200] if poses[j, 0] - poses[i, 0] < 2.0]
        if not near:
            continue
        offset = poses[near, :2] - poses[i, :2]
        c, s = math.cos(poses[i, 2]), math.sin(poses[i, 2])
        rows = np.column_stack(
            [poses[near, 2] - poses[i, 2], c * offset[:, 0] + s * offset[:, 1], c * offset[:, 1] - s * offset[:, 0]]
        )
        worst = max(worst, -float(contact.evaluate(rows)[:, 0].min()))
    return worst
