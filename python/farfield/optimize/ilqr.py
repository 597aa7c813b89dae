# SPDX-License-Identifier: Apache-2.0
"""Iterative linear-quadratic regulator: controls of every step, and the feedback that holds a motion on its way.

Each iteration linearises every step exactly (`step_jacobian`), expands the cost to second order, and solves the resulting linear-quadratic problem
backward for a change of controls k_t and gains K_t [Tassa2012]; bounds of controls are kept by a projected Newton method [Tassa2014]. A line
search over closed-loop rollouts of u_t + size k_t + K_t (x_t - old x_t) accepts what falls by a part of the prediction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

import farfield as ff
from farfield.coordinates import Coordinates
from farfield.optimize.driver import Driver, Stuck
from farfield.optimize.feedback import Feedback, difference_jacobian
from farfield.optimize.rollout_input import RolloutInput

SIZES = tuple(0.5**k for k in range(10))  # of the line search
ENOUGH = 1e-3  # of the predicted fall
STIFFER, SOFTER = 4.0, 0.25  # of the damping, after a failed and an accepted iteration
QUIET = 3  # iterations that fall less than the tolerance, one after another, before it is over
SHORT = 0.25  # sizes below tell that the linear model does not reach as far
LEAST, MOST = 1e-3, 1e8  # damping, in units of the mean curvature by a control


@dataclass(frozen=True)
class Expansion:
    """A cost to second order around a motion; x = (q, v) in tangent directions."""

    by_state: np.ndarray  #: (steps + 1, 2 n)
    by_states: np.ndarray  #: (steps + 1, 2 n, 2 n), positive semidefinite
    by_control: np.ndarray  #: (steps, m)
    by_controls: np.ndarray  #: (steps, m, m), positive semidefinite


class Cost(Protocol):
    """What the regulator brings down: a sum over states and controls, each state and control by itself."""

    def __call__(self, trajectory: ff.Trajectory) -> float:
        """The value of a motion."""

    def expand(self, trajectory: ff.Trajectory) -> Expansion:
        """The second-order model at a motion."""


@dataclass(frozen=True)
class Reach:
    """A point of a body that shall come to a place: 1/2 weight |x - target|^2 at every state, and final_weight at the last one.

    body: name. target: shape (3,); None in a coordinate: it is free there. point: in the frame of the body [m].
    """

    body: str
    target: Sequence[float | None]
    weight: float = 0.0
    final_weight: float = 1.0
    point: Sequence[float] = (0.0, 0.0, 0.0)


class TrackingCost:
    """1/2 sum of squares: away from a state, in velocities, in controls, and from places of points of bodies.

    goal: a State, or one for every state of the motion. Weights q, v and final_q, final_v are per direction (num_dofs,) or one number, control per
    control, by its difference from ``rest`` (the model's default control). With residuals r the second-order model is J^T W J.
    """

    def __init__(
        self,
        model: ff.Model,
        goal: ff.State | Sequence[ff.State],
        *,
        q: Any = 0.0,
        v: Any = 0.0,
        control: Any = 1e-3,
        final_q: Any = 0.0,
        final_v: Any = 0.0,
        rest: np.ndarray | None = None,
        reach: Sequence[Reach] = (),
    ) -> None:
        n, m = model.num_dofs, model.num_controls

        def weights(value: Any, count: int, name: str) -> np.ndarray:
            values = np.asarray(value, dtype=float)
            if values.shape not in ((), (count,)) or not np.all(values >= 0.0) or not np.all(np.isfinite(values)):
                raise ValueError(f"TrackingCost: {name} = {value}, expected a finite number >= 0 or {count} of them")
            return np.broadcast_to(values, (count,))

        self.model, self.coordinates, self.goal = model, Coordinates(model), goal
        self.running = np.concatenate([weights(q, n, "q"), weights(v, n, "v")])
        self.final = np.concatenate([weights(final_q, n, "final_q"), weights(final_v, n, "final_v")])
        self.control = weights(control, m, "control")
        self.rest = np.array(model.default_control() if rest is None else rest, dtype=float)
        if self.rest.shape != (m,):
            raise ValueError(f"TrackingCost: rest of shape {self.rest.shape}, expected ({m},)")
        self.reach = tuple(reach)
        self._bodies = [model.body_names.index(each.body) for each in self.reach]

    def _goal(self, t: int) -> ff.State:
        return self.goal if isinstance(self.goal, ff.State) else self.goal[t]

    def _residuals(self, trajectory: ff.Trajectory, poses: np.ndarray, t: int, last: bool):
        """Pairs of (residual, its weights, its Jacobian) of a state, all that weigh anything."""
        model, n = self.model, self.model.num_dofs
        weights = self.running + (self.final if last else 0.0)
        if weights.any():
            goal = self._goal(t)
            away = ff.difference(model, goal.q, trajectory.q[t])
            jacobian = np.eye(2 * n)
            jacobian[:n, :n] = difference_jacobian(self.coordinates, away)
            yield np.concatenate([away, trajectory.v[t] - goal.v]), weights, jacobian
        for each, body in zip(self.reach, self._bodies, strict=True):
            weight = each.weight + (each.final_weight if last else 0.0)
            asked = np.array([place is not None for place in each.target])
            if weight == 0.0 or not asked.any():
                continue
            wxyz, point = poses[t, body, 3:], np.asarray(each.point, dtype=float)
            u = wxyz[1:]
            world = poses[t, body, :3] + point + 2.0 * np.cross(u, np.cross(u, point) + wxyz[0] * point)
            target = np.array([0.0 if place is None else place for place in each.target])
            linear = ff.body_jacobian(model, trajectory.parameters, trajectory.q[t], body, point)[:3]
            jacobian = np.hstack([linear, np.zeros((3, n))])
            yield world - target, weight * asked, jacobian

    def __call__(self, trajectory: ff.Trajectory) -> float:
        """The value of a motion."""
        last, poses = trajectory.num_steps, trajectory.poses()
        value = 0.5 * float((self.control * (np.asarray(trajectory.controls) - self.rest) ** 2).sum())
        for t in range(last + 1):
            for residual, weights, _ in self._residuals(trajectory, poses, t, t == last):
                value += 0.5 * float(weights @ residual**2)
        return value

    def expand(self, trajectory: ff.Trajectory) -> Expansion:
        """Gauss-Newton's model."""
        last, poses, wide = trajectory.num_steps, trajectory.poses(), 2 * self.model.num_dofs
        by_state, by_states = np.zeros((last + 1, wide)), np.zeros((last + 1, wide, wide))
        for t in range(last + 1):
            for residual, weights, jacobian in self._residuals(trajectory, poses, t, t == last):
                by_state[t] += jacobian.T @ (weights * residual)
                by_states[t] += jacobian.T @ (weights[:, None] * jacobian)
        by_control = self.control * (np.asarray(trajectory.controls) - self.rest)
        return Expansion(by_state, by_states, by_control, np.tile(np.diag(self.control), (last, 1, 1)))


@dataclass(frozen=True)
class Backward:
    """What a backward pass finds."""

    steps: np.ndarray  #: k, (steps, m)
    gains: np.ndarray  #: K, (steps, m, 2 n)
    linear: float  #: predicted change of the cost by ``size``: size linear + size^2 quadratic
    quadratic: float

    def fall(self, size: float) -> float:
        """Predicted fall of the cost."""
        return -(size * self.linear + size * size * self.quadratic)


def boxed_minimum(H: np.ndarray, g: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The minimum of 1/2 x.H x + g.x between bounds, and which unknowns are free there; H positive definite.

    Projected Newton: what a bound holds stays there as long as the gradient presses it on.
    """
    x = np.clip(np.zeros_like(g), lower, upper)
    free = np.ones(len(g), dtype=bool)
    for _ in range(50):
        slope = g + H @ x
        held = ((x <= lower) & (slope > 0.0)) | ((x >= upper) & (slope < 0.0))
        free = ~held
        step = np.zeros_like(g)
        if free.any():
            step[free] = -np.linalg.solve(H[np.ix_(free, free)], slope[free])
        if np.abs(step).max(initial=0.0) <= 1e-12 * max(np.abs(x).max(initial=0.0), 1e-300):
            break
        value, size = 0.5 * x @ H @ x + g @ x, 1.0
        for _ in range(40):
            trial = np.clip(x + size * step, lower, upper)
            if 0.5 * trial @ H @ trial + g @ trial <= value + 1e-4 * slope @ (trial - x):
                break
            size *= 0.5
        else:
            break
        x = trial
    return x, free


def backward_pass(
    A: Sequence[np.ndarray],
    B: Sequence[np.ndarray],
    cost: Expansion,
    damping: float,
    room: tuple[np.ndarray, np.ndarray] | None = None,
) -> Backward:
    """The linear-quadratic problem of a motion, from its end.

    damping: added to the curvature by controls, in units of its mean. room: how far controls may move down and up, shapes (steps, m).
    Raises numpy.linalg.LinAlgError where controls have no positive curvature.
    """
    steps, m = cost.by_control.shape
    wide = cost.by_state.shape[1]
    k, K = np.zeros((steps, m)), np.zeros((steps, m, wide))
    value, curvature = cost.by_state[steps], cost.by_states[steps]
    linear = quadratic = 0.0
    for t in reversed(range(steps)):
        by_x = cost.by_state[t] + A[t].T @ value
        by_u = cost.by_control[t] + B[t].T @ value
        xx = cost.by_states[t] + A[t].T @ curvature @ A[t]
        uu = cost.by_controls[t] + B[t].T @ curvature @ B[t]
        ux = B[t].T @ curvature @ A[t]
        damped = uu + damping * (np.trace(uu) / m) * np.eye(m)
        np.linalg.cholesky(damped)
        if room is None:
            k[t], free = -np.linalg.solve(damped, by_u), np.ones(m, dtype=bool)
        else:
            k[t], free = boxed_minimum(damped, by_u, room[0][t], room[1][t])
        if free.any():
            K[t][free] = -np.linalg.solve(damped[np.ix_(free, free)], ux[free])
        linear += k[t] @ by_u
        quadratic += 0.5 * k[t] @ uu @ k[t]
        value = by_x + K[t].T @ (uu @ k[t] + by_u) + ux.T @ k[t]
        curvature = xx + K[t].T @ uu @ K[t] + K[t].T @ ux + ux.T @ K[t]
        curvature = 0.5 * (curvature + curvature.T)
    return Backward(k, K, float(linear), float(quadratic))


class Ilqr(Driver):
    """The driver of a regulator from given controls, shape (steps, num_controls): one iteration is one backward pass and its line search.

    bounds: lower and upper, arrays that broadcast against controls, infinite where there is none. Ends when a few iterations bring less than ``tolerance`` of
    the cost each, or after ``iterations``. ``feedback()`` holds the motion found on its way. Raises Stuck when the first rollout does not converge.
    """

    def __init__(
        self,
        model: ff.Model,
        cost: Cost,
        state: ff.State,
        controls: np.ndarray,
        *,
        parameters: ff.Parameters | None = None,
        dt: float | None = None,
        contact: Any = "automatic",
        iterations: int = 100,
        bounds: tuple[Any, Any] | None = None,
        tolerance: float = 1e-4,
        threads: int | None = None,
    ) -> None:
        self.controls = np.array(controls, dtype=float)
        if self.controls.ndim != 2 or self.controls.shape[1] != model.num_controls or not len(self.controls):
            raise ValueError(
                f"Ilqr: controls of shape {self.controls.shape}, expected (steps, {model.num_controls}), steps > 0"
            )
        if iterations < 1:
            raise ValueError(f"Ilqr: iterations {iterations}, expected 1 or more")
        self.model, self.cost, self.start = model, cost, state
        self.parameters = model.default_parameters() if parameters is None else parameters
        self.settings: dict[str, Any] = {"dt": dt, "contact": contact, "threads": threads}
        self.total, self.tolerance = iterations, tolerance
        self.bounds = None
        if bounds is not None:
            shape = (model.num_controls,)
            lower, upper = (np.broadcast_to(np.asarray(each, dtype=float), shape) for each in bounds)
            if not np.all(lower < upper):
                raise ValueError(f"Ilqr: bounds {lower} and {upper}, expected lower < upper")
            self.bounds = (lower, upper)
            self.controls = np.clip(self.controls, lower, upper)
        self.iterations, self.damping, self._quiet, self._settled = 0, 0.0, 0, False
        self._motion: ff.Trajectory | None = None
        self._backward: Backward | None = None

    @property
    def best(self) -> ff.Trajectory:
        """The best motion so far. After a restore its rollout is computed anew, to the same bits."""
        if self._motion is None:
            (motion,) = self._roll([self.controls], None)
            if not motion.converged:
                raise Stuck(
                    f"Ilqr: step {motion.num_steps} of the first rollout ended with '{motion.reports[-1].status}'"
                )
            self._motion = motion
        return self._motion

    @property
    def done(self) -> bool:
        """Settled, or out of iterations."""
        return self._settled or self.iterations >= self.total

    def _roll(self, controls: Sequence[np.ndarray], policies: Sequence[Feedback] | None) -> list[ff.Trajectory]:
        count = len(controls)
        return ff.rollout_batch(
            self.model, [self.parameters] * count, [self.start] * count, controls, policies=policies, **self.settings
        )

    def _search(self, found: Backward, value: float) -> tuple[ff.Trajectory | None, float, float, int]:
        """The first size whose motion falls enough, tried a few at once; the motion, its cost, its size, steps simulated."""
        here, steps = self.best, 0
        at_once = 2
        for first in range(0, len(SIZES), at_once):
            sizes = SIZES[first : first + at_once]
            policies = [
                Feedback(
                    self.model,
                    here.controls,
                    here.q,
                    here.v,
                    found.gains,
                    steps=found.steps,
                    size=s,
                    bounds=self.bounds,
                )
                for s in sizes
            ]
            motions = self._roll([self.controls] * len(sizes), policies)
            steps += sum(motion.num_steps for motion in motions)
            for size, motion in zip(sizes, motions, strict=True):
                if not motion.converged:
                    continue
                there = self.cost(motion)
                if there <= value - ENOUGH * max(found.fall(size), 0.0) and there < value:
                    return motion, there, size, steps
        return None, value, 0.0, steps

    def advance(self) -> dict[str, Any]:
        """One iteration."""
        here = self.best
        value, expansion = self.cost(here), self.cost.expand(here)
        found = self._regulate(here, expansion)
        row = {
            "loss": value,
            "gradient_norm": float(np.linalg.norm(found.steps)),
            "min_gap": here.min_gap,
            "steps": 0,
            "size": 0.0,
            "damping": self.damping,
        }
        self.iterations += 1
        if found.fall(1.0) <= 1e-12 * abs(value):
            self._settled = True
            return row
        motion, row["loss"], row["size"], row["steps"] = self._search(found, value)
        self._quiet = 0 if motion is None or value - row["loss"] > self.tolerance * abs(value) else self._quiet + 1
        self._settled = self._quiet >= QUIET or (motion is None and self.damping >= MOST)
        if motion is None or row["size"] < SHORT:
            self.damping = max(STIFFER * self.damping, LEAST)
        elif row["size"] == 1.0:
            self.damping = 0.0 if SOFTER * self.damping < LEAST else SOFTER * self.damping
        if motion is not None:
            self._motion, self._backward, self.controls = motion, None, np.array(motion.controls)
        return row

    def _regulate(self, here: ff.Trajectory, expansion: Expansion) -> Backward:
        if self._backward is not None and self._backward_damping == self.damping:
            return self._backward
        if self._backward is None:
            jacobians = [ff.step_jacobian(here, t) for t in range(here.num_steps)]
            self._A = [np.asarray(each.A) for each in jacobians]
            self._B = [np.asarray(each.B) for each in jacobians]
        room = None
        if self.bounds is not None:
            room = (self.bounds[0] - here.controls, self.bounds[1] - here.controls)
        while True:
            try:
                self._backward = backward_pass(self._A, self._B, expansion, self.damping, room)
                self._backward_damping = self.damping
                return self._backward
            except np.linalg.LinAlgError:
                if self.damping >= MOST:
                    raise Stuck(
                        "Ilqr: controls have no curvature, expected a cost that rises with every control"
                    ) from None
                self.damping = max(STIFFER * self.damping, LEAST)

    def feedback(self) -> Feedback:
        """A policy that holds the motion found on its way, for ``policy=`` of `farfield.rollout`."""
        here = self.best
        found = self._regulate(here, self.cost.expand(here))
        return Feedback(self.model, here.controls, here.q, here.v, found.gains, bounds=self.bounds)

    def inputs(self) -> RolloutInput:
        """Rollout inputs of the best motion."""
        return RolloutInput(controls=self.controls, state=self.start, parameters=self.parameters)

    def state(self) -> dict[str, np.ndarray]:
        """Everything that later iterations depend on."""
        return {
            "controls": self.controls.copy(),
            "damping": np.array(self.damping),
            "iterations": np.array(self.iterations),
            "quiet": np.array(self._quiet),
            "settled": np.array(self._settled),
        }

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Continues, bit for bit, where ``state`` was taken."""
        self.controls, self.damping = np.array(state["controls"], dtype=float), float(state["damping"])
        self.iterations, self._quiet, self._settled = (
            int(state["iterations"]),
            int(state["quiet"]),
            bool(state["settled"]),
        )
        self._motion = self._backward = None
