# SPDX-License-Identifier: Apache-2.0
"""Step a scene by hand and read its contact forces: python examples/python/step_and_contacts.py"""

import numpy as np

import farfield as ff

scene = ff.Scene(name="tower", gravity=[0.0, 0.0, -9.81])
scene.add_shape(0, name="ground", type="HalfSpace", friction=0.6)
for k in range(3):
    scene.add_body(name=f"box {k}", position=[0.0, 0.0, 0.06 + 0.11 * k])
    scene.add_joint(f"box {k}", name=f"free {k}", type="Free")
    scene.add_shape(f"box {k}", name=f"shape {k}", type="Box", size=[0.05, 0.05, 0.05], density=1000.0)

simulation = ff.Simulation(ff.build_model(scene), dt=0.01)
model = simulation.model
for _ in range(150):
    report = simulation.step(np.zeros(0))
    assert report.status == "converged" and report.min_gap > 0.0

print(f"after {simulation.time:.2f} s, smallest gap on the way {1e3 * report.min_gap:.2f} mm")
carried = np.zeros(model.num_bodies)
for contact in simulation.contacts():
    a, b = model.body_names[contact.a], model.body_names[contact.b]
    print(
        f"{a:>6} - {b:6} {contact.normal_force:7.3f} N, gap {1e3 * contact.gap:.2f} mm at {np.round(contact.point, 3)}"
    )
    for body in (contact.a, contact.b):
        carried[body] += contact.force_on(body)[2]

weights = 9.81 * simulation.parameters.moments[:, 0]  # ten numbers a body, the first is its mass
assert np.allclose(carried[1:], weights[1:], rtol=1e-2), (carried, weights)
