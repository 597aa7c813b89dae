# SPDX-License-Identifier: Apache-2.0
"""The IPC Toolkit on racks of balls: barrier and step length, its best settings, one thread.

Settings tried on these scenes: every broad phase it has (LBVH is the fastest), the ground as a plane rather than triangles, and
pairs inside one ball filtered out before anything is computed.
"""

from __future__ import annotations

import importlib.util

import numpy as np

from farfield.benchmarks.racks import BALLS, RADIUS, centres

DHAT, STIFFNESS = 1e-2, 1.0


def require() -> None:
    """Raises when the peer is not installed."""
    if importlib.util.find_spec("ipctk") is None or importlib.util.find_spec("scipy") is None:
        raise ValueError("needs the packages ipctk and scipy: pip install 'farfield[test]'")


class Rack:
    """All balls as one collision mesh above a plane."""

    def __init__(self, triangles: int) -> None:
        import ipctk
        from scipy import sparse

        ipctk.set_logger_level(ipctk.error)
        ipctk.set_num_threads(1)
        vertices, faces = BALLS[triangles]()
        self.local = RADIUS * vertices
        self.count, balls = len(vertices), len(centres())
        self.positions = np.asfortranarray(np.concatenate([self.local + centre for centre in centres()]))
        faces = np.concatenate([faces + k * self.count for k in range(balls)]).astype(np.int32)
        self.mesh = ipctk.CollisionMesh(self.positions, ipctk.edges(faces), faces)
        self.mesh.can_collide = ipctk.make_vertex_patches_filter(
            np.repeat(np.arange(balls), self.count).astype(np.int32)
        )
        self.mesh.planes = [ipctk.Hyperplane(np.array([0.0, 0.0, 1.0]), np.zeros(3))]
        self.barrier = ipctk.BarrierPotential(DHAT, STIFFNESS)
        self.ccd = ipctk.AdditiveCCD()
        self.ipctk = ipctk
        jacobian = np.zeros((self.count, 3, 6))  # x -> x + v + w x a, a = the vertex from the ball's centre
        jacobian[:, range(3), range(3)] = 1.0
        for column, axis in enumerate(np.eye(3)):
            jacobian[:, :, 3 + column] = np.cross(axis, self.local)
        one = sparse.csc_matrix(jacobian.reshape(-1, 6))
        self.jacobian = sparse.block_diag([one] * balls, format="csc")
        self.transposed = self.jacobian.T.tocsr()

    def evaluate(self):
        """Collisions, value, gradient and positive semi-definite Hessian, reduced to six numbers per ball."""
        collisions = self.ipctk.NormalCollisions()
        collisions.build(self.mesh, self.positions, DHAT, 0.0, self.ipctk.LBVH())
        value = self.barrier(collisions, self.mesh, self.positions)
        gradient = self.barrier.gradient(collisions, self.mesh, self.positions)
        clamp = self.ipctk.PSDProjectionMethod.CLAMP
        hessian = self.barrier.hessian(collisions, self.mesh, self.positions, clamp)
        return value, self.transposed @ gradient, self.transposed @ (hessian @ self.jacobian)

    def moved(self, motion: np.ndarray) -> np.ndarray:
        """Vertices at the end of a motion (linear and angular, per ball, about its centre)."""
        from scipy.spatial.transform import Rotation

        parts = [
            centre + step[:3] + Rotation.from_rotvec(step[3:]).apply(self.local)
            for centre, step in zip(centres(), motion.reshape(-1, 6), strict=True)
        ]
        return np.asfortranarray(np.concatenate(parts))

    def step_length(self, end: np.ndarray) -> float:
        """Largest fraction of a straight motion of all vertices without collision."""
        return self.ipctk.compute_collision_free_stepsize(
            self.mesh, self.positions, end, 0.0, self.ipctk.LBVH(), self.ccd
        )
