# SPDX-License-Identifier: Apache-2.0
"""Cost of a contact: per query and per list pair, against the exact polygon query; growth with size; the full silo; peers."""

from __future__ import annotations

import math
import time

import numpy as np

from farfield.benchmarks import grain_peers, silo
from farfield.benchmarks.measure import Check, Timing, result_hash

QUERIES, EXACT_QUERIES = 20_000, 100
PILE_STEPS = 60
SIZES = (1_000, 3_000, 10_000, 30_000)
REPEATS = 7
SETTLE_SECONDS = 1.5
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
    grain_peers.measure(shape, maps["table"], loose_pile, progress, timings, checks)
    for name in ("octagon", "#"):
        silo.measure(name, progress, timings, checks, hashes)
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


def loose_pile(shape, contact, count: int, threads: int = 1):
    """A dense lattice of aligned '#' in an open box, and the width of the box [m]."""
    from farfield import grains
    from farfield.grains.scene import lattice, pile_law

    columns = max(4, round(math.sqrt(count)))
    rows = math.ceil(count / columns)
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
    return system, width


def measure_pile(shape, contact, exact, progress, timings, checks, hashes) -> None:
    system, _ = loose_pile(shape, contact, 2_000)
    chunk = round(SETTLE_SECONDS / system.dt / 10)
    tick = progress("settling 2,000 #", 10)
    for _ in range(10):
        system.run(chunk)
        tick()
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
        system, _ = loose_pile(shape, contact, count)
        system.run(100)
        samples = []
        for _ in range(REPEATS):
            started = time.thread_time()
            system.run(20)
            samples.append((time.thread_time() - started) / 20)
        times.append(min(samples))
        timings[f"step, {count} grains, one thread"] = Timing(min(samples), float(np.median(samples)), REPEATS)
        tick()
    exponent = float(np.polyfit(np.log(SIZES), np.log(times), 1)[0])
    checks.append(Check("growth: exponent in grains", exponent, "<=", 1.15, "1,000 to 30,000 grains"))
