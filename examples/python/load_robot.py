# SPDX-License-Identifier: Apache-2.0
"""A robot file as a model: what is in it, what became of it, and a second of its motion: python examples/python/load_robot.py [FILE]"""

import sys

import numpy as np

import farfield as ff

file = sys.argv[1] if len(sys.argv) > 1 else ff.scene_file("ant.xml")
model, parameters = ff.load(file)
print(f"{file}: {model.num_bodies - 1} bodies, {model.num_dofs} degrees of freedom, {model.num_controls} controls")
for name in model.body_names[1:4]:
    print(f"  {name}: {float(parameters.moments[model.body(name)][0]):.3g} kg")
for line in model.warnings:
    print(f"  not carried over: {line}")

start = ff.settle(model, parameters).state  # out of what it touches, and near where contact carries it
simulation = ff.Simulation(model, parameters, dt=0.01, state=start)
for _ in range(100):
    report = simulation.step()  # holds the default control
    assert report.status == "converged"
height = float(ff.forward_kinematics(model, parameters, np.asarray(simulation.state.q))[1, 2])
gaps = [each.gap for each in simulation.contacts()]
print(
    f"after {simulation.time:.2f} s its first body is {height:.3f} m high; the smallest of {len(gaps)} gaps is {1e3 * min(gaps):.2f} mm"
)
assert np.isfinite(height) and min(gaps) > 0.0
