# SPDX-License-Identifier: Apache-2.0
"""A finger learns to push a T it does not touch, by gradients through soft-minimum contact: python examples/python/push_t.py"""

import numpy as np

import farfield as ff
from farfield.tasks import t_push

GOAL = np.array([0.0, 0.1])  # of the T's middle [m]
model = ff.build_model(t_push.scene((0.0, -0.1375 - 0.02 - 0.05)))  # a gap of 5 cm
parameters, start = model.default_parameters(), model.default_state()
contact = t_push.contact(3, separation_temperature=5e-3, force_temperature=5e-3)
controls = np.tile(model.default_control(), (300, 1))  # at rest
moment = np.zeros_like(controls)
best = np.inf
for iteration in range(150):
    motion = ff.rollout(model, parameters, start, controls, contact=contact, dt=4e-3)
    away = np.asarray(motion.q)[-1, :2] - GOAL
    best = min(best, np.linalg.norm(away))
    if iteration % 10 == 0:
        print(f"{iteration:4}  {1e3 * np.linalg.norm(away):7.2f} mm from the goal, best {1e3 * best:.2f}")
    partial = np.zeros((len(controls) + 1, model.num_dofs))
    partial[-1, :2] = away
    gradient = ff.rollout_vjp(motion, dL_dq=partial).controls
    # The tails of contact are tiny at first: only the direction of the gradient counts.
    moment = 0.8 * moment + gradient / max(np.abs(gradient).max(), 1e-300)
    controls = controls - 4e-3 * (0.1 + min(1.0, np.linalg.norm(away) / 0.03)) * moment
print(f"best: {1e3 * best:.2f} mm")
assert best < 0.01
