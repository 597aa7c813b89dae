# SPDX-License-Identifier: Apache-2.0
"""Two parallel square grids [LongRange2026, Appendix A.2]: flat contact everywhere, the paper's case for a cost linear in triangles."""

from __future__ import annotations

import math

import numpy as np

from farfield.benchmarks.measure import Check, Timing, result_hash

SIZES = (32, 128, 512, 2048, 8192)  # triangles per grid
CELL = 1.0  # side of a grid cell [m]
GAP = 1e-3  # between the grids [m]; the paper lets it go to 0
REPEATS = 5
BLENDS = (0.5, 0.1)  # margins measured beside the default
EXPONENT = 1.05


def grid(cells: int) -> tuple[np.ndarray, np.ndarray]:
    """A square of cells by cells squares, each cut along the same diagonal."""
    side = np.arange(cells + 1) * CELL - 0.5 * cells * CELL
    x, y = np.meshgrid(side, side, indexing="ij")
    vertices = np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)])
    corner = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).ravel()
    right, up = corner + cells + 1, corner + 1
    both = right + 1
    triangles = np.concatenate([np.column_stack([corner, right, both]), np.column_stack([corner, both, up])])
    return vertices, triangles.astype(np.int32)


def scene(triangles: int):
    """Two free grids, one above the other."""
    import farfield as ff

    cells = math.isqrt(triangles // 2)
    if 2 * cells * cells != triangles:
        raise ValueError(f"bench grids: {triangles} triangles, expected twice a square")
    vertices, faces = grid(cells)
    made = ff.Scene(name=f"two grids of {triangles} triangles")
    made.add_mesh(name="grid", vertices=vertices, triangles=faces)
    plate = ff.Moments.from_inertia(mass=1.0, center=[0.0, 0.0, 0.0], inertia=np.diag([1.0, 1.0, 2.0]))
    for k, height in enumerate((0.0, GAP)):
        body = made.add_body(name=f"grid {k}", position=[0.0, 0.0, height], moments=plate)
        made.add_joint(body, name=f"grid {k}", type="Free")
        made.add_shape(body, type="Mesh", mesh="grid")
    return ff.build_model(made)


def run(progress, *, sizes=SIZES, repeats: int = REPEATS, blends=BLENDS) -> dict:
    """Build + value + gradient + positive semi-definite Hessian for each size; exponents in the triangles.

    With the planes of an evaluation nearby, for the blending margin chosen by shape and for others, and without memory.
    """
    import farfield as ff
    from farfield import _core

    kinds = {"": ([], False), "cold": ([], True)} | {f"blend {blend:g}": ([blend], False) for blend in blends}
    models = {size: scene(size) for size in sizes}
    samples: dict[tuple[int, str], list[float]] = {(size, kind): [] for size in sizes for kind in kinds}
    hashes = {}
    tick = progress("two parallel grids", repeats + 1)
    for turn in range(repeats + 1):
        for (size, kind), times in samples.items():
            model, (blend, cold) = models[size], kinds[kind]
            nearby = 0.01 * GAP * np.random.default_rng(1).standard_normal(model.num_dofs)
            nearby.reshape(-1, 6)[:, 3:] /= CELL * math.sqrt(size)  # the rim moves no further than the middle
            seconds, total = _core._benchmark_contact(
                ff.LongRange(blend=blend),
                model,
                model.default_parameters(),
                model.default_state().q,
                delta=nearby,
                cold=cold,
                repeats=max(2, 1024 // size),
            )
            if turn > 0:
                times.append(seconds)
            hashes[f"grids {size}{', ' + kind if kind else ''}"] = result_hash([total])
        tick()
    timings = {
        f"{size} triangles{', ' + kind if kind else ''}": Timing(min(times), float(np.median(times)), repeats)
        for (size, kind), times in samples.items()
    }
    rows = []
    for size in sizes:
        row = {"triangles": size, "longrange_ms": 1e3 * min(samples[size, ""])}
        for kind in kinds:
            row[f"{kind} us per triangle".strip().replace(" ", "_")] = 1e6 * min(samples[size, kind]) / size
        rows.append(row | {"hash": hashes[f"grids {size}"]})
    if len(rows) < 2:
        return {"timings": timings, "checks": [], "hashes": hashes, "rows": rows, "exponent": None}
    logs = np.log(sizes)
    exponents, last = {}, {}
    for kind in kinds:
        costs = np.log([min(samples[size, kind]) for size in sizes])
        exponents[kind or "default"] = float(np.polyfit(logs, costs, 1)[0])
        last[kind or "default"] = float((costs[-1] - costs[-2]) / (logs[-1] - logs[-2]))
    note = f"between the last two sizes {last['default']:.3g}"
    checks = [Check("exponent in triangles", exponents["default"], "<=", EXPONENT, note)]
    return {
        "timings": timings,
        "checks": checks,
        "hashes": hashes,
        "rows": rows,
        "exponent": exponents["default"],
        "exponents": exponents,
        "last_exponents": last,
    }
