# SPDX-License-Identifier: Apache-2.0
"""Rollouts as differentiable JAX functions, on the CPU.

    simulation = ff.Simulation(model, parameters, dt=0.02)
    q, v, poses = rollout(simulation, q0, v0, controls)        # inside jit and grad; vmap runs a batch on threads

Everything is computed in double precision; what comes out has the precision of what went in (``jax.config.update("jax_enable_x64", True)`` for
double). Gradients are those of the stored numbers: quaternions of any length are made unit first.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Literal

import numpy as np

import farfield as ff
from farfield.interop.rollouts import Engine, Inputs, NotConverged, Outputs
from farfield.optional import needs

with needs("jax"):
    import jax
    import jax.numpy as jnp

__all__ = ["NotConverged", "rollout", "soft_distance", "step"]


def rollout(
    simulation: ff.Simulation,
    q0: jax.Array,
    v0: jax.Array,
    controls: jax.Array,
    parameters: jax.Array | ff.Parameters | None = None,
    script: jax.Array | None = None,
    *,
    failed: Literal["raise", "nan"] = "raise",
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """States q, v and poses of a rollout of the simulation's model, contact and options.

    q0: (num_q,). v0: (num_dofs,). controls: (T, num_controls). parameters: the flat vector (num_parameters,); default: those of the simulation.
    script: coordinates of scripted bodies after each step, (T, 7 num_kinematic); they rest by default. A batch is ``jax.vmap`` of this.

    Returns q (T + 1, num_q), v (T + 1, num_dofs), poses (T + 1, num_bodies, 7), the first state included. The state of `simulation` itself
    is neither used nor moved. A step that does not converge raises NotConverged (as an error of JAX), or its state and all after it are NaN.
    """
    engine = Engine.of(simulation)
    if failed not in ("raise", "nan"):
        raise ValueError(f"rollout: failed '{failed}', expected 'raise' or 'nan'")
    if parameters is None or isinstance(parameters, ff.Parameters):
        parameters = (parameters or engine.parameters).flatten()
    q0, v0, controls, parameters = (jnp.asarray(each) for each in (q0, v0, controls, parameters))
    dtype = jnp.promote_types(jnp.promote_types(q0.dtype, controls.dtype), jnp.float32)
    model = engine.model
    _require("q0", q0, (model.num_q,))
    _require("v0", v0, (model.num_dofs,))
    _require("controls", controls, (None, model.num_controls))
    _require("parameters", parameters, (model.num_parameters,))
    steps = controls.shape[0]
    if script is None:
        places = [q0[place] for place in engine.coordinates.kinematic]
        script = jnp.broadcast_to(jnp.concatenate([*places, q0[:0]]), (steps, 7 * model.num_kinematic))
    script = jnp.asarray(script)
    _require("script", script, (steps, 7 * model.num_kinematic))
    return _rollout(engine, failed == "nan", *(each.astype(dtype) for each in (q0, v0, controls, parameters, script)))


def step(
    simulation: ff.Simulation,
    q: jax.Array,
    v: jax.Array,
    control: jax.Array,
    parameters: jax.Array | ff.Parameters | None = None,
    script: jax.Array | None = None,
    *,
    failed: Literal["raise", "nan"] = "raise",
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """q, v and poses after one step: what ``jax.lax.scan`` closes a loop with. control: (num_controls,); the rest is as in :func:`rollout`."""
    later = None if script is None else jnp.asarray(script)[None]
    out = rollout(simulation, q, v, jnp.asarray(control)[None], parameters, later, failed=failed)
    return tuple(part[1] for part in out)


def _require(name: str, given: jax.Array, shape: tuple[int | None, ...]) -> None:
    if given.ndim != len(shape) or any(want not in (None, have) for want, have in zip(shape, given.shape, strict=True)):
        text = ", ".join("T" if extent is None else str(extent) for extent in shape)
        raise ValueError(
            f"rollout: {name} of shape {given.shape}, expected ({text}{',' if len(shape) == 1 else ''}); a batch is jax.vmap of this"
        )


# ---- callbacks -----------------------------------------------------------------------------------------------------------------

CORE_RANKS = Inputs(q0=1, v0=1, controls=2, parameters=1, script=2)
OUT_RANKS = Outputs(q=2, v=2, poses=3)


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _rollout(engine: Engine, allow_failure: bool, *inputs: jax.Array) -> Outputs:
    shapes = engine.shapes(1, inputs[2].shape[0])
    result = [jax.ShapeDtypeStruct(shape[1:], inputs[0].dtype) for shape in shapes]

    def compute(*arrays: np.ndarray) -> list[np.ndarray]:
        lead, flat = _flatten(_refined(engine, arrays), CORE_RANKS)
        out, _ = engine.forward(Inputs(*flat), allow_failure=allow_failure)
        return [part.reshape(*lead, *part.shape[1:]).astype(arrays[0].dtype) for part in out]

    return tuple(jax.pure_callback(compute, result, *inputs, vmap_method="expand_dims"))


def _keep(engine: Engine, allow_failure: bool, *inputs: jax.Array):
    return _rollout(engine, allow_failure, *inputs), inputs


def _pull_back(engine: Engine, allow_failure: bool, inputs: tuple[jax.Array, ...], by: tuple[jax.Array, ...]):
    result = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in inputs]

    def compute(*arrays: np.ndarray) -> list[np.ndarray]:
        many, dtype = len(CORE_RANKS), arrays[0].dtype
        arrays = _refined(engine, arrays)
        lead, flat = _flatten(arrays[:many], CORE_RANKS)
        outer, by = _flatten(arrays[many:], OUT_RANKS)
        if len(flat[0]) == 1:  # one rollout, any number of losses
            gradients = [
                engine.backward(Inputs(*flat), Outputs(*(part[k : k + 1] for part in by))) for k in range(len(by[0]))
            ]
            gradient = [np.concatenate(parts) for parts in zip(*gradients, strict=True)]
        else:
            outer = np.broadcast_shapes(lead, outer)
            _, flat = _flatten(arrays, (*CORE_RANKS, *OUT_RANKS))
            gradient = engine.backward(Inputs(*flat[:many]), Outputs(*flat[many:]))
        return [part.reshape(*outer, *part.shape[1:]).astype(dtype) for part in gradient]

    return tuple(jax.pure_callback(compute, result, *inputs, *by, vmap_method="expand_dims"))


_rollout.defvjp(_keep, _pull_back)


def _refined(engine: Engine, arrays) -> list[np.ndarray]:
    arrays = [np.asarray(array) for array in arrays]
    arrays[3] = engine.refined(arrays[3])
    return arrays


def _flatten(arrays, ranks) -> tuple[tuple[int, ...], list[np.ndarray]]:
    """The extents that vmap put before those of the function, and all arrays with these as one; parameters stay one row where they are shared."""
    arrays = [np.asarray(array, dtype=float) for array in arrays]
    leads = [array.shape[: array.ndim - rank] for array, rank in zip(arrays, ranks, strict=True)]
    lead = np.broadcast_shapes(*leads)
    rows = math.prod(lead)
    flat = []
    for k, (array, mine, rank) in enumerate(zip(arrays, leads, ranks, strict=True)):
        tail = array.shape[array.ndim - rank :]
        shared = k == 3 and all(extent == 1 for extent in mine)
        flat.append(array.reshape(1, *tail) if shared else np.broadcast_to(array, (*lead, *tail)).reshape(rows, *tail))
    return lead, flat


# ---- soft distance -------------------------------------------------------------------------------------------------------------


def soft_distance(distance: ff.SoftDistance, points: jax.Array) -> jax.Array:
    """Soft signed distance [m] of points (..., 3) from a cloud, shape (...); twice differentiable by the points, in reverse mode."""
    points = jnp.asarray(points)
    if points.shape[-1:] != (3,):
        raise ValueError(f"soft_distance: points of shape {points.shape}, expected (..., 3)")
    return _soft_distance(distance, points)


def _per_point(function, tail: tuple[int, ...], points: jax.Array) -> jax.Array:
    def compute(array: np.ndarray) -> np.ndarray:
        flat = np.array(array, dtype=float).reshape(-1, 3)
        return function(flat).reshape(*array.shape[:-1], *tail).astype(array.dtype)

    result = jax.ShapeDtypeStruct((*points.shape[:-1], *tail), points.dtype)
    return jax.pure_callback(compute, result, points, vmap_method="expand_dims")


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _soft_distance(distance: ff.SoftDistance, points: jax.Array) -> jax.Array:
    return _per_point(distance, (), points)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _soft_normal(distance: ff.SoftDistance, points: jax.Array) -> jax.Array:
    return _per_point(distance.gradient, (3,), points)


def _curve(distance: ff.SoftDistance, points: jax.Array, by: jax.Array):
    hessian = _per_point(distance.hessian, (3, 3), points)
    return ((hessian @ by[..., None])[..., 0],)


_soft_distance.defvjp(
    lambda distance, points: (_soft_distance(distance, points), points),
    lambda distance, points, by: (by[..., None] * _soft_normal(distance, points),),
)
_soft_normal.defvjp(lambda distance, points: (_soft_normal(distance, points), points), _curve)
