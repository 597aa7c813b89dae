# SPDX-License-Identifier: Apache-2.0
"""Losses of trajectories, with their partials in the shape that ``rollout_vjp`` takes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

import farfield as ff


def rotate(quaternion: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Vectors turned by quaternions (w, x, y, z), both of shape (..., n)."""
    w, u = quaternion[..., :1], quaternion[..., 1:]
    t = 2.0 * np.cross(u, vector)
    return vector + w * t + np.cross(u, t)


def centers_of_mass(trajectory: ff.Trajectory, bodies: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """World centres of mass of the bodies at every state, and the arms from body origin to them; shapes (steps + 1, n, 3)."""
    moments = np.asarray(trajectory.parameters.moments)[list(bodies)]
    poses = trajectory.poses()[:, list(bodies)]
    local = np.broadcast_to(moments[:, 1:4] / moments[:, :1], (*poses.shape[:2], 3))
    arms = rotate(poses[..., 3:], local)
    return poses[..., :3] + arms, arms


@dataclass(frozen=True)
class Partials:
    """Partial derivatives of a loss by what it reads of a motion; None: it does not depend on it.

    by_pose: shape (steps + 1, num_bodies, 6), by the position of each body's origin, then by a rotation vector in world axes.
    by_q, by_v: shape (steps + 1, num_dofs), tangent. by_parameters: at a fixed motion, field of `farfield.Parameters` -> array of its shape.
    """

    by_pose: np.ndarray | None = None
    by_q: np.ndarray | None = None
    by_v: np.ndarray | None = None
    by_parameters: Mapping[str, np.ndarray] = field(default_factory=dict)

    def any(self) -> bool:
        """One of them is not zero."""
        parts = (self.by_pose, self.by_q, self.by_v, *self.by_parameters.values())
        return any(part is not None and bool(np.any(part)) for part in parts)

    def last(self) -> int:
        """The last state that the loss looks at; nothing after it needs a derivative."""
        rows = [
            part.reshape(len(part), -1).any(axis=1) for part in (self.by_pose, self.by_q, self.by_v) if part is not None
        ]
        return max((int(np.flatnonzero(row)[-1]) for row in rows if row.any()), default=0)


class Loss(Protocol):
    """What a driver brings down: a function of a trajectory, with its partials."""

    def __call__(self, trajectory: ff.Trajectory) -> tuple[float, Partials]:
        """The value, and the partials at it."""


class TargetLoss(ABC):
    """A loss of bodies that have places to go to; ``bodies``: names or indices."""

    bodies: list[int | str]

    @abstractmethod
    def distances(self, trajectory: ff.Trajectory) -> np.ndarray:
        """Distance of every target body to its target at every state [m], shape (steps + 1, n)."""


class ResidualLoss(ABC):
    """A loss with residuals that Gauss-Newton brings to zero."""

    @abstractmethod
    def residuals(self, trajectory: ff.Trajectory) -> np.ndarray:
        """The residuals, flat."""

    @abstractmethod
    def residual_partials(self, trajectory: ff.Trajectory) -> list[Partials]:
        """The partials of every residual."""


class ReachLoss(TargetLoss, ResidualLoss):
    """sum_i w_i ReLU(|x_i - x*_i|^2 - radius^2) over target bodies, x_i their centres of mass [LongRange2026, A.6.2].

    ``bodies``: names or indices. ``targets``: shape (n, 3), or (n, 2) when only the horizontal place counts.
    ``when``: "sum" adds the loss of every state after the first, "end" takes the last state alone.
    """

    def __init__(
        self,
        bodies: Sequence[int | str],
        targets: np.ndarray,
        radius: float,
        *,
        weights: Sequence[float] | None = None,
        when: str = "sum",
    ) -> None:
        self.bodies = list(bodies)
        self.targets = np.atleast_2d(np.array(targets, dtype=float))
        if self.targets.ndim != 2 or self.targets.shape[0] != len(self.bodies) or self.targets.shape[1] not in (2, 3):
            raise ValueError(
                f"ReachLoss: targets of shape {self.targets.shape} for {len(self.bodies)} bodies, expected (n, 2) or (n, 3)"
            )
        if not radius >= 0.0:
            raise ValueError(f"ReachLoss: radius {radius}, expected >= 0 m")
        if when not in ("sum", "end"):
            raise ValueError(f"ReachLoss: when '{when}', expected 'sum' or 'end'")
        self.weights = np.ones(len(self.bodies)) if weights is None else np.array(weights, dtype=float)
        if self.weights.shape != (len(self.bodies),):
            raise ValueError(f"ReachLoss: {self.weights.size} weights for {len(self.bodies)} bodies")
        self.radius, self.when = float(radius), when
        self.limits = np.full(
            len(self.bodies), self.radius
        )  #: radius of every body in the loss; a schedule may widen it [m]

    def __call__(self, trajectory: ff.Trajectory) -> tuple[float, Partials]:
        """The loss, and its partials by poses and by mass moments."""
        index, offset, arms = self._offsets(trajectory)
        excess = (offset**2).sum(axis=2) - self.limits**2
        active = np.where(excess > 0.0, self.weights, 0.0)
        if self.when == "sum":
            active[0] = 0.0
        else:
            active[:-1] = 0.0
        value = float((active * excess).sum())
        return value, self._partials(trajectory, index, 2.0 * active[..., None] * offset, arms)

    def distances(self, trajectory: ff.Trajectory) -> np.ndarray:
        """Distance of every target body to its target at every state [m], shape (steps + 1, n)."""
        return np.linalg.norm(self._offsets(trajectory)[1], axis=2)

    def residuals(self, trajectory: ff.Trajectory) -> np.ndarray:
        """What Gauss-Newton brings to zero at the last state, flat: how far bodies are beyond a circle well inside the radius.

        r_i = sqrt(w_i) (1 - a / |d_i|) d_i with d_i = x_i - x*_i and a = radius / 2, zero within a. Aiming at a disc and not at its
        centre leaves the freedom that several targets need.
        """
        offset = self._offsets(trajectory)[1][-1]
        return (np.sqrt(self.weights)[:, None] * self._shrink(offset)[0] * offset).reshape(-1)

    def residual_partials(self, trajectory: ff.Trajectory) -> list[Partials]:
        """The partials of every residual."""
        index, offset, arms = self._offsets(trajectory)
        last = offset[-1]
        share, slope = self._shrink(last)
        partials = []
        for k, axis in np.ndindex(last.shape):
            # d((1 - a/|d|) d) = (1 - a/|d|) dd + a d (d . dd) / |d|^3
            by_center = slope[k] * last[k, axis] * last[k]
            by_center[axis] += share[k, 0]
            direction = np.zeros(offset.shape)
            direction[-1, k] = np.sqrt(self.weights[k]) * by_center
            partials.append(self._partials(trajectory, index, direction, arms))
        return partials

    def _shrink(self, offset: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(1 - a/|d|) and a/|d|^3 per target, both zero within a."""
        aim = 0.5 * self.radius
        distance = np.linalg.norm(offset, axis=1, keepdims=True)
        safe = np.where(distance > aim, distance, np.inf)
        return np.where(distance > aim, 1.0 - aim / safe, 0.0 if aim > 0.0 else 1.0), (aim / safe**3)[:, 0]

    def _offsets(self, trajectory: ff.Trajectory) -> tuple[list[int], np.ndarray, np.ndarray]:
        index = [trajectory.model.body(body) if isinstance(body, str) else int(body) for body in self.bodies]
        centers, arms = centers_of_mass(trajectory, index)
        return index, centers[..., : self.targets.shape[1]] - self.targets, arms

    @staticmethod
    def _partials(trajectory: ff.Trajectory, index: list[int], by_center: np.ndarray, arms: np.ndarray) -> Partials:
        """From dL/dx_i. A rotation w about the origin moves the centre by w x arm, so it gets arm x dL/dx.

        With mass m and first moments h the arm is R h / m, so dL/dh = R^T dL/dx / m and dL/dm = -(dL/dh . h) / m.
        """
        force = np.zeros(arms.shape)
        force[..., : by_center.shape[2]] = by_center
        by_pose = np.zeros((arms.shape[0], trajectory.model.num_bodies, 6))
        by_moments = np.zeros((trajectory.model.num_bodies, 10))
        moments = np.asarray(trajectory.parameters.moments)
        turns = trajectory.poses()[:, :, 3:] * [1.0, -1.0, -1.0, -1.0]  # from the world into the body
        for k, body in enumerate(index):  # a body may be listed twice
            by_pose[:, body, :3] += force[:, k]
            by_pose[:, body, 3:] += np.cross(arms[:, k], force[:, k])
            by_first = rotate(turns[:, body], force[:, k]).sum(axis=0) / moments[body, 0]
            by_moments[body, 1:4] += by_first
            by_moments[body, 0] -= by_first @ moments[body, 1:4] / moments[body, 0]
        return Partials(by_pose, by_parameters={"moments": by_moments})
