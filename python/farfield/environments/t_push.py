# SPDX-License-Identifier: Apache-2.0
"""T-push: a finger brings a T to a place and a heading, with smooth contact and explicit steps."""

from __future__ import annotations

import math

import numpy as np

import farfield as ff
from farfield.environments.push import heading, length
from farfield.interop.gym import Array, Setting, join
from farfield.tasks import t_push

FARTHEST = 0.35  # of the finger's targets from the middle of the table [m]


class TPushSetting(Setting):
    """An action puts the finger's target ahead of it; the T has to come within ``radius`` and ``turn`` of a pose.

    reward: minus the distance of the T to its goal [m], minus a tenth of one minus the cosine of the turn that is missing, minus a tenth of the distance
    of the finger to the T [m].
    """

    action_size, goal_size = 2, 4  # goal: x, y, cosine and sine of the heading
    step_length = 0.04  # of an action of 1 [m]

    def __init__(
        self, *, radius: float = 0.02, turn: float = 0.2, points: int = 1, dt: float = 0.004, frame_skip: int = 10
    ) -> None:
        self.radius, self.turn, self.frame_skip, self.max_steps = radius, turn, frame_skip, 150
        model = ff.build_model(t_push.scene())
        self.simulation = ff.Simulation(model, dt=dt, contact=t_push.contact(points))
        self.t, self.finger = model.body("t"), model.body("finger")
        self.t_q, self.finger_q = model.joint_q("t"), [model.joint_q(f"finger_{axis}").start for axis in "xy"]
        self.first = model.default_state()

    def start(self, random: np.random.Generator) -> tuple[ff.State, np.ndarray]:
        """The T in the middle at any heading, the finger around it, the goal within 15 cm and 45 degrees."""
        yaw, side, bearing = random.uniform(-math.pi, math.pi, 3)
        q = np.array(self.first.q)
        q[self.t_q][3:] = math.cos(0.5 * yaw), 0.0, 0.0, math.sin(0.5 * yaw)
        q[self.finger_q] = 0.2 * math.cos(side), 0.2 * math.sin(side)
        distance, end = random.uniform(0.05, 0.15), yaw + random.uniform(-math.pi / 4, math.pi / 4)
        goal = [distance * math.cos(bearing), distance * math.sin(bearing), math.cos(end), math.sin(end)]
        return ff.State(q=q, v=self.first.v), np.array(goal)

    def control(self, action: Array, q: Array) -> Array:
        """A target ahead of the finger, on the table."""
        x, y = self.finger_q
        target = join(q[..., x : x + 1], q[..., y : y + 1]) + self.step_length * action
        return target.clip(-FARTHEST, FARTHEST)

    def observe(self, q: Array, v: Array, poses: Array, goal: Array) -> Array:
        """T from goal, finger from T, headings of T and goal, all velocities."""
        t, finger = poses[..., self.t, :], poses[..., self.finger, :]
        return join(t[..., :2] - goal[..., :2], finger[..., :2] - t[..., :2], heading(t), goal[..., 2:], v)

    def reward(self, q: Array, v: Array, poses: Array, goal: Array, action: Array) -> Array:
        """Minus distances [m] and turn."""
        t, finger = poses[..., self.t, :], poses[..., self.finger, :]
        aligned = (heading(t) * goal[..., 2:]).sum(-1)
        return -length(t[..., :2] - goal[..., :2]) - 0.1 * (1.0 - aligned) - 0.1 * length(finger[..., :2] - t[..., :2])

    def success(self, q: Array, v: Array, poses: Array, goal: Array) -> Array:
        """Place and heading are within their bounds."""
        t = poses[..., self.t, :]
        aligned = (heading(t) * goal[..., 2:]).sum(-1)
        return (length(t[..., :2] - goal[..., :2]) <= self.radius) & (aligned >= math.cos(self.turn))
