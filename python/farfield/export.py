# SPDX-License-Identifier: Apache-2.0
"""A design as files: MJCF with one mesh per hull, an STL per link to print, and what it weighs.

The scene is that of `farfield.reshape`: hulls, masses, attachment points and gains as the parameters have them, all numbers in full
precision. `farfield.load` of it gives the same motion up to rounding, as far as MJCF can say it: a drive with position *and* velocity targets becomes a
position drive and a motor beside it, whose controls stand at the same places; joints of two axes become two hinges. A vertex inside its hull is
not part of the surface and is left out, so a design should have none (see `Design.interior`).
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from farfield import _core as ff
from farfield.output import atomic_path, dump_json
from farfield.reshape import reshaped_scene


def save_design(model: ff.Model, parameters: ff.Parameters, folder: str | Path) -> dict[str, Any]:
    """Writes scene.xml, meshes/*.obj, one LINK.stl per body and design.json into a folder; returns what design.json holds.

    Per link: volume [m^3] (of the union where `manifold3d` is installed, else the sum of its hulls), mass [kg] and thinnest wall [m], the smallest
    width of one of its hulls across one of its faces.
    """
    folder = Path(folder)
    (folder / "meshes").mkdir(parents=True, exist_ok=True)
    scene, hulls = reshaped_scene(model, parameters), ff.current_hulls(model, parameters)
    vertices = np.asarray(parameters.hull_vertices)
    solids: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
    for hull in hulls:
        solids.setdefault(hull.body, []).append(_corners(vertices[hull.rows], hull.triangles))
    tree = _Mjcf(scene, model).tree()
    for name, (points, triangles) in _meshes(scene).items():
        _write_obj(folder / "meshes" / f"{name}.obj", points, triangles)
    ElementTree.indent(tree)
    with atomic_path(folder / "scene.xml") as temporary:
        temporary.write_text(ElementTree.tostring(tree, encoding="unicode"), encoding="utf-8")
    links = {}
    for body, parts in solids.items():
        if body == 0:
            continue
        name = model.body_names[body]
        points, triangles, whole = _union(parts)
        _write_stl(folder / f"{_file_name(name)}.stl", points, triangles)
        links[name] = {
            "volume": _volume(points, triangles),
            "one_watertight_surface": whole,
            "mass": float(parameters.moments[body, 0]),
            "thinnest_wall": min(_width(p, t) for p, t in parts),
            "hulls": len(parts),
            "interior_vertices": sum(len(h.interior) for h in hulls if h.body == body),
        }
    report = {"scene": scene.name, "links": links, "volume": sum(link["volume"] for link in links.values())}
    with atomic_path(folder / "design.json") as temporary:
        temporary.write_text(dump_json(report), encoding="utf-8")
    return report


def _file_name(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in name)


def _corners(points: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    used, place = np.unique(triangles, return_inverse=True)
    return points[used], place.reshape(triangles.shape)


def _meshes(scene: ff.Scene) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    used = sorted({shape.mesh for shape in scene.shapes if shape.type == ff.ShapeType.Mesh})
    return {
        f"mesh{k}": _corners(np.asarray(scene.meshes[k].vertices), np.asarray(scene.meshes[k].triangles)) for k in used
    }


def _union(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray, bool]:
    """One surface of all parts, and whether it is a single watertight one: needs `manifold3d` unless there is one part."""
    if len(parts) == 1:
        return *parts[0], True
    try:
        import manifold3d
    except ImportError:
        starts = np.cumsum([0, *(len(points) for points, _ in parts)])
        triangles = [t + start for (_, t), start in zip(parts, starts, strict=False)]
        return np.vstack([points for points, _ in parts]), np.vstack(triangles), False
    solids = [manifold3d.Manifold(manifold3d.Mesh(p.astype(np.float32), t.astype(np.uint32))) for p, t in parts]
    mesh = manifold3d.Manifold.batch_boolean(solids, manifold3d.OpType.Add).to_mesh()
    return np.asarray(mesh.vert_properties, dtype=float)[:, :3], np.asarray(mesh.tri_verts, dtype=int), True


def _volume(points: np.ndarray, triangles: np.ndarray) -> float:
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def _width(points: np.ndarray, triangles: np.ndarray) -> float:
    a, b, c = (points[triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1)
    normals = normals[lengths > 0.0] / lengths[lengths > 0.0, None]
    return float(np.ptp(points @ normals.T, axis=0).min()) if len(normals) else 0.0


def _write_obj(path: Path, points: np.ndarray, triangles: np.ndarray) -> None:
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in points.tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (triangles + 1).tolist()]
    with atomic_path(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="ascii")


def _write_stl(path: Path, points: np.ndarray, triangles: np.ndarray) -> None:
    """Binary, in millimetres as printers expect."""
    corners = 1e3 * points[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.divide(normals, lengths, out=np.zeros(normals.shape), where=lengths > 0.0)
    rows = np.zeros(len(triangles), dtype=[("numbers", "<f4", (12,)), ("extra", "<u2")])
    rows["numbers"] = np.concatenate([normals[:, None], corners], axis=1).reshape(-1, 12)
    with atomic_path(path) as temporary:
        temporary.write_bytes(b"farfield, millimetres".ljust(80) + struct.pack("<I", len(rows)) + rows.tobytes())


def _text(values: Any) -> str:
    return " ".join(repr(float(value)) for value in np.ravel(values))


class _Mjcf:
    """The elements of one scene."""

    def __init__(self, scene: ff.Scene, model: ff.Model) -> None:
        self.scene, self.model = scene, model

    def tree(self) -> ElementTree.Element:
        root = ElementTree.Element("mujoco", model=self.scene.name)
        ElementTree.SubElement(
            root, "compiler", angle="radian", meshdir="meshes", inertiafromgeom="false", autolimits="true"
        )
        dt = self.scene.dt if self.scene.dt is not None else self.model.default_dt
        ElementTree.SubElement(root, "option", timestep=_text(dt), gravity=_text(self.scene.gravity))
        assets = ElementTree.SubElement(root, "asset")
        for name in _meshes(self.scene):
            ElementTree.SubElement(assets, "mesh", name=name, file=f"{name}.obj")
        nodes = [ElementTree.SubElement(root, "worldbody")]
        self._add_geoms(nodes[0], 0)
        for index, body in enumerate(self.scene.bodies[1:], start=1):
            node = ElementTree.SubElement(nodes[body.parent], "body", name=body.name, pos=_text(body.position),
                                          quat=_text(body.orientation))  # fmt: skip
            nodes.append(node)
            if body.motion == ff.BodyMotion.Kinematic:
                node.set("mocap", "true")
            self._add_inertia(node, body)
            for joint in body.joints:
                self._add_joint(node, joint)
            self._add_geoms(node, index)
        self._add_rest(root)
        return root

    @staticmethod
    def _add_inertia(node: ElementTree.Element, body: ff.Body) -> None:
        if body.moments is None:
            return
        inertia = np.asarray(body.moments.inertia)
        six = [*np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2]]
        ElementTree.SubElement(node, "inertial", pos=_text(body.moments.center), mass=_text(body.moments.mass),
                               fullinertia=_text(six))  # fmt: skip

    @staticmethod
    def _add_joint(node: ElementTree.Element, joint: ff.Joint) -> None:
        if joint.type == ff.JointType.Fixed:
            return
        if joint.type == ff.JointType.Free:
            ElementTree.SubElement(node, "freejoint", name=joint.name)
            return
        two = joint.type == ff.JointType.Universal
        kind = {ff.JointType.Slide: "slide", ff.JointType.Ball: "ball"}.get(joint.type, "hinge")
        axes = [(joint.axis, joint.range), (joint.axis2, joint.range2)][: 2 if two else 1]
        for k, (axis, limits) in enumerate(axes):
            element = ElementTree.SubElement(node, "joint", name=f"{joint.name}.{k + 1}" if two else joint.name, type=kind,
                                             pos=_text(joint.anchor), damping=_text(joint.damping),
                                             armature=_text(joint.armature), stiffness=_text(joint.stiffness))  # fmt: skip
            if kind != "ball":
                element.set("axis", _text(axis))
                element.set("ref", _text(joint.reference))
                element.set("springref", _text(joint.spring_reference))
            if limits is not None:
                element.set("range", _text([limits.lower, limits.upper]))

    def _add_geoms(self, node: ElementTree.Element, body: int) -> None:
        kinds = {ff.ShapeType.HalfSpace: "plane", ff.ShapeType.Mesh: "mesh"}
        for index, shape in enumerate(self.scene.shapes):
            if shape.body != body:
                continue
            kind = kinds.get(shape.type, shape.type.name.lower())
            geom = ElementTree.SubElement(node, "geom", name=shape.name or f"shape{index}", type=kind,
                                          pos=_text(shape.position), quat=_text(shape.orientation),
                                          rgba=_text(shape.color), friction=_text([shape.friction, 0.005, 0.0001]))  # fmt: skip
            if kind == "mesh":
                geom.set("mesh", f"mesh{shape.mesh}")
            else:
                geom.set("size", _text([10.0, 10.0, 1.0] if kind == "plane" else shape.size))
            geom.set("contype", str(shape.group & 0x7FFFFFFF if shape.collides else 0))
            geom.set("conaffinity", str(shape.collides_with & 0x7FFFFFFF if shape.collides else 0))

    def _add_rest(self, root: ElementTree.Element) -> None:
        contact = ElementTree.SubElement(root, "contact")
        for a, b in self.scene.exclude_contacts:
            ElementTree.SubElement(contact, "exclude", body1=a, body2=b)
        ties = ElementTree.SubElement(root, "equality")
        reference = {joint.name: joint.reference for joint in self.scene.joints}
        for tie in self.scene.ties:
            constant = tie.offset - reference[tie.joint] + tie.ratio * reference[tie.source]
            ElementTree.SubElement(ties, "joint", joint1=tie.joint, joint2=tie.source,
                                   polycoef=_text([constant, tie.ratio, 0.0, 0.0, 0.0]))  # fmt: skip
        drives = ElementTree.SubElement(root, "actuator")
        joints = {joint.name: joint for joint in self.scene.joints}
        for actuator in self.scene.actuators:
            self._add_actuator(drives, actuator, joints[actuator.joint])

    @staticmethod
    def _add_actuator(drives: ElementTree.Element, actuator: ff.Actuator, joint: ff.Joint) -> None:
        if joint.type not in (ff.JointType.Hinge, ff.JointType.Slide):
            raise ValueError(
                f"save_design: actuator '{actuator.name}' on a joint of two or more axes, expected one axis"
            )
        gear = {"gear": _text(actuator.gear[0])} if len(actuator.gear) else {}
        if actuator.type == ff.ActuatorType.Motor:
            ElementTree.SubElement(drives, "motor", name=actuator.name, joint=joint.name, **gear)
            return
        if actuator.position_input:
            ElementTree.SubElement(drives, "general", name=actuator.name, joint=joint.name, gainprm=_text(actuator.kp),
                                   biastype="affine", biasprm=_text([0.0, -actuator.kp, -actuator.kd]), **gear)  # fmt: skip
            if actuator.velocity_input:
                ElementTree.SubElement(drives, "general", name=f"{actuator.name} velocity", joint=joint.name,
                                       gainprm=_text(actuator.kd), **gear)  # fmt: skip
        else:
            ElementTree.SubElement(
                drives, "velocity", name=actuator.name, joint=joint.name, kv=_text(actuator.kd), **gear
            )
