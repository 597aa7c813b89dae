# SPDX-License-Identifier: Apache-2.0
"""Rollouts as differentiable PyTorch functions, on the CPU.

    simulation = ff.Simulation(model, parameters, dt=0.02)
    q, v, poses = rollout(simulation, q0, v0, controls)        # one, or a batch on threads
    poses[..., -1, body, :3].square().sum().backward()         # any function of the three is a loss

Everything is computed in double precision; float32 goes in and out. Gradients are those of the stored numbers: quaternions of any length are made
unit first, so plain gradient steps on q0 are allowed.
"""

from __future__ import annotations

import threading
from typing import Literal

import farfield as ff
from farfield.interop.rollouts import Engine, Inputs, NotConverged, Outputs
from farfield.optional import needs

with needs("torch"):
    import torch
    from torch import Tensor

__all__ = ["NotConverged", "rollout", "soft_distance", "step"]


def rollout(
    simulation: ff.Simulation,
    q0: Tensor,
    v0: Tensor,
    controls: Tensor,
    parameters: Tensor | ff.Parameters | None = None,
    script: Tensor | None = None,
    *,
    failed: Literal["raise", "nan"] = "raise",
) -> tuple[Tensor, Tensor, Tensor]:
    """States q, v and poses of a rollout of the simulation's model, contact and options, or of a batch of them on threads.

    q0: (num_q,) or (B, num_q). v0: (num_dofs,) or (B, num_dofs). controls: (T, num_controls) or (B, T, num_controls). parameters: the flat vector
    (num_parameters,) or (B, num_parameters); default: those of the simulation. script: coordinates of scripted bodies after each step,
    (T, 7 num_kinematic) or (B, T, ...); they rest by default. What has no batch extent is shared by all.

    Returns q (..., T + 1, num_q), v (..., T + 1, num_dofs), poses (..., T + 1, num_bodies, 7), the first state included. The state of
    `simulation` itself is neither used nor moved. A step that does not converge raises NotConverged, or its state and all after it are NaN.
    """
    engine = Engine.of(simulation)
    model, dtype = engine.model, torch.promote_types(q0.dtype, controls.dtype)
    if failed not in ("raise", "nan"):
        raise ValueError(f"rollout: failed '{failed}', expected 'raise' or 'nan'")
    parts = {
        "q0": (q0, (model.num_q,)),
        "v0": (v0, (model.num_dofs,)),
        "controls": (controls, (None, model.num_controls)),
        "parameters": (_flat(engine, parameters), (model.num_parameters,)),
    }
    steps = controls.shape[-2] if controls.ndim > 1 else 1
    if script is not None:
        parts["script"] = (script, (steps, 7 * model.num_kinematic))
    rows = {name: _rows(name, given, tail) for name, (given, tail) in parts.items()}
    batch = max(len(array) for array, _ in rows.values())
    for name, (array, _) in rows.items():
        if len(array) not in (1, batch):
            raise ValueError(f"rollout: {name} has a batch of {len(array)}, others of {batch}")
    spread = {
        name: array if name == "parameters" else array.expand(batch, *array.shape[1:])
        for name, (array, _) in rows.items()
    }
    if script is None:
        spread["script"] = _resting(engine, spread["q0"], steps)
    out = _rollout(engine.handle, *(spread[name] for name in Inputs._fields), failed == "nan")
    single = not any(batched for _, batched in rows.values())
    return tuple((part[0] if single else part).to(dtype) for part in out)


def step(
    simulation: ff.Simulation,
    q: Tensor,
    v: Tensor,
    control: Tensor,
    parameters: Tensor | ff.Parameters | None = None,
    script: Tensor | None = None,
    *,
    failed: Literal["raise", "nan"] = "raise",
) -> tuple[Tensor, Tensor, Tensor]:
    """q, v and poses after one step, from a state or a batch of them: what a policy in closed loop is made of.

    control: (num_controls,) or (B, num_controls). The rest is as in :func:`rollout`.
    """
    later = None if script is None else script.unsqueeze(-2)
    out = rollout(simulation, q, v, control.unsqueeze(-2), parameters, later, failed=failed)
    ahead = (-2, -2, -3)
    return tuple(part.select(place, 1) for part, place in zip(out, ahead, strict=True))


def _flat(engine: Engine, parameters: Tensor | ff.Parameters | None) -> Tensor:
    if isinstance(parameters, Tensor):
        own = torch.from_numpy(engine.parameters.flatten())
        rounded = own.to(parameters.dtype)
        if parameters.shape[-1:] != own.shape or parameters.dtype == own.dtype:
            return parameters
        # As Engine.refined, with the gradient of a sum.
        return parameters.double() + torch.where(parameters.detach() == rounded, own - rounded.double(), 0.0)
    if parameters is not None and not isinstance(parameters, ff.Parameters):
        raise TypeError(
            f"rollout: parameters: got {type(parameters).__name__}, expected a tensor of {engine.model.num_parameters} numbers, farfield.Parameters or None"
        )
    return torch.from_numpy((engine.parameters if parameters is None else parameters).flatten())


def _rows(name: str, given: Tensor, tail: tuple[int | None, ...]) -> tuple[Tensor, bool]:
    """In double precision with a batch extent, and whether there was one."""
    fits = given.ndim in (len(tail), len(tail) + 1) and all(
        want in (None, have) for want, have in zip(tail[::-1], tuple(given.shape)[::-1], strict=False)
    )
    if not fits:
        shape = ", ".join("T" if extent is None else str(extent) for extent in tail)
        raise ValueError(
            f"rollout: {name} of shape {tuple(given.shape)}, expected ({shape}{',' if len(tail) == 1 else ''}) or (B, {shape})"
        )
    if given.device.type != "cpu":
        raise ValueError(f"rollout: {name} on device '{given.device}', expected 'cpu'")
    batched = given.ndim > len(tail)
    return (given if batched else given.unsqueeze(0)).to(torch.float64), batched


def _resting(engine: Engine, q0: Tensor, steps: int) -> Tensor:
    places = engine.coordinates.kinematic
    columns = torch.cat([q0[:, place] for place in places], -1) if places else q0[:, :0]
    return columns.unsqueeze(1).expand(-1, steps, -1)


# ---- the operators -------------------------------------------------------------------------------------------------------------


_made = threading.local()  # tape: of the rollout that this thread has just made


def _inputs(*arrays: Tensor) -> Inputs:
    return Inputs(*(array.detach().numpy() for array in arrays))


@torch.library.custom_op("farfield::rollout", mutates_args=())
def _rollout(
    handle: int, q0: Tensor, v0: Tensor, controls: Tensor, parameters: Tensor, script: Tensor, allow_failure: bool
) -> tuple[Tensor, Tensor, Tensor]:
    inputs = _inputs(q0, v0, controls, parameters, script)
    out, _made.tape = Engine.at(handle).forward(inputs, allow_failure=allow_failure)
    return tuple(torch.from_numpy(part) for part in out)


@_rollout.register_fake
def _(handle, q0, v0, controls, parameters, script, allow_failure):
    return tuple(q0.new_empty(shape) for shape in Engine.at(handle).shapes(controls.shape[0], controls.shape[1]))


@torch.library.custom_op("farfield::rollout_vjp", mutates_args=())
def _rollout_vjp(
    handle: int,
    q0: Tensor,
    v0: Tensor,
    controls: Tensor,
    parameters: Tensor,
    script: Tensor,
    by_q: Tensor,
    by_v: Tensor,
    by_poses: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    by = Outputs(*(part.detach().numpy() for part in (by_q, by_v, by_poses)))
    gradient = Engine.at(handle).backward(_inputs(q0, v0, controls, parameters, script), by)
    if len(parameters) == 1:
        gradient = gradient._replace(parameters=gradient.parameters.sum(0, keepdims=True))
    return tuple(torch.from_numpy(part) for part in gradient)


@_rollout_vjp.register_fake
def _(handle, q0, v0, controls, parameters, script, by_q, by_v, by_poses):
    return tuple(part.new_empty(part.shape) for part in (q0, v0, controls, parameters, script))


def _remember(ctx, inputs, output) -> None:
    handle, *arrays, _ = inputs
    ctx.handle, ctx.engine = handle, Engine.at(handle)
    ctx.save_for_backward(*arrays)
    ctx.tape = getattr(_made, "tape", None)  # lives as long as the graph
    _made.tape = None


def _pull_back(ctx, *by: Tensor):
    return None, *_rollout_vjp(ctx.handle, *ctx.saved_tensors, *by), None


_rollout.register_autograd(_pull_back, setup_context=_remember)


# ---- soft distance -------------------------------------------------------------------------------------------------------------


class _SoftDistance(torch.autograd.Function):
    """Distance with its gradient, which is differentiable once more through the Hessian."""

    @staticmethod
    def forward(ctx, points: Tensor, distance: ff.SoftDistance) -> Tensor:
        ctx.distance = distance
        ctx.save_for_backward(points)
        return torch.from_numpy(distance(points.detach().numpy()))

    @staticmethod
    def backward(ctx, by: Tensor):
        (points,) = ctx.saved_tensors
        return by.unsqueeze(-1) * _SoftNormal.apply(points, ctx.distance), None


class _SoftNormal(torch.autograd.Function):
    @staticmethod
    def forward(ctx, points: Tensor, distance: ff.SoftDistance) -> Tensor:
        ctx.distance = distance
        ctx.save_for_backward(points)
        return torch.from_numpy(distance.gradient(points.detach().numpy()))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, by: Tensor):
        (points,) = ctx.saved_tensors
        hessian = torch.from_numpy(ctx.distance.hessian(points.detach().numpy())).reshape(-1, 3, 3)
        return (hessian @ by.unsqueeze(-1)).squeeze(-1), None


def soft_distance(distance: ff.SoftDistance, points: Tensor) -> Tensor:
    """Soft signed distance [m] of points (..., 3) from a cloud, shape (...); twice differentiable by the points."""
    if points.shape[-1:] != (3,):
        raise ValueError(f"soft_distance: points of shape {tuple(points.shape)}, expected (..., 3)")
    flat = points.to(torch.float64).reshape(-1, 3).contiguous()
    return _SoftDistance.apply(flat, distance).reshape(points.shape[:-1]).to(points.dtype)
