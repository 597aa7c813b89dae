# SPDX-License-Identifier: Apache-2.0
"""From the numbers an optimiser moves to the inputs of a rollout, and back from its gradient."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

import farfield as ff
from farfield.optimize.rollout_input import InputGradient, RolloutInput

Gradient = ff.RolloutGradient | InputGradient


class Parameterization(ABC):
    """What all of them are."""

    moves: ClassVar[frozenset[str]] = frozenset(("controls",))  #: the parts of a `RolloutInput` that depend on x
    per_step: ClassVar[bool] = False  #: row t of x belongs to step t of the motion

    @property
    @abstractmethod
    def size(self) -> int:
        """How many numbers."""

    @abstractmethod
    def initial(self) -> np.ndarray:
        """The trivial start."""

    @abstractmethod
    def decode(self, x: np.ndarray) -> RolloutInput:
        """The inputs of a rollout; what is left out is up to the objective."""

    @abstractmethod
    def pullback(self, x: np.ndarray, gradient: Gradient) -> np.ndarray:
        """dL/dx of the shape of x."""


class DirectTargets(Parameterization):
    """Every chosen control of every step is a number of its own: x is (steps, channels).

    ``base``: controls of shape (steps, num_controls), the trivial start; what is not in ``channels`` stays as it is there.
    """

    per_step = True

    def __init__(self, base: np.ndarray, channels: Sequence[int] | None = None) -> None:
        self.base, self.channels = _controls("DirectTargets", base, channels)
        self.shape = (len(self.base), len(self.channels))

    @property
    def size(self) -> int:
        """How many numbers."""
        return int(np.prod(self.shape))

    def initial(self) -> np.ndarray:
        """The base controls."""
        return self.base[:, self.channels].copy()

    def decode(self, x: np.ndarray) -> RolloutInput:
        """Controls with x in the chosen channels."""
        return RolloutInput(_into(self.base, self.channels, _shaped("DirectTargets", x, self.shape)))

    def pullback(self, x: np.ndarray, gradient: Gradient) -> np.ndarray:
        """dL/dx of the shape of x."""
        return np.asarray(gradient.controls)[:, self.channels].reshape(np.shape(x))


class CubicSpline(Parameterization):
    """Clamped uniform cubic B-splines in time: x is (knots, channels).

    The curve of a channel stays between its smallest and largest knot and starts and ends on the first and last, and every value is a convex
    combination of at most four knots, so a convex projection of the knots holds at every step.
    """

    def __init__(self, base: np.ndarray, knots: int, channels: Sequence[int] | None = None) -> None:
        self.base, self.channels = _controls("CubicSpline", base, channels)
        if not 4 <= knots <= len(self.base):
            raise ValueError(f"CubicSpline: {knots} knots for {len(self.base)} steps, expected 4 up to the steps")
        self.matrix = bspline_matrix(len(self.base), knots)
        self.shape = (knots, len(self.channels))

    @property
    def size(self) -> int:
        """How many numbers."""
        return int(np.prod(self.shape))

    def initial(self) -> np.ndarray:
        """Knots whose curve is nearest to the base controls; exact where those are constant or linear in time."""
        return np.linalg.lstsq(self.matrix, self.base[:, self.channels], rcond=None)[0]

    def decode(self, x: np.ndarray) -> RolloutInput:
        """Controls along the curve."""
        return RolloutInput(_into(self.base, self.channels, self.matrix @ _shaped("CubicSpline", x, self.shape)))

    def pullback(self, x: np.ndarray, gradient: Gradient) -> np.ndarray:
        """dL/dx of the shape of x."""
        return (self.matrix.T @ np.asarray(gradient.controls)[:, self.channels]).reshape(np.shape(x))


def bspline_matrix(steps: int, knots: int) -> np.ndarray:
    """Values of clamped uniform cubic B-splines at ``steps`` even times, shape (steps, knots), by the Cox-de Boor recursion."""
    degree = 3
    inner = np.linspace(0.0, 1.0, knots - degree + 1)
    t = np.concatenate([np.zeros(degree), inner, np.ones(degree)])
    times = np.linspace(0.0, 1.0, steps)
    values = ((t[:-1] <= times[:, None]) & (times[:, None] < t[1:])).astype(float)
    values[-1] = 0.0
    values[-1, knots - 1] = 1.0  # the last time belongs to the last non-empty interval
    for p in range(1, degree + 1):
        rise, fall = t[p:-1] - t[: -p - 1], t[p + 1 :] - t[1:-p]
        left = np.divide(times[:, None] - t[: -p - 1], rise, out=np.zeros((steps, len(rise))), where=rise > 0.0)
        right = np.divide(t[p + 1 :] - times[:, None], fall, out=np.zeros((steps, len(fall))), where=fall > 0.0)
        values = left * values[:, :-1] + right * values[:, 1:]
    return values


class SumOfSines(Parameterization):
    """base + sum_k a_k sin(2 pi f_k t + phi_k) per channel: x is (channels, waves, 3) of amplitude, frequency [Hz] and phase [rad].

    As in [LongRange2026, A.6.2] all three are optimised. t is the time at which a control is applied, step * dt [s].
    ``amplitude``, ``frequency``, ``phase``: the start, broadcast to (channels, waves). With amplitudes of 0 the start is the base motion;
    only amplitudes have a gradient there, and different phases give waves of one frequency different ones.
    By default frequencies are 1, 2, ... times ``1 / duration`` and phases alternate between 0 and a quarter turn.
    """

    def __init__(
        self,
        base: np.ndarray,
        dt: float,
        *,
        waves: int = 4,
        channels: Sequence[int] | None = None,
        amplitude: float | np.ndarray = 0.0,
        frequency: float | np.ndarray | None = None,
        phase: float | np.ndarray | None = None,
    ) -> None:
        self.base, self.channels = _controls("SumOfSines", base, channels)
        if not dt > 0.0:
            raise ValueError(f"SumOfSines: dt {dt}, expected > 0 s")
        if waves < 1:
            raise ValueError(f"SumOfSines: {waves} waves, expected at least 1")
        self.time = dt * np.arange(len(self.base))
        self.shape = (len(self.channels), waves, 3)
        if frequency is None:
            frequency = (1.0 + np.arange(waves)) / (dt * len(self.base))
        if phase is None:
            phase = 0.5 * np.pi * (np.arange(waves) % 2)
        self._initial = np.zeros(self.shape)
        for k, value in enumerate((amplitude, frequency, phase)):
            self._initial[..., k] = value

    @property
    def size(self) -> int:
        """How many numbers."""
        return int(np.prod(self.shape))

    def initial(self) -> np.ndarray:
        """The amplitudes, frequencies and phases of the start."""
        return self._initial.copy()

    def _angles(self, x: np.ndarray) -> np.ndarray:
        return 2.0 * np.pi * x[..., 1] * self.time[:, None, None] + x[..., 2]

    def decode(self, x: np.ndarray) -> RolloutInput:
        """Controls: base plus waves."""
        x = _shaped("SumOfSines", x, self.shape)
        waves = (x[..., 0] * np.sin(self._angles(x))).sum(axis=2)
        return RolloutInput(_into(self.base, self.channels, self.base[:, self.channels] + waves))

    def pullback(self, x: np.ndarray, gradient: Gradient) -> np.ndarray:
        """dL/dx of the shape of x."""
        y = _shaped("SumOfSines", x, self.shape)
        by_control = np.asarray(gradient.controls)[:, self.channels, None]
        angles = self._angles(y)
        slope = by_control * y[..., 0] * np.cos(angles)
        parts = [by_control * np.sin(angles), slope * 2.0 * np.pi * self.time[:, None, None], slope]
        return np.stack([part.sum(axis=0) for part in parts], axis=2).reshape(np.shape(x))


class InitialState(Parameterization):
    """Chosen coordinates and velocities of the first state: x is (positions then velocities).

    ``positions``, ``velocities``: indices of degrees of freedom. A position must be a coordinate that adds (slide, hinge, universal, or
    the place of a free joint, not its rotation), so that x is the coordinate itself [m, rad]. ``controls`` stay as they are.
    """

    moves = frozenset(("state",))

    def __init__(
        self,
        model: ff.Model,
        state: ff.State,
        controls: np.ndarray,
        *,
        positions: Sequence[int] = (),
        velocities: Sequence[int] = (),
    ) -> None:
        coordinates = additive_coordinates(model)
        for dof in (*positions, *velocities):
            if not 0 <= dof < model.num_dofs:
                raise ValueError(f"InitialState: degree of freedom {dof}, expected 0 to {model.num_dofs - 1}")
        for dof in positions:
            if dof not in coordinates:
                raise ValueError(f"InitialState: position {dof} is a rotation, expected a coordinate that adds")
        self.positions, self.velocities = list(positions), list(velocities)
        self._coordinates = [coordinates[dof] for dof in self.positions]
        self.q, self.v = np.array(state.q, dtype=float), np.array(state.v, dtype=float)
        self.controls = np.array(controls, dtype=float)

    @property
    def size(self) -> int:
        """How many numbers."""
        return len(self.positions) + len(self.velocities)

    def initial(self) -> np.ndarray:
        """The chosen coordinates and velocities of the given state."""
        return np.concatenate([self.q[self._coordinates], self.v[self.velocities]])

    def decode(self, x: np.ndarray) -> RolloutInput:
        """The first state with x in its place, and the controls."""
        x = _shaped("InitialState", x, (self.size,))
        q, v = self.q.copy(), self.v.copy()
        q[self._coordinates], v[self.velocities] = x[: len(self.positions)], x[len(self.positions) :]
        return RolloutInput(self.controls.copy(), ff.State(q=q, v=v))

    def pullback(self, x: np.ndarray, gradient: Gradient) -> np.ndarray:
        """dL/dx of the shape of x."""
        parts = [np.asarray(gradient.q0)[self.positions], np.asarray(gradient.v0)[self.velocities]]
        return np.concatenate(parts).reshape(np.shape(x))


class ParameterSubset(Parameterization):
    """Chosen entries of the parameters: p[indices] = p0[indices] + E x, with E the identity unless ``directions`` gives it.

    ``indices``: into ``parameters.flatten()``, as ``ff.parameter_mask(model, ["friction"])`` finds them.
    ``directions``: shape (len(indices), n), for designs that move several entries together. Fields that belong together are moved together
    by the caller: a mass alone leaves its inertia behind. ``controls`` stay as they are.
    """

    moves = frozenset(("parameters",))

    def __init__(
        self,
        parameters: ff.Parameters,
        indices: Sequence[int],
        controls: np.ndarray,
        *,
        directions: np.ndarray | None = None,
    ) -> None:
        self.parameters, self.controls = parameters.copy(), np.array(controls, dtype=float)
        self.base = parameters.flatten()
        self.indices = np.array(indices, dtype=int).ravel()
        if len(np.unique(self.indices)) != len(self.indices) or not np.all(
            (0 <= self.indices) & (self.indices < len(self.base))
        ):
            raise ValueError(
                f"ParameterSubset: indices {indices}, expected different ones of 0 to {len(self.base) - 1}"
            )
        count = len(self.indices)
        self.directions = np.eye(count) if directions is None else np.array(directions, dtype=float)
        if self.directions.ndim != 2 or len(self.directions) != count:
            raise ValueError(f"ParameterSubset: directions of shape {self.directions.shape}, expected ({count}, n)")

    @property
    def size(self) -> int:
        """How many numbers."""
        return self.directions.shape[1]

    def initial(self) -> np.ndarray:
        """The given parameters."""
        return np.zeros(self.size)

    def decode(self, x: np.ndarray) -> RolloutInput:
        """The parameters moved by x, and the controls."""
        moved = self.base.copy()
        moved[self.indices] += self.directions @ _shaped("ParameterSubset", x, (self.size,))
        return RolloutInput(self.controls.copy(), parameters=self.parameters.unflatten(moved))

    def pullback(self, x: np.ndarray, gradient: Gradient) -> np.ndarray:
        """dL/dx of the shape of x."""
        return (self.directions.T @ gradient.parameters.flatten()[self.indices]).reshape(np.shape(x))


class Combined(Parameterization):
    """Several parameterisations side by side, such as controls and a design: x is theirs, flat, one after the other.

    No two may move the same part of the input; what one moves wins over what the others leave as it is.
    """

    def __init__(self, *parts: Parameterization) -> None:
        moved = [part for each in parts for part in each.moves]
        if len(set(moved)) != len(moved):
            raise ValueError(f"Combined: parts move {', '.join(moved)}, expected every one at most once")
        self.parts, self.moves = parts, frozenset(moved)
        self._owner = {name: next(k for k, each in enumerate(parts) if name in each.moves) for name in moved}

    @property
    def size(self) -> int:
        """How many numbers."""
        return sum(part.size for part in self.parts)

    def initial(self) -> np.ndarray:
        """Those of the parts."""
        return np.concatenate([np.ravel(part.initial()) for part in self.parts])

    def decode(self, x: np.ndarray) -> RolloutInput:
        """The inputs of all parts in one."""
        decoded = [part.decode(own) for part, own in zip(self.parts, self._split(x), strict=True)]
        moved = RolloutInput(**{name: vars(decoded[k])[name] for name, k in self._owner.items()})
        for each in decoded:
            moved = moved.over(each)
        return moved

    def pullback(self, x: np.ndarray, gradient: Gradient) -> np.ndarray:
        """dL/dx of the shape of x."""
        rows = [part.pullback(own, gradient) for part, own in zip(self.parts, self._split(x), strict=True)]
        return np.concatenate([np.ravel(row) for row in rows]).reshape(np.shape(x))

    def _split(self, x: np.ndarray) -> list[np.ndarray]:
        x = _shaped("Combined", x, (self.size,))
        return np.split(x, np.cumsum([part.size for part in self.parts])[:-1])


def additive_coordinates(model: ff.Model) -> dict[int, int]:
    """Degree of freedom -> index into q, for the coordinates where a tangent step simply adds."""
    where: dict[int, int] = {}
    for joint in model.scene.joints:
        dofs, coordinates = model.joint_dofs(joint.name), model.joint_q(joint.name)
        count = {ff.JointType.Free: 3, ff.JointType.Ball: 0}.get(joint.type, dofs.stop - dofs.start)
        where.update({dofs.start + k: coordinates.start + k for k in range(count)})
    return where


def _controls(who: str, base: np.ndarray, channels: Sequence[int] | None) -> tuple[np.ndarray, list[int]]:
    base = np.array(base, dtype=float)
    if base.ndim != 2:
        raise ValueError(f"{who}: base of shape {base.shape}, expected (steps, num_controls)")
    chosen = list(range(base.shape[1])) if channels is None else list(channels)
    if any(not 0 <= channel < base.shape[1] for channel in chosen) or len(set(chosen)) != len(chosen):
        raise ValueError(f"{who}: channels {chosen}, expected different ones of 0 to {base.shape[1] - 1}")
    return base, chosen


def _shaped(who: str, x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    x = np.asarray(x, dtype=float)
    if x.size != int(np.prod(shape)):
        raise ValueError(f"{who}: x of shape {x.shape}, expected {shape} or as many numbers")
    return x.reshape(shape)


def _into(base: np.ndarray, channels: list[int], values: np.ndarray) -> np.ndarray:
    controls = base.copy()
    controls[:, channels] = values
    return controls
