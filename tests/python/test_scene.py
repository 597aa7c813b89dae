# SPDX-License-Identifier: Apache-2.0
"""Scenes written in Python: building, reading, changing, pickling, and errors that name what is wrong."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from farfield import _core as core


def small_scene() -> core.Scene:
    scene = core.Scene(name="small", gravity=[0, 0, -1])
    scene.add_body(name="base", motion="fixed", position=[0, 0, 1])
    arm = scene.add_body(name="arm", parent="base", orientation=[2, 0, 0, 0])
    assert arm == 2
    assert scene.add_joint("arm", name="first", axis=[0, 1, 0], range=(-1, 2)) == 0
    assert scene.add_joint(arm, name="second", type=core.JointType.Slide, damping=0.5) == 1
    scene.add_mesh(name="tetra", vertices=np.eye(4, 3), triangles=[[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]])
    scene.add_shape("arm", name="hull", type="mesh", mesh="tetra", color=[1, 0, 0, 1])
    scene.add_shape(0, type="HalfSpace")
    scene.add_actuator(name="drive", joint="first", kp=3, velocity_input=False)
    scene.add_tie(joint="second", source="first", ratio=-0.5)
    scene.add_keyframe(name="start", q=[0.1, 0.2])
    scene.exclude("base", 2)
    scene.include("world", "arm")
    return scene


def test_reads_back_what_was_written():
    scene = small_scene()
    assert [body.name for body in scene.bodies] == ["world", "base", "arm"]
    assert scene.bodies[2].parent == 1
    np.testing.assert_array_equal(scene.bodies[2].orientation, [1, 0, 0, 0])
    assert [joint.name for joint in scene.joints] == ["first", "second"]
    assert scene.joints[0].range.upper == 2.0
    assert scene.shapes[0].mesh == 0
    assert scene.meshes[0].vertices.shape == (4, 3)
    assert scene.meshes[0].triangles.dtype == np.int32
    assert scene.exclude_contacts == (("base", "arm"),)
    assert scene.include_contacts == (("world", "arm"),)
    assert scene.ties[0].ratio == -0.5
    np.testing.assert_array_equal(scene.keyframes[0].q, [0.1, 0.2])
    assert scene.body_index("arm") == 2


def test_contact_policies():
    scene = small_scene()
    assert scene.self_contact == core.ContactPolicy.Near
    scene.self_contact = "none"
    scene.set_pair_contact("base", 2, "all")
    assert [(pair.a, pair.b, pair.policy) for pair in scene.pair_contact] == [("base", "arm", core.ContactPolicy.All)]
    assert pickle.loads(pickle.dumps(scene)).self_contact == core.ContactPolicy.None_
    with pytest.raises(ValueError, match="policy: got str 'far', expected one of All, Near, None"):
        scene.set_pair_contact("base", "arm", "far")
    with pytest.raises(ValueError, match="unknown"):
        scene.set_pair_contact("base", "leg", "all")


def test_pickle_keeps_every_field():
    scene = small_scene()
    scene.set_pair_contact("base", "arm", "near")
    scene.replace_body("arm", moments=core.Moments.from_inertia(mass=2, center=[0.1, 0, 0], inertia=np.eye(3)))
    copy = pickle.loads(pickle.dumps(scene))
    assert repr(copy) == repr(scene)
    assert "mass=2.0" in repr(copy)


def test_a_change_is_never_lost():
    scene = small_scene()
    with pytest.raises(AttributeError):
        scene.bodies[2].position = [1, 2, 3]
    with pytest.raises(ValueError, match="read-only"):
        scene.bodies[2].position[0] = 1.0
    scene.replace_body("arm", position=[1, 2, 3])
    np.testing.assert_array_equal(scene.bodies[2].position, [1, 2, 3])
    scene.replace_shape("hull", friction=0.9)
    assert scene.shapes[0].friction == 0.9
    scene.replace_joint("second", armature=0.1)
    assert scene.joints[1].armature == 0.1
    scene.replace_actuator(0, kp=5.0)
    assert scene.actuators[0].kp == 5.0
    scene.gravity = [0, 0, 0]
    scene.shapes = [shape.replace(friction=0.1) for shape in scene.shapes]
    assert [shape.friction for shape in scene.shapes] == [0.1, 0.1]
    assert scene.replace(name="other").name == "other"
    assert scene.name == "small"


def test_a_failed_change_changes_nothing():
    scene = small_scene()
    before = repr(scene)
    with pytest.raises(ValueError, match="damping"):
        scene.replace_joint("first", armature=0.3, damping=float("nan"))
    assert repr(scene) == before


def test_moments_round_trip():
    inertia = np.array([[2.0, 0.1, 0.2], [0.1, 2.5, -0.3], [0.2, -0.3, 3.0]])
    moments = core.Moments.from_inertia(mass=4.0, center=[0.1, -0.2, 0.3], inertia=inertia)
    np.testing.assert_allclose(moments.inertia, inertia, atol=1e-14)
    np.testing.assert_allclose(moments.center, [0.1, -0.2, 0.3], atol=1e-15)
    again = core.Moments.from_vector(moments.vector)
    np.testing.assert_array_equal(again.vector, moments.vector)
    cube = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    with pytest.raises(ValueError, match="open"):
        core.TriangleMesh(name="open", vertices=cube, triangles=[[0, 1, 3]]).moments(density=1.0)


BAD = [
    (lambda s: s.add_body(name="b", position=[0, 0]), "Body 'b': position: got shape (2), expected 3 numbers"),
    (lambda s: s.add_body(name="b", position=[0, 0, np.nan]), "Body 'b': position: entry [2] is nan"),
    (lambda s: s.add_body(name="b", orientation=[0, 0, 0, 0]), "Body 'b': orientation: quaternion of norm 0"),
    (lambda s: s.add_body(name="b", parent="none"), "unknown name 'none', expected one of 'world', 'base', 'arm'"),
    (lambda s: s.add_body(name="b", parent=3), "parent 3, expected an earlier body, 0 to 2"),
    (lambda s: s.add_body(name="b", parent=True), "Body 'b': parent: got bool True, expected an integer"),
    (lambda s: s.add_body(name="arm"), "name 'arm' is taken by element 2"),
    (lambda s: s.add_body(mass=1), "Body: unknown field 'mass', expected one of name, parent"),
    (lambda s: s.add_body(name=7), "Body: name: got int 7, expected a string"),
    (lambda s: s.add_body(name="b", moments=1.0), "Body 'b': moments: got float 1.0, expected a Moments"),
    (lambda s: s.add_body(name="b", joints=[1]), "Body 'b': joints[0]: got int 1, expected a Joint"),
    (lambda s: s.add_joint("arm", name="first"), "name 'first' is taken"),
    (lambda s: s.add_joint("leg"), "Scene.add_joint: body: unknown name 'leg'"),
    (lambda s: s.add_joint("arm", type="twist"), "Joint: type: got str 'twist', expected one of Fixed, Free, Ball"),
    (lambda s: s.add_joint("arm", damping="high"), "Joint: damping: got str 'high', expected a number"),
    (lambda s: s.add_joint("arm", damping=np.inf), "Joint: damping: got inf, expected a finite number"),
    (lambda s: s.add_joint("arm", range=(1, -1)), "Joint: range: got (1, -1), expected lower <= upper"),
    (lambda s: s.add_joint("arm", range=(1,)), "Joint: range: got shape (1), expected 2 numbers (lower, upper)"),
    (lambda s: s.add_shape(9), "Scene.add_shape: body: index 9, expected 0 to 2"),
    (lambda s: s.add_shape(0, type="mesh"), "mesh -1, expected the index of one of the 1 meshes"),
    (lambda s: s.add_shape(0, collides=1), "Shape: collides: got int 1, expected True or False"),
    (lambda s: s.add_shape(0, group=-1), "Shape: group: got int -1, expected an integer from 0"),
    (lambda s: s.add_shape(0, color="red"), "Shape: color: got str 'red', expected 4 numbers"),
    (lambda s: s.add_mesh(vertices=np.zeros((3, 2))), "TriangleMesh: vertices: got shape (3, 2), expected (n, 3)"),
    (lambda s: s.add_mesh(vertices=[[0, 0, np.inf]]), "TriangleMesh: vertices: entry [0, 2] is inf"),
    (lambda s: s.add_mesh(triangles=[[0, 1, 2.5]]), "expected integers of shape (n, 3)"),
    (lambda s: s.add_mesh(triangles=[[0, 1, -2]]), "entry [0, 2] is -2, expected a vertex index >= 0"),
    (lambda s: s.add_mesh(name="tetra"), "name 'tetra' is taken"),
    (lambda s: s.add_actuator(joint="none"), "unknown joint 'none', expected one of 'first', 'second'"),
    (lambda s: s.add_actuator(joint="first", gear=[[1.0]]), "Actuator: gear: got shape (1, 1)"),
    (lambda s: s.add_tie(joint="first", source="none"), "Scene.add_tie: source: unknown joint 'none'"),
    (lambda s: s.add_keyframe(q=[np.nan]), "Keyframe: q: entry [0] is nan"),
    (lambda s: s.exclude("arm", "none"), "Scene.exclude: b: unknown name 'none'"),
    (lambda s: setattr(s, "gravity", [1]), "Scene: gravity: got shape (1), expected 3 numbers"),
    (lambda s: setattr(s, "bodies", 3), "Scene: bodies: got int 3, expected a list"),
    (lambda s: core.Moments(mass=1, second=np.eye(2)), "Moments: second: got shape (2, 2), expected (3, 3)"),
    (lambda s: core.Moments.from_inertia(mass=-1, center=[0, 0, 0], inertia=np.eye(3)), "mass -1, expected > 0"),
    (lambda s: core.Moments.from_inertia(mass=1, center=[0, 0, 0], inertia=np.diag([1, 1, 3])), "inertia"),
    (lambda s: core.Moments.from_vector(np.zeros(9)), "got 9 numbers, expected 10"),
    (lambda s: core.TriangleMesh(name="flat").validate(), "flat"),
]


@pytest.mark.parametrize(("mistake", "text"), BAD, ids=[text[:40] for _, text in BAD])
def test_mistakes_are_named(mistake, text):
    with pytest.raises(ValueError) as error:
        mistake(small_scene())
    assert text in str(error.value)


def test_constructors_take_keywords_only():
    with pytest.raises(TypeError):
        core.Body("arm")
