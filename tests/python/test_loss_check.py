# SPDX-License-Identifier: Apache-2.0
"""Wrong partials of a loss, and a wrong pullback, are found and named."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import farfield as ff
from farfield.cli import main
from farfield.optimize import DirectTargets, InitialState, ParameterSubset, Partials, ReachLoss
from farfield.unknowns_check import unknowns_cases

SCENES = Path(__file__).parents[2] / "scenes"


@pytest.fixture(scope="module")
def motion():
    model, parameters = ff.load(SCENES / "push.xml")
    controls = np.tile(model.default_control(), (2, 1))
    return ff.rollout(model, parameters, model.default_state(), controls, contact=None)


def reach(trajectory):
    return ReachLoss(["box"], [[0.3, 0.2]], 0.01)(trajectory)


def test_a_right_loss_passes(motion):
    cases = ff.check_loss(motion.model, reach, motion)
    assert any(case.kind == "by_pose" and abs(case.analytic) > 0.1 for case in cases)
    assert any("moments" in case.what and case.analytic != 0.0 for case in cases)


def test_a_wrong_sign_is_named(motion):
    def wrong(trajectory):
        value, by = reach(trajectory)
        by.by_pose[:, trajectory.model.body("box"), 1] *= -1.0
        return value, by

    with pytest.raises(ValueError, match=r"by_pose of body 'box', y, state \d: the loss says .*, differences say"):
        ff.check_loss(motion.model, wrong, motion)


def test_a_missing_partial_is_named(motion):
    def wrong(trajectory):
        value, by = reach(trajectory)
        return value + 3.0 * float(trajectory.v[-1, 0]), by

    with pytest.raises(ValueError, match=r"by_v of joint 'rod_x', state 2: the loss says 0, differences say 3"):
        ff.check_loss(motion.model, wrong, motion)


def test_a_loss_may_compute_poses_from_q(motion):
    body = motion.model.body("box")

    def right(trajectory):
        by = np.zeros((len(trajectory.q), motion.model.num_bodies, 6))
        by[-1, body, 0] = 1.0
        pose = ff.forward_kinematics(motion.model, trajectory.parameters, np.array(trajectory.q[-1]))
        return float(pose[body, 0]), Partials(by)

    ff.check_loss(motion.model, right, motion)


def test_a_wrong_shape_is_named(motion):
    with pytest.raises(ValueError, match=r"by_v of shape \(3,\), expected \(3, 12\)"):
        ff.check_loss(motion.model, lambda trajectory: (0.0, Partials(by_v=np.zeros(3))), motion)


def test_parameterisations():
    model, parameters = ff.load(SCENES / "push.xml")
    state, base = model.default_state(), np.tile(model.default_control(), (4, 1))
    kinds = [DirectTargets(base), InitialState(model, state, base, velocities=[0, 1]), ParameterSubset(parameters, ff.parameter_mask(model, ["gravity"]), base)]  # fmt: skip
    for kind in kinds:
        cases = list(unknowns_cases(model, kind, kind.initial(), parameters, state))
        assert cases
        assert all(case.ok and case.analytic != 0.0 for case in cases)


class Halved(DirectTargets):
    """Its pullback is half of what it should be."""

    def pullback(self, x, gradient):
        return 0.5 * super().pullback(x, gradient)


def test_a_wrong_pullback_is_found():
    model, parameters = ff.load(SCENES / "push.xml")
    kind = Halved(np.tile(model.default_control(), (4, 1)))
    (case,) = unknowns_cases(model, kind, kind.initial(), parameters, model.default_state())
    assert not case.ok
    assert "pullback of controls" in str(case)


def test_gradcheck_of_a_task_checks_its_loss(tmp_path, capsys):
    """The tutorial's task with a sign turned round, as a user would write it."""
    text = (Path(__file__).parents[2] / "docs" / "tutorial_task.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    wrong = code.replace("            loss=loss,\n", "            loss=turned(loss),\n") + (
        "\n\ndef turned(loss):\n    def wrong(motion):\n        value, by = loss(motion)\n"
        "        by.by_pose[..., 0] *= -1.0\n        return value, by\n    return wrong\n"
    )
    for name, source, expected in (("flick", code, 0), ("wrong", wrong, 1)):
        (tmp_path / f"{name}.py").write_text(source)
        words = ["gradcheck", str(tmp_path / f"{name}.py"), "--set", "spot=0.5", "--contact", "none"]
        assert main([*words, "--out", str(tmp_path / name), "--json", "--quiet"]) == expected
        report = json.loads(capsys.readouterr().out)
        assert report["passed"] == (expected == 0)
        quantities = {case["quantity"] for case in report["cases"]}
        assert {"parameterisation, state", "loss, by_pose"} <= quantities
    assert any("by_pose of body 'puck', x" in text for text in report["mistakes"])
    assert main(["gradcheck", str(SCENES / "push.xml"), "--set", "spot=1", "--quiet"]) == 2
