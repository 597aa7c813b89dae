# SPDX-License-Identifier: Apache-2.0
"""One scene under every contact model: python examples/python/contact_models.py"""

import time

import numpy as np

import farfield as ff

scene = ff.Scene(name="two balls", gravity=[0.0, 0.0, 0.0])
for k, x in enumerate((-0.3, 0.3)):
    scene.add_body(name=f"ball {k}", position=[x, 0.0, 0.0])
    scene.add_joint(f"ball {k}", name=f"free {k}", type="Free")
    scene.add_shape(f"ball {k}", name=f"ball {k}", type="Sphere", size=[0.1, 0.0, 0.0], density=500.0)
model = ff.build_model(scene)
v = np.zeros(12)
v[0], v[6] = 1.0, -1.0  # towards each other
start = ff.State(q=model.default_state().q, v=v)

masses = model.default_parameters().moments[1:, 0]
for contact in ("longrange", "polyhedral", "ipc", "softmin"):
    began = time.perf_counter()
    motion = ff.rollout(model, model.default_parameters(), start, np.zeros((400, 0)), dt=0.002, contact=contact)
    seconds = time.perf_counter() - began
    dL_dpose = np.zeros((401, 3, 6))
    dL_dpose[-1, 1:, 0] = (
        0.5  # where the centre of both ends, by the speed of one: half the time, whatever contact does
    )
    gradient = ff.rollout_vjp(motion, dL_dpose=dL_dpose).v0[0]
    momentum = masses @ motion.v[-1].reshape(2, 6)[:, 0]
    print(
        f"{contact:10} ends at {motion.poses()[-1, 1:, 0].round(3)} m, gradient {gradient:.6f} s, "
        f"momentum {momentum:8.1e}, smallest gap {motion.min_gap:8.1e} m, {1e3 * seconds / 400:.3f} ms a step"
    )
    assert motion.converged and abs(momentum) < 1e-6 and abs(gradient - 0.4) < 1e-6
    assert motion.poses()[-1, 1, 0] < -0.1 and motion.poses()[-1, 2, 0] > 0.1
