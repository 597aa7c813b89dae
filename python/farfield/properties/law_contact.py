# SPDX-License-Identifier: Apache-2.0
"""A force law asked like an energy: bodies at rest, the work against its force in place of the energy."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

import farfield as ff

PLACES = 24  # of the integral for the work
REACH = 1.0  # no force is worth mentioning when bodies are moved this far apart [m]


class LawContact:
    """Answers like a ContactModel. Derivatives are the law's own, of the wrench by motions of both bodies."""

    def __init__(self, law: ff.Softmin) -> None:
        self.law = law

    def evaluate(self, model: ff.Model, parameters: ff.Parameters, q: np.ndarray) -> SimpleNamespace:
        q = np.asarray(q, dtype=float)
        at = self.law.forces(model, parameters, q)
        wrench = -np.hstack([np.asarray(at.force), np.asarray(at.torque)])
        block = SimpleNamespace(hessian=-np.asarray(at.blocks[0].by_pose))
        return SimpleNamespace(wrench=wrench, blocks=[block], energy=self._work(model, parameters, q, wrench))

    def _work(self, model: ff.Model, parameters: ff.Parameters, q: np.ndarray, wrench: np.ndarray) -> float:
        """Against the force on the last body, on the straight way out along it [J]."""
        force = -wrench[-1, :3]
        size = float(np.linalg.norm(force))
        if size == 0.0:
            return 0.0
        ways = np.concatenate([[0.0], np.geomspace(1e-6, REACH, PLACES)])
        last, along = len(q) - 7, force / size
        values = []
        for way in ways:
            there = q.copy()
            there[last : last + 3] += way * along
            values.append(np.asarray(self.law.forces(model, parameters, there).force)[-1] @ along)
        return float(np.trapezoid(values, ways))
