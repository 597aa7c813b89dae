# SPDX-License-Identifier: Apache-2.0
"""A loss as a function of the numbers an optimiser moves: what drivers ask of whoever computes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

import farfield as ff
from farfield.optimize.losses import Loss
from farfield.optimize.parameterizations import Parameterization
from farfield.optimize.rollout_input import RolloutInput


@dataclass(frozen=True)
class Capabilities:
    """What an engine can do besides a rollout; the defaults are those of a simulator that has nothing more to offer."""

    own_contact: str | None = None  #: name of the contact model that it brings; None: it needs one of ours
    certifies: bool = False  #: its rollouts prove that nothing intersects
    deterministic: bool = True  #: the same point has the same gradient every time
    gradients: bool = False  #: it has a vector-Jacobian product; without, gradients are differences of rollouts
    jacobian: bool = False  #: it differentiates the residuals of a loss, as Gauss-Newton needs
    parts: bool = False  #: it plans in a part of its scene as well
    spreads: bool = False  #: other processes can compute parts of its batches
    inputs: frozenset[str] = frozenset(
        ("controls", "state")
    )  #: parts of a `RolloutInput` that it takes and differentiates by


@dataclass
class Evaluation:
    """A loss at one point. An unconverged rollout has value inf and no gradient."""

    x: np.ndarray
    value: float
    gradient: np.ndarray | None
    trajectory: ff.Trajectory


class Objective(Protocol):
    """loss(rollout(parameterization.decode(x))) and its gradient; implemented in `farfield.engines`.

    ``state`` and ``parameters``: of rollouts, unless the unknowns say otherwise; drivers move the state. ``guess``: warm start of single rollouts, velocities
    after each step of a similar motion, shape (steps, num_dofs), or None. ``rollouts`` and ``gradients`` count what was computed.
    """

    capabilities: Capabilities
    model: ff.Model
    parameters: ff.Parameters
    parameterization: Parameterization
    loss: Loss
    state: ff.State
    dt: float
    guess: np.ndarray | None
    rollouts: int
    gradients: int

    def simulate(self, points: Sequence[np.ndarray]) -> list[ff.Trajectory]:
        """One rollout per point."""

    def roll(self, inputs: RolloutInput, *, tolerance: float | None = None) -> ff.Trajectory:
        """One rollout of decoded inputs."""

    def evaluate(self, points: Sequence[np.ndarray]) -> list[Evaluation]:
        """Value, gradient and trajectory of every point. Where the loss is 0 so is the gradient, at no cost."""

    def contact_description(self) -> str:
        """What its rollouts say of their contact, as `farfield.Trajectory.contact` has it."""

    def jacobian(self, x: np.ndarray, trajectory: ff.Trajectory) -> np.ndarray:
        """dr/dx of the loss's residuals at a trajectory of x, shape (residuals, x.size); only with ``capabilities.jacobian``."""

    def part(self, model: ff.Model, parameters: ff.Parameters, loss: Loss, *, max_iterations: int) -> Objective:
        """The same unknowns in a part of the scene; only with ``capabilities.parts``."""
