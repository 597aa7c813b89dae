# SPDX-License-Identifier: Apache-2.0
"""The soft-minimum law as the measurements of `farfield.properties` ask for it.

There is no energy to ask for: it is the work against the force on the straight way out of contact. Second derivatives are minus the
Jacobian of the wrench, exact.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

import farfield as ff

AWAY, PLACES = 0.3, 40  # the way out [m], and where the force is asked for on it


class SoftminContact:
    """Clouds of the shapes of whatever model it is asked about."""

    def __init__(self, contact: ff.Softmin | None = None) -> None:
        self._contact = contact or ff.Softmin(
            newtons_per_metre=1e4, separation_temperature=5e-3, force_temperature=5e-3
        )

    def evaluate(self, model: ff.Model, parameters: ff.Parameters, q: np.ndarray) -> SimpleNamespace:
        """energy, wrench and blocks, in the signs of an energy."""
        found = self._contact.forces(model, parameters, q)
        wrench = -np.hstack([found.force, found.torque])
        blocks = [SimpleNamespace(hessian=-np.asarray(block.by_pose)) for block in found.blocks]
        return SimpleNamespace(energy=self._work(model, parameters, q, found.force[-1]), wrench=wrench, blocks=blocks)

    def _work(self, model: ff.Model, parameters: ff.Parameters, q: np.ndarray, force: np.ndarray) -> float:
        size = np.linalg.norm(force)
        if not size > 0.0:
            return 0.0
        ways, moved, along = np.linspace(0.0, AWAY, PLACES), np.array(q), force / size
        powers = []
        for way in ways:
            moved[-7:-4] = np.asarray(q)[-7:-4] + way * along
            powers.append(self._contact.forces(model, parameters, moved).force[-1] @ along)
        return float(np.trapezoid(powers, ways))
