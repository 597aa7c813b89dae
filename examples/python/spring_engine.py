# SPDX-License-Identifier: Apache-2.0
"""An engine from outside in fifty lines: flat discs that slide on the ground and push each other apart by springs.

    farfield compare flick.py --methods longrange,examples/python/spring_engine.py

It has no derivatives of its own, so its gradients are differences of its rollouts, one pair per unknown.
"""

import numpy as np

import farfield as ff
from farfield.engines import Capabilities, Outside

STIFFNESS = 2e4  # of the springs [N/m]
SLIP_SPEED = 1e-2  # smoothing of friction [m/s]
PARTS = 40  # explicit steps per frame


class SpringDiscs(Outside):
    """Discs on a plane: springs where they overlap, Coulomb friction with the ground, explicit steps."""

    capabilities = Capabilities(own_contact="springs")

    def __init__(self, *arguments, **keywords) -> None:
        super().__init__(*arguments, **keywords)
        if any(joint.type != ff.JointType.Free for joint in self.model.scene.joints):
            raise ValueError("spring_engine: expected a scene of free bodies only")

    def rollout(self, state: ff.State, controls: np.ndarray) -> ff.Trajectory:
        """Positions and velocities in the plane; heights and rotations stay as they are."""
        count = len(self.model.scene.joints)
        mass = np.asarray(self.parameters.moments)[1:, 0]
        radius = np.array([shape.size[0] for shape in self.model.scene.shapes if shape.body > 0])
        friction = float(np.max(self.parameters.friction)) * 9.81
        q, v = [np.array(state.q)], [np.array(state.v)]
        place, speed = q[0].reshape(count, 7)[:, :2].copy(), v[0].reshape(count, 6)[:, :2].copy()
        smallest, h = np.inf, self.dt / PARTS
        for _ in controls:
            for _ in range(PARTS):
                offset = place[:, None] - place[None]
                distance = np.linalg.norm(offset, axis=2) + np.diag(np.full(count, np.inf))
                gap = distance - radius[:, None] - radius[None]
                push = STIFFNESS * np.maximum(-gap, 0.0)[..., None] * offset / distance[..., None]
                drag = friction * speed / np.sqrt((speed**2).sum(axis=1, keepdims=True) + SLIP_SPEED**2)
                speed = speed + h * (np.nansum(push, axis=1) / mass[:, None] - drag)
                place = place + h * speed
                smallest = min(smallest, float(gap.min()))
            q.append(q[0].copy())
            v.append(np.zeros_like(v[0]))
            q[-1].reshape(count, 7)[:, :2], v[-1].reshape(count, 6)[:, :2] = place, speed
        found = bool(np.isfinite(place).all())
        return self.trajectory(np.array(q), np.array(v), controls, converged=found, min_gap=smallest)
