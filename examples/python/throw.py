# SPDX-License-Identifier: Apache-2.0
"""A throw over a wall that ends in a box: SciPy's L-BFGS on exact gradients through contact: python examples/python/throw.py"""

import numpy as np
from scipy.optimize import minimize

import farfield as ff

scene = ff.Scene(name="throw", gravity=[0.0, 0.0, -9.81])
scene.add_shape(0, name="ground", type="HalfSpace", friction=0.6)
scene.add_shape(0, name="wall", type="Box", size=[0.02, 0.5, 0.3], position=[0.8, 0.0, 0.3])
scene.add_body(name="cube", position=[0.0, 0.0, 0.3])
scene.add_joint("cube", name="free", type="Free")
scene.add_shape("cube", name="cube", type="Box", size=[0.05, 0.05, 0.05], density=500.0)
model = ff.build_model(scene)
parameters = model.default_parameters()
target = np.array([1.6, 0.0])
controls = np.zeros((150, 0))
best = []


def loss(velocity: np.ndarray) -> tuple[float, np.ndarray]:
    """Half the squared distance at rest, and its gradient by how the cube is thrown (linear, then angular velocity)."""
    motion = ff.rollout(model, parameters, ff.State(q=model.default_state().q, v=velocity), controls, dt=0.01)
    miss = motion.poses()[-1, 1, :2] - target
    dL_dpose = np.zeros((len(controls) + 1, model.num_bodies, 6))
    dL_dpose[-1, 1, :2] = miss
    best.append(0.5 * miss @ miss)
    return best[-1], ff.rollout_vjp(motion, dL_dpose=dL_dpose).v0


thrown = np.array([1.0, 0.1, 5.0, 0.0, 1.0, 0.0])  # hits the wall
result = minimize(loss, thrown, jac=True, method="L-BFGS-B", options={"maxiter": 40, "maxfun": 60, "ftol": 1e-10})
print(f"first loss {best[0]:.4f}, best {min(best):.2e} after {len(best)} rollouts; thrown at {result.x.round(3)}")
assert min(best) < 1e-3 * best[0]
