# SPDX-License-Identifier: Apache-2.0
"""Billiards: the rack stays, the starts are trivial and feel the rack, shots are certified, and a shot is found."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import farfield as ff
from farfield.engines.adjoint import Adjoint
from farfield.tasks.balls import RADIUS, ball_mesh, rack_places
from farfield.tasks.billiards import MOVED, Billiards, Table


@pytest.fixture(scope="module")
def problem():
    return Billiards().build(0)


def objective(problem, **options) -> Adjoint:
    return Adjoint(
        problem.model,
        problem.parameters,
        problem.parameterization,
        problem.loss,
        state=problem.state,
        dt=problem.dt,
        contact=ff.LongRange(),
        tolerance=problem.tolerance,
        threads=2,
        **options,
    )


@pytest.mark.parametrize(("frequency", "triangles"), [(2, 32), (4, 128), (7, 392)])
def test_balls_are_closed_round_and_stand_on_a_side(frequency, triangles):
    mesh = ball_mesh(RADIUS, frequency)
    assert len(mesh.triangles) == triangles
    assert mesh.is_watertight
    np.testing.assert_allclose(np.linalg.norm(mesh.vertices, axis=1), RADIUS, rtol=1e-12)
    bottom = mesh.vertices[:, 2].min()
    assert (mesh.vertices[:, 2] < bottom + 1e-9).sum() == 3
    moments = mesh.moments(density=1.0)
    np.testing.assert_allclose(moments.center, 0.0, atol=1e-12)
    assert 0.7 < moments.mass / (4 / 3 * np.pi * RADIUS**3) < 1.0


def test_the_rack_does_not_scatter_and_every_start_is_far(problem):
    table = Table(Billiards())
    trajectory = objective(problem).simulate([problem.parameterization.initial()])[0]
    assert trajectory.converged
    assert trajectory.min_gap > 0.0
    places = trajectory.poses()[:, 2:, :3]
    assert np.linalg.norm(places[-1] - places[0], axis=1).max() < 0.05 * RADIUS
    driver = problem.driver(objective(problem))
    starts = [start for attempt in driver.searches for start in attempt.search.starts]
    assert len({tuple(start.x) for start in starts}) == len(starts) == 24
    for start in starts:
        assert not start.x[2:].any()
        assert np.linalg.norm(rack_places(0.4) - start.x[:2], axis=1).min() >= 10.0 * RADIUS
        np.testing.assert_array_equal(table.projection().project(start.x), start.x)


def test_the_projection_keeps_the_cue_ball_off_the_rack():
    table = Table(Billiards())
    for angle in np.linspace(0.0, 6.0, 13):
        x = table.projection().project(
            np.array([table.center[0] + 0.01 * np.cos(angle), table.center[1] + 0.1, 9.0, 0.0])
        )
        assert np.linalg.norm(rack_places(0.4) - x[:2], axis=1).min() > 2.0 * RADIUS
        assert np.hypot(x[2], x[3]) <= 4.0 + 1e-12


def test_targets_come_from_a_shot(problem):
    """Seeded, reachable, different balls for two targets, and moved by at least three radii."""
    again = Billiards().build(0)
    np.testing.assert_array_equal(problem.loss.targets, again.loss.targets)
    two = Billiards(targets=2).build(3)
    assert len(set(two.loss.bodies)) == 2
    for each in (problem, two):
        start = each.model.default_state().q.reshape(-1, 7)
        for name, place in zip(each.loss.bodies, each.loss.targets, strict=True):
            assert np.linalg.norm(start[each.model.body(name) - 1, :2] - place) >= MOVED


def test_a_ball_at_rest_feels_the_rack(problem):
    """The point of it all: 10 radii away and at rest, the loss has a gradient by all four unknowns."""
    (here,) = objective(problem).evaluate([problem.parameterization.initial()])
    assert here.value > 0.0
    assert np.abs(here.gradient).min() > 0.0


@pytest.mark.long
def test_the_ring_finds_the_shot(problem):
    ready = objective(problem)
    driver = problem.driver(ready)
    while not driver.done:
        row = driver.advance()
    assert row["loss"] == 0.0
    trajectory = ready.roll(driver.inputs(), tolerance=1e-8)
    assert trajectory.converged
    assert trajectory.min_gap > 0.0
    assert problem.success(trajectory)
    assert problem.report(trajectory)["distance"] <= 0.1


@pytest.mark.parametrize("start", ["single", "sampled"])
def test_other_starts(start):
    task = Billiards(start=start, iterations=1, samples=3)
    problem = task.build(0)
    driver = problem.driver(objective(problem))
    rows = []
    while not driver.done:
        rows.append(driver.advance())
    assert [len(row["losses"]) for row in rows] == ([1] if start == "single" else [3, 1])
    assert rows[-1]["loss"] <= rows[0]["loss"]


def test_options_are_described():
    assert all(item.metadata.get("help") for item in dataclasses.fields(Billiards))
