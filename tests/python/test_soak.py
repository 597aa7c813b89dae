# SPDX-License-Identifier: Apache-2.0
"""`farfield soak`, its heaps and the test for intersections that it trusts."""

import json

import numpy as np
import pytest

import farfield as ff
from command_line import exit_code
from farfield.experiments import heaps, intersections, soak, solids


@pytest.mark.parametrize(
    "mesh",
    [
        solids.polyomino("L", solids.L_CELLS, 0.1),
        solids.polyomino("U", solids.U_CELLS, 0.1),
        solids.star("star", 5, 0.2, 0.1, 0.05),
        solids.hull("hull", np.random.default_rng(1).standard_normal((12, 3))),
    ],
    ids=lambda mesh: mesh.name,
)
def test_solids_are_closed_and_turned_outward(mesh):
    mesh.validate()
    assert mesh.is_watertight
    assert mesh.moments(density=1.0).mass > 0.0


def test_solids_have_the_volume_they_should():
    assert solids.polyomino("U", solids.U_CELLS, 0.1).moments(density=1.0).mass == pytest.approx(5e-3)
    star = 5 * 0.2 * 0.1 * np.sin(np.pi / 5) * 0.05  # ten triangles between neighbouring radii
    assert solids.star("star", 5, 0.2, 0.1, 0.05).moments(density=1.0).mass == pytest.approx(star)
    cube = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, 8).T + 1e-3 * np.random.default_rng(2).random(
        (8, 3)
    )
    points = np.vstack([cube, [[0.5, 0.5, 0.5]]])  # the last one is inside
    hull = solids.hull("hull", points)
    assert len(hull.vertices) == 8
    assert hull.moments(density=1.0).mass == pytest.approx(1.0, abs=5e-3)


def test_a_heap_depends_on_its_seed_alone():
    a, b, other = heaps.heap(3), heaps.heap(3), heaps.heap(4)
    assert np.array_equal(a.state.q, b.state.q) and np.array_equal(a.state.v, b.state.v) and a.about == b.about
    assert a.about != other.about


def test_heaps_cover_what_they_should():
    made = [heaps.heap(seed) for seed in range(25)]
    dts, stiffnesses = ([h.dt for h in made], [h.stiffness for h in made])
    assert 1e-3 <= min(dts) < 2e-3 and 3e-2 < max(dts) <= 5e-2
    assert 1e-3 <= min(stiffnesses) < 1e-2 and 1e2 < max(stiffnesses) <= 1e3
    kinds = {name.split()[0] for h in made for name in h.model.body_names[1:]}
    assert kinds == set(heaps.KINDS)
    things = [sum("link" not in name for name in h.model.body_names) - 1 for h in made]
    assert min(things) >= 5 and max(things) == 15
    grounds = [len(h.model.half_spaces()) for h in made]
    assert 0 < sum(grounds) < len(grounds)
    gaps = [min(p.distance for p in ff.closest_points(h.model, h.model.default_parameters(), h.state.q)) for h in made]
    assert min(gaps) > 0.0 and np.median(gaps) < 5e-3
    fastest = max(
        np.linalg.norm(h.state.v[h.model.joint_dofs(j)][:3])
        for h in made
        for j in h.model.joint_names
        if "link" not in j
    )
    assert 12.0 < fastest <= heaps.SPEED


def two_boxes(offset):
    scene = ff.Scene()
    for name, place in (("first", [0.0, 0.0, 1.0]), ("second", [offset, 0.01, 1.02])):
        scene.add_body(name=name, position=place)
        scene.add_joint(name, name=name, type="Free")
        scene.add_shape(name, name=name, type="Box", size=[0.1, 0.1, 0.1])
    scene.add_shape(0, name="ground", type="HalfSpace")
    return ff.build_model(scene)


def intersection(model, q, toolkit=True):
    surfaces = intersections.Surfaces(model)
    if not toolkit:
        surfaces.toolkit = None
    return surfaces.find_intersection(ff.forward_kinematics(model, model.default_parameters(), q))


def test_intersections_are_found_by_name():
    assert intersection(two_boxes(0.2 + 1e-12), two_boxes(0.2 + 1e-12).default_state().q) is None
    model = two_boxes(0.2 - 1e-12)
    assert intersection(model, model.default_state().q) == "'first' and 'second'"
    apart = two_boxes(1.0)
    q = np.array(apart.default_state().q)
    q[2] = 0.0999
    assert intersection(apart, q) == "'world' and 'first'"


def test_a_body_inside_another_intersects():
    scene = ff.Scene()
    for name, radius in (("shell", 0.2), ("core", 0.05)):
        scene.add_body(name=name, position=[0.0, 0.0, 1.0])
        scene.add_joint(name, name=name, type="Free")
        scene.add_shape(name, name=name, type="Sphere", size=[radius, 0.0, 0.0])
    model = ff.build_model(scene)
    assert intersection(model, model.default_state().q) == "'shell' and 'core'"


def test_both_tests_agree_on_random_places():
    pytest.importorskip("ipctk")
    made = heaps.heap(10)
    model = made.model
    surfaces = intersections.Surfaces(model)
    draw = np.random.default_rng(0)
    found = []
    for _ in range(60):
        q = ff.retract(model, made.state.q, draw.uniform(0.0, 0.05) * draw.standard_normal(model.num_dofs))
        poses = np.array(ff.forward_kinematics(model, model.default_parameters(), q))
        poses[1:, 2] += 1.0  # the toolkit knows no half-space
        ours = intersections.Surfaces.find_intersection
        toolkit, surfaces.toolkit = surfaces.toolkit, None
        found.append((ours(surfaces, poses) is not None, toolkit.has_intersections(surfaces.place(poses))))
        surfaces.toolkit = toolkit
    both = np.array(found)
    assert 10 < both[:, 0].sum() < 50
    assert np.array_equal(both[:, 0], both[:, 1])


def test_signs_are_exact_where_rounding_decides():
    a, b, c = (np.array([[x, y, 0.1]]) for x, y in ((0.1, 0.2), (0.7, 0.3), (0.4, 0.9)))
    flat = np.array([[0.3, 0.3, 0.1]])
    above = np.array([[0.3, 0.3, np.nextafter(0.1, 1.0)]])
    assert intersections.orientations(a, b, c, flat) == 0
    assert intersections.orientations(a, b, c, above) == -intersections.orientations(a, b, c, 2 * flat - above)
    assert intersections.orientations(a, b, c, above) != 0


def test_soak_counts_what_it_sees(tmp_path, capsys):
    code = exit_code("soak", "--scenes", 3, "--steps", 4, "--out", tmp_path / "soak", "--json")
    summary = json.loads(capsys.readouterr().out)
    assert [row["contact"] for row in summary["rows"]] == ["longrange", "ipc", "polyhedral", "all"]
    total = summary["rows"][-1]
    assert total["scenes"] == 3 and total["steps"] <= 12
    assert total["intersections"] == 0
    assert total["evaluations_max"] >= total["evaluations_p95"] >= 1.0
    assert code == (1 if total["stops"] else 0)


def test_soak_goes_on_where_it_was_left_and_refuses_other_options(tmp_path, capsys):
    out = tmp_path / "soak"
    base = ["soak", "--steps", 2, "--contact", "polyhedral", "--out", out, "--quiet"]
    exit_code(*base, "--scenes", 2)
    lines = (out / "metrics.jsonl").read_text().splitlines()
    exit_code(*base, "--scenes", 4)
    again = (out / "metrics.jsonl").read_text().splitlines()
    assert again[:2] == lines
    assert sorted(json.loads(line)["seed"] for line in again) == [0, 1, 2, 3]
    assert exit_code("soak", "--steps", 3, "--contact", "polyhedral", "--out", out) == 2
    assert "other options" in capsys.readouterr().err
    assert exit_code("soak", "--contact", "jelly") == 2
    assert exit_code("soak", "--only", -1) == 2


def test_an_interrupted_soak_leaves_a_usable_directory(tmp_path, monkeypatch, capsys):
    whole = soak.roll
    calls = []

    def interrupted(plan, seed):
        calls.append(seed)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return whole(plan, seed)

    monkeypatch.setattr(soak, "roll", interrupted)
    out = tmp_path / "soak"
    assert exit_code("soak", "--steps", 2, "--contact", "polyhedral", "--scenes", 3, "--out", out, "--quiet") == 130
    assert json.loads((out / "soak.json").read_text())["rows"][0]["scenes"] == 1


def test_one_scene_alone_is_kept_and_has_the_bits_of_the_whole_run(tmp_path):
    plan = soak.Plan(first=5, scenes=2, steps=3)
    rows = {row["seed"]: row for row in soak.run(plan, [], 2)}
    assert sorted(rows) == [5, 6]
    exit_code("soak", "--only", 6, "--steps", 3, "--out", tmp_path / "one", "--quiet")
    motion = ff.load_trajectory(tmp_path / "one" / "trajectory.safetensors")
    alone, _, again = soak.roll(soak.Plan(first=6, scenes=1, steps=3), 6)
    assert np.array_equal(motion.q, again.q)
    assert {**alone, "cpu_seconds": 0} == {**rows[6], "cpu_seconds": 0}
    assert (tmp_path / "one" / "replay.html").is_file() and (tmp_path / "one" / "model.safetensors").is_file()


def test_work_is_bounded_by_evaluations():
    row, _, _ = soak.roll(soak.Plan(first=0, scenes=1, contact=["longrange"], evaluations=5), 0)
    assert row["status"] == "left" and sum(row["evaluations"][:-1]) < 5


@pytest.mark.parametrize("seed", [203, 205])
def test_a_barrier_that_is_weak_beside_a_hit_arrives(seed):
    """Stiffness 0.03 and 0.004 of automatic: gaps shrink to nanometres before the logarithm acts."""
    row, _, _ = soak.roll(soak.Plan(first=seed, scenes=1, contact=["ipc"], steps=20), seed)
    assert (row["status"], row["intersection"]) == ("done", None)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_sixty_heaps_arrive(tmp_path):
    out = tmp_path / "soak"
    assert exit_code("soak", "--scenes", 60, "--seed", 1000, "--threads", 2, "--out", out, "--quiet") == 0
    total = json.loads((out / "soak.json").read_text())["rows"][-1]
    assert (total["scenes"], total["stops"], total["intersections"]) == (60, 0, 0)
    assert total["left"] == 0
    assert total["detours"] <= total["steps"] / 500


def test_every_scene_has_the_same_bits_on_any_number_of_threads(tmp_path, capsys, monkeypatch):
    options = (
        "--steps",
        "6",
        "--determinism",
        "--scenes",
        "2",
        "--seed",
        "7",
        "--contact",
        "polyhedral",
        "ipc",
        "--json",
    )
    assert exit_code("soak", *options, "--quiet", "--out", tmp_path / "run") == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["options"]["determinism"] is True
    assert [row["other_bits"] for row in summary["rows"]] == [0, 0, 0] and summary["failed"] == []

    right = soak.roll

    def wrong(plan, seed, threads=1):
        row, made, motion = right(plan, seed, threads)
        return row | {"hash": row["hash"] + ("x" if threads == 4 else "")}, made, motion

    monkeypatch.setattr(soak, "roll", wrong)
    assert exit_code("soak", *options, "--quiet", "--out", tmp_path / "wrong") == 1
    assert [each["other_bits"] for each in json.loads(capsys.readouterr().out)["failed"]] == [[4], [4]]


def test_no_scene_begins_after_the_time_is_up(tmp_path, capsys):
    options = ("--steps", "3", "--seed", "7", "--contact", "polyhedral", "--json", "--quiet")
    assert exit_code("soak", *options, "--hours", "1e-9", "--out", tmp_path / "none") == 0
    assert json.loads(capsys.readouterr().out)["rows"] == []
    assert exit_code("soak", *options, "--hours", "3e-4", "--out", tmp_path / "some") == 0
    assert 1 <= json.loads(capsys.readouterr().out)["rows"][0]["scenes"] < 1000
