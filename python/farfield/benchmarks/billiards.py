# SPDX-License-Identifier: Apache-2.0
"""Billiards [LongRange2026, Sec. 6, Fig. 6]: what contact costs as meshes get finer.

Measured in one run, in turns: build + value + gradient + positive semi-definite Hessian reduced to bodies, for the long-range model, for
all pairs of triangles (brute force), and for the IPC Toolkit; and a whole time step with and without its vjp.
"""

from __future__ import annotations

import math
import os
import time

import numpy as np

from farfield.benchmarks import ipc_peer
from farfield.benchmarks.measure import Check, Timing, result_hash, take_turns
from farfield.benchmarks.racks import GAP, rack

SIZES = (32, 128, 388)  # triangles per ball
BALLS = 16
REPEATS = 12
STEPS, DT = 10, 0.01
SPEED = 1.0  # of the cue ball [m/s]
IPC_GOALS = {32: 3.0, 128: 4.0, 388: 7.0}  # IPC time / ours; never below 1
BRUTE_RATIO, EXPONENT, STEP_MS, VJP_RATIO = 190.0, 0.8, 150.0, 1.0


def measure(triangles: int, repeats: int, steps: int, brute: bool, progress, timings, hashes) -> dict:
    """Times of one size [ms]."""
    import farfield as ff
    from farfield import _core

    model = rack(triangles)
    parameters = model.default_parameters()
    q = model.default_state().q
    nearby = 0.01 * GAP * np.random.default_rng(1).standard_normal(model.num_dofs)  # as far as a late Newton step goes
    contact, oracle = ff.LongRange(), ff.LongRange(brute_force=True)
    sums: dict[str, float] = {}
    peer = ipc_peer.Rack(triangles)

    def own(name: str, which, cold: bool, calls: int):
        def call():
            seconds, sums[name] = _core._benchmark_contact(
                which, model, parameters, q, delta=nearby, cold=cold, repeats=calls
            )
            return seconds

        return call

    peers = {
        "longrange": own("longrange", contact, False, 8),
        "longrange, cold": own("longrange cold", contact, True, 4),
        "ipc": lambda: timed(peer.evaluate),
    }
    tick = progress(f"{triangles} triangles per ball: contact", repeats + 1)
    samples: dict[str, list[float]] = {name: [] for name in peers}
    for turn in range(repeats + 1):
        for name, call in peers.items():
            seconds = call()
            if turn > 0:
                samples[name].append(seconds)
        tick()
    if brute:
        samples["brute"] = [own("brute", oracle, False, 2)()]
        tick()
    found = {name: Timing(min(times), float(np.median(times)), len(times)) for name, times in samples.items()}
    found.update(time_steps(model, parameters, contact, steps, repeats, progress, hashes, triangles))
    timings.update({f"{name}, {triangles} triangles": timing for name, timing in found.items()})
    hashes[f"contact {triangles}"] = result_hash([sums["longrange"]])
    row = {"triangles": triangles}
    for key, name in (
        ("longrange_ms", "longrange"),
        ("longrange_cold_ms", "longrange, cold"),
        ("brute_ms", "brute"),
        ("ipc_ms", "ipc"),
        ("step_ms", "step"),
        ("step_wall_ms", "step, wall, threads 1"),
        ("step_two_threads_ms", "step, wall, threads 2"),
        ("vjp_ms", "vjp"),
    ):
        row[key] = 1e3 * found[name].minimum if name in found else None
    return row | {"hash": hashes[f"step {triangles}"]}


def timed(function) -> float:
    started = time.thread_time()
    function()
    return time.thread_time() - started


def time_steps(model, parameters, contact, steps, repeats, progress, hashes, triangles) -> dict[str, Timing]:
    """A rollout in which the cue ball meets the rack, and its vjp, per step."""
    import farfield as ff

    v = np.zeros(model.num_dofs)
    v[6 * (BALLS - 1)] = SPEED
    state = ff.State(q=model.default_state().q, v=v)
    controls = np.zeros((steps, 0))
    trajectory = ff.rollout(model, parameters, state, controls, dt=DT, contact=contact)
    if not trajectory.converged:
        raise RuntimeError(f"bench billiards: the step with {triangles} triangles per ball did not converge")
    partials = np.random.default_rng(2).standard_normal((steps + 1, model.num_dofs))
    gradient = ff.rollout_vjp(trajectory, dL_dq=partials)
    hashes[f"step {triangles}"] = result_hash([trajectory.q, trajectory.v, gradient.q0, gradient.v0])
    peers = {
        "step": (lambda: ff.rollout(model, parameters, state, controls, dt=DT, contact=contact), steps),
        "vjp": (lambda: ff.rollout_vjp(trajectory, dL_dq=partials), steps),
    }
    turns = max(1, repeats // 4)
    found = take_turns(peers, repeats=turns, tick=progress(f"{triangles} triangles per ball: step, vjp", turns + 1))

    def roll(threads: int):
        return ff.rollout(model, parameters, state, controls, dt=DT, contact=ff.LongRange(), threads=threads)

    if not np.array_equal(roll(2).q, trajectory.q):
        raise RuntimeError("bench billiards: the step has other bits on two threads than on one")
    walls = {f"step, wall, threads {threads}": (lambda t=threads: roll(t), steps) for threads in (1, 2)}
    tick = progress(f"{triangles} triangles per ball: two threads", turns + 1)
    return found | take_turns(walls, repeats=turns, clock=time.perf_counter, tick=tick)


def run(progress, *, sizes=SIZES, repeats: int = REPEATS, steps: int = STEPS, brute: bool = True) -> dict:
    """All sizes; `brute`: also time all pairs of triangles."""
    ipc_peer.require()
    timings: dict[str, Timing] = {}
    hashes: dict[str, str] = {}
    rows = [measure(size, repeats, steps, brute, progress, timings, hashes) for size in sizes]
    checks = []
    for row in rows:
        size = row["triangles"]
        checks.append(
            Check(
                f"{size} triangles: IPC Toolkit / long range",
                row["ipc_ms"] / row["longrange_ms"],
                ">=",
                1.0,
                f"goal {IPC_GOALS[size]:g}; without memory {row['ipc_ms'] / row['longrange_cold_ms']:.2g}",
            )
        )
    last = rows[-1]
    exponent = None
    if len(rows) > 1:
        total = [math.log(row["triangles"]) for row in rows]
        exponent = float(np.polyfit(total, [math.log(row["longrange_ms"]) for row in rows], 1)[0])
        checks.append(Check("exponent in triangles", exponent, "<=", EXPONENT))
    if brute:
        ratio = last["brute_ms"] / last["longrange_ms"]
        checks.append(Check(f"{last['triangles']} triangles: brute force / long range", ratio, ">=", BRUTE_RATIO))
    note = f"{BALLS * last['triangles']} triangles; one thread {last['step_ms']:.3g} of CPU, {last['step_wall_ms']:.3g} of wall time"
    two = last["step_two_threads_ms"] if (os.cpu_count() or 1) >= 2 else None
    checks.append(Check(f"step on two threads [ms], {last['triangles']} triangles per ball", two, "<=", STEP_MS, note))
    checks.append(Check("vjp / step", last["vjp_ms"] / last["step_ms"], "<=", VJP_RATIO))
    return {"timings": timings, "checks": checks, "hashes": hashes, "rows": rows, "exponent": exponent}
