# SPDX-License-Identifier: Apache-2.0
"""Exact gradients of our own rollouts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

import farfield as ff
from farfield.engines.engine import Engine
from farfield.optimize.objective import Capabilities


class Adjoint(Engine):
    """Exact gradients by the adjoint of the implicit step."""

    capabilities = Capabilities(certifies=True, gradients=True, jacobian=True, parts=True)

    def simulate(self, points: Sequence[np.ndarray]) -> list[ff.Trajectory]:
        """One rollout per point; a single one from the guess if there is one."""
        inputs = [self.parameterization.decode(x) for x in points]
        self.rollouts += len(inputs)
        if self.guess is not None and len(inputs) == 1:
            return [self._roll(inputs[0], self.tolerance, self.guess)]
        return ff.rollout_batch(
            self.model,
            [self.parameters],
            [self._first(each) for each in inputs],
            [each["controls"] for each in inputs],
            dt=self.dt,
            contact=self.contact,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
            threads=self.threads,
        )

    def roll(self, inputs: Mapping[str, np.ndarray], *, tolerance: float | None = None) -> ff.Trajectory:
        """One rollout of decoded inputs from the objective's state; q0 and v0 may replace it."""
        return self._roll(inputs, self.tolerance if tolerance is None else tolerance, None)

    def _roll(self, inputs: Mapping[str, np.ndarray], tolerance: float, guess: np.ndarray | None) -> ff.Trajectory:
        return ff.rollout(
            self.model,
            self.parameters,
            self._first(inputs),
            inputs["controls"],
            dt=self.dt,
            contact=self.contact,
            tolerance=tolerance,
            max_iterations=self.max_iterations,
            guess=guess,
        )

    def _vjp(self, trajectories: list[ff.Trajectory], partials: list[np.ndarray]) -> list[ff.RolloutGradient]:
        if not trajectories:
            return []
        self.gradients += len(trajectories)
        return ff.rollout_vjp_batch(trajectories, dL_dpose=partials, threads=self.threads)
