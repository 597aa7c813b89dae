# SPDX-License-Identifier: Apache-2.0
"""Four rotating chains: the cost of a step with contact against the number of links.

Four chains of universal joints hang side by side, close enough that neighbouring links meet, and each is turned at its root by a motor,
neighbours in opposite senses. Per step: a rollout of ten steps, after forty that bring the chains in motion, divided by its
steps. Per evaluation: contact energy, wrenches and Hessian blocks alone, of both models at the same states. All models have the same
range; `none` is the step without contact. `pairs`: one evaluation of two balls of ever finer meshes.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from farfield.benchmarks.measure import Check, Timing, result_hash, take_turns

CHAINS, LINKS = 4, (4, 8, 16, 32)
DT, LEAD, STEPS, REPEATS = 0.01, 40, 10, 2
SPACING, LINK, RADIUS = 0.075, 0.1, 0.03  # [m]
TORQUE = 0.2  # at the root, per link [N m]
RANGE = 2e-3  # of contact [m]
PAIR_VERTICES = (8, 32, 96, 384)


def scene(links: int):
    """Four chains of `links` links each, box links on universal joints, a motor at every root."""
    import farfield as ff

    out = ff.Scene(name=f"four chains of {links} links", gravity=[0.0, 0.0, -9.81])
    for chain in range(CHAINS):
        parent = 0
        place = [SPACING * (chain % 2), SPACING * (chain // 2), 0.0]
        for k in range(links):
            name = f"chain {chain} link {k}"
            parent = out.add_body(name=name, parent=parent, position=place if k == 0 else [0.0, 0.0, -LINK])
            out.add_joint(
                parent, name=name, type="universal", axis=[1.0, 0.0, 0.0], axis2=[0.0, 1.0, 0.0], damping=0.01
            )
            out.add_shape(
                parent,
                name=name,
                type="box",
                size=[RADIUS, RADIUS, 0.45 * LINK],
                position=[0.0, 0.0, -0.5 * LINK],
                density=1000.0,
                friction=0.3,
            )
        out.add_actuator(name=f"motor {chain}", joint=f"chain {chain} link 0", type="motor")
    return out


def turning(model, chain_torque: float, steps: int) -> np.ndarray:
    """Torques that swing each chain's root in a circle, neighbours in opposite senses."""
    time = DT * np.arange(1, steps + 1)[:, None]
    phase = 2.0 * np.pi * (1.5 * time + np.arange(CHAINS)[None, :] / CHAINS)
    controls = np.zeros((steps, model.num_controls))
    controls[:, 0::2] = chain_torque * np.sin(phase)
    controls[:, 1::2] = chain_torque * np.cos(phase)
    return controls


def contacts() -> dict:
    import farfield as ff

    return {"none": None, "polyhedral": ff.Polyhedral(range=RANGE), "ipc": ff.Ipc(range=RANGE)}


def evaluation_seconds(models: dict, model, parameters, states: np.ndarray, repeats: int = 20) -> dict[str, float]:
    """Of one contact evaluation, warm, mean over the states; the smallest of three rounds in turns."""
    from farfield import _core

    still = np.zeros(model.num_dofs)
    best = dict.fromkeys(models, np.inf)
    for _ in range(3):
        for name, contact in models.items():
            times = [
                _core._benchmark_contact(contact, model, parameters, q, delta=still, cold=False, repeats=repeats)[0]
                for q in states
            ]
            best[name] = min(best[name], float(np.mean(times)))
    return best


def measure(links: int, repeats: int, progress) -> tuple[dict, dict[str, Timing], dict[str, str]]:
    """One row."""
    import farfield as ff

    model = ff.build_model(scene(links))
    parameters = model.default_parameters()
    controls = turning(model, TORQUE * links, LEAD + STEPS)
    row: dict = {"links": links, "degrees_of_freedom": model.num_dofs}
    peers, hashes, moved = {}, {}, None
    for name, contact in contacts().items():
        options = {"dt": DT, "contact": contact, "tolerance": 1e-6}
        lead = ff.rollout(model, parameters, model.default_state(), controls[:LEAD], **options)
        roll = partial(ff.rollout, model, parameters, lead.state(-1), controls[LEAD:], **options)
        last = roll() if lead.converged else lead
        row[f"{name}_converged"] = lead.converged and last.converged
        row[f"{name}_newton"] = float(np.mean([report.iterations for report in last.reports]))
        if contact is not None:
            row[f"{name}_energy"] = max(float(report.contact) for report in last.reports)
            row[f"{name}_gap"] = min(lead.min_gap, last.min_gap)
        peers[name] = (roll, STEPS)
        hashes[f"{name}, {links} links"] = result_hash([last.q])
        moved = np.asarray(last.q)[::5] if name == "polyhedral" else moved
    found = take_turns(peers, repeats=repeats, tick=progress(f"{links} links per chain", repeats + 1))
    for name, timing in found.items():
        row[f"{name}_ms"] = 1e3 * timing.minimum
    row["ipc_over_polyhedral"] = row["ipc_ms"] / row["polyhedral_ms"]
    acting = {name: contact for name, contact in contacts().items() if contact is not None}
    for name, seconds in evaluation_seconds(acting, model, parameters, moved).items():
        row[f"{name}_evaluation_us"] = 1e6 * seconds
    row["evaluation_ipc_over_polyhedral"] = row["ipc_evaluation_us"] / row["polyhedral_evaluation_us"]
    return row, {f"{name}, {links} links": timing for name, timing in found.items()}, hashes


def pair_row(vertices: int) -> dict:
    """Two balls of `vertices` vertices, half the range apart: what one evaluation of their contact takes."""
    import farfield as ff
    from farfield.benchmarks.racks import fibonacci_ball
    from farfield.gradcheck import moved_to_gap
    from farfield.properties import pair_model

    points, triangles = fibonacci_ball(vertices)
    mesh = ff.TriangleMesh(name="ball", vertices=RADIUS * points, triangles=triangles)
    model, parameters = pair_model([{"type": ff.ShapeType.Mesh, "mesh": 0}] * 2, [mesh])
    q = np.array(model.default_state().q)
    q[7:10] = [0.3 * RADIUS, 0.2 * RADIUS, 4.0 * RADIUS]
    q = moved_to_gap(model, parameters, q, 2, 0.5 * RANGE)
    acting = {name: contact for name, contact in contacts().items() if contact is not None}
    seconds = evaluation_seconds(acting, model, parameters, q[None], repeats=500)
    row = {"vertices": vertices, "triangles": len(triangles)}
    row |= {f"{name}_us": 1e6 * value for name, value in seconds.items()}
    return row | {"ipc_over_polyhedral": seconds["ipc"] / seconds["polyhedral"]}


def run(progress, *, links=LINKS, repeats: int = REPEATS) -> dict:
    """All sizes."""
    rows, timings, hashes, checks = [], {}, {}, []
    for count in links:
        row, times, own = measure(count, repeats, progress)
        rows.append(row)
        timings.update(times)
        hashes.update(own)
        converged = row["polyhedral_converged"] and row["ipc_converged"]
        checks.append(Check(f"{count} links: every step converged", float(converged), ">=", 1.0))
    pairs = [pair_row(vertices) for vertices in PAIR_VERTICES]
    return {"timings": timings, "checks": checks, "hashes": hashes, "rows": rows, "pairs": pairs}
