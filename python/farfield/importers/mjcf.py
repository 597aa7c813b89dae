# SPDX-License-Identifier: Apache-2.0
"""From MuJoCo's compiled model to a Scene.

Body indices are MuJoCo's body ids, and joints keep MuJoCo's order, so that qpos and qvel are our q and v (a mocap body adds its
pose to q, at its place among the bodies). How each field of the compiled model is treated is listed in :data:`farfield.importers.mujoco_compile.TREATMENT`.
"""

from __future__ import annotations

import numpy as np

from farfield import _core
from farfield.importers import actuators, couplings, meshes, unsupported
from farfield.importers.compiler import Compiled
from farfield.importers.errors import SceneFileError
from farfield.importers.report import Report
from farfield.importers.rotations import quaternion_matrix

PRIMITIVES = {
    "sphere": _core.ShapeType.Sphere,
    "capsule": _core.ShapeType.Capsule,
    "cylinder": _core.ShapeType.Cylinder,
    "ellipsoid": _core.ShapeType.Ellipsoid,
    "box": _core.ShapeType.Box,
    "plane": _core.ShapeType.HalfSpace,
}
JOINTS = {
    "free": _core.JointType.Free,
    "ball": _core.JointType.Ball,
    "slide": _core.JointType.Slide,
    "hinge": _core.JointType.Hinge,
}
#: Fields of the compiled model: kind of element, largest size, unit.
BOUNDED = {
    **{field: ("body", meshes.LARGEST_LENGTH, "m") for field in ("body_pos", "body_ipos")},
    **{field: ("geom", meshes.LARGEST_LENGTH, "m") for field in ("geom_pos", "geom_size")},
    "jnt_pos": ("joint", meshes.LARGEST_LENGTH, "m"),
    "hfield_size": ("hfield", meshes.LARGEST_LENGTH, "m"),
    "qpos0": ("qpos0", meshes.LARGEST_LENGTH, "m or rad"),
    "key_qpos": ("key", meshes.LARGEST_LENGTH, "m or rad"),
    "body_mass": ("body", 1e30, "kg"),
    "body_inertia": ("body", 1e40, "kg m^2"),
}
#: Coordinates and degrees of freedom.
COORDINATES = {"free": (7, 6), "ball": (4, 3), "slide": (1, 1), "hinge": (1, 1)}
#: Numbers of sizes that mean something, per geom type.
SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}


def build_scene(model: Compiled, report: Report) -> _core.Scene:
    """The Scene of a compiled model; what has no counterpart goes into `report`."""
    names = unique_names(model)
    for change in model.repairs:
        report.repaired(change["element"], change["before"], change["after"])
    _check_numbers(model, names, report)
    unsupported.check(model, names, report)
    scene = _core.Scene(name=model.name or "scene", gravity=_gravity(model))
    _add_bodies(scene, model, names, report)
    mesh_index = meshes.add_meshes(scene, model, report)
    _add_shapes(scene, model, names, mesh_index, report)
    couplings.add_tendons(scene, model, names, report)
    kept = actuators.add_actuators(scene, model, names, report)
    couplings.add_equalities(scene, model, names, report)
    _add_contact_pairs(scene, model, names, report)
    _add_keyframes(scene, model, names, kept, report)
    report.raise_if_refused()
    return scene


def _check_numbers(model: Compiled, names: dict[str, list[str]], report: Report) -> None:
    """Raises SceneFileError for lengths and masses that are not finite, or beyond all reckoning."""
    for field, (kind, bound, unit) in BOUNDED.items():
        if not len(model[field]):
            continue
        values = np.asarray(model[field], dtype=float).reshape(len(model[field]), -1)
        wrong = np.argwhere(~(np.abs(values) <= bound))
        if len(wrong):
            row, column = wrong[0]
            place = f"{kind} '{names[kind][row]}'" if kind in names and row < len(names[kind]) else f"{kind}[{row}]"
            what = field.partition("_")[2] or field
            raise SceneFileError(
                f"{report.source}: {place}: {what} {values[row, column]:g}, expected at most {bound:g} {unit} in size"
            )


def unique_names(model: Compiled) -> dict[str, list[str]]:
    """Names of all elements; those without a name get one from their kind and index."""
    result = {}
    for kind, given in model.names.items():
        taken = set(given)
        names = []
        for index, name in enumerate(given):
            candidate = name or f"{kind}{index}"
            while not name and candidate in taken:
                candidate += "_"
            taken.add(candidate)
            names.append(candidate)
        result[kind] = names
    return result


def _gravity(model: Compiled) -> np.ndarray:
    values = model.options["values"]
    if "gravity" in unsupported.flags(model, "mjtDisableBit", values["disableflags"]):
        return np.zeros(3)
    return np.asarray(values["gravity"])


def moments_of(model: Compiled, body: int) -> _core.Moments | None:
    """Mass moments in the body frame, or None for a body without mass.

    With principal inertia I in axes R about the centre c: second = R (tr(I)/2 - I) R^T + m c c^T.
    """
    mass = float(model["body_mass"][body])
    if mass == 0.0:
        return None
    center = model["body_ipos"][body]
    rotation = quaternion_matrix(model["body_iquat"][body])
    inertia = model["body_inertia"][body]
    about_center = rotation @ np.diag(0.5 * inertia.sum() - inertia) @ rotation.T
    second = 0.5 * (about_center + about_center.T) + mass * np.outer(center, center)
    return _core.Moments(mass=mass, first=mass * center, second=second)


def _add_bodies(scene: _core.Scene, model: Compiled, names: dict[str, list[str]], report: Report) -> None:
    for body in range(1, len(model["body_parentid"])):
        if model["body_mocapid"][body] >= 0:
            motion = _core.BodyMotion.Kinematic
        elif model["body_jntnum"][body] == 0:
            motion = _core.BodyMotion.Fixed
        else:
            motion = _core.BodyMotion.Dynamic
        first = int(model["body_jntadr"][body])
        joints = [_joint(model, names, first + k, report) for k in range(int(model["body_jntnum"][body]))]
        scene.add_body(
            name=names["body"][body],
            parent=int(model["body_parentid"][body]),
            position=model["body_pos"][body],
            orientation=model["body_quat"][body],
            motion=motion,
            joints=joints,
            moments=moments_of(model, body),
            gravity_compensation=float(model["body_gravcomp"][body]),
        )
    carried = [names["body"][k] for k in np.flatnonzero(model["body_gravcomp"])]
    report.applied_elements("body", carried, "gravity compensation")
    rubbing = [
        names["joint"][j] for j, dof in enumerate(model["jnt_dofadr"]) if _dry_friction(model, j, int(dof)) > 0.0
    ]
    report.applied_elements("joint", rubbing, "dry friction, smoothed below 0.01 rad/s or m/s")


def _dry_friction(model: Compiled, joint: int, dof: int) -> float:
    scalar = model.enum("mjtJoint", model["jnt_type"][joint]) in ("hinge", "slide")
    return float(model["dof_frictionloss"][dof]) if scalar else 0.0


def _joint(model: Compiled, names: dict[str, list[str]], joint: int, report: Report) -> _core.Joint:
    kind = model.enum("mjtJoint", model["jnt_type"][joint])
    name = names["joint"][joint]
    scalar = kind in ("hinge", "slide")
    q, dof = int(model["jnt_qposadr"][joint]), int(model["jnt_dofadr"][joint])
    stiffness = float(model["jnt_stiffness"][joint])
    if kind == "free" and stiffness != 0.0:
        report.refuse(f"joint '{name}'", f"stiffness {stiffness:g} on a free joint")
    limits_off = "limit" in unsupported.flags(model, "mjtDisableBit", model.options["values"]["disableflags"])
    limited = bool(model["jnt_limited"][joint]) and not limits_off
    return _core.Joint(
        name=name,
        type=JOINTS[kind],
        anchor=model["jnt_pos"][joint] if kind in ("hinge", "ball") else np.zeros(3),
        axis=model["jnt_axis"][joint] if scalar else (0.0, 0.0, 1.0),
        reference=float(model["qpos0"][q]) if scalar else 0.0,
        range=model["jnt_range"][joint] if limited else None,
        damping=float(model["dof_damping"][dof]),
        armature=float(model["dof_armature"][dof]),
        stiffness=stiffness,
        spring_reference=float(model["qpos_spring"][q]) if scalar else 0.0,
        friction=_dry_friction(model, joint, dof),
    )


def _add_shapes(scene, model: Compiled, names: dict[str, list[str]], mesh_index: dict, report: Report) -> None:
    for geom in range(len(model["geom_type"])):
        kind = model.enum("mjtGeom", model["geom_type"][geom])
        name = names["geom"][geom]
        body = int(model["geom_bodyid"][geom])
        fields = _placement(model, geom)
        if kind in ("mesh", "hfield"):
            placed = mesh_index[kind, int(model["geom_dataid"][geom])]
            fields["position"], fields["orientation"] = placed.in_body(fields["position"], fields["orientation"])
            fields |= {"type": _core.ShapeType.Mesh, "mesh": placed.index}
        elif kind in PRIMITIVES:
            fields["type"] = PRIMITIVES[kind]
            size = np.zeros(3)
            count = SIZES.get(kind, 0)
            size[:count] = model["geom_size"][geom][:count]
            fields["size"] = size
        else:
            report.refuse(f"geom '{name}'", f"type {kind}")
            continue
        # All mass of a file is in the moments of its bodies; a body without mass must stay so.
        density = 0.0 if model["body_mass"][body] == 0.0 else 1000.0
        scene.add_shape(body, name=name, density=density, **_contact_fields(model, geom), **fields)


def _placement(model: Compiled, geom: int) -> dict:
    color = model["geom_rgba"][geom]
    material = int(model["geom_matid"][geom])
    if material >= 0 and np.array_equal(color, np.float32([0.5, 0.5, 0.5, 1.0])):
        color = model["mat_rgba"][material]
    return {
        "position": model["geom_pos"][geom],
        "orientation": model["geom_quat"][geom],
        "color": np.clip(color.astype(float), 0.0, 1.0),
    }


def _contact_fields(model: Compiled, geom: int) -> dict:
    group, meets = int(model["geom_contype"][geom]), int(model["geom_conaffinity"][geom])
    collides = group != 0 or meets != 0
    contact_off = {"contact", "constraint"} & unsupported.flags(
        model, "mjtDisableBit", model.options["values"]["disableflags"]
    )
    # condim 1 is frictionless; as in MuJoCo, the other geom of a pair may still bring friction.
    frictionless = int(model["geom_condim"][geom]) == 1
    return {
        "friction": 0.0 if frictionless else float(model["geom_friction"][geom][0]),
        "collides": collides and not contact_off,
        "group": group & 0xFFFFFFFF,
        "collides_with": meets & 0xFFFFFFFF,
    }


def _add_contact_pairs(scene, model: Compiled, names: dict[str, list[str]], report: Report) -> None:
    for signature in model["exclude_signature"]:
        scene.exclude(int(signature) >> 16, int(signature) & 0xFFFF)
    bodies = model["geom_bodyid"]
    for pair, (a, b) in enumerate(zip(model["pair_geom1"], model["pair_geom2"], strict=True)):
        scene.include(int(bodies[a]), int(bodies[b]))
        scene.set_pair_friction(int(bodies[a]), int(bodies[b]), float(model["pair_friction"][pair][0]))
        report.warn(
            f"pair '{names['pair'][pair]}': its bodies '{names['body'][bodies[a]]}' and '{names['body'][bodies[b]]}' "
            "may touch with all their shapes; the pair's sliding friction holds for all of them; its dimension, other friction, margin and solver are "
            "not used",
            kind="approximated",
        )


def _add_keyframes(scene, model: Compiled, names: dict[str, list[str]], kept: list[int], report: Report) -> None:
    moved = []
    for key, name in enumerate(names["keyframe"]):
        poses = np.hstack([model["key_mpos"][key].reshape(-1, 3), model["key_mquat"][key].reshape(-1, 4)])
        q, v = _coordinates(model, model["key_qpos"][key], model["key_qvel"][key], poses)
        if _follow_ties(scene, model, names, q):
            moved.append(name)
        scene.add_keyframe(name=name, q=q, v=v, control=model["key_ctrl"][key][kept])
    report.warn_elements(
        "keyframe", moved, "joints that follow others were moved to where they follow", kind="approximated"
    )


def _follow_ties(scene, model: Compiled, names: dict[str, list[str]], q: np.ndarray) -> bool:
    """Puts tied joints where their ties want them; True when one was elsewhere."""
    place, at = {}, 0
    for body, mocap in enumerate(model["body_mocapid"]):
        first = int(model["body_jntadr"][body])
        at += 7 if mocap >= 0 else 0
        for joint in range(first, first + int(model["body_jntnum"][body])):
            place[names["joint"][joint]] = at
            at += COORDINATES[model.enum("mjtJoint", model["jnt_type"][joint])][0]
    before = q.copy()
    for _ in scene.ties:  # chains of ties settle after as many passes
        for tie in scene.ties:
            q[place[tie.joint]] = tie.offset + tie.ratio * q[place[tie.source]]
    return bool(np.max(np.abs(q - before), initial=0.0) > 1e-9)


def _coordinates(model: Compiled, qpos, qvel, mocap_poses) -> tuple[np.ndarray, np.ndarray]:
    """Our q and v: MuJoCo's, with the pose of each mocap body, at rest, where its body stands among the others."""
    q, v = [np.zeros(0)], [np.zeros(0)]
    for body, mocap in enumerate(model["body_mocapid"]):
        if mocap >= 0:
            pose = np.array(mocap_poses[mocap])
            pose[3:] /= np.linalg.norm(pose[3:])
            q.append(pose)
            v.append(np.zeros(6))
            continue
        first = int(model["body_jntadr"][body])
        for joint in range(first, first + int(model["body_jntnum"][body])):
            num_q, num_dofs = COORDINATES[model.enum("mjtJoint", model["jnt_type"][joint])]
            q.append(qpos[model["jnt_qposadr"][joint] :][:num_q])
            v.append(qvel[model["jnt_dofadr"][joint] :][:num_dofs])
    return np.concatenate(q), np.concatenate(v)
