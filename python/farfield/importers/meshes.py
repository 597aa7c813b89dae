# SPDX-License-Identifier: Apache-2.0
"""Triangle meshes of a compiled model, with the vertices of the original files in double precision.

MuJoCo stores float32 vertices, moved to the mesh's principal axes: v_asset = mesh_pos + R(mesh_quat) v. We keep the
asset frame (the file's, after scale and reference pose), so a mesh is what the user gave, and shift the shapes instead:
T_shape = T_geom * T(mesh_pos, mesh_quat)^-1.
"""

from __future__ import annotations

import io
import re
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from farfield import _core
from farfield.importers.compiler import Compiled
from farfield.importers.errors import SceneFileError
from farfield.importers.report import Report
from farfield.importers.rotations import conjugate, quaternion_matrix, quaternion_product
from farfield.optional import needed
from farfield.reading import BadFile, blamed_on, read_arrays, read_bytes, read_xml, regular_file

#: Largest distance between a re-read vertex and MuJoCo's float32 one, as a part of the size of the mesh.
AGREEMENT = 1e-6
#: A longer mesh looks like one in millimetres [m].
LARGEST = 50.0
#: No place of a scene is farther out [m]: numbers are 1e-7 m apart there.
LARGEST_LENGTH = 1e9
#: Bytes in which the header of a mesh file ends.
MOST_HEADER = 1 << 16
#: Smallest area of a triangle, as a part of the squared size of its mesh; a mesh in contact must not have smaller ones.
SMALLEST_AREA = 2e-14
#: Beside a mesh converted for MuJoCo: its vertices and triangles in double precision.
CONVERTED = ".doubles.npz"


@dataclass
class PlacedMesh:
    """A mesh of the scene, and the pose that MuJoCo gave its own copy in the asset frame."""

    index: int
    position: np.ndarray
    orientation: np.ndarray

    def in_body(self, geom_position: np.ndarray, geom_orientation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pose of the asset frame in the body, from the pose of MuJoCo's geom."""
        orientation = quaternion_product(geom_orientation, conjugate(self.orientation))
        return geom_position - quaternion_matrix(orientation) @ self.position, orientation


def add_meshes(scene: _core.Scene, model: Compiled, report: Report) -> dict[tuple[str, int], PlacedMesh]:
    """Adds the meshes and height fields that geoms use; keys are (geom type, data id)."""
    placed: dict[tuple[str, int], PlacedMesh] = {}
    flat: dict[str, int] = {}
    for geom, data in enumerate(model["geom_dataid"]):
        kind = model.enum("mjtGeom", model["geom_type"][geom])
        key = (kind, int(data))
        if key in placed or kind not in ("mesh", "hfield"):
            continue
        if kind == "mesh":
            vertices, triangles = _asset_mesh(model, int(data), report)
            pose = (model["mesh_pos"][data], model["mesh_quat"][data])
        else:
            vertices, triangles = _height_field(model, int(data))
            pose = (np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
        name = model.names[kind][data] or f"{kind}{data}"
        triangles, lost = _with_area(vertices, triangles)
        if lost:
            flat[name] = lost
        index = scene.add_mesh(name=name, vertices=vertices, triangles=triangles)
        placed[key] = PlacedMesh(index, *pose)
    text = f"{sum(flat.values())} triangles of no area in all are left out; the surface is the same"
    report.warn_elements("mesh", flat, text, kind="repaired")
    _question_lengths(scene, report)
    return placed


def _question_lengths(scene: _core.Scene, report: Report) -> None:
    """Robots are metres, not hundreds of metres: such meshes mostly are in millimetres."""
    sizes = {mesh.name: float(np.max(np.ptp(mesh.vertices, axis=0))) for mesh in scene.meshes}
    large = [name for name, size in sizes.items() if size > LARGEST]
    if large:
        text = f'up to {max(sizes.values()):g} m long: are its lengths millimetres? scale="0.001 0.001 0.001" makes them metres'
        report.warn_elements("mesh", large, text, kind="approximated")


def _with_area(vertices: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, int]:
    """The triangles that have an area, and how many have none: the others cover what those cover."""
    corners = vertices[triangles]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    keep = area > SMALLEST_AREA * np.sum(np.ptp(vertices, axis=0) ** 2)
    return triangles[keep], int(np.sum(~keep))


def _asset_mesh(model: Compiled, mesh: int, report: Report) -> tuple[np.ndarray, np.ndarray]:
    begin, count = int(model["mesh_vertadr"][mesh]), int(model["mesh_vertnum"][mesh])
    stored = model["mesh_vert"][begin : begin + count].astype(float)
    begin, count = int(model["mesh_faceadr"][mesh]), int(model["mesh_facenum"][mesh])
    triangles = model["mesh_face"][begin : begin + count].astype(np.int64)
    stored = stored @ quaternion_matrix(model["mesh_quat"][mesh]).T + model["mesh_pos"][mesh]
    corners = stored[triangles]
    source = model.meshes[mesh]
    if source["path"] is None:
        if source["file"]:
            report.warn(
                f"mesh '{source['name']}': file '{source['file']}' not found again; its vertices have float32 precision",
                kind="approximated",
            )
        return weld(corners)
    soup = _to_asset_frame(read_triangles(Path(source["path"])), source)
    original = match_triangles(soup, corners)
    if original is None:
        report.warn(
            f"mesh '{source['name']}': {source['file']} gives other triangles than MuJoCo's reader; "
            "its vertices have float32 precision",
            kind="approximated",
        )
        return weld(corners)
    if len(original) > len(corners):
        report.warn(
            f"mesh '{source['name']}': {source['file']} holds several objects; all {len(original)} triangles are "
            f"imported, while MuJoCo reads the first {len(corners)} (an inferred mass counts only those)",
            kind="approximated",
        )
    return weld(original)


def _to_asset_frame(soup: np.ndarray, source: dict) -> np.ndarray:
    """MuJoCo: v = R(refquat)^T (v - refpos), then scale; a mirroring scale turns the triangles around."""
    soup = (soup - np.asarray(source["refpos"])) @ quaternion_matrix(source["refquat"])
    scale = np.asarray(source["scale"])
    soup = soup * scale
    return soup[:, ::-1] if np.prod(scale) < 0.0 else soup


def match_triangles(soup: np.ndarray, corners: np.ndarray) -> np.ndarray | None:
    """The file's triangles, shape (t, 3, 3), when MuJoCo's are the same, in order, up to float32 rounding; else None.

    A triangle may be turned (start at another corner), and the file may go on after MuJoCo's last triangle: it
    reads only the first object of a Wavefront file.
    """
    count = len(corners)
    if len(soup) < count or count == 0:
        return None
    tolerance = AGREEMENT * np.max(np.abs(corners))
    errors = [np.max(np.abs(np.roll(soup[:count], -turn, axis=1) - corners), axis=(1, 2)) for turn in range(3)]
    return soup if np.max(np.min(errors, axis=0)) <= tolerance else None


def weld(soup: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of a soup, shape (t, 3, 3): equal corners become one vertex, and none moves."""
    points = soup.reshape(-1, 3) + 0.0  # -0.0 becomes 0.0
    _, first, inverse = np.unique(points, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return points[first[order]], rank[inverse.reshape(-1)].reshape(-1, 3)


def read_triangles(path: Path) -> np.ndarray:
    """Triangles of a mesh file as corners, shape (t, 3, 3), in file order and double precision."""
    vertices, faces = read_mesh(path)
    if len(faces) == 0:
        raise SceneFileError(f"{path}: the mesh has no triangles")
    return vertices[faces]


def read_mesh(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of a mesh file, in file order and double precision; the one way in for all formats."""
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise SceneFileError(f"{path}: '{path.suffix}', expected a mesh that ends in {', '.join(FORMATS)}")
    regular_file(path)
    try:
        with blamed_on(path, "not a readable mesh"):
            vertices, faces = FORMATS[suffix](path)
            vertices, faces = np.asarray(vertices, dtype=float), np.asarray(faces, dtype=np.int64)
            _check_mesh(vertices, faces)
    except SceneFileError:
        raise
    except BadFile as error:
        raise SceneFileError(str(error)) from error
    return vertices, faces


def _check_mesh(vertices: np.ndarray, faces: np.ndarray) -> None:
    if len(faces) == 0:
        return
    if vertices.ndim != 2 or vertices.shape[1] != 3 or faces.ndim != 2 or faces.shape[1] != 3:
        raise ValueError(f"vertices {vertices.shape} and triangles {faces.shape}, expected (n, 3) and (m, 3)")
    if not np.isfinite(vertices).all() or np.abs(vertices).max() > LARGEST_LENGTH:
        bad = np.flatnonzero(~(np.abs(vertices) <= LARGEST_LENGTH).all(axis=1))[0]
        raise ValueError(f"vertex {bad + 1} is {vertices[bad]}, expected lengths up to {LARGEST_LENGTH:g} m")
    low, high = int(faces.min()), int(faces.max())
    if low < 0 or high >= len(vertices):
        bad = int(np.flatnonzero(((faces < 0) | (faces >= len(vertices))).any(axis=1))[0])
        raise ValueError(f"triangle {bad + 1} has the corners {faces[bad] + 1}, expected 1 to {len(vertices)}")


def _read_foreign(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """By trimesh, from memory, so that it opens no further file."""
    trimesh = needed("trimesh", extra="meshes")
    suffix, data = path.suffix.lower(), read_bytes(path)
    if suffix == ".dae":
        needed("collada", extra="meshes")
        read_xml(path)
    elif suffix in (".ply", ".off"):
        _check_counts(data[:MOST_HEADER], len(data))
    loaded = trimesh.load(io.BytesIO(data), file_type=suffix[1:], process=False, force="mesh")
    return loaded.vertices, loaded.faces


def _check_counts(head: bytes, size: int) -> None:
    """No file holds more elements than bytes."""
    if head.startswith(b"ply"):
        counts = re.findall(rb"element\s+\w+\s+(\d+)", head.partition(b"end_header")[0])
    else:
        counts = re.findall(rb"^\s*(?:OFF\s+)?(\d+)\s+(\d+)", head, re.MULTILINE)[:1]
        counts = list(counts[0]) if counts else []
    for count in counts:
        if int(count) > size:
            raise ValueError(f"says {int(count):,} elements in {size:,} bytes")


def read_obj(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Positions and triangles of a Wavefront file; polygons are cut into fans, all other data is ignored."""
    vertices, faces = [], []
    for number, line in enumerate(read_bytes(path).decode("utf-8", errors="replace").split("\n"), start=1):
        words = line.split("#", 1)[0].split()
        if not words or words[0] not in ("v", "f"):
            continue
        try:
            if words[0] == "v":
                x, y, z = (float(word) for word in words[1:4])
                vertices.append((x, y, z))
            else:
                corners = [int(word.split("/", 1)[0]) for word in words[1:]]
                corners = [index - 1 if index > 0 else len(vertices) + index for index in corners]
                faces += [(corners[0], corners[k], corners[k + 1]) for k in range(1, len(corners) - 1)]
        except ValueError:
            wanted = "three numbers after v" if words[0] == "v" else "whole numbers after f"
            raise ValueError(f"line {number}: '{line.strip()[:40]}', expected {wanted}") from None
    return np.array(vertices, dtype=float).reshape(-1, 3), np.array(faces, dtype=np.int64).reshape(-1, 3)


def _read_msh(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """MuJoCo's own format: four counts, then float32 positions, normals, texture coordinates and int32 triangles."""
    doubles = path.with_suffix(CONVERTED)
    if doubles.exists():
        stored = read_arrays(doubles)
        return stored["vertices"], stored["triangles"]
    data = path.read_bytes()
    num_vertices, num_normals, num_texcoords, num_faces = struct.unpack_from("<4i", data)
    vertices = np.frombuffer(data, "<f4", 3 * num_vertices, 16).reshape(-1, 3)
    start = 16 + 4 * (3 * num_vertices + 3 * num_normals + 2 * num_texcoords)
    return vertices.astype(float), np.frombuffer(data, "<i4", 3 * num_faces, start).reshape(-1, 3).astype(np.int64)


#: What reads each format.
FORMATS = {
    ".obj": read_obj,
    ".msh": _read_msh,
    ".stl": _read_foreign,
    ".ply": _read_foreign,
    ".off": _read_foreign,
    ".dae": _read_foreign,
}


def write_converted(path: Path, vertices: np.ndarray, triangles: np.ndarray) -> None:
    """A mesh for MuJoCo in its own format, and beside it the same in double precision for ourselves."""
    header = struct.pack("<4i", len(vertices), 0, 0, len(triangles))
    path.write_bytes(header + vertices.astype("<f4").tobytes() + triangles.astype("<i4").tobytes())
    np.savez(path.with_suffix(CONVERTED), vertices=vertices, triangles=triangles)


def _height_field(model: Compiled, field: int) -> tuple[np.ndarray, np.ndarray]:
    """The height field as a closed solid: the surface, four walls, and a flat base at -size[3].

    Each cell is cut along the diagonal from (row, column) to (row + 1, column + 1), as MuJoCo does.
    """
    rows, columns = int(model["hfield_nrow"][field]), int(model["hfield_ncol"][field])
    begin = int(model["hfield_adr"][field])
    half_x, half_y, height, base = model["hfield_size"][field]
    z = model["hfield_data"][begin : begin + rows * columns].astype(float) * height
    x, y = np.meshgrid(np.linspace(-half_x, half_x, columns), np.linspace(-half_y, half_y, rows))
    top = np.column_stack([x.ravel(), y.ravel(), z])
    bottom = np.column_stack([x.ravel(), y.ravel(), np.full(rows * columns, -base)])
    index = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = (part.ravel() for part in (index[:-1, :-1], index[:-1, 1:], index[1:, :-1], index[1:, 1:]))
    surface = np.concatenate([np.column_stack([a, b, d]), np.column_stack([a, d, c])])
    around = np.concatenate(
        [index[0, :-1], index[:-1, -1], index[-1, :0:-1], index[:0:-1, 0]]
    )  # counter-clockwise from above
    following = np.roll(around, -1)
    under = rows * columns
    walls = np.concatenate(
        [
            np.column_stack([around, around + under, following]),
            np.column_stack([following, around + under, following + under]),
        ]
    )
    return np.concatenate([top, bottom]), np.concatenate([surface, surface[:, ::-1] + under, walls])
