# SPDX-License-Identifier: Apache-2.0
"""Claims of the long-range paper that do not hold as printed, each next to the form that does (docs/paper_claims.md)."""

import math

import numpy as np
import pytest

import farfield as ff


def box_scene(gravity=(0.0, 0.0, 0.0)) -> ff.Scene:
    scene = ff.Scene(gravity=list(gravity))
    scene.add_body(name="box", position=[0.0, 0.0, 0.1 + 1e-3])
    scene.add_joint("box", name="box", type="Free")
    scene.add_shape("box", name="box", type="Box", size=[0.1, 0.1, 0.1], density=125.0)
    return scene


def distance_slid(friction: float, form: str, slope: float) -> float:
    """Of a box on a mesh in half a second [m]."""
    angle = math.atan(slope)
    scene = box_scene((9.81 * math.sin(angle), 0.0, -9.81 * math.cos(angle)))
    scene.add_shape(0, name="ground", type="Box", size=[8.0, 2.0, 0.1], position=[0, 0, -0.1])
    model = ff.build_model(scene)
    parameters = model.default_parameters()
    parameters.friction[:] = friction
    contact = ff.LongRange(friction_form=form, weight_in_joules=1e-7, leaf_weights="paper", slip_speed=1e-3)
    run = ff.rollout(model, parameters, model.default_state(), np.zeros((20, 0)), dt=0.025, contact=contact)
    assert run.converged
    return float(run.q[-1, 0])


def test_friction_as_printed_lacks_the_contact_weight_and_is_no_coulomb_friction():
    # App. A.3 makes friction proportional to |dP/dx|, without mu: 0.5 acts as 0.5 / mu and holds a slope of 63 degrees.
    slope, friction, weight = 2.0, 0.5, 1e-7
    assert distance_slid(friction / weight, "paper", slope) < 1e-5
    angle = math.atan(slope)
    fall = 0.5 * 9.81 * (math.sin(angle) - friction * math.cos(angle)) * 0.5**2
    assert distance_slid(friction, "projected", slope) == pytest.approx(fall, rel=0.06)  # implicit Euler's 1 + 1/20


def moments_of_friction(form: str) -> tuple[float, float]:
    """Sum of the moments about the origin that friction exerts on two boxes in the air, and the largest single one."""
    scene = box_scene()
    scene.add_body(name="other", position=[0.05, 0.02, 0.33])
    scene.add_joint("other", name="other", type="Free")
    scene.add_shape("other", name="other", type="Box", size=[0.1, 0.1, 0.1], density=125.0)
    model = ff.build_model(scene)
    parameters = model.default_parameters()
    contact = ff.LongRange(friction_form=form)
    before = np.array(model.default_state().q)
    after = before.copy()
    after[0] += 1e-6  # so short that lever arms do not change
    after[7 + 1] -= 2e-6

    def wrenches(friction: float) -> np.ndarray:
        parameters.friction[1:] = friction
        return np.asarray(contact.evaluate(model, parameters, after, previous_q=before, dt=0.01).wrench)

    rubbing = wrenches(0.5) - wrenches(0.0)
    origins = np.asarray(ff.forward_kinematics(model, parameters, after))[:, :3]
    moments = rubbing[:, 3:] + np.cross(origins, rubbing[:, :3])
    assert np.abs(rubbing[:, :3].sum(0)).max() < 1e-12 * np.abs(rubbing).max()
    return float(np.linalg.norm(moments.sum(0))), float(np.linalg.norm(moments, axis=1).max())


def test_friction_on_the_vertices_themselves_makes_angular_momentum():
    leak, largest = moments_of_friction("paper")
    assert leak > 0.1 * largest
    balanced, largest = moments_of_friction("projected")
    assert balanced < 1e-5 * largest


def test_the_barrier_alone_does_not_keep_bodies_from_passing_in_a_large_step():
    # "Unconditionally robust to the time step": the energy is finite on either side of a thin plate, so only the path tells.
    scene = ff.Scene(gravity=[0.0, 0.0, 0.0])
    for name, height in (("plate", 0.0), ("thrown", 0.4)):
        scene.add_body(name=name, position=[0.0, 0.0, height])
        scene.add_joint(name, name=name, type="Free")
        scene.add_shape(name, name=name, type="Box", size=[0.5, 0.5, 1e-3], density=1000.0)
    model = ff.build_model(scene)
    parameters = model.default_parameters()
    contact = ff.LongRange()
    start = np.array(model.default_state().q)

    def energy(height: float) -> float:
        q = start.copy()
        q[7 + 2] = height
        return contact.evaluate(model, parameters, q).energy

    speed, dt = 60.0, 0.01
    assert energy(0.4 - speed * dt) < energy(2.1e-3)  # beyond is cheaper than near, and inertia asks for nothing else
    v = np.zeros(model.num_dofs)
    v[6 + 2] = -speed
    run = ff.rollout(model, parameters, ff.State(q=start, v=v), np.zeros((1, 0)), dt=dt, contact=contact)
    assert run.converged and not run.reports[0].detour
    assert run.q[-1, 7 + 2] > run.q[-1, 2]  # the filter kept it on its side
