# SPDX-License-Identifier: Apache-2.0
"""The same machine and signals in MuJoCo: a check of a design by contact that it was not optimised with."""

from __future__ import annotations

import numpy as np

import farfield as ff
from farfield.contact_models import engine_description
from farfield.engines.mujoco_scene import translate
from farfield.optimize.rollout_input import RolloutInput
from farfield.reshape import reshaped


def replay_in_mujoco(
    model: ff.Model, inputs: RolloutInput, *, dt: float, substeps: int = 5
) -> tuple[ff.Trajectory, np.ndarray]:
    """The motion of decoded inputs in MuJoCo, each control held for ``substeps`` of its steps, and its normal forces with body 0 per step.

    Shapes are the hulls of ``inputs.parameters``. Ends early where MuJoCo's state becomes non-finite.
    """
    import mujoco

    own = reshaped(model, inputs.parameters)
    peer = translate(own, own.default_parameters(), dt=dt, substeps=substeps)
    data = mujoco.MjData(peer.model)
    start = inputs.state if inputs.state is not None else model.default_state()
    peer.set_state(data, start)
    q, v, touching = [np.array(start.q)], [np.array(start.v)], []
    for control in inputs.controls:
        data.ctrl[:] = control[peer.control]
        for _ in range(peer.substeps):
            mujoco.mj_step(peer.model, data)
        here = peer.get_state(data, start)
        if not (np.isfinite(here[0]).all() and np.isfinite(here[1]).all()):
            break
        q.append(here[0])
        v.append(here[1])
        touching.append(
            any(0 in (peer.model.geom_bodyid[c.geom1], peer.model.geom_bodyid[c.geom2]) for c in data.contact)
        )
    motion = ff.Trajectory.from_states(
        own,
        own.default_parameters(),
        np.array(q),
        np.array(v),
        np.array(inputs.controls)[: len(q) - 1],
        dt=dt,
        contact=engine_description("mujoco"),
        converged=len(q) == len(inputs.controls) + 1,
    )
    return motion, np.array(touching, dtype=bool)
