# SPDX-License-Identifier: Apache-2.0
"""Measures what a contact model promises, on seeded random pairs of bodies and on bodies above a half-space.

barrier         the energy is infinite when bodies touch, and grows without bound as they approach: each time the gap falls tenfold
                (from 1e-3 to 1e-7 m) it gains at least half of what it gained the time before. A logarithm passes (equal gains).
smooth          C2: Hessians on both sides of a place differ by an amount that falls linearly with their distance
non_prehensile  no single term pulls: the force between two convex pieces parts them along the line of their closest points
non_vanishing   the force is never zero, up to 1e6 m
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import farfield as ff
from farfield.properties.measures import (
    BLEND,
    LINEAR_SLACK,
    QUICK,
    Finding,
    Jumps,
    Settings,
    Subject,
    measure_barrier,
    measure_non_prehensile,
    measure_non_vanishing,
    measure_smooth,
    one_sided,
    scan,
)
from farfield.properties.pairs import MESHED, Pair, grounded, pair_model, placed, solids, triangles, unit

__all__ = [
    "BLEND",
    "LINEAR_SLACK",
    "MODELS",
    "PROPERTIES",
    "QUICK",
    "Finding",
    "Jumps",
    "Pair",
    "Row",
    "Settings",
    "Subject",
    "grounded",
    "measure",
    "measure_barrier",
    "measure_non_prehensile",
    "measure_non_vanishing",
    "measure_smooth",
    "one_sided",
    "pair_model",
    "placed",
    "scan",
    "solids",
    "to_dict",
    "triangles",
    "unit",
]

PROPERTIES = ("barrier", "smooth", "non_prehensile", "non_vanishing")
RANGE = 0.05  # of models that have one [m]


def longrange_law(r: float) -> float:
    """What the force of two bodies far apart is proportional to."""
    return 12.0 * (1.0 + r**-0.5) * r**-1.5


@dataclass
class Row:
    """A contact model and what it is known to promise."""

    make: Callable[[], Subject]
    expected: tuple[str, ...] = PROPERTIES


def _softmin() -> Subject:
    from farfield.properties.law_contact import LawContact

    # Clouds stand for solids only, edges and corners included: lines begin in contact, where the law is at work.
    return Subject(
        LawContact(ff.Softmin(newtons_per_metre=1e3)).evaluate,
        single_term=False,
        kinds=("box",),
        range=0.02,
        begins_at=-1e-3,
    )


def _mujoco() -> Subject:
    from farfield.properties import mujoco_contact

    return Subject(
        mujoco_contact.MujocoContact().evaluate,
        single_term=False,
        kinds=("box",),
        range=0.01,
        begins_at=-0.01,
        finest=100.0 * mujoco_contact.DIFFERENCE,
    )


MODELS = {
    "longrange": Row(lambda: Subject(ff.LongRange(blend=[BLEND], weight_in_joules=1.0).evaluate, law=longrange_law)),
    "longrange-paper": Row(
        lambda: Subject(
            ff.LongRange(blend=[BLEND], weight_in_joules=1.0, leaf_weights="paper").evaluate, law=longrange_law
        )
    ),
    "polyhedral": Row(
        lambda: Subject(ff.Polyhedral(range=RANGE).evaluate, range=RANGE, kinds=MESHED),
        ("barrier", "smooth", "non_prehensile"),
    ),
    "ipc": Row(
        lambda: Subject(ff.Ipc(range=RANGE, weight_in_joules=1.0).evaluate, range=RANGE, kinds=MESHED),
        ("barrier", "non_prehensile"),
    ),
    "ipc-global": Row(
        lambda: Subject(ff.IpcGlobal(weight_in_joules=1.0).evaluate, kinds=MESHED),
        ("barrier", "non_prehensile", "non_vanishing"),
    ),
    "softmin": Row(_softmin, ("smooth", "non_prehensile")),
    "mujoco": Row(_mujoco, ("non_prehensile",)),
}


def measure(row: Row, settings: Settings) -> dict[str, Finding]:
    """All four properties of one model."""
    subject = row.make()
    return {
        "barrier": measure_barrier(subject, settings),
        "smooth": measure_smooth(subject, settings),
        "non_prehensile": measure_non_prehensile(subject, settings),
        "non_vanishing": measure_non_vanishing(subject, settings),
    }


def to_dict(findings: dict[str, dict[str, Finding]]) -> dict:
    """Per model one truth value per property, and all figures."""
    models = {}
    for name, found in findings.items():
        figures = {key: value for finding in found.values() for key, value in finding.figures.items()}
        models[name] = {key: finding.passed for key, finding in found.items()} | {"figures": figures}
    return {"models": models}
