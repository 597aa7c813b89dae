# SPDX-License-Identifier: Apache-2.0
"""An own robot and torch.optim: a finger finds how to push a puck to a spot: python examples/python/torch_push.py [ITERATIONS]"""

import sys

import numpy as np
import torch

import farfield as ff
from farfield.interop.torch import rollout

scene = ff.Scene(name="finger and puck")
scene.add_shape(0, name="ground", type="HalfSpace", friction=0.3)
scene.add_body(name="puck", position=[0.0, 0.0, 0.051])
scene.add_joint("puck", name="puck", type="Free")
scene.add_shape("puck", type="Cylinder", size=[0.1, 0.05, 0.0], density=200.0)
scene.add_body(name="finger", position=[-0.25, 0.03, 0.06])
scene.add_shape("finger", type="Sphere", size=[0.05, 0.0, 0.0])
for axis, direction in (("x", [1, 0, 0]), ("y", [0, 1, 0])):
    scene.add_joint("finger", name=axis, type="Slide", axis=direction)
    scene.add_actuator(name=axis, type="Pd", joint=axis, kp=200.0, kd=20.0, velocity_input=False)
model = ff.build_model(scene)
simulation = ff.Simulation(model, dt=0.04)

start, puck = model.default_state(), model.body("puck")
q0, v0 = torch.tensor(np.array(start.q)), torch.tensor(np.array(start.v))
spot = torch.tensor([0.2, 0.05], dtype=torch.float64)
targets = torch.zeros(30, 2, dtype=torch.float64, requires_grad=True)
optimizer = torch.optim.Adam([targets], lr=0.02, eps=1e-30)
losses = []
for iteration in range(int(sys.argv[1]) if len(sys.argv) > 1 else 60):
    q, v, poses = rollout(simulation, q0, v0, targets)
    loss = (poses[-1, puck, :2] - spot).square().sum() + 1e-3 * v[-1].square().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    print(f"{iteration:3d}  loss {loss.item():.2e}  puck at {poses[-1, puck, :2].tolist()}")
assert min(losses) < 0.7 * losses[0], losses
