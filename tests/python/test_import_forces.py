# SPDX-License-Identifier: Apache-2.0
"""What drives and holds a robot of a file: at first order in the time step the motion is MuJoCo's."""

from __future__ import annotations

import copy
from pathlib import Path

import mujoco
import numpy as np
import pytest

import farfield as ff

#: [s]; a loop swings through soon.
DURATION, LOOP = 0.2, 0.06
STIFF = 'solref="0.0002 1" solimp="0.9999 0.9999 0.001"'

CHAIN = """<body name="b"><joint name="j" axis="0 1 0" damping="0.05"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
  <body name="c" pos=".3 0 0" {body}><joint name="k" axis="0 1 0.2" damping="0.05" {joint}/>
  <geom type="capsule" fromto="0 0 0 .2 0 .1" size=".03"/><site name="tip" pos=".2 0 .1" euler="0.3 0.2 0.1"/></body></body>"""

#: name -> (world, rest, control)
CASES = {
    "tendon spring, damping, inertia and drive": (
        CHAIN.format(body="", joint=""),
        """<tendon><fixed name="t" stiffness="8" springlength="0.1" damping="0.3" armature="0.01"><joint joint="j" coef="1"/>
          <joint joint="k" coef="-0.7"/></fixed></tendon>
          <actuator><position name="p" tendon="t" kp="5" kv="0.2" gear="1.5"/><motor name="m" tendon="t" gear="0.4"/></actuator>""",
        [0.8, 1.2],
    ),
    "ranges of force and control": (
        CHAIN.format(body="", joint='actuatorfrcrange="-0.15 0.15"'),
        """<actuator><position name="p" joint="j" kp="30" kv="1" forcerange="-0.6 0.6"/>
          <motor name="m" joint="k" ctrlrange="-0.5 0.5" gear="0.8"/></actuator>""",
        [0.5, -3.0],
    ),
    "affine": (
        CHAIN.format(body="", joint=""),
        '<actuator><general name="a" joint="j" gainprm="2" biastype="affine" biasprm="0.4 -3 -0.2"/></actuator>',
        [0.7],
    ),
    "gravity compensation": (CHAIN.format(body='gravcomp="0.8"', joint=""), "", []),
    "dry friction that slides": (
        '<body name="b"><joint name="s" type="slide" axis="1 0 0" frictionloss="1.5"/><geom size=".1" mass="1"/></body>',
        '<actuator><motor name="m" joint="s"/></actuator>',
        [4.0],
    ),
    "a force on a site": (
        CHAIN.format(body="", joint=""),
        '<actuator><motor name="m" site="tip" gear="0.1 0.2 1 0.05 0 0.02"/></actuator>',
        [0.9],
    ),
    "a polynomial of joints": (
        CHAIN.format(body="", joint=""),
        f'<equality><joint joint1="k" joint2="j" polycoef="0 0.5 0.8 0 0" {STIFF}/></equality>',
        [],
    ),
    "a polynomial of tendons": (
        CHAIN.format(body="", joint=""),
        f"""<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed><fixed name="u"><joint joint="k" coef="2"/></fixed></tendon>
          <equality><tendon tendon1="u" tendon2="t" polycoef="0 -1 0.3 0 0" {STIFF}/></equality>""",
        [],
    ),
    "a closed loop": (
        CHAIN.format(body="", joint="").replace("0 1 0.2", "0 1 0")
        + '<body name="d" pos=".9 0 0"><joint name="l" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 -.3 0 .1" size=".03"/></body>',
        f'<equality><connect body1="c" body2="d" anchor=".3 0 .05" {STIFF}/></equality>',
        [],
    ),
    "a weld": (
        CHAIN.format(body="", joint="")
        + '<body name="f" pos=".6 0 .1"><freejoint/><geom type="box" size=".05 .04 .03"/></body>',
        f'<equality><weld body1="c" body2="f" {STIFF}/></equality>',
        [],
    ),
}


#: Cases in which the difference is that of smoothed friction: so much of a speed below 0.01 m/s is lost at the start [m/s].
SMOOTHED = {"dry friction that slides": 2e-3}


def write(folder: Path, world: str, rest: str) -> Path:
    path = folder / "model.xml"
    path.write_text(
        f"""<mujoco><compiler angle="radian"/><option timestep="2e-5" integrator="implicitfast" iterations="200" tolerance="1e-12"/>
        <default><geom contype="0" conaffinity="0" density="500"/><joint {STIFF.replace("solref", "solreffriction").replace("solimp", "solimpfriction")}/></default>
        <worldbody>{world}</worldbody>{rest}</mujoco>"""
    )
    return path


@pytest.mark.parametrize("name", CASES)
def test_motion_is_mujocos_to_first_order(tmp_path, name):
    world, rest, control = CASES[name]
    path = write(tmp_path, world, rest)
    peer = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(peer)
    data.ctrl[:] = control
    duration = LOOP if "loop" in name else DURATION
    for _ in range(round(duration / peer.opt.timestep)):
        mujoco.mj_step(peer, data)
    model, parameters = ff.load(path)
    errors = []
    for dt in (duration / 50, duration / 100, duration / 200):
        steps = round(duration / dt)
        controls = np.tile(np.asarray(control, dtype=float), (steps, 1)).reshape(steps, -1)
        run = ff.rollout(model, parameters, model.default_state(), controls, dt=dt, contact=None)
        assert run.converged
        assert max(report.constraint_residual for report in run.reports) <= 1e-8
        errors.append(np.linalg.norm(run.v[-1] - data.qvel))
    moved = np.linalg.norm(data.qvel)
    assert moved > 0.05
    assert errors[2] < 0.02 * moved
    if name in SMOOTHED:
        assert max(errors) < SMOOTHED[name]
        return
    assert errors[1] / errors[2] == pytest.approx(2.0, rel=0.35), errors
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.35), errors


def test_weld_and_connect_residuals_are_mujocos(tmp_path):
    world, rest, _ = CASES["a closed loop"]
    rest = rest.replace(
        "</equality>", '<weld body1="b" body2="d" anchor=".1 .2 .3" relpose=".3 .1 .2 .9 .1 .2 .3"/></equality>'
    )
    path = write(tmp_path, world, rest)
    peer = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(peer)
    model, parameters = ff.load(path)
    random = np.random.default_rng(1)
    for _ in range(20):
        data.qpos[:] = random.normal(size=3)
        mujoco.mj_forward(peer, data)
        ours = ff.constraint_values(model, parameters, data.qpos.copy())
        np.testing.assert_allclose(ours[:6], data.efc_pos[:6], atol=1e-12)


def test_gradients_of_a_loop_with_a_saturated_drive(tmp_path):
    world, rest, _ = CASES["a closed loop"]
    rest += """<tendon><fixed name="t" stiffness="3"><joint joint="j" coef="1"/><joint joint="l" coef="0.5"/></fixed></tendon>
      <actuator><position name="p" tendon="t" kp="5" kv="0.1" forcerange="-0.4 0.4"/></actuator>"""
    model, parameters = ff.load(
        write(tmp_path, world.replace('damping="0.05"', 'damping="0.05" frictionloss="0.1"'), rest)
    )
    steps, dt = 5, 0.004
    controls = np.full((steps, 1), 0.05)
    state = model.default_state()
    weights = np.random.default_rng(3).normal(size=model.num_dofs)

    def loss(controls, parameters):
        run = ff.rollout(model, parameters, state, controls, dt=dt, contact=None, tolerance=1e-12)
        return run, float(weights @ run.v[-1])

    run, _ = loss(controls, parameters)
    partials = np.zeros((steps + 1, model.num_dofs))
    partials[-1] = weights
    gradient = ff.rollout_vjp(run, dL_dv=partials)
    direction = np.random.default_rng(4).normal(size=controls.shape)
    h = 1e-5
    numeric = (loss(controls + h * direction, parameters)[1] - loss(controls - h * direction, parameters)[1]) / (2 * h)
    assert float(np.sum(gradient.controls * direction)) == pytest.approx(numeric, rel=1e-5)
    for field in ("joint_friction", "kp", "damping", "attachment"):
        up, down = loss_pair(loss, controls, parameters, field, h)
        ours = float(np.sum(np.asarray(getattr(gradient.parameters, field)) * shift_of(parameters, field)))
        assert ours == pytest.approx((up - down) / (2 * h), rel=2e-5, abs=1e-9), field


def shift_of(parameters, field):
    values = np.asarray(getattr(parameters, field))
    return np.random.default_rng(5).normal(size=values.shape) * (np.abs(values) > 0.0)


def loss_pair(loss, controls, parameters, field, h):
    values = []
    for sign in (1.0, -1.0):
        changed = copy.deepcopy(parameters)
        setattr(changed, field, np.asarray(getattr(parameters, field)) + sign * h * shift_of(parameters, field))
        values.append(loss(controls, changed)[1])
    return values
