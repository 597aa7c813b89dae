# SPDX-License-Identifier: Apache-2.0
"""The benchmark of contact evaluations: its scenes start apart, its rows add up, and a bound that is missed fails."""

import json

import numpy as np
import pytest

import farfield as ff
from command_line import exit_code
from farfield.benchmarks import evaluations, recorded
from farfield.benchmarks.piles import pile


@pytest.mark.parametrize("count", [20, 40])
def test_a_pile_starts_apart(count):
    model = pile(count)
    assert model.num_bodies == count + 1
    gaps = [pair.distance for pair in ff.closest_points(model, model.default_parameters(), model.default_state().q)]
    assert 1e-4 < min(gaps) < 2e-3


@pytest.mark.parametrize("name", recorded.names())
def test_recorded_motions_fit_their_tasks(name):
    problem, controls = recorded.recorded(name)
    assert controls.shape[1] == problem.model.num_controls
    np.testing.assert_allclose(controls[0], problem.model.default_control(), atol=0.7)
    assert np.abs(np.diff(controls, axis=0)).max() > 1e-3  # it moves


def test_every_recorded_motion_is_a_case():
    used = {case.name for case in evaluations.CASES}
    assert all(name in used or name.rpartition(" ")[0] in used for name in recorded.names())


def test_rows_count_calls_of_the_contact_model():
    options = evaluations.Options(scenes="rest,slide", repeats=1)
    result = evaluations.run(lambda text, turns: lambda: None, options=options)
    assert [(row["scene"], row["contact"]) for row in result["rows"]] == [
        (scene, contact) for contact in ("longrange", "ipc", "polyhedral") for scene in ("rest", "slide")
    ]
    for row in result["rows"]:
        assert row["arrived"] == row["asked"]
        assert row["mean"] == pytest.approx(row["linearizations"] + row["energies"])
        assert 1.0 <= row["mean"] <= row["max"]
    assert [check.name for check in result["checks"]] == [
        "steps that did not arrive or were not reached",
        "rest: evaluations per step",
        "slide: evaluations per step",
    ]


def row(scene, **changed):
    return {
        "scene": scene,
        "contact": "longrange",
        "arrived": 60,
        "asked": 60,
        "mean": 4.0,
        "p95": 10.0,
        "max": 30,
        **changed,
    }


def test_bounds_can_fail():
    passed = {check.name: check.passed for check in evaluations.bounds([row("heaps"), row("rest", mean=2.2)])}
    assert all(passed.values()) and len(passed) == 4
    for worse in (row("heaps", mean=7.1), row("heaps", p95=21.0), row("heaps", arrived=59), row("rest", mean=2.3)):
        assert sum(check.passed is False for check in evaluations.bounds([worse])) == 1
    assert len(evaluations.bounds([row("rest", contact="ipc", mean=50.0)])) == 1  # own rows, no bounds


def test_a_scene_that_is_not_there_is_bad_input(capsys):
    assert exit_code("bench", "evaluations", "--set", "scenes=waterfall") == 2
    assert "expected part of one of: rest" in capsys.readouterr().err


def test_heaps_have_a_row(capsys):
    exit_code(
        "bench",
        "evaluations",
        "--json",
        "--quiet",
        "--set",
        "scenes=heaps",
        "--set",
        "heaps=1",
        "--set",
        "contact=polyhedral",
    )
    result = json.loads(capsys.readouterr().out)
    (only,) = result["rows"]
    assert only["scene"] == "heaps" and only["asked"] == 60
    assert only["mean"] == pytest.approx(only["linearizations"] + only["energies"])
