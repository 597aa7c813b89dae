# SPDX-License-Identifier: Apache-2.0
"""A closed loop as an exact constraint, and the link length that gives a wanted motion: python examples/python/four_bar.py"""

import numpy as np

import farfield as ff


def linkage(coupler: float) -> ff.Model:
    """Crank, coupler and rocker; the last joint, to the ground, is a constraint."""
    scene = ff.Scene(name="four-bar", gravity=[0.0, 0.0, -9.81])
    parent, at = "world", [0.0, 0.0, 0.0]
    for name, length in (("crank", 0.2), ("coupler", coupler), ("rocker", 0.4)):
        scene.add_body(name=name, parent=parent, position=at)
        scene.add_joint(name, name=f"{name} hinge", type="Hinge", axis=[0, 1, 0], damping=0.01)
        scene.add_shape(
            name, name=name, type="Box", size=[length / 2, 0.01, 0.01], position=[length / 2, 0, 0], group=0
        )
        parent, at = name, [length, 0.0, 0.0]
    scene.add_constraint(
        name="loop", type="Connect", body="rocker", anchor=[0.4, 0, 0], other="world", other_anchor=[0.5, 0, 0]
    )
    scene.add_actuator(name="drive", joint="crank hinge", type="Pd", kp=200.0, kd=5.0, velocity_input=False)
    return ff.build_model(scene)


model = linkage(0.45)
guess = ff.State(q=[1.2, -0.8, -1.6], v=[0.0, 0.0, 0.0])  # all links in one line cannot find the way themselves
start = ff.project_onto_constraints(model, model.default_parameters(), guess).state
controls = start.q[0] + np.linspace(0.0, 1.5, 150)[:, None]
motion = ff.rollout(model, model.default_parameters(), start, controls, dt=0.01, contact=None)
assert motion.converged
worst = max(np.abs(ff.constraint_values(model, model.default_parameters(), q)).max() for q in motion.q)
print(f"crank from {motion.q[0, 0]:.3f} to {motion.q[-1, 0]:.3f} rad; the loop is open by at most {worst:.1e} m")
assert worst < 1e-8

dL_dq = np.zeros((len(controls) + 1, model.num_dofs))
dL_dq[-1, 2] = 1.0  # the rocker's angle against the coupler
gradient = ff.rollout_vjp(motion, dL_dq=dL_dq)
by_length = gradient.parameters.attachment[model.body("rocker"), 0]  # where the rocker hangs on the coupler

h = 1e-6
parameters = model.default_parameters()
ends = []
for change in (h, -h):
    changed = parameters.copy()
    changed.attachment[model.body("rocker"), 0] += change
    closed = ff.project_onto_constraints(model, changed, start).state
    ends.append(ff.rollout(model, changed, closed, controls, dt=0.01, contact=None).q[-1, 2])
print(f"rocker angle by coupler length: {by_length:.6f} rad/m, difference {(ends[0] - ends[1]) / (2 * h):.6f}")
assert abs(by_length - (ends[0] - ends[1]) / (2 * h)) < 1e-5 * abs(by_length)
