# SPDX-License-Identifier: Apache-2.0
"""Points that move with bodies and depend on their shape: centres of mass and means of hull vertices, with partials.

Each is evaluated once per trajectory, gives ``places`` of shape (steps + 1, 3) and turns dL/dplaces into `Partials`; parts of several points add.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import farfield as ff
from farfield.optimize.losses import Partials, rotate

BACK = np.array([1.0, -1.0, -1.0, -1.0])  # turns a quaternion into its inverse


class VertexMean:
    """The mean of some hull vertices of one body."""

    def __init__(self, trajectory: ff.Trajectory, body: int, rows: Sequence[int]) -> None:
        self.trajectory, self.body, self.rows = trajectory, body, list(rows)
        self.poses = trajectory.poses()[:, body]
        local = np.asarray(trajectory.parameters.hull_vertices)[self.rows].mean(axis=0)
        self.arms = rotate(self.poses[:, 3:], np.broadcast_to(local, (len(self.poses), 3)))
        self.places = self.poses[:, :3] + self.arms

    def partials(self, by_place: np.ndarray) -> Partials:
        """From dL/dplaces, shape (steps + 1, 3)."""
        by_pose = np.zeros((len(self.poses), self.trajectory.model.num_bodies, 6))
        by_pose[:, self.body, :3] = by_place
        by_pose[:, self.body, 3:] = np.cross(self.arms, by_place)
        by_vertices = np.zeros(np.shape(self.trajectory.parameters.hull_vertices))
        by_vertices[self.rows] = rotate(self.poses[:, 3:] * BACK, by_place).sum(axis=0) / len(self.rows)
        return Partials(by_pose, by_parameters={"hull_vertices": by_vertices})


class MassCenter:
    """The common centre of mass of bodies, sum (m_i p_i + R_i h_i) / M."""

    def __init__(self, trajectory: ff.Trajectory, bodies: Sequence[int]) -> None:
        self.trajectory, self.bodies = trajectory, list(bodies)
        moments = np.asarray(trajectory.parameters.moments)[self.bodies]
        self.mass, first = moments[:, 0], moments[:, 1:4]
        self.total = float(self.mass.sum())
        self.poses = trajectory.poses()[:, self.bodies]
        self.turned = rotate(self.poses[..., 3:], np.broadcast_to(first, (*self.poses.shape[:2], 3)))
        weighted = self.mass[:, None] * self.poses[..., :3] + self.turned
        self.places = weighted.sum(axis=1) / self.total

    def partials(self, by_place: np.ndarray) -> Partials:
        """From dL/dplaces, shape (steps + 1, 3)."""
        model = self.trajectory.model
        by_pose, by_moments = np.zeros((len(self.poses), model.num_bodies, 6)), np.zeros((model.num_bodies, 10))
        share = by_place / self.total
        for k, body in enumerate(self.bodies):
            by_pose[:, body, :3] += self.mass[k] * share
            by_pose[:, body, 3:] += np.cross(self.turned[:, k], share)
            by_moments[body, 1:4] += rotate(self.poses[:, k, 3:] * BACK, share).sum(axis=0)
            by_moments[body, 0] += ((self.poses[:, k, :3] - self.places) * share).sum()
        return Partials(by_pose, by_parameters={"moments": by_moments})


def added(parts: Sequence[Partials]) -> Partials:
    """The partials of a sum."""

    def total(values: list[np.ndarray | None]) -> np.ndarray | None:
        given = [value for value in values if value is not None]
        return sum(given[1:], given[0]) if given else None

    names = {name for part in parts for name in part.by_parameters}
    return Partials(
        total([part.by_pose for part in parts]),
        total([part.by_q for part in parts]),
        total([part.by_v for part in parts]),
        {name: total([part.by_parameters.get(name) for part in parts]) for name in names},
    )
