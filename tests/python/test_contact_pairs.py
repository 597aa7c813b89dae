# SPDX-License-Identifier: Apache-2.0
"""What slides, turns or swings on the world still meets it; pairs left out of contact are listed wherever a file is read."""

import json

import numpy as np
import pytest

import farfield as ff
from farfield import cli

JOINTS = {
    "slide": '<joint type="slide" axis="0 0 1"/>',
    "hinge": '<joint type="hinge" axis="0 1 0" pos="-0.6 0 0"/>',
    "ball": '<joint type="ball" pos="-0.6 0 0"/>',
    "on a fixed table": '<joint type="slide" axis="0 0 1"/>',
}


@pytest.fixture(params=JOINTS)
def falling(request, tmp_path):
    """A box on one joint to the world, or to what is welded to it, above a floor."""
    floor = '<geom name="floor" type="box" size="2 2 0.1" pos="0 0 -0.1"/>'
    box = f'<body name="box" pos="0 0 0.3">{JOINTS[request.param]}<geom type="box" size="0.1 0.1 0.1" mass="1"/></body>'
    world = f'<body name="table">{floor}{box}</body>' if "table" in request.param else floor + box
    file = tmp_path / "falling.xml"
    file.write_text(f"<mujoco><worldbody>{world}</worldbody></mujoco>")
    return file


@pytest.mark.parametrize("contact", [ff.LongRange(), ff.Polyhedral(), ff.Ipc()], ids=type)
def test_a_body_on_a_joint_to_the_world_meets_the_floor(falling, contact):
    model, parameters = ff.load(falling)
    assert [set(pair) - {"world", "table"} for pair in model.contact_pairs] == [{"box"}]
    motion = ff.rollout(model, parameters, model.default_state(), np.zeros((100, 0)), contact=contact)
    assert motion.converged
    assert 0.0 < motion.min_gap < 0.2  # it fell, and never through
    assert np.ptp(motion.poses()[:, model.body("box"), 2]) > 0.05


ROBOT = """<mujoco><option timestep="0.004"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="base" pos="0 0 1"><geom type="box" size="0.1 0.1 0.1"/>
      <body name="upper" pos="0.15 0 0"><joint name="a" axis="0 1 0"/><geom type="box" size="0.1 0.05 0.05" pos="0.05 0 0"/>
        <body name="lower" pos="0.3 0 0"><joint name="b" axis="0 1 0"/><geom type="box" size="0.1 0.05 0.05"/>
          <geom type="sphere" size="0.02" contype="0" conaffinity="0"/></body></body></body>
    <body name="drum" pos="0 2 1"><joint name="c" axis="0 1 0" frictionloss="1"/><geom type="box" size="0.1 0.1 0.1"/></body>
  </worldbody>
  <contact><exclude body1="drum" body2="lower"/></contact>
  <keyframe><key name="home" qpos="0 0 0"/></keyframe>
</mujoco>"""
EXCLUDED = [
    "base, upper: overlap in the reference pose",
    "upper, lower: joined",
    "lower, drum: excluded by the user",
]


@pytest.fixture
def robot(tmp_path):
    file = tmp_path / "robot.xml"
    file.write_text(ROBOT)
    return file


def test_load_lists_what_is_left_out(robot):
    model, _ = ff.load(robot)
    assert model.excluded_pairs == EXCLUDED
    assert ("world", "drum") in model.contact_pairs and ("base", "lower") in model.contact_pairs
    scene = model.scene
    scene.include("upper", "lower")
    assert ff.build_model(scene).excluded_pairs == [EXCLUDED[0], EXCLUDED[2]]


def test_simulate_lists_what_is_left_out_and_takes_the_time_step_of_the_file(robot, tmp_path, capsys):
    arguments = ["simulate", str(robot), "--steps", "3", "--out", str(tmp_path / "run"), "--json"]
    assert cli.main(arguments) == 0
    printed = capsys.readouterr()
    result = json.loads(printed.out)
    assert result["excluded_pairs"] == EXCLUDED
    assert result["dt"] == 0.004
    assert "no contact: joined: upper, lower" in printed.err
    assert "no contact: overlap in the reference pose: base, upper" in printed.err
    assert "3 steps of 0.004 s (stated by the file)" in printed.err
    assert json.loads((tmp_path / "run" / "config.json").read_text())["options"]["dt"] == 0.004
    assert cli.main([*arguments[:-2], str(tmp_path / "other"), "--json", "--dt", "0.02"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["dt"] == 0.02 and "steps of 0.02 s, converged" in printed.err


def test_inspect_says_what_became_of_a_file(robot, capsys):
    assert cli.main(["inspect", str(robot), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["excluded_pairs"] == EXCLUDED
    assert ["world", "drum"] in report["contact_pairs"]
    assert (report["dt"], report["dt_stated"]) == (0.004, True)
    assert (report["dofs"], report["unknowns"], report["coordinates"], report["controls"]) == (3, 3, 3, 0)
    assert [body["name"] for body in report["bodies"]] == ["world", "base", "upper", "lower", "drum"]
    assert [body["triangles"] for body in report["bodies"]] == [0, 12, 12, 12, 12] and report["triangles"] == 48
    assert report["bodies"][2]["parent"] == "base" and report["bodies"][2]["joints"] == ["a"]
    assert report["joints"][0] == {"name": "a", "type": "Hinge", "dofs": 1}
    assert report["keyframes"] == ["home"]
    assert any("timestep: 0.004 s" in text for text in report["applied"])
    assert any("the plane is infinite" in text for text in report["approximated"])
    assert any("dry friction" in text for text in report["applied"])
    assert cli.main(["inspect", str(robot)]) == 0
    text = capsys.readouterr().out
    for part in ("0.004 s (stated by the file)", "joined: upper, lower", "    world, drum\n", "upper: on base by a"):
        assert part in text, text
    assert cli.main(["inspect", str(robot.with_name("nothing.xml"))]) == 2
    assert "no such file" in capsys.readouterr().err


def test_an_overlapping_start_outside_one_tree_is_refused(tmp_path):
    world = """<geom name="wall" type="box" size="0.1 1 1" pos="0.5 0 0"/>
      <body name="gantry"><joint type="slide" axis="1 0 0"/><geom type="box" size="0.5 0.1 0.1"/></body>"""
    file = tmp_path / "gantry.xml"
    file.write_text(f"<mujoco><worldbody>{world}</worldbody></mujoco>")
    model, parameters = ff.load(file)
    assert any("bodies 'world' and 'gantry' overlap" in text for text in model.warnings)
    with pytest.raises(ValueError, match="gantry"):
        ff.rollout(model, parameters, model.default_state(), np.zeros((1, 0)), contact=ff.LongRange())
    scene = model.scene
    scene.exclude("world", "gantry")
    free = ff.build_model(scene)
    assert ff.rollout(free, parameters, free.default_state(), np.zeros((1, 0)), contact=ff.LongRange()).converged
