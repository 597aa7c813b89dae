#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Curves of studies (`farfield study ... --out DIR`), one line per seed, one column of panels per study.

The best loss so far over rollouts; where a task has many objects that are worked on in turn, the loss summed over all of them and
how many are in their region, both over the frames of the motion.

study_curves.py DIR [DIR ...] --out FILE.png
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

import farfield as ff

COLORS = {True: "tab:green", False: "tab:red"}


def curve(run: Path) -> tuple[np.ndarray, np.ndarray]:
    """Steps simulated so far in units of the motion's length, and the best loss so far relative to the first."""
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    steps = ff.load_trajectory(run / "trajectory.safetensors").num_steps
    losses = np.minimum.accumulate([np.inf if row["loss"] is None else row["loss"] for row in rows])
    return np.cumsum([row["steps"] for row in rows]) / steps, losses / losses[0]


def motion(run: Path) -> tuple[np.ndarray, np.ndarray]:
    """Loss summed over all objects, relative to the first, and objects in their region, at every frame."""
    from farfield.experiments.registry import TASKS, find_task
    from farfield.options import with_options

    config = json.loads((run / "config.json").read_text())
    options = config["options"]
    if options["task"] not in TASKS:
        raise ValueError(f"{run}: is a run of '{options['task']}', expected one of: {', '.join(TASKS)}")
    task = with_options(find_task(options["task"]), {name: str(value) for name, value in options["set"].items()})
    problem = task.build(config["seed"])
    distances = problem.loss.distances(ff.load_trajectory(run / "trajectory.safetensors"))
    losses = np.maximum(distances**2 - task.radius**2, 0.0).sum(axis=1)
    return losses / losses[0], (distances <= task.radius).sum(axis=1)


def draw(panels, study: Path) -> None:
    """One study into its column."""
    runs = sorted(path.parent for path in study.glob("seed-*/result.json"))
    results = [json.loads((run / "result.json").read_text()) for run in runs]
    panels[0].set_title(f"{study.name}: {sum(result['success'] for result in results)} of {len(runs)}")
    in_turn = bool(results) and "inside" in results[0]
    for run, result in zip(runs, results, strict=True):
        look = {"color": COLORS[result["success"]], "linewidth": 1.2, "alpha": 0.8}
        if in_turn:
            losses, inside = motion(run)
            panels[0].plot(losses, **look)
            panels[1].plot(inside, drawstyle="steps-post", **look)
        else:
            panels[0].plot(*curve(run), **look)
    panels[0].set_yscale("symlog", linthresh=1e-3)
    panels[0].set_ylim(0.0, 1.5)
    panels[0].set_xlabel("frame" if in_turn else "rollouts")
    panels[0].set_ylabel("summed loss / first" if in_turn else "best loss / first loss")
    panels[0].grid(alpha=0.3)
    if len(panels) > 1:
        panels[1].set_visible(in_turn)
        panels[1].set(xlabel="frame", ylabel="objects in their region", ylim=(0, None))
        panels[1].grid(alpha=0.3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("studies", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--out", required=True, type=Path, metavar="FILE")
    args = parser.parse_args()
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    found = (json.loads(path.read_text()) for study in args.studies for path in study.glob("seed-*/result.json"))
    rows = 1 + any("inside" in result for result in found)
    count = len(args.studies)
    figure, panels = plt.subplots(rows, count, figsize=(4.4 * count, 3.2 * rows), squeeze=False)
    for k, study in enumerate(args.studies):
        draw(panels[:, k], study)
    figure.tight_layout()
    figure.savefig(args.out, dpi=110)


if __name__ == "__main__":
    main()
