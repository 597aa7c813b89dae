# SPDX-License-Identifier: Apache-2.0
"""Is the pullback of a parameterisation the transpose of its decode? Checked by differences, one part of the inputs at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from farfield._core import Model, Parameters, State, difference
from farfield.coordinates import Coordinates
from farfield.differences import Difference, slope

TOLERANCE, NOISE_FACTOR = 1e-6, 10.0


@dataclass
class UnknownsCase:
    """The gradient by the unknowns of a linear function of one part of a rollout's inputs."""

    part: str  #: controls, state, script or parameters
    analytic: float
    numeric: Difference
    ok: bool

    def __str__(self) -> str:
        return (
            f"pullback of {self.part}: it says {self.analytic:.6g}, differences of decode say {self.numeric.value:.6g}"
        )


def unknowns_cases(
    model: Model, parameterization: Any, x: np.ndarray, parameters: Parameters, state: State, *, seed: int = 0
) -> Iterator[UnknownsCase]:
    """A case for each part that the parameterisation says it moves, at x, along a random direction."""
    random = np.random.default_rng(seed)
    first = parameterization.decode(x)
    direction = random.standard_normal(np.shape(x))
    zero = SimpleNamespace(
        controls=np.zeros(np.shape(first.controls)),
        q0=np.zeros(model.num_dofs),
        v0=np.zeros(model.num_dofs),
        script=None if first.script is None else np.zeros((len(first.script), 6 * model.num_kinematic)),
        parameters=parameters * 0.0,
    )
    for part in sorted(parameterization.moves):
        weights, measure = _functional(model, part, first, zero, state, parameters, random)
        analytic = float((parameterization.pullback(x, weights) * direction).sum())
        numeric = slope(lambda h, measure=measure: measure(parameterization.decode(x + h * direction)))
        error, size = abs(numeric.value - analytic), max(abs(numeric.value), abs(analytic))
        ok = bool(error <= TOLERANCE * size or error <= NOISE_FACTOR * numeric.noise)
        yield UnknownsCase(part, analytic, numeric, ok)


def _functional(model, part, first, zero, state, parameters, random) -> tuple[SimpleNamespace, Any]:
    """Random weights of one part as the gradient of a loss, and that loss."""
    weights = SimpleNamespace(**vars(zero))
    if part == "controls":
        weights.controls = by = random.standard_normal(zero.controls.shape)
        return weights, lambda inputs: float((by * inputs.controls).sum())
    if part == "state":
        weights.q0, weights.v0 = by_q, by_v = random.standard_normal((2, model.num_dofs))
        start = np.array((first.state or state).q)
        return weights, lambda inputs: float(by_q @ difference(model, start, inputs.state.q) + by_v @ inputs.state.v)
    if part == "parameters":
        flat = random.standard_normal(model.num_parameters)
        weights.parameters = Parameters.from_flat(model, flat)
        return weights, lambda inputs: float(flat @ inputs.parameters.flatten())
    weights.script = by = random.standard_normal(zero.script.shape)
    return weights, lambda inputs: float((by * _script_moves(model, first.script, inputs.script)).sum())


def _script_moves(model: Model, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Tangent vectors from one script to another, shape (steps, 6 num_kinematic)."""
    places = Coordinates(model)
    q = np.array(model.default_state().q)
    q_places = np.concatenate([np.arange(place.start, place.stop) for place in places.kinematic])
    dofs = np.concatenate([np.arange(place.start, place.stop) for place in places.kinematic_dofs])
    rows = []
    for before, after in zip(start, end, strict=True):
        a, b = q.copy(), q.copy()
        a[q_places], b[q_places] = before, after
        rows.append(np.asarray(difference(model, a, b))[dofs])
    return np.array(rows)
