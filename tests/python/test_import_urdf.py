# SPDX-License-Identifier: Apache-2.0
"""URDF: what MuJoCo alone would drop or not understand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import farfield as ff
from farfield import _core as core
from farfield.importers import SceneFileError, import_file, load_scene
from farfield.importers.urdf import resolve

INERTIAL = '<inertial><mass value="{mass}"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
TETRA = np.array([[0, 0, 0], [1 / 3, 0, 0], [0, 1 / 3, 0], [0, 0, 1 / 3]])
FACES = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]


def link(name: str, inside: str = "", mass: float = 1.0) -> str:
    return f'<link name="{name}">{INERTIAL.format(mass=mass)}{inside}</link>'


def joint(name: str, parent: str, child: str, inside: str = "", kind: str = "revolute") -> str:
    limit = '<limit lower="-1" upper="1" effort="5" velocity="2"/>' if "limit" not in inside and kind != "fixed" else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><axis xyz="0 1 0"/>'
        f'<origin xyz="0 0 0.5"/>{limit}{inside}</joint>'
    )


def mesh(uri: str, kind: str = "collision", scale: str = "") -> str:
    return f'<{kind}><geometry><mesh filename="{uri}" {scale}/></geometry></{kind}>'


def write(folder: Path, *parts: str, name: str = "robot.urdf") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'<robot name="bot">{"".join(parts)}</robot>')
    return path


def write_obj(path: Path, header: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    vertices = [f"v {x!r} {y!r} {z!r}" for x, y, z in TETRA.tolist()]
    path.write_text("\n".join([header, *vertices, *(f"f {a + 1} {b + 1} {c + 1}" for a, b, c in FACES)]) + "\n")


def write_text_stl(path: Path) -> None:
    lines = ["solid tetra"]
    for face in FACES:
        corners = [f"vertex {x!r} {y!r} {z!r}" for x, y, z in TETRA[list(face)].tolist()]
        lines += ["facet normal 0 0 0", "outer loop", *corners, "endloop", "endfacet"]
    path.write_text("\n".join([*lines, "endsolid tetra"]) + "\n")


def write_dae(path: Path) -> None:
    positions = " ".join(repr(float(value)) for value in TETRA.ravel())
    indices = " ".join(str(index) for face in FACES for index in face)
    path.write_text(f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset><unit meter="1"/></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="12">{positions}</float_array><technique_common>
<accessor source="#pa" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/><p>{indices}</p></triangles></mesh></geometry>
</library_geometries><library_visual_scenes><visual_scene id="s"><node id="n"><instance_geometry url="#g"/></node>
</visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>""")


def arm(*extra: str) -> tuple[str, ...]:
    return (link("base"), link("upper"), link("lower"), joint("shoulder", "base", "upper"), *extra)


def test_every_link_stays_a_body(tmp_path):
    scene, warnings = load_scene(
        write(
            tmp_path,
            link("base"),
            link("tool"),
            link("flange"),
            joint("a", "base", "tool", kind="fixed"),
            joint("b", "tool", "flange"),
        )
    )
    assert scene.name == "bot"
    assert [body.name for body in scene.bodies] == ["world", "base", "tool", "flange"]
    assert [body.motion.name for body in scene.bodies] == ["Fixed", "Fixed", "Fixed", "Dynamic"]
    assert any("joint 'b': the velocity limit is not applied" in text for text in warnings)


def test_mimic_becomes_a_tie_and_effort_a_motor(tmp_path):
    follower = joint("elbow", "upper", "lower", '<mimic joint="shoulder" multiplier="-2" offset="0.3"/>')
    scene, _ = load_scene(write(tmp_path, *arm(follower)))
    (tie,) = scene.ties
    assert (tie.joint, tie.source, tie.ratio, tie.offset) == ("elbow", "shoulder", -2.0, 0.3)
    (motor,) = scene.actuators
    assert (motor.joint, motor.type, motor.gear) == ("shoulder", core.ActuatorType.Motor, (1.0,))
    assert (motor.control_range.lower, motor.control_range.upper) == (-5.0, 5.0)


def test_floating_base(tmp_path):
    path = write(tmp_path, *arm(joint("elbow", "upper", "lower")))
    assert [joint.type.name for joint in load_scene(path)[0].joints] == ["Hinge", "Hinge"]
    scene, _ = load_scene(path, floating_base=True)
    assert [joint.type.name for joint in scene.joints] == ["Free", "Hinge", "Hinge"]
    assert scene.bodies[1].joints[0].name == "base"


@pytest.mark.parametrize("suffix", [".obj", ".dae", ".stl", ".ply"])
def test_meshes_of_all_formats_keep_their_doubles(tmp_path, suffix):
    path = tmp_path / f"tetra{suffix}"
    if suffix == ".obj":
        write_obj(path, "o one")
    elif suffix == ".dae":
        write_dae(path)
    elif suffix == ".stl":
        write_text_stl(path)
    else:
        rows = [" ".join(map(repr, row)) for row in TETRA.tolist()] + [f"3 {a} {b} {c}" for a, b, c in FACES]
        header = "ply\nformat ascii 1.0\nelement vertex 4\nproperty double x\nproperty double y\nproperty double z\n"
        path.write_text(
            header + "element face 4\nproperty list uchar int vertex_indices\nend_header\n" + "\n".join(rows) + "\n"
        )
    scene, warnings = load_scene(write(tmp_path, link("base", mesh(path.name))))
    assert warnings == []
    (imported,) = scene.meshes
    assert imported.is_watertight
    np.testing.assert_allclose(imported.vertices[imported.triangles], TETRA[np.array(FACES)], atol=1e-15)


def test_collision_and_visual_of_the_same_name(tmp_path):
    write_obj(tmp_path / "visual" / "part.obj", "o one\no two")
    write_obj(tmp_path / "collision" / "part.obj")
    both = (
        mesh("collision/part.obj", scale='scale="2 2 2"')
        + mesh("visual/part.obj", "visual")
        + mesh("collision/part.obj")
    )
    scene, _ = load_scene(write(tmp_path, link("base", both)))
    sizes = sorted(float(np.max(entry.vertices)) for entry in scene.meshes)
    np.testing.assert_allclose(sizes, [1 / 3, 1 / 3, 2 / 3], atol=1e-15)
    assert sorted(shape.collides for shape in scene.shapes) == [False, True, True]


def test_package_uris(tmp_path):
    write_obj(tmp_path / "my_robot" / "meshes" / "a b.obj")
    uri = "package://my_robot/meshes/a%20b.obj"
    above = write(tmp_path, link("base", mesh(uri)), name="my_robot/urdf/deep/robot.urdf")
    assert len(load_scene(above)[0].meshes) == 1
    elsewhere = write(tmp_path, link("base", mesh(uri)), name="other/place/robot.urdf")
    # The folder above both holds the package too; from outside it must be named.
    outside = tmp_path / "packages"
    write_obj(outside / "far_robot" / "a.obj")
    assert resolve("package://far_robot/a.obj", elsewhere, []) is None
    assert resolve("package://far_robot/a.obj", elsewhere, [outside]) == (outside / "far_robot" / "a.obj").resolve()
    assert resolve("package://far_robot/a.obj", elsewhere, [outside / "far_robot"]) is not None
    far = write(tmp_path, link("base", mesh("package://far_robot/a.obj")), name="other/far.urdf")
    assert len(load_scene(far, package_dirs=[outside])[0].meshes) == 1


def test_visuals_have_no_mass(tmp_path):
    sphere = '<geometry><sphere radius="0.1"/></geometry>'
    both = f"<collision>{sphere}</collision><visual>{sphere}</visual>"
    scene, warnings = load_scene(
        write(tmp_path, f'<link name="base">{both}</link>', link("tip"), joint("a", "base", "tip"))
    )
    assert scene.bodies[1].moments.mass == pytest.approx(1000 * 4 / 3 * np.pi * 1e-3, rel=1e-9)
    assert any("link 'base': no <inertial>" in text for text in warnings)


def test_ignored_elements_are_named(tmp_path):
    extra = (
        joint("elbow", "upper", "lower", '<safety_controller k_velocity="1"/>') + "<gazebo/><transmission name='t'/>"
    )
    _, warnings = load_scene(write(tmp_path, *arm(extra)))
    (text,) = [text for text in warnings if text.startswith("ignored elements")]
    for part in ("1 <gazebo> in <robot>", "1 <transmission> in <robot>", "1 <safety_controller> in <joint>"):
        assert part in text


BAD = {
    "missing mesh": (
        [link("base", mesh("package://none/a.stl"))],
        "link 'base': mesh file 'package://none/a.stl' not found",
    ),
    "empty mesh": ([link("base", mesh("empty.stl"))], "empty.stl"),
    "broken mesh": ([link("base", mesh("broken.dae"))], "broken.dae: not readable as XML"),
    "unknown leader": (arm(joint("e", "upper", "lower", '<mimic joint="x"/>')), "joint 'e': mimic: unknown joint 'x'"),
    "bad multiplier": (
        arm(joint("e", "upper", "lower", '<mimic joint="shoulder" multiplier="two"/>')),
        "joint 'e': mimic: multiplier is 'two', expected a finite number",
    ),
    "infinite effort": (
        arm(joint("e", "upper", "lower", '<limit lower="0" upper="1" effort="inf" velocity="1"/>')),
        "joint 'e': limit: effort is 'inf', expected a finite number",
    ),
    "negative mass": ([link("base"), link("tip", mass=-1), joint("a", "base", "tip")], "mass"),
    "zero mass": ([link("base"), link("tip", mass=0), joint("a", "base", "tip")], "mass"),
    "cycle": (
        [link("r"), link("a"), link("b"), joint("j", "a", "b"), joint("k", "b", "a")],
        "link 'a' is its own ancestor, expected a tree",
    ),
    "two parents": (
        [link("a"), link("b"), link("c"), joint("j", "a", "c"), joint("k", "b", "c")],
        "joint 'k': link 'c' is already the child of another joint",
    ),
    "two roots": ([link("a"), link("b")], "links 'a', 'b' have no parent, expected one such link"),
    "unknown link": ([link("a"), joint("j", "a", "nowhere")], "joint 'j': child link 'nowhere', expected one of 'a'"),
    "no links": ([], "no <link>, expected at least one"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_robots_are_named(tmp_path, name):
    parts, expected = BAD[name]
    (tmp_path / "empty.stl").write_text("")
    (tmp_path / "broken.dae").write_text("<COLLADA")
    with pytest.raises(SceneFileError) as error:
        load_scene(write(tmp_path, *parts))
    assert "robot.urdf" in str(error.value)
    assert expected in str(error.value)


BROKEN = '<link name="base"><inertial><mass value="2"/><inertia ixx="{0}" iyy="{1}" izz="{2}" ixy="0" ixz="0" iyz="0"/></inertial></link>'


@pytest.mark.parametrize(("moments", "after"), [((1, 1, 0), (1e-4, 1, 1)), ((0.1, 0.1, 0.5), (0.7 / 3,) * 3)])
def test_an_inertia_no_body_has_is_refused_or_repaired_and_listed(tmp_path, moments, after):
    path = tmp_path / "broken.urdf"
    path.write_text(f"<robot name='r'>{BROKEN.format(*moments)}</robot>")
    with pytest.raises(SceneFileError, match=r"broken\.urdf: .*inertia.*repair=True makes a body of it and says how"):
        load_scene(path, floating_base=True)
    imported = import_file(path, floating_base=True, repair=True)
    (note,) = [note for note in imported.notes if note.kind == "repaired"]
    assert note.text.startswith("body 'base': inertia: (")
    second = imported.scene.bodies[1].moments.second
    principal = np.sort(np.linalg.eigvalsh(np.trace(second) * np.eye(3) - second))
    np.testing.assert_allclose(principal, after, rtol=1e-9)


def test_a_moving_link_without_mass_gets_the_bound(tmp_path):
    path = tmp_path / "massless.urdf"
    path.write_text(f'<robot name="r">{link("base")}<link name="tool"/>{joint("j", "base", "tool")}</robot>')
    with pytest.raises(SceneFileError, match=r"mass and inertia of moving bodies.*repair=True"):
        load_scene(path)
    imported = import_file(path, repair=True)
    assert [body.moments.mass for body in imported.scene.bodies[1:]] == [1.0, 1e-3]
    assert [note.text for note in imported.notes if note.kind == "repaired"] == [
        "body 'tool': mass and inertia: 0 became 0.001 kg, (1e-06, 1e-06, 1e-06) kg m^2"
    ]


def test_numbers_that_are_badly_written_are_read_as_far_as_they_go(tmp_path):
    path = tmp_path / "dirty.urdf"
    child = joint("j", "base", "arm", '<limit lower="-1.57." upper="1" effort="3" velocity="1"/>')
    path.write_text(
        f'<robot name="r">{link("base")}{link("arm")}{child.replace("0 0 0.5", "0.07, 0, -0.69 1")}</robot>'
    )
    imported = import_file(path, repair=True)
    np.testing.assert_array_equal(imported.scene.bodies[2].position, [0.07, 0.0, -0.69])
    assert imported.scene.joints[0].range.lower == -1.57
    assert sum(note.kind == "repaired" for note in imported.notes) == 2


def test_a_mimic_of_nothing_moves_by_itself_when_repaired_and_one_of_a_fixed_joint_is_held(tmp_path):
    path = tmp_path / "mimic.urdf"
    parts = link("a") + link("b") + link("c") + link("d") + joint("stays", "a", "b", kind="fixed")
    parts += joint("held", "b", "c", '<mimic joint="stays" offset="0.3"/>') + joint(
        "lost", "c", "d", '<mimic joint="gone"/>'
    )
    path.write_text(f'<robot name="r">{parts}</robot>')
    with pytest.raises(SceneFileError, match="unknown joint 'gone'; repair=True"):
        load_scene(path)
    scene = import_file(path, repair=True).scene
    (held,) = scene.constraints
    assert ([term.joint for term in held.terms], held.polynomial) == (["held"], (0.3,))
    model = ff.build_model(scene)
    assert model.default_state().q[model.joint_q("held")] == pytest.approx(0.3, abs=1e-12)


def test_a_drawing_without_triangles_is_skipped(tmp_path):
    (tmp_path / "empty.dae").write_text(EMPTY_DAE)
    path = tmp_path / "drawn.urdf"
    visual = '<visual><geometry><mesh filename="{0}"/></geometry></visual>'
    path.write_text(f'<robot name="r">{link("base", visual.format("empty.dae"))}</robot>')
    _, warnings = load_scene(path)
    assert any("link 'base': a mesh that is only drawn is left out: no triangles in it" in text for text in warnings)
    path.write_text(f'<robot name="r">{link("base", visual.format("gone.stl"))}</robot>')
    with pytest.raises(SceneFileError, match=r"'gone\.stl' not found.*it is only drawn: repair=True leaves it out"):
        load_scene(path)
    assert import_file(path, repair=True).scene.shapes == ()


EMPTY_DAE = """<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset/>
<library_geometries/><library_visual_scenes><visual_scene id="s"/></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""
