# SPDX-License-Identifier: Apache-2.0
"""What a rollout depends on besides its model, contact and time step, and the gradient of a loss by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import farfield as ff

PARTS = frozenset(("state", "controls", "script", "parameters"))


@dataclass(frozen=True)
class RolloutInput:
    """The inputs of one rollout. What is None is left to the objective: its state, its parameters; scripted bodies then rest.

    controls: shape (steps, num_controls). script: coordinates of scripted bodies after each step, shape (steps, 7 num_kinematic).
    """

    controls: np.ndarray | None = None
    state: ff.State | None = None
    script: np.ndarray | None = None
    parameters: ff.Parameters | None = None

    def over(self, other: RolloutInput) -> RolloutInput:
        """This input, and where it says nothing the other one."""
        mine, theirs = vars(self), vars(other)
        return RolloutInput(**{part: theirs[part] if mine[part] is None else mine[part] for part in mine})


@dataclass
class InputGradient:
    """Gradient of a loss by the parts of a `RolloutInput`, as `farfield.RolloutGradient` has it.

    controls: (steps, num_controls); tangent q0 and v0: (num_dofs,); script: tangent, (steps, 6 num_kinematic); parameters: their layout.
    None where an engine has no derivative.
    """

    controls: np.ndarray
    q0: np.ndarray
    v0: np.ndarray
    script: np.ndarray | None = None
    parameters: ff.Parameters | None = None

    @staticmethod
    def mean(gradients: Sequence[ff.RolloutGradient]) -> InputGradient:
        """The average of at least one, by all parts."""
        parameters = np.mean([each.parameters.flatten() for each in gradients], axis=0)
        return InputGradient(
            controls=np.mean([each.controls for each in gradients], axis=0),
            q0=np.mean([each.q0 for each in gradients], axis=0),
            v0=np.mean([each.v0 for each in gradients], axis=0),
            script=np.mean([each.script for each in gradients], axis=0),
            parameters=gradients[0].parameters.unflatten(parameters),
        )
