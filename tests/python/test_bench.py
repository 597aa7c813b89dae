# SPDX-License-Identifier: Apache-2.0
"""`farfield bench`: the table of names, the timing of peers, and what a failed bound does."""

import json

import numpy as np
import pytest

import farfield as ff
from farfield import cli
from farfield.benchmarks import BENCHMARKS, billiards, books, grids, racks, step
from farfield.benchmarks import filter as filter_benchmark
from farfield.benchmarks.measure import Check, result_hash, take_turns


def test_list_has_one_line_per_benchmark(capsys):
    assert cli.main(["bench", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [each.name for each in BENCHMARKS]


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


def silent(text, turns):
    return lambda: None


def test_books_finds_the_equilibrium_and_leaves_a_small_stack_standing():
    stack = books.Stack(planks=3)
    result = books.run(silent, weights=(1e-7,), stack=stack, seconds=0.2)
    row = result["rows"][0]
    assert {"mu", "stands", "margin", "margins", "force_error", "paper_margin"} <= set(row)
    assert row["stands"] is True
    assert row["coulomb"]["stands"] is True
    assert row["coulomb"]["start"] == "settled"
    assert row["margins"]["smallest_fulcrum"] <= row["margin"] <= row["margins"]["mean_overlap_centre"]
    # the top plank of three: only the lowest is not its neighbour, and pushes it up
    assert 0.0 < row["force_error"] < 0.01 * books.MASS * books.GRAVITY


def test_books_tells_when_planks_fall():
    stack = books.Stack(planks=3, pull_in=-0.01)
    model = stack.model(1e-3, books.FREE)
    parameters = books.weighted(model, 1e-8, books.FRICTION)
    fallen = books.stand(model, parameters, books.contact(), np.array(model.default_state().q), 3.0, lambda: None)
    assert fallen["stands"] is False
    assert fallen["seconds"] < 3.0
    assert max(fallen["drop"], fallen["drift"]) > books.DRIFT
    assert books.coulomb_verdict(fallen).startswith("under Coulomb friction it ")


def test_billiards_has_the_promised_keys():
    pytest.importorskip("ipctk")
    result = billiards.run(silent, sizes=(32,), repeats=1, steps=1, brute=False)
    row = result["rows"][0]
    expected = {"triangles", "longrange_ms", "brute_ms", "ipc_ms", "step_ms", "step_two_threads_ms", "vjp_ms", "hash"}
    assert expected <= set(row)
    assert row["longrange_ms"] > 0.0
    assert row["ipc_ms"] > 0.0
    assert "exponent" in result


def test_grids_are_parallel_squares_of_the_right_size():
    for triangles in (8, 32):
        vertices, faces = grids.grid(round((triangles // 2) ** 0.5))
        a, b, c = (vertices[faces[:, k]] for k in range(3))
        normals = np.cross(b - a, c - a)
        assert len(faces) == triangles
        assert np.array_equal(normals, np.tile([0.0, 0.0, 1.0], (triangles, 1)))  # half a unit square each
    result = grids.run(silent, sizes=(8, 32), repeats=1, blends=(0.5,))
    assert [row["triangles"] for row in result["rows"]] == [8, 32]
    assert set(result["exponents"]) == {"default", "cold", "blend 0.5"}
    assert result["checks"][0].bound == 1.05
    with pytest.raises(ValueError, match="twice a square"):
        grids.scene(30)


def test_the_filter_certifies_about_as_much_as_its_peer():
    pytest.importorskip("ipctk")
    result = filter_benchmark.run(silent, sizes=(32,), motions=12, peer_motions=6, repeats=1)
    assert [row["motions"] for row in result["rows"]] == ["random", "axis"]
    for row in result["rows"]:
        assert row["count"] == 6
        assert 0.0 < row["filter_us"] <= row["worst_us"]
        assert row["fraction"] == pytest.approx(row["ipc_fraction"], rel=0.3)


def test_filter_motions_are_as_long_as_they_should_be():
    moves = filter_benchmark.random_motions(5, 1).reshape(5, 16, 2, 3)
    lengths = np.linalg.norm(moves, axis=-1)
    np.testing.assert_allclose(lengths[:, :-1, 0], 2e-3)
    np.testing.assert_allclose(lengths[:, -1, 0], 2e-2)
    np.testing.assert_allclose(lengths[:, :, 1], 0.02)
    moves = filter_benchmark.axis_motions(8, 2).reshape(8, 16, 6)
    assert np.array_equal(np.sum(moves != 0.0, axis=-1), np.ones((8, 16)))
    assert np.all(np.abs(moves).max(axis=-1) == 5e-3)
    assert np.array_equal(moves[4], np.tile(moves[4, 0], (16, 1)))


def test_racked_balls_are_as_far_apart_as_they_should_be():
    for triangles, make in racks.BALLS.items():
        vertices, faces = make()
        mesh = ff.TriangleMesh(name="ball", vertices=vertices, triangles=faces)
        assert len(faces) == triangles
        assert mesh.is_watertight
        assert mesh.moments(density=1.0).mass > 0.0  # oriented outward
    model = racks.rack(32)
    gaps = [pair.distance for pair in ff.closest_points(model, model.default_parameters(), model.default_state().q)]
    assert min(gaps) == pytest.approx(racks.GAP, rel=1e-9)


def test_the_summary_shows_rows(capsys, monkeypatch):
    rows = [{"mu": 1e-7, "stands": True, "margins": {"top": 2e-3}, "force_error": None}]
    found = {"timings": {}, "checks": [], "hashes": {}, "rows": rows}
    monkeypatch.setattr(books, "run", lambda progress: found)
    assert cli.main(["bench", "books"]) == 0
    shown = capsys.readouterr().err
    assert "yes" in shown
    assert "top 0.002" in shown
