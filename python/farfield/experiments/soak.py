# SPDX-License-Identifier: Apache-2.0
"""Random heaps rolled out one after the other: does every step arrive, at what cost, and does nothing intersect?"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice, takewhile
from pathlib import Path

import numpy as np

import farfield as ff
from farfield.contact_models import CONTACT_MODELS, contact_model
from farfield.experiments.heaps import Heap, heap
from farfield.experiments.intersections import Surfaces
from farfield.experiments.runs import TRAJECTORY
from farfield.optional import left_out
from farfield.viewer.recording import record
from farfield.viewer.replay import write_replay

MODELS = ("longrange", "ipc", "polyhedral")
STEPS = 60
EVALUATIONS = 6000  # of contact, after which a scene is left: a hundred a step
THREADS = (1, 2, 4)  # that must give the same bits


@dataclass(frozen=True)
class Plan:
    """What is rolled out. A scene depends on its own seed and on nothing else; models take turns by seed."""

    first: int = 0  #: the first seed
    scenes: int = 60
    contact: Sequence[str] = MODELS
    steps: int = STEPS
    evaluations: int = EVALUATIONS  #: most of a scene, in place of a time limit
    determinism: bool = False  #: every scene on 1, 2 and 4 threads, whose states must have the same bits

    def __post_init__(self) -> None:
        for name in self.contact:
            if name not in CONTACT_MODELS:
                raise ValueError(f"contact model '{name}' is unknown, expected some of: {', '.join(CONTACT_MODELS)}")

    def seeds(self) -> range:
        return range(self.first, self.first + self.scenes)

    def contact_of(self, seed: int) -> str:
        return self.contact[seed % len(self.contact)]

    def options(self) -> dict:
        """What two runs must share for their scenes to be counted together."""
        options: dict = {"contact": list(self.contact), "steps": self.steps, "evaluations": self.evaluations}
        return options | ({"determinism": True} if self.determinism else {})


def row_of(plan: Plan, seed: int) -> dict:
    """The row of one scene; of determinism with the threads whose states have other bits than those of one."""
    row = roll(plan, seed)[0]
    if not plan.determinism:
        return row
    others = [n for n in THREADS[1:] if roll(plan, seed, threads=n)[0]["hash"] != row["hash"]]
    return row | {"other_bits": others}


def roll(plan: Plan, seed: int, threads: int = 1) -> tuple[dict, Heap, ff.Trajectory]:
    """One scene: its row, the heap, and its motion. Threads are those of the simulation."""
    made = heap(seed)
    name = plan.contact_of(seed)
    surfaces = Surfaces(made.model)
    simulation = ff.Simulation(
        made.model, contact=contact_model(name, stiffness=made.stiffness), dt=made.dt, state=made.state, threads=threads
    )
    parameters = simulation.parameters
    states, reports, cuts, crossing, cpu = [made.state], [], [], None, 0.0
    status = "done"
    evaluations = 0
    while len(reports) < plan.steps and status == "done":
        started = time.thread_time()
        report = simulation.step()
        cpu += time.thread_time() - started
        reports.append(report)
        states.append(simulation.state)
        cuts += simulation.last_cuts
        evaluations += report.contact_evaluations
        for state in (*(cut.state for cut in simulation.last_cuts), states[-1]):
            found = surfaces.find_intersection(ff.forward_kinematics(made.model, parameters, state.q))
            if crossing is None and found is not None:
                crossing = f"step {len(reports)}: {found}"
        if report.status != "converged":
            status = report.status
        elif evaluations >= plan.evaluations:
            status = "left"
    motion = ff.Trajectory.from_states(
        made.model,
        parameters,
        np.array([state.q for state in states]),
        np.array([state.v for state in states]),
        np.zeros((len(reports), made.model.num_controls)),
        options=simulation.options,
        contact=simulation.contact,
        reports=reports,
        cuts=cuts,
    )
    row = {
        "seed": seed,
        "contact": name,
        **made.about,
        "status": status,
        "steps": len(reports),
        "intersection": crossing,
        "iterations": [report.iterations for report in reports],
        "evaluations": [report.contact_evaluations for report in reports],
        "linearizations": [report.contact_linearizations for report in reports],
        "pieces": [report.pieces for report in reports],
        "detours": sum(report.detour for report in reports),
        "min_gap": motion.min_gap,
        "cpu_seconds": cpu,
        "final": states[-1].q.tolist(),
        "hash": hashlib.sha256(motion.q.tobytes() + motion.v.tobytes()).hexdigest(),
    }
    return row, made, motion


def run(plan: Plan, done: Sequence[int], threads: int, seconds: float = math.inf) -> Iterator[dict]:
    """Rows of all scenes that are not done yet, as they come; none is begun after this time."""
    last, left = time.monotonic() + seconds, set(done)
    todo = takewhile(lambda _: time.monotonic() < last, (seed for seed in plan.seeds() if seed not in left))
    with ThreadPoolExecutor(threads) as pool:
        going = {pool.submit(row_of, plan, seed) for seed in islice(todo, threads)}
        while going:
            finished, going = wait(going, return_when=FIRST_COMPLETED)
            for each in finished:
                going |= {pool.submit(row_of, plan, seed) for seed in islice(todo, 1)}
                yield each.result()


def save(folder: Path, made: Heap, motion: ff.Trajectory) -> None:
    """Model, motion and replay of one scene."""
    ff.save_model(folder / "model.safetensors", made.model, motion.parameters)
    ff.save_trajectory(folder / TRAJECTORY, motion)
    with left_out("replay.html"):
        write_replay(folder / "replay.html", record(made.model, motion.poses(), dt=made.dt), title=f"heap {made.seed}")


def summarize(rows: Sequence[dict]) -> list[dict]:
    """One line per contact model and one for all."""
    groups = {
        name: [row for row in rows if row["contact"] == name] for name in dict.fromkeys(r["contact"] for r in rows)
    }
    if len(groups) > 1:
        groups["all"] = list(rows)
    return [{"contact": name, **_totals(group)} for name, group in groups.items()]


def stopped(row: dict) -> bool:
    """A step did not arrive."""
    return row["status"] not in ("done", "left")


def _totals(rows: Sequence[dict]) -> dict:
    steps = sum(row["steps"] for row in rows)
    iterations, evaluations, pieces = (
        np.concatenate([row[key] for row in rows]) for key in ("iterations", "evaluations", "pieces")
    )
    worst = max(rows, key=lambda row: (stopped(row), max(row["evaluations"])))
    return {
        "scenes": len(rows),
        "steps": steps,
        "stops": sum(stopped(row) for row in rows),
        "left": sum(row["status"] == "left" for row in rows),
        "intersections": sum(row["intersection"] is not None for row in rows),
        "cut_steps": int(np.sum(pieces > 1)),
        "pieces_max": int(pieces.max()),
        "detours": sum(row["detours"] for row in rows),
        **(
            {"other_bits": sum(map(bool, checked))}
            if (checked := [r["other_bits"] for r in rows if "other_bits" in r])
            else {}
        ),
        **_spread("iterations", iterations),
        **_spread("evaluations", evaluations),
        "ms_per_step": 1e3 * sum(row["cpu_seconds"] for row in rows) / steps,
        "worst_seed": worst["seed"],
    }


def _spread(name: str, values: np.ndarray) -> dict:
    return {
        f"{name}_mean": float(values.mean()),
        f"{name}_p95": float(np.percentile(values, 95)),
        f"{name}_max": int(values.max()),
    }
