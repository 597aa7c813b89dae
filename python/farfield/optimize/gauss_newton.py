# SPDX-License-Identifier: Apache-2.0
"""Damped Gauss-Newton with exact sensitivities: Levenberg-Marquardt steps inside a trust region, best iterate kept.

Minimises |r(x)|^2 for a handful of residuals (the distances of bodies to their targets at the end): step d of
    (J^T J + damping s S^-2) d = -J^T r,   s = trace((J S)^T (J S)) / n,   |S^-1 d| <= trust,
where S holds the ``scale`` of every unknown. Several dampings are tried at once, one rollout each, and the best is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import farfield as ff
from farfield.optimize.driver import Driver
from farfield.optimize.objective import Objective
from farfield.optimize.projections import Projection
from farfield.optimize.rollout_input import RolloutInput


@dataclass
class GaussNewtonOptions:
    """How far and how long."""

    iterations: int = 20
    damping: float = 1e-3  #: relative to the mean squared sensitivity
    trust: float = 1.0  #: largest step in units of ``scale``
    scale: float | np.ndarray = 1.0  #: natural size of a step of each unknown
    candidates: int = 2  #: trust radii tried at once, each a quarter of the one before
    smallest_trust: float = 1e-6  #: gives up below


def damped_step(
    jacobian: np.ndarray, residual: np.ndarray, *, damping: float, scale: np.ndarray, trust: float
) -> np.ndarray:
    """The step of the damped normal equations, with damping increased until it fits into the trust region."""
    scaled = jacobian * scale
    u, sigma, vt = np.linalg.svd(scaled, full_matrices=False)
    along = u.T @ residual
    floor = damping * (sigma**2).sum() / scaled.shape[1]

    def step(extra: float) -> np.ndarray:
        weight = np.divide(sigma, sigma**2 + extra, out=np.zeros(sigma.shape), where=sigma > 0.0)
        return -vt.T @ (weight * along)

    d = step(floor)
    if np.linalg.norm(d) > trust:
        # |step| falls monotonically with the damping, and (sigma_max |r| / trust) is always enough.
        low, high = floor, max(floor, sigma[0] * np.linalg.norm(along) / trust)
        for _ in range(60):
            middle = np.sqrt(max(low, 1e-300) * high) if low > 0.0 else 0.5 * high
            low, high = (middle, high) if np.linalg.norm(step(middle)) > trust else (low, middle)
        d = step(high)
    return d * scale


class GaussNewton(Driver):
    """The driver of a Gauss-Newton search from x: one iteration is one batch of candidates. Only better points are accepted.

    Ends when ``loss`` is zero, when the trust region vanishes, or after ``options.iterations``. ``objective.loss`` needs ``residuals`` and
    ``residual_partials``. Raises ValueError when the rollout of x does not converge.
    """

    def __init__(
        self,
        objective: Objective,
        x: np.ndarray,
        options: GaussNewtonOptions | None = None,
        *,
        projection: Projection | None = None,
    ) -> None:
        self.objective, self.options, self.projection = objective, options or GaussNewtonOptions(), projection
        self.x, self.trust, self.iterations = np.array(x, dtype=float), self.options.trust, 0
        self.total = self.options.iterations
        self._here: Point | None = None
        self._jacobian: np.ndarray | None = None

    @property
    def here(self) -> Point:
        """The best point so far. After a restore its rollout is computed anew, to the same bits."""
        if self._here is None:
            self._here = Point.at(self.objective, self.x, self.objective.simulate([self.x])[0])
            if self._here is None:
                raise ValueError("GaussNewton: the rollout of the start did not converge, expected a converged one")
        return self._here

    @property
    def done(self) -> bool:
        """Nothing is left to do."""
        over = self.iterations >= self.total or self.trust < self.options.smallest_trust
        return over or self.here.value <= 0.0

    def advance(self) -> dict[str, Any]:
        """One iteration."""
        here, before = self.here, self.objective.rollouts
        if self._jacobian is None:
            self._jacobian = self.objective.jacobian(here.x, here.trajectory)
        radii = [self.trust * 0.25**k for k in range(self.options.candidates)]
        points = [self._candidate(radius) for radius in radii]
        trajectories = self.objective.simulate(points)
        tried = [Point.at(self.objective, *each) for each in zip(points, trajectories, strict=True)]
        found = [(point.square, k) for k, point in enumerate(tried) if point is not None]
        gradient = float(np.linalg.norm(2.0 * self._jacobian.T @ here.residual))
        if found and min(found)[0] < here.square:
            best = min(found)[1]
            # Twice the radius that worked: one that was too long shrinks the region, one that fitted lets it grow.
            self.trust, self._here, self._jacobian = 2.0 * radii[best], tried[best], None
            self.x = self._here.x
        else:
            self.trust = 0.25 * radii[-1]
        self.iterations += 1
        return {
            "loss": self.here.value,
            "gradient_norm": gradient,
            "min_gap": self.here.trajectory.min_gap,
            "steps": (self.objective.rollouts - before) * self.here.trajectory.num_steps,
            "residual": float(np.sqrt(self.here.square)),
        }

    def _candidate(self, radius: float) -> np.ndarray:
        scale = np.broadcast_to(np.asarray(self.options.scale, dtype=float), self.x.shape).ravel()
        step = damped_step(self._jacobian, self.here.residual, damping=self.options.damping, scale=scale, trust=radius)
        point = self.x + step.reshape(self.x.shape)
        return point if self.projection is None else self.projection.project(point)

    def inputs(self) -> RolloutInput:
        """Rollout inputs of the best point."""
        return self.objective.parameterization.decode(self.x)

    def state(self) -> dict[str, np.ndarray]:
        """Everything that later iterations depend on."""
        return {"x": self.x.copy(), "trust": np.array(self.trust), "iterations": np.array(self.iterations)}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Continues, bit for bit, where ``state`` was taken."""
        self.x, self.trust = np.array(state["x"], dtype=float), float(state["trust"])
        self.iterations = int(state["iterations"])
        self._here = self._jacobian = None


@dataclass
class Point:
    """A converged rollout and how far it misses."""

    x: np.ndarray
    value: float  #: the loss
    residual: np.ndarray
    trajectory: ff.Trajectory

    @property
    def square(self) -> float:
        """|r|^2"""
        return float(self.residual @ self.residual)

    @classmethod
    def at(cls, objective: Objective, x: np.ndarray, trajectory: ff.Trajectory) -> Point | None:
        """None when the rollout did not converge."""
        if not trajectory.converged:
            return None
        return cls(x, objective.loss(trajectory)[0], objective.loss.residuals(trajectory), trajectory)
