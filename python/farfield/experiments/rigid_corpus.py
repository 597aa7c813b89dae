# SPDX-License-Identifier: Apache-2.0
"""The scenes of `rigid_scenes` rolled out: does every step arrive, does nothing intersect or pass through, and does mechanics agree?"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np

import farfield as ff
from farfield.contact_models import CONTACT_MODELS, contact_model
from farfield.experiments.intersections import Surfaces, path_crosses
from farfield.experiments.rigid_scenes import SCENES, Hard, Seen

CERTIFIED = ("longrange", "ipc", "ipc-global", "polyhedral")
HULLS = "with hulls it is another scene: they meet at the start, or fill a hole"
JITTER = 1e-3  # of every velocity at the start [m/s, rad/s]


@dataclass(frozen=True)
class Plan:
    """What is asked of every scene."""

    contact: str = "longrange"
    jitter: int = 0  #: times a scene is run again, its velocities changed a little
    seconds: float = 300.0  #: of CPU time, after which a scene is left

    def __post_init__(self) -> None:
        if self.contact not in CERTIFIED:
            known = "known, but may penetrate" if self.contact in CONTACT_MODELS else "unknown"
            raise ValueError(f"contact model '{self.contact}' is {known}, expected one of: {', '.join(CERTIFIED)}")

    def options(self) -> dict:
        return asdict(self)


def find(names: Sequence[str]) -> list[str]:
    """Scenes whose names contain one of these; all without any."""
    for name in names:
        if not any(name in scene for scene in SCENES):
            raise ValueError(f"--only {name}: no such scene, expected one of: {', '.join(SCENES)}")
    return [scene for scene in SCENES if not names or any(name in scene for name in names)]


def run(plan: Plan, names: Sequence[str]) -> Iterator[dict]:
    """A row for every scene and every jittered copy of it."""
    for name in names:
        for jitter in range(plan.jitter + 1):
            yield roll(plan, name, jitter)[0]


def start(hard: Hard, model: ff.Model, jitter: int) -> ff.State:
    """The state a scene begins in; copies above 0 have other velocities."""
    state = hard.state(model)
    if jitter == 0:
        return state
    draw = np.random.default_rng(jitter)
    return ff.State(
        q=state.q, v=np.asarray(state.v) + JITTER * (model.reduction @ draw.uniform(-1.0, 1.0, model.num_unknowns))
    )


def roll(plan: Plan, name: str, jitter: int = 0) -> tuple[dict, Seen | None]:
    """One scene: its row and its motion."""
    hard = SCENES[name]()
    row: dict = {"scene": name, "contact": plan.contact, "jitter": jitter}
    if hard.concave and plan.contact == "polyhedral":
        return row | {"status": "skipped", "problem": HULLS}, None
    model = hard.model()
    contact = contact_model(plan.contact) if model.contact_pairs else None
    simulation = ff.Simulation(model, contact=contact, dt=hard.dt, state=start(hard, model, jitter))
    surfaces = Surfaces(model)
    states, path, reports, times = [simulation.state], [simulation.state.q], [], []
    status = "done"
    for step in range(hard.steps):
        begun = time.thread_time()
        reports.append(simulation.step(script=None if hard.script is None else hard.script[step]))
        times.append(time.thread_time() - begun)
        path += [cut.state.q for cut in simulation.last_cuts]
        states.append(simulation.state)
        path.append(states[-1].q)
        if reports[-1].status != "converged":
            status = reports[-1].status
        elif sum(times) > plan.seconds:
            status = "left"
        if status != "done":
            break
    parameters = simulation.parameters
    places = [np.asarray(ff.forward_kinematics(model, parameters, q)) for q in path]
    poses = np.array([np.asarray(ff.forward_kinematics(model, parameters, state.q)) for state in states])
    q, v = np.array([state.q for state in states]), np.array([state.v for state in states])
    seen = Seen(model, q, v, poses, hard.dt)
    crossing = next(
        (f"state {k}: {found}" for k, each in enumerate(places) if (found := surfaces.find_intersection(each))), None
    )
    wrong = hard.expect(seen) if status == "done" else None
    row |= {
        "status": status,
        "steps": len(reports) - (status not in ("done", "left")),
        "of": hard.steps,
        "bodies": model.num_bodies - 1,
        "pairs": len(model.contact_pairs),
        "intersection": crossing,
        "passed_through": path_crosses(surfaces, places),
        "min_gap": min(report.min_gap for report in reports),
        "problem": wrong,
        "detours": sum(report.detour for report in reports),
        "cut_steps": sum(report.pieces > 1 for report in reports),
        "evaluations_mean": float(np.mean([report.contact_evaluations for report in reports])),
        "evaluations_max": max(report.contact_evaluations for report in reports),
        "median_ms": 1e3 * float(np.median(times)),
        "mean_ms": 1e3 * float(np.mean(times)),
        "worst_ms": 1e3 * max(times),
    }
    return row, seen


def passed(row: dict) -> bool:
    """To its end, without an intersection before or between states, and as mechanics says."""
    return row["status"] == "done" and not (row["intersection"] or row["passed_through"] or row["problem"])


def summarize(rows: Sequence[dict]) -> dict:
    """How many came how far."""
    ran = [row for row in rows if row["status"] != "skipped"]
    return {
        "scenes": len({row["scene"] for row in rows}),
        "runs": len(ran),
        "skipped": len(rows) - len(ran),
        "to_their_end": sum(row["status"] == "done" for row in ran),
        "left": sum(row["status"] == "left" for row in ran),
        "intersections": sum(row["intersection"] is not None for row in ran),
        "passed_through": sum(row["passed_through"] is not None for row in ran),
        "against_mechanics": sum(row["problem"] is not None for row in ran),
        "passed": sum(map(passed, ran)),
        "steps": sum(row["steps"] for row in ran),
        "detours": sum(row["detours"] for row in ran),
    }
