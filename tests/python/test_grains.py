# SPDX-License-Identifier: Apache-2.0
"""Grains from Python: shapes, maps and their cache, systems, the command."""

import dataclasses
import json
import math
import sys

import numpy as np
import pytest

import farfield
from farfield import cli, grains
from farfield.benchmarks import grain_peers
from farfield.experiments.runs import RunDir
from farfield.grains import blocks, cereal, chain, claims, column, drum, maps, packing, scene, silo
from farfield.grains.runner import run_scene

COARSE = maps.MapOptions(theta=64, space=64)


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """One cache for the whole file: tables are built once."""
    folder = tmp_path_factory.getbasetemp() / "grain-cache"
    monkeypatch.setenv("FARFIELD_CACHE", str(folder))
    return folder


def test_shapes_have_exact_mass_properties():
    block = grains.GrainShape.block(3.0, 2.0)
    assert block.area == pytest.approx(6.0, rel=1e-14)
    assert block.gyration2 == pytest.approx(13.0 / 12.0, rel=1e-14)
    for name in grains.GrainShape.library_names():
        shape = grains.GrainShape.library(name, radius=0.7)
        assert shape.radius == pytest.approx(0.7)
        assert 0 < shape.gyration2 < shape.radius**2


def test_svg_paths_become_grains():
    frame = grains.shape_from_svg("frame", "M0 0 h4 v4 h-4 z m1,1 v2 h2 v-2 z", radius=math.sqrt(8.0))
    assert frame.area == pytest.approx(12.0)
    assert frame.symmetry == 4
    curved = grains.shape_from_svg("lens", "M 0,0 Q 5,4 10,0 C 7,-3 3,-3 0,0 Z")
    assert len(curved.rings[0]) == 16
    ring = grains.shape_from_svg(
        "ring", "M1 0 A1 1 0 0 1 -1 0 A1 1 0 0 1 1 0 Z M.5 0 a.5 .5 0 1 0 -1 0 .5 .5 0 1 0 1 0 z"
    )
    assert len(ring.rings) == 2
    assert ring.symmetry == 16
    assert ring.area == pytest.approx(0.75 * 8 * math.sin(math.pi / 8), rel=1e-9)  # 16 corners outside and inside
    for path, said in (
        ("M0 0 X 3 3", "'X', expected one of M L H V C S Q T A Z"),
        ("M0 0 e3 3", "'e', expected"),
        ("M0 0 L 1;2", "';', expected"),
        ("L 1 1", "starts with 'L', expected M"),
        ("M 0", "too few numbers"),
        ("M0 0 C 1 1 2 2", "too few numbers"),
        ("", "starts with '', expected M"),
        ("M 3 4", "no points"),
    ):
        with pytest.raises(ValueError, match=said):
            grains.shape_from_svg("x", path)
    with pytest.raises(ValueError, match="self-intersecting"):
        grains.shape_from_svg("bow", "M0 0 L2 3 L2 0 L0 2 Z")


def test_outlines_are_read_from_files(tmp_path):
    drawing = tmp_path / "frame.svg"
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">'
    drawing.write_text(f'{head}<g transform="rotate(30) scale(2)"><path d="M0 0h4v4h-4zm1,1v2h2v-2z"/></g></svg>')
    points = tmp_path / "frame.txt"
    points.write_text("# outline\n0, 0\n4, 0\n4 4\n0 4  # corner\n\n1 1\n1 3\n3 3\n3 1\n")
    for file in (drawing, points):
        frame = grains.shape_named(str(file), radius=math.sqrt(8.0))
        assert frame.name == "frame"
        assert frame.area == pytest.approx(12.0)
        assert len(frame.rings) == 2
        assert frame.symmetry == 4
    assert grains.shape_named("L").area == grains.GrainShape.library("L").area
    asymmetric = tmp_path / "hook.svg"
    asymmetric.write_text(f'{head}<polygon points="0,0 3,0 3,1 1,1 1,4 0,4"/></svg>')
    hook = grains.shape_named(str(asymmetric))
    assert hook.rings[0][:, 1].max() < -hook.rings[0][:, 1].min()  # the long leg points down, as drawn
    bad = (
        ("two.svg", f'{head}<rect width="1" height="1"/><circle r="1"/></svg>', "2 shapes, expected one"),
        ("not.svg", "hello", "not.svg: not readable as XML"),
        ("word.csv", "0,0\n1,zero\n", "word.csv:2: '1,zero', expected two numbers"),
        ("three.txt", "0 0 0\n", "three.txt:1"),
        ("empty.txt", "\n", "no points"),
    )
    for name, text, said in bad:
        file = tmp_path / name
        file.write_text(text)
        with pytest.raises(ValueError, match=said):
            grains.shape_named(str(file))
    with pytest.raises(OSError, match="missing"):
        grains.shape_named(str(tmp_path / "missing.txt"))
    with pytest.raises(OSError, match="missing"):
        grains.shape_named(str(tmp_path / "missing.svg"))


@pytest.mark.parametrize(
    ("ring", "said"),
    [
        ([[0, 0], [1, 1], [1, 0], [0, 1.5]], "self-intersecting"),
        ([[0, 0], [0, 1], [1, 1], [1, 0]], "clockwise"),
        ([[0, 0], [1, 1], [2, 2]], "zero area"),
        ([[0, 0], [1, 0], [math.nan, 1]], "not finite"),
    ],
)
def test_bad_outlines_are_refused(ring, said):
    with pytest.raises(ValueError, match=said):
        grains.GrainShape("x", [np.array(ring, dtype=float)])


def test_maps_are_cached_and_foreign_files_refused(cache):
    shape, other = grains.GrainShape.library("L"), grains.GrainShape.library("block")
    first = maps.pair_map(shape, shape, COARSE)
    again = maps.pair_map(shape.scaled(0.2), shape.scaled(0.2), COARSE)
    assert again.cached
    assert first.file == again.file
    assert first.audit.rmse == again.audit.rmse < 0.005
    pose = np.array([[0.4, 0.8, 0.5]])
    big, small = first.map.evaluate(pose)[0], again.map.evaluate(pose * [1, 0.2, 0.2])[0]
    assert big[0] < 0
    np.testing.assert_allclose(small[:2], 0.2 * big[:2], rtol=1e-5)  # single precision
    exact = maps.pair_map(shape, shape, maps.MapOptions(back_end="exact")).map.evaluate(pose)[0]
    assert abs(big[0] - exact[0]) < 0.01

    foreign = maps.table_file(other, other, COARSE, cache / "grains")
    foreign.write_bytes(first.file.read_bytes())
    with pytest.raises(ValueError, match="built for other outlines"):
        maps.pair_map(other, other, COARSE)
    foreign.write_bytes(first.file.read_bytes()[:1000])
    with pytest.raises(farfield.FileError, match="truncated"):
        maps.pair_map(other, other, COARSE)
    farfield.save_state(foreign, farfield.State(q=np.zeros(1), v=np.zeros(1)))
    with pytest.raises(farfield.FileError, match=r"farfield\.state"):
        maps.pair_map(other, other, COARSE)
    foreign.unlink()
    with pytest.raises(farfield.FileError, match="none"):
        farfield._core.load_grain_table(cache / "none.safetensors")
    with pytest.raises(ValueError, match="raise the table's space"):
        maps.pair_map(shape, shape, maps.MapOptions(theta=8, space=16))
    with pytest.raises(ValueError, match="contact map 'magic' is unknown"):
        maps.MapOptions(back_end="magic")
    with pytest.raises(ValueError, match="labels 'paper' of a network map, expected a table"):
        maps.MapOptions(back_end="network", labels="paper")


SMALL_NETWORK = maps.MapOptions(back_end="network", layers=2, width=16, steps=300)


def test_trained_networks_are_ordinary_safetensors(cache, tmp_path):
    safetensors = pytest.importorskip("safetensors")
    block, other = grains.GrainShape.library("block"), grains.GrainShape.library("L")
    # So short a training does not pass, and the message says what to raise; the networks are kept all the same.
    with pytest.raises(
        ValueError, match=r"'block' and 'block' \(2x16, 300 steps\): .*or the network's width and steps"
    ):
        maps.pair_map(block, block, SMALL_NETWORK, folder=tmp_path)
    file = maps.network_file(block, block, SMALL_NETWORK, tmp_path)
    with safetensors.safe_open(file, framework="numpy") as opened:
        texts, names = opened.metadata(), set(opened.keys())
        assert opened.get_tensor("distance.0.weight").shape == (16, 4)
        assert opened.get_tensor("arm.4.bias").shape == (1,)
    assert names == {
        f"{net}.{k}.{part}" for net in ("distance", "arm") for k in (0, 2, 4) for part in ("weight", "bias")
    }
    assert texts["activation"] == "softplus10"
    assert texts["unit"] == "larger circumradius"
    assert float(texts["reach"]) == pytest.approx(2.0)
    assert float(texts["rmse"]) > 0.01
    # Read back, they give the same map; a damaged or foreign file is refused.
    networks = farfield._core.load_grain_networks(file)
    assert (networks.layers, networks.width) == (2, 16)
    with pytest.raises(ValueError, match="trained for other outlines"):
        farfield._core.grain_network_map(networks, block, other)
    file.write_bytes(file.read_bytes()[:500])
    with pytest.raises(farfield.FileError, match=file.name):
        maps.pair_map(block, block, SMALL_NETWORK, folder=tmp_path)
    table = maps.pair_map(other, other, COARSE).file
    with pytest.raises(farfield.FileError, match=r"farfield\.grain"):
        farfield._core.load_grain_networks(table)
    with pytest.raises(farfield.FileError, match="missing"):
        farfield._core.load_grain_networks(tmp_path / "missing.safetensors")


def torch_layout(generator, shape, *, activation="softplus10", encoding="cos_sin", inputs=4):
    """Tensors and texts as of a module with Sequential members `distance` and `arm`, 32 bits."""
    sizes = [inputs, 8, 8, 1]
    tensors = {}
    for net in ("distance", "arm"):
        for k in range(3):
            weight = generator.standard_normal((sizes[k + 1], sizes[k])) * 0.5
            tensors[f"{net}.{2 * k}.weight"] = weight.astype(np.float32)
            tensors[f"{net}.{2 * k}.bias"] = (0.1 * generator.standard_normal(sizes[k + 1])).astype(np.float32)
    texts = {
        "format": "farfield.grain_network",
        "version": "1",
        "activation": activation,
        "encoding": encoding,
        "symmetry": "1",
        "radius_ratio": "1.0",
        "outline_a": f"{shape.hash:x}",
        "outline_b": f"{shape.hash:x}",
    }
    return tensors, texts


@pytest.mark.parametrize(("activation", "encoding", "inputs"), [("softplus10", "cos_sin", 4), ("relu", "raw_theta", 3)])
def test_networks_trained_elsewhere_are_read(tmp_path, activation, encoding, inputs):
    save_file = pytest.importorskip("safetensors.numpy").save_file
    shape = grains.GrainShape.library("L")
    tensors, texts = torch_layout(
        np.random.default_rng(3), shape, activation=activation, encoding=encoding, inputs=inputs
    )
    save_file(tensors, tmp_path / "torch.safetensors", metadata=texts)
    found = farfield._core.grain_network_map(
        farfield._core.load_grain_networks(tmp_path / "torch.safetensors"), shape, shape
    )
    poses = np.random.default_rng(4).uniform(-0.9, 0.9, (40, 3))
    touching = 0
    for pose, row in zip(poses, found.evaluate(poses), strict=True):
        theta = [math.cos(pose[0]), math.sin(pose[0])] if encoding == "cos_sin" else [pose[0]]
        outputs = []
        for net in ("distance", "arm"):
            x = np.array([*theta, pose[1], pose[2]])
            for k in (0, 2, 4):
                x = tensors[f"{net}.{k}.weight"].astype(float) @ x + tensors[f"{net}.{k}.bias"]
                if k < 4:
                    x = np.logaddexp(0.0, 10.0 * x) / 10.0 if activation == "softplus10" else np.maximum(x, 0.0)
            outputs.append(x[0])
        assert row[0] == pytest.approx(outputs[0], abs=1e-6)  # in single precision
        if row[0] < 0:
            touching += 1
            assert row[4] == pytest.approx(outputs[1], abs=1e-6)
    assert touching > 3


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"activation": "tanh"}, "activation 'tanh', expected softplus10 or relu"),
        ({"encoding": "quaternion"}, "encoding 'quaternion'"),
        ({"symmetry": "many"}, "symmetry 'many', expected a number"),
        ({"outline_a": "xyz"}, "outline hash 'xyz'"),
        ({"format": "other"}, "other"),
        ({"arm.2.weight": np.zeros((3, 3), np.float32)}, r"'arm\.2': shape \(3, 3\), expected \(8, 8\)"),
        ({"arm.4.bias": None}, r"no tensor 'arm\.4\.bias'"),
        ({"extra": np.zeros(2, np.float32)}, "1 unknown tensors"),
        ({"distance.0.bias": np.full(8, np.nan, np.float32)}, "not finite"),
    ],
)
def test_bad_network_files_are_named(tmp_path, change, said):
    save_file = pytest.importorskip("safetensors.numpy").save_file
    shape = grains.GrainShape.library("L")
    tensors, texts = torch_layout(np.random.default_rng(3), shape)
    for key, value in change.items():
        if value is None:
            del tensors[key]
        elif isinstance(value, str):
            texts[key] = value
        else:
            tensors[key] = value
    save_file(tensors, tmp_path / "bad.safetensors", metadata=texts)
    with pytest.raises((ValueError, farfield.FileError), match=said):
        farfield._core.grain_network_map(farfield._core.load_grain_networks(tmp_path / "bad.safetensors"), shape, shape)


def test_a_start_with_overlap_names_the_pair():
    shape = grains.GrainShape.library("L")
    law = grains.GrainLaw.default(mass=shape.area, radius=1.0)
    system = grains.GrainSystem([shape], grains.contact_maps([shape], COARSE), law=law)
    system.add(0, np.array([[0.0, 0.0, 0.0], [6.0, 0.0, 0.0], [6.2, 0.0, 1.0]]))
    with pytest.raises(ValueError, match=r"grains 1 \('L'\) and 2 \('L'\) overlap by 1\."):
        system.run(1)
    with pytest.raises(ValueError, match="unstable"):
        grains.GrainSystem([shape], [[None]], law=law, dt=0.5)
    with pytest.raises(ValueError, match="not finite"):
        system.add(0, np.array([[math.nan, 0.0, 0.0]]))


def test_incline_slides_and_holds_as_theory_says():
    result, _, test = blocks.run("incline")
    assert [row["mu"] for row in result["rows"]] == [0.28, 0.30, 0.32]
    assert [row["slides"] for row in result["rows"]] == [True, False, False]
    assert result["critical_mu"] == pytest.approx(math.tan(math.radians(16.0)), rel=0.01)
    assert test.theory == pytest.approx(0.28675, abs=1e-5)


@pytest.mark.parametrize("name", ["leaning", "triangle"])
def test_leaning_blocks_fall_as_theory_says(name):
    result, _, _ = blocks.run(name)
    assert abs(result["relative_error"]) < 0.03
    assert [row["slides"] for row in result["rows"]] == [row["mu"] < result["theory_mu"] for row in result["rows"]]


def small_silo(**options):
    return silo.build(
        **{"shape": "octagon", "opening": 9.0, "grains": 160, "settle": 0.2, "seconds": 0.9, "maps": COARSE, **options}
    )


def test_silo_discharges_and_resumes_exactly(tmp_path):
    whole = run_scene(small_silo(), RunDir.create("a", options={}, path=tmp_path / "a"), quiet=True)
    assert whole.finite
    assert whole.rows[-1]["discharged"] > 0
    assert whole.rows[4]["discharged"] == 0  # the lid holds
    # Interrupted in the middle, then resumed.
    scene = small_silo()
    calls = []
    measure = scene.measure

    def interrupt(system, poses):
        calls.append(1)
        if len(calls) == 8:
            raise KeyboardInterrupt
        return measure(system, poses)

    scene.measure = interrupt
    folder = RunDir.create("b", options={}, path=tmp_path / "b")
    part = run_scene(scene, folder, quiet=True)
    assert part.interrupted
    assert len(part.frames) == 7
    rest = run_scene(small_silo(threads=2), folder, quiet=True, resume=True)
    np.testing.assert_array_equal(rest.frames, whole.frames)
    assert [row["time"] for row in rest.rows] == [row["time"] for row in whole.rows]


def test_a_damaged_cache_is_one_line(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path))
    arguments = ["grains", "train", "L", "--theta", "64", "--space", "64", "--quiet"]
    assert cli.main(arguments) == 0
    (file,) = (tmp_path / "grains").iterdir()
    file.write_bytes(b"not a map")
    assert cli.main(arguments) != 0
    assert file.name in capsys.readouterr().err


def test_what_runs_off_beside_the_silo_is_taken_out(tmp_path):
    hopper = small_silo()
    poses = hopper.system.state()
    reach = hopper.view[0][1]
    poses["poses"][0, :2] = [reach + 5.0, -2.0]
    hopper.system.set_state(poses)
    assert hopper.system.free[0]
    hopper.each_frame(hopper.system)
    assert not hopper.system.free[0]
    assert hopper.moving[0]  # it is still drawn as a grain
    hopper.system.run(50)
    np.testing.assert_array_equal(hopper.system.state()["poses"][0, :2], [reach + 5.0, -2.0])


def test_claims_are_judged_by_their_spread(tmp_path, monkeypatch):
    def results(*means, spread=0.5, **more):
        runs = {}
        for variant, mean in zip(claims.CLAIMS["repose"].variants, means, strict=True):
            runs[variant["shape"]] = [{"repose_angle": mean + spread * k, "grains": 600, **more} for k in (-1, 0, 1)]
        return runs

    clear = claims.summary("repose", results(10.0, 15.0, 20.0, 25.0))
    assert clear["holds"]
    assert clear["rows"][0]["error"] == pytest.approx(0.5 / math.sqrt(3))
    close = claims.summary("repose", results(10.0, 10.2, 20.0, 25.0))
    assert (close["holds"], close["in_means"]) == (False, True)
    wrong = claims.summary("repose", results(10.0, 30.0, 20.0, 25.0))
    assert (wrong["holds"], wrong["in_means"]) == (False, False)

    # Runs that are there already are kept.
    built = []

    def build(**options):
        built.append(options["seed"])
        return small_silo(
            **{**options, "shape": "octagon", "opening": 9.0, "grains": 160, "seconds": 0.3, "maps": COARSE}
        )

    monkeypatch.setitem(claims.CLAIMS, "jamming", dataclasses.replace(claims.CLAIMS["jamming"], build=build))
    for seeds in (1, 2):
        told = []
        result = claims.run("jamming", tmp_path, grains=160, seeds=seeds, threads=1, progress=told.append)
        assert len(told) == 4 * seeds
    assert built == [0] * 4 + [1] * 4
    assert [row["runs"] for row in result["rows"]] == [2] * 4
    assert result["rows"][0]["jammed"] == 0


def test_engines_next_to_grains_are_optional(monkeypatch):
    checks = []
    monkeypatch.setitem(sys.modules, "pyb2d3", None)  # an import of it fails
    monkeypatch.setitem(sys.modules, "pymunk", None)
    assert grain_peers.find_peer() is None
    grain_peers.measure(None, None, None, None, {}, checks)
    (check,) = checks
    assert check.passed is None
    assert "pip install pyb2d3" in check.note


@pytest.mark.parametrize(("peer", "module"), [(grain_peers.Box2dPile, "pyb2d3"), (grain_peers.PymunkPile, "pymunk")])
def test_engines_next_to_grains_hold_the_same_grains(peer, module):
    pytest.importorskip(module)
    shape = grains.GrainShape.library("#")
    outlines = [(x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in grain_peers.bars(shape)]
    crossings = 4 * (outlines[0] / (2 * shape.rings[0][:, 0].max())) ** 2
    assert sum(outlines) - crossings == pytest.approx(shape.area)
    contact = maps.pair_map(shape, shape, maps.MapOptions(back_end="exact")).map
    poses = np.array([[3.0, 1.0, 0.0], [6.0, 1.0, 0.0], [6.0, 4.0, 0.3]])
    pile = peer(shape, poses, 9.0)
    np.testing.assert_allclose(pile.poses(), poses, atol=1e-6)
    for _ in range(90):
        pile.step()
    settled = pile.poses()
    assert settled[2, 1] < 3.0  # it fell onto the other
    assert settled[:, 1].min() > 0.7  # and the floor holds
    assert grain_peers.penetrations(settled, contact).max() < 0.1


def test_blocks_tile_a_polyline():
    poses = scene.tiles(np.array([[0.0, 4.0], [0.0, 0.0], [8.0, 0.0]]), 12, 0.5)
    np.testing.assert_allclose(poses[:4, 0], -0.5)
    np.testing.assert_allclose(poses[4:, 1], -0.5)
    np.testing.assert_allclose(np.diff(poses[4:, 0]), 1.0)
    start = scene.staggered(5, 40, 2.0, (1.0, 1.0), np.random.default_rng(0))
    assert len(start) >= 40
    gaps = np.linalg.norm(start[:, None, :2] - start[None, :, :2], axis=2) + 10 * np.eye(len(start))
    assert gaps.min() > 1.999


def run_task(built, folder):
    done = run_scene(built, RunDir.create(built.name, options={}, path=folder), quiet=True)
    assert done.finite
    return done, built.finish(done.rows, done.frames)


def test_column_rests_as_high_as_wide_before_it_collapses(tmp_path):
    done, result = run_task(column.build(shape="octagon", grains=120, maps=COARSE), tmp_path / "run")
    assert 0.8 < result["column_aspect"] < 1.25
    assert result["column_kinetic_per_grain"] < 0.01 * 9.81 * grains.GrainShape.library("octagon").area
    before = [row for row in done.rows if row["column"]]
    width = before[-1]["height"] / result["column_aspect"]
    assert all(row["reach"] < width for row in before)  # the gate holds
    assert result["reach"] > 1.2 * width
    assert 5.0 < result["repose_angle"] < 40.0


def test_packing_holds_its_grains_and_rests(tmp_path):
    done, result = run_task(packing.build(shape="arc75", grains=60, maps=COARSE), tmp_path / "run")
    assert result["outside"] == 0
    assert done.rows[-1]["time"] < 20.0  # it came to rest
    assert done.rows[-1]["height"] < 0.8 * done.rows[0]["height"]
    assert 0.05 < result["solid_fraction"] < 0.4


EXACT = maps.MapOptions(back_end="exact")


def test_drum_carries_its_grains_up(tmp_path):
    _, result = run_task(drum.build(grains=60, seconds=0.6, maps=EXACT), tmp_path / "run")
    assert result["outside"] == 0
    built = drum.build(grains=60, maps=EXACT)
    wall = built.system.state()["poses"][-1, :2]
    built.system.run(round(0.5 / built.system.dt))
    turned = built.system.state()["poses"][-1, :2]
    assert math.hypot(*turned) == pytest.approx(math.hypot(*wall), rel=1e-9)
    angle = math.atan2(wall[0] * turned[1] - wall[1] * turned[0], wall @ turned)
    assert angle == pytest.approx(0.5 * drum.SPIN, rel=0.01)


def test_cereal_stays_in_the_box_until_it_tilts(tmp_path):
    built = cereal.build(grains=40, seconds=0.5, maps=EXACT)
    done, result = run_task(built, tmp_path / "run")
    assert result["in_bowl"] == 0
    assert [round(at, 9) for at, _ in built.stages] == [0.1, 0.1 + cereal.TILT_SECONDS]
    box = done.frames[:, result["free"], :]
    assert box[0, 2] == pytest.approx(box[1, 2], abs=1e-6)
    assert box[-1, 2] == pytest.approx(box[0, 2] - math.radians(130.0) / cereal.TILT_SECONDS * 0.4, abs=1e-3)


def test_chain_holds_together_while_it_is_lowered(tmp_path):
    built = chain.build(grains=5, seconds=0.35, maps=EXACT)
    _, result = run_task(built, tmp_path / "run")
    assert result["broken"] is False
    assert result["longest_joint"] < 0.12  # the clearance is 0.05, and nothing is pulled out

    # Above the floor the holder carries the weight of the others, in the mean.
    system = chain.build(grains=5, maps=EXACT).system
    system.run(round(0.1 / system.dt))
    loads, before = [], system.audit()["momentum_y"]
    start = system.time
    while system.time < 0.25:
        system.run(1)
        loads.append(system.reaction(0)[1])
    gained = (system.audit()["momentum_y"] - before) / (system.time - start)
    weight = 4 * 9.81 * grains.GrainShape.library("link").area
    assert max(abs(load) for load in loads) > 0.5 * weight
    assert np.mean(loads) + gained == pytest.approx(-weight, rel=1e-9)


def test_results_of_recorded_motion():
    times = np.arange(0.0, 3.0, 0.1)
    steady = np.maximum(0, np.floor(20 * (times - 1.0))).astype(int)
    stuck = np.minimum(steady, 5)
    assert silo.jam_report(times, steady, 100, 1.0)["jammed"] is False
    assert silo.jam_report(times, stuck, 100, 1.0)["jammed"] is True
    assert silo.jam_report(times, stuck, 5, 1.0)["jammed"] is False  # empty, not jammed
    assert silo.jam_report(times, steady, 100, 1.0)["rate"] == pytest.approx(20, rel=0.06)
    x = np.repeat(np.arange(0.5, 80.0), 3)
    heap = np.column_stack([x, np.maximum(0.0, 30.0 - 0.5 * x), np.zeros_like(x)])
    assert column.repose_angle(heap) == pytest.approx(math.degrees(math.atan(0.5)), abs=1.5)
    quarter = packing.arc("arc25")
    assert packing.circle_radius(quarter.rings[0][:3]) == pytest.approx(0.7, rel=1e-9)
    assert quarter.area == pytest.approx(0.25 * packing.arc("arc100").area, rel=0.03)


def test_command_prints_one_json_object(capfd, tmp_path):
    arguments = ["grains", "silo", "--shape", "octagon", "--opening", "9", "--grains", "160", "--settle", "0.1"]
    arguments += ["--seconds", "0.3", "--theta", "64", "--space", "64", "--out", str(tmp_path / "run"), "--json"]
    assert cli.main(arguments) == 0
    output = capfd.readouterr()
    assert output.out.count("\n") == 1
    result = json.loads(output.out)
    assert {"grains", "steps", "steps_per_second", "discharged", "jammed"} <= set(result)
    assert result["grains"] == 160
    assert result["steps"] > 0
    for name in ("final.png", "animation.gif", "figure.png", "result.json", "checkpoint.npz", "metrics.jsonl"):
        assert (tmp_path / "run" / name).stat().st_size > 100
    assert cli.main(["grains", "train", "L", "--theta", "64", "--space", "64", "--json", "--quiet"]) == 0
    (row,) = json.loads(capfd.readouterr().out)["maps"]
    assert row["rmse"] < 0.005


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["flood"], "task 'flood' is unknown, expected one of: train"),
        (["train"], "no shapes"),
        (["train", "Q"], "shape 'Q' is unknown"),
        (["silo", "O"], "only `train` takes a list"),
        (["silo", "--grains", "3"], "3 grains, expected at least 80"),
        (["drum", "--shape", "O"], "drum has no option --shape"),
        (["silo", "--resume"], "--resume needs --out"),
        (["silo", "--map", "magic"], "contact map 'magic' is unknown"),
        (["silo", "--full", "--grains", "300"], "--full and --grains are given"),
        (["silo", "--grains", "160", "--opening", "99"], "opening of 123.75 radii in a silo of"),
        (["silo", "--grains", "160", "--opening", "9", "--friction", "nan"], "friction nan, expected finite"),
        (["silo", "--grains", "160", "--opening", "9", "--settle", "3", "--seconds", "2"], "settles for 3 s of 2 s"),
        (["column", "--radius", "2"], "column has no option --radius"),
        (["claims", "gravity"], "claim 'gravity' is unknown, expected one of: repose, jamming, packing"),
    ],
)
def test_bad_arguments_are_one_line(capsys, arguments, said):
    assert cli.main(["grains", *arguments, "--quiet"]) == 2
    output = capsys.readouterr()
    assert said in output.err
    assert output.out == ""
