# SPDX-License-Identifier: Apache-2.0
"""MJCF element by element: what each becomes, and what is named when it cannot be carried over."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest

import farfield as ff
from farfield import _core as core
from farfield.importers import SceneFileError, compiler, import_file, load_scene
from farfield.importers.meshes import match_triangles, read_obj, weld
from farfield.importers.rotations import quaternion_matrix

SCENES = Path(__file__).parents[2] / "scenes"
CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float) * [0.3, 0.2, 0.1]
CUBE_FACES = [
    (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6),
    (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
]  # fmt: skip
BODY = '<body name="b"><joint name="j" axis="0 1 0"/><geom name="g" size="0.1"/>{inside}</body>'


def write(folder: Path, *, world: str = "", rest: str = "", name: str = "model.xml") -> Path:
    path = folder / name
    path.write_text(f'<mujoco><compiler angle="radian"/><worldbody>{world}</worldbody>{rest}</mujoco>')
    return path


def write_obj(path: Path, vertices=CUBE, faces=CUBE_FACES) -> None:
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in np.asarray(vertices).tolist()]
    path.write_text("\n".join(lines + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]) + "\n")


def two_joints(rest: str) -> dict[str, str]:
    world = BODY.format(inside='<body name="c" pos="0.3 0 0"><joint name="k" ref="0.4"/><geom size="0.1"/></body>')
    return {"world": world, "rest": rest}


def test_actuators(tmp_path):
    rest = """<actuator>
      <motor name="m" joint="j" gear="3"/> <position name="p" joint="j" kp="20" kv="2" ctrlrange="-1 1"/>
      <velocity name="v" joint="k" kv="4" gear="2"/>
      <general name="g" joint="k" gainprm="5" biastype="affine" biasprm="0 -5 -1"/> </actuator>"""
    scene, warnings = load_scene(write(tmp_path, **two_joints(rest)))
    motor, position, velocity, general = scene.actuators
    assert (motor.type, motor.gear, motor.joint) == (core.ActuatorType.Motor, (3.0,), "j")
    assert (position.kp, position.kd, position.position_input, position.velocity_input) == (20.0, 2.0, True, False)
    assert (position.control_range.lower, position.control_range.upper) == (-1.0, 1.0)
    assert (velocity.kp, velocity.kd, velocity.gear) == (0.0, 4.0, (2.0,))
    assert (velocity.position_input, velocity.velocity_input) == (False, True)
    assert (general.kp, general.kd, general.type) == (5.0, 1.0, core.ActuatorType.Pd)
    assert warnings == []


def test_unsupported_elements_are_all_named(tmp_path):
    rest = """<tendon><spatial name="wire" stiffness="2"><site site="s"/><site site="t"/></spatial></tendon>
    <actuator><motor name="pull" tendon="wire"/><muscle name="meat" joint="j" lengthrange="0 1"/>
      <intvelocity name="lazy" joint="j" actrange="-1 1"/><adhesion name="glue" body="b" ctrlrange="0 1"/>
      <general name="odd" joint="j" gainprm="1" biastype="affine" biasprm="1 3 0"/></actuator>"""
    world = BODY.format(inside='<site name="s"/>') + '<site name="t"/>'
    path = write(tmp_path, world=world, rest=rest)
    with pytest.raises(SceneFileError) as error:
        load_scene(path)
    text = str(error.value)
    assert "model.xml" in text
    assert text.endswith('unsupported="drop" loads what is left and lists what was dropped')
    refused = (
        "tendon 'wire': spatial, with stiffness", "actuator 'pull': transmission by the spatial tendon 'wire'",
        "actuator 'meat': gaintype muscle", "actuator 'lazy': dyntype integrator",
        "actuator 'glue': transmission body (adhesion)", "actuator 'odd': bias (1, 3, 0) feeds a motion",
    )  # fmt: skip
    for part in refused:
        assert part in text
    imported = import_file(path, unsupported="drop")
    assert imported.scene.actuators == ()
    dropped = "\n".join(note.text for note in imported.notes if note.kind == "dropped")
    for part in refused:
        assert part.replace("': ", "': left out: ", 1) in dropped
    with pytest.raises(ValueError, match="unsupported = 'ignore', expected 'refuse' or 'drop'"):
        import_file(path, unsupported="ignore")


def test_dropped_actuators_take_their_controls_along(tmp_path):
    rest = """<actuator><motor name="a" joint="j"/><muscle name="meat" joint="j" lengthrange="0 1"/><motor name="b" joint="j"/></actuator>
      <keyframe><key name="k" ctrl="1 0.5 3"/></keyframe>"""
    scene = import_file(write(tmp_path, world=BODY.format(inside=""), rest=rest), unsupported="drop").scene
    np.testing.assert_array_equal(scene.keyframes[0].control, [1.0, 3.0])


def test_flexes_are_refused(tmp_path):
    world = '<flexcomp name="cloth" type="grid" count="3 3 1" spacing="0.1 0.1 0.1" dim="2" radius="0.01" mass="1"/>'
    with pytest.raises(SceneFileError, match="flex 'cloth': deformable bodies"):
        load_scene(write(tmp_path, world=world))


def test_joint_equality_is_mujocos_constraint(tmp_path):
    path = write(
        tmp_path, **two_joints('<equality><joint joint1="j" joint2="k" polycoef="0.2 -1.5 0 0 0"/></equality>')
    )
    scene, _ = load_scene(path)
    (tie,) = scene.ties
    assert (tie.joint, tie.source) == ("j", "k")
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    for lead in (-0.7, 0.4, 1.1):
        data.qpos[:] = [tie.offset + tie.ratio * lead, lead]
        mujoco.mj_forward(model, data)
        assert data.nefc == 1
        assert abs(data.efc_pos[0]) < 1e-14


WARNED = {
    "joint 'j': dry friction of a ball": '<body><joint name="j" type="ball" frictionloss="1"/><geom size="0.1"/></body>',
    "geom 'g': solref": '<geom name="g" size="0.1" solref="0.01 1"/>',
    "geom 'g': solimp": '<geom name="g" size="0.1" solimp="0.8 0.9 0.01"/>',
    "geom 'g': margin": '<geom name="g" size="0.1" margin="0.01"/>',
    "geom 'g': gap": '<geom name="g" size="0.1" margin="0.02" gap="0.01"/>',
    "geom 'g': condim above 3": '<geom name="g" size="0.1" condim="4"/>',
    "geom 'g': condim 1": '<geom name="g" size="0.1" condim="1"/>',
    "geom 'g': priority": '<geom name="g" size="0.1" priority="1"/>',
    "geom 'g': the plane is infinite": '<geom name="g" type="plane" size="1 1 1"/>',
    "1 site": '<site name="s"/>',
    "1 camera": '<camera name="c"/>',
}


@pytest.mark.parametrize("text", WARNED)
def test_what_is_left_out_is_named(tmp_path, text):
    _, warnings = load_scene(write(tmp_path, world=WARNED[text]))
    assert any(text in warning for warning in warnings), warnings


def test_a_plain_file_gives_no_warning(tmp_path):
    _, warnings = load_scene(write(tmp_path, world=BODY.format(inside="")))
    assert warnings == []


def test_options(tmp_path):
    values = 'timestep="0.005" gravity="1 2 3" integrator="RK4" density="2" iterations="7"'
    rest = f'<option {values}><flag gravity="disable"/></option>'
    imported = import_file(write(tmp_path, world=BODY.format(inside=""), rest=rest))
    assert imported.options["timestep"] == 0.005
    assert imported.scene.name == "MuJoCo Model"
    np.testing.assert_array_equal(imported.scene.gravity, 0.0)
    text = "\n".join(imported.warnings)
    for part in ("option integrator = 1", "option density = 2.0", "option iterations", "option flag gravity"):
        assert part in text


def test_many_elements_of_one_kind_are_one_line_with_a_count(tmp_path):
    world = "".join(f'<geom name="g{k}" size="0.1" margin="0.01"/>' for k in range(9))
    _, warnings = load_scene(write(tmp_path, world=world))
    assert warnings == ["9 geoms 'g0', 'g1', 'g2', ...: margin is not used"]


def test_contact_filters_and_motion(tmp_path):
    world = """<geom name="shown" size="0.1" contype="0" conaffinity="0"/>
      <body name="m" mocap="true"><geom name="g" size="0.1" contype="2" conaffinity="5" friction="0.7"/></body>
      <body name="f"><geom name="h" size="0.1"/>
        <body name="d"><joint type="ball"/><geom name="i" size="0.1"/></body></body>"""
    rest = '<contact><exclude body1="m" body2="d"/><pair name="meet" geom1="h" geom2="i" friction="2"/></contact>'
    scene, warnings = load_scene(write(tmp_path, world=world, rest=rest))
    shown, filtered = scene.shapes[0], scene.shapes[1]
    assert not shown.collides
    assert (filtered.group, filtered.collides_with, filtered.friction, filtered.collides) == (2, 5, 0.7, True)
    assert [body.motion.name for body in scene.bodies] == ["Fixed", "Kinematic", "Fixed", "Dynamic"]
    assert scene.exclude_contacts == (("m", "d"),)
    assert scene.include_contacts == (("f", "d"),)
    (stated,) = pickle.loads(pickle.dumps(scene)).pair_friction
    assert (stated.a, stated.b, stated.friction) == ("f", "d", 2.0)
    assert any("pair 'meet'" in text for text in warnings)


@pytest.mark.parametrize("contact", ["longrange", "polyhedral", "ipc"])
def test_the_friction_of_a_pair_is_its_own(tmp_path, contact):
    """A box thrown along the ground stops by the pair's coefficient, as in MuJoCo, whatever those of its bodies are."""
    world = """<geom name="ground" type="plane" size="0 0 1" friction="0.9"/>
      <body name="box" pos="0 0 0.06"><freejoint/><geom name="side" type="box" size=".1 .1 .05" friction="0.7"/></body>"""
    rest = '<contact><pair geom1="ground" geom2="side" friction="0.2"/></contact>'
    model, parameters = ff.load(write(tmp_path, world=world, rest=rest))
    state = model.default_state()
    state = ff.State(q=state.q, v=np.array([1.0, *state.v[1:]]))
    motion = ff.rollout(model, parameters, state, np.zeros((30, 0)), dt=0.01, contact=contact)
    assert motion.converged
    slowing = (motion.v[10, 0] - motion.v[30, 0]) / 0.2
    assert slowing == pytest.approx(0.2 * 9.81, rel=0.02)
    partials = np.ones((31, model.num_dofs))
    assert not np.any(ff.rollout_vjp(motion, dL_dq=partials).parameters.friction)
    parameters.friction[1] = 0.3
    with pytest.raises(ValueError, match="which no contact pair asks for"):
        ff.rollout(model, parameters, state, np.zeros((1, 0)), contact=contact)


@pytest.mark.parametrize("stated, dt", [("", None), ('timestep="0.002"', 0.002), ('timestep="0.04"', 0.04)])
def test_a_stated_time_step_is_the_default_of_rollouts(tmp_path, stated, dt):
    path = write(tmp_path, world=BODY.format(inside=""), rest=f"<option {stated}/>")
    assert import_file(path).scene.dt == dt
    model, parameters = ff.load(path)
    assert model.default_dt == (dt or 0.01)
    motion = ff.rollout(model, parameters, model.default_state(), np.zeros((2, 0)), contact=None)
    assert motion.dt == model.default_dt
    assert ff.rollout(model, parameters, model.default_state(), np.zeros((2, 0)), dt=0.005, contact=None).dt == 0.005
    copy, _ = ff.model_from_bytes(ff.model_to_bytes(model, parameters))
    assert copy.default_dt == model.default_dt and copy.scene.dt == dt
    (batched,) = ff.rollout_batch(model, [parameters], [model.default_state()], [np.zeros((2, 0))], contact=None)
    assert batched.dt == model.default_dt


def test_the_time_step_of_an_included_file_counts(tmp_path):
    (tmp_path / "options.xml").write_text('<mujocoinclude><option timestep="0.002"/></mujocoinclude>')
    path = write(tmp_path, world=BODY.format(inside=""), rest='<include file="options.xml"/>')
    assert import_file(path).scene.dt == 0.002


def test_mocap_poses_of_keyframes(tmp_path):
    world = """<body name="first"><joint name="j" axis="0 1 0"/><geom size="0.1"/></body>
      <body name="hand" mocap="true" pos="1 0 0"><geom size="0.1"/></body>
      <body name="last" pos="3 0 0"><freejoint/><geom size="0.1"/></body>"""
    keys = """<keyframe>
      <key name="a" qpos="0.5 3 0 1 1 0 0 0" qvel="1 2 3 4 5 6 7" mpos="0 2 0" mquat="0 2 0 0"/>
      <key name="b" qpos="0.1 3 0 0 1 0 0 0"/></keyframe>"""
    scene, warnings = load_scene(write(tmp_path, world=world, rest=keys))
    assert warnings == []
    model = ff.build_model(scene)
    state, _ = model.keyframes["a"]
    np.testing.assert_array_equal(state.q, [0.5, 0, 2, 0, 0, 1, 0, 0, 3, 0, 1, 1, 0, 0, 0])
    np.testing.assert_array_equal(state.v, [1, 0, 0, 0, 0, 0, 0, 2, 3, 4, 5, 6, 7])
    poses = ff.forward_kinematics(model, model.default_parameters(), state.q)
    np.testing.assert_array_equal(poses[model.body("hand")], [0, 2, 0, 0, 1, 0, 0])
    motion = ff.rollout(model, model.default_parameters(), state, np.zeros((3, 0)), contact=None)
    np.testing.assert_array_equal(motion.poses()[-1, model.body("hand")], [0, 2, 0, 0, 1, 0, 0])  # it rests there
    np.testing.assert_array_equal(model.keyframes["b"][0].q, [0.1, 1, 0, 0, 1, 0, 0, 0, 3, 0, 0, 1, 0, 0, 0])


def test_keyframes(tmp_path):
    scene, _ = load_scene(write(tmp_path, **two_joints('<keyframe><key name="a" qpos="1 2" qvel="3 4"/></keyframe>')))
    (key,) = scene.keyframes
    assert key.name == "a"
    np.testing.assert_array_equal(key.q, [1, 2])
    np.testing.assert_array_equal(key.v, [3, 4])


# ---- meshes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attributes",
    [
        "",
        'scale="0.1 2 3"',
        'scale="-1 1 1"',
        'refpos="0.1 0.2 0.3"',
        'refquat="0.8 0.6 0 0" refpos="1 0 0" scale="2 1 -3"',
    ],
)
def test_meshes_keep_the_doubles_of_their_file(tmp_path, attributes):
    vertices = CUBE + 1.0 / 3.0
    write_obj(tmp_path / "cube.obj", vertices)
    asset = f'<asset><mesh name="m" file="cube.obj" {attributes}/></asset>'
    path = write(tmp_path, world='<geom type="mesh" mesh="m" pos="0.1 0 0" quat="0.6 0 0.8 0"/>', rest=asset)
    scene, warnings = load_scene(path)
    assert warnings == []
    mesh, shape = scene.meshes[0], scene.shapes[0]
    assert mesh.is_watertight
    assert mesh.moments(density=1.0).mass > 0.0  # outward, also when mirrored
    if not attributes:
        np.testing.assert_array_equal(np.unique(mesh.vertices, axis=0), np.unique(vertices, axis=0))
    np.testing.assert_allclose(shape.position, [0.1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(np.abs(shape.orientation), [0.6, 0, 0.8, 0], atol=1e-12)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    corners = model.mesh_vert[model.mesh_face] @ data.geom_xmat[0].reshape(3, 3).T + data.geom_xpos[0]
    mine = mesh.vertices[mesh.triangles] @ quaternion_matrix(shape.orientation).T + shape.position
    for theirs, own in zip(np.sort(corners.reshape(-1, 9)), np.sort(mine.reshape(-1, 9)), strict=True):
        np.testing.assert_allclose(own, theirs, atol=2e-6)


def test_a_second_object_is_not_lost(tmp_path):
    write_obj(tmp_path / "a.obj")
    text = (tmp_path / "a.obj").read_text()
    second = "\n".join(f"f {a + 9} {b + 9} {c + 9}" for a, b, c in CUBE_FACES)
    vertices = "\n".join(line for line in text.splitlines() if line.startswith("v"))
    (tmp_path / "two.obj").write_text(f"o one\n{text}o two\n{vertices}\n{second}\n")
    path = write(tmp_path, world='<geom type="mesh" mesh="m"/>', rest='<asset><mesh name="m" file="two.obj"/></asset>')
    scene, warnings = load_scene(path)
    assert len(scene.meshes[0].triangles) == 24
    assert any("all 24 triangles" in text for text in warnings)


def test_mass_of_a_mesh_that_is_not_convex(tmp_path):
    shutil.copy(SCENES / "bowl.obj", tmp_path)
    world = '<body name="b"><freejoint/><geom type="mesh" mesh="m" density="1000"/></body>'
    path = write(tmp_path, world=world, rest='<asset><mesh name="m" file="bowl.obj"/></asset>')
    scene, warnings = load_scene(path)
    exact = scene.meshes[0].moments(density=1000)
    assert scene.bodies[1].moments.mass == pytest.approx(exact.mass, rel=1e-6)
    np.testing.assert_allclose(scene.bodies[1].moments.inertia, exact.inertia, rtol=1e-5, atol=1e-9)
    assert mujoco.MjModel.from_xml_path(str(path)).body_mass[1] > 3 * exact.mass
    assert any("body 'b': mass" in text and "from the exact volume" in text for text in warnings)


def test_mass_of_an_open_mesh_is_called_into_question(tmp_path):
    write_obj(tmp_path / "open.obj", faces=CUBE_FACES[:-1])
    world = '<body name="b"><freejoint/><geom type="mesh" mesh="m"/></body>'
    _, warnings = load_scene(write(tmp_path, world=world, rest='<asset><mesh name="m" file="open.obj"/></asset>'))
    assert any("body 'b'" in text and "not closed (m)" in text for text in warnings)


def test_height_field_is_mujocos_surface(tmp_path):
    rng = np.random.default_rng(4)
    heights = " ".join(f"{value:.6f}" for value in rng.uniform(0, 1, 20))
    asset = f'<asset><hfield name="h" nrow="4" ncol="5" size="1 0.8 0.3 0.1" elevation="{heights}"/></asset>'
    path = write(tmp_path, world='<geom type="hfield" hfield="h" pos="0 0 0.5"/>', rest=asset)
    scene, warnings = load_scene(path)
    mesh, shape = scene.meshes[0], scene.shapes[0]
    assert mesh.is_watertight
    assert mesh.moments(density=1.0).mass > 0.0
    assert any("height field" in text for text in warnings)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    corners = mesh.vertices[mesh.triangles] + shape.position
    for x, y in rng.uniform([-0.99, -0.79], [0.99, 0.79], (200, 2)):
        distance = mujoco.mj_ray(model, data, [x, y, 5.0], [0, 0, -1.0], None, 1, -1, np.zeros(1, np.int32))
        assert 5.0 - distance == pytest.approx(highest(corners, x, y), abs=1e-6)


def highest(corners: np.ndarray, x: float, y: float) -> float:
    """Height of the topmost triangle above (x, y)."""
    best = -np.inf
    for a, b, c in corners:
        matrix = np.array([[a[0], b[0], c[0]], [a[1], b[1], c[1]], [1.0, 1.0, 1.0]])
        if abs(np.linalg.det(matrix)) > 1e-12:
            weights = np.linalg.solve(matrix, [x, y, 1.0])
            if weights.min() >= -1e-12:
                best = max(best, float(weights @ [a[2], b[2], c[2]]))
    return best


@pytest.mark.parametrize("contact", ["", 'contype="0" conaffinity="0"'])
def test_triangles_of_no_area_are_left_out_and_counted(tmp_path, contact):
    write_obj(tmp_path / "flat.obj", faces=[*CUBE_FACES, (0, 1, 1)])
    asset = '<asset><mesh name="m" file="flat.obj"/></asset>'
    imported = import_file(write(tmp_path, world=f'<geom type="mesh" mesh="m" {contact}/>', rest=asset))
    imported.scene.meshes[0].validate()
    assert len(imported.scene.meshes[0].triangles) == 12
    (note,) = [note for note in imported.notes if note.kind == "repaired"]
    assert note.text == "mesh 'm': 1 triangles of no area in all are left out; the surface is the same"


def test_lengths_that_look_like_millimetres_are_questioned(tmp_path):
    write_obj(tmp_path / "large.obj", vertices=1000.0 * CUBE)
    _, warnings = load_scene(
        write(tmp_path, world='<geom type="mesh" mesh="m"/>', rest='<asset><mesh name="m" file="large.obj"/></asset>')
    )
    assert any("mesh 'm': up to 300 m long: are its lengths millimetres?" in text for text in warnings)


def test_match_rejects_other_triangles():
    soup = CUBE[np.array(CUBE_FACES)]
    rounded = soup.astype(np.float32).astype(float)
    assert match_triangles(soup, np.roll(rounded, 1, axis=1)) is soup
    assert match_triangles(soup + 1e-5, rounded) is None
    assert match_triangles(soup[:-1], rounded) is None
    vertices, triangles = weld(soup)
    assert len(vertices) == 8
    np.testing.assert_array_equal(vertices[triangles], soup)


def test_obj_polygons_and_negative_indices(tmp_path):
    (tmp_path / "quad.obj").write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf -4/1/1 -3//2 3 4 # a quad\n")
    _, faces = read_obj(tmp_path / "quad.obj")
    assert faces.tolist() == [[0, 1, 2], [0, 2, 3]]


# ---- bad files -----------------------------------------------------------------------------------------------------

BAD = {
    "missing mesh": ('<geom type="mesh" mesh="m"/>', '<asset><mesh name="m" file="absent.obj"/></asset>', "absent.obj"),
    "empty mesh": ('<geom type="mesh" mesh="m"/>', '<asset><mesh name="m" file="empty.obj"/></asset>', "empty.obj"),
    "zero mass": ('<body name="light"><freejoint/><geom size="0.1" mass="0"/></body>', "", "light"),
    "negative mass": ('<body name="b"><freejoint/><geom name="anti" size="0.1" mass="-1"/></body>', "", "mass"),
    "bad inertia": (
        '<body name="b"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 9"/></body>', "", "inertia"
    ),
    "negative size": ('<geom name="g" size="-0.1"/>', "", "size"),
    "not a number": ('<geom name="g" size="nan"/>', "", "nan"),
    "unknown element": ('<wheel name="w"/>', "", "wheel"),
    "unknown joint": ("", '<actuator><motor name="a" joint="none"/></actuator>', "none"),
    "nested free joint": ('<body><geom size="1"/><body><freejoint/><geom size="1"/></body></body>', "", "free"),
    "zero time step": ("", '<option timestep="0"/>', "timestep"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_models_are_named(tmp_path, name):
    world, rest, expected = BAD[name]
    (tmp_path / "empty.obj").write_text("# nothing\n")
    with pytest.raises(SceneFileError) as error:
        load_scene(write(tmp_path, world=world, rest=rest))
    assert "model.xml" in str(error.value)
    assert expected.lower() in str(error.value).lower()


def test_unreadable_files(tmp_path):
    with pytest.raises(SceneFileError, match=r"absent\.xml: no such file"):
        load_scene(tmp_path / "absent.xml")
    for name, content, expected in (
        ("torn.xml", "<mujoco><worldbody>", "not readable as XML"),
        ("binary.xml", "\x00\x01\x02", "not readable as XML"),
        ("html.xml", "<html/>", "root element <html>, expected <mujoco> or <robot>"),
        ("empty.xml", "", "not readable as XML"),
    ):
        (tmp_path / name).write_text(content)
        with pytest.raises(SceneFileError, match=expected) as error:
            load_scene(tmp_path / name)
        assert name in str(error.value)


def test_a_crash_of_the_compiler_becomes_an_error(tmp_path, monkeypatch):
    path = write(tmp_path, world=BODY.format(inside=""))
    monkeypatch.setattr(compiler, "child_command", lambda _: [sys.executable, "-c", "import os; os.abort()"])
    with pytest.raises(SceneFileError, match=r"model\.xml: the MuJoCo compiler crashed \(SIGABRT\)"):
        load_scene(path)
    monkeypatch.setattr(compiler, "child_command", lambda _: [sys.executable, "-c", "raise SystemExit('out of luck')"])
    with pytest.raises(SceneFileError, match=r"exit code 1: out of luck"):
        load_scene(path)


def test_a_hang_of_the_compiler_becomes_an_error(tmp_path, monkeypatch):
    path = write(tmp_path, world=BODY.format(inside=""))
    monkeypatch.setattr(compiler, "child_command", lambda _: [sys.executable, "-c", "import time; time.sleep(60)"])
    with pytest.raises(SceneFileError, match=r"model\.xml: the MuJoCo compiler did not finish within 0\.5 s"):
        load_scene(path, timeout=0.5)


def test_importing_does_not_load_mujoco_here(tmp_path):
    path = write(tmp_path, world=BODY.format(inside=""))
    code = "import sys, farfield.importers as i; i.load_scene(sys.argv[1]); assert 'mujoco' not in sys.modules"
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
