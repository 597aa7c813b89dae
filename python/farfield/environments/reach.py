# SPDX-License-Identifier: Apache-2.0
"""Reach: an arm of four joints brings its tip to a point, past a post that stands beside it."""

from __future__ import annotations

import math

import numpy as np

import farfield as ff
from farfield.environments.push import length
from farfield.interop.gym import Array, Setting, join

LINK, THICK = 0.3, 0.03  # length and half thickness of a link [m]
JOINTS = (("turn", (0, 0, 1)), ("shoulder", (0, 1, 0)), ("elbow", (0, 1, 0)), ("wrist", (0, 1, 0)))
REST = np.array([0.0, 0.5, 0.6, 0.6])  # [rad]


def scene() -> ff.Scene:
    """A pillar with an arm of three links on it, and a post; links and post may not touch."""
    made = ff.Scene(name="reach")
    made.add_body(name="pillar", position=[0.0, 0.0, 0.4])
    made.add_joint("pillar", name="turn", type="Hinge", axis=[0, 0, 1])
    made.add_shape("pillar", name="pillar", type="Cylinder", size=[0.05, 0.05, 0.0], density=500.0)
    parent, place = "pillar", [0.0, 0.0, 0.1]
    for k, (name, axis) in enumerate(JOINTS[1:]):
        link = f"link{k}"
        made.add_body(name=link, parent=parent, position=place)
        made.add_joint(link, name=name, type="Hinge", axis=axis, range=(-2.5, 2.5))
        made.add_shape(link, name=link, type="Capsule", size=[THICK, 0.5 * LINK - THICK, 0.0], position=[0, 0, 0.5 * LINK],
                       density=500.0, color=[0.2, 0.45, 0.75, 1.0])  # fmt: skip
        parent, place = link, [0.0, 0.0, LINK]
    for name, _ in JOINTS:
        made.add_actuator(name=name, type="Pd", joint=name, kp=200.0, kd=20.0, velocity_input=False)
    made.add_body(name="post", position=[0.35, 0.35, 0.35], motion="Fixed")
    made.add_shape("post", name="post", type="Capsule", size=[0.04, 0.35, 0.0], color=[0.6, 0.6, 0.6, 1.0])
    return made


class ReachSetting(Setting):
    """An action moves four target angles; the tip has to come within ``radius`` of a point.

    reward: minus the distance of the tip to the point [m].
    """

    action_size, goal_size = 4, 3
    step_length = 0.3  # of an action of 1 [rad]

    def __init__(self, *, radius: float = 0.03, dt: float = 0.02, frame_skip: int = 2) -> None:
        self.radius, self.frame_skip, self.max_steps = radius, frame_skip, 100
        model = ff.build_model(scene())
        self.simulation = ff.Simulation(model, dt=dt)
        self.link = model.body("link2")
        self.angles = [model.joint_q(name).start for name, _ in JOINTS]

    def start(self, random: np.random.Generator) -> tuple[ff.State, np.ndarray]:
        """The arm near its rest angles on the far side of the post, the point anywhere within its reach."""
        first = self.simulation.model.default_state()
        q = np.array(first.q)
        q[self.angles] = REST + random.uniform([-math.pi, -0.3, -0.3, -0.3], [0.0, 0.3, 0.3, 0.3])
        turn, up, distance = random.uniform(-math.pi, 0.0), random.uniform(-0.2, 1.2), random.uniform(0.4, 0.8)
        across = distance * math.cos(up)
        goal = [across * math.cos(turn), across * math.sin(turn), 0.5 + distance * math.sin(up)]
        return ff.State(q=q, v=first.v), np.array(goal)

    def control(self, action: Array, q: Array) -> Array:
        """Target angles ahead of the present ones."""
        return q[..., self.angles] + self.step_length * action

    def tip(self, poses: Array) -> Array:
        """Where the last link ends, from poses (..., bodies, 7): the origin plus LINK times the link's z axis."""
        pose = poses[..., self.link, :]
        w, x, y, z = (pose[..., k : k + 1] for k in range(3, 7))
        return pose[..., :3] + LINK * join(2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y))

    def observe(self, q: Array, v: Array, poses: Array, goal: Array) -> Array:
        """Tip from goal, goal, angles, velocities."""
        return join(self.tip(poses) - goal, goal, q[..., self.angles], v)

    def reward(self, q: Array, v: Array, poses: Array, goal: Array, action: Array) -> Array:
        """Minus the distance [m]."""
        return -length(self.tip(poses) - goal)

    def success(self, q: Array, v: Array, poses: Array, goal: Array) -> Array:
        """The tip is within the radius."""
        return length(self.tip(poses) - goal) <= self.radius
