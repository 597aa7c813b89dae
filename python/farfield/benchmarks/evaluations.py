# SPDX-License-Identifier: Apache-2.0
"""How often a step asks the contact model: calls with derivatives (linearizations) and without (energies), per step, and its CPU time.

Every scene has a row for each contact model. The bounds are for long-range contact: what must hold, with the goal in the note. `arrived`:
steps that converged out of those asked for; figures are of the steps taken.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

import farfield as ff
from farfield.benchmarks import billiards
from farfield.benchmarks.measure import Check, result_hash
from farfield.benchmarks.piles import pile
from farfield.benchmarks.racks import rack
from farfield.benchmarks.recorded import recorded
from farfield.benchmarks.resting import boxes, sliding
from farfield.contact_models import contact_model
from farfield.experiments import soak
from farfield.options import option

DT, SETTLING = 0.01, 25  # [s], steps before boxes are pushed
P95 = {"heaps": 20.0}


@dataclass(frozen=True)
class Options:
    """What is measured."""

    name: ClassVar[str] = "bench evaluations"
    contact: str = option("longrange,ipc,polyhedral", "contact models, with commas between")
    scenes: str = option("", "only scenes with one of these words in their name, with commas between")
    heaps: int = option(20, "random heaps", above=0)
    repeats: int = option(2, "of every motion, for its time", above=0)


@dataclass(frozen=True)
class Motion:
    """What is rolled out, but for the contact model."""

    model: ff.Model
    state: ff.State
    controls: np.ndarray
    dt: float = DT
    contact: Callable[[str], ff.ContactModel] = contact_model
    settings: dict[str, Any] = field(default_factory=dict)

    def roll(self, name: str) -> ff.Trajectory:
        contact = self.contact(name)
        parameters = self.model.default_parameters()
        return ff.rollout(
            self.model, parameters, self.state, self.controls, dt=self.dt, contact=contact, **self.settings
        )


@dataclass(frozen=True)
class Case:
    """A scene; mean evaluations per step that long-range contact may need, and that it should."""

    name: str
    motion: Callable[[str], Motion]
    must: float | None = None
    goal: float | None = None


def passive(model: ff.Model, state: ff.State, steps: int, **settings) -> Motion:
    return Motion(model, state, np.zeros((steps, model.num_controls)), **settings)


def rest(contact: str) -> Motion:
    model = boxes(0.5)
    return passive(model, model.default_state(), 75)


def slide(contact: str) -> Motion:
    model = boxes(0.3)
    settled = passive(model, model.default_state(), SETTLING).roll(contact)
    return passive(model, sliding(model, settled.state(-1), 1.0), 50)


def hit(triangles: int, dt: float) -> Callable[[str], Motion]:
    def make(contact: str) -> Motion:
        model = rack(triangles)
        v = np.zeros(model.num_dofs)
        v[model.joint_dofs(f"ball {billiards.BALLS - 1}").start] = billiards.SPEED
        return passive(model, ff.State(q=model.default_state().q, v=v), billiards.STEPS, dt=dt)

    return make


def replayed(name: str) -> Callable[[str], Motion]:
    def make(contact: str) -> Motion:
        problem, controls = recorded(name)
        settings = {"max_iterations": problem.max_iterations}
        state = problem.state or problem.model.default_state()
        return Motion(problem.model, state, controls, problem.dt, lambda which: problem.contact(which)[0], settings)

    return make


def dropped(count: int) -> Callable[[str], Motion]:
    def make(contact: str) -> Motion:
        model = pile(count)
        return passive(model, model.default_state(), 40)

    return make


CASES = (
    Case("rest", rest, 2.2, 2.0),
    Case("slide", slide, 3.2, 2.5),
    Case("rack 32, dt .01", hit(32, 0.01), 10.0, 6.0),
    Case("rack 128, dt .01", hit(128, 0.01), 8.0, 5.0),
    Case("rack 388, dt .01", hit(388, 0.01), 6.5, 5.0),
    Case("rack 32, dt .04", hit(32, 0.04)),
    Case("rack 128, dt .04", hit(128, 0.04)),
    Case("rack 388, dt .04", hit(388, 0.04)),
    Case("push 1", replayed("push 1"), 4.3, 3.0),
    Case("push 0", replayed("push 0"), 3.3, 2.5),
    Case("push 2", replayed("push 2"), 4.2, 3.0),
    Case("ant-push", replayed("ant-push 1"), 6.2, 5.0),
    Case("gather", replayed("gather 2"), 8.0, 6.0),
    Case("pile of 20", dropped(20), 12.0, 8.0),
    Case("pile of 40", dropped(40), 14.0, 8.0),
)
HEAPS = Case("heaps", None, 7.0, 5.0)


def measure(case: Case, contact: str, repeats: int) -> tuple[dict, str]:
    """The row of a scene and the hash of its motion."""
    motion = case.motion(contact)
    best = np.inf
    for _ in range(repeats):
        started = time.thread_time()
        run = motion.roll(contact)
        best = min(best, time.thread_time() - started)
    reports = run.reports
    row = {
        "scene": case.name,
        "contact": contact,
        "arrived": sum(report.status == "converged" for report in reports),
        "asked": len(motion.controls),
        **spread([report.contact_evaluations for report in reports]),
        "linearizations": float(np.mean([report.contact_linearizations for report in reports])),
        "energies": float(np.mean([report.contact_energies for report in reports])),
        "ms_per_step": 1e3 * best / len(reports),
    }
    return row, result_hash([run.q, run.v])


def spread(counts: Sequence[int]) -> dict:
    """Mean, 95th percentile and largest."""
    return {"mean": float(np.mean(counts)), "p95": float(np.percentile(counts, 95)), "max": int(max(counts))}


def measure_heaps(contact: str, scenes: int, tick: Callable[[], None]) -> tuple[dict, str]:
    """The same over random heaps; those that stop count with the steps they took."""
    rows = []
    for row in soak.run(soak.Plan(scenes=scenes, contact=[contact]), [], 1):
        rows.append(row)
        tick()
    counts = np.concatenate([row["evaluations"] for row in rows])
    linearizations = np.concatenate([row["linearizations"] for row in rows])
    row = {
        "scene": HEAPS.name,
        "contact": contact,
        "arrived": sum(row["steps"] - soak.stopped(row) for row in rows),
        "asked": sum(row["steps"] if row["status"] == "left" else soak.STEPS for row in rows),
        **spread(counts),
        "linearizations": float(linearizations.mean()),
        "energies": float((counts - linearizations).mean()),
        "ms_per_step": 1e3 * sum(row["cpu_seconds"] for row in rows) / len(counts),
    }
    return row, result_hash([row["final"] for row in sorted(rows, key=lambda row: row["seed"])])


def run(progress, *, options: Options | None = None) -> dict:
    """All scenes under all contact models."""
    options = options or Options()
    models = options.contact.split(",")
    words = [word.strip() for word in options.scenes.split(",") if word.strip()]
    chosen = [case for case in (*CASES, HEAPS) if not words or any(word in case.name for word in words)]
    if not chosen:
        raise ValueError(
            f"scenes '{options.scenes}': none has such a name, expected part of one of: {', '.join(c.name for c in (*CASES, HEAPS))}"
        )
    rows, hashes = [], {}
    for contact in models:
        tick = progress(contact, len(chosen) + (options.heaps if HEAPS in chosen else 0))
        for case in chosen:
            if case is HEAPS:
                row, bits = measure_heaps(contact, options.heaps, tick)
            else:
                row, bits = measure(case, contact, options.repeats)
            rows.append(row)
            hashes[f"{case.name}, {contact}"] = bits
            tick()
    return {"timings": {}, "checks": bounds(rows), "hashes": hashes, "rows": rows}


def bounds(rows: Sequence[dict]) -> list[Check]:
    """Every step arrives; long-range contact keeps to the numbers of the cases."""
    lost = sum(row["asked"] - row["arrived"] for row in rows)
    scenes = [f"{row['scene']}, {row['contact']}" for row in rows if row["arrived"] < row["asked"]]
    checks = [Check("steps that did not arrive or were not reached", lost, "<=", 0, "; ".join(scenes))]
    cases = {case.name: case for case in (*CASES, HEAPS)}
    for row in rows:
        case = cases[row["scene"]]
        if row["contact"] != "longrange" or case.must is None:
            continue
        reached = "reached" if row["mean"] <= case.goal else "not reached"
        note = f"goal {case.goal:g} {reached}; p95 {row['p95']:.3g}, largest {row['max']}"
        checks.append(Check(f"{case.name}: evaluations per step", row["mean"], "<=", case.must, note))
        if case.name in P95:
            checks.append(Check(f"{case.name}: 95th percentile", row["p95"], "<=", P95[case.name]))
    return checks
