# SPDX-License-Identifier: Apache-2.0
"""Ant-push: a four-legged robot walks a box to a goal."""

from __future__ import annotations

import math

import numpy as np

import farfield as ff
from farfield.environments.push import heading, length
from farfield.interop.gym import Array, Setting, join
from farfield.tasks import ant_push


class AntPushSetting(Setting):
    """Twelve drives whose targets an action moves around their rest angles; a box that has to come within ``radius`` of a goal.

    reward: minus the distance of the box to its goal, minus half of that of the ant to the box [m].
    """

    action_size, goal_size = 12, 2
    swing = 0.5  # of an action of 1 [rad]

    def __init__(self, *, radius: float = 0.1, dt: float = 0.02, frame_skip: int = 2) -> None:
        self.radius, self.frame_skip, self.max_steps = radius, frame_skip, 200
        task = ant_push.AntPush()
        model = ff.build_model(ant_push.scene(task, np.array([0.55, 0.0]), 0.0))
        contact = ff.LongRange(stiffness=task.contact_stiffness, blend=[task.blend], slip_speed=task.slip_speed)
        self.simulation = ff.Simulation(model, dt=dt, contact=contact)
        self.box, self.base = model.body("box"), model.body("base")
        self.box_q = model.joint_q("box")
        self.first, self.rest = model.default_state(), np.array(model.default_control())
        self.legs = [model.joint_q(actuator.joint).start for actuator in model.scene.actuators]

    def start(self, random: np.random.Generator) -> tuple[ff.State, np.ndarray]:
        """The box ahead of the ant, the goal further on."""
        bearing = random.uniform(-0.3, 0.3)
        place = random.uniform(0.5, 0.6) * np.array([math.cos(bearing), math.sin(bearing)])
        course = bearing + random.uniform(-0.3, 0.3)
        goal = place + random.uniform(0.3, 0.5) * np.array([math.cos(course), math.sin(course)])
        q = np.array(self.first.q)
        q[self.box_q][:2] = place
        q[self.box_q][3:] = math.cos(0.5 * bearing), 0.0, 0.0, math.sin(0.5 * bearing)
        return ff.State(q=q, v=self.first.v), goal

    def control(self, action: Array, q: Array) -> Array:
        """Target angles around those of rest."""
        rest = self.rest if isinstance(action, np.ndarray) else action.new_tensor(self.rest)
        return rest + self.swing * action

    def observe(self, q: Array, v: Array, poses: Array, goal: Array) -> Array:
        """Box from goal, box from ant, height and heading of both, joint angles, all velocities."""
        box, base = poses[..., self.box, :], poses[..., self.base, :]
        places = (box[..., :2] - goal, box[..., :3] - base[..., :3], base[..., 2:3])
        return join(*places, heading(box), heading(base), q[..., self.legs], v)

    def reward(self, q: Array, v: Array, poses: Array, goal: Array, action: Array) -> Array:
        """Minus distances [m]."""
        box, base = poses[..., self.box, :2], poses[..., self.base, :2]
        return -length(box - goal) - 0.5 * length(base - box)

    def success(self, q: Array, v: Array, poses: Array, goal: Array) -> Array:
        """The box is within the radius."""
        return length(poses[..., self.box, :2] - goal) <= self.radius
