# SPDX-License-Identifier: Apache-2.0
"""Four rotating chains: the cost of a step with contact against the number of links.

Four chains of universal joints hang side by side, close enough that neighbouring links meet, and each is turned at its root by a motor.
Per step: the whole rollout divided by its steps. Columns: every contact model of the package that can carry convex links.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from farfield.benchmarks.measure import Check, Timing, result_hash, take_turns

CHAINS, LINKS = 4, (4, 8, 16, 32)
DT, STEPS, REPEATS = 0.01, 20, 3
SPACING, LINK, RADIUS = 0.075, 0.1, 0.03  # [m]
MODELS = {"polyhedral": "Polyhedral", "ipc": "Ipc"}


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


def run(progress) -> dict:
    """All measurements; `progress(text, turns)` gives a function to call after each turn."""
    import farfield as ff

    contacts = {name: getattr(ff, kind)() for name, kind in MODELS.items() if hasattr(ff, kind)}
    timings: dict[str, Timing] = {}
    hashes: dict[str, str] = {}
    columns: dict[str, list[dict]] = {name: [] for name in ("none", *contacts)}
    for links in LINKS:
        model = ff.build_model(scene(links))
        parameters, state = model.default_parameters(), model.default_state()
        controls = turning(model, 0.5 * links, 4 * STEPS)
        peers = {}
        for name, contact in (("none", None), *contacts.items()):
            lead = ff.rollout(model, parameters, state, controls[: 3 * STEPS], dt=DT, contact=contact, tolerance=1e-6)
            if not lead.converged:
                raise RuntimeError(
                    f"bench chains: {name}, {links} links: step {len(lead.reports) - 1} did not converge"
                )
            start = lead.state(-1)

            tail = controls[3 * STEPS :]
            roll = partial(ff.rollout, model, parameters, start, tail, dt=DT, contact=contact, tolerance=1e-6)
            last = roll()
            key = f"{name}, {links} links"
            hashes[key] = result_hash([last.q])
            peers[key] = (roll, STEPS)
            columns[name].append(
                {
                    "links": links,
                    "degrees_of_freedom": model.num_dofs,
                    "converged": last.converged,
                    "newton_per_step": float(np.mean([report.iterations for report in last.reports])),
                    "contact_energy": max(float(report.contact) for report in last.reports),
                    "min_gap": min(float(report.min_gap) for report in last.reports),
                }
            )
        found = take_turns(peers, repeats=REPEATS, tick=progress(f"{links} links per chain", REPEATS + 1))
        timings.update(found)
        for name, rows in columns.items():
            rows[-1]["step_seconds"] = found[f"{name}, {links} links"].minimum
    checks = [
        Check(
            "polyhedral: every rollout converged",
            float(all(row["converged"] for row in columns["polyhedral"])),
            ">=",
            1.0,
        )
    ]
    if "ipc" in columns:
        for ours, theirs in zip(columns["polyhedral"], columns["ipc"], strict=True):
            ratio = theirs["step_seconds"] / ours["step_seconds"]
            checks.append(Check(f"{ours['links']} links: ipc / polyhedral", ratio, ">=", 1.0))
    return {"timings": timings, "checks": checks, "hashes": hashes, "columns": columns}
