# SPDX-License-Identifier: Apache-2.0
"""Mass matrix, inverse and forward dynamics and their derivatives against MuJoCo, contact switched off."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
import pytest

import farfield as ff

SCENES = Path(__file__).parents[2] / "scenes"
# A folder of robots in MJCF, one folder each, is tried as well where it is named; the test does not need it.
ROBOTS = os.environ.get("FARFIELD_ROBOTS")
FILES = sorted(SCENES.glob("*.xml")) + (sorted(Path(ROBOTS).glob("*/*.xml")) if ROBOTS else [])
TOLERANCE = 1e-9


@dataclass
class Robot:
    model: ff.Model
    parameters: ff.Parameters
    reference: mujoco.MjModel
    data: mujoco.MjData


def load(path: Path) -> Robot:
    """Without ties and limits, which MuJoCo models as soft constraints. A robot of others is skipped where one of the two cannot load it."""
    try:
        reference = mujoco.MjModel.from_xml_path(str(path))
        loaded, _ = ff.load(path)
    except ValueError as error:
        if path.parent == SCENES:
            raise
        pytest.skip(str(error).splitlines()[0])
    scene = loaded.scene
    scene.ties = []
    model = ff.build_model(scene)
    if path.parent != SCENES and (model.num_q != reference.nq or model.num_dofs != reference.nv):
        pytest.skip(f"{model.num_dofs} degrees of freedom here, {reference.nv} in MuJoCo")
    flags = mujoco.mjtDisableBit
    for flag in (flags.mjDSBL_CONSTRAINT, flags.mjDSBL_ACTUATION):
        reference.opt.disableflags |= flag
    reference.opt.viscosity = reference.opt.density = 0.0
    return Robot(model, model.default_parameters(), reference, mujoco.MjData(reference))


@pytest.fixture(scope="module", params=FILES, ids=[f"{f.parent.name}/{f.stem}" for f in FILES])
def robot(request) -> Robot:
    return load(request.param)


def state_of(robot: Robot, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random q, v and a vector of one number per degree of freedom, with MuJoCo's data brought to q, v."""
    rng = np.random.default_rng(seed)
    n = robot.model.num_dofs
    q = ff.retract(robot.model, robot.model.default_state().q, 0.5 * rng.standard_normal(n))
    v, x = rng.standard_normal(n), rng.standard_normal(n)
    robot.data.qpos[:], robot.data.qvel[:] = q, v
    mujoco.mj_forward(robot.reference, robot.data)
    return q, v, x


def close(ours: np.ndarray, theirs: np.ndarray, scale: float = 0.0) -> None:
    error = np.linalg.norm(ours - theirs)
    assert error <= TOLERANCE * (np.linalg.norm(theirs) + scale), f"relative error {error / np.linalg.norm(theirs):.2e}"


def full_mass(robot: Robot) -> np.ndarray:
    """By columns: the storage of the matrix differs between versions of MuJoCo."""
    n = robot.reference.nv
    full = np.zeros((n, n))
    for column, unit in zip(full, np.eye(n), strict=True):
        mujoco.mj_mulM(robot.reference, robot.data, column, unit)
    return full.T


def test_mass_matrix_is_mujocos(robot):
    q, _, _ = state_of(robot, 1)
    close(ff.mass_matrix(robot.model, robot.parameters, q), full_mass(robot))


def test_bias_force_is_mujocos(robot):
    q, v, _ = state_of(robot, 2)
    close(ff.bias_force(robot.model, robot.parameters, q, v), robot.data.qfrc_bias)


def test_passive_force_is_mujocos(robot):
    q, v, _ = state_of(robot, 3)
    close(ff.passive_force(robot.model, robot.parameters, q, v), robot.data.qfrc_passive, scale=1e-6)


def test_inverse_dynamics_is_mujocos(robot):
    q, v, a = state_of(robot, 4)
    robot.data.qacc[:] = a
    mujoco.mj_inverse(robot.reference, robot.data)
    tau = ff.inverse_dynamics(robot.model, robot.parameters, q, v, a)
    close(tau - ff.passive_force(robot.model, robot.parameters, q, v), robot.data.qfrc_inverse)


def test_forward_dynamics_with_wrenches_is_mujocos(robot):
    q, v, tau = state_of(robot, 5)
    rng = np.random.default_rng(5)
    wrenches = np.zeros((robot.model.num_bodies, 6))
    for name in robot.model.body_names[1:]:
        body = mujoco.mj_name2id(robot.reference, mujoco.mjtObj.mjOBJ_BODY, name)
        if body < 0:
            continue
        force, torque = rng.standard_normal(3), rng.standard_normal(3)
        wrenches[robot.model.body(name)] = [*force, *torque]
        arm = robot.data.xipos[body] - robot.data.xpos[body]  # MuJoCo's applied forces act at the centre of mass
        robot.data.xfrc_applied[body] = [*force, *(torque - np.cross(arm, force))]
    robot.data.qfrc_applied[:] = tau
    mujoco.mj_forward(robot.reference, robot.data)
    ours = ff.forward_dynamics(
        robot.model,
        robot.parameters,
        q,
        v,
        tau + ff.passive_force(robot.model, robot.parameters, q, v),
        wrenches=wrenches,
    )
    robot.data.xfrc_applied[:] = 0.0
    robot.data.qfrc_applied[:] = 0.0
    # the accelerations of light links next to heavy ones are as exact as the mass matrix is well conditioned
    theirs, mass = robot.data.qacc, full_mass(robot)
    assert np.linalg.norm(mass @ (ours - theirs)) <= TOLERANCE * np.linalg.norm(mass @ theirs)


def test_body_jacobian_is_mujocos(robot):
    q, _, _ = state_of(robot, 6)
    point = np.array([0.1, -0.2, 0.3])
    linear, angular = np.zeros((3, robot.reference.nv)), np.zeros((3, robot.reference.nv))
    compared = 0
    for name in robot.model.body_names[1:]:
        body = mujoco.mj_name2id(robot.reference, mujoco.mjtObj.mjOBJ_BODY, name)
        if body < 0:
            continue
        world = robot.data.xpos[body] + robot.data.xmat[body].reshape(3, 3) @ point
        mujoco.mj_jac(robot.reference, robot.data, linear, angular, world, body)
        ours = ff.body_jacobian(robot.model, robot.parameters, q, robot.model.body(name), point)
        np.testing.assert_allclose(ours, np.vstack([linear, angular]), atol=1e-12 * (1.0 + np.abs(linear).max()))
        compared += 1
    assert compared > 0


def test_derivatives_agree_with_differences_of_mujoco(robot):
    """MuJoCo itself is differenced, on the manifold: sign, frame and layout are its own."""
    q, v, a = state_of(robot, 7)
    derivatives = ff.inverse_dynamics_derivatives(robot.model, robot.parameters, q, v, a)
    direction = np.random.default_rng(7).standard_normal(robot.model.num_dofs)

    def force(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        robot.data.qpos[:], robot.data.qvel[:], robot.data.qacc[:] = q, v, a
        mujoco.mj_inverse(robot.reference, robot.data)
        return robot.data.qfrc_inverse + robot.data.qfrc_passive

    h = 1e-5
    ahead, behind = q.copy(), q.copy()
    mujoco.mj_integratePos(robot.reference, ahead, direction, h)
    mujoco.mj_integratePos(robot.reference, behind, direction, -h)
    by_q = (force(ahead, v) - force(behind, v)) / (2 * h)
    by_v = (force(q, v + h * direction) - force(q, v - h * direction)) / (2 * h)
    assert np.linalg.norm(derivatives.q @ direction - by_q) <= 1e-6 * np.linalg.norm(by_q) + 1e-8
    assert np.linalg.norm(derivatives.v @ direction - by_v) <= 1e-6 * np.linalg.norm(by_v) + 1e-8


def test_jacobians_and_vjps_are_consistent():
    robot = load(SCENES / "ant.xml")
    q, v, tau = state_of(robot, 8)
    rng = np.random.default_rng(8)
    wrenches, bar = rng.standard_normal((robot.model.num_bodies, 6)), rng.standard_normal(robot.model.num_dofs)
    arguments = robot.model, robot.parameters, q, v
    forward = ff.forward_dynamics_derivatives(*arguments, tau, wrenches=wrenches)
    inverse = ff.inverse_dynamics_derivatives(*arguments, forward.acceleration, wrenches=wrenches)
    np.testing.assert_allclose(
        ff.inverse_dynamics(*arguments, forward.acceleration, wrenches=wrenches), tau, rtol=0, atol=1e-11
    )
    np.testing.assert_allclose(forward.tau @ inverse.a, np.eye(robot.model.num_dofs), atol=1e-10)
    np.testing.assert_allclose(inverse.a @ forward.q, -inverse.q, atol=1e-9 * np.abs(inverse.q).max())
    gradient = ff.forward_dynamics_vjp(*arguments, tau, bar, wrenches=wrenches)
    np.testing.assert_allclose(gradient.q, forward.q.T @ bar, rtol=1e-9, atol=1e-9 * np.abs(gradient.q).max())
    np.testing.assert_allclose(gradient.tau, forward.tau.T @ bar, rtol=1e-9)
    np.testing.assert_allclose(gradient.wrenches.ravel(), forward.wrenches.T @ bar, atol=1e-9)
    back = ff.inverse_dynamics_vjp(*arguments, forward.acceleration, gradient.tau, wrenches=wrenches)
    np.testing.assert_allclose(back.q, -gradient.q, atol=1e-10 * np.abs(back.q).max())
    np.testing.assert_allclose(back.parameters.moments, -gradient.parameters.moments, atol=1e-10)
    passive = ff.passive_force_vjp(*arguments, bar)
    np.testing.assert_allclose(passive.v, ff.passive_force_derivatives(*arguments).v.T @ bar)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda m, p, q, v: ff.inverse_dynamics(m, p, q, v, v[:-1]), "inverse_dynamics: a has 13 rows, expected 14"),
        (lambda m, p, q, v: ff.forward_dynamics(m, p, q, v, v * np.nan), "forward_dynamics: tau has entries"),
        (
            lambda m, p, q, v: ff.forward_dynamics(m, p, q, v, v, wrenches=np.zeros((2, 6))),
            "forward_dynamics: wrenches has 2 rows, expected 10",
        ),
        (lambda m, p, q, v: ff.mass_matrix(m, p, q[1:]), "mass_matrix: q has 14 rows, expected 15"),
        (lambda m, p, q, v: ff.body_jacobian(m, p, q, 99), "body_jacobian: body 99, expected 0 to 9"),
    ],
)
def test_mistakes_are_named(call, expected):
    model, parameters = ff.load(SCENES / "ant.xml")
    state = model.default_state()
    with pytest.raises(ValueError, match=expected):
        call(model, parameters, state.q, state.v)
