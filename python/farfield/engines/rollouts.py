# SPDX-License-Identifier: Apache-2.0
"""Our rollouts and their vector-Jacobian products for many inputs at once: the one place that calls the core for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import farfield as ff
from farfield.optimize.losses import Partials
from farfield.optimize.rollout_input import InputGradient, RolloutInput


def roll_one(model: ff.Model, given: RolloutInput, *, guess: np.ndarray | None = None, **options: Any) -> ff.Trajectory:
    """One rollout; options are those of `farfield.rollout`."""
    return ff.rollout(model, given.parameters, given.state, given.controls, script=given.script, guess=guess, **options)


def roll_batch(
    model: ff.Model,
    given: Sequence[RolloutInput],
    *,
    guesses: list[np.ndarray] | None = None,
    threads: int | None = None,
    **options: Any,
) -> list[ff.Trajectory]:
    """Independent rollouts on threads."""
    parameters = [each.parameters for each in given]
    shared = all(each is parameters[0] for each in parameters)
    return ff.rollout_batch(
        model,
        parameters[:1] if shared else parameters,
        [each.state for each in given],
        [each.controls for each in given],
        scripts=[each.script for each in given],
        threads=threads,
        guesses=guesses,
        **options,
    )


def vjp_batch(
    trajectories: Sequence[ff.Trajectory], partials: Sequence[Partials], *, threads: int | None = None
) -> list[ff.RolloutGradient | InputGradient]:
    """The gradient of a loss with these partials by the inputs of every rollout; those of parameters are added where there are any."""
    if not trajectories:
        return []
    by = _partials(trajectories, partials)
    gradients = ff.rollout_vjp_batch(list(trajectories), threads=threads, **by)
    return [_with_parameters(*each) for each in zip(gradients, partials, strict=True)]


def vjp_rows(
    trajectory: ff.Trajectory, partials: Sequence[Partials], *, threads: int | None = None
) -> list[ff.RolloutGradient | InputGradient]:
    """The gradients of several losses of one trajectory, which linearises and factors each of its steps once for all."""
    if not partials:
        return []
    by = {name: np.stack(rows) for name, rows in _partials([trajectory] * len(partials), partials).items()}
    gradients = ff.rollout_vjp(trajectory, threads=threads or 1, **by)
    return [_with_parameters(*each) for each in zip(gradients, partials, strict=True)]


def _partials(trajectories: Sequence[ff.Trajectory], partials: Sequence[Partials]) -> dict[str, list[np.ndarray]]:
    model, steps = trajectories[0].model, [trajectory.num_steps for trajectory in trajectories]
    by = {
        "dL_dpose": _rows([each.by_pose for each in partials], steps, (model.num_bodies, 6)),
        "dL_dq": _rows([each.by_q for each in partials], steps, (model.num_dofs,)),
        "dL_dv": _rows([each.by_v for each in partials], steps, (model.num_dofs,)),
    }
    given = {name: rows for name, rows in by.items() if rows is not None}
    # a loss of parameters alone has no others
    return given or {"dL_dq": [np.zeros((count + 1, model.num_dofs)) for count in steps]}


def _rows(parts: list[np.ndarray | None], steps: list[int], shape: tuple[int, ...]) -> list[np.ndarray] | None:
    """One array per trajectory, zero for a loss without this partial; None when no loss has it."""
    if all(part is None for part in parts):
        return None
    return [np.zeros((count + 1, *shape)) if part is None else part for part, count in zip(parts, steps, strict=True)]


def _with_parameters(gradient: ff.RolloutGradient, partials: Partials) -> ff.RolloutGradient | InputGradient:
    if not partials.by_parameters:
        return gradient
    parameters = gradient.parameters.copy()
    for field, by_field in partials.by_parameters.items():
        setattr(parameters, field, getattr(parameters, field) + by_field)
    return InputGradient(gradient.controls, gradient.q0, gradient.v0, gradient.script, parameters)
