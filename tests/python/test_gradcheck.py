# SPDX-License-Identifier: Apache-2.0
"""`farfield gradcheck` passes on a right gradient, fails on a wrong one and refuses what it cannot check."""

import json
from types import SimpleNamespace

import pytest

import farfield as ff
from farfield import cli, gradcheck

SCENE = """<mujoco>
  <worldbody>
    <geom name="ground" type="plane" size="1 1 1"/>
    <body name="box" pos="0 0 0.3">
      <freejoint/>
      <geom type="box" size="0.1 0.15 0.05" mass="1"/>
    </body>
  </worldbody>
  <keyframe>
    <key name="thrown" qpos="0 0 0.3 1 0 0 0" qvel="0.7 0.2 0 0.5 0 0"/>
  </keyframe>
</mujoco>
"""


@pytest.fixture
def scene(tmp_path, monkeypatch):
    monkeypatch.setattr(gradcheck, "GAPS", (1e-3, 1e-2, 1e-1))
    monkeypatch.setattr(gradcheck, "LADDER", tuple(10.0 ** (-k / 2) for k in range(3, 10)))
    file = tmp_path / "box.xml"
    file.write_text(SCENE)
    return file


def check(scene, *arguments) -> int:
    return cli.main(
        [
            "gradcheck",
            str(scene),
            "--key",
            "thrown",
            "--json",
            "--quiet",
            "--out",
            str(scene.parent / "run"),
            *arguments,
        ]
    )


def test_a_box_over_the_ground_passes(scene, capsys):
    code = check(scene)
    report = json.loads(capsys.readouterr().out)
    failed = [case for case in report["cases"] if not case["ok"]]
    assert code == 0, failed
    assert report["passed"] is True
    assert report["body"] == "box"
    assert report["skipped"] == []
    assert 0.0 < report["max_relative_error"] <= 1e-5
    assert {case["quantity"] for case in report["cases"]} == {
        "position", "velocity", "moments", "damping", "armature", "stiffness", "gravity", "friction", "contact_stiffness"
    }  # fmt: skip
    unchecked = report["unchecked"]
    assert set(unchecked) == {"controls", "attachment", "kp", "kd", "joint_friction", "hull_vertices"}
    assert unchecked["joint_friction"] == "zero everywhere, and it may not be negative"
    assert unchecked["attachment"] == "every body is free"
    assert unchecked["kp"] == unchecked["kd"] == unchecked["controls"] == "the scene has no entry of it"
    assert unchecked["hull_vertices"].startswith(("no effect", "refused"))
    assert [case["gap"] for case in report["cases"] if case["quantity"] == "contact_stiffness"] == [1e-3, 1e-2, 1e-1]
    for case in report["cases"]:
        assert {"gap", "quantity", "analytic", "fd", "relative_error", "fd_noise", "ok"} <= set(case)
    assert sum(case["noise_limited"] for case in report["cases"]) <= 0.1 * len(report["cases"])
    assert (scene.parent / "run" / "gradcheck.png").stat().st_size > 1000
    assert json.loads((scene.parent / "run" / "gradcheck.json").read_text()) == report


def test_a_wrong_gradient_fails(scene, capsys, monkeypatch):
    right = ff.rollout_vjp

    def wrong(*arguments, **options):
        gradient = right(*arguments, **options)
        parameters = gradient.parameters.copy()
        parameters.contact_stiffness *= 1.001

        class Wrong:
            q0, v0, controls = gradient.q0, gradient.v0, gradient.controls

        Wrong.parameters = parameters
        return Wrong

    monkeypatch.setattr(ff, "rollout_vjp", wrong)
    monkeypatch.setattr(gradcheck, "GAPS", (1e-2,))
    assert check(scene) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["passed"] is False
    assert report["max_relative_error"] > 5e-4
    assert {case["quantity"] for case in report["cases"] if not case["ok"]} == {"contact_stiffness"}


def test_an_unknown_body_is_refused(scene, capsys):
    assert check(scene, "--body", "sphere") == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "'sphere'" in output.err
    assert "box" in output.err


ARM = """<mujoco>
  <worldbody>
    <geom name="ground" type="plane" size="1 1 1"/>
    <body name="arm" pos="0 0 0.5">
      <joint name="shoulder" axis="0 1 0" damping="0.1" stiffness="0.4" armature="0.01"/>
      <geom type="box" size="0.2 0.03 0.04" pos="0.2 0 0" mass="1"/>
      <body name="hand" pos="0.45 0 0">
        <joint name="wrist" type="ball" damping="0.02"/>
        <geom type="box" size="0.03 0.05 0.04" pos="0.05 0 0" mass="0.2"/>
      </body>
    </body>
    <body name="box" pos="0.4 0.1 0.2"><freejoint name="box"/><geom type="box" size="0.1 0.1 0.1" mass="0.5"/></body>
  </worldbody>
  <actuator><position name="hold" joint="shoulder" kp="20" kv="1"/></actuator>
</mujoco>
"""


def test_every_field_has_its_row(tmp_path, monkeypatch):
    monkeypatch.setattr(gradcheck, "GAPS", (1e-3,))
    file = tmp_path / "arm.xml"
    file.write_text(ARM)
    model, parameters = ff.load(file)
    state = model.default_state()
    state.v[model.joint_dofs("box")] = [0.7, 0.2, 0.0, 0.5, 0.0, 0.3]  # it slides, or friction would do nothing
    options = {"contact": ff.Polyhedral(), "body": "box", "state": state}
    report = gradcheck.gradcheck(model, parameters, **options)
    fields = [field.name for field in parameters.fields() if field.name != "joint_friction"]
    assert [case.quantity for case in report.cases] == ["position", "velocity", "controls", *fields]
    assert (
        report.unchecked == {"joint_friction": "zero everywhere, and it may not be negative"} and report.skipped == []
    )
    assert report.passed, [case for case in report.cases if not case.ok]
    assert sum(case.noise_limited for case in report.cases) <= 3
    assert all(case.analytic != 0.0 for case in report.cases)

    # Each of them is looked at: a gradient that is wrong everywhere fails in every row.
    right = ff.rollout_vjp

    def wrong(*arguments, **options):
        gradient = right(*arguments, **options)
        parts = {name: 1.01 * getattr(gradient, name) for name in ("q0", "v0", "controls")}
        return SimpleNamespace(**parts, parameters=gradient.parameters * 1.01)

    monkeypatch.setattr(ff, "rollout_vjp", wrong)
    failed = gradcheck.gradcheck(model, parameters, **options)
    assert [case.quantity for case in failed.cases if not case.ok] == ["position", "velocity", "controls", *fields]
