# SPDX-License-Identifier: Apache-2.0
"""`farfield bench`: the table of names, the timing of peers, and what a failed bound does."""

import json

import numpy as np
import pytest

from farfield import cli
from farfield.benchmarks import BENCHMARKS, step
from farfield.benchmarks.measure import Check, result_hash, take_turns


def test_list_has_one_line_per_benchmark(capsys):
    assert cli.main(["bench", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [name for name, _, _ in BENCHMARKS]


@pytest.mark.parametrize("arguments", [["bench"], ["bench", "speed"]])
def test_unknown_name_is_bad_input(capsys, arguments):
    assert cli.main(arguments) == 2
    output = capsys.readouterr()
    assert "expected one of: step" in output.err
    assert output.out == ""


def test_peers_take_turns_and_the_first_turn_only_warms_up():
    now, order = [0.0], []

    def peer(name, durations):
        durations = iter(durations)

        def call():
            order.append(name)
            now[0] += next(durations)

        return call

    peers = {"a": (peer("a", [100, 4, 2, 6]), 2), "b": (peer("b", [100, 1, 1, 5]), 1)}
    found = take_turns(peers, repeats=3, clock=lambda: now[0])
    assert order == ["a", "b"] * 4
    assert (found["a"].minimum, found["a"].median) == (1.0, 2.0)
    assert (found["b"].minimum, found["b"].median) == (1.0, 1.0)


def test_checks_and_hashes_can_fail():
    assert Check("x", 5.0, ">=", 5.0).passed is True
    assert Check("x", 1.1, "<=", 1.0).passed is False
    assert Check("x", None, ">=", 1.0).passed is None
    x = np.arange(3.0)
    assert result_hash([x]) == result_hash([x.copy()])
    assert result_hash([x]) != result_hash([np.nextafter(x, 1.0)])


@pytest.mark.parametrize(("value", "code"), [(2.0, 0), (0.5, 1)])
def test_a_missed_bound_exits_1_with_one_json_object(capsys, monkeypatch, value, code):
    found = {"timings": {}, "checks": [Check("speed", value, ">=", 1.0)], "hashes": {"ant": "0"}}
    monkeypatch.setattr(step, "run", lambda progress: found)
    assert cli.main(["bench", "step", "--json", "--quiet"]) == code
    output = capsys.readouterr()
    assert output.out.count("\n") == 1
    result = json.loads(output.out)
    assert result["passed"] is (code == 0)
    assert result["checks"][0]["value"] == value
    assert {"cpu", "cores", "commit", "compiler", "flags", "simd"} <= set(result["machine"])
