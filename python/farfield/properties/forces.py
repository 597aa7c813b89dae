# SPDX-License-Identifier: Apache-2.0
"""Force and its derivative against separation, all contact models in one picture: `farfield properties --plot FILE`.

Two bodies of 1 kg approach each other in a straight line, and a corner of a box slides over another box, 2 mm above it. Models are scaled alike: each
carries the weight of 1 kg when the bodies are 1 mm apart. MuJoCo has no such scale and acts on overlap only.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike

import numpy as np

import farfield as ff
from farfield.optional import pyplot
from farfield.properties.mujoco_contact import MujocoContact
from farfield.properties.pairs import pair_model

WEIGHT, CARRIES_AT = 9.81, 1e-3  # [N], [m]
RANGE, SIZE, SLIDING_GAP = 0.01, 0.1, 2e-3  # [m]
COLORS = {
    "longrange": "tab:blue",
    "polyhedral": "tab:green",
    "ipc": "tab:red",
    "ipc-global": "tab:orange",
    "mujoco": "black",
}
SLIDING = "a corner slides over a box"
STYLES = {"ipc-global": "--", "mujoco": ":"}


@dataclass
class Curve:
    """Along one line: separation or way [m], force along it [N], and its derivative [N/m]."""

    way: np.ndarray
    force: np.ndarray
    stiffness: np.ndarray


class Line:
    """Two bodies, the second moved along a line."""

    def __init__(self, shape: dict, turn: np.ndarray, direction: np.ndarray):
        self.model, self.parameters = pair_model([shape, shape], [])
        self.direction = direction
        self.turn = turn
        nearest = ff.closest_points(self.model, self.parameters, self.at(np.array([0.0, 0.0, 1.0])))[0]
        self.touching = 1.0 - nearest.distance  #: distance of the centres

    def at(self, place: np.ndarray) -> np.ndarray:
        return np.concatenate([np.zeros(3), [1.0, 0.0, 0.0, 0.0], place, self.turn])

    def curve(self, evaluate, ways: np.ndarray, start: np.ndarray, axis: np.ndarray, scale: float) -> Curve:
        """Force on the second body along ``axis``, and how it changes with the way."""
        forces, slopes = [], []
        for way in ways:
            found = evaluate(self.model, self.parameters, self.at(start + way * self.direction))
            force, stiffness = np.nan, np.nan
            if np.isfinite(found.energy):
                force = -scale * np.asarray(found.wrench)[2, :3] @ axis
                block = np.asarray(found.blocks[0].hessian)
                stiffness = scale * axis @ (block if len(block) == 3 else block[6:9, 6:9]) @ self.direction
            forces.append(force)
            slopes.append(stiffness)
        return Curve(ways, np.array(forces), np.array(slopes))


def models() -> dict:
    return {
        "longrange": ff.LongRange().evaluate,
        "polyhedral": ff.Polyhedral(range=RANGE).evaluate,
        "ipc": ff.Ipc(range=RANGE).evaluate,
        "ipc-global": ff.IpcGlobal().evaluate,
        "mujoco": MujocoContact().evaluate,
    }


def separations(points: int) -> np.ndarray:
    """From overlap to far away, dense near contact."""
    return np.concatenate([-np.geomspace(1e-2, 1e-6, points // 4), np.geomspace(1e-5, 10.0, points)])


def curves(points: int = 240) -> dict[str, dict[str, Curve]]:
    """Per panel and model."""
    up = np.array([0.0, 0.0, 1.0])
    upright, tilted = np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.93, 0.25, 0.2, 0.1])
    ball, box = {"type": ff.ShapeType.Sphere, "size": [SIZE, 0, 0]}, {"type": ff.ShapeType.Box, "size": [SIZE] * 3}
    approach = {
        "two spheres": Line(ball, upright, up),
        "two boxes, corner to face": Line(box, tilted / np.linalg.norm(tilted), up),
    }
    slide = Line(box, tilted / np.linalg.norm(tilted), np.array([1.0, 0.0, 0.0]))
    out: dict[str, dict[str, Curve]] = {name: {} for name in (*approach, SLIDING)}
    for name, evaluate in models().items():
        for panel, line in approach.items():
            touching = 2.0 * SIZE if name == "mujoco" and line is approach["two spheres"] else line.touching
            ways, scale = separations(points), 1.0
            if name != "mujoco":
                ways = ways[ways > 0.0]
                scale = WEIGHT / line.curve(evaluate, np.array([CARRIES_AT]), touching * up, up, 1.0).force[0]
            out[panel][name] = line.curve(evaluate, ways, touching * up, up, scale)
            if panel != "two spheres":
                depth = -SLIDING_GAP if name == "mujoco" else SLIDING_GAP
                start = (slide.touching + depth) * up
                out[SLIDING][name] = slide.curve(evaluate, np.linspace(-0.25, 0.25, 3 * points), start, up, scale)
    return out


def draw(path: str | PathLike[str]) -> None:
    """Writes the picture."""
    plt = pyplot()

    found = curves()
    figure, panels = plt.subplots(2, len(found), figsize=(13.5, 7.0))
    for column, (title, by_model) in enumerate(found.items()):
        sliding = title == SLIDING
        for row, what in enumerate(("force", "stiffness")):
            panel = panels[row][column]
            for name, curve in by_model.items():
                panel.plot(
                    curve.way,
                    getattr(curve, what),
                    color=COLORS[name],
                    linestyle=STYLES.get(name, "-"),
                    linewidth=1.5,
                    label=name,
                )
            panel.grid(alpha=0.3)
            if not sliding:
                panel.set_xscale("symlog", linthresh=1e-3, linscale=0.8)
                panel.set_xlim(-1e-2, 10.0)
                panel.axvline(0.0, color="grey", linewidth=0.8)
                panel.set_yscale("symlog", linthresh=1e-8, linscale=0.5)
                panel.set_ylim(-3e-9, (1e3, 1e6)[row])
            else:
                panel.set_yscale("symlog", linthresh=(1e-2, 1.0)[row], linscale=0.5)
        panels[0][column].set_title(title)
        panels[1][column].set_xlabel("way across [m]" if sliding else "separation [m]; overlap on the left")
    panels[0][0].set_ylabel("force that parts the bodies [N]")
    panels[1][0].set_ylabel("derivative along the way, -dF/dx [N/m]")
    panels[0][0].legend(loc="upper right", fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
