# SPDX-License-Identifier: Apache-2.0
"""Push: a rod moves a box to a goal on the ground."""

from __future__ import annotations

import math

import numpy as np

import farfield as ff
from farfield.interop.gym import Array, Setting, join
from farfield.tasks import push

NEAR = 1e-2  # rounds the tip of the distance [m]


def length(vector: Array) -> Array:
    """Of vectors in the last extent, smooth at zero."""
    return ((vector**2).sum(-1) + NEAR**2) ** 0.5 - NEAR


def heading(pose: Array) -> Array:
    """Cosine and sine of the turn about z, from poses (..., 7)."""
    w, x, y, z = (pose[..., k : k + 1] for k in range(3, 7))
    return join(1.0 - 2.0 * (y * y + z * z), 2.0 * (w * z + x * y))


class PushSetting(Setting):
    """A rod of six drives, of which an action moves three (x, y, yaw), and a box that has to come within ``radius`` of a goal.

    reward: minus the distance of the box to its goal, minus a tenth of that of the rod to the box [m].
    """

    action_size, goal_size = 3, 2
    step_length = np.array([0.15, 0.15, 0.5])  # how far an action of 1 puts the drives' targets ahead [m, m, rad]

    def __init__(
        self,
        *,
        radius: float = 0.05,
        distance: float = 0.6,
        friction: float = 0.4,
        dt: float = 0.04,
        frame_skip: int = 2,
    ) -> None:
        self.radius, self.distance, self.frame_skip, self.max_steps = radius, distance, frame_skip, 100
        task = push.Push(friction=friction)
        model = ff.build_model(push.scene(0.0, friction, task.stiffness))
        contact = ff.LongRange(stiffness=task.contact_stiffness, blend=[task.blend], slip_speed=task.slip_speed)
        self.simulation = ff.Simulation(model, dt=dt, contact=contact)
        self.box, self.rod = model.body("box"), model.body("rod")
        self.first, self.rest = model.default_state(), np.array(model.default_control())
        self.rod_q = [model.joint_q(f"rod_{name}").start for name in ("x", "y", "z", "yaw", "pitch", "roll")]

    def start(self, random: np.random.Generator) -> tuple[ff.State, np.ndarray]:
        """The rod anywhere around the box, the goal anywhere else."""
        side, bearing = random.uniform(-math.pi, math.pi, 2)
        state = self.first.copy()
        q = np.array(state.q)
        q[self.rod_q[:2]] = 0.4 * math.cos(side), 0.4 * math.sin(side)
        q[self.rod_q[3]] = side
        goal = random.uniform(0.5, 1.0) * self.distance * np.array([math.cos(bearing), math.sin(bearing)])
        return ff.State(q=q, v=state.v), goal

    def control(self, action: Array, q: Array) -> Array:
        """Targets ahead of the rod in x, y and yaw; upright at its height otherwise."""
        scale = self.step_length if isinstance(action, np.ndarray) else action.new_tensor(self.step_length)
        x, y, _, yaw, _, _ = self.rod_q
        now = join(q[..., x : x + 1], q[..., y : y + 1], q[..., yaw : yaw + 1])
        target = now + scale * action
        still = target[..., :1] * 0.0
        return join(target[..., :2], still + self.rest[2], target[..., 2:], still + self.rest[4], still + self.rest[5])

    def observe(self, q: Array, v: Array, poses: Array, goal: Array) -> Array:
        """Box from goal, rod from box, both headings, all velocities."""
        box, rod = poses[..., self.box, :], poses[..., self.rod, :]
        return join(box[..., :2] - goal, rod[..., :3] - box[..., :3], heading(box), heading(rod), v)

    def reward(self, q: Array, v: Array, poses: Array, goal: Array, action: Array) -> Array:
        """Minus distances [m]."""
        box, rod = poses[..., self.box, :2], poses[..., self.rod, :2]
        return -length(box - goal) - 0.1 * length(rod - box)

    def success(self, q: Array, v: Array, poses: Array, goal: Array) -> Array:
        """The box is within the radius."""
        return length(poses[..., self.box, :2] - goal) <= self.radius
