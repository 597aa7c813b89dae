# SPDX-License-Identifier: Apache-2.0
"""What contact models promise is measured, and broken promises are noticed."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import farfield as ff
from farfield import cli, properties
from farfield.properties import forces, mujoco_contact

SOUND = ff.LongRange(blend=[properties.BLEND], weight_in_joules=1.0).evaluate
SUBJECT = properties.Subject(SOUND)


def distance(q):
    """Of the origins, or height above the half-space."""
    return float(np.linalg.norm(q[7:10] - q[:3])) if len(q) > 7 else float(q[2])


def broken(change):
    """The long-range model with its energy, wrench and Hessian changed by ``change(found, r)``, r as in ``distance``."""

    def evaluate(model, parameters, q):
        found = SOUND(model, parameters, q)
        copy = SimpleNamespace(
            energy=found.energy, wrench=np.array(found.wrench), hessian=np.array(found.blocks[0].hessian)
        )
        change(copy, distance(q))
        return SimpleNamespace(energy=copy.energy, wrench=copy.wrench, blocks=[SimpleNamespace(hessian=copy.hessian)])

    return properties.Subject(evaluate)


def capped(found, r):
    found.energy = min(found.energy, 1e6)


def saturated(found, r):
    """Grows with every approach, but never beyond 1."""
    found.energy = 1.0 if np.isinf(found.energy) else found.energy / (1.0 + found.energy)


def slowing(found, r):
    """Infinite where bodies touch, bounded before."""
    found.energy = found.energy if np.isinf(found.energy) else 1.0 - found.energy**-0.5


def logarithmic(found, r):
    found.energy = np.log1p(found.energy)


def kinked(found, r):
    """A stiffness that is only there nearer than 1.1 m."""
    found.hessian *= 1.0 if r > 1.1 else 1.5


def sticky(found, r):
    """Pulls where the bodies are neither close nor far."""
    if 0.3 < r < 3.0:
        found.wrench *= -1.0


def cut_off(found, r):
    if r > 1e5:
        found.wrench *= 0.0


EXPECTED = {
    "longrange": "1111",
    "longrange-paper": "1111",
    "polyhedral": "1110",
    "ipc": "1010",
    "ipc-global": "1011",
    "softmin": "0110",
    "mujoco": "0010",
}


def test_command_measures_all_models(capsys):
    assert cli.main(["properties", "--quick", "--json"]) == 0
    models = json.loads(capsys.readouterr().out)["models"]
    verdicts = {name: "".join(str(int(row[key])) for key in properties.PROPERTIES) for name, row in models.items()}
    assert verdicts == EXPECTED
    figures = {name: row["figures"] for name, row in models.items()}
    assert figures["longrange"]["barrier_power"] == pytest.approx(1.0, abs=0.01)
    assert figures["longrange"]["non_vanishing_law_error"] < 1e-3
    assert figures["polyhedral"]["barrier_power"] == pytest.approx(5.0, abs=0.01)
    assert figures["ipc"]["barrier_power"] == pytest.approx(0.0, abs=0.05)  # a logarithm
    assert figures["ipc"]["smooth_jump_left_along_lines"] > 1e-3
    for name in ("longrange", "polyhedral", "ipc", "ipc-global"):
        assert figures[name]["barrier_finite_when_touching"] == 0
        assert figures[name]["non_prehensile_terms"] > 15
    for name in ("softmin", "mujoco"):
        assert figures[name]["barrier_finite_when_touching"] == 20


@pytest.mark.parametrize("change", [capped, saturated, slowing])
def test_a_finite_barrier_is_caught(change):
    assert not properties.measure_barrier(broken(change), properties.QUICK).passed


def test_a_logarithm_is_a_barrier():
    finding = properties.measure_barrier(broken(logarithmic), properties.QUICK)
    assert finding.passed
    assert finding.figures["barrier_power"] == pytest.approx(0.0, abs=0.01)


def test_a_kink_is_caught_along_lines_and_at_switches():
    finding = properties.measure_smooth(broken(kinked), properties.QUICK)
    assert not finding.passed
    assert finding.figures["smooth_jump_left_along_lines"] > 0.1
    assert finding.figures["smooth_jump_left_above_half_space"] > 0.1
    random = np.random.default_rng(5)
    pair = properties.solids(random)
    q = pair.placed(random, 1.1)
    twist = np.concatenate([pair.away(q), np.zeros(3)])
    steps = (1e-3, 1e-5)
    assert properties.one_sided(SUBJECT, pair, q, twist, steps) < properties.LINEAR_SLACK
    assert properties.one_sided(broken(kinked), pair, q, twist, steps) > 10.0


def test_attraction_is_caught():
    finding = properties.measure_non_prehensile(broken(sticky), properties.QUICK)
    assert not finding.passed
    assert finding.figures["non_prehensile_min_term"] < -0.5


def test_a_force_that_ends_is_caught():
    finding = properties.measure_non_vanishing(broken(cut_off), properties.QUICK)
    assert not finding.passed
    assert finding.figures["non_vanishing_min_force"] == 0.0


def test_mujoco_pushes_boxes_apart_only_when_they_overlap():
    random = np.random.default_rng(2)
    subject = properties.MODELS["mujoco"].make()
    for make in (subject.solids, subject.grounded):
        pair = make(random)
        q = pair.to_gap(pair.placed(random, 3.0), 1e-3)
        out, gap = pair.outward(q)
        assert not subject.force(pair, q).any()
        overlapping = pair.moved(q, -(gap + 1e-3) * out)
        assert subject.force(pair, overlapping) @ out > 0.0
        assert subject.energy(pair, overlapping) > 0.0
        normal = mujoco_contact.World(pair.model).normal_forces(overlapping)
        assert len(normal) > 0
        assert np.all(normal >= 0.0)


def test_a_broken_promise_exits_1(monkeypatch, capsys):
    monkeypatch.setattr(properties, "MODELS", {"longrange": properties.Row(lambda: broken(cut_off))})
    assert cli.main(["properties", "--quick"]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert "non-vanishing" in output.err
    assert "NO" in output.err


def test_curves_carry_a_kilogram_at_a_millimetre_and_mujoco_none_before_overlap():
    found = forces.curves(points=16)
    assert list(found) == ["two spheres", "two boxes, corner to face", forces.SLIDING]
    for panel in list(found.values())[:2]:
        assert set(panel) == set(forces.COLORS)
        for name, curve in panel.items():
            assert np.all(np.isfinite(curve.force))
            if name == "mujoco":
                assert np.all(curve.force[curve.way > 0.0] == 0.0)
                assert np.all(curve.force[curve.way < -1e-4] > 0.0)
                continue
            assert np.all(np.diff(curve.force) <= 0.0)  # weaker and weaker
            below, above = curve.force[curve.way < 1e-3].min(), curve.force[curve.way > 1e-3].max()
            assert above < forces.WEIGHT < below
        assert panel["ipc"].force[-1] == panel["polyhedral"].force[-1] == 0.0
        assert panel["longrange"].force[-1] > 0.0
