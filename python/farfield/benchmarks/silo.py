# SPDX-License-Identifier: Apache-2.0
"""Steps per second of the silo at its published size, full of settled grains and just opened."""

from __future__ import annotations

import os
import time

import numpy as np

from farfield.benchmarks.measure import Check, Timing, result_hash

STEPS, REPEATS = 1, 500  # single steps: the best of them are little disturbed by other work
SETTLE_CHUNK = 500
WANTED = 360.0  # steps per second on two cores


def run(progress) -> dict:
    """Both shapes; `progress(text, turns)` gives a function to call after each turn."""
    timings: dict[str, Timing] = {}
    checks: list[Check] = []
    hashes: dict[str, str] = {}
    for shape in ("octagon", "#"):
        measure(shape, progress, timings, checks, hashes)
    return {"timings": timings, "checks": checks, "hashes": hashes}


def measure(shape: str, progress, timings, checks, hashes) -> None:
    """Fill, settle, open; then the same steps with one thread and with all, which must give the same bits."""
    from farfield.grains import silo

    threads = min(2, os.cpu_count() or 1)
    scene = silo.build(shape=shape, grains=silo.FULL, threads=threads)
    system = scene.system
    opened, open_lid = scene.stages[0]
    chunks = round(opened / system.dt / SETTLE_CHUNK)
    tick = progress(f"settling {silo.FULL:,} {shape}", chunks)
    for _ in range(chunks):
        system.run(SETTLE_CHUNK)
        tick()
    open_lid(system)
    start = system.state()
    tick = progress(f"silo of {silo.FULL:,} {shape}", 2 * REPEATS)
    for count in (1, threads):
        runner = scene if count == threads else silo.build(shape=shape, grains=silo.FULL, threads=count)
        if runner is not scene:
            runner.stages[0][1](runner.system)
        runner.system.set_state(start)
        runner.system.run(60)
        wall, core = [], []
        for _ in range(REPEATS):
            started, used = time.perf_counter(), time.process_time()
            runner.system.run(STEPS)
            wall.append((time.perf_counter() - started) / STEPS)
            core.append((time.process_time() - used) / STEPS)
            tick()
        name = f"silo step, {silo.FULL:,} {shape}, threads {count}"
        timings[name] = Timing(min(wall), float(np.median(wall)), REPEATS)
        timings[f"{name}, processor time"] = Timing(min(core), float(np.median(core)), REPEATS)
        hashes[f"silo {shape}, threads {count}"] = result_hash([runner.system.state()["poses"]])
        pairs, contacts = runner.system.counters()["list_pairs"], runner.system.audit()["contacts"]
        if count == 1:
            note = f"{pairs} list pairs, {contacts} contacts, processor time of one thread"
            checks.append(Check(f"silo {shape}: list pair / 140 ns", min(core) / pairs / 140e-9, "<=", 1.0, note))
    note = f"{1.0 / float(np.median(wall)):.0f} in the median; wall time, threads {threads}"
    checks.append(Check(f"silo {shape}: steps per second", 1.0 / min(wall), ">=", WANTED, note))
    same = hashes[f"silo {shape}, threads 1"] == hashes[f"silo {shape}, threads {threads}"]
    checks.append(Check(f"silo {shape}: same bits with one thread and {threads}", float(same), ">=", 1.0))
