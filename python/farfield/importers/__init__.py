# SPDX-License-Identifier: Apache-2.0
"""Scenes from robot files: MJCF and URDF, through the MuJoCo compiler.

``load_scene(path)`` returns a Scene and a list of warnings. What cannot be carried over is named, element by element:
in an error when forces or constraints would be lost, else in a warning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from farfield._core import Scene
from farfield.importers.errors import SceneFileError
from farfield.importers.report import Note, Report
from farfield.reading import BadFile, blamed_on, read_xml

__all__ = ["Imported", "Note", "SceneFileError", "import_file", "load_scene"]


@dataclass
class Imported:
    """What a file gave: the scene, what was not carried over, and settings that are no part of a scene."""

    scene: Scene
    warnings: list[str]
    notes: list[Note] = field(default_factory=list)  #: the warnings and what was applied beside them, by kind
    options: dict[str, Any] = field(default_factory=dict)  #: "timestep" [s] and "source_path"


def load_scene(path: str | PathLike[str], **options: Any) -> tuple[Scene, list[str]]:
    """The scene of an MJCF or URDF file and the list of warnings; options as in :func:`import_file`."""
    imported = import_file(path, **options)
    return imported.scene, imported.warnings


def import_file(
    path: str | PathLike[str],
    *,
    package_dirs: Sequence[str | PathLike[str]] = (),
    floating_base: bool = False,
    repair: bool = False,
    unsupported: str = "refuse",
    timeout: float = 120.0,
    collision: str | Mapping[str, str] = "mesh",
    self_contact: str = "near",
) -> Imported:
    """Imports an MJCF (``.xml``, ``.mjcf``) or URDF (``.urdf``, or ``.xml`` with a <robot>) file.

    Args:
        path: The file.
        package_dirs: URDF: folders that hold the packages of package:// URIs, searched before those above the file.
        floating_base: URDF: gives the root link a free joint; it is fixed to the world otherwise.
        repair: Masses and inertias that no rigid body has are changed to the nearest ones that a body may have, numbers that are badly
            written are read as far as they make sense, drawn meshes that cannot be read are left out; each change is listed.
        unsupported: "refuse" the file when forces or constraints would be lost, or "drop" such elements, each listed.
        timeout: Longest time for the MuJoCo compiler [s].
        collision: What collides in place of meshes, see :func:`farfield.collision.choose_collision`.
        self_contact: How far the bodies of one tree push each other: 'near', 'all' or 'none'.

    Raises:
        SceneFileError: The file is missing, unreadable, or holds elements that cannot be carried over.
    """
    if unsupported not in ("refuse", "drop"):
        raise ValueError(f"import_file: unsupported = '{unsupported}', expected 'refuse' or 'drop'")
    source = Path(path)
    report = Report(source, repair=repair, drop=unsupported == "drop")
    try:
        with blamed_on(source):
            scene, timestep = _scene(source, report, package_dirs, floating_base, timeout)
    except SceneFileError:
        raise
    except BadFile as error:
        raise SceneFileError(str(error)) from error
    options = {"timestep": timestep, "source_path": str(source)}
    scene.self_contact = self_contact
    scene = _collide(scene, collision, report)
    return Imported(scene=scene, warnings=report.warnings, notes=report.notes, options=options)


def _scene(
    source: Path, report: Report, package_dirs: Sequence[str | PathLike[str]], floating_base: bool, timeout: float
) -> tuple[Scene, float]:
    """The scene of a file and its time step."""
    from farfield.importers import mjcf, urdf
    from farfield.importers.compiler import compile_file

    repair = report.repair
    if urdf.root_tag(source) == "robot":
        with urdf.prepared(source, package_dirs=package_dirs, floating_base=floating_base, report=report) as (
            file,
            edits,
        ):
            model = compile_file(file, source=source, edits=edits, timeout=timeout, repair=repair)
            scene = mjcf.build_scene(model, report)
    else:
        if floating_base:
            raise SceneFileError(f"{source}: floating_base is for URDF; an MJCF file states its own <freejoint/>")
        model = compile_file(source.resolve(), source=source, edits={}, timeout=timeout, repair=repair)
        scene = mjcf.build_scene(model, report)
    timestep = float(model.options["values"]["timestep"])
    if not timestep > 0.0:
        raise SceneFileError(f"{source}: option timestep: {timestep:g}, expected > 0 [s]")
    if model.options["values"]["timestep"] != model.options["defaults"]["timestep"] or _states_timestep(source):
        scene.dt = timestep
        report.applied(f"option timestep: {scene.dt:g} s is the time step of rollouts that name none")
    if not model.name:
        scene.name = source.stem
    return scene, timestep


def _collide(scene: Scene, collision: str | Mapping[str, str], report: Report) -> Scene:
    """The scene with the collision geometry chosen, which the report tells of."""
    from farfield.collision import choose_collision

    if collision == "mesh":
        return scene
    scene, chosen = choose_collision(scene, collision)
    for one in chosen:
        if one.choice != "mesh":
            report.approximated(f"{one} (MuJoCo collides its convex hull)")
    return scene


def _states_timestep(source: Path) -> bool:
    """Whether the file, or one that it includes, gives a time step itself: the compiled model does not tell it from the default."""
    waiting, seen = [source], set()
    while waiting:
        path = waiting.pop()
        if path in seen or not path.is_file():
            continue
        seen.add(path)
        try:
            root, _ = read_xml(path)
        except BadFile:  # more than XML allows, but the compiler took it
            continue
        if any(option.get("timestep") is not None for option in root.iter("option")):
            return True
        waiting += [source.parent / include.get("file", "") for include in root.iter("include")]
    return False
