# SPDX-License-Identifier: Apache-2.0
"""System identification: the mass of a box and its friction from how it is pushed: python examples/python/torch_identify.py [ITERATIONS]"""

import sys

import numpy as np
import torch

import farfield as ff
from farfield.interop.torch import rollout

scene = ff.Scene(name="sled")
scene.add_shape(0, name="ground", type="HalfSpace", friction=0.0)
scene.add_body(name="sled", position=[0.0, 0.0, 0.101])
for axis, direction in (("x", [1, 0, 0]), ("z", [0, 0, 1])):
    scene.add_joint("sled", name=axis, type="Slide", axis=direction)
scene.add_shape("sled", type="Box", size=[0.1, 0.1, 0.1], density=500.0, friction=0.4)
scene.add_actuator(name="push", type="Motor", joint="x")
model = ff.build_model(scene)
simulation = ff.Simulation(model, dt=0.02)

known = model.default_parameters()
flat = torch.tensor(known.flatten())
mass = torch.tensor(np.isin(np.arange(len(flat)), ff.parameter_mask(model, ["moments[sled]"])))
friction = torch.tensor(np.isin(np.arange(len(flat)), ff.parameter_mask(model, ["friction[sled]"])))


def parameters(unknowns: torch.Tensor) -> torch.Tensor:
    """All moments in proportion to the mass, and the friction: factors are exponentials, so both stay positive."""
    return torch.where(mass, flat * unknowns[0].exp(), torch.where(friction, flat * unknowns[1].exp(), flat))


start = model.default_state()
q0, v0 = torch.tensor(np.array(start.q)), torch.tensor(np.array(start.v))
push = 30.0 * torch.sin(torch.linspace(0.0, 6.0, 40, dtype=torch.float64))[:, None]
truth = torch.tensor([0.5, -0.6], dtype=torch.float64)  # 1.65 times the mass, 0.55 times the friction
with torch.no_grad():
    seen, _, _ = rollout(simulation, q0, v0, push, parameters(truth))
unknowns = torch.zeros(2, dtype=torch.float64, requires_grad=True)
optimizer = torch.optim.LBFGS(
    [unknowns], max_iter=int(sys.argv[1]) if len(sys.argv) > 1 else 30, line_search_fn="strong_wolfe"
)


def loss() -> torch.Tensor:
    optimizer.zero_grad()
    q, _, _ = rollout(simulation, q0, v0, push, parameters(unknowns))
    value = 1e4 * (q - seen)[:, 0].square().sum()
    value.backward()
    return value


first = loss().item()
optimizer.step(loss)
last, found = loss().item(), unknowns.detach()
print(
    f"loss {first:.3g} -> {last:.3g}; factors of mass and friction {found.exp().tolist()}, in truth {truth.exp().tolist()}"
)
assert last < 1e-2 * first
