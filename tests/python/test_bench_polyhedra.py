# SPDX-License-Identifier: Apache-2.0
"""Convex polyhedra against what is known: planks, a wall, Coulomb."""

from __future__ import annotations

import numpy as np
import pytest

from farfield.benchmarks import books, polyhedra


def test_twenty_planks_stand_and_carry_their_weight():
    standing = polyhedra.planks(seconds=4.0)
    assert standing.stands
    assert standing.drop < 0.01
    assert standing.drift < 0.01
    assert standing.force_error < 1e-4


@pytest.mark.parametrize("change", [{"pull_in": -books.PULL_IN}, {"reach": 2e-3}])
def test_planks_fall_when_pulled_out_or_when_the_range_is_as_wide_as_they_were_pulled_in(change):
    assert not polyhedra.planks(seconds=3.0, **change).stands


def test_blocks_at_a_wall_turn_as_in_mujoco():
    times, angles = polyhedra.wall()
    reference = polyhedra.wall_mujoco(times)
    assert np.abs(angles[:, 1]).max() > 90.0
    assert np.abs(angles - reference).max() < polyhedra.WALL_DEGREES
    early = times < 0.45  # three impacts
    assert np.abs(angles - reference)[early].max() < 2.5


@pytest.mark.parametrize("ground", ["half-space", "hull"])
def test_a_box_holds_slides_and_stops_by_coulombs_law(ground):
    row = polyhedra.coulomb_row(ground, 0.3)
    assert row["way_over_coulomb"] == pytest.approx(1.0, abs=0.005)
    assert row["creep_over_smoothing"] == pytest.approx(1.0, abs=0.05)
    assert row["acceleration_above_threshold_over_coulomb"] == pytest.approx(1.0, abs=0.02)
