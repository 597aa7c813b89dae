# SPDX-License-Identifier: Apache-2.0
"""MuJoCo as a rival: the same scene in other hands, states that go there and back, and gradients against its own rollouts."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import farfield as ff
from command_line import exit_code
from farfield.differences import slope
from farfield.engines.mujoco_fd import MujocoFd, MujocoOptions
from farfield.engines.mujoco_scene import translate
from farfield.importers import load_scene
from farfield.optimize import DirectTargets, InitialState, ReachLoss
from farfield.tasks.push import Push

mujoco = pytest.importorskip("mujoco")

SCENES = Path(__file__).parents[2] / "scenes"
FILES = ("ant.xml", "arm7.xml", "chain14.xml", "double_pendulum.xml", "push.xml", "wall_spin.xml", "bowl.xml")


def mixed_scene():
    """Every kind of joint and drive, bodies out of MuJoCo's order, a scripted body, a tie."""
    scene = ff.Scene(name="mixed", gravity=[0.3, 0.0, -9.0])
    scene.add_body(name="a", position=[0, 0, 1], orientation=[0.8, 0.6, 0, 0])
    scene.add_body(name="loose", position=[2, 0, 1])
    scene.add_body(name="b", parent="a", position=[0, 0, 0.5])
    scene.add_body(name="c", parent="b", position=[0, 0.5, 0])
    scene.add_body(name="script", motion="Kinematic", position=[0, 5, 0])
    scene.add_body(name="d", parent="c", position=[0.1, 0.5, 0])
    scene.add_joint("a", name="slide", type="Slide", axis=[1, 0, 0], reference=0.2, damping=0.5)
    scene.add_joint("a", name="turn", type="Hinge", axis=[0, 1, 1], anchor=[0.1, 0, 0], reference=-0.1, armature=0.02)
    scene.add_joint("loose", name="free", type="Free")
    scene.add_joint("b", name="cross", type="Universal", axis=[1, 0, 0], axis2=[0, 1, 0], damping=0.1)
    scene.add_joint("c", name="ball", type="Ball", anchor=[0, 0, 0.1])
    scene.add_joint(
        "d", name="follow", type="Hinge", axis=[0, 0, 1], reference=0.05, stiffness=2.0, spring_reference=0.1
    )
    for name in ("a", "loose", "b", "c", "script", "d"):
        scene.add_shape(name, type="Box", size=[0.1, 0.08, 0.05], position=[0.02, 0.01, 0.0], density=300.0)
    scene.add_actuator(name="p", type="Pd", joint="slide", kp=50.0, kd=8.0, velocity_input=False)
    scene.add_actuator(name="v", type="Pd", joint="turn", kp=3.0, kd=5.0, position_input=False)
    scene.add_actuator(name="pv", type="Pd", joint="cross", kp=20.0, kd=2.0)
    scene.add_actuator(name="m", type="Motor", joint="ball")
    scene.add_actuator(name="g", type="Motor", joint="free", gear=[0.5, 0, 0, 0, 0, 2.0])
    return scene


def random_state(model, generator, size=0.3):
    freedom = np.asarray(model.reduction)
    state = model.default_state()
    q = ff.retract(model, state.q, size * (freedom @ generator.standard_normal(freedom.shape[1])))
    return ff.State(q=q, v=size * (freedom @ generator.standard_normal(freedom.shape[1])))


def model_of(name):
    return ff.build_model(mixed_scene() if name == "mixed" else load_scene(SCENES / name)[0])


@pytest.mark.parametrize("name", [*FILES, "mixed"])
def test_states_go_there_and_back_and_put_bodies_where_they_are(name):
    model = model_of(name)
    parameters = model.default_parameters()
    peer = translate(model, parameters, dt=0.01)
    data = mujoco.MjData(peer.model)
    generator = np.random.default_rng(3)
    for _ in range(3):
        state = random_state(model, generator)
        peer.set_state(data, state)
        q, v = peer.get_state(data, state)
        assert np.array_equal(q, state.q) and np.array_equal(v, state.v)
        mujoco.mj_forward(peer.model, data)
        poses = ff.forward_kinematics(model, parameters, state.q)
        assert np.allclose(data.xpos[peer.bodies], poses[:, :3], atol=1e-12)
        turned = np.abs((data.xquat[peer.bodies] * poses[:, 3:]).sum(axis=1))  # q and -q are one rotation
        assert np.allclose(turned, 1.0, atol=1e-12)


@pytest.mark.parametrize("name", ["mixed", "ant.xml", "arm7.xml"])
def test_without_contact_both_fall_and_drive_alike(name):
    # both integrators are of first order: the acceleration of one step from the same state differs by O(dt)
    scene = mixed_scene() if name == "mixed" else load_scene(SCENES / name)[0]
    for body in range(1, len(scene.bodies)):  # limits and contacts differ by nature
        scene.replace_body(body, joints=[joint.replace(range=None) for joint in scene.bodies[body].joints])
    model = ff.build_model(scene)
    parameters = model.default_parameters()
    generator = np.random.default_rng(4)
    state, controls = random_state(model, generator, size=0.1), generator.standard_normal((1, model.num_controls))
    errors = []
    for dt in (1e-4, 1e-5):
        peer = translate(model, parameters, dt=dt)
        peer.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        data = mujoco.MjData(peer.model)
        ours = ff.rollout(model, parameters, state, controls, dt=dt, tolerance=1e-11, contact=None)
        peer.set_state(data, state)
        data.ctrl[:] = controls[0][peer.control]
        mujoco.mj_step(peer.model, data)
        _, v = peer.get_state(data, state)
        acceleration = (ours.v[1] - state.v) / dt
        errors.append(np.abs((v - state.v) / dt - acceleration).max() / np.abs(acceleration).max())
    assert np.abs(acceleration).max() > 1.0  # something happens
    assert errors[1] < 1e-3 and errors[1] < 0.2 * errors[0] + 1e-5


def test_the_same_bodies_meet():
    scene = mixed_scene()
    scene.exclude("loose", "a")
    model = ff.build_model(scene)
    peer = translate(model, model.default_parameters(), dt=0.01)
    excluded = {tuple(sorted((int(s) >> 16, int(s) & 0xFFFF))) for s in peer.model.exclude_signature}
    names = model.body_names
    for a in range(1, model.num_bodies):
        for b in range(a + 1, model.num_bodies):
            meet = {names[a], names[b]} in [set(pair) for pair in model.contact_pairs]
            assert (tuple(sorted((int(peer.bodies[a]), int(peer.bodies[b])))) not in excluded) == meet
    push = Push().build(0)
    assert (
        translate(push.model, push.parameters, dt=0.04).model.npair == 1
    )  # the rod and the world, included by the user


def test_time_steps_are_cut_into_equal_parts():
    model = model_of("mixed")
    for dt, parts in ((0.01, 1), (0.04, 4), (0.025, 3), (0.004, 1)):
        peer = translate(model, model.default_parameters(), dt=dt)
        assert peer.substeps == parts and peer.model.opt.timestep == pytest.approx(dt / parts)
    assert translate(model, model.default_parameters(), dt=0.04, substeps=2).substeps == 2


def test_parameters_are_used_and_not_the_scene():
    model = model_of("mixed")
    parameters = model.default_parameters()
    parameters.damping[:] = np.arange(model.num_dofs)
    parameters.kp[0], parameters.gravity[:] = 7.0, [0.0, 0.0, -1.0]
    parameters.moments[1] *= 2.0
    peer = translate(model, parameters, dt=0.01)
    assert np.array_equal(peer.model.dof_damping[peer.qvel], parameters.damping[peer.dofs])
    assert peer.model.actuator_gainprm[0, 0] == 7.0 and peer.model.opt.gravity[2] == -1.0
    assert peer.model.body_mass[peer.bodies[1]] == pytest.approx(2.0 * model.default_parameters().moments[1, 0])


def smooth_objective(unknowns=None, steps=12, **options):
    """Everything moves, nothing touches."""
    model = model_of("mixed")
    peer_controls = np.random.default_rng(5).standard_normal((steps, model.num_controls))
    loss = ReachLoss(["d", "loose"], [[0.5, 0.2, 0.4], [1.0, 0.0, 2.0]], 0.01)
    unknowns = unknowns or DirectTargets(peer_controls)
    return MujocoFd(
        model, model.default_parameters(), unknowns, loss, dt=0.02, options=MujocoOptions(**options), threads=1
    )


def test_gradients_agree_with_differences_of_its_own_rollouts():
    objective = smooth_objective(centered=True)
    x = objective.parameterization.initial()
    (here,) = objective.evaluate([x])
    assert np.isinf(here.trajectory.min_gap)  # no contacts
    direction = np.random.default_rng(6).standard_normal(x.shape)
    direction /= np.linalg.norm(direction)
    along = slope(lambda h: objective.loss(objective.simulate([x + h * direction])[0])[0])
    exact = float((here.gradient * direction).sum())
    assert abs(exact) > 1e-3 and exact != along.value
    assert along.noise < 1e-6 * abs(exact)
    assert along.relative_error(exact) < 1e-5


def test_gradients_by_the_first_state_agree_with_differences():
    model = model_of("mixed")
    state = random_state(model, np.random.default_rng(7), size=0.2)
    controls = np.zeros((10, model.num_controls))
    place = model.joint_dofs("free").start
    unknowns = InitialState(
        model, state, controls, positions=[0, 1, place], velocities=list(range(2, model.num_dofs - 1))
    )
    objective = smooth_objective(unknowns, centered=True)
    objective.state = state
    x = unknowns.initial()
    (here,) = objective.evaluate([x])
    for k in range(len(x)):
        unit = np.eye(len(x))[k]
        up, down = (objective.loss(each)[0] for each in objective.simulate([x + 1e-5 * unit, x - 1e-5 * unit]))
        assert here.gradient[k] == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-7), k


def push_objective(horizon, **more):
    problem = dataclasses.replace(Push(), horizon=horizon).build(0)
    return MujocoFd(problem.model, problem.parameters, problem.parameterization, problem.loss, dt=problem.dt, **more)


def towards_the_box(objective):
    """Targets that drive the rod into the box."""
    x = objective.parameterization.initial()
    forth = np.minimum(0.03 * np.arange(len(x)), 0.4)[:, None]
    x[:, :2] -= forth * x[:, :2] / np.linalg.norm(x[0, :2])
    return x


def test_gradients_agree_in_contact_too():
    objective = push_objective(14, threads=1, options=MujocoOptions(centered=True))
    x = towards_the_box(objective)
    (here,) = objective.evaluate([x])
    assert here.trajectory.min_gap < 0.0  # contact is soft
    assert np.linalg.norm(here.trajectory.q[-1, 6:8]) > 0.01  # the box has moved
    direction = np.random.default_rng(8).standard_normal(x.shape)
    direction /= np.linalg.norm(direction)
    up, down = (objective.loss(each)[0] for each in objective.simulate([x + 1e-6 * direction, x - 1e-6 * direction]))
    exact = float((here.gradient * direction).sum())
    assert abs(exact) > 1e-3
    assert exact == pytest.approx((up - down) / 2e-6, rel=1e-3)


def test_there_is_no_gradient_when_bodies_are_apart():
    objective = push_objective(6, threads=1)
    (here,) = objective.evaluate([objective.parameterization.initial()])
    assert here.value > 1.0
    assert np.all(here.gradient == 0.0)
    # with a looser solver there is rounding of 1e-23, which is no gradient either
    objective.peer.model.opt.cone = mujoco.mjtCone.mjCONE_PYRAMIDAL
    objective.peer.model.opt.tolerance = 1e-8
    (motion,) = objective.simulate([objective.parameterization.initial()])
    raw = [
        objective._transition(before)[0] for before in motion.before_steps.reshape(-1, motion.before_steps.shape[-1])
    ]
    box, rod = objective.peer.qvel[6:], objective.peer.qvel[:6]
    if mujoco.__version__ < "4":  # later ones do not let it through
        assert any(np.any(by_state[np.ix_(box, rod)] != 0.0) for by_state in raw)
    (here,) = objective.evaluate([objective.parameterization.initial()])
    assert np.all(here.gradient == 0.0)


def test_threads_do_not_change_results():
    one, two = push_objective(8, threads=1), push_objective(8, threads=2)
    x = towards_the_box(one)
    for a, b in zip(one.evaluate([x, 0.9 * x]), two.evaluate([x, 0.9 * x]), strict=True):
        assert a.value == b.value and a.gradient.tobytes() == b.gradient.tobytes()
    assert one.rollouts == two.rollouts == 2


def test_a_motion_that_blows_up_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log
    objective = push_objective(4, threads=1)
    x = objective.parameterization.initial()
    x[1, 0] = np.nan
    (here,) = objective.evaluate([x])
    assert here.value == np.inf and here.gradient is None and here.trajectory.num_steps < 4


def test_drives_that_have_no_counterpart_are_refused():
    scene = ff.Scene(name="odd")
    scene.add_body(name="a")
    scene.add_joint("a", name="ball", type="Ball")
    scene.add_shape("a", type="Box", size=[0.1, 0.1, 0.1])
    scene.add_actuator(name="hold", type="Pd", joint="ball", kp=1.0, kd=1.0)
    model = ff.build_model(scene)
    with pytest.raises(ValueError, match="actuator 'hold': a Pd drive on joint 'ball' of type Ball"):
        translate(model, model.default_parameters(), dt=0.01)


def test_it_runs_as_a_method(tmp_path, capsys):
    import json

    quick = ("--set", "frames=2", "--set", "horizon=4", "--iterations", "1")
    assert (
        exit_code("run", "push", "--method", "mujoco-fd", *quick, "--out", tmp_path / "run", "--json", "--quiet") == 1
    )
    result = json.loads(capsys.readouterr().out)
    assert (result["contact"], result["method"], result["certified"]) == ("mujoco", "mujoco-fd", False)
    assert (tmp_path / "run" / "replay.html").is_file()
    assert exit_code("run", "push", "--method", "mujoco-fd", "--contact", "ipc", *quick) == 2
    assert "method 'mujoco-fd' has contact of its own; leave it out" in capsys.readouterr().err


FIELDS = [field.name for field in ff.build_model(ff.Scene()).default_parameters().fields()]


@pytest.mark.parametrize("field", FIELDS)
def test_a_changed_parameter_is_carried_over_or_refused(field):
    """Whatever is changed must show in MuJoCo's model, or the translation says which field it does not honour."""
    model = model_of("mixed")

    def compiled(parameters) -> bytes:
        peer = translate(model, parameters, dt=0.01).model
        buffer = np.empty(mujoco.mj_sizeModel(peer), np.uint8)
        mujoco.mj_saveModel(peer, None, buffer)
        return buffer.tobytes()

    parameters = model.default_parameters()
    before = compiled(parameters)
    assert compiled(parameters.copy()) == before
    setattr(
        parameters,
        field,
        getattr(parameters, field) * 1.1 + (0.01 if field in ("damping", "armature", "joint_friction") else 0.0),
    )
    if field == "contact_stiffness":  # contact is MuJoCo's own
        assert compiled(parameters) == before
    elif field == "hull_vertices":
        with pytest.raises(ValueError, match=r"scene 'mixed': parameters\.hull_vertices was changed"):
            compiled(parameters)
    else:
        assert compiled(parameters) != before
