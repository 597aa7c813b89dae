# SPDX-License-Identifier: Apache-2.0
"""Ways to compute the gradient of a task's loss; `farfield.experiments.registry` names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

import farfield as ff
from farfield.optimize.objective import Objective


class Adjoint(Objective):
    """Exact gradients by the adjoint of the implicit step.

    ``guess``: warm start of rollouts, velocities after each step of a similar motion, shape (steps, num_dofs); None: none.
    """

    guess: np.ndarray | None = None

    def simulate(self, points: Sequence[np.ndarray]) -> list[ff.Trajectory]:
        """One rollout per point, from the guess if there is one."""
        if self.guess is None or len(points) != 1:
            return super().simulate(points)
        self.rollouts += 1
        return [self.roll(self.parameterization.decode(points[0]), guess=self.guess)]

    def roll(
        self, inputs: Mapping[str, np.ndarray], *, tolerance: float | None = None, guess: np.ndarray | None = None
    ) -> ff.Trajectory:
        """One rollout of decoded inputs from the objective's state; q0 and v0 may replace it."""
        state = ff.State(q=inputs.get("q0", self.state.q), v=inputs.get("v0", self.state.v))
        return ff.rollout(
            self.model,
            self.parameters,
            state,
            inputs["controls"],
            dt=self.dt,
            contact=self.contact,
            tolerance=self.tolerance if tolerance is None else tolerance,
            max_iterations=self.max_iterations,
            guess=guess,
        )
