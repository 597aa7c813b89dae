# SPDX-License-Identifier: Apache-2.0
"""The collision filter on the racks of the billiards benchmark, against the step-size query of the IPC Toolkit (AdditiveCCD).

Random motions: every ball moves 2 mm and turns 0.02 rad, the cue ball 2 cm. Axis-aligned: every ball 5 mm along a coordinate
axis, the case that slows down interval arithmetic. Our filter gets the gaps of the contact evaluation, as in a step, and starts without
cached directions; the peer gets its fastest broad phase.
"""

from __future__ import annotations

import time

import numpy as np

from farfield.benchmarks import ipc_peer
from farfield.benchmarks.measure import Check, Timing, result_hash
from farfield.benchmarks.racks import rack

SIZES = (32, 128, 388)  # triangles per ball
BALLS = 16
MOTIONS = 1000  # half of them axis-aligned
PEER_MOTIONS = 24
REPEATS = 5  # of each motion; the best counts
RANDOM_SHIFT, RANDOM_TURN, CUE_SHIFT, AXIS_SHIFT = 2e-3, 0.02, 2e-2, 5e-3  # [m], [rad], [m], [m]
RATIO, SPREAD = 10.0, 3.0


def random_motions(count: int, seed: int) -> np.ndarray:
    """Directions and axes uniform on the sphere."""
    directions = np.random.default_rng(seed).standard_normal((count, BALLS, 2, 3))
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    lengths = np.full((BALLS, 2, 1), RANDOM_SHIFT)
    lengths[-1, 0] = CUE_SHIFT
    lengths[:, 1] = RANDOM_TURN
    return (directions * lengths).reshape(count, -1)


def axis_motions(count: int, seed: int) -> np.ndarray:
    """Each ball along one of the six directions of the axes; in every fourth motion all along the same."""
    generator = np.random.default_rng(seed)
    axes, signs = generator.integers(0, 3, (count, BALLS)), generator.choice([-1.0, 1.0], (count, BALLS))
    axes[::4], signs[::4] = axes[::4, :1], signs[::4, :1]
    motions = np.zeros((count, BALLS, 6))
    np.put_along_axis(motions, axes[:, :, None], AXIS_SHIFT * signs[:, :, None], axis=2)
    return motions.reshape(count, -1)


def measure(triangles: int, motions: int, peer_motions: int, repeats: int, progress, timings, hashes) -> list[dict]:
    """One row per kind of motion."""
    import farfield as ff
    from farfield import _core

    model = rack(triangles)
    parameters, q = model.default_parameters(), model.default_state().q
    contact, peer = ff.LongRange(), ipc_peer.Rack(triangles)
    kinds = {"random": random_motions(motions // 2, 1), "axis": axis_motions(motions - motions // 2, 2)}
    tick = progress(f"{triangles} triangles per ball", len(kinds) * (peer_motions + 2))
    rows = []
    for kind, moves in kinds.items():
        ours = {}
        for cold in (True, False):
            times, fractions = _core._benchmark_filter(contact, model, parameters, q, moves, cold=cold, repeats=repeats)
            ours[cold] = np.array(times), np.array(fractions)
            tick()
        seconds, peer_fractions = [], []
        for move in moves[:peer_motions]:
            end = peer.moved(move)
            samples = []
            for _ in range(2):
                started = time.thread_time()
                fraction = peer.step_length(end)
                samples.append(time.thread_time() - started)
            seconds.append(min(samples))
            peer_fractions.append(fraction)
            tick()
        times, fractions = ours[True]
        for name, values in (("cold", times), ("warm", ours[False][0]), ("AdditiveCCD", np.array(seconds))):
            timings[f"{triangles} triangles, {kind}, {name}"] = Timing(
                float(values.min()), float(np.median(values)), len(values)
            )
        hashes[f"{triangles} {kind}"] = result_hash([fractions])
        rows.append(
            {
                "triangles": triangles,
                "motions": kind,
                "count": len(times),
                "filter_us": 1e6 * float(np.median(times)),
                "worst_us": 1e6 * float(times.max()),
                "warm_us": 1e6 * float(np.median(ours[False][0])),
                "ipc_us": 1e6 * float(np.median(seconds)),
                "ipc_worst_us": 1e6 * float(np.max(seconds)),
                "fraction": float(np.median(fractions[:peer_motions])),
                "ipc_fraction": float(np.median(peer_fractions)),
                "hash": hashes[f"{triangles} {kind}"],
            }
        )
    return rows


def run(progress, *, sizes=SIZES, motions: int = MOTIONS, peer_motions: int = PEER_MOTIONS, repeats: int = REPEATS):
    """All sizes; the peer sees only the first `peer_motions` of each kind."""
    ipc_peer.require()
    timings: dict[str, Timing] = {}
    hashes: dict[str, str] = {}
    rows = []
    for size in sizes:
        rows += measure(size, motions, peer_motions, repeats, progress, timings, hashes)
    checks = []
    for row in rows:
        name = f"{row['triangles']} triangles, {row['motions']}"
        checks.append(Check(f"{name}: AdditiveCCD / filter", row["ipc_us"] / row["filter_us"], ">=", RATIO))
        checks.append(Check(f"{name}: worst / median", row["worst_us"] / row["filter_us"], "<=", SPREAD))
    return {"timings": timings, "checks": checks, "hashes": hashes, "rows": rows}
