# SPDX-License-Identifier: Apache-2.0
"""`gradcheck` on the scenes of `gradient_scenes`: each passes, or says why there is no case."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np

import farfield as ff
from farfield.contact_models import CONTACT_MODELS, contact_model
from farfield.experiments.gradient_scenes import SCENES, Checked
from farfield.gradcheck import Report, gradcheck

GAPS = (1e-2, 1.0)  # of the moved body, in lengths of it


@dataclass(frozen=True)
class Plan:
    """What is asked of every scene."""

    contact: str = "longrange"
    seed: int = 0  #: of losses and directions

    def __post_init__(self) -> None:
        if self.contact not in CONTACT_MODELS:
            raise ValueError(f"contact model '{self.contact}' is unknown, expected one of: {', '.join(CONTACT_MODELS)}")

    def options(self) -> dict:
        return asdict(self)


def find(names: Sequence[str]) -> list[str]:
    """Scenes whose names contain one of these; all without any."""
    for name in names:
        if not any(name in scene for scene in SCENES):
            raise ValueError(f"--only {name}: no such scene, expected one of: {', '.join(SCENES)}")
    return [scene for scene in SCENES if not names or any(name in scene for name in names)]


def run(plan: Plan, names: Sequence[str]) -> Iterator[dict]:
    """A row for every scene."""
    for name in names:
        yield check(plan, name)


def start(checked: Checked, model: ff.Model) -> ff.State:
    """The state a scene begins in."""
    q, v = np.array(model.default_state().q), np.zeros(model.num_dofs)
    for joint, coordinate in checked.pose.items():
        q[model.joint_q(joint)] = coordinate
    for joint, velocity in checked.velocity.items():
        v[model.joint_dofs(joint)] = velocity
    return ff.State(q=q, v=v)


def gaps_of(checked: Checked, model: ff.Model) -> list[float]:
    """In metres: by the smallest free thing that is drawn."""
    sizes = [np.ptp(np.asarray(drawn.vertices), axis=0).max() for drawn in model.drawables() if drawn.body]
    return [gap * min(sizes) for gap in GAPS] if sizes else []


def check(plan: Plan, name: str) -> dict:
    """The row of one scene."""
    checked = SCENES[name]()
    model = ff.build_model(checked.scene)
    row: dict = {"scene": name, "contact": plan.contact, "dofs": model.num_dofs, "pairs": len(model.contact_pairs)}
    contact = contact_model(plan.contact) if model.contact_pairs else None
    begun = time.thread_time()
    try:
        report = gradcheck(
            model,
            model.default_parameters(),
            contact=contact,
            body=checked.body,
            state=start(checked, model),
            script=None if checked.path is None else checked.path(checked.steps),
            dt=checked.dt,
            steps=checked.steps,
            gaps=gaps_of(checked, model),
            seed=plan.seed,
        )
    except ValueError as error:
        text = " ".join(str(error).split())
        expected = checked.refused is not None and checked.refused in text
        return row | {"passed": expected, "refused": text, "cases": 0, "failed": [], "skipped": []}
    return (
        row
        | _told(report)
        | {"passed": report.passed and checked.refused is None, "cpu_seconds": time.thread_time() - begun}
    )


def _told(report: Report) -> dict:
    return {
        "refused": None,
        "cases": len(report.cases),
        "noise_limited": sum(case.noise_limited for case in report.cases),
        "max_relative_error": report.max_relative_error,
        "failed": [
            {"gap": case.gap, "quantity": case.quantity, "relative_error": case.relative_error, "noise": case.fd_noise}
            for case in report.cases
            if not case.ok
        ],
        "skipped": report.skipped,
    }


def summarize(rows: Sequence[dict]) -> dict:
    """How many pass, over how many derivatives."""
    errors = [row["max_relative_error"] for row in rows if row["cases"] and row["max_relative_error"] is not None]
    return {
        "scenes": len(rows),
        "passed": sum(row["passed"] for row in rows),
        "refused": sum(row["refused"] is not None for row in rows),
        "derivatives": sum(row["cases"] for row in rows),
        "wrong": sum(len(row["failed"]) for row in rows),
        "noise_limited": sum(row.get("noise_limited", 0) for row in rows),
        "largest_error": max((error for error in errors if np.isfinite(error)), default=None),
    }
