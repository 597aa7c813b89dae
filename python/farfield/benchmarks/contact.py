# SPDX-License-Identifier: Apache-2.0
"""What a step with contact costs, per contact model, beside `mj_step` of MuJoCo at the same time step in the same run.

They are not the same answer: MuJoCo lets bodies overlap and feels nothing at a distance; softmin may overlap and feels nothing far away; the others are
certified free of intersections, and longrange acts at every distance. So there is no bound to keep; the ratio says what that costs.
"""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np

import farfield as ff
from farfield.benchmarks.measure import result_hash, take_turns
from farfield.contact_models import contact_model
from farfield.engines.mujoco_scene import translate

STEPS = 40
REPEATS = 5
DT = 0.005
MODELS = ("longrange", "polyhedral", "ipc", "softmin")
HALF = 0.05  # of a box [m]


def boxes(places: list[tuple[float, float, float]]) -> ff.Model:
    """Boxes of 0.1 m and 1 kg above the ground."""
    scene = ff.Scene(name="boxes")
    scene.add_shape(0, name="ground", type="HalfSpace")
    for k, place in enumerate(places):
        scene.add_body(name=f"box{k}", position=place)
        scene.add_joint(f"box{k}", name=f"box{k}", type="Free")
        scene.add_shape(f"box{k}", type="Box", size=[HALF] * 3, density=1000.0)
    return ff.build_model(scene)


SCENES: dict[str, Callable[[], ff.Model]] = {
    "a box at rest": lambda: boxes([(0.0, 0.0, HALF + 0.002)]),
    "a stack of four": lambda: boxes([(0.0, 0.0, HALF + 0.002 + k * (2 * HALF + 0.002)) for k in range(4)]),
    "nine on the ground": lambda: boxes([(0.15 * i, 0.15 * j, HALF + 0.002) for i in range(3) for j in range(3)]),
}


def run(progress) -> dict:
    """All scenes; `progress(text, turns)` gives a function to call after each turn."""
    timings, hashes, rows = {}, {}, []
    for name, build in SCENES.items():
        model = build()
        parameters, start = model.default_parameters(), model.default_state()
        simulations = {
            kind: ff.Simulation(model, parameters, contact=contact_model(kind), dt=DT, state=start) for kind in MODELS
        }
        simulations = {kind: each for kind, each in simulations.items() if _arrives(each, start)}
        peer = translate(model, parameters, dt=DT, substeps=1)
        data = mujoco.MjData(peer.model)

        def theirs(peer=peer, data=data, start=start) -> None:
            peer.set_state(data, start)
            for _ in range(STEPS):
                mujoco.mj_step(peer.model, data)

        peers = {kind: (lambda s=s, start=start: _roll(s, start), STEPS) for kind, s in simulations.items()}
        found = take_turns(peers | {"MuJoCo": (theirs, STEPS)}, repeats=REPEATS, tick=progress(name, REPEATS + 1))
        timings |= {f"{name}, {kind}": timing for kind, timing in found.items()}
        hashes |= {f"{name}, {kind}": result_hash([s.state.q]) for kind, s in simulations.items()}
        times = {f"{kind} [us]": 1e6 * found[kind].minimum if kind in found else None for kind in (*MODELS, "MuJoCo")}
        rows.append({"scene": name, **times})
        rows[-1]["longrange over MuJoCo"] = found["longrange"].minimum / found["MuJoCo"].minimum
        rows[-1]["overlap in MuJoCo [mm]"] = -1e3 * min((float(each.dist) for each in data.contact), default=0.0)
    return {"timings": timings, "checks": [], "hashes": hashes, "rows": rows}


def _arrives(simulation: ff.Simulation, start: ff.State) -> bool:
    """Whether the steps are short enough: explicit ones may not be."""
    simulation.reset(start)
    return all(simulation.step().status == "converged" for _ in range(STEPS))


def _roll(simulation: ff.Simulation, start: ff.State) -> np.ndarray:
    simulation.reset(start)
    for _ in range(STEPS):
        simulation.step()
    return np.asarray(simulation.state.q)
