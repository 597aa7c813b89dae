# SPDX-License-Identifier: Apache-2.0
"""Damped Gauss-Newton with exact sensitivities: Levenberg-Marquardt steps inside a trust region, best iterate kept.

Minimises |r(x)|^2 for a handful of residuals (the distances of bodies to their targets at the end): step d of
    (J^T J + damping s S^-2) d = -J^T r,   s = trace((J S)^T (J S)) / n,   |S^-1 d| <= trust,
where S holds the ``scale`` of every unknown. Several dampings are tried at once, one rollout each, and the best is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import farfield as ff
from farfield.tasks.objective import Objective
from farfield.tasks.projections import Projection


@dataclass
class GaussNewtonOptions:
    """How far and how long."""

    iterations: int = 20
    damping: float = 1e-3  #: relative to the mean squared sensitivity
    trust: float = 1.0  #: largest step in units of ``scale``
    scale: float | np.ndarray = 1.0  #: natural size of a step of each unknown
    candidates: int = 2  #: trust radii tried at once, each a quarter of the one before
    smallest_trust: float = 1e-6  #: gives up below


@dataclass
class GaussNewtonResult:
    """The best iterate."""

    x: np.ndarray
    value: float  #: the loss
    residual: float  #: |r|^2
    trajectory: ff.Trajectory
    iterations: int
    history: list[float] = field(default_factory=list)  #: |r|^2 after every iteration


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


def gauss_newton(
    objective: Objective,
    x: np.ndarray,
    options: GaussNewtonOptions | None = None,
    *,
    projection: Projection | None = None,
    done: Callable[[float, ff.Trajectory], bool] = lambda value, trajectory: value <= 0.0,
    progress: Callable[[int, float], None] = lambda iteration, value: None,
) -> GaussNewtonResult:
    """Improves x until ``done(loss, trajectory)``, the trust region vanishes, or iterations run out. Only better points are accepted.

    ``objective.loss`` needs ``residuals`` and ``residual_partials``. Raises ValueError when the rollout of x does not converge.
    """
    options = options or GaussNewtonOptions()
    x = np.array(x, dtype=float)
    trajectory = objective.simulate([x])[0]
    if not trajectory.converged:
        raise ValueError("gauss_newton: the rollout of the start did not converge, expected a converged one")
    residual = objective.loss.residuals(trajectory)
    best = GaussNewtonResult(x, objective.loss(trajectory)[0], float(residual @ residual), trajectory, 0)
    scale = np.broadcast_to(np.asarray(options.scale, dtype=float), x.shape).ravel()
    trust, jacobian = options.trust, None
    while best.iterations < options.iterations and trust >= options.smallest_trust:
        if done(best.value, best.trajectory):
            break
        if jacobian is None:
            jacobian, residual = (
                objective.jacobian(best.x, best.trajectory),
                objective.loss.residuals(best.trajectory),
            )
        radii = [trust * 0.25**k for k in range(options.candidates)]
        points = []
        for radius in radii:
            step = damped_step(jacobian, residual, damping=options.damping, scale=scale, trust=radius)
            point = best.x + step.reshape(x.shape)
            points.append(point if projection is None else projection.project(point))
        best.iterations += 1
        found, radius = _best_of(objective, points, radii)
        if found is not None and found.residual < best.residual:
            # Twice the radius that worked: one that was too long shrinks the region, one that fitted lets it grow.
            trust, jacobian = 2.0 * radius, None
            best.x, best.value, best.residual, best.trajectory = found.x, found.value, found.residual, found.trajectory
        else:
            trust = 0.25 * radii[-1]
        best.history.append(best.residual)
        progress(best.iterations, best.value)
    return best


def _best_of(
    objective: Objective, points: list[np.ndarray], radii: list[float]
) -> tuple[GaussNewtonResult | None, float]:
    best, chosen = None, radii[-1]
    for point, radius, trajectory in zip(points, radii, objective.simulate(points), strict=True):
        if not trajectory.converged:
            continue
        residual = objective.loss.residuals(trajectory)
        square = float(residual @ residual)
        if best is None or square < best.residual:
            best, chosen = GaussNewtonResult(point, objective.loss(trajectory)[0], square, trajectory, 0), radius
    return best, chosen
