# SPDX-License-Identifier: Apache-2.0
"""Receding horizon by Gauss-Newton steps: few rollouts a window, each going as far as the motion lets it.

An iteration linearises the residuals at the end of the window exactly and tries damped steps of several lengths at once (`gauss_newton.damped_step`); the
best one is taken and its length is where the next iteration begins. Where no length leads further down, the window is finished by the gradient
optimiser, which goes on along the loss of all states.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from farfield.optimize.gauss_newton import Point, damped_step
from farfield.optimize.horizon import RecedingHorizon


class GaussNewtonHorizon(RecedingHorizon):
    """The driver of tasks whose loss has residuals and whose engine differentiates them; the rest is as in `RecedingHorizon`.

    optimizer: takes over in a window where Gauss-Newton stalls. trust: length of a step over all unknowns of a window to begin with; it never falls below
    ``floor``. candidates: lengths tried at once, each ``shrink`` of the one before. damping: of the normal equations, relative. patience: further iterations
    of a window that stalls, by the optimiser.
    """

    def __init__(
        self,
        objective: Any,
        optimizer: Any,
        *,
        trust: float,
        floor: float,
        candidates: int = 4,
        shrink: float = 0.25,
        damping: float = 1e-3,
        patience: int = 10,
        **options: Any,
    ) -> None:
        if not objective.capabilities.jacobian:
            raise ValueError(
                f"GaussNewtonHorizon: {type(objective).__name__} differentiates no residuals, expected an engine that does"
            )
        if not 0.0 < floor <= trust:
            raise ValueError(f"GaussNewtonHorizon: floor {floor} and trust {trust}, expected 0 < floor <= trust")
        super().__init__(objective, optimizer, **options)
        self.floor, self.candidates, self.shrink, self.damping = floor, candidates, shrink, damping
        self.patience, self.trust, self._stalled = patience, trust, False

    def _improve_plan(self) -> tuple[dict[str, Any], bool]:
        if self._stalled:
            return super()._improve_plan()
        self.objective.guess = self._guess
        here = Point.at(self.objective, self._x, self.objective.simulate([self._x])[0])
        if here is None:
            return super()._improve_plan()  # which steps back
        self._good, self._guess = self._x, np.array(here.trajectory.v[1:])
        row = self._row(here.value, None, here.trajectory)
        if here.square == 0.0:
            return row | {"gradient_norm": 0.0}, False
        jacobian = self.objective.jacobian(self._x, here.trajectory)
        row["gradient_norm"] = float(np.linalg.norm(2.0 * jacobian.T @ here.residual))
        radii = [self.trust * self.shrink**k for k in range(self.candidates)]
        tried = self._candidates(here, jacobian, radii)
        row["steps"] += sum(point.trajectory.num_steps for point in tried if point is not None)
        found = [(point.square, k) for k, point in enumerate(tried) if point is not None]
        if found and min(found)[0] < here.square:
            best = min(found)[1]
            self.trust = max(radii[best] / self.shrink**0.5, self.floor)
            self._x, self._good = tried[best].x, tried[best].x
            self._guess = np.array(tried[best].trajectory.v[1:])
            return row, True
        self.trust, self._stalled = max(self.trust * self.shrink, self.floor), True
        return row, True

    def _limit(self) -> int:
        return super()._limit() + (self.patience if self._stalled else 0)

    def _candidates(self, here: Point, jacobian: np.ndarray, radii: list[float]) -> list[Point | None]:
        place = None if self.projection is None else self.projection(self.objective.state)
        points = []
        for radius in radii:
            step = damped_step(jacobian, here.residual, damping=self.damping, scale=np.ones(self._x.size), trust=radius)
            point = self._x + step.reshape(self._x.shape)
            points.append(point if place is None else place.project(point))
        self.objective.guess = None
        trajectories = self.objective.simulate(points)
        return [Point.at(self.objective, *each) for each in zip(points, trajectories, strict=True)]

    def _apply(self) -> int:
        count = super()._apply()
        self._stalled = False
        return count

    def state(self) -> dict[str, np.ndarray]:
        """Everything that later iterations depend on."""
        return super().state() | {"trust": np.array(self.trust), "stalled": np.array(self._stalled)}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Continues, bit for bit, where ``state`` was taken."""
        super().restore(state)
        self.trust, self._stalled = float(state["trust"]), bool(state["stalled"])
