# SPDX-License-Identifier: Apache-2.0
"""Published claims about grain shape, put to several random starts: repose, jamming, packing [CEM2026, Sec. 8]."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from farfield.executors import in_order, require_shared
from farfield.experiments.runs import RunDir
from farfield.grains import column, packing, silo
from farfield.grains.runner import run_scene
from farfield.reading import read_json


@dataclass(frozen=True)
class Claim:
    """Variants of one experiment whose `metric` must rise in this order; `text` says it in words."""

    text: str
    build: Callable
    variants: tuple[dict, ...]
    metric: str
    unit: str
    rises: tuple[int, ...]  # indices of the variants that are compared


CLAIMS = {
    "repose": Claim(
        "the angle of repose rises O < U < N < #",
        column.build,
        tuple({"shape": shape} for shape in ("O", "U", "N", "#")),
        "repose_angle",
        "angle of repose [degrees]",
        (0, 1, 2, 3),
    ),
    "jamming": Claim(
        "# jams at the opening of 8 m where octagons flow",
        silo.build,
        tuple({"shape": shape, "opening": width} for width in (8.0, 16.0) for shape in ("#", "octagon")),
        "rate",
        "discharge [grains/s]",
        (0, 1),
    ),
    "packing": Claim(
        "the packed height rises with the share of the circle that arcs cover",
        packing.build,
        tuple({"shape": f"arc{share}"} for share in (25, 50, 75, 100)),
        "height",
        "packed height [m]",
        (0, 1, 2, 3),
    ),
}


def label(variant: dict) -> str:
    """Short name of a variant: the shape, and the opening where there is one."""
    opening = f" {variant['opening']:g} m" if "opening" in variant else ""
    return variant["shape"] + opening


def run(
    name: str,
    folder: Path,
    *,
    grains: int | None,
    seeds: int,
    threads: int,
    maps=None,
    progress: Callable[[str], None] | None = None,
    executor: Executor | None = None,
) -> dict:
    """Every variant with every seed; finished runs found in the folder are not run again. Returns the summary."""
    variants = CLAIMS[name].variants
    jobs = [(index, seed) for seed in range(seeds) for index in range(len(variants))]
    work = partial(_one, name, Path(folder).resolve(), grains, threads, maps)
    told = None if progress is None else lambda row: progress(f"{name}, seed {row['seed']}")
    rows = in_order(work, jobs, executor, told=told)
    results: dict[str, list[dict]] = {label(variant): [] for variant in variants}
    for (index, _), row in zip(jobs, rows, strict=True):
        results[label(variants[index])].append(row)
    return summary(name, results)


def _one(name: str, folder: Path, grains, threads: int, maps, job: tuple[int, int]) -> dict:
    require_shared(folder)
    claim, seed = CLAIMS[name], job[1]
    variant = claim.variants[job[0]]
    size = {} if grains is None else {"grains": grains}
    path = folder / f"{name}-{label(variant).replace(' ', '')}-{grains or 'default'}-{seed}"
    file = path / "result.json"
    if file.is_file():
        return read_json(file, {"seed": int, "finite": bool, claim.metric: (float, None), "grains?": int}, links=False)
    scene = claim.build(**variant, **size, seed=seed, threads=threads, maps=maps)
    begun = (path / "config.json").is_file()  # by a process that was killed
    options = {**variant, **size}
    run_folder = RunDir.open(path).lock() if begun else RunDir.create(name, options=options, seed=seed, path=path)
    done = run_scene(scene, run_folder, quiet=True, resume=begun)
    if done.interrupted:
        raise KeyboardInterrupt
    result = {
        **scene.finish(done.rows, done.frames),
        "seed": seed,
        "time": done.rows[-1]["time"],
        "steps": done.steps,
        "steps_per_second": done.steps / done.seconds if done.seconds > 0 else None,
        "finite": done.finite,
        "kinetic_per_grain": done.rows[-1]["kinetic"] / int(scene.system.free.sum()),
        "deepest": max(row["deepest"] for row in done.rows),
        "final": str(path / "final.npz"),
    }
    run_folder.write_arrays({"poses": done.frames[-1]}, name="final.npz")
    run_folder.file("checkpoint.npz").unlink(missing_ok=True)
    run_folder.write_json("result.json", result)
    return result


def summary(name: str, results: dict[str, list[dict]]) -> dict:
    """Mean, standard deviation and standard error per variant, and whether the claim holds.

    holds: every difference of neighbours in the claimed order is positive by two standard errors. For jamming, too, every run
    of # and no run of octagons at the small opening must have jammed. in_means: the differences are positive.
    """
    claim = CLAIMS[name]
    rows = []
    for variant in claim.variants:
        runs = results[label(variant)]
        values = [run[claim.metric] for run in runs if run[claim.metric] is not None]
        spread = statistics.stdev(values) if len(values) > 1 else math.nan
        rows.append(
            {
                "variant": label(variant),
                "runs": len(values),
                "mean": statistics.fmean(values) if values else math.nan,
                "deviation": spread,
                "error": spread / math.sqrt(len(values)) if values else math.nan,
                "values": values,
            }
        )
        if "jammed" in runs[0]:
            rows[-1]["jammed"] = sum(run["jammed"] for run in runs)
    steps = []
    for low, high in zip(claim.rises[:-1], claim.rises[1:], strict=True):
        difference = rows[high]["mean"] - rows[low]["mean"]
        error = math.hypot(rows[high]["error"], rows[low]["error"])
        steps.append({"from": rows[low]["variant"], "to": rows[high]["variant"], "rise": difference, "error": error})
    in_means = all(step["rise"] > 0 for step in steps)
    holds = all(step["rise"] > 2 * step["error"] for step in steps)
    if name == "jamming":
        holds = holds and rows[0]["jammed"] == rows[0]["runs"] and rows[1]["jammed"] == 0
    return {
        "claim": claim.text,
        "metric": claim.metric,
        "grains": results[label(claim.variants[0])][0]["grains"],
        "holds": holds,
        "in_means": in_means,
        "rows": rows,
        "steps": steps,
    }


def draw(name: str, result: dict, axes) -> None:
    """Means with standard deviations, and every run as a dot."""
    names = [row["variant"] for row in result["rows"]]
    axes.errorbar(
        range(len(names)),
        [row["mean"] for row in result["rows"]],
        yerr=[row["deviation"] for row in result["rows"]],
        fmt="s",
        capsize=5,
        color="tab:blue",
    )
    for at, row in enumerate(result["rows"]):
        axes.plot([at + 0.12] * len(row["values"]), row["values"], ".", color="tab:orange", alpha=0.7)
    axes.set_xticks(range(len(names)), names)
    axes.set_ylabel(CLAIMS[name].unit)
    axes.set_ylim(bottom=0)
    verdict = "holds" if result["holds"] else "in the means only" if result["in_means"] else "does not hold"
    axes.set_title(f"{result['claim']}:\n{verdict} ({result['rows'][0]['runs']} runs each, {result['grains']} grains)")
