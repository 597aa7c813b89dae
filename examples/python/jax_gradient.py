# SPDX-License-Identifier: Apache-2.0
"""jit, grad and vmap through a simulation: python examples/python/jax_gradient.py"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import farfield as ff
from farfield.interop.jax import rollout

jax.config.update("jax_enable_x64", True)
model, _ = ff.load(Path(__file__).parents[2] / "scenes" / "push.xml")
simulation = ff.Simulation(model, dt=0.02)
box = model.body("box")
start = model.default_state()
q0, v0 = jnp.asarray(start.q), jnp.asarray(start.v)
rest = jnp.tile(jnp.asarray(model.default_control()), (10, 1))


def loss(controls):
    """How far the box has moved: it is never touched, and the gradient is not zero."""
    _, _, poses = rollout(simulation, q0, v0, controls)
    return jnp.sum((poses[-1, box, :2] - poses[0, box, :2]) ** 2)


value, gradient = jax.jit(jax.value_and_grad(loss))(rest)
print(f"loss {value:.3e}, gradient by controls of norm {jnp.linalg.norm(gradient):.3e}")
assert jnp.linalg.norm(gradient) > 0.0

pushes = rest + 0.01 * jax.random.normal(jax.random.PRNGKey(0), (8, *rest.shape))
losses = jax.vmap(loss)(pushes)  # a batch, on threads
print("eight pushes at once", np.asarray(losses))
assert np.allclose(losses[0], loss(pushes[0]), rtol=1e-12)
