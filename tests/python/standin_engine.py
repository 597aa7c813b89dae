# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the engine behind the command line: one box that flies through the air, with an exact gradient."""

from types import SimpleNamespace

import numpy as np

GRAVITY = np.array([0.0, 0.0, -9.81])
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
QUADS = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
FACES = np.array([corners for a, b, c, d in QUADS for corners in ((a, b, c), (a, c, d))])


class State:
    def __init__(self, q, v):
        self.q, self.v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)


class Model:
    body_names = ("world", "torso")
    num_bodies = 2
    num_controls = 3
    warnings = ("joint 'root': damping is ignored",)

    def __init__(self):
        self.keyframes = {"high": (State([0.0, 0.0, 9.0], np.zeros(3)), np.zeros(3))}

    def default_state(self):
        return State([0.0, 0.0, 1.0], np.zeros(3))

    def default_control(self):
        return np.zeros(3)

    def drawables(self):
        return [SimpleNamespace(body=1, vertices=0.2 * CORNERS, triangles=FACES, color=(0.9, 0.1, 0.1, 1.0))]

    def half_spaces(self):
        return [(0, (0.0, 0.0, 1.0), 0.0)]


class Engine:
    """load, rollout and rollout_vjp; fails at `fails_at`, and its gradient is off by the factor `gradient_scale`."""

    State = State

    def __init__(self):
        self.fails_at = None
        self.gradient_scale = 1.0
        self.rollouts = []
        self.steps_done = 0

    def load(self, path):
        if b"<mujoco" not in open(path, "rb").read():
            raise ValueError(f"{path}: not an MJCF or URDF file")
        return Model(), {}

    def rollout(self, model, parameters, state, controls, *, dt, contact=None):
        self.rollouts.append(len(controls))
        q, v, reports = [state.q], [state.v], []
        for control in controls:
            ok = self.fails_at is None or self.steps_done < self.fails_at
            self.steps_done += 1
            gap = None if contact is None else 0.25
            status = "Converged" if ok else "MaxIterations"
            reports.append(SimpleNamespace(status=status, iterations=1, residual=1e-12, min_gap=gap))
            if not ok:
                break
            v.append(v[-1] + dt * (GRAVITY + control))
            q.append(q[-1] + dt * v[-1])
        return Trajectory(np.array(q), np.array(v), reports, dt)

    def rollout_vjp(self, trajectory, *, dL_dpose):
        force = dL_dpose[:, 1, :3]
        steps, dt = len(force) - 1, trajectory.dt
        # q_n = q_0 + n dt v_0 + sum over k < n of (n - k) dt^2 u_k
        controls = np.array([sum((n - k) * dt**2 * force[n] for n in range(k + 1, steps + 1)) for k in range(steps)])
        velocity = sum(n * dt * force[n] for n in range(steps + 1))
        return SimpleNamespace(v0=self.gradient_scale * velocity, controls=self.gradient_scale * controls)


class Trajectory:
    def __init__(self, q, v, reports, dt):
        self.q, self.v, self.reports, self.dt = q, v, reports, dt
        self.converged = all(report.status == "Converged" for report in reports)

    def poses(self):
        poses = np.zeros((len(self.q), 2, 7))
        poses[..., 3] = 1.0
        poses[:, 1, :3] = self.q
        return poses
