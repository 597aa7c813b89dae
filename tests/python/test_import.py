# SPDX-License-Identifier: Apache-2.0
"""Imported scenes against MuJoCo itself: masses, kinematics, shapes, and a golden summary."""

from __future__ import annotations

import importlib.metadata
import json
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
import pytest

import farfield
from farfield import _core
from farfield.importers import import_file, mujoco_compile, urdf
from farfield.importers.report import Report
from farfield.importers.rotations import quaternion_matrix, quaternion_product

HERE = Path(__file__).parent
SCENES = HERE.parents[1] / "scenes"
GOLDEN = HERE / "golden" / "import_summary.json"
PANDA = "robots/panda_description/urdf/panda.urdf"
GYM = "gymnasium/envs/mujoco/assets"
FILES = {
    "gym_ant": ("gymnasium", f"{GYM}/ant.xml"),
    "gym_humanoid": ("gymnasium", f"{GYM}/humanoid.xml"),
    "panda": ("example-robot-data", PANDA),
    **{
        name: (None, f"{name}.xml")
        for name in ("ant", "push", "pendulum", "double_pendulum", "arm7", "chain14", "bowl")
    },
}


@dataclass
class Case:
    scene: _core.Scene
    warnings: list[str]
    options: dict
    model: mujoco.MjModel


def packaged(distribution: str, ending: str) -> Path:
    """A data file of an installed package."""
    for entry in importlib.metadata.files(distribution) or ():
        if str(entry).endswith(ending):
            return Path(entry.locate()).resolve()
    pytest.fail(f"{distribution} does not carry {ending}")


def reference_model(path: Path) -> mujoco.MjModel:
    """MuJoCo's own reading of the file; URDF after the pre-pass, without which it drops mimic and finds no meshes."""
    if path.suffix == ".urdf":
        with urdf.prepared(path, package_dirs=(), floating_base=False, report=Report(path)) as (file, edits):
            spec = mujoco.MjSpec.from_file(str(file))
            mujoco_compile.apply_edits(mujoco, spec, edits)
            return spec.compile()
    return mujoco.MjModel.from_xml_path(str(path))


@pytest.fixture(scope="module", params=sorted(FILES))
def case(request) -> Case:
    distribution, name = FILES[request.param]
    path = packaged(distribution, name) if distribution else SCENES / name
    imported = import_file(path)
    return Case(imported.scene, imported.warnings, imported.options, reference_model(path))


# ---- an oracle: forward kinematics written from the comment of scene/scene.hpp alone -------------------------------


def rotation_quaternion(axis: np.ndarray, angle: float) -> np.ndarray:
    axis = np.asarray(axis) / np.linalg.norm(axis)
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis])


def compose(a: tuple, b: tuple) -> tuple:
    return a[0] + quaternion_matrix(a[1]) @ b[0], quaternion_product(a[1], b[1])


def about(anchor: np.ndarray, quaternion: np.ndarray) -> tuple:
    """Translate(anchor) Rotate(quaternion) Translate(-anchor)."""
    return anchor - quaternion_matrix(quaternion) @ anchor, quaternion


def scene_poses(scene: _core.Scene, q: np.ndarray) -> np.ndarray:
    """Position and quaternion (w, x, y, z) of every body, shape (num_bodies, 7)."""
    identity = np.array([1.0, 0.0, 0.0, 0.0])
    poses, at = [(np.zeros(3), identity)], 0
    for body in scene.bodies[1:]:
        pose = compose(poses[body.parent], (body.position, body.orientation))
        for joint in body.joints:
            kind = joint.type.name
            if kind == "Free":
                pose, at = (q[at : at + 3], q[at + 3 : at + 7]), at + 7
            elif kind == "Ball":
                pose, at = compose(pose, about(joint.anchor, q[at : at + 4])), at + 4
            elif kind == "Hinge":
                pose, at = (
                    compose(pose, about(joint.anchor, rotation_quaternion(joint.axis, q[at] - joint.reference))),
                    at + 1,
                )
            else:
                axis = joint.axis / np.linalg.norm(joint.axis)
                pose, at = compose(pose, (axis * (q[at] - joint.reference), identity)), at + 1
        poses.append(pose)
    assert at == len(q)
    return np.array([np.concatenate(pose) for pose in poses])


def random_configuration(model: mujoco.MjModel, rng: np.random.Generator) -> np.ndarray:
    q = rng.uniform(-1.5, 1.5, model.nq)
    mujoco.mj_normalizeQuat(model, q)
    return q


def assert_same_poses(poses: np.ndarray, data: mujoco.MjData, tolerance: float) -> None:
    np.testing.assert_allclose(poses[:, :3], data.xpos, atol=tolerance, rtol=0)
    for mine, theirs in zip(poses[:, 3:], data.xquat, strict=True):
        assert min(np.abs(mine - theirs).max(), np.abs(mine + theirs).max()) < tolerance


# ---- agreement with MuJoCo -----------------------------------------------------------------------------------------


def test_bodies_are_in_mujoco_order(case):
    names = [mujoco.mj_id2name(case.model, mujoco.mjtObj.mjOBJ_BODY, k) for k in range(case.model.nbody)]
    assert len(case.scene.bodies) == case.model.nbody
    assert all(not name or body.name == name for body, name in zip(case.scene.bodies, names, strict=True))
    assert [body.parent for body in case.scene.bodies] == case.model.body_parentid.tolist()


def test_masses_centres_and_inertias(case):
    for k, body in enumerate(case.scene.bodies):
        mass = case.model.body_mass[k]
        if body.moments is None:
            assert mass == 0.0
            continue
        rotation = quaternion_matrix(case.model.body_iquat[k])
        inertia = rotation @ np.diag(case.model.body_inertia[k]) @ rotation.T
        assert body.moments.mass == pytest.approx(mass, rel=1e-9)
        np.testing.assert_allclose(body.moments.center, case.model.body_ipos[k], atol=1e-9)
        np.testing.assert_allclose(body.moments.inertia, inertia, atol=1e-9 * max(1.0, inertia.max()))


def test_oracle_poses_at_random_configurations(case):
    rng, data = np.random.default_rng(1), mujoco.MjData(case.model)
    for _ in range(100):
        data.qpos[:] = random_configuration(case.model, rng)
        mujoco.mj_kinematics(case.model, data)
        assert_same_poses(scene_poses(case.scene, data.qpos.copy()), data, 1e-9)


def test_model_poses_at_random_configurations(case):
    model = farfield.build_model(case.scene)
    params = model.default_parameters()
    rng, data = np.random.default_rng(2), mujoco.MjData(case.model)
    for _ in range(100):
        data.qpos[:] = random_configuration(case.model, rng)
        for tie in case.scene.ties:
            data.joint(tie.joint).qpos = tie.offset + tie.ratio * data.joint(tie.source).qpos
        mujoco.mj_kinematics(case.model, data)
        assert_same_poses(farfield.forward_kinematics(model, params, data.qpos.copy()), data, 1e-9)


def test_shapes_are_where_mujoco_has_them(case):
    model, data = case.model, mujoco.MjData(case.model)
    data.qpos[:] = random_configuration(model, np.random.default_rng(3))
    mujoco.mj_kinematics(model, data)
    poses = scene_poses(case.scene, data.qpos.copy())
    assert len(case.scene.shapes) == model.ngeom
    for k, shape in enumerate(case.scene.shapes):
        body = (poses[shape.body, :3], poses[shape.body, 3:])
        position, orientation = compose(body, (shape.position, shape.orientation))
        rotation, theirs = quaternion_matrix(orientation), data.geom_xmat[k].reshape(3, 3)
        if shape.type == _core.ShapeType.Mesh:
            mesh, data_id = case.scene.meshes[shape.mesh], model.geom_dataid[k]
            begin, count = model.mesh_vertadr[data_id], model.mesh_vertnum[data_id]
            vertices = model.mesh_vert[begin : begin + count]
            begin, count = model.mesh_faceadr[data_id], model.mesh_facenum[data_id]
            corners = vertices[model.mesh_face[begin : begin + count]] @ theirs.T + data.geom_xpos[k]
            mine = mesh.vertices[mesh.triangles] @ rotation.T + position
            assert_same_triangles(mine, corners)
        else:
            np.testing.assert_allclose(position, data.geom_xpos[k], atol=1e-9)
            np.testing.assert_allclose(rotation, theirs, atol=1e-9)
            used = np.abs(shape.size) > 0
            np.testing.assert_array_equal(shape.size[used], model.geom_size[k][used])


def assert_same_triangles(mine: np.ndarray, theirs: np.ndarray) -> None:
    """The same corners in the same order; only triangles of no area may be missing."""
    at = 0
    for corners in theirs:
        if at < len(mine) and np.abs(mine[at] - corners).max() < 1e-6:
            at += 1
        else:
            assert np.linalg.norm(np.cross(corners[1] - corners[0], corners[2] - corners[0])) < 1e-8
    assert at == len(mine)


def test_joint_and_actuator_numbers(case):
    model = case.model
    assert case.options["timestep"] == model.opt.timestep
    np.testing.assert_array_equal(case.scene.gravity, model.opt.gravity)
    assert len(case.scene.joints) == model.njnt
    for k, joint in enumerate(case.scene.joints):
        dof, q = model.jnt_dofadr[k], model.jnt_qposadr[k]
        assert joint.damping == model.dof_damping[dof]
        assert joint.armature == model.dof_armature[dof]
        assert joint.stiffness == model.jnt_stiffness[k]
        assert (joint.range is not None) == bool(model.jnt_limited[k])
        if joint.range is not None:
            assert [joint.range.lower, joint.range.upper] == model.jnt_range[k].tolist()
        if joint.type in (_core.JointType.Hinge, _core.JointType.Slide):
            assert joint.reference == model.qpos0[q]
            assert joint.spring_reference == model.qpos_spring[q]
    assert [actuator.joint for actuator in case.scene.actuators] == [
        mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, k) for k in model.actuator_trnid[:, 0]
    ]


def summary(scene: _core.Scene, warnings: list[str]) -> dict:
    return {
        "bodies": [f"{body.name}<{scene.bodies[body.parent].name} {body.motion.name}" for body in scene.bodies],
        "joints": [f"{joint.name} {joint.type.name}" for joint in scene.joints],
        "shapes": [f"{shape.name} {shape.type.name}{'' if shape.collides else ' drawn'}" for shape in scene.shapes],
        "triangles": {mesh.name: len(mesh.triangles) for mesh in scene.meshes},
        "actuators": [f"{actuator.name} {actuator.type.name} {actuator.joint}" for actuator in scene.actuators],
        "ties": [f"{tie.joint} = {tie.offset:g} + {tie.ratio:g} {tie.source}" for tie in scene.ties],
        "keyframes": [keyframe.name for keyframe in scene.keyframes],
        "mass": round(sum(body.moments.mass for body in scene.bodies if body.moments), 9),
        "warnings": warnings,
    }


def test_golden_summary(case, request):
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    name = request.node.callspec.params["case"]
    assert summary(case.scene, case.warnings) == golden[name]


def test_every_field_of_the_compiled_model_is_treated():
    model = mujoco.MjModel.from_xml_path(str(SCENES / "ant.xml"))
    fields = mujoco_compile.model_fields(model)
    assert {"body_mass", "geom_size", "opt", "nq"} <= set(fields)
    assert [field for field in fields if mujoco_compile.treatment(field) is None] == []
    assert mujoco_compile.treatment("geom_news") is None


def write_golden() -> None:
    """Run this file as a script to write the golden summary again, then read the difference."""
    result = {}
    for name, (distribution, file) in sorted(FILES.items()):
        imported = import_file(packaged(distribution, file) if distribution else SCENES / file)
        result[name] = summary(imported.scene, imported.warnings)
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_golden()
