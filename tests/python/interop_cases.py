# SPDX-License-Identifier: Apache-2.0
"""Small simulations that cover every kind of input: ball and free joints, contact, drives, a scripted body, ties, smooth contact."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import farfield as ff
from farfield.tasks import t_push

SCENES = Path(__file__).parents[2] / "scenes"
STEPS = 2


def ball_chain() -> ff.Model:
    """A ball joint, a hinge with a drive tied to another, and a free box that nothing meets."""
    made = ff.Scene(name="ball chain")
    made.add_body(name="upper", position=[0.0, 0.0, 1.0])
    made.add_joint("upper", name="ball", type="Ball", damping=0.1)
    made.add_shape("upper", name="upper", type="Box", size=[0.05, 0.05, 0.2], position=[0.0, 0.0, -0.2], collides=False)
    for k, name in enumerate(("middle", "lower")):
        made.add_body(name=name, parent="upper" if k == 0 else "middle", position=[0.0, 0.0, -0.4])
        made.add_joint(name, name=name, type="Hinge", axis=[0, 1, 0])
        made.add_shape(name, name=name, type="Box", size=[0.03, 0.03, 0.2], position=[0, 0, -0.2], collides=False)
    made.add_actuator(name="middle", type="Pd", joint="middle", kp=5.0, kd=1.0)
    made.add_body(name="box", position=[1.0, 0.0, 1.0])
    made.add_joint("box", name="box", type="Free")
    made.add_shape("box", name="box", type="Box", size=[0.1, 0.15, 0.2], collides=False)
    return ff.build_model(made)


def scripted() -> ff.Model:
    """A paddle that is moved by a script beside a box on the ground."""
    made = ff.Scene(name="paddle")
    made.add_shape(0, name="ground", type="HalfSpace")
    made.add_body(name="box", position=[0.0, 0.0, 0.11])
    made.add_joint("box", name="box", type="Free")
    made.add_shape("box", name="box", type="Box", size=[0.1, 0.1, 0.1])
    made.add_body(name="paddle", position=[-0.3, 0.0, 0.2], motion="Kinematic")
    made.add_shape("paddle", name="paddle", type="Box", size=[0.02, 0.1, 0.1])
    return ff.build_model(made)


def simulation(name: str) -> ff.Simulation:
    """With steps so exact that differences of a rollout show its derivative."""
    tight = {"tolerance": 1e-13, "dt": 0.02}
    if name == "ball chain":
        return ff.Simulation(ball_chain(), **tight)
    if name == "scripted":
        return ff.Simulation(scripted(), **tight)
    if name == "t-push":
        return ff.Simulation(ff.build_model(t_push.scene()), contact=t_push.contact(1), dt=0.004)
    model, parameters = ff.load(SCENES / f"{name}.xml")
    return ff.Simulation(model, parameters, **tight)


def inputs(sim: ff.Simulation, batch: int = 0, seed: int = 0) -> dict[str, np.ndarray]:
    """Seeded inputs near rest; quaternions are not of unit length. A script only where bodies are scripted."""
    random = np.random.default_rng(seed)
    model, rows = sim.model, []
    for _ in range(batch or 1):
        start = model.default_state()
        q = np.array(ff.retract(model, start.q, 0.02 * random.standard_normal(model.num_dofs)))
        for joint in model.joint_names:
            place = model.joint_q(joint)
            if place.stop - place.start in (4, 7):
                q[place.stop - 4 : place.stop] *= random.uniform(0.8, 1.2)
                q[place][:-4] = start.q[place][:-4] + [0.0, 0.0, 0.02][: place.stop - place.start - 4]
        row = {
            "q0": q,
            "v0": 0.1 * random.standard_normal(model.num_dofs),
            "controls": model.default_control() + 0.1 * random.standard_normal((STEPS, model.num_controls)),
        }
        if model.num_kinematic:
            row["script"] = start.q[model.joint_q(model.joint_names[-1])] + 0.01 * random.standard_normal((STEPS, 7))
        rows.append(row)
    return rows[0] if not batch else {name: np.stack([row[name] for row in rows]) for name in rows[0]}
