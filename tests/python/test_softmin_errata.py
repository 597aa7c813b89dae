# SPDX-License-Identifier: Apache-2.0
"""Where the text of [SCM2025] does not hold as printed: each claim next to what is used instead.

Signs, points of application, velocities and damping are in tests/contact/softmin/test_softmin.cpp, ties of the top-K in test_softmin.py.
"""

from __future__ import annotations

import numpy as np
import pytest

import farfield as ff
from farfield.benchmarks import scm_figures
from farfield.tasks import t_push


def turned(forces: str, temperature: float) -> float:
    """Yaw of a T of 34 points whose stem was pushed near its end [deg]."""
    start = (-0.5 * t_push.CELL - t_push.RADIUS - 1e-3, t_push.BAR - 3.5 * t_push.CELL + 0.01)
    model = ff.build_model(t_push.scene(start))
    clouds = {"t": t_push.t_cloud(1, temperature=temperature), "finger": ff.PointCloud.sphere(t_push.RADIUS, 100)}
    contact = ff.Softmin(
        newtons_per_metre=3e3, separation_temperature=1e-3, force_temperature=1e-3, clouds=clouds, forces=forces
    )
    controls = np.tile(model.default_control(), (200, 1))
    controls[:, 0] += np.linspace(0.0, 0.03, 200)
    motion = ff.rollout(model, model.default_parameters(), model.default_state(), controls, contact=contact, dt=4e-3)
    assert motion.converged
    return float(np.degrees(t_push.pose(np.asarray(motion.q)[-1])[2]))


def test_a_mean_of_plane_forces_depends_on_the_temperature_where_a_mean_plane_does_not():
    planes = [turned("planes", temperature) for temperature in (0.03, 0.1)]
    mean = [turned("mean_plane", temperature) for temperature in (0.03, 0.1)]
    assert mean[1] == pytest.approx(mean[0], rel=0.1)
    assert abs(planes[1] - mean[1]) > 0.25 * mean[1]


def test_the_nearest_plane_counts_not_the_deepest():
    """Eq. (22): of two planes over a point, that of the nearer centre gives the distance, however deep the other one."""
    points, normals = np.array([[0.0, 0.0, 0.01], [0.3, 0.0, 0.2]]), np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    cloud = ff.PointCloud(points, normals, spacing=0.1, temperature=1e-4)
    assert ff.SoftDistance(cloud)(np.zeros((1, 3)))[0] == pytest.approx(-0.01, rel=1e-9)


def test_the_temperature_of_distances_is_a_squared_length():
    """One epsilon without a unit for all minima does not survive a change of units; eps1 in m^2 does."""
    cloud, scale = t_push.t_cloud(3), 1000.0
    p = np.array([[0.01, -0.13, 0.02], [0.12, 0.08, 0.0], [0.03, 0.02, 0.01]])
    here = ff.SoftDistance(cloud)(p)

    def in_millimetres(temperature: float) -> np.ndarray:
        scaled = ff.PointCloud(
            scale * np.asarray(cloud.points),
            cloud.normals,
            spacing=scale * cloud.spacing,
            temperature=temperature,
        )
        return ff.SoftDistance(scaled)(scale * p) / scale

    np.testing.assert_allclose(in_millimetres(scale**2 * cloud.temperature), here, rtol=1e-9)
    assert np.abs(in_millimetres(scale * cloud.temperature) - here).max() > 1e-4


def test_a_separation_is_signed():
    """Eq. (11) has a norm, which is never negative; bodies in each other have a negative one."""
    model = ff.build_model(t_push.scene((0.0, t_push.BAR - 3.5 * t_push.CELL - t_push.RADIUS + 2e-3)))
    field = t_push.contact(3).separation(model, model.default_parameters(), model.default_state().q, "t", "finger")
    assert field.least < -1.5e-3
    # points of each body are asked of the other's surface, in this order
    assert set(np.asarray(field.body)) == {model.body("t"), model.body("finger")}
    assert (np.asarray(field.body) == model.body("finger")).sum() == 100


def test_weights_of_vertices_as_printed_are_no_distribution():
    """Eq. (12) gives a face's weight to each of its vertices: more than one in all, and the more to a vertex the more faces meet in it.
    Weights of points sum to one, and a load on a face lies in its middle."""
    contact = t_push.contact(3)
    model = ff.build_model(t_push.scene((0.0, t_push.BAR - 3.5 * t_push.CELL - t_push.RADIUS + 2e-3)))
    found = contact.separation(model, model.default_parameters(), model.default_state().q, "t", "finger")
    assert found.weights.sum() == pytest.approx(1.0, rel=1e-12)

    square = [[0, 1, 2], [0, 2, 3]]  # evenly loaded, cut along a diagonal
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    printed = np.zeros(4)
    for face in square:
        printed[face] += 0.5
    assert printed.sum() == 3.0
    assert printed[0] == 2.0 * printed[1]  # which corner depends on the diagonal
    faces = np.array([corners[face].mean(axis=0) for face in square])
    np.testing.assert_allclose(np.full(2, 0.5) @ faces, [0.5, 0.5], rtol=1e-12)
    assert np.abs(printed @ corners - 0.5).max() > 0.9  # three times the weight, three times the place


def test_the_limit_of_high_temperature_is_a_ball_that_grows():
    """Not an ellipsoid: in the plane a circle of radius sqrt(eps)."""
    angle = np.linspace(0.0, 2.0 * np.pi, 33)[:-1]
    for temperature in (50.0, 200.0):
        radius = scm_figures.zero_radius(scm_figures.square(4, temperature), angle, 3.0 * np.sqrt(temperature))
        assert radius.max() / radius.min() < 1.005
        assert radius.mean() == pytest.approx(np.sqrt(temperature), rel=0.01)


def test_more_points_do_not_suppress_ripples_and_a_corner_point_bulges():
    assert scm_figures.hausdorff(scm_figures.square(32, 0.5)) == pytest.approx(
        scm_figures.hausdorff(scm_figures.square(4, 0.5)), rel=0.1
    )
    plain, corners = scm_figures.square(4, 0.025), scm_figures.square(4, 0.025, corners=True)
    assert scm_figures.hausdorff(corners) > 2.0 * scm_figures.hausdorff(plain)


def test_concentric_spheres_attract():
    """The text calls the concentric state unstable; it is a trap, and steps that deep are reported."""
    model, contact = scm_figures.spheres()
    near, far = scm_figures.soft_force(model, contact, np.array([[0.0, 0.02], [0.0, 0.14]]))[:, 1]
    assert near < -10.0
    assert far > 1.0


def test_the_force_is_twice_differentiable_and_mujocos_is_not():
    jumps = scm_figures.all_jumps()
    ours, printed = np.array(jumps["soft minimum"]), np.array(jumps["damping as printed"])
    assert (ours[1:] <= 0.6 * ours[:-1]).all()
    assert ours[-1] <= 0.07
    assert min(jumps["mujoco"]) > 0.9
    damping = np.array(jumps["damping"])
    assert (damping[1:] <= 0.6 * damping[:-1]).all()
    assert printed[-1] > 0.8 * printed[-2]
