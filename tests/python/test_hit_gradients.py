# SPDX-License-Identifier: Apache-2.0
"""Gradients through 200 steps in which bodies slide, hit each other and tumble, against differences of whole motions."""

import numpy as np
import pytest

import farfield as ff

STEPS, DT = 200, 5e-3
LADDER = 1e-2 * 0.25 ** np.arange(12)  # of differences
LIMITS = {"longrange": 1e-6, "ipc": 1e-6, "polyhedral": 3e-6}  # differences of polyhedral motions scatter by as much


def bowling() -> tuple[ff.Model, ff.State]:
    """A box that slides into another, which runs into a ball."""
    scene = ff.Scene(gravity=[0.0, 0.0, -9.81])
    scene.add_shape(0, name="ground", type="HalfSpace", friction=0.2)
    for name, place, shape in (
        ("first", [-0.25, 0.012, 0.052], {"type": "Box", "size": [0.05, 0.04, 0.05]}),
        ("second", [0.0, 0.0, 0.052], {"type": "Box", "size": [0.05, 0.06, 0.05]}),
        ("ball", [0.2, 0.02, 0.052], {"type": "Sphere", "size": [0.05, 0.0, 0.0]}),
    ):
        scene.add_body(name=name, position=place)
        scene.add_joint(name, name=name, type="Free")
        scene.add_shape(name, name=name, density=800.0, friction=0.2, **shape)
    model = ff.build_model(scene)
    v = np.zeros(model.num_dofs)
    v[model.joint_dofs("first")] = [2.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    return model, ff.State(q=model.default_state().q, v=v)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("contact", ["longrange", "ipc", "polyhedral"])
def test_gradients_through_hits_are_those_of_differences(contact):
    model, start = bowling()
    draw = np.random.default_rng(5)
    weights = draw.standard_normal((model.num_bodies, 3))
    controls = np.zeros((STEPS, model.num_controls))

    def run(v: np.ndarray, stiffness: float = 1.0, friction: float = 0.0) -> ff.Trajectory:
        parameters = model.default_parameters()
        parameters.contact_stiffness = stiffness
        parameters.friction = np.asarray(parameters.friction) + friction
        motion = ff.rollout(
            model, parameters, ff.State(q=start.q, v=v), controls, dt=DT, contact=contact, tolerance=1e-12
        )
        assert motion.converged
        return motion

    def loss(motion: ff.Trajectory) -> float:
        return float(np.sum(weights * motion.poses()[-1, :, :3]))

    motion = run(start.v)
    moved = motion.poses()[-1, :, 0] - motion.poses()[0, :, 0]
    assert np.all(moved[1:] > 0.05)  # everything was hit
    assert max(report.shortest_step < 1.0 for report in motion.reports)
    partials = np.zeros((STEPS + 1, model.num_bodies, 6))
    partials[-1, :, :3] = weights
    gradient = ff.rollout_vjp(motion, dL_dpose=partials)
    push = draw.standard_normal(model.num_dofs)
    for what, analytic, function in (
        ("velocity", gradient.v0 @ push, lambda h: loss(run(start.v + h * push))),
        ("stiffness", gradient.parameters.contact_stiffness, lambda h: loss(run(start.v, stiffness=1.0 + h))),
        ("friction", np.sum(gradient.parameters.friction), lambda h: loss(run(start.v, friction=h))),
    ):
        central = np.array([(function(h) - function(-h)) / (2.0 * h) for h in LADDER])
        better = (16.0 * central[1:] - central[:-1]) / 15.0
        errors = np.abs(better - analytic) / abs(analytic)
        assert np.min(np.maximum(errors[1:], errors[:-1])) < LIMITS[contact], (what, analytic, errors)
