# SPDX-License-Identifier: Apache-2.0
"""How a start pose and inner vertices follow a shape: the two places where a design touches the world besides contact and mass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import farfield as ff
from farfield.optimize.losses import rotate


@dataclass
class Rise:
    """Derivatives of the lifted coordinate."""

    vertices: np.ndarray
    attachment: np.ndarray


@dataclass(frozen=True)
class Lift:
    """Puts the lowest vertex of a machine ``clearance`` [m] above the plane normal . x = offset, by moving one slide along the normal.

    ``joint``: that slide (or free joint, one of whose world axes is meant); all hulls that move with it count. The first of several equal
    vertices has the derivative, so it is that of one side where two change places.
    """

    joint: str
    dof: int
    clearance: float
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    offset: float = 0.0

    @staticmethod
    def of(model: ff.Model, joint: str, clearance: float, axis: int = 2) -> Lift:
        """Along the world axis ``axis`` of a free joint, or the axis of a slide."""
        dofs = model.joint_dofs(joint)
        free = next(j for j in model.scene.joints if j.name == joint).type == ff.JointType.Free
        return Lift(joint, dofs.start + (axis if free else 0), clearance)

    def lifted(self, model: ff.Model, parameters: ff.Parameters, state: ff.State) -> ff.State:
        """The state with the joint moved."""
        _, _, height = self._lowest(model, parameters, state)
        q = np.array(state.q, dtype=float)
        q[self._coordinate(model)] += self.clearance - height
        return ff.State(q=q, v=state.v)

    def gradient(self, model: ff.Model, parameters: ff.Parameters, state: ff.State) -> Rise:
        """Of the lifted coordinate by vertices and attachment points."""
        row, body, _ = self._lowest(model, parameters, state)
        poses = ff.forward_kinematics(model, parameters, state.q)
        normal = np.array(self.normal)
        out = Rise(np.zeros(parameters.hull_vertices.shape), np.zeros(parameters.attachment.shape))
        out.vertices[row] = -_turned_back(poses[body, 3:], normal)
        bodies, free = model.scene.bodies, self._placed_by_joint(model)
        while body != 0 and body not in free:
            parent = bodies[body].parent
            out.attachment[body] = -_turned_back(poses[parent, 3:], normal)
            body = parent
        return out

    def _lowest(self, model: ff.Model, parameters: ff.Parameters, state: ff.State) -> tuple[int, int, float]:
        poses = ff.forward_kinematics(model, parameters, state.q)
        moved = self._moved(model)
        best = (0, 0, np.inf)
        for hull in model.hulls:
            if hull.body not in moved:
                continue
            own = np.asarray(parameters.hull_vertices)[hull.rows]
            heights = (rotate(np.broadcast_to(poses[hull.body, 3:], (len(own), 4)), own) + poses[hull.body, :3]) @ (
                np.array(self.normal)
            ) - self.offset
            k = int(heights.argmin())
            if heights[k] < best[2]:
                best = (hull.rows.start + k, hull.body, float(heights[k]))
        return best

    def _moved(self, model: ff.Model) -> set[int]:
        bodies = model.scene.bodies
        root = next(k for k, b in enumerate(bodies) if any(j.name == self.joint for j in b.joints))
        moved = {root}
        for k, body in enumerate(bodies):
            if k > root and body.parent in moved:
                moved.add(k)
        return moved

    def _placed_by_joint(self, model: ff.Model) -> set[int]:
        return {k for k, body in enumerate(model.scene.bodies) if any(j.type == ff.JointType.Free for j in body.joints)}

    def _coordinate(self, model: ff.Model) -> int:
        return model.joint_q(self.joint).start + self.dof - model.joint_dofs(self.joint).start


def depth_below_surface(model: ff.Model, parameters: ff.Parameters) -> tuple[float, np.ndarray]:
    """1/2 sum over inner vertices of the squared distance to the nearest face plane of their hull, and its gradient by all vertices.

    The plane's height over a vertex is carried by the triangle's corners with the barycentric weights of its foot point.
    """
    points = np.asarray(parameters.hull_vertices)
    value, gradient = 0.0, np.zeros(points.shape)
    for hull in ff.current_hulls(model, parameters):
        own = points[hull.rows]
        for k in hull.interior:
            a, b, c = (own[hull.triangles[:, j]] for j in range(3))
            cross = np.cross(b - a, c - a)
            size = np.linalg.norm(cross, axis=1)
            normal = np.divide(cross, size[:, None], out=np.zeros(cross.shape), where=size[:, None] > 0.0)
            depths = np.where(size > 0.0, ((a - own[k]) * normal).sum(axis=1), np.inf)
            t = int(depths.argmin())
            depth, n = depths[t], normal[t]
            value += 0.5 * depth**2
            foot = own[k] + depth * n
            weights = _barycentric(foot, a[t], b[t], c[t])
            gradient[hull.rows.start + k] -= depth * n
            for corner, weight in zip(hull.triangles[t], weights, strict=True):
                gradient[hull.rows.start + corner] += depth * weight * n
    return value, gradient


def _barycentric(x: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    normal = np.cross(b - a, c - a)
    square = normal @ normal
    return np.array([np.cross(q - p, x - p) @ normal / square for p, q in ((b, c), (c, a), (a, b))])


def _turned_back(quaternion: np.ndarray, vector: np.ndarray) -> np.ndarray:
    return rotate(quaternion * [1.0, -1.0, -1.0, -1.0], vector)
