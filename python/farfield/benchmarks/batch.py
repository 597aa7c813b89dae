# SPDX-License-Identifier: Apache-2.0
"""Throughput of many rollouts at once beside `mujoco.rollout`, on all cores in the same run: an arm without contact, and a box that slides.

Ours keeps states, controls and reports for the gradient; with `rollout_vjp_batch` after it, what the gradient costs.
"""

from __future__ import annotations

import time

import mujoco
import numpy as np
from mujoco import rollout

import farfield as ff
from farfield.benchmarks.contact import boxes
from farfield.benchmarks.measure import result_hash, take_turns
from farfield.contact_models import contact_model
from farfield.engines.mujoco_scene import translate
from farfield.threads import default_threads

COUNT, STEPS, REPEATS = 128, 50, 3
DT = 0.005


def run(progress) -> dict:
    """Both scenes; `progress(text, turns)` gives a function to call after each turn."""
    arm, arm_parameters = ff.load(ff.scene_file("arm7.xml"))
    box = boxes([(0.0, 0.0, 0.052)])
    cases = [
        ("seven-link arm, no contact", arm, arm_parameters, None),
        ("sliding box, longrange", box, box.default_parameters(), "longrange"),
        ("sliding box, softmin", box, box.default_parameters(), "softmin"),
    ]
    timings, hashes, rows = {}, {}, []
    for name, model, parameters, kind in cases:
        found, hashes[name] = _measure(name, model, parameters, kind, progress)
        timings |= {f"{name}: {what}": timing for what, timing in found.items()}
        rates = {f"{what} [steps/s]": 1.0 / timing.minimum for what, timing in found.items()}
        rows.append(
            {"scene": name, **rates, "ratio": rates["rollout_batch [steps/s]"] / rates["mujoco.rollout [steps/s]"]}
        )
    return {"timings": timings, "checks": [], "hashes": hashes, "rows": rows, "threads": default_threads()}


def _measure(name, model, parameters, kind, progress) -> tuple[dict, str]:
    generator = np.random.default_rng(0)
    contact = None if kind is None else contact_model(kind)
    base = model.default_state()
    starts = [
        ff.State(q=base.q, v=0.3 * generator.standard_normal(model.num_dofs) * (kind is None)) for _ in range(COUNT)
    ]
    if kind is not None:
        starts = [
            ff.State(q=base.q, v=[speed, 0.0, 0.0, 0.0, 0.0, 0.0]) for speed in generator.uniform(0.5, 1.0, COUNT)
        ]
    controls = [np.tile(model.default_control(), (STEPS, 1))] * COUNT
    by_q = [np.ones((STEPS + 1, model.num_dofs))] * COUNT
    peer = translate(model, parameters, dt=DT, substeps=1)
    threads = default_threads()
    datas = [mujoco.MjData(peer.model) for _ in range(threads)]
    first = np.array([_full_state(peer, datas[0], start) for start in starts])
    inputs = np.tile(
        np.asarray(controls[0])[:, peer.control] if model.num_controls else np.zeros((STEPS, peer.model.nu)),
        (COUNT, 1, 1),
    )

    def ours() -> list[ff.Trajectory]:
        return ff.rollout_batch(model, [parameters], starts, controls, dt=DT, contact=contact)

    def with_gradients() -> None:
        ff.rollout_vjp_batch(ours(), dL_dq=by_q)

    def theirs() -> None:
        rollout.rollout(peer.model, datas, first, inputs)

    steps = COUNT * STEPS
    found = take_turns(
        {"rollout_batch": (ours, steps), "with gradients": (with_gradients, steps), "mujoco.rollout": (theirs, steps)},
        repeats=REPEATS, clock=time.perf_counter, tick=progress(name, REPEATS + 1),
    )  # fmt: skip
    return found, result_hash([motion.q for motion in ours()])


def _full_state(peer, data, start: ff.State) -> np.ndarray:
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    peer.set_state(data, start)
    state = np.empty(mujoco.mj_stateSize(peer.model, kind))
    mujoco.mj_getState(peer.model, data, state, kind)
    return state
