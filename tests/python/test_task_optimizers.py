# SPDX-License-Identifier: Apache-2.0
"""Optimisers and projections: invariances, exact resumption, sets that really hold, errors that name the value."""

from __future__ import annotations

import numpy as np
import pytest

from farfield.optimize.optimizers import Adam, GradientDescent
from farfield.optimize.projections import Box, Disc, Outside, Sequential


def descend(optimizer, gradients, x=None):
    x = np.zeros(np.shape(gradients[0])) if x is None else x
    for gradient in gradients:
        x = optimizer.step(x, gradient)
    return x


def test_adam_by_hand():
    """Two steps of the published algorithm, written out."""
    x = descend(Adam(0.1, betas=(0.3, 0.5), epsilon=0.0), [np.array([2.0]), np.array([-1.0])])
    m = 0.3 * (0.7 * 2.0) + 0.7 * -1.0
    v = 0.5 * (0.5 * 4.0) + 0.5 * 1.0
    second = 0.1 * (m / (1 - 0.09)) / np.sqrt(v / (1 - 0.25))
    assert x[0] == pytest.approx(-0.1 - second, rel=1e-15)


def test_adam_does_not_depend_on_the_size_of_gradients():
    """Far bodies give gradients of 1e-12 and less; with the usual epsilon of 1e-8 nothing would move."""
    gradients = np.random.default_rng(1).standard_normal((5, 4, 3))
    near, far = descend(Adam(0.1), gradients), descend(Adam(0.1), 1e-14 * gradients)
    np.testing.assert_allclose(near, far, rtol=1e-12)
    frozen = descend(Adam(0.1, epsilon=1e-8), 1e-14 * gradients)
    assert np.abs(frozen).max() < 1e-5


def test_groups_turn_with_the_world_and_coordinates_do_not():
    random = np.random.default_rng(2)
    gradients = random.standard_normal((6, 4, 3))
    turn = np.eye(3)
    turn[:2, :2] = [[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]]
    groups = [[0, 1]]
    straight = descend(Adam(0.1, groups=groups), gradients) @ turn.T
    np.testing.assert_allclose(straight, descend(Adam(0.1, groups=groups), gradients @ turn.T), rtol=1e-12)
    plain = descend(Adam(0.1), gradients) @ turn.T
    assert np.abs(plain - descend(Adam(0.1), gradients @ turn.T)).max() > 1e-3
    # the first step of a group has the length of the rate, and what is in no group is as without groups
    first = Adam(0.1, groups=groups).step(np.zeros((4, 3)), gradients[0])
    np.testing.assert_allclose(np.linalg.norm(first[:, :2], axis=1), 0.1, rtol=1e-12)
    np.testing.assert_array_equal(first[:, 2], Adam(0.1).step(np.zeros((4, 3)), gradients[0])[:, 2])


@pytest.mark.parametrize(
    "make", [lambda: Adam(0.1, groups=[[0, 2]]), lambda: GradientDescent(0.1, normalized=True)], ids=["adam", "plain"]
)
def test_resumes_bit_for_bit(make):
    gradients = np.random.default_rng(3).standard_normal((8, 5, 3))
    whole = descend(make(), gradients)
    first, second = make(), make()
    middle = descend(first, gradients[:3])
    second.restore({key: np.array(value) for key, value in first.state().items()})
    assert descend(second, gradients[3:], middle).tobytes() == whole.tobytes()
    second.reset()
    assert descend(second, gradients).tobytes() == whole.tobytes()


def test_normalized_descent_has_the_length_of_its_rate():
    gradient = np.array([3.0, 4.0])
    np.testing.assert_allclose(GradientDescent(0.5).step(np.zeros(2), gradient), [-1.5, -2.0])
    for size in (1.0, 1e-200, 1e200):
        step = GradientDescent(0.5, normalized=True).step(np.zeros(2), size * gradient)
        np.testing.assert_allclose(step, [-0.3, -0.4], rtol=1e-12)
    assert not GradientDescent(0.5, normalized=True).step(np.zeros(2), np.zeros(2)).any()


def test_both_find_the_bottom_of_a_bowl():
    size = np.array([1.0, 30.0])
    for optimizer in (Adam(0.02), GradientDescent(0.02)):
        x = np.array([1.0, -2.0])
        for _ in range(300):
            x = optimizer.step(x, size * x)
        assert np.abs(x).max() < 0.05


def test_bad_values_are_named():
    with pytest.raises(ValueError, match="learning_rate -1"):
        Adam(-1.0)
    with pytest.raises(ValueError, match="betas"):
        Adam(0.1, betas=(0.3, 1.0))
    with pytest.raises(ValueError, match="every index at most once"):
        Adam(0.1, groups=[[0, 1], [1]])
    with pytest.raises(ValueError, match=r"gradient of shape \(3,\) for x of shape \(2,\)"):
        Adam(0.1).step(np.zeros(2), np.zeros(3))
    with pytest.raises(ValueError, match="not finite"):
        GradientDescent(0.1).step(np.zeros(1), np.array([np.nan]))
    with pytest.raises(ValueError, match="lower <= upper"):
        Box(1.0, 0.0)
    with pytest.raises(ValueError, match="radius 0"):
        Disc([0.0, 0.0], 0.0, [0, 1])
    with pytest.raises(ValueError, match="one coordinate per axis"):
        Outside([0.0], 1.0, [0, 1])


SETS = {
    "box": (Box([-0.5, -np.inf, 0.0, -1.0], [0.5, 0.2, 0.0, 1.0]), lambda x: (np.abs(x[:, 0]) <= 0.5) & (x[:, 2] == 0)),
    "disc": (
        Disc([0.3, -0.2], 0.7, [0, 2]),
        lambda x: np.hypot(x[:, 0] - 0.3, x[:, 2] + 0.2) <= 0.7 * (1 + 1e-12),
    ),
    "outside": (
        Outside([0.3, -0.2], 0.7, [0, 2]),
        lambda x: np.hypot(x[:, 0] - 0.3, x[:, 2] + 0.2) >= 0.7 * (1 - 1e-12),
    ),
}


@pytest.mark.parametrize("name", SETS)
def test_projections_go_to_the_nearest_point(name):
    chosen, inside = SETS[name]
    random = np.random.default_rng(4)
    x = random.standard_normal((200, 4))
    before = x.copy()
    y = chosen.project(x)
    assert np.array_equal(x, before)
    assert inside(y).all()
    assert 10 < (~inside(x)).sum() < 200 or name == "box"
    np.testing.assert_allclose(chosen.project(y), y, atol=1e-15)
    kept = inside(x) & (np.abs(x - y).max(axis=1) < 1e-12)
    assert np.array_equal(x[kept], y[kept])
    # no other point of the set is nearer, tried with points of the set around each
    for _ in range(20):
        other = chosen.project(y + 0.1 * random.standard_normal(y.shape))
        assert np.all(np.linalg.norm(other - x, axis=1) >= np.linalg.norm(y - x, axis=1) - 1e-12)


def test_the_center_leaves_an_occupied_place_and_sets_combine():
    out = Outside([1.0, 2.0], 0.5, [0, 1])
    np.testing.assert_allclose(out.project(np.array([1.0, 2.0, 9.0])), [1.5, 2.0, 9.0])
    both = Sequential(out, Box([-np.inf, -np.inf, 0.0], [np.inf, np.inf, 1.0]))
    np.testing.assert_allclose(both.project(np.array([1.0, 2.1, 9.0])), [1.0, 2.5, 1.0])
