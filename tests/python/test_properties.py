# SPDX-License-Identifier: Apache-2.0
"""What contact models promise is measured, and broken promises are noticed."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import farfield as ff
from farfield import cli, properties

SOUND = ff.LongRange(blend=[properties.BLEND]).evaluate


def broken(change):
    """The long-range model with its energy, wrench and Hessian changed by ``change(found, r)``, r the distance of the origins."""

    def evaluate(model, parameters, q):
        found = SOUND(model, parameters, q)
        copy = SimpleNamespace(
            energy=found.energy, wrench=np.array(found.wrench), hessian=np.array(found.blocks[0].hessian)
        )
        change(copy, float(np.linalg.norm(q[7:10] - q[:3])))
        return SimpleNamespace(energy=copy.energy, wrench=copy.wrench, blocks=[SimpleNamespace(hessian=copy.hessian)])

    return evaluate


def capped(found, r):
    found.energy = min(found.energy, 1e6)


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


def test_command_reports_all_properties(capsys):
    assert cli.main(["properties", "--quick", "--json"]) == 0
    models = json.loads(capsys.readouterr().out)["models"]
    assert set(models) == {"longrange"}
    verdicts = dict(models["longrange"])
    figures = verdicts.pop("figures")
    assert verdicts == dict.fromkeys(properties.PROPERTIES, True)
    assert figures["barrier_min_energy_times_gap"] > 12.0
    assert figures["barrier_finite_when_touching"] == 0
    assert figures["non_prehensile_terms"] > 20
    assert figures["non_vanishing_law_error"] < 1e-3


@pytest.mark.parametrize("change", [capped, logarithmic])
def test_a_finite_barrier_is_caught(change):
    assert not properties.measure_barrier(broken(change), properties.QUICK).passed


def test_a_kink_is_caught_along_lines_and_at_switches():
    assert not properties.measure_smooth(broken(kinked), properties.QUICK).passed
    random = np.random.default_rng(5)
    model, parameters = properties.solids(random)
    q, direction = properties.placed(random, 1.1)
    steps = (1e-3, 1e-5)
    assert properties.one_sided(SOUND, model, parameters, q, direction, steps) < properties.LINEAR_SLACK
    assert properties.one_sided(broken(kinked), model, parameters, q, direction, steps) > 10.0


def test_attraction_is_caught():
    assert not properties.measure_non_prehensile(broken(sticky), properties.QUICK).passed


def test_a_force_that_ends_is_caught():
    finding = properties.measure_non_vanishing(broken(cut_off), properties.QUICK, None)
    assert not finding.passed
    assert finding.figures["non_vanishing_min_force"] == 0.0


def test_a_broken_promise_exits_1(monkeypatch, capsys):
    row = properties.Row(lambda: SimpleNamespace(evaluate=broken(cut_off)))
    monkeypatch.setitem(properties.MODELS, "longrange", row)
    assert cli.main(["properties", "--quick"]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert "non-vanishing" in output.err
    assert "NO" in output.err
