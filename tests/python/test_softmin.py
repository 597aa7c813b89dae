# SPDX-License-Identifier: Apache-2.0
"""Soft-minimum contact from Python: clouds, distances, detection, rollouts, files and commands."""

from __future__ import annotations

import json

import numpy as np
import pytest

import farfield as ff
from farfield.benchmarks import scm_detection, scm_uses, t_push_search
from farfield.cli import main
from farfield.contact_models import contact_from_description
from farfield.soft_top_k import topk_paper
from farfield.tasks import t_push

CORNERS = 0.1 * np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) - 0.05
FACES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
TRIANGLES = np.array([[f[0], f[k], f[k + 1]] for f in FACES for k in (1, 2)])


@pytest.fixture(scope="module")
def model():
    return ff.build_model(t_push.scene((0.0, -0.1375 - t_push.RADIUS)))


def controls(model, steps, speed=0.1, dt=2e-3):
    rows = np.tile(model.default_control(), (steps, 1))
    rows[:, 1] += speed * dt * np.arange(steps)
    return rows


def test_soft_distance_of_a_box():
    cloud = ff.PointCloud.from_mesh(CORNERS, TRIANGLES, spacing=0.02)
    assert cloud.sign_errors(CORNERS, TRIANGLES, samples=2000) <= 1e-3
    distance = ff.SoftDistance(cloud)
    points = np.array([[0.08, 0.01, 0.0], [0.0, 0.0, 0.04], [0.0, -0.07, 0.02]])
    np.testing.assert_allclose(distance(points), [0.03, -0.01, 0.02], atol=1e-6)
    step = 1e-6 * np.eye(3)
    for axis in range(3):
        slope = (distance(points + step[axis]) - distance(points - step[axis])) / 2e-6
        np.testing.assert_allclose(distance.gradient(points)[:, axis], slope, atol=1e-6)
    assert (distance.error(points) < 1e-10).all()
    with pytest.raises(ValueError, match="closed surface"):
        ff.PointCloud.from_mesh(CORNERS, TRIANGLES[:-1], spacing=0.02)
    with pytest.raises(ValueError, match="normal 0 has length"):
        ff.PointCloud(np.zeros((1, 3)), np.zeros((1, 3)), spacing=1.0)


def test_clouds_of_the_t():
    assert [len(t_push.t_cloud(m)) for m in (1, 3, 11)] == [34, 306, 4114]
    assert len(t_push.t_cloud(1, top=False)) == 26


@pytest.mark.parametrize("integrator", ["euler", "rk4"])
def test_gradient_by_controls_and_contact_numbers(model, integrator):
    steps, contact = 40, t_push.contact(1, tolerance=1e-15)
    parameters, start, u = model.default_parameters(), model.default_state(), controls(model, 40)
    options = ff.StepOptions(dt=2e-3, integrator=integrator)

    def roll(u, contact=contact):
        return ff.rollout(model, parameters, start, u, contact=contact, options=options)

    motion = roll(u)
    assert motion.converged
    assert motion.q[-1][1] > 1e-4
    partial = np.zeros((steps + 1, model.num_dofs))
    partial[-1, 1] = 1.0
    gradient = ff.rollout_vjp(motion, dL_dq=partial, contact_numbers=True)
    along = np.random.default_rng(0).normal(size=u.shape)
    h = 1e-6
    slope = (roll(u + h * along).q[-1][1] - roll(u - h * along).q[-1][1]) / (2 * h)
    assert np.sum(gradient.controls * along) == pytest.approx(slope, rel=1e-5)
    names = contact.number_names(model)
    assert len(names) == len(gradient.contact)
    h = 1e-7
    ends = [roll(u, t_push.contact(1, tolerance=1e-15, force_temperature=1e-3 + s * h)).q[-1][1] for s in (1, -1)]
    assert gradient.contact[names.index("force_temperature")] == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-4)


def test_unstable_steps_are_refused_and_fly_offs_reported(model):
    contact = t_push.contact(1)
    parameters = model.default_parameters()
    limit = contact.stable_step(model, parameters)
    with pytest.raises(ValueError, match="is unstable under this contact law"):
        ff.rollout(model, parameters, model.default_state(), controls(model, 2), contact=contact, dt=1.01 * limit)
    state = model.default_state()
    q, v = np.array(state.q), np.array(state.v)
    q[2], v[2] = 0.1, -8.0  # thrown at the table, far beyond what steps of 16 ms can take
    start = ff.State(q=q, v=v)
    motion = ff.rollout(model, parameters, start, controls(model, 40), contact=contact,
                        options=ff.StepOptions(dt=0.016, integrator="rk4"))  # fmt: skip
    assert not motion.converged
    assert motion.reports[-1].status in ("unstable", "penetrating")


def test_files_and_simulation(model, tmp_path):
    contact = t_push.contact(1)
    motion = ff.rollout(
        model, model.default_parameters(), model.default_state(), controls(model, 5), contact=contact, dt=2e-3
    )
    assert contact_from_description(motion.contact).description == contact.description
    simulation = ff.Simulation(model, contact=contact, dt=2e-3)
    for row in controls(model, 5):
        simulation.step(row)
    np.testing.assert_array_equal(simulation.state.q, motion.q[-1])
    simulation.save(tmp_path / "simulation")
    np.testing.assert_array_equal(ff.Simulation.load(tmp_path / "simulation").step().min_gap, simulation.step().min_gap)
    assert {c.a for c in simulation.contacts()} <= {0, 1}


def test_a_force_law_has_no_energy(model):
    contact = ff.Softmin(newtons_per_metre=1e3)
    with pytest.raises(ValueError, match="force law"):
        contact.evaluate(model, model.default_parameters(), model.default_state().q)
    forces = contact.forces(model, model.default_parameters(), model.default_state().q)
    assert np.abs(forces.force.sum(axis=0)).max() < 1e-12
    with pytest.raises(ValueError, match="expected 'mean_plane', 'planes' or 'paper'"):
        ff.Softmin(forces="glue")


def boxes_on_top_of_each_other():
    scene = ff.Scene(name="boxes", gravity=[0.0, 0.0, 0.0])
    for name, place in {"low": [0.0, 0.0, 0.0], "high": [0.03, 0.0, 0.099]}.items():
        scene.add_body(name=name, position=place)
        scene.add_joint(name, name=name, type="Free")
        scene.add_shape(name, name=name, type="Box", size=[0.05, 0.05, 0.05])
    model = ff.build_model(scene)
    contact = ff.Softmin(separation_temperature=5e-4, force_temperature=5e-4, spacing=0.01, cloud_temperature=0.03)
    return contact.separation(model, model.default_parameters(), model.default_state().q, "low", "high")


def test_support_points_and_the_printed_top_k_on_ties():
    field = boxes_on_top_of_each_other()
    assert field.soft == pytest.approx(-1e-3, abs=2e-5)
    np.testing.assert_allclose(field.centre_of_pressure[:2], [0.015, 0.0], atol=2e-3)
    corners = np.array([[x, y] for x in (-0.02, 0.05) for y in (-0.05, 0.05)])
    found = field.contacts(4)[:, :2]
    for corner in corners:
        assert np.linalg.norm(found - corner, axis=1).min() < 0.0125
    places, _, unconverged = topk_paper(field.weights, field.points, 4)
    assert (
        np.ptp(places[1:, :2], axis=0).max() < 0.01
    )  # all but the first on one place; the corners are 7 and 10 cm apart
    assert unconverged > 1e-10


def test_cloud_command(tmp_path, capsys):
    obj = tmp_path / "box.obj"
    lines = [f"v {x} {y} {z}" for x, y, z in CORNERS] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in TRIANGLES]
    obj.write_text("\n".join(lines))
    assert main(["cloud", str(obj), "--points", "150", "--json", "--out", str(tmp_path / "box.png")]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["passed"]
    assert 80 < report["points"] < 250
    assert (tmp_path / "box.png").stat().st_size > 1000
    assert main(["cloud", str(obj), "--points", "150", "--temperature", "3"]) == 1
    assert "raise --points" in capsys.readouterr().out
    for bad in (["--points", "-5"], ["--scale", "0"], ["--spacing", "nan"]):
        assert main(["cloud", str(obj), *bad]) == 2
        assert f"{bad[0]} " in capsys.readouterr().err


@pytest.mark.parametrize("scale", [2.0**-10, 2.0**10])  # powers of two: the same bits
def test_clouds_of_files_in_other_units(tmp_path, capsys, scale):
    obj = tmp_path / "box.obj"
    lines = [f"v {x} {y} {z}" for x, y, z in CORNERS / scale] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in TRIANGLES]
    obj.write_text("\n".join(lines))
    command = ["cloud", str(obj), "--points", "150", "--save", str(tmp_path / "cloud.npz"), "--json"]
    assert main([*command, "--scale", str(scale)]) == 0
    report = json.loads(capsys.readouterr().out)
    np.testing.assert_allclose(report["size"], 0.1, rtol=1e-9)
    assert report["sign_errors"] == 0.0
    in_metres = np.load(tmp_path / "cloud.npz")["points"]
    assert main(command) == 0  # the numbers of the file as metres: the same cloud, scaled
    np.testing.assert_array_equal(scale * np.load(tmp_path / "cloud.npz")["points"], in_metres)


def test_batches_of_soft_distances_are_single_ones():
    rng = np.random.default_rng(3)
    distance = ff.SoftDistance(t_push.t_cloud(3))
    points = rng.uniform(-0.2, 0.2, size=(301, 3))
    values, gradients, hessians = distance(points), distance.gradient(points), distance.hessian(points)
    for k in (0, 7, 8, 150, 300):
        one = points[k : k + 1]
        np.testing.assert_allclose(distance(one)[0], values[k], rtol=0, atol=distance.error(one)[0] + 1e-15)
        np.testing.assert_allclose(distance.gradient(one)[0], gradients[k], atol=1e-9)
        np.testing.assert_allclose(distance.hessian(one)[0], hessians[k], rtol=1e-9, atol=1e-7)
    bars = rng.normal(size=len(points))
    np.testing.assert_array_equal(distance.vjp(points, bars), bars[:, None] * gradients)
    assert distance(np.zeros((0, 3))).shape == (0,)
    with pytest.raises(ValueError, match="300 bars for 301 points"):
        distance.vjp(points, bars[:-1])
    with pytest.raises(ValueError, match="point 1 is"):
        distance(np.array([[0.0, 0.0, 0.0], [np.nan, 0.0, 0.0]]))


def test_detection_of_a_horseshoe_and_of_a_finger():
    numbers = scm_detection.numbers()
    assert numbers["box_on_box"]["soft_mm"] == pytest.approx(-1.0, abs=0.02)
    assert numbers["box_on_box"]["support_to_corner_mm"] <= 10.0
    assert 0.82 <= numbers["horseshoe"]["mass_on_the_left"] <= 0.89  # e^2/(1 + e^2) = 0.88
    assert numbers["horseshoe"]["least_mm"] == pytest.approx(-4.0, abs=0.6)
    pressed = numbers["t_and_finger -1 mm"]
    assert pressed["least_mm"] == pytest.approx(-1.0, abs=0.1)
    assert pressed["centre_to_touch_mm"] < 0.5
    assert numbers["t_and_finger 20 mm"]["least_mm"] == pytest.approx(20.0, abs=0.5)


def test_a_push_is_found_by_gradients_from_no_contact():
    for seed in (11, 12):
        found = scm_uses.push_by_gradients("softmin", seed)
        assert found["solved"]
        assert found["distance_mm"] <= 10.0
        assert found["iterations"] <= 150


def test_an_epsilon_in_adam_kills_the_tail():
    task = t_push.TPush(gap=0.1)
    problem = task.build(0)
    contact, parameters = problem.contact("softmin")
    x = problem.parameterization.initial()
    motion = ff.rollout(
        problem.model,
        parameters,
        problem.state,
        problem.parameterization.decode(x).controls,
        contact=contact,
        dt=problem.dt,
    )
    gradient = ff.rollout_vjp(motion, dL_dq=_end_partial(motion)).controls
    largest = np.abs(gradient).max()
    assert 0.0 < largest < 1e-9  # far below the usual epsilon of 1e-8


def _end_partial(motion):
    partial = np.zeros((len(motion.q), motion.model.num_dofs))
    partial[-1, 1] = 1.0
    return partial


def test_forces_reach_exponentially_far():
    reach = scm_uses.reach()
    two, ten, metre = reach["softmin 5 mm"]
    assert two > 1e-2
    assert 1e-9 < ten < 1e-7
    assert 0.0 < metre < 1e-80
    assert reach["longrange 1e-6 J"][2] > 1e-6


def test_mass_and_friction_are_identified_from_a_push():
    found = scm_uses.identify(seed=7)
    assert found["worst_error"] <= 0.03
    assert found["residual_mm"] == pytest.approx(0.5, rel=0.15)


def test_a_search_finds_motions_of_the_finger():
    pytest.importorskip("cma")
    goal = np.array([0.0, 0.03, 0.0])
    push = t_push_search.MujocoPush()
    still = t_push_search.cost(push, np.tile(t_push_search.START, (8, 1)), goal)
    found = t_push_search.search(goal, generations=4)
    assert t_push_search.cost(push, np.array(found["via"]), goal) < still
    assert np.shape(found["via"]) == (8, 2)


def test_runs_with_a_force_law_are_judged_without_certificate(tmp_path, capsys):
    assert main(["run", "t-push", "--contact", "softmin", "--out", str(tmp_path / "run"), "--quiet", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["success"]
    assert not result["certified"]
    assert result["distance"] <= 0.01


def test_compare_has_a_row_also_when_steps_are_refused(tmp_path, capsys):
    common = ["--methods", "softmin", "--seeds", "1", "--starts", "trivial", "--tune-seconds", "0", "--quiet", "--json"]
    assert main(["compare", "t-push", *common, "--budget-seconds", "60", "--out", str(tmp_path / "good")]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["successes"] == 1
    assert row["certified"] == 0
    assert "may penetrate, nothing is certified" in row["trade"]
    assert main(["compare", "t-push", *common, "--set", "dt=0.05", "--out", str(tmp_path / "long")]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert "is unstable under this contact law" in row["error"]


STRANGER = """<mujoco><compiler angle="radian"/><worldbody>
  <body name="arm" pos="0 0 1.2">
    <joint name="shoulder" type="ball" damping="0.05" {limits[0]}/>
    <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="0.8"/>
    <body name="fore" pos="0.3 0 0" {gravcomp}>
      <joint name="elbow" axis="0 1 0" {limits[1]} damping="0.02" stiffness="0.3" springref="0.2" armature="0.003" {friction}/>
      <geom type="capsule" fromto="0 0 0 0.25 0 0" size="0.025" mass="0.5"/>
      <body name="a" pos="0.27 0.03 0"><joint name="fa" type="slide" axis="0 1 0" damping="0.3"/>
        <geom type="box" size="0.03 0.01 0.02" mass="0.08"/></body>
      <body name="b" pos="0.27 -0.03 0"><joint name="fb" type="slide" axis="0 -1 0" damping="0.3"/>
        <geom type="box" size="0.03 0.01 0.02" mass="0.08"/></body>
    </body>
  </body>
  <body name="ball" pos="1 0 1"><freejoint/><geom type="sphere" size="0.1" mass="0.5"/></body>
</worldbody>
<actuator>
  <motor name="m" joint="elbow" gear="2" ctrlrange="-1 1" forcerange="-0.6 0.6"/>
  <position name="p" joint="fa" kp="40" forcerange="-0.4 0.4"/><velocity name="w" joint="elbow" kv="0.05"/>
</actuator>{more}</mujoco>"""
TIE = '<equality><joint joint1="fa" joint2="fb" polycoef="0 1 0 0 0"/></equality>'


def strangers_model(path, limits=("", ""), friction="", gravcomp="", more=""):
    path.write_text(STRANGER.format(limits=limits, friction=friction, gravcomp=gravcomp, more=more))
    return ff.load(path)


def strangers_motion(model, parameters, integrator, steps, contact="softmin"):
    t = np.linspace(0.0, 0.4, steps, endpoint=False)
    controls = np.column_stack([1.5 * np.sign(np.sin(12 * t)), 0.06 * np.sin(9 * t), 0.3 * np.cos(5 * t)])
    options = ff.StepOptions(dt=0.4 / steps, integrator=integrator)
    motion = ff.rollout(model, parameters, model.default_state(), controls, contact=contact, options=options)
    assert motion.converged
    return controls, np.asarray(motion.q)[-1]


def test_a_strangers_scene_moves_as_in_mujoco(tmp_path):
    """Ball joint, armature, springs, actuators that saturate: 0.4 s of free motion."""
    mujoco = pytest.importorskip("mujoco")
    model, parameters = strangers_model(tmp_path / "scene.xml")
    controls, ours = strangers_motion(model, parameters, "rk4", 1600)
    peer = mujoco.MjModel.from_xml_path(str(tmp_path / "scene.xml"))
    peer.opt.timestep, peer.opt.integrator = 0.4 / len(controls), mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(peer)
    for row in controls:
        data.ctrl[:] = row
        mujoco.mj_step(peer, data)
    np.testing.assert_allclose(ours, data.qpos, atol=2e-4)
    assert np.abs(ours - model.default_state().q).max() > 0.3


def test_limits_ties_and_dry_friction_act_as_in_implicit_steps(tmp_path):
    limits = ('range="0 1.2" limited="true"', 'range="-0.5 0.4" limited="true"')
    model, parameters = strangers_model(tmp_path / "scene.xml", limits, 'frictionloss="0.002"', more=TIE)
    exact = strangers_motion(model, parameters, "rk4", 3200)[1]
    errors = [np.abs(strangers_motion(model, parameters, "implicit", n, None)[1] - exact).max() for n in (1600, 3200)]
    assert errors[1] < 0.6 * errors[0]  # of first order
    assert np.abs(2 * errors[1] - errors[0]) < 5e-3
    assert np.abs(strangers_motion(model, parameters, "euler", 3200)[1] - exact).max() < errors[1]


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"more": '<equality><connect body1="ball" body2="fore" anchor="-0.2 0 0"/></equality>'}, "constraint"),
        ({"more": '<tendon><fixed name="cord" stiffness="1"><joint joint="fa" coef="1"/></fixed></tendon>'}, "tendon 'cord'"),
        ({"gravcomp": 'gravcomp="1"'}, "gravity compensation of body 'fore'"),
    ],
)  # fmt: skip
def test_what_explicit_steps_do_not_know_is_refused_by_name(tmp_path, change, name):
    model, parameters = strangers_model(tmp_path / "scene.xml", **change)
    with pytest.raises(ValueError, match=f"{name}.* in an explicit step, expected the integrator 'implicit'"):
        strangers_motion(model, parameters, "euler", 400)


def test_steps_too_long_for_joints_are_refused_with_the_limit(tmp_path):
    model, parameters = strangers_model(tmp_path / "scene.xml", friction='frictionloss="0.5"')
    with pytest.raises(ValueError, match="is unstable under joint springs, damping and drives, expected at most"):
        strangers_motion(model, parameters, "euler", 400)
