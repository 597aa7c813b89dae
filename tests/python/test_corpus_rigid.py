# SPDX-License-Identifier: Apache-2.0
"""`farfield corpus rigid`: its scenes, the checks they are judged by, and the quick ones to their end."""

import json

import numpy as np
import pytest

import farfield as ff
from command_line import exit_code
from farfield.experiments import rigid_corpus, solids
from farfield.experiments.intersections import Surfaces, between, path_crosses
from farfield.experiments.rigid_corpus import Plan, passed, roll
from farfield.experiments.rigid_scenes import SCENES, Seen, add_free, box, pyramid, world

QUICK = (
    "spikes", "spike-in-hole", "wedge-in-crack", "internal-edges", "face-vertex", "bat", "incline-holds", "incline-slides",
    "turntable-carries", "turntable-throws", "card-house-2", "punching-press",
)  # fmt: skip
SLOW = ("arch-25", "arch-101", "bolt")
OTHERS = [name for name in SCENES if name not in QUICK and name != "arch-101"]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long) if name in SLOW else name for name in SCENES]
)
def test_scenes_begin_apart(name):
    hard = SCENES[name]()
    model = hard.model()
    state = hard.state(model)
    poses = np.asarray(ff.forward_kinematics(model, model.default_parameters(), state.q))
    assert Surfaces(model).find_intersection(poses) is None
    if hard.script is not None:
        assert hard.script.shape == (
            hard.steps,
            7 * len([b for b in model.scene.bodies if b.motion == ff.BodyMotion.Kinematic]),
        )
    for mesh in model.scene.meshes:
        assert mesh.is_watertight and mesh.moments(density=1.0).mass > 0.0, mesh.name


@pytest.mark.parametrize("name", QUICK)
def test_quick_scenes_pass(name):
    row, _ = roll(Plan(), name)
    assert passed(row), row


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", OTHERS)
def test_other_scenes_pass(name):
    row, _ = roll(Plan(), name)
    assert passed(row), row


def test_what_mechanics_does_not_know_fails():
    """The check of every quick scene refuses a motion that stays where it begins or goes on for ever."""
    for name in QUICK:
        hard = SCENES[name]()
        model = hard.model()
        state = hard.state(model)
        poses = np.asarray(ff.forward_kinematics(model, model.default_parameters(), state.q))
        rest = np.tile(poses, (hard.steps + 1, 1, 1))
        gone = rest.copy()
        gone[:, :, :3] += np.linspace(0.0, 5.0, hard.steps + 1)[:, None, None]
        q, v = (np.tile(x, (hard.steps + 1, 1)) for x in (state.q, state.v))
        judged = [hard.expect(Seen(model, q, v, each, hard.dt)) for each in (rest, gone)]
        assert any(judged), name


def test_bodies_that_change_sides_are_found():
    pytest.importorskip("ipctk")
    scene = world(ground=False)
    scene.add_shape(0, name="plate", type="Box", size=[1.0, 1.0, 1e-3])
    add_free(scene, "box", [0.0, 0.0, 0.3], **box([0.1] * 3))
    model = ff.build_model(scene)
    surfaces = Surfaces(model)
    above = np.asarray(ff.forward_kinematics(model, model.default_parameters(), model.default_state().q))
    below, aside = above.copy(), above.copy()
    below[1, 2], aside[1, 0] = -0.3, 0.5
    assert path_crosses(surfaces, [above, aside, above]) is None
    assert path_crosses(surfaces, [above, aside, below]) == "'world' and 'box' between states 1 and 2"


def test_poses_between_others():
    turn = np.array([np.cos(0.5), 0.0, 0.0, np.sin(0.5)])
    first, last = np.array([[0.0, 0, 0, 1, 0, 0, 0]]), np.array([[1.0, 0, 0, *-turn]])
    middle = between(first, last, 0.5)[0]
    np.testing.assert_allclose(middle, [0.5, 0, 0, np.cos(0.25), 0, 0, np.sin(0.25)], atol=1e-15)


def test_prisms_and_lathes_have_the_volume_they_should():
    notched = [(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.2, 1.0), (1.2, 0.4), (0.8, 0.4), (0.8, 1.0), (0.0, 1.0)]
    assert solids.prism(notched, 0.5).moments(density=1.0).mass == pytest.approx(2.0 - 0.4 * 0.6)
    assert pyramid(0.3, 0.6).moments(density=1.0).mass == pytest.approx(0.6 * 0.6 * 0.6 / 3.0)
    washer = solids.lathe([(1.0, 0.0), (2.0, 0.0), (2.0, 0.5), (1.0, 0.5)], 400)
    assert washer.moments(density=1.0).mass == pytest.approx(1.5 * np.pi, rel=1e-3)
    with pytest.raises(ValueError, match="counter-clockwise"):
        solids.prism(notched[::-1], 0.5)


def test_the_command_prints_rows_and_says_what_is_unknown(tmp_path, capsys):
    code = exit_code(
        "corpus", "rigid", "--only", "incline", "--jitter", "2", "--json", "--quiet", "--out", tmp_path / "run"
    )
    summary = json.loads(capsys.readouterr().out)
    assert code == 0
    assert summary["scenes"] == 2 and summary["runs"] == summary["passed"] == 6
    assert len({row["min_gap"] for row in summary["rows"]}) > 2  # jitter changes the motion
    assert json.loads((tmp_path / "run" / "corpus.json").read_text())["rows"] == summary["rows"]
    assert exit_code("corpus", "rigid", "--only", "unicorn") == 2
    assert "--only unicorn: no such scene, expected one of: spikes" in capsys.readouterr().err
    assert exit_code("corpus", "rigid", "--contact", "softmin", "--only", "bat") == 2
    assert "'softmin' is known, but may penetrate" in capsys.readouterr().err
    row, _ = roll(Plan(contact="polyhedral"), "chain-3")
    assert row["problem"] == rigid_corpus.HULLS
