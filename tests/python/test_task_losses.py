# SPDX-License-Identifier: Apache-2.0
"""Partials of losses against finite differences on the poses themselves, and through a rollout with an offset centre of mass."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import farfield as ff
from farfield.differences import slope
from farfield.optimize.losses import ReachLoss, centers_of_mass

SCENES = Path(__file__).parents[2] / "scenes"
NAMES = ("world", "cup", "ball", "lid")


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Quaternion product."""
    w = a[..., :1] * b[..., :1] - (a[..., 1:] * b[..., 1:]).sum(-1, keepdims=True)
    return np.concatenate([w, a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + np.cross(a[..., 1:], b[..., 1:])], -1)


def turned(poses: np.ndarray, motion: np.ndarray) -> np.ndarray:
    """Poses after a motion (position, rotation vector in world axes)."""
    angle = np.linalg.norm(motion[..., 3:], axis=-1, keepdims=True)
    axis = motion[..., 3:] / np.where(angle > 0.0, angle, 1.0)
    turn = np.concatenate([np.cos(0.5 * angle), np.sin(0.5 * angle) * axis], axis=-1)
    return np.concatenate([poses[..., :3] + motion[..., :3], product(turn, poses[..., 3:])], axis=-1)


def recorded(poses: np.ndarray, moments: np.ndarray):
    """What a loss sees of a trajectory."""
    model = SimpleNamespace(num_bodies=len(NAMES), body=NAMES.index)
    return SimpleNamespace(poses=lambda: poses, parameters=SimpleNamespace(moments=moments), model=model)


@pytest.fixture
def motion():
    random = np.random.default_rng(5)
    poses = random.standard_normal((6, 4, 7))
    poses[..., 3:] /= np.linalg.norm(poses[..., 3:], axis=-1, keepdims=True)
    moments = np.concatenate([random.uniform(1, 2, (4, 1)), 0.3 * random.standard_normal((4, 9))], axis=1)
    return poses, moments, random


@pytest.mark.parametrize("when", ["sum", "end"])
@pytest.mark.parametrize("dimension", [2, 3])
def test_partials_match_differences(motion, when, dimension):
    poses, moments, random = motion
    targets = 0.5 * random.standard_normal((3, dimension))
    loss = ReachLoss(["cup", 3, "cup"], targets, 0.8, weights=[1.0, 0.5, 2.0], when=when)
    value, partials = loss(recorded(poses, moments))
    assert value > 0.0
    by_pose = partials.by_pose
    assert by_pose.shape == (6, 4, 6)
    assert not by_pose[:, [0, 2]].any()  # other bodies do not matter
    assert not by_pose[0].any()
    assert partials.last() == 5
    if when == "end":
        assert not by_pose[:-1].any()
    for _ in range(3):
        direction = random.standard_normal(by_pose.shape)
        numeric = slope(lambda h, d=direction: loss(recorded(turned(poses, h * d), moments))[0])
        assert numeric.relative_error((by_pose * direction).sum()) < 1e-8
    by_moments = partials.by_parameters["moments"]
    for _ in range(3):
        direction = random.standard_normal(moments.shape)
        numeric = slope(lambda h, d=direction: loss(recorded(poses, moments + h * d))[0])
        assert numeric.relative_error((by_moments * direction).sum()) < 1e-8


def test_value_is_the_squared_distance_beyond_the_radius(motion):
    poses, moments, _ = motion
    tape = recorded(poses, moments)
    centers, arms = centers_of_mass(tape, [1])
    w, x, y, z = poses[2, 1, 3:]
    first_column = np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)])
    alone = recorded(poses, np.array([[1.0] + [0.0] * 9, [2.0, 1.0] + [0.0] * 8] + [[1.0] + [0.0] * 9] * 2))
    np.testing.assert_allclose(centers_of_mass(alone, [1])[1][2, 0], 0.5 * first_column, rtol=1e-12)
    np.testing.assert_allclose(centers, poses[:, [1], :3] + arms)
    target = centers[-1, 0] + [0.3, 0.0, 0.4]
    value, _ = ReachLoss(["cup"], [target], 0.2, when="end")(tape)
    assert value == pytest.approx(0.25 - 0.04, rel=1e-12)
    inside, partials = ReachLoss(["cup"], [target], 0.6, when="end")(tape)
    assert inside == 0.0
    assert not partials.any()
    distances = ReachLoss(["cup"], [target], 0.2).distances(tape)
    assert distances.shape == (6, 1)
    assert distances[-1, 0] == pytest.approx(0.5)


@pytest.mark.parametrize("radius", [0.0, 0.8])
def test_residuals_and_their_partials(motion, radius):
    poses, moments, random = motion
    loss = ReachLoss(["cup", "lid"], random.standard_normal((2, 3)), radius, weights=[1.0, 4.0], when="end")
    tape = recorded(poses, moments)
    residuals, partials = loss.residuals(tape), loss.residual_partials(tape)
    beyond = loss.distances(tape)[-1] - 0.5 * radius
    assert beyond.min() > 0.1
    assert residuals @ residuals == pytest.approx(beyond**2 @ [1.0, 4.0], rel=1e-12)
    assert len(partials) == len(residuals) == 6
    direction = random.standard_normal(poses[..., :6].shape)
    weights = random.standard_normal(moments.shape)
    for k, partial in enumerate(partials):
        assert partial.any()
        numeric = slope(lambda h, k=k: loss.residuals(recorded(turned(poses, h * direction), moments))[k])
        assert numeric.relative_error((partial.by_pose * direction).sum()) < 1e-8
        numeric = slope(lambda h, k=k: loss.residuals(recorded(poses, moments + h * weights))[k])
        assert numeric.relative_error((partial.by_parameters["moments"] * weights).sum()) < 1e-8


def test_residuals_vanish_well_inside(motion):
    poses, moments, _ = motion
    tape = recorded(poses, moments)
    target = centers_of_mass(tape, [1])[0][-1, 0] + [0.3, 0.0, 0.0]
    for radius, there in ((0.7, True), (0.5, False)):
        loss = ReachLoss(["cup"], [target], radius, when="end")
        assert loss.residuals(tape).any() != there
        assert any(partial.any() for partial in loss.residual_partials(tape)) != there


def test_through_a_rollout():
    """The links of this arm have their centres of mass away from their origins."""
    model, parameters = ff.load(SCENES / "arm7.xml")
    random = np.random.default_rng(6)
    controls = model.default_control() + 0.3 * random.standard_normal((20, model.num_controls))
    loss = ReachLoss([model.num_bodies - 1, 3], random.standard_normal((2, 3)), 0.1)
    assert (
        np.abs(
            centers_of_mass(ff.rollout(model, parameters, model.default_state(), controls, contact=None), [3])[1]
        ).max()
        > 1e-2
    )
    direction = random.standard_normal(controls.shape)

    def run(h: float) -> ff.Trajectory:
        return ff.rollout(
            model, parameters, model.default_state(), controls + h * direction, tolerance=1e-11, contact=None
        )

    gradient = ff.rollout_vjp(run(0.0), dL_dpose=loss(run(0.0))[1].by_pose)
    analytic = (gradient.controls * direction).sum()
    assert abs(analytic) > 1e-3
    assert slope(lambda h: loss(run(h))[0]).relative_error(analytic) < 1e-6


def test_bad_values_are_named():
    with pytest.raises(ValueError, match=r"targets of shape \(1, 3\) for 2 bodies"):
        ReachLoss(["a", "b"], [[0.0, 0.0, 0.0]], 0.1)
    with pytest.raises(ValueError, match="radius -1"):
        ReachLoss(["a"], [[0.0, 0.0, 0.0]], -1.0)
    with pytest.raises(ValueError, match="when 'never'"):
        ReachLoss(["a"], [[0.0, 0.0, 0.0]], 0.1, when="never")
    with pytest.raises(ValueError, match="2 weights for 1 bodies"):
        ReachLoss(["a"], [[0.0, 0.0, 0.0]], 0.1, weights=[1.0, 2.0])
