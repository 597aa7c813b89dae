# SPDX-License-Identifier: Apache-2.0
"""The polyhedral contact model from Python: options, decomposition, Coulomb friction, gradients by design."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

import farfield as ff
from farfield.benchmarks.racks import rack
from farfield.contact_models import contact_from_description
from farfield.convex import convex_parts, decompose

DT = 0.01


def block_on_ground(friction: float = 0.3, gap: float = 0.005) -> ff.Scene:
    scene = ff.Scene(name="block")
    scene.add_shape(0, name="ground", type="HalfSpace", friction=0.0)
    scene.add_body(name="block", position=[0.0, 0.0, 0.1 + gap])
    scene.add_joint("block", name="block", type="free")
    scene.add_shape("block", name="block", type="box", size=[0.1, 0.1, 0.1], density=1000.0, friction=friction)
    return scene


def angle_mesh() -> ff.TriangleMesh:
    """Two boxes that form an L, as one mesh."""
    corners = np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], dtype=float) * 0.1
    vertices = np.concatenate([np.c_[corners, np.full(6, z)] for z in (0.0, 0.1)])
    cap = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]]
    triangles = [[a, c, b] for a, b, c in cap] + [[a + 6, b + 6, c + 6] for a, b, c in cap]
    for k in range(6):
        a, b = k, (k + 1) % 6
        triangles += [[a, b, b + 6], [a, b + 6, a + 6]]
    return ff.TriangleMesh(name="angle", vertices=vertices, triangles=np.array(triangles, dtype=np.int32))


def test_description_makes_the_same_model_again():
    model = ff.Polyhedral(range=0.02, margin=0.05, slip_speed=1e-4, friction_form="paper")
    assert json.loads(model.description)["model"] == "polyhedral"
    assert contact_from_description(model.description).description == model.description


@pytest.mark.parametrize(
    "options",
    [{"range": -1.0}, {"margin": 0.0}, {"margin": 0.6}, {"slip_speed": 0.0}, {"friction_form": "x"}],
)
def test_bad_options_are_refused_by_name(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        ff.Polyhedral(**options)


def test_automatic_range_puts_a_described_rest_into_its_middle():
    model = ff.build_model(block_on_ground(gap=0.001))
    [(first, second, reach)] = ff.Polyhedral().pair_ranges(model)
    assert (first, second) == ("world", "block")
    assert reach == pytest.approx(0.002, rel=1e-2)
    assert ff.Polyhedral(range=0.03).pair_ranges(model) == [("world", "block", 0.03)]


def test_block_comes_to_rest_within_the_range_and_loses_no_weight():
    model = ff.build_model(block_on_ground())
    contact = ff.Polyhedral(range=0.01)
    parameters = model.default_parameters()
    trajectory = ff.rollout(model, parameters, model.default_state(), np.zeros((200, 0)), dt=DT, contact=contact)
    assert trajectory.converged
    assert min(report.min_gap for report in trajectory.reports) > 0.0
    rest = trajectory.state(-1)
    assert 0.1 < rest.q[2] < 0.11
    assert np.abs(rest.v).max() < 1e-5
    wrench = np.array(contact.evaluate(model, parameters, rest.q).wrench)
    assert -wrench[1, 2] == pytest.approx(8.0 * 9.81, rel=1e-3)


@pytest.mark.parametrize("form", ["projected", "paper"])
def test_sliding_block_slows_down_as_coulomb_says(form):
    friction, speed = 0.3, 0.6
    model = ff.build_model(block_on_ground(friction))
    contact = ff.Polyhedral(range=0.01, friction_form=form)
    parameters = model.default_parameters()
    rest = ff.rollout(model, parameters, model.default_state(), np.zeros((200, 0)), dt=DT, contact=contact).state(-1)
    v = np.array(rest.v)
    v[:] = 0.0
    v[0] = speed
    start = ff.State(q=rest.q, v=v)
    trajectory = ff.rollout(model, parameters, start, np.zeros((40, 0)), dt=DT, contact=contact)
    assert trajectory.converged
    deceleration = friction * 9.81
    travel = trajectory.q[-1, 0] - trajectory.q[0, 0]
    # Implicit Euler ends half a step early: v^2/(2 a) - v dt/2.
    assert travel == pytest.approx(speed**2 / (2.0 * deceleration) - 0.5 * speed * DT, rel=0.02)
    slowing = -np.diff(trajectory.v[:15, 0]) / DT
    assert slowing == pytest.approx(deceleration, rel=0.05)


def test_overlapping_hulls_of_a_concave_mesh_ask_for_a_decomposition():
    scene = ff.Scene(gravity=[0.0, 0.0, 0.0])
    mesh = angle_mesh()
    scene.add_mesh(name=mesh.name, vertices=mesh.vertices, triangles=mesh.triangles)
    scene.add_shape(0, name="angle", type="mesh", mesh="angle")
    scene.add_body(name="ball", position=[0.145, 0.145, 0.05])
    scene.add_joint("ball", name="ball", type="free")
    scene.add_shape("ball", name="ball", type="sphere", size=[0.03, 0, 0])
    model = ff.build_model(scene)
    with pytest.raises(ValueError, match="intersect"):
        ff.rollout(
            model,
            model.default_parameters(),
            model.default_state(),
            np.zeros((1, 0)),
            contact=ff.Polyhedral(range=0.01),
        )
    parts = ff.build_model(decompose(scene))
    assert len(parts.default_parameters().hull_vertices) > len(model.default_parameters().hull_vertices)
    trajectory = ff.rollout(
        parts, parts.default_parameters(), parts.default_state(), np.zeros((5, 0)), contact=ff.Polyhedral(range=0.01)
    )
    assert trajectory.converged
    copy = ff.model_from_bytes(ff.model_to_bytes(parts, parts.default_parameters()))[0]
    assert np.array_equal(copy.default_parameters().hull_vertices, parts.default_parameters().hull_vertices)


def test_convex_parts_cover_the_mesh_and_keep_its_mass():
    mesh = angle_mesh()
    parts = convex_parts(mesh)
    assert len(parts) >= 2
    volume = sum(part.moments(density=1.0).mass for part in parts)
    assert volume == pytest.approx(mesh.moments(density=1.0).mass, rel=0.05)
    with pytest.raises(ValueError, match="threshold"):
        convex_parts(mesh, threshold=2.0)
    scene = ff.Scene()
    scene.add_mesh(name=mesh.name, vertices=mesh.vertices, triangles=mesh.triangles)
    scene.add_body(name="body")
    scene.add_joint("body", name="body", type="free")
    scene.add_shape("body", name="angle", type="mesh", mesh="angle")
    whole, split = (ff.build_model(s).default_parameters() for s in (scene, decompose(scene)))
    assert np.array_equal(whole.moments, split.moments)
    with pytest.raises(ValueError, match="'x'"):
        decompose(scene, shapes=["x"])


@pytest.mark.parametrize(
    ("mass", "total"), [("lumped", "constant"), ("exact", "constant"), ("exact", "density"), ("lumped", "density")]
)
def test_gradient_by_design_over_a_hundred_steps(mass, total):
    """Vertices move contact, friction and inertia of a block that slides, turning, into another."""
    scene = block_on_ground()
    scene.add_body(name="other", position=[0.26, 0.05, 0.105])
    scene.add_joint("other", name="other", type="free")
    scene.add_shape("other", name="other", type="box", size=[0.1, 0.1, 0.1], density=500.0, friction=0.3)
    model = ff.build_model(scene)
    contact = ff.Polyhedral(range=0.01)
    start = model.default_state()
    v = np.array(start.v)
    v[0] = 1.0
    start = ff.State(q=start.q, v=v)
    weights = np.random.default_rng(3).normal(size=(2, model.num_dofs))
    direction = np.random.default_rng(4).normal(size=model.default_parameters().hull_vertices.shape)
    direction /= np.linalg.norm(direction)

    def parameters_at(step: float) -> ff.Parameters:
        parameters = model.default_parameters()
        parameters.hull_vertices = parameters.hull_vertices + step * direction
        parameters.moments = ff.hull_moments(model, parameters, mass=mass, mass_total=total)
        return parameters

    def roll(parameters):
        out = ff.rollout(model, parameters, start, np.zeros((100, 0)), dt=DT, contact=contact, tolerance=1e-11)
        assert out.converged
        return out

    base = parameters_at(0.0)
    trajectory = roll(base)
    partials = np.zeros((2, 101, model.num_dofs))
    partials[:, -1] = weights
    gradient = ff.rollout_vjp(trajectory, dL_dq=partials[0], dL_dv=partials[1]).parameters
    by_vertices = gradient.hull_vertices + ff.hull_moments_vjp(
        model, base, gradient.moments, mass=mass, mass_total=total
    )
    analytic = float(np.sum(by_vertices * direction))
    reference = trajectory.q[-1]

    def loss(step: float) -> float:
        end = roll(parameters_at(step)).state(-1)
        return float(weights[0] @ ff.difference(model, reference, end.q) + weights[1] @ end.v)

    estimates = []
    for h in (2e-5, 1e-5, 5e-6):
        near, far = loss(h) - loss(-h), loss(2 * h) - loss(-2 * h)
        estimates.append((8.0 * near - far) / (12.0 * h))
    noise = min(abs(a - b) for a, b in itertools.pairwise(estimates))
    assert noise < 1e-3 * abs(analytic)
    assert min(abs(value - analytic) for value in estimates) < 1e-5 * abs(analytic) + noise
    assert trajectory.q[-1, 7] > start.q[7] + 0.005  # the other block was pushed


def test_gradient_by_velocity_through_a_rack_of_balls():
    """Sixteen bodies in contact at once, two steps: differences along one direction of all velocities."""
    model = rack(32)
    start = model.default_state()
    v = np.array(start.v)
    v[-6:-3] = [3.0, 0.1, 0.0]
    contact, parameters = ff.Polyhedral(), model.default_parameters()
    random = np.random.default_rng(0)
    weights, direction = random.normal(size=(3, model.num_dofs)), random.normal(size=model.num_dofs)

    def roll(step: float) -> ff.Trajectory:
        begin = ff.State(q=start.q, v=v + step * direction)
        out = ff.rollout(model, parameters, begin, np.zeros((2, 0)), dt=DT, contact=contact, tolerance=1e-9)
        assert out.converged
        return out

    reference = roll(0.0)
    analytic = float(ff.rollout_vjp(reference, dL_dq=weights).v0 @ direction)

    def loss(step: float) -> float:
        q = roll(step).q
        return sum(float(w @ ff.difference(model, a, b)) for w, a, b in zip(weights, reference.q, q, strict=True))

    estimates = [(loss(h) - loss(-h)) / (2.0 * h) for h in (1e-4, 1e-5, 1e-6)]
    assert min(abs(value - analytic) for value in estimates) < 1e-5 * abs(analytic)
