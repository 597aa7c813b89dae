# SPDX-License-Identifier: Apache-2.0
"""Between the numbers that stand in q and poses and the directions in which they can move.

A rotation is stored as a quaternion of four numbers and moves in three directions, so a loss that is a plain function of the stored numbers has
one partial too many per rotation. Coordinates step by R exp(w), w in body axes; poses turn by exp(w) R, w in world axes.
"""

from __future__ import annotations

import numpy as np

from farfield._core import Model

# dq = 1/2 q (0, w): row a of column i is sign * q[index].
_BODY = (
    np.array([[1, 2, 3], [0, 3, 2], [3, 0, 1], [2, 1, 0]]),
    np.array([[-1, -1, -1], [1, -1, 1], [1, 1, -1], [-1, 1, 1]]),
)
# dq = 1/2 (0, w) q.
_WORLD = (_BODY[0], np.array([[-1, -1, -1], [1, 1, -1], [-1, 1, 1], [1, -1, 1]]))


def pose_partials(poses: np.ndarray, by_pose: np.ndarray) -> np.ndarray:
    """From partials by the seven numbers of a pose to the six that `rollout_vjp` takes as ``dL_dpose``.

    poses, by_pose: shape (..., 7), position [m] and quaternion (w, x, y, z). Result: shape (..., 6), by position, then by a rotation vector in world
    axes.
    """
    poses, by_pose = _pair("pose_partials", poses, by_pose, "poses", "by_pose")
    if poses.shape[-1:] != (7,):
        raise ValueError(f"pose_partials: poses of shape {poses.shape}, expected (..., 7)")
    return np.concatenate([by_pose[..., :3], _to_tangent(_WORLD, poses[..., 3:], by_pose[..., 3:])], axis=-1)


def tangent_partials(model: Model, q: np.ndarray, by_q: np.ndarray) -> np.ndarray:
    """From partials by the numbers of q to those that `rollout_vjp` takes as ``dL_dq``.

    q, by_q: shape (..., num_q). Result: shape (..., num_dofs).
    """
    q, by_q = _pair("tangent_partials", q, by_q, "q", "by_q")
    if q.shape[-1:] != (model.num_q,):
        raise ValueError(f"tangent_partials: q of shape {q.shape}, expected (..., {model.num_q})")
    return Coordinates(model).to_tangent(q, by_q)


def _pair(who: str, place: np.ndarray, by: np.ndarray, first: str, second: str) -> tuple[np.ndarray, np.ndarray]:
    place, by = np.asarray(place, dtype=float), np.asarray(by, dtype=float)
    if place.shape != by.shape:
        raise ValueError(f"{who}: {second} of shape {by.shape}, expected {place.shape} as {first}")
    return place, by


def _to_tangent(chart: tuple[np.ndarray, np.ndarray], quaternion: np.ndarray, by: np.ndarray) -> np.ndarray:
    index, sign = chart
    return 0.5 * (quaternion[..., index] * sign * by[..., :, None]).sum(axis=-2)


class Coordinates:
    """Which numbers of q are quaternions, and where their directions stand in tangent vectors."""

    def __init__(self, model: Model) -> None:
        self.num_q, self.num_dofs = model.num_q, model.num_dofs
        plain_q: list[int] = []
        plain_dofs: list[int] = []
        self.quaternions: list[tuple[slice, slice]] = []
        for name in model.joint_names:
            q, dofs = model.joint_q(name), model.joint_dofs(name)
            turns = q.stop - q.start > dofs.stop - dofs.start  # the last four coordinates are a quaternion
            if turns:
                self.quaternions.append((slice(q.stop - 4, q.stop), slice(dofs.stop - 3, dofs.stop)))
            plain_q += range(q.start, q.stop - 4 * turns)
            plain_dofs += range(dofs.start, dofs.stop - 3 * turns)
        self.plain_q, self.plain_dofs = np.array(plain_q, dtype=int), np.array(plain_dofs, dtype=int)
        scripted = [f"{model.body_names[body]} (scripted)" for body in model.kinematic_bodies]
        #: places of scripted bodies in q and in tangent vectors, in the order of a script's columns
        self.kinematic = [model.joint_q(name) for name in scripted]
        self.kinematic_dofs = [model.joint_dofs(name) for name in scripted]

    def unit(self, q: np.ndarray) -> np.ndarray:
        """q with quaternions of length 1. Raises ValueError where there is none of that direction."""
        q = np.array(q, dtype=float)
        for place, _ in self.quaternions:
            q[..., place] /= _length(q[..., place])
        return q

    def to_tangent(self, q: np.ndarray, by_q: np.ndarray) -> np.ndarray:
        """Partials by coordinates, shape (..., num_q), as partials by directions, shape (..., num_dofs); q of unit quaternions."""
        out = np.zeros((*by_q.shape[:-1], self.num_dofs))
        out[..., self.plain_dofs] = by_q[..., self.plain_q]
        for place, dofs in self.quaternions:
            out[..., dofs] = _to_tangent(_BODY, q[..., place], by_q[..., place])
        return out

    def from_tangent(self, q: np.ndarray, by_dofs: np.ndarray) -> np.ndarray:
        """The gradient by the numbers of q of a function that makes their quaternions unit first."""
        out = np.zeros(q.shape)
        out[..., self.plain_q] = by_dofs[..., self.plain_dofs]
        for place, dofs in self.quaternions:
            out[..., place] = _from_tangent(q[..., place], by_dofs[..., dofs])
        return out


def _length(quaternion: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(quaternion, axis=-1, keepdims=True)
    if not np.all(length > 1e-100):
        raise ValueError("a quaternion of length 0 (or NaN), expected a direction: (1, 0, 0, 0) is no rotation")
    return length


def _from_tangent(quaternion: np.ndarray, by: np.ndarray) -> np.ndarray:
    """With u = q / |q|, w = 2 B(u)^T dq / |q|, B the columns of u (0, w)."""
    index, sign = _BODY
    length = _length(quaternion)
    return 2.0 * ((quaternion / length)[..., index] * sign * by[..., None, :]).sum(axis=-1) / length


def unit_script(script: np.ndarray) -> np.ndarray:
    """Rows of poses of scripted bodies, shape (..., 7 n), with quaternions of length 1."""
    poses = np.array(script, dtype=float).reshape(*script.shape[:-1], script.shape[-1] // 7, 7)
    poses[..., 3:] /= _length(poses[..., 3:])
    return poses.reshape(script.shape)


def script_gradient(script: np.ndarray, by_tangent: np.ndarray) -> np.ndarray:
    """The gradient by the numbers of a script, shape (..., 7 n), from the tangent one, shape (..., 6 n)."""
    count = script.shape[-1] // 7
    poses, by = script.reshape(*script.shape[:-1], count, 7), by_tangent.reshape(*script.shape[:-1], count, 6)
    out = np.concatenate([by[..., :3], _from_tangent(poses[..., 3:], by[..., 3:])], axis=-1)
    return out.reshape(script.shape)
