#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The picture of `farfield bench polyhedra`: blocks at a wall beside MuJoCo, twenty planks after a minute, thrown boxes beside Coulomb's law.

polyhedral_plots.py --out FILE.png
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from farfield.benchmarks import books, polyhedra


def draw_wall(panel) -> None:
    times, angles = polyhedra.wall()
    for time_constant, style in ((0.02, "--"), (0.005, ":")):
        reference = polyhedra.wall_mujoco(times, time_constant=time_constant)
        for body in range(2):
            label = f"MuJoCo, solref {time_constant:g} s" if body == 0 else None
            panel.plot(
                times, reference[:, body], style, color="black" if body == 0 else "grey", linewidth=1.1, label=label
            )
    for body, color in enumerate(("tab:blue", "tab:red")):
        panel.plot(
            times, angles[:, body], color=color, linewidth=1.6, label=f"polyhedral, {('first', 'second')[body]} block"
        )
    panel.set_xlabel("time [s]")
    panel.set_ylabel("angle about the vertical [degrees]")
    panel.set_title("two blocks at a wall")
    panel.legend(fontsize=8)


def draw_planks(panel, seconds: float) -> None:
    standing = polyhedra.planks(seconds=seconds)
    poses = np.concatenate([[[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]], standing.q.reshape(-1, 7)])
    x, z = 0.5 * books.LENGTH, 0.5 * books.HEIGHT
    for pose in poses:
        pitch = 2.0 * np.arctan2(pose[5], pose[3])
        corners = np.array([[-x, -z], [x, -z], [x, z], [-x, z], [-x, -z]])
        turned = corners @ np.array([[np.cos(pitch), -np.sin(pitch)], [np.sin(pitch), np.cos(pitch)]])
        panel.fill(
            turned[:, 0] + pose[0], turned[:, 1] + pose[2], facecolor="tab:green", edgecolor="white", linewidth=0.7
        )
    panel.axvline(x, color="grey", linewidth=0.8, linestyle=":")
    panel.set_aspect("equal")
    panel.set_xlabel("overhang [m]")
    panel.set_ylabel("height [m]")
    panel.set_title(f"twenty planks after {standing.seconds:g} s: {'stand' if standing.stands else 'fell'}")


def draw_boxes(panel) -> None:
    speed = 1.0
    for friction, color in ((0.1, "tab:blue"), (0.3, "tab:green"), (0.5, "tab:red")):
        speeds = polyhedra.box_speeds("hull", friction, seconds=1.1, speed=speed)
        times = polyhedra.DT * np.arange(1, len(speeds) + 1)
        panel.plot(times, speeds, color=color, linewidth=1.6, label=f"friction {friction:g}")
        coulomb = np.maximum(0.0, speed - friction * polyhedra.GRAVITY * times)
        panel.plot(times, coulomb, "--", color="black", linewidth=1.0, label="Coulomb" if friction == 0.5 else None)
    panel.set_xlabel("time [s]")
    panel.set_ylabel("speed [m/s]")
    panel.set_title("a box thrown over another")
    panel.legend(fontsize=8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, type=Path, metavar="FILE")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the planks are left alone (default: 60)")
    args = parser.parse_args()
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(14.0, 4.4))
    draw_wall(panels[0])
    draw_planks(panels[1], args.seconds)
    draw_boxes(panels[2])
    for panel in panels:
        panel.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(args.out, dpi=110)


if __name__ == "__main__":
    main()
