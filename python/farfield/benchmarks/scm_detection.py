# SPDX-License-Identifier: Apache-2.0
"""Soft collision detection on three pairs: box on box, a horseshoe in a box, a T against a finger [SCM2025, Sec. III-B.3].

    python -m farfield.benchmarks.scm_detection FILE.png

draws the separation fields and prints what was measured.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import farfield as ff
from farfield.optional import pyplot
from farfield.tasks import t_push

SIDE, SHIFT, DEPTH = 0.1, 0.03, 1e-3  # of the boxes [m]
LEG, SPAN, DEEP, SHALLOW = (
    0.04,
    0.12,
    4e-3,
    2e-3,
)  # of the horseshoe [m]: width of a leg, of the whole, how deep its legs are
CORNERS = np.array(
    [[x, y] for x in (SHIFT - SIDE / 2, SIDE / 2) for y in (-SIDE / 2, SIDE / 2)]
)  #: of the boxes' overlap


def _free(scene: ff.Scene, name: str, position, boxes) -> None:
    """A free body of boxes (half sizes, centre)."""
    scene.add_body(name=name, position=position)
    scene.add_joint(name, name=name, type="Free")
    for k, (size, place) in enumerate(boxes):
        scene.add_shape(name, name=f"{name} {k}", type="Box", size=size, position=place)


def _field(scene: ff.Scene, contact: ff.Softmin, a: str, b: str) -> ff.Separation:
    model = ff.build_model(scene)
    return contact.separation(model, model.default_parameters(), model.default_state().q, a, b)


def box_on_box() -> ff.Separation:
    """Two cubes, the upper one shifted and 1 mm deep in the lower one."""
    scene = ff.Scene(name="boxes", gravity=[0.0, 0.0, 0.0])
    _free(scene, "low", [0.0, 0.0, 0.0], [([SIDE / 2] * 3, [0.0, 0.0, 0.0])])
    _free(scene, "high", [SHIFT, 0.0, SIDE - DEPTH], [([SIDE / 2] * 3, [0.0, 0.0, 0.0])])
    contact = ff.Softmin(separation_temperature=5e-4, force_temperature=5e-4, spacing=0.01, cloud_temperature=0.03)
    return _field(scene, contact, "low", "high")


def horseshoe() -> ff.Separation:
    """Two legs stand in a box, the left one 4 mm deep, the right one 2 mm."""
    scene = ff.Scene(name="horseshoe", gravity=[0.0, 0.0, 0.0])
    _free(scene, "box", [0.0, 0.0, -0.05], [([0.1, 0.05, 0.05], [0.0, 0.0, 0.0])])
    half, across = LEG / 2, (SPAN - LEG) / 2
    legs = [([half, half, 0.03 + 0.5 * deep], [side * across, 0.0, 0.03 - 0.5 * deep])
            for side, deep in ((-1.0, DEEP), (1.0, SHALLOW))]  # fmt: skip
    _free(scene, "horseshoe", [0.0, 0.0, 0.0], [*legs, ([SPAN / 2, half, half], [0.0, 0.0, 0.06 + half])])
    contact = ff.Softmin(separation_temperature=1e-3, force_temperature=1e-3, spacing=0.01, cloud_temperature=0.03)
    return _field(scene, contact, "box", "horseshoe")


def t_and_finger(gap: float = -1e-3, per_side: int = 3) -> ff.Separation:
    """The finger of the T-push below the stem of the T; gap in metres, negative: that deep."""
    scene = t_push.scene((0.0, t_push.BAR - 3.5 * t_push.CELL - t_push.RADIUS - gap))
    return _field(scene, t_push.contact(per_side), "t", "finger")


def numbers() -> dict[str, dict[str, float]]:
    """What the three fields say."""
    boxes, shoe = box_on_box(), horseshoe()
    supports = boxes.contacts(4)[:, :2]
    worst = max(float(np.linalg.norm(supports - corner, axis=1).min()) for corner in CORNERS)
    left = float(np.asarray(shoe.weights)[np.asarray(shoe.points)[:, 0] < 0.0].sum())
    out = {
        "box_on_box": {"soft_mm": 1e3 * boxes.soft, "centre_cm": (100 * np.asarray(boxes.centre_of_pressure)).tolist(),
                       "support_to_corner_mm": 1e3 * worst},
        "horseshoe": {"soft_mm": 1e3 * shoe.soft, "least_mm": 1e3 * shoe.least, "mass_on_the_left": left},
    }  # fmt: skip
    for gap in (-1e-3, 0.0, 0.02):
        field = t_and_finger(gap)
        touch = np.array([0.0, t_push.BAR - 3.5 * t_push.CELL, t_push.HEIGHT])
        out[f"t_and_finger {1e3 * gap:g} mm"] = {
            "soft_mm": 1e3 * field.soft,
            "least_mm": 1e3 * field.least,
            "centre_to_touch_mm": 1e3 * float(np.linalg.norm(np.asarray(field.centre_of_pressure) - touch)),
        }
    return out


def draw(path: Path) -> None:
    """Points of both bodies by separation, and where the load sits."""
    plt = pyplot()

    figure, axes = plt.subplots(1, 3, figsize=(13, 4.2))
    panels = {
        "box on box, from above": (box_on_box(), (0, 1)),
        "horseshoe in a box, from the side": (horseshoe(), (0, 2)),
        "T against a finger, from above": (t_and_finger(), (0, 1)),
    }
    for axis, (title, (field, (i, j))) in zip(axes, panels.items(), strict=True):
        points = np.asarray(field.points)
        order = np.argsort(-np.asarray(field.phi))
        shown = axis.scatter(
            points[order, i], points[order, j], c=1e3 * np.asarray(field.phi)[order], s=8, cmap="viridis_r"
        )
        figure.colorbar(shown, ax=axis, label="separation [mm]")
        supports = field.contacts(4)
        axis.plot(supports[:, i], supports[:, j], "r^", label="contacts(4)")
        centre = np.asarray(field.centre_of_pressure)
        axis.plot(centre[i], centre[j], "kx", label="centre of pressure")
        axis.set(title=title, aspect="equal")
        axis.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.12))
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
    print(numbers())
