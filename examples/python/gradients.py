# SPDX-License-Identifier: Apache-2.0
"""Gradients before, in and after contact, against differences: python examples/python/gradients.py"""

import numpy as np

import farfield as ff

scene = ff.Scene(name="two blocks", gravity=[0.0, 0.0, -9.81])
scene.add_shape(0, name="ground", type="HalfSpace", friction=0.3)
for k, x in enumerate((-0.4, 0.0)):
    scene.add_body(name=f"block {k}", position=[x, 0.0, 0.051])
    scene.add_joint(f"block {k}", name=f"free {k}", type="Free")
    scene.add_shape(f"block {k}", name=f"shape {k}", type="Box", size=[0.05, 0.05, 0.05], density=800.0)
model = ff.build_model(scene)
parameters = model.default_parameters()
controls = np.zeros((60, 0))


def run(speed: float, friction: float) -> ff.Trajectory:
    """The first block slides at the second."""
    v = np.zeros(model.num_dofs)
    v[0] = speed
    p = parameters.copy()
    p.friction[0] = friction
    return ff.rollout(model, p, ff.State(q=model.default_state().q, v=v), controls, dt=0.005)


def loss(trajectory: ff.Trajectory) -> float:
    return trajectory.poses()[-1, 2, 0]  # how far the second block is


for speed, what in ((0.5, "does not get there"), (2.5, "hits the second block")):
    trajectory = run(speed, 0.6)
    dL_dpose = np.zeros((len(controls) + 1, model.num_bodies, 6))
    dL_dpose[-1, 2, 0] = 1.0
    gradient = ff.rollout_vjp(trajectory, dL_dpose=dL_dpose)
    h = 1e-6
    for name, exact, difference in (
        ("speed", gradient.v0[0], (loss(run(speed + h, 0.6)) - loss(run(speed - h, 0.6))) / (2 * h)),
        ("friction", gradient.parameters.friction[0], (loss(run(speed, 0.6 + h)) - loss(run(speed, 0.6 - h))) / (2 * h)),
    ):  # fmt: skip
        print(f"{what}: by {name:8} {exact: .9e}, difference {difference: .9e}")
        assert exact != 0.0 and abs(exact - difference) <= 1e-5 * abs(difference) + 1e-9
