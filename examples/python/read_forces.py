# SPDX-License-Identifier: Apache-2.0
"""Contact forces over time: a box falls, slides and comes to rest: python examples/python/read_forces.py [PICTURE.png]"""

import sys

import numpy as np

import farfield as ff

MU, MASS, G = 0.4, 1.0, 9.81
scene = ff.Scene(name="forces")
scene.add_shape(0, name="ground", type="HalfSpace", friction=MU)
scene.add_body(name="box", position=[0.0, 0.0, 0.08])
scene.add_joint("box", name="free", type="Free")
scene.add_shape("box", type="Box", size=[0.05, 0.05, 0.05], density=MASS / 0.001, friction=MU)
model = ff.build_model(scene)
parameters, box = model.default_parameters(), model.body("box")
start = ff.State(q=model.default_state().q, v=[1.5, 0.0, 0.0, 0.0, 0.0, 0.0])
motion = ff.rollout(model, parameters, start, np.zeros((160, 0)), dt=0.005)

time = 0.005 * np.arange(1, 161)
normal, friction, gap = np.zeros(160), np.zeros(160), np.full(160, np.nan)
for k, step in enumerate(motion.contact_forces()):
    for each in step:  # here one pair: ground and box
        normal[k] += each.normal_force
        friction[k] += each.friction_on(box)[0]
        gap[k] = each.gap
speed = np.asarray(motion.v[1:, 0])

impulse = 0.005 * normal.sum()
expected = MASS * (G * time[-1] + float(motion.v[-1, 2]))
print(f"impulse of the ground {impulse:.4f} N s, weight and change of momentum {expected:.4f} N s")
sliding = (time > 0.2) & (speed > 0.3)  # after the bounces, well above the speed below which friction fades
ratio = float(np.mean(-friction[sliding] / normal[sliding]))
print(f"sliding friction over normal force: {ratio:.4f}, coefficient {MU}")
print(f"at rest: {normal[-1]:.4f} N up, weight {MASS * G:.4f} N, gap {1e3 * gap[-1]:.2f} mm")
assert abs(impulse - expected) < 1e-3 * expected
assert abs(ratio - MU) < 0.01 * MU
assert abs(normal[-1] - MASS * G) < 0.01 * MASS * G

if len(sys.argv) > 1:
    from farfield.optional import pyplot

    figure, (forces, gaps) = pyplot().subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
    forces.plot(time, normal, label="normal force")
    forces.plot(time, -friction, label="friction against the motion")
    forces.axhline(MASS * G, color="0.6", lw=0.8, label="weight")
    forces.set(ylabel="[N]", ylim=(0.0, 6.0 * MASS * G))
    forces.legend()
    gaps.semilogy(time, 1e3 * gap)
    gaps.set(xlabel="time [s]", ylabel="gap [mm]")
    figure.savefig(sys.argv[1], dpi=100)
