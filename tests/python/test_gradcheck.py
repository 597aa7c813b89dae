# SPDX-License-Identifier: Apache-2.0
"""`farfield gradcheck` passes on a right gradient, fails on a wrong one and refuses what it cannot check."""

import json

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
    assert {case["quantity"] for case in report["cases"]} == {"position", "velocity", "masses", "friction", "stiffness"}
    assert [case["gap"] for case in report["cases"] if case["quantity"] == "stiffness"] == [1e-3, 1e-2, 1e-1]
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
    assert {case["quantity"] for case in report["cases"] if not case["ok"]} == {"stiffness"}


def test_an_unknown_body_is_refused(scene, capsys):
    assert check(scene, "--body", "sphere") == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "'sphere'" in output.err
    assert "box" in output.err
