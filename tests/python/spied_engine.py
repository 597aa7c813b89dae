# SPDX-License-Identifier: Apache-2.0
"""The engine behind the command line, watched, and made to fail on request."""

from types import SimpleNamespace

import farfield

ROLLOUT, ROLLOUT_VJP = farfield.rollout, farfield.rollout_vjp


class Engine:
    """Counts rollouts; from the rollout `fails_at` on they do not converge; gradients are off by the factor `gradient_scale`."""

    def __init__(self):
        self.fails_at = None
        self.gradient_scale = 1.0
        self.rollouts = []

    def rollout(self, *arguments, **options):
        if self.fails_at is not None and len(self.rollouts) >= self.fails_at:
            options |= {"max_iterations": 1, "tolerance": 1e-300}
        trajectory = ROLLOUT(*arguments, **options)
        self.rollouts.append(trajectory.num_steps)
        return trajectory

    def rollout_vjp(self, trajectory, **options):
        gradient = ROLLOUT_VJP(trajectory, **options)
        return SimpleNamespace(v0=self.gradient_scale * gradient.v0, controls=self.gradient_scale * gradient.controls)
