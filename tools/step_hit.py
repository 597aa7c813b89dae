#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One hit, iteration by iteration: the cue ball runs into a rack of balls, the first step of it.

Draws the residual and the fraction taken of every direction beside those of an earlier step (docs/data/step_hit_before.json: patience of 25
iterations, then from the start again with more weight), in the same contact potential.

step_hit.py --out docs/images/step_hit.png
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

import farfield as ff
from farfield.benchmarks.racks import rack

ROOT = Path(__file__).resolve().parent.parent
BEFORE = ROOT / "docs" / "data" / "step_hit_before.json"
TRIANGLES, SPEED, DT = 32, 5.0, 0.01  # per ball, [m/s], [s]
CONTACT = {"weight_in_joules": 1e-7, "leaf_weights": "paper", "length_scale": 1.0, "slip_speed": 1e-3}


def record() -> dict:
    """The hit as the step takes it now."""
    model = rack(TRIANGLES)
    v = np.zeros(model.num_dofs)
    v[-6] = SPEED
    state = ff.State(q=model.default_state().q, v=v)
    simulation = ff.Simulation(model, contact=ff.LongRange(**CONTACT), dt=DT, state=state)
    simulation.set_trace(True)
    report = simulation.step()
    if report.status != "converged":
        raise RuntimeError(f"the hit ended as '{report.status}', expected 'converged'")
    trace = simulation.last_trace
    return {
        "evaluations": report.contact_evaluations,
        "residual": [each.residual for each in trace],
        "free": [each.way for each in trace],
        "taken": [each.alpha for each in trace],
    }


def draw(before: dict, now: dict, out: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (residuals, fractions) = plt.subplots(2, 1, figsize=(9, 6), sharex=True, constrained_layout=True)
    for name, data, color in (("before", before, "0.55"), ("now", now, "tab:blue")):
        count = np.arange(1, len(data["residual"]) + 1)
        label = f"{name}: {len(count)} iterations, {data['evaluations']} contact evaluations"
        residuals.semilogy(count, data["residual"], "o-", ms=3, lw=1.2, color=color, label=label)
        fractions.semilogy(count, data["taken"], "o-", ms=3, lw=1.2, color=color, label=f"{name}: taken")
        fractions.semilogy(count, data["free"], "_", ms=6, color=color, label=f"{name}: free of collisions")
    for start in before["starts_over"]:
        for axes in (residuals, fractions):
            axes.axvline(start + 0.5, color="0.8", lw=1.0, zorder=0)
    residuals.annotate(
        "starts over", (before["starts_over"][0] + 0.5, 1e-3), xytext=(4, 0), textcoords="offset points", color="0.45"
    )
    residuals.set(ylabel="residual [N, N m]", title=f"A cue ball at {SPEED:g} m/s hits the rack: one step of {DT:g} s")
    fractions.set(xlabel="iteration", ylabel="fraction of the direction")
    residuals.legend()
    fractions.legend(loc="lower right", fontsize=8, ncols=2)
    figure.savefig(out, dpi=120)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description="One hit, iteration by iteration, before and now.")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="picture to write")
    args = parser.parse_args()
    now = record()
    draw(json.loads(BEFORE.read_text()), now, args.out)
    print(f"{args.out}: {len(now['residual'])} iterations, {now['evaluations']} evaluations")


if __name__ == "__main__":
    main()
