# SPDX-License-Identifier: Apache-2.0
"""Starts that contact can go on from: overlaps end, nothing stands nearer than it rests, deep ones are refused by name."""

import numpy as np
import pytest

import farfield as ff


def boxes(*heights, size=0.05, mass=0.5, side=0.0):
    """Boxes above a floor, their centres at these heights."""
    scene = ff.Scene()
    scene.add_shape("world", name="floor", type="HalfSpace")
    for k, height in enumerate(heights):
        name = f"box{k}"
        scene.add_body(
            name=name,
            position=[side * k, 0, height],
            moments=ff.Moments.from_inertia(mass=mass, center=[0, 0, 0], inertia=mass * size**2 * 2 / 3 * np.eye(3)),
        )
        scene.add_joint(name, name=f"free{k}", type="Free")
        scene.add_shape(name, name=name, type="Box", size=[size] * 3)
    return ff.build_model(scene)


def force_on(model, q, body, contact):
    return -contact.evaluate(model, model.default_parameters(), q).wrench[model.body(body), 2]


def test_what_stands_too_near_is_moved_to_where_it_rests():
    contact = ff.LongRange()
    model = boxes(0.05 + 5e-4 / 2)
    weight = 0.5 * 9.81
    before = force_on(model, model.default_state().q, "box0", contact)
    assert before > 1.5 * weight
    settled = ff.settle(model, model.default_parameters(), model.default_state(), contact)
    (move,) = settled.moves
    assert force_on(model, settled.state.q, "box0", contact) == pytest.approx(weight, rel=1e-3)
    assert move.force == pytest.approx(before / weight, rel=1e-6)
    assert move.other == -1 and move.overlap == 0.0
    np.testing.assert_allclose(move.shift, settled.state.q[:3] - model.default_state().q[:3], atol=1e-15)
    # and stays there
    simulation = ff.Simulation(model, contact=contact, state=settled.state, dt=0.01)
    for _ in range(20):
        assert simulation.step().status == "converged"
    gap = settled.state.q[2] - 0.05
    assert abs(simulation.state.q[2] - settled.state.q[2]) < 0.01 * gap


@pytest.mark.parametrize("depth", [0.0, 1e-4, 3e-3])
def test_small_overlaps_with_the_floor_end(depth):
    model = boxes(0.05 - depth)
    with pytest.raises(ValueError, match=r"intersect at .*settle\(\) resolves"):
        ff.Simulation(model, contact=ff.LongRange()).step()
    settled = ff.settle(model, contact=ff.LongRange())
    (move,) = settled.moves
    assert model.body_names[move.other] == "world"
    assert move.overlap == pytest.approx(depth, abs=1e-5)
    assert move.shift[2] > depth and abs(move.shift[0]) + abs(move.shift[1]) < 1e-6
    assert ff.Simulation(model, contact=ff.LongRange(), state=settled.state).step().status == "converged"


def test_bodies_that_overlap_part_the_shortest_way():
    model = boxes(0.5, 0.55, side=0.097)
    settled = ff.settle(model, contact=ff.LongRange())
    (move,) = settled.moves
    assert move.overlap == pytest.approx(0.003, rel=0.05)  # sideways, not up
    assert abs(move.shift[0]) > 0.9 * np.linalg.norm(move.shift)
    assert ff.Simulation(model, contact=ff.LongRange(), state=settled.state).step().status == "converged"


def test_what_is_well_is_left_alone():
    model = boxes(0.06, 0.3)
    state = model.default_state()
    settled = ff.settle(model, model.default_parameters(), state, ff.LongRange())
    assert settled.moves == []
    np.testing.assert_array_equal(settled.state.q, state.q)
    assert ff.settle(boxes(0.0), contact=None).moves == []


def test_deep_overlaps_are_errors_that_name_them():
    with pytest.raises(ValueError, match=r"'box0' and 'world' overlap .* by more than .* max_depth"):
        ff.settle(boxes(0.01), contact=ff.LongRange())
    assert ff.settle(boxes(0.01), contact=ff.LongRange(), max_depth=0.5).moves
    with pytest.raises(ValueError, match="max_depth -1, expected > 0"):
        ff.settle(boxes(0.1), contact=ff.LongRange(), max_depth=-1)


def test_what_hangs_on_no_free_joint_is_named():
    scene = ff.Scene()
    scene.add_shape("world", name="floor", type="HalfSpace")
    scene.add_body(name="arm", position=[0, 0, 0.04])
    scene.add_joint("arm", name="hinge", type="Hinge", axis=[0, 0, 1])
    scene.add_shape("arm", name="arm", type="Box", size=[0.05] * 3)
    with pytest.raises(ValueError, match=r"'world' and 'arm' overlap .* neither hangs on a free joint"):
        ff.settle(ff.build_model(scene), contact=ff.LongRange())
