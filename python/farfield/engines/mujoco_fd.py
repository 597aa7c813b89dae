# SPDX-License-Identifier: Apache-2.0
"""MuJoCo as a rival: its own simulation of a task's scene, gradients by chained ``mjd_transitionFD`` [Todorov2012].

With the transition x' = f(x, u) of one integrator step, A = df/dx and B = df/du by finite differences, a loss is carried backwards:
    dL/du += B^T p,    p <- A^T p + dL/dx.
Controls and loss are the task's; what of the scene is the same and what is not is said in `farfield.engines.mujoco_scene`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import farfield as ff
from farfield.engines.mujoco_scene import translate
from farfield.engines.outside import Outside
from farfield.optimize.losses import Partials
from farfield.optimize.objective import Capabilities
from farfield.optimize.rollout_input import InputGradient, RolloutInput
from farfield.options import option
from farfield.threads import default_threads


@dataclass(frozen=True)
class MujocoOptions:
    """Of the method mujoco-fd."""

    name: ClassVar[str] = "method mujoco-fd"
    substeps: int = option(0, "integrator steps per frame; 0: as many as keep them at 0.01 s or below", least=0)
    epsilon: float = option(1e-6, "of finite differences", above=0)
    centered: bool = option(False, "central instead of forward differences, at twice the cost")


class MujocoFd(Outside):
    """A task in MuJoCo. Rollouts of a batch, and the transitions of all their steps, are computed on threads; same bits for any number."""

    Options = MujocoOptions
    capabilities = Capabilities(own_contact="mujoco", gradients=True)

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        import mujoco

        self._mujoco = mujoco
        # Warnings are counted in the data and read there; by itself MuJoCo also writes them to a file in the working folder.
        mujoco.set_mju_user_warning(lambda text: None)
        self.peer = translate(self.model, self.parameters, dt=self.dt, substeps=self.options.substeps)
        self._memory_kind = mujoco.mjtState.mjSTATE_INTEGRATION
        self._memory_size = mujoco.mj_stateSize(self.peer.model, self._memory_kind)
        kinds = mujoco.mjtWarning
        self._bad = [
            int(k) for k in (kinds.mjWARN_BADQPOS, kinds.mjWARN_BADQVEL, kinds.mjWARN_BADQACC, kinds.mjWARN_BADCTRL)
        ]
        self._local = _ThreadData(self.peer.model)
        self._threads = self.threads or default_threads()
        self._pool = ThreadPoolExecutor(self._threads) if self._threads > 1 else None

    def _map(self, function: Callable, items: Sequence[Any]) -> list[Any]:
        """The function of every item, on threads when there are several."""
        if self._pool is None or len(items) < 2:
            return [function(item) for item in items]
        return list(self._pool.map(function, items, chunksize=max(len(items) // (4 * self._threads), 1)))

    def _rollouts(self, inputs: Sequence[RolloutInput]) -> list[ff.Trajectory]:
        self.rollouts += len(inputs)
        return self._map(self._rollout, inputs)

    def rollout(self, state: ff.State, controls: np.ndarray) -> ff.Trajectory:
        """The motion in MuJoCo; ``before_steps`` holds everything that the integrator's steps started from."""
        mujoco, peer, data = self._mujoco, self.peer, self._local.data
        peer.set_state(data, state)
        q, v = [np.array(state.q)], [np.array(state.v)]
        before = np.zeros((len(controls), peer.substeps, self._memory_size))
        gap, converged = np.inf, True
        for step, control in enumerate(controls):
            data.ctrl[:] = control[peer.control]
            for part in range(peer.substeps):
                mujoco.mj_getState(peer.model, data, before[step, part], self._memory_kind)
                mujoco.mj_step(peer.model, data)
                if data.ncon:
                    gap = min(gap, float(data.contact.dist.min()))
            here = peer.get_state(data, state)
            # MuJoCo goes on after a bad state or control; it counts them as warnings
            bad = sum(int(data.warning[kind].number) for kind in self._bad)
            converged = bad == 0 and bool(np.isfinite(here[0]).all() and np.isfinite(here[1]).all())
            if not converged:
                break
            q.append(here[0])
            v.append(here[1])
        arrays = (np.array(q), np.array(v), np.array(controls)[: len(q) - 1])
        motion = self.trajectory(*arrays, converged=converged, min_gap=gap)
        motion.before_steps = before
        return motion

    def _vjp(self, trajectories: list[ff.Trajectory], partials: list[Partials]) -> list[InputGradient]:
        self.gradients += len(trajectories)
        places = [
            motion.before_steps[step, part]
            for motion, by in zip(trajectories, partials, strict=True)
            for step in range(by.last())
            for part in range(self.peer.substeps)
        ]
        transitions = iter(self._map(self._transition, places))
        found = []
        for motion, by in zip(trajectories, partials, strict=True):
            own = [next(transitions) for _ in range(by.last() * self.peer.substeps)]
            found.append(self._backward(motion, by, own))
        return found

    def _transition(self, before: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A and B of one integrator step, by the tangent state (2 nv) and MuJoCo's controls."""
        mujoco, model, data = self._mujoco, self.peer.model, self._local.data
        mujoco.mj_setState(model, data, before, self._memory_kind)
        by_state, by_control = np.zeros((2 * model.nv, 2 * model.nv)), np.zeros((2 * model.nv, model.nu))
        options = self.options
        mujoco.mjd_transitionFD(model, data, options.epsilon, options.centered, by_state, by_control, None, None)
        return by_state, by_control

    def _backward(self, motion: ff.Trajectory, by: Partials, transitions: list) -> InputGradient:
        peer, nv = self.peer, self.peer.model.nv
        controls = np.zeros((motion.num_steps, self.model.num_controls))
        p = np.zeros(2 * nv)
        for step in range(by.last(), -1, -1):
            if by.by_pose is not None:
                p[:nv] += self._by_position(motion, step, by.by_pose[step])
            if by.by_q is not None:
                p[peer.qvel] += by.by_q[step][peer.dofs]
            if by.by_v is not None:
                p[nv + peer.qvel] += by.by_v[step][peer.dofs]
            if step == 0:
                break
            for part in range(peer.substeps - 1, -1, -1):
                by_state, by_control = transitions[(step - 1) * peer.substeps + part]
                np.add.at(controls[step - 1], peer.control, by_control.T @ p)
                p = by_state.T @ p
        q0, v0 = np.zeros(self.model.num_dofs), np.zeros(self.model.num_dofs)
        q0[peer.dofs], v0[peer.dofs] = p[peer.qvel], p[nv:][peer.qvel]
        # Differences do not resolve less than this; what they leave there is rounding, which a normalising optimiser would follow.
        largest = max(np.abs(part).max(initial=0.0) for part in (by.by_pose, by.by_q, by.by_v) if part is not None)
        floor = np.finfo(float).eps / self.options.epsilon * largest
        return InputGradient(*(np.where(np.abs(part) < floor, 0.0, part) for part in (controls, q0, v0)))

    def _by_position(self, motion: ff.Trajectory, step: int, by_pose: np.ndarray) -> np.ndarray:
        """dL/dq in MuJoCo's tangent from the partials by poses: every body's Jacobian, transposed."""
        mujoco, model, data = self._mujoco, self.peer.model, self._local.data
        result = np.zeros(model.nv)
        bodies = np.flatnonzero(by_pose.any(axis=1))
        if len(bodies) == 0:
            return result
        self.peer.set_state(data, motion.state(step))
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        by_place, by_turn = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        for body in bodies:
            mujoco.mj_jacBody(model, data, by_place, by_turn, int(self.peer.bodies[body]))
            result += by_place.T @ by_pose[body, :3] + by_turn.T @ by_pose[body, 3:]
        return result


class _ThreadData(threading.local):
    """MuJoCo's data of the thread that asks; made when a thread asks first."""

    def __init__(self, model: Any) -> None:
        import mujoco

        self.data = mujoco.MjData(model)
