# SPDX-License-Identifier: Apache-2.0
"""Gymnasium environments: one, or many that step together on threads.

What an environment is about is a :class:`Setting`; ``FarfieldEnv(setting)`` and ``FarfieldVectorEnv(setting, num_envs=256)`` are the same
environment. :class:`FileSetting` makes one of any MJCF or URDF file. Those that are ready to be made by name are in `farfield.environments`.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np

import farfield as ff
from farfield.optional import needs

with needs("gym"):
    import gymnasium
    from gymnasium.spaces import Box
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space

Array = Any  #: of NumPy or of torch: settings use what both have in common


class Setting(ABC):
    """Where episodes begin, what is seen, what can be done and what is wanted.

    All functions but ``start`` take arrays with any extents before the last one and work on those of NumPy and of torch alike, so the reward that an
    environment pays is the one that is differentiated.
    """

    simulation: ff.Simulation  #: model, parameters, contact and time step; environments move copies of it
    frame_skip: int = 1  #: time steps per action
    max_steps: int = 200  #: actions per episode
    action_size: int
    goal_size: int = 0

    @abstractmethod
    def start(self, random: np.random.Generator) -> tuple[ff.State, np.ndarray]:
        """A state, and the goal of the episode, shape (goal_size,)."""

    @abstractmethod
    def control(self, action: Array, q: Array) -> Array:
        """Controls for an action with entries from -1 to 1, at coordinates q."""

    @abstractmethod
    def observe(self, q: Array, v: Array, poses: Array, goal: Array) -> Array:
        """What an agent sees."""

    @abstractmethod
    def reward(self, q: Array, v: Array, poses: Array, goal: Array, action: Array) -> Array:
        """For having come to this state by this action."""

    def success(self, q: Array, v: Array, poses: Array, goal: Array) -> Array:
        """Whether the goal is reached; the episode ends there."""
        return q[..., 0] != q[..., 0]  # never


def join(*parts: Array) -> Array:
    """Columns of arrays of NumPy or of torch behind each other."""
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts, axis=-1)
    import torch

    return torch.cat([torch.as_tensor(part) for part in parts], dim=-1)


class FileSetting(Setting):
    """Any MJCF or URDF file; the reward is up to you.

    Actions go through each control's range, or ``reach`` to both sides of the default control where a file gives none. Episodes begin at the keyframe ``key`` or
    at the default state, moved by normal noise of size ``noise`` in every direction it can move. Seen are q and v.
    """

    def __init__(
        self,
        file: str | PathLike[str],
        reward: Callable[[Array, Array, Array, Array, Array], Array],
        *,
        success: Callable[[Array, Array, Array, Array], Array] | None = None,
        observe: Callable[[Array, Array, Array, Array], Array] | None = None,
        key: str | None = None,
        noise: float = 0.0,
        reach: float = 1.0,
        frame_skip: int = 1,
        max_steps: int = 200,
        **options: Any,
    ) -> None:
        model, parameters = ff.load(file)
        if key is not None and key not in model.keyframes:
            raise ValueError(f"FileSetting: key '{key}', expected one of {sorted(model.keyframes)}")
        self.simulation = ff.Simulation(model, parameters, **options)
        self.frame_skip, self.max_steps, self.noise = frame_skip, max_steps, noise
        self.first = model.keyframes[key][0] if key is not None else model.default_state()
        self.middle, self.half = control_ranges(model, reach)
        self.action_size = model.num_controls
        self._reward, self._success, self._observe = reward, success, observe

    def start(self, random: np.random.Generator) -> tuple[ff.State, np.ndarray]:
        """The first state, moved."""
        model = self.simulation.model
        moves = [self.noise * random.standard_normal(model.num_dofs) for _ in range(2)]
        return ff.State(q=ff.retract(model, self.first.q, moves[0]), v=self.first.v + moves[1]), np.zeros(0)

    def control(self, action: Array, q: Array) -> Array:
        """Through the ranges of the controls."""
        return _like(self.middle, action) + _like(self.half, action) * action

    def observe(self, q: Array, v: Array, poses: Array, goal: Array) -> Array:
        """q and v, or what was asked for."""
        return join(q, v) if self._observe is None else self._observe(q, v, poses, goal)

    def reward(self, q: Array, v: Array, poses: Array, goal: Array, action: Array) -> Array:
        """What was asked for."""
        return self._reward(q, v, poses, goal, action)

    def success(self, q: Array, v: Array, poses: Array, goal: Array) -> Array:
        """What was asked for; never by default."""
        return super().success(q, v, poses, goal) if self._success is None else self._success(q, v, poses, goal)


def control_ranges(model: ff.Model, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Middle and half width of every control: of its range, else ``reach`` around its default."""
    middle, half = np.array(model.default_control()), np.full(model.num_controls, float(reach))
    for actuator in model.scene.actuators:
        if actuator.control_range is not None:
            place, limits = model.actuator_controls(actuator.name), actuator.control_range
            middle[place], half[place] = 0.5 * (limits.lower + limits.upper), 0.5 * (limits.upper - limits.lower)
    return middle, half


def _like(constant: np.ndarray, array: Array) -> Array:
    return constant if isinstance(array, np.ndarray) else array.new_tensor(constant)


def _spaces(setting: Setting) -> tuple[Box, Box]:
    """Of observations and actions."""
    state, goal = setting.start(np.random.default_rng(0))
    poses = ff.forward_kinematics(setting.simulation.model, setting.simulation.parameters, state.q)
    size = setting.observe(np.asarray(state.q), np.asarray(state.v), poses, goal).shape[-1]
    return Box(-np.inf, np.inf, (size,), np.float32), Box(-1.0, 1.0, (setting.action_size,), np.float32)


class FarfieldEnv(gymnasium.Env):
    """One environment. ``env.unwrapped.simulation`` is the simulation that moves: its steps, contacts and, with `farfield.rollout_vjp`, gradients.

    draw: from model and poses to a picture, for ``render_mode="rgb_array"``. A step that does not converge ends the episode as truncated, with its
    status in ``info["failed"]``.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 25}  # noqa: RUF012 - Gymnasium asks for it

    def __init__(
        self,
        setting: Setting,
        *,
        render_mode: str | None = None,
        draw: Callable[[ff.Model, np.ndarray], np.ndarray] | None = None,
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"FarfieldEnv: render_mode '{render_mode}', expected None or 'rgb_array'")
        if render_mode is not None and draw is None:
            raise ValueError("FarfieldEnv: render_mode 'rgb_array' without a function that draws, expected draw=")
        self.setting, self.render_mode, self._draw = setting, render_mode, draw
        self.simulation = copy.deepcopy(setting.simulation)
        self.observation_space, self.action_space = _spaces(setting)
        self.goal, self._taken = np.zeros(setting.goal_size), 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        """A new episode; ``options["state"]`` and ``options["goal"]`` choose it instead of chance."""
        super().reset(seed=seed)
        state, goal = self.setting.start(self.np_random)
        options = options or {}
        self.goal, self._taken = np.asarray(options.get("goal", goal), dtype=float), 0
        self.simulation.reset(options.get("state", state))
        return self._see(), {}

    def step(self, action: np.ndarray):
        """``frame_skip`` time steps under one action."""
        action = np.clip(np.asarray(action, dtype=float), -1.0, 1.0)
        control = np.asarray(self.setting.control(action, np.asarray(self.simulation.state.q)), dtype=float)
        info: dict[str, Any] = {}
        for _ in range(self.setting.frame_skip):
            report = self.simulation.step(control)
            if report.status != "converged":
                info["failed"] = report.status
                break
        self._taken += 1
        q, v, poses = self._state()
        reward = float(self.setting.reward(q, v, poses, self.goal, action))
        success = bool(self.setting.success(q, v, poses, self.goal))
        info["success"] = success
        truncated = "failed" in info or self._taken >= self.setting.max_steps
        return self._see(), reward, success, truncated, info

    def render(self) -> np.ndarray | None:
        """A picture of the present state."""
        if self.render_mode is None:
            return None
        return self._draw(self.simulation.model, self._state()[2])

    def _state(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        state = self.simulation.state
        poses = ff.forward_kinematics(self.simulation.model, self.simulation.parameters, state.q)
        return np.asarray(state.q), np.asarray(state.v), poses

    def _see(self) -> np.ndarray:
        return np.asarray(self.setting.observe(*self._state(), self.goal), dtype=np.float32)


class FarfieldVectorEnv(VectorEnv):
    """Many environments of one setting that step together, on threads; each begins anew in the step after its end.

    Row k of a reset with seed s is ``FarfieldEnv`` reset with seed s + k. ``q``, ``v`` and ``goal``: where they are, shape (num_envs, ...).
    ``threads``: FARFIELD_THREADS or all cores by default; same numbers for any.
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012 - Gymnasium asks for it

    def __init__(self, setting: Setting, num_envs: int = 1, *, threads: int | None = None) -> None:
        if num_envs < 1:
            raise ValueError(f"FarfieldVectorEnv: num_envs {num_envs}, expected 1 or more")
        self.setting, self.simulation, self.num_envs, self.threads = setting, setting.simulation, num_envs, threads
        self.single_observation_space, self.single_action_space = _spaces(setting)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        model, simulation = self.simulation.model, self.simulation
        self._parameters, self._contact = simulation.parameters, ff._core.contact_from_description(simulation.contact)
        self.q, self.v = np.zeros((num_envs, model.num_q)), np.zeros((num_envs, model.num_dofs))
        self.poses, self.goal = np.zeros((num_envs, model.num_bodies, 7)), np.zeros((num_envs, setting.goal_size))
        self._taken, self._over = np.zeros(num_envs, dtype=int), np.zeros(num_envs, dtype=bool)
        self._randoms: list[np.random.Generator] = []

    def reset(self, *, seed: int | list[int] | None = None, options: dict[str, Any] | None = None):
        """New episodes everywhere."""
        if seed is not None or not self._randoms:
            seeds = (
                [seed + k for k in range(self.num_envs)] if isinstance(seed, int) else seed or [None] * self.num_envs
            )
            self._randoms = [gymnasium.utils.seeding.np_random(each)[0] for each in seeds]
        for row in range(self.num_envs):
            self._begin(row)
        return self._see(), {}

    def step(self, actions: np.ndarray):
        """One action in every environment; one that has ended begins anew and is not moved."""
        actions = np.clip(np.asarray(actions, dtype=float), -1.0, 1.0)
        if actions.shape != (self.num_envs, self.setting.action_size):
            expected = (self.num_envs, self.setting.action_size)
            raise ValueError(f"FarfieldVectorEnv: actions of shape {actions.shape}, expected {expected}")
        anew, moving = np.flatnonzero(self._over), np.flatnonzero(~self._over)
        failed = self._move(moving, actions)
        for row in anew:
            self._begin(row)
        q, v, poses, goal = self.q, self.v, self.poses, self.goal
        reward = np.where(self._over, 0.0, self.setting.reward(q, v, poses, goal, actions))
        success = np.asarray(self.setting.success(q, v, poses, goal)) & ~self._over
        self._taken[moving] += 1
        truncated = (failed | (self._taken >= self.setting.max_steps)) & ~self._over
        self._over = success | truncated
        return self._see(), reward, success, truncated, {"success": success, "failed": failed}

    def _begin(self, row: int) -> None:
        state, goal = self.setting.start(self._randoms[row])
        self.q[row], self.v[row], self.goal[row], self._taken[row] = state.q, state.v, goal, 0
        self.poses[row] = ff.forward_kinematics(self.simulation.model, self._parameters, state.q)

    def _move(self, rows: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Rolls these rows on; tells which rows failed, which stay where their last good step left them."""
        failed = np.zeros(self.num_envs, dtype=bool)
        if not len(rows):
            return failed
        controls = np.asarray(self.setting.control(actions[rows], self.q[rows]), dtype=float)
        trajectories = ff.rollout_batch(
            self.simulation.model,
            [self._parameters],
            [ff.State(q=self.q[row], v=self.v[row]) for row in rows],
            list(np.repeat(controls[:, None], self.setting.frame_skip, axis=1)),
            contact=self._contact,
            options=self.simulation.options,
            threads=self.threads,
        )
        for row, trajectory in zip(rows, trajectories, strict=True):
            failed[row] = not trajectory.converged
            last = -2 if failed[row] else -1
            self.q[row], self.v[row] = trajectory.q[last], trajectory.v[last]
            self.poses[row] = ff.forward_kinematics(self.simulation.model, self._parameters, self.q[row])
        return failed

    def _see(self) -> np.ndarray:
        return np.asarray(self.setting.observe(self.q, self.v, self.poses, self.goal), dtype=np.float32)
