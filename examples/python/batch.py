# SPDX-License-Identifier: Apache-2.0
"""Many rollouts at once, each with parameters of its own, and their gradients: python examples/python/batch.py [ROLLOUTS]"""

import sys
import time

import numpy as np

import farfield as ff

count = int(sys.argv[1]) if len(sys.argv) > 1 else 64
scene = ff.Scene(name="sliding box", gravity=[0.0, 0.0, -9.81])
scene.add_shape(0, name="ground", type="HalfSpace", friction=0.1)
scene.add_body(name="box", position=[0.0, 0.0, 0.051])
scene.add_joint("box", name="free", type="Free")
scene.add_shape("box", name="box", type="Box", size=[0.05, 0.05, 0.05], density=800.0)
model = ff.build_model(scene)

frictions = np.linspace(0.2, 0.8, count)
parameters = []
for mu in frictions:
    parameters.append(model.default_parameters())
    parameters[-1].friction[1] = mu
start = ff.State(q=model.default_state().q, v=[2.0, 0.0, 0.0, 0.0, 0.0, 0.0])
controls = [np.zeros((100, 0))] * count

began = time.perf_counter()
motions = ff.rollout_batch(model, parameters, [start] * count, controls, dt=0.01)
dL_dpose = np.zeros((101, model.num_bodies, 6))
dL_dpose[-1, 1, 0] = 1.0
gradients = ff.rollout_vjp_batch(motions, dL_dpose=[dL_dpose] * count)
seconds = time.perf_counter() - began

ways = np.array([motion.poses()[-1, 1, 0] for motion in motions])
by_friction = np.array([gradient.parameters.friction[1] for gradient in gradients])
print(f"{count} rollouts of 100 steps and their gradients in {seconds:.2f} s")
for k in range(0, count, max(1, count // 6)):
    expected = 2.0**2 / (2.0 * frictions[k] * 9.81)
    print(f"friction {frictions[k]:.2f}: {ways[k]:.3f} m ({expected:.3f}), by friction {by_friction[k]:.3f}")
assert np.allclose(ways, 2.0**2 / (2.0 * frictions * 9.81), rtol=0.05)
assert (by_friction < 0.0).all()
