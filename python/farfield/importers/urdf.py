# SPDX-License-Identifier: Apache-2.0
"""Prepares a URDF file for the MuJoCo compiler, which by itself drops or does not understand parts of it.

- package:// and relative mesh names become files beside the prepared model, under names that differ;
- Collada and other formats that MuJoCo cannot read are converted, in double precision;
- <mimic> becomes a joint equality, and a limit effort becomes a motor: edits applied after parsing;
- links are not fused and visuals not discarded, so that every link stays a body;
- elements that have no effect are named in warnings.
"""

from __future__ import annotations

import contextlib
import math
import re
import shutil
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import numpy as np

from farfield.importers.declared import check_declared
from farfield.importers.errors import SceneFileError
from farfield.importers.meshes import read_mesh, write_converted
from farfield.importers.report import Report, listed
from farfield.reading import BadFile, read_xml, regular_file

READABLE = {".stl", ".obj", ".msh"}
MOTORIZED = {"revolute", "continuous", "prismatic"}
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
#: Folders above a URDF that may be its package under another name.
PACKAGE_DEPTH = 3
#: Children that are understood, by parent.
KNOWN = {
    "robot": {"link", "joint", "material", "mujoco"},
    "link": {"inertial", "visual", "collision"},
    "joint": {"origin", "parent", "child", "axis", "limit", "mimic", "dynamics"},
    "inertial": {"origin", "mass", "inertia"},
    "visual": {"origin", "geometry", "material"},
    "collision": {"origin", "geometry"},
    "geometry": {"box", "cylinder", "sphere", "capsule", "mesh"},
}


def root_tag(source: Path) -> str:
    """The tag of the root element: "robot" for URDF, "mujoco" for MJCF."""
    root = _parse(source)
    if root.tag not in ("robot", "mujoco"):
        raise SceneFileError(f"{source}: root element <{root.tag}>, expected <mujoco> or <robot>")
    return root.tag


def _parse(source: Path) -> ElementTree.Element:
    """The root element of a regular file that needs no more than a machine has."""
    root, _ = read_xml(regular_file(source))
    check_declared(source, root)
    return root


@contextlib.contextmanager
def prepared(
    source: Path, *, package_dirs: Sequence[str | PathLike[str]], floating_base: bool, report: Report
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yields a file that MuJoCo can compile, in a temporary folder, and the edits to apply to it."""
    robot = _parse(source)
    _check_tree(source, robot)
    if report.repair:
        _repair_numbers(robot, report)
    _drop_unknown_geometry(robot, report)
    edits = {
        "ties": _ties(source, robot, report),
        "motors": _motors(source, robot),
        "massless_visuals": True,
        "floating_base": floating_base,
    }
    _warn_ignored(robot, report)
    _warn_without_mass(robot, report)
    with tempfile.TemporaryDirectory(prefix="farfield-urdf-") as name:
        folder = Path(name)
        local = _localize_meshes(source, robot, folder, [Path(entry).expanduser() for entry in package_dirs], report)
        _set_compiler(robot)
        file = folder / "model.urdf"
        ElementTree.ElementTree(robot).write(file, encoding="utf-8", xml_declaration=True)
        try:
            yield file, edits
        except SceneFileError as error:
            raise SceneFileError(_with_names(str(error), folder, {"model.urdf": str(source), **local})) from error


def _with_names(text: str, folder: Path, files: dict[str, str]) -> str:
    """An error with the user's files in place of those that were made of them."""
    for made in sorted(files, key=len, reverse=True):
        text = text.replace(str(folder / made), files[made]).replace(f"'{made}'", f"'{files[made]}'")
    return text


def _check_tree(source: Path, robot: ElementTree.Element) -> None:
    """Joints join known links into one tree."""
    links = [link.get("name") for link in robot.iterfind("link")]
    if not links:
        raise SceneFileError(f"{source}: no <link>, expected at least one")
    parent_of: dict[str, str] = {}
    for joint in robot.iterfind("joint"):
        place = f"{source}: joint '{joint.get('name')}'"
        ends = {}
        for end in ("parent", "child"):
            element = joint.find(end)
            ends[end] = element.get("link") if element is not None else None
            if ends[end] not in links:
                raise SceneFileError(f"{place}: {end} link '{ends[end]}', expected one of {listed(map(str, links))}")
        if ends["child"] in parent_of:
            raise SceneFileError(f"{place}: link '{ends['child']}' is already the child of another joint")
        parent_of[ends["child"]] = ends["parent"]
    roots = [name for name in links if name not in parent_of]
    if len(roots) > 1:
        raise SceneFileError(f"{source}: links {listed(map(str, roots))} have no parent, expected one such link")
    for name in links:
        above, passed = name, set()
        while above in parent_of:
            if above in passed:
                raise SceneFileError(f"{source}: link '{name}' is its own ancestor, expected a tree")
            passed.add(above)
            above = parent_of[above]


def _number(source: Path, element: ElementTree.Element, attribute: str, default: float, place: str) -> float:
    text = element.get(attribute)
    if text is None:
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise SceneFileError(f"{source}: {place}: {attribute} is '{text}', expected a finite number")
    return value


def _repair_numbers(robot: ElementTree.Element, report: Report) -> None:
    """Vectors of three numbers with too many, too few or strange ones: what can be read of them."""
    for parent in robot.iter():
        for index, child in reversed(list(enumerate(parent))):
            if child.tag == "axis" and any(other.tag == "axis" for other in list(parent)[:index]):
                report.repaired(f"joint '{parent.get('name')}'", "a second <axis>", "the first alone")
                parent.remove(child)
    for element in robot.iter():
        for attribute, count, fill in (("xyz", 3, 0.0), ("rpy", 3, 0.0), ("scale", 3, 1.0), ("size", 3, 0.0)):
            text = element.get(attribute)
            if text is not None and element.tag in ("origin", "axis", "mesh", "box"):
                _set_numbers(element, attribute, _readable_numbers(text), count, fill, report)
        if element.tag in ("limit", "dynamics"):
            for attribute in ("lower", "upper", "effort", "velocity", "damping", "friction"):
                if element.get(attribute) is not None:
                    _set_numbers(element, attribute, _readable_numbers(element.get(attribute, "")), 1, 0.0, report)


def _readable_numbers(text: str) -> list[float]:
    return [float(number) for number in NUMBER.findall(text)]


def _set_numbers(element, attribute: str, numbers: list[float], count: int, fill: float, report: Report) -> None:
    before = element.get(attribute)
    try:
        fine = len([float(word) for word in before.split()]) == count and len(numbers) == count
    except ValueError:
        fine = False
    if fine:
        return
    after = " ".join(f"{number!r}" for number in (numbers + [fill] * count)[:count])
    report.repaired(f"<{element.tag}>: {attribute}", f"'{before}'", f"'{after}'")
    element.set(attribute, after)


def _drop_unknown_geometry(robot: ElementTree.Element, report: Report) -> None:
    """Geometry that no reader knows (for instance an infinite plane) cannot be carried over."""
    for link in robot.iterfind("link"):
        for shape in [*link.iterfind("visual"), *link.iterfind("collision")]:
            geometry = shape.find("geometry")
            kinds = [child.tag for child in geometry] if geometry is not None else []
            if any(kind in KNOWN["geometry"] for kind in kinds):
                continue
            what = f"<{shape.tag}> with {' '.join(f'<{kind}>' for kind in kinds) or 'no geometry'}"
            if shape.tag == "visual":
                report.warn(f"link '{link.get('name')}': {what} is not drawn")
            else:
                report.refuse(f"link '{link.get('name')}'", f"{what}; expected {', '.join(sorted(KNOWN['geometry']))}")
            link.remove(shape)


def _ties(source: Path, robot: ElementTree.Element, report: Report) -> list[dict[str, Any]]:
    """q(joint) = offset + multiplier * q(source); a leader that is fixed stands at 0."""
    names = {joint.get("name"): joint.get("type") for joint in robot.iter("joint")}
    ties = []
    for joint in robot.iterfind("joint"):
        mimic = joint.find("mimic")
        if mimic is None:
            continue
        place = f"joint '{joint.get('name')}': mimic"
        leader = mimic.get("joint")
        if leader not in names:
            if not report.repair and not report.drop:
                raise SceneFileError(
                    f"{source}: {place}: unknown joint '{leader}'; repair=True lets the joint move freely"
                )
            report.repaired(place, f"of the unknown joint '{leader}'", "a joint that moves by itself")
            continue
        if names[leader] == "fixed":
            leader = None
            report.applied(f"{place}: joint '{mimic.get('joint')}' is fixed, so this one is held")
        ties.append(
            {
                "joint": joint.get("name"),
                "source": leader,
                "ratio": _number(source, mimic, "multiplier", 1.0, place),
                "offset": _number(source, mimic, "offset", 0.0, place),
            }
        )
    return ties


def _motors(source: Path, robot: ElementTree.Element) -> list[dict[str, Any]]:
    motors = []
    for joint in robot.iterfind("joint"):
        limit = joint.find("limit")
        if joint.get("type") not in MOTORIZED or limit is None or joint.find("mimic") is not None:
            continue
        effort = _number(source, limit, "effort", 0.0, f"joint '{joint.get('name')}': limit")
        if effort > 0.0:
            motors.append({"joint": joint.get("name"), "effort": effort})
    return motors


def _warn_ignored(robot: ElementTree.Element, report: Report) -> None:
    ignored: dict[str, int] = {}
    for parent in robot.iter():
        known = KNOWN.get(parent.tag)
        if known is None:
            continue
        for child in parent:
            if child.tag not in known:
                ignored[f"<{child.tag}> in <{parent.tag}>"] = ignored.get(f"<{child.tag}> in <{parent.tag}>", 0) + 1
    if ignored:
        report.warn("ignored elements: " + ", ".join(f"{count} {what}" for what, count in ignored.items()))
    fast = [joint.get("name", "") for joint in robot.iterfind("joint") if joint.find("limit[@velocity]") is not None]
    report.warn_elements("joint", fast, "the velocity limit is not applied")


def _warn_without_mass(robot: ElementTree.Element, report: Report) -> None:
    inferred = [
        link.get("name", "")
        for link in robot.iterfind("link")
        if link.find("inertial") is None and link.find("collision") is not None
    ]
    text = "no <inertial>: mass inferred from its collision geometry at 1000 kg/m^3"
    report.warn_elements("link", inferred, text, kind="approximated")


def _set_compiler(robot: ElementTree.Element) -> None:
    extension = robot.find("mujoco")
    if extension is None:
        extension = ElementTree.SubElement(robot, "mujoco")
    compiler = extension.find("compiler")
    if compiler is None:
        compiler = ElementTree.SubElement(extension, "compiler")
    compiler.attrib.pop("meshdir", None)
    compiler.attrib.update({"fusestatic": "false", "discardvisual": "false", "strippath": "false"})


def _localize_meshes(
    source: Path, robot: ElementTree.Element, folder: Path, package_dirs: list[Path], report: Report
) -> dict[str, str]:
    """Copies or converts every mesh into `folder`, one file name per original: these, and the originals. What is only drawn may be missing."""
    local: dict[Path, str] = {}
    undrawn: dict[str, list[str]] = {}
    for link in robot.iterfind("link"):
        for shape in [*link.iterfind("visual"), *link.iterfind("collision")]:
            mesh = shape.find("geometry/mesh")
            if mesh is None:
                continue
            try:
                mesh.set("filename", _local_name(mesh.get("filename", ""), source, folder, package_dirs, local))
            except MissingMesh as error:
                if shape.tag != "visual" or not (report.repair or report.drop or error.empty):
                    advice = "" if shape.tag != "visual" else "; it is only drawn: repair=True leaves it out"
                    raise SceneFileError(f"{source}: link '{link.get('name')}': {error}{advice}") from error
                undrawn.setdefault("no triangles in it" if error.empty else "not found or not readable", []).append(
                    link.get("name", "")
                )
                link.remove(shape)
    for reason, links in undrawn.items():
        report.warn_elements("link", links, f"a mesh that is only drawn is left out: {reason}")
    return {name: str(original) for original, name in local.items()}


class MissingMesh(SceneFileError):
    """A mesh file that cannot be had; `empty`: it is there, without triangles."""

    def __init__(self, text: str, *, empty: bool = False) -> None:
        super().__init__(text)
        self.empty = empty


def _local_name(uri: str, source: Path, folder: Path, package_dirs: list[Path], local: dict[Path, str]) -> str:
    original = resolve(uri, source, package_dirs)
    if original is None:
        searched = listed([str(entry) for entry in (*package_dirs, source.resolve().parent)])
        raise MissingMesh(f"mesh file '{uri}' not found (searched {searched} and above)")
    if original not in local:
        stems = {Path(name).stem for name in local.values()}
        stem = "".join(c if c.isalnum() or c in "-_." else "_" for c in original.stem)
        while stem in stems:
            stem += f"_{len(local)}"
        local[original] = _localize(original, folder, stem)
    return local[original]


def resolve(uri: str, source: Path, package_dirs: Sequence[Path]) -> Path | None:
    """The file behind a mesh name of a URDF: package://, file:// or a path relative to the URDF."""
    parts = urlparse(uri)
    above = [source.resolve().parent, *source.resolve().parent.parents]
    if parts.scheme in ("package", "model"):
        package, rest = unquote(parts.netloc), unquote(parts.path).lstrip("/")
        tries = [folder / package / rest for folder in (*package_dirs, *above)]
        tries += [folder / rest for folder in (*package_dirs, *above) if folder.name == package]
        # a package that was renamed or unpacked without its folder: its own files below the folders next to the URDF
        tries += [folder / rest for folder in (*package_dirs, *above[:PACKAGE_DEPTH])]
    elif parts.scheme == "file":
        tries = [Path(unquote(parts.path))]
    else:
        tries = [source.resolve().parent / uri]
    return next((regular_file(entry).resolve() for entry in tries if entry.exists() and not entry.is_dir()), None)


def _localize(original: Path, folder: Path, stem: str) -> str:
    suffix = original.suffix.lower()
    if suffix == ".obj" and _has_objects(original):
        vertices, triangles = _load_foreign(original)
    elif suffix not in READABLE or (suffix == ".stl" and _is_text_stl(original)):
        vertices, triangles = _load_foreign(original)
    else:
        shutil.copyfile(regular_file(original), folder / (stem + suffix))
        return stem + suffix
    write_converted(folder / f"{stem}.msh", vertices, triangles)
    return f"{stem}.msh"


def _is_text_stl(path: Path) -> bool:
    """Text files start with "solid"; a binary header may too, but its size follows from its triangle count."""
    with path.open("rb") as file:
        head = file.read(84)
    count = int.from_bytes(head[80:84], "little")
    return head.startswith(b"solid") and path.stat().st_size != 84 + 50 * count


def _has_objects(path: Path) -> bool:
    """MuJoCo reads only the first object of a Wavefront file."""
    with path.open(encoding="utf-8", errors="replace") as file:
        return sum(line.startswith(("o ", "g ")) for line in file) > 1


def _load_foreign(path: Path) -> tuple[np.ndarray, np.ndarray]:
    try:
        vertices, triangles = read_mesh(path)
    except BadFile as error:
        raise MissingMesh(str(error)) from error
    if len(triangles) == 0:
        raise MissingMesh(f"{path}: the mesh has no triangles", empty=True)
    return vertices, triangles
