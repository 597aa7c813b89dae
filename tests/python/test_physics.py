# SPDX-License-Identifier: Apache-2.0
"""Contact-free motion of imported robots against MuJoCo's small-step Runge-Kutta trajectories."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
import pytest

import farfield as ff
from farfield.importers import mujoco_compile, urdf
from farfield.importers.report import Report

SCENES = Path(__file__).parents[2] / "scenes"
GYM = "gymnasium/envs/mujoco/assets"
ROBOTS = {
    "gym_ant": ("gymnasium", f"{GYM}/ant.xml"),
    "gym_humanoid": ("gymnasium", f"{GYM}/humanoid.xml"),
    "panda": ("example-robot-data", "robots/panda_description/urdf/panda.urdf"),
    "chain14": (None, "chain14.xml"),
}


@dataclass
class Robot:
    model: ff.Model
    parameters: ff.Parameters
    reference: mujoco.MjModel


def locate(name: str) -> Path:
    distribution, ending = ROBOTS[name]
    if distribution is None:
        return SCENES / ending
    for entry in importlib.metadata.files(distribution) or ():
        if str(entry).endswith(ending):
            return Path(entry.locate()).resolve()
    pytest.fail(f"{distribution} does not carry {ending}")


def mujoco_model(path: Path) -> mujoco.MjModel:
    if path.suffix != ".urdf":
        return mujoco.MjModel.from_xml_path(str(path))
    with urdf.prepared(path, package_dirs=(), floating_base=False, report=Report(path)) as (file, edits):
        spec = mujoco.MjSpec.from_file(str(file))
        mujoco_compile.apply_edits(mujoco, spec, edits)
        return spec.compile()


@pytest.fixture(scope="module", params=sorted(ROBOTS))
def robot(request) -> Robot:
    """Without joint limits and ties, which MuJoCo models as soft constraints and we do not."""
    path = locate(request.param)
    loaded, _ = ff.load(path)
    scene = loaded.scene
    scene.bodies = [
        body.replace(joints=[joint.replace(range=None, range2=None) for joint in body.joints]) for body in scene.bodies
    ]
    scene.ties = []
    model = ff.build_model(scene)
    reference = mujoco_model(path)
    flags = mujoco.mjtDisableBit
    reference.opt.disableflags |= (
        flags.mjDSBL_CONTACT
        | flags.mjDSBL_LIMIT
        | flags.mjDSBL_EQUALITY
        | flags.mjDSBL_FRICTIONLOSS
        | flags.mjDSBL_CLAMPCTRL
    )
    reference.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    return Robot(model, model.default_parameters(), reference)


def random_state(model: ff.Model, seed: int) -> ff.State:
    rng = np.random.default_rng(seed)
    q = ff.retract(model, model.default_state().q, 0.3 * rng.standard_normal(model.num_dofs))
    return ff.State(q=q, v=0.5 * rng.standard_normal(model.num_dofs))


def reference_end(
    reference: mujoco.MjModel, state: ff.State, control: np.ndarray, seconds: float, dt: float
) -> np.ndarray:
    reference.opt.timestep = dt
    data = mujoco.MjData(reference)
    data.qpos[:], data.qvel[:] = state.q, state.v
    if reference.nu:
        data.ctrl[:] = control
    for _ in range(round(seconds / dt)):
        mujoco.mj_step(reference, data)
    return data.qpos.copy()


def test_motion_converges_to_mujoco_at_first_order(robot):
    model, seconds, dt = robot.model, 0.1, 1e-3
    state = random_state(model, 3)
    control = 0.1 * np.random.default_rng(4).standard_normal(model.num_controls)
    assert robot.reference.nu == model.num_controls
    expected = reference_end(robot.reference, state, control, seconds, 1e-4)
    # the reference itself is converged: half the step moves it far less than we ask
    finer = reference_end(robot.reference, state, control, seconds, 5e-5)
    spread = np.linalg.norm(ff.difference(model, expected, finer))
    errors = []
    for step in (dt, dt / 2, dt / 4):
        steps = round(seconds / step)
        trajectory = ff.rollout(model, robot.parameters, state, np.tile(control, (steps, 1)), dt=step, contact=None)
        assert trajectory.converged
        errors.append(np.linalg.norm(ff.difference(model, finer, trajectory.state(-1).q)))
    moved = np.linalg.norm(ff.difference(model, state.q, finer))
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    print(f"moved {moved:.3g}, errors {errors}, orders {orders}, reference {spread:.1e}")
    assert spread < 1e-3 * errors[-1]
    assert errors[0] < 0.05 * moved
    assert np.all((orders > 0.8) & (orders < 1.2)), (errors, orders)


def test_poses_at_random_configurations(robot):
    model, data = robot.model, mujoco.MjData(robot.reference)
    for seed in range(100):
        q = random_state(model, seed).q
        data.qpos[:] = q
        mujoco.mj_kinematics(robot.reference, data)
        poses = ff.forward_kinematics(model, robot.parameters, q)
        np.testing.assert_allclose(poses[:, :3], data.xpos, atol=1e-9, rtol=0)
        sign = np.sign(np.sum(poses[:, 3:] * data.xquat, axis=1, keepdims=True))
        np.testing.assert_allclose(sign * poses[:, 3:], data.xquat, atol=1e-9, rtol=0)
