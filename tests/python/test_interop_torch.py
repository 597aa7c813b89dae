# SPDX-License-Identifier: Apache-2.0
"""Rollouts in PyTorch: gradients against differences, operator rules, batches, precision, closed loops, failures."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
import torch

import farfield as ff
from farfield.interop import rollouts
from farfield.interop import torch as interop
from farfield.interop.torch import NotConverged, _rollout, _rollout_vjp, rollout, soft_distance, step
from interop_cases import STEPS, inputs, simulation

NAMES = ("ball chain", "pendulum", "scripted", "push", "t-push")


def tensors(sim: ff.Simulation, batch: int = 0, seed: int = 0) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(each).requires_grad_() for name, each in inputs(sim, batch, seed).items()}


def operator_inputs(sim: ff.Simulation, batch: int) -> tuple:
    given = tensors(sim, batch)
    script = given.get("script", torch.zeros(batch, STEPS, 0, dtype=torch.float64))
    parameters = torch.from_numpy(sim.parameters.flatten())[None].requires_grad_()
    return rollouts.Engine.of(sim).handle, given["q0"], given["v0"], given["controls"], parameters, script, False


@pytest.mark.parametrize("name", NAMES)
def test_gradcheck_of_a_rollout(name):
    sim = simulation(name)
    given = tensors(sim)
    names = [key for key in given if given[key].numel()]

    def run(*values):
        return rollout(sim, **{**given, **dict(zip(names, values, strict=True))})

    every_entry = name in ("pendulum", "scripted")  # of the others, seeded combinations of all
    torch.manual_seed(0)
    values = [given[key] for key in names]
    assert torch.autograd.gradcheck(run, values, eps=1e-5, atol=1e-5, rtol=1e-4, fast_mode=not every_entry)


@pytest.mark.parametrize("name", ["ball chain", "push"])
def test_gradient_by_parameters(name):
    """Along directions that keep bodies bodies: gravity, friction, all moments in one proportion."""
    sim = simulation(name)
    given = {key: each.detach() for key, each in tensors(sim).items()}
    flat = torch.from_numpy(sim.parameters.flatten())
    weights = [
        torch.from_numpy(np.random.default_rng(k).standard_normal(shape))
        for k, shape in enumerate(
            [(STEPS + 1, sim.model.num_q), (STEPS + 1, sim.model.num_dofs), (STEPS + 1, sim.model.num_bodies, 7)]
        )
    ]

    def loss(parameters):
        return sum(
            (w * part).sum() for w, part in zip(weights, rollout(sim, **given, parameters=parameters), strict=True)
        )

    wanted = [w for w in ("gravity", "moments", "friction") if w != "friction" or sim.model.contact_pairs]
    for words in wanted:
        mask = torch.from_numpy(np.isin(np.arange(len(flat)), ff.parameter_mask(sim.model, [words])))
        direction = torch.where(mask, flat if words != "gravity" else torch.ones(len(flat), dtype=torch.float64), 0.0)
        assert torch.autograd.gradcheck(lambda h, d=direction: loss(flat + h * d), [torch.zeros((), dtype=torch.float64, requires_grad=True)], eps=1e-5, atol=1e-6, rtol=1e-4)  # fmt: skip


@pytest.mark.parametrize("name", ["ball chain", "scripted"])
def test_operators_keep_the_rules(name):
    sim = simulation(name)
    torch.library.opcheck(_rollout, operator_inputs(sim, 2))
    handle, *arrays, _ = (each.detach() if torch.is_tensor(each) else each for each in operator_inputs(sim, 2))
    by = [torch.ones(shape, dtype=torch.float64) for shape in rollouts.Engine.at(handle).shapes(2, STEPS)]
    torch.library.opcheck(_rollout_vjp, (handle, *arrays, *by))


def test_it_is_what_the_core_computes():
    sim = simulation("push")
    given = inputs(sim)
    q, v, poses = rollout(sim, *(torch.from_numpy(given[key]) for key in ("q0", "v0", "controls")))
    start = ff.State(q=rollouts.Engine.of(sim).coordinates.unit(given["q0"]), v=given["v0"])
    core = ff.rollout(sim.model, sim.parameters, start, given["controls"], contact="longrange", options=sim.options)
    assert np.array_equal(q.numpy(), core.q)
    assert np.array_equal(v.numpy(), core.v)
    assert np.array_equal(poses.numpy(), core.poses())


def test_a_batch_is_its_rows():
    sim = simulation("scripted")
    given = tensors(sim, batch=3)
    many = rollout(sim, **given)
    sum(part.sin().sum() for part in many).backward()
    for row in range(3):
        own = {key: each.detach()[row].requires_grad_() for key, each in given.items()}
        one = rollout(sim, **own)
        assert all(torch.equal(a[row], b) for a, b in zip(many, one, strict=True))
        sum(part.sin().sum() for part in one).backward()
        assert all(torch.equal(given[key].grad[row], own[key].grad) for key in given)


def test_what_has_no_batch_is_shared():
    sim = simulation("push")
    given = tensors(sim, batch=3)
    shared = given["controls"].detach()[0].requires_grad_()
    parameters = torch.from_numpy(sim.parameters.flatten()).requires_grad_()
    parts = rollout(sim, given["q0"], given["v0"], shared, parameters)
    sum(part.sin().sum() for part in parts).backward()
    total, by_parameters = torch.zeros_like(shared), torch.zeros_like(parameters)
    for row in range(3):
        own, flat = shared.detach().requires_grad_(), parameters.detach().requires_grad_()
        sum(part.sin().sum() for part in rollout(sim, given["q0"][row], given["v0"][row], own, flat)).backward()
        total, by_parameters = total + own.grad, by_parameters + flat.grad
    assert torch.allclose(shared.grad, total, rtol=1e-12)
    assert torch.allclose(parameters.grad, by_parameters, rtol=1e-10)
    assert by_parameters.abs().max() > 0


def test_float32_goes_in_and_out():
    sim = simulation("push")
    given = {key: each.detach().float().requires_grad_() for key, each in tensors(sim).items()}
    given["parameters"] = torch.from_numpy(sim.parameters.flatten()).float().requires_grad_()
    parts = rollout(sim, **given)
    assert all(part.dtype == torch.float32 for part in parts)
    sum(part.sum() for part in parts).backward()
    assert all(each.grad.dtype == torch.float32 and each.grad.isfinite().all() for each in given.values())


def test_steps_in_a_loop_are_a_rollout():
    """To what a cold start of every step leaves of the tolerance."""
    sim = simulation("push")
    given = tensors(sim)
    q, v = given["q0"], given["v0"]
    for control in given["controls"]:
        q, v, poses = step(sim, q, v, control)
    whole = rollout(sim, **given)
    assert all(torch.allclose(a, b[-1], atol=1e-10) for a, b in zip((q, v, poses), whole, strict=True))
    stepped = torch.autograd.grad(q.sum() + v.sum() + poses.sum(), given["controls"])[0]
    rolled = torch.autograd.grad(sum(part[-1].sum() for part in whole), given["controls"])[0]
    assert stepped.abs().max() > 1e-3
    assert torch.allclose(stepped, rolled, rtol=1e-5, atol=1e-9)


def test_a_policy_learns_in_closed_loop():
    """A network holds a double pendulum's drive at an angle: its loss goes down, and its weights have gradients."""
    torch.manual_seed(0)
    sim = simulation("ball chain")
    policy = torch.nn.Sequential(
        torch.nn.Linear(sim.model.num_dofs, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2)
    ).double()
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.05)
    start = sim.model.default_state()
    angle = sim.model.joint_q("middle").start
    losses = []
    for _ in range(15):
        q = torch.from_numpy(np.array(start.q)).expand(4, -1)
        v = 0.1 * torch.arange(4, dtype=torch.float64)[:, None] * torch.ones(sim.model.num_dofs, dtype=torch.float64)
        for _ in range(8):
            q, v, _ = step(sim, q, v, policy(v))
        loss = (q[:, angle] - 0.3).square().mean()
        optimizer.zero_grad()
        loss.backward()
        assert all(weight.grad.abs().max() > 0 for weight in policy.parameters())
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.2 * losses[0]


def test_a_replayed_backward_computes_anew():
    """When the trajectories are gone, they are computed again, to the same bits."""
    sim = simulation("push")
    handle, *arrays, _ = operator_inputs(sim, 2)
    arrays = [each.detach() for each in arrays]
    by = [torch.ones(shape, dtype=torch.float64) for shape in rollouts.Engine.at(handle).shapes(2, STEPS)]
    _rollout(handle, *arrays, False)
    kept = _rollout_vjp(handle, *arrays, *by)
    engine = rollouts.Engine.at(handle)
    rollouts.Engine._recent.clear()
    interop._made.tape = None
    gc.collect()
    assert not len(engine._tapes)
    assert all(torch.equal(a, b) for a, b in zip(kept, _rollout_vjp(handle, *arrays, *by), strict=True))


def test_trajectories_live_as_long_as_the_graph(monkeypatch):
    monkeypatch.setattr(rollouts, "KEPT_BYTES", 0)
    sim = simulation("pendulum")
    parts = rollout(sim, **tensors(sim))
    engine = rollouts.Engine.of(sim)
    rollout(sim, **tensors(sim, seed=1))
    gc.collect()
    assert len(engine._tapes) >= 1
    monkeypatch.setattr(engine, "_roll", lambda inputs: pytest.fail("rolled out again"))
    parts[0].sum().backward()


def test_few_simulations_are_kept():
    first = simulation("pendulum")
    sims = [ff.Simulation(first.model) for _ in range(3)]
    engines = [weakref.ref(rollouts.Engine.of(sim)) for sim in sims]
    assert rollouts.Engine.of(sims[0]) is engines[0]()
    others = [ff.Simulation(first.model) for _ in range(rollouts.KEPT_ENGINES)]
    parts = rollout(sims[1], **tensors(sims[1]))
    for sim in others[:-1]:
        rollouts.Engine.of(sim)
    assert rollouts.Engine.of(sims[1]) is engines[1]()
    rollouts.Engine.of(others[-1])
    rollouts.Engine.of(first)
    gc.collect()
    assert engines[0]() is None
    parts[0].sum().backward()


def failing() -> tuple[ff.Simulation, dict[str, torch.Tensor]]:
    """Two rollouts of a scripted paddle, the second of which drives it into the ground below a box."""
    sim = simulation("scripted")
    given = {key: each.detach() for key, each in tensors(sim, batch=2).items()}
    given["script"][:] = given["q0"][:, None, sim.model.joint_q(sim.model.joint_names[-1])]
    given["script"][1, 1:, 2] = -1.0
    return sim, given


def test_a_step_that_does_not_arrive():
    sim, given = failing()
    with pytest.raises(NotConverged, match="rollout 1 of 2 stopped in step 1: "):
        rollout(sim, **given)
    given["controls"].requires_grad_()
    given["q0"].requires_grad_()
    q, v, poses = rollout(sim, **given, failed="nan")
    for part in (q, v, poses):
        assert part[0].isfinite().all()
        assert part[1, :2].isfinite().all()
        assert part[1, 2:].isnan().all()
    torch.where(q.isnan(), 0.0, q).square().sum().backward()
    assert given["q0"].grad.isfinite().all()


def test_mistakes_are_named():
    sim = simulation("push")
    given = {key: each.detach() for key, each in tensors(sim).items()}
    with pytest.raises(ValueError, match=r"controls of shape \(2,\), expected \(T, 6\) or \(B, T, 6\)"):
        rollout(sim, given["q0"], given["v0"], given["controls"][:, 0])
    with pytest.raises(ValueError, match=r"q0 of shape \(3,\), expected \(13,\)"):
        rollout(sim, given["q0"][:3], given["v0"], given["controls"])
    with pytest.raises(ValueError, match="v0 has a batch of 2, others of 3"):
        rollout(sim, given["q0"].expand(3, -1), given["v0"].expand(2, -1), given["controls"])
    with pytest.raises(TypeError, match=r"got Model, expected a farfield\.Simulation"):
        rollout(sim.model, given["q0"], given["v0"], given["controls"])
    with pytest.raises(TypeError, match="got the class Simulation"):
        rollout(ff.Simulation, given["q0"], given["v0"], given["controls"])
    with pytest.raises(ValueError, match="quaternion of length 0"):
        rollout(sim, torch.zeros_like(given["q0"]), given["v0"], given["controls"])


def test_soft_distance():
    cloud = ff.PointCloud.sphere(0.1, 200)
    distance = ff.SoftDistance(cloud)
    points = torch.from_numpy(np.random.default_rng(3).uniform(-0.2, 0.2, (2, 3, 3))).requires_grad_()
    value = soft_distance(distance, points)
    assert value.shape == (2, 3)
    assert np.array_equal(value.detach().numpy().ravel(), distance(points.detach().numpy().reshape(-1, 3)))
    assert torch.autograd.gradcheck(lambda p: soft_distance(distance, p), [points], eps=1e-6)
    assert torch.autograd.gradgradcheck(lambda p: soft_distance(distance, p), [points], eps=1e-6)
    assert soft_distance(distance, points.float()).dtype == torch.float32
