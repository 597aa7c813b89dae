#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loss curves of studies (`farfield study ... --out DIR`): the best loss so far over rollouts, one line per seed, one panel per study.

study_curves.py DIR [DIR ...] --out FILE.png
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np


def curve(run: Path) -> tuple[np.ndarray, np.ndarray]:
    """Steps simulated so far in units of the motion's length, and the best loss so far relative to the first."""
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    steps = len(np.load(run / "arrays.npz")["q"]) - 1
    losses = np.minimum.accumulate([np.inf if row["loss"] is None else row["loss"] for row in rows])
    return np.cumsum([row["steps"] for row in rows]) / steps, losses / losses[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("studies", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--out", required=True, type=Path, metavar="FILE")
    args = parser.parse_args()
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(
        1, len(args.studies), figsize=(4.2 * len(args.studies), 3.4), sharey=True, squeeze=False
    )
    for panel, study in zip(panels[0], args.studies, strict=True):
        runs = sorted(path.parent for path in study.glob("seed-*/arrays.npz"))
        solved = 0
        for run in runs:
            success = json.loads((run / "result.json").read_text())["success"]
            solved += success
            panel.plot(*curve(run), color="tab:green" if success else "tab:red", linewidth=1.2, alpha=0.8)
        panel.set_title(f"{study.name}: {solved} of {len(runs)}")
        panel.set_xlabel("rollouts")
        panel.set_yscale("symlog", linthresh=1e-3)
        panel.set_ylim(0.0, 1.5)
        panel.grid(alpha=0.3)
    panels[0][0].set_ylabel("best loss / first loss")
    figure.tight_layout()
    figure.savefig(args.out, dpi=110)


if __name__ == "__main__":
    main()
