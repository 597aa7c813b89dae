# SPDX-License-Identifier: Apache-2.0
"""Robots of installed packages load, stand on a floor and run, with right gradients."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import farfield as ff
from farfield.experiments import corpus

FEW = corpus.Plan(steps=20)


def find(package: str, names: tuple[str, ...]) -> list[Path]:
    files = corpus.find_robots(corpus.package_folders([package]))
    found = [path for path in files if path.name in names]
    assert {path.name for path in found} == set(names)
    return found


GYM = ("ant.xml", "half_cheetah.xml", "hopper.xml", "humanoid.xml", "walker2d_v5.xml")


def test_robots_of_gymnasium_run_with_right_gradients():
    for path in find("gymnasium", GYM):
        *_, row = corpus.examine(FEW, path)
        assert row["loaded"] and row["started"], row
        assert row["status"] == "converged" and row["steps"] == FEW.steps, row
        assert row["min_gap"] > 0.0
        assert row["mujoco_ms"] > 0.0
        assert row["gradient_error"] <= max(1e-5, 10.0 * row["gradient_noise"]), row


def test_directions_of_velocities_keep_ties():
    """Else the state after a step is none of the model's. The last of a chain of two stands before its source."""
    scene = ff.Scene()
    for name in ("last", "middle", "first"):
        scene.add_body(name=name, moments=ff.Moments.from_inertia(mass=1.0, center=[0, 0, 0], inertia=np.eye(3)))
        scene.add_joint(name, name=name, type="Slide", axis=[1.0, 0.0, 0.0])
    scene.add_tie(joint="last", source="middle", ratio=-2.0)
    scene.add_tie(joint="middle", source="first", ratio=3.0)
    model = ff.build_model(scene)
    np.testing.assert_array_equal(corpus.keep_ties(model, np.array([1.0, 1.0, 0.5])), [-3.0, 1.5, 0.5])


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_all_robots_of_installed_packages_run():
    rows = [corpus.run_apart(corpus.Plan(), path) for path in corpus.find_robots(corpus.package_folders())]
    summary = corpus.summarize(rows)
    through = [row for row in rows if row.get("status") == "converged"]
    assert summary["ran"] >= 0.9 * summary["loaded"], [row for row in rows if row not in through]
    assert summary["median_within_20_ms"] >= 0.85 * summary["ran"]
