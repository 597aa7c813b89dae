# SPDX-License-Identifier: Apache-2.0
"""Feedback gains from exact derivatives of a step: a pole balances on a cart that starts beside a wall: python examples/python/balance.py"""

import numpy as np

import farfield as ff

scene = ff.Scene(name="cart and pole", gravity=[0.0, 0.0, -9.81])
scene.add_shape(0, name="wall", type="Box", size=[0.05, 0.5, 0.5], position=[-0.6, 0.0, 0.0])
scene.add_body(name="cart")
scene.add_joint("cart", name="slide", type="Slide", axis=[1, 0, 0])
scene.add_shape("cart", name="cart", type="Box", size=[0.15, 0.1, 0.05], density=300.0)
scene.add_body(name="pole", parent="cart", position=[0.0, 0.0, 0.08])
scene.add_joint("pole", name="hinge", type="Hinge", axis=[0, 1, 0])
scene.add_shape("pole", name="pole", type="Capsule", size=[0.02, 0.3, 0.0], position=[0.0, 0.0, 0.35], density=300.0)
scene.add_actuator(name="push", joint="slide", type="Motor")
model = ff.build_model(scene)
dt = 0.01

upright = ff.rollout(model, model.default_parameters(), model.default_state(), np.zeros((1, 1)), dt=dt)
step = ff.step_jacobian(upright, 0)  # of the state after by the state before (A) and by the control (B)
A, B = np.asarray(step.A), np.asarray(step.B)
P = Q = np.diag([10.0, 10.0, 1.0, 1.0])
for _ in range(2000):  # the Riccati recursion
    K = np.linalg.solve(0.1 * np.eye(1) + B.T @ P @ B, B.T @ P @ A)
    P = Q + A.T @ P @ (A - B @ K)
print("gains", K[0], "eigenvalues of the closed loop", np.abs(np.linalg.eigvals(A - B @ K)))

simulation = ff.Simulation(model, dt=dt)
simulation.reset(ff.State(q=[0.0, 0.25], v=[0.0, 0.0]))
for _ in range(400):
    state = simulation.state
    report = simulation.step(-K @ np.concatenate([state.q, state.v]))
    assert report.status == "converged"
print("after 4 s: cart at", simulation.state.q[0], "m, pole at", simulation.state.q[1], "rad")
assert np.abs(simulation.state.q).max() < 0.02
