# SPDX-License-Identifier: Apache-2.0
"""Linear feedback along a motion: a policy of rollouts that pulls back to it, exactly differentiable."""

from __future__ import annotations

import numpy as np

import farfield as ff
from farfield.coordinates import Coordinates


def state_difference(model: ff.Model, start: ff.State, end: ff.State) -> np.ndarray:
    """The tangent vector from one state to another, coordinates then velocities, shape (2 num_dofs,)."""
    return np.concatenate([ff.difference(model, start.q, end.q), np.subtract(end.v, start.v)])


def difference_jacobian(coordinates: Coordinates, difference: np.ndarray) -> np.ndarray:
    """Of a difference of coordinates, shape (num_dofs,), by directions of its end, shape (num_dofs, num_dofs).

    1 where numbers subtract; for rotations the inverse of the right Jacobian at the rotation vector.
    """
    out = np.eye(coordinates.num_dofs)
    for _, dofs in coordinates.quaternions:
        w = difference[dofs]
        cross = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
        square = float(w @ w)
        # (1 - x cot x) / |w|^2 with x = |w| / 2, by its series where that cancels
        x = 0.5 * np.sqrt(square)
        beta = 1.0 / 12.0 + square / 720.0 if x < 1e-3 else (1.0 - x / np.tan(x)) / square
        out[dofs, dofs] += 0.5 * cross + beta * cross @ cross
    return out


class Feedback:
    """u_t = clip(controls_t + size steps_t + K_t (x_t - states_t)), x the state as a tangent vector, (q, v).

    controls: shape (steps, m). q: (steps, num_q) or more rows, v: (steps, num_dofs). gains: K, shape (steps, m, 2 num_dofs). steps: shape
    (steps, m), none when absent. bounds: lower and upper, broadcast against a control. For ``policy=`` of rollouts and of their vjp.
    """

    def __init__(
        self,
        model: ff.Model,
        controls: np.ndarray,
        q: np.ndarray,
        v: np.ndarray,
        gains: np.ndarray,
        *,
        steps: np.ndarray | None = None,
        size: float = 1.0,
        bounds: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        count, wide = len(controls), 2 * model.num_dofs
        if np.shape(gains) != (count, model.num_controls, wide):
            raise ValueError(
                f"Feedback: gains of shape {np.shape(gains)}, expected {(count, model.num_controls, wide)}"
            )
        if min(len(q), len(v)) < count:
            raise ValueError(f"Feedback: {min(len(q), len(v))} states for {count} controls, expected one for each")
        self.model, self.gains, self.bounds = model, np.asarray(gains, dtype=float), bounds
        self.controls = np.array(controls, dtype=float) + (0.0 if steps is None else size * np.asarray(steps))
        self.states = [ff.State(q=np.array(a), v=np.array(b)) for a, b in zip(q[:count], v[:count], strict=True)]
        self.coordinates = Coordinates(model)

    def _wanted(self, step: int, state: ff.State) -> tuple[np.ndarray, np.ndarray]:
        away = state_difference(self.model, self.states[step], state)
        return away, self.controls[step] + self.gains[step] @ away

    def control(self, step: int, state: ff.State) -> np.ndarray:
        """The control of a step."""
        _, wanted = self._wanted(step, state)
        return wanted if self.bounds is None else np.clip(wanted, *self.bounds)

    def vjp(self, step: int, state: ff.State, control_bar: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pull-back of a gradient by the control to the state; a control at its bound passes nothing on."""
        away, wanted = self._wanted(step, state)
        bar = np.array(control_bar, dtype=float)
        if self.bounds is not None:
            bar[wanted != np.clip(wanted, *self.bounds)] = 0.0
        by_state = self.gains[step].T @ bar
        n = self.model.num_dofs
        q_bar = difference_jacobian(self.coordinates, away[:n]).T @ by_state[:n]
        return q_bar, by_state[n:], np.zeros(0)
