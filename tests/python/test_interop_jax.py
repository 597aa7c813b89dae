# SPDX-License-Identifier: Apache-2.0
"""Rollouts in JAX: gradients against differences, jit, vmap, scan, precision, failures. In a process of its own, as JAX keeps its precision for good."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import jax.test_util
import numpy as np
import pytest

import farfield as ff
from farfield.interop import rollouts
from farfield.interop.jax import rollout, soft_distance, step
from interop_cases import STEPS, inputs, simulation

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")


def arrays(sim: ff.Simulation, batch: int = 0) -> dict[str, jax.Array]:
    return {name: jnp.asarray(each) for name, each in inputs(sim, batch).items()}


def total(parts) -> jax.Array:
    return sum(jnp.sin(part).sum() for part in parts)


@pytest.mark.parametrize("name", ["ball chain", "pendulum", "scripted", "push", "t-push"])
def test_gradients(name):
    sim = simulation(name)
    given = arrays(sim)
    names = [key for key in given if given[key].size]

    def run(*values):
        return rollout(sim, **{**given, **dict(zip(names, values, strict=True))})

    jax.test_util.check_grads(
        run, [given[key] for key in names], order=1, modes=["rev"], eps=1e-5, atol=1e-5, rtol=1e-4
    )


def test_jit_gives_the_same():
    sim = simulation("push")
    given = arrays(sim)
    loss = lambda given: total(rollout(sim, **given))  # noqa: E731
    value, gradient = jax.value_and_grad(loss)(given)
    fast, fast_gradient = jax.jit(jax.value_and_grad(loss))(given)
    assert value == fast
    assert all(np.array_equal(gradient[key], fast_gradient[key]) for key in given)


def test_vmap_is_a_batch(monkeypatch):
    sim = simulation("scripted")
    given = arrays(sim, batch=3)
    sizes = []
    core = ff.rollout_batch
    monkeypatch.setattr(ff, "rollout_batch", lambda *a, **k: sizes.append(len(a[2])) or core(*a, **k))
    loss = lambda given: total(rollout(sim, **given))  # noqa: E731
    values, gradients = jax.vmap(jax.value_and_grad(loss))(given)
    assert sizes == [3]  # one batch forward, none again backward
    for row in range(3):
        own, gradient = jax.value_and_grad(loss)({key: each[row] for key, each in given.items()})
        assert own == values[row]
        assert all(np.array_equal(gradient[key], gradients[key][row]) for key in given)


def test_what_vmap_does_not_map_is_shared():
    sim = simulation("push")
    given = arrays(sim, batch=3)
    flat = jnp.asarray(sim.parameters.flatten())
    loss = lambda q0, v0, controls, flat: total(rollout(sim, q0, v0, controls, flat))  # noqa: E731
    many = jax.vmap(loss, in_axes=(0, 0, None, None))
    args = given["q0"], given["v0"], given["controls"][0], flat
    by_controls, by_parameters = jax.grad(lambda *a: many(*a).sum(), argnums=(2, 3))(*args)
    rows = [jax.grad(loss, argnums=(2, 3))(q0, v0, args[2], flat) for q0, v0 in zip(*args[:2], strict=True)]
    assert np.allclose(by_controls, sum(row[0] for row in rows), rtol=1e-12)
    assert np.allclose(by_parameters, sum(row[1] for row in rows), rtol=1e-10)
    assert np.abs(by_parameters).max() > 0


def test_nested_vmap_and_jacobian():
    sim = simulation("pendulum")
    given = arrays(sim, batch=4)
    folded = {key: each.reshape(2, 2, *each.shape[1:]) for key, each in given.items()}
    end = lambda given: rollout(sim, **given)[0][-1]  # noqa: E731
    assert np.array_equal(jax.vmap(jax.vmap(end))(folded).reshape(4, -1), jax.vmap(end)(given))
    one = {key: each[0] for key, each in given.items()}
    jacobian = jax.jacrev(end)(one)["q0"]
    core = ff.step_jacobian
    product = np.eye(2 * sim.model.num_dofs)
    trajectory = (
        rollouts.Engine.of(sim)
        .tape(
            rollouts.Inputs(
                *(np.asarray(one[key])[None] for key in ("q0", "v0", "controls")),
                sim.parameters.flatten()[None],
                np.zeros((1, STEPS, 0)),
            )
        )
        .trajectories[0]
    )
    for t in range(STEPS):
        product = core(trajectory, t).A @ product
    n = sim.model.num_dofs
    assert np.allclose(jacobian, product[:n, :n], rtol=1e-9)


def test_steps_in_a_scan_are_a_rollout():
    sim = simulation("push")
    given = arrays(sim)

    def loop(controls):
        def one(state, control):
            q, v, poses = step(sim, *state, control)
            return (q, v), poses

        (q, v), poses = jax.lax.scan(one, (given["q0"], given["v0"]), controls)
        return q.sum() + v.sum() + poses[-1].sum()

    whole = lambda controls: sum(part[-1].sum() for part in rollout(sim, given["q0"], given["v0"], controls))  # noqa: E731
    value, gradient = jax.jit(jax.value_and_grad(loop))(given["controls"])
    expected, expected_gradient = jax.value_and_grad(whole)(given["controls"])
    assert np.isclose(value, expected, atol=1e-9)
    assert np.abs(gradient).max() > 1e-3
    assert np.allclose(gradient, expected_gradient, rtol=1e-5, atol=1e-9)


def test_float32_goes_in_and_out():
    sim = simulation("push")
    given = {key: each.astype(jnp.float32) for key, each in arrays(sim).items()}
    assert all(part.dtype == jnp.float32 for part in rollout(sim, **given))
    gradient = jax.grad(lambda given: total(rollout(sim, **given)))(given)
    assert all(each.dtype == jnp.float32 and np.isfinite(each).all() for each in gradient.values())


def test_mistakes_and_failures():
    sim = simulation("scripted")
    given = arrays(sim)
    with pytest.raises(ValueError, match=r"q0 of shape \(3, 14\), expected \(14,\); a batch is jax.vmap"):
        rollout(sim, jnp.zeros((3, 14)), given["v0"], given["controls"])
    place = sim.model.joint_q(sim.model.joint_names[-1])
    script = jnp.broadcast_to(given["q0"][place], (STEPS, 7)).at[1:, 2].set(-1.0)
    with pytest.raises(Exception, match="stopped in step 1"):
        jax.block_until_ready(rollout(sim, given["q0"], given["v0"], given["controls"], script=script))
    q, _, _ = rollout(sim, given["q0"], given["v0"], given["controls"], script=script, failed="nan")
    assert np.isfinite(q[:2]).all()
    assert np.isnan(q[2:]).all()


def test_soft_distance():
    distance = ff.SoftDistance(ff.PointCloud.sphere(0.1, 200))
    points = jnp.asarray(np.random.default_rng(3).uniform(-0.2, 0.2, (2, 3, 3)))
    value = jax.jit(lambda p: soft_distance(distance, p))(points)
    assert np.array_equal(value, distance(np.asarray(points).reshape(-1, 3)).reshape(2, 3))
    jax.test_util.check_grads(lambda p: soft_distance(distance, p), [points], order=2, modes=["rev"], eps=1e-6)
    assert np.array_equal(jax.vmap(lambda p: soft_distance(distance, p))(points), value)
