# SPDX-License-Identifier: Apache-2.0
"""Collision geometry that fits the purpose: meshes as given, or simpler surfaces with a stated distance from them.

A choice names, for every colliding mesh, what collides in its place; the mesh itself stays as what is drawn, and masses stay as they are:

``mesh``        the triangles as given;
``hull``        the convex hull, which is what MuJoCo collides, cut down outwards to :data:`FEW` triangles;
``hulls``       convex parts of CoACD (:mod:`farfield.convex`), kept on disk by their hash;
``simplified``  a coarser mesh around the original, concave where it is (:meth:`TriangleMesh.enclosing`);
``primitives``  an oriented box around the vertices;
``auto``        the mesh where its body has at most :data:`ENOUGH` triangles; else its hull where that is within :data:`NEAR` of its
                size from it; else simplified where that is possible and the mesh has at most :data:`MANY`; else its hull.

All but ``hulls`` and ``mesh`` enclose the original. Contact, friction and certificates then speak of the chosen geometry.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from farfield._core import Moments, Scene, Shape, ShapeType, TriangleMesh, build_model
from farfield.convex import convex_parts

CHOICES = ("mesh", "hull", "hulls", "simplified", "primitives", "auto")
FEW = 200  #: triangles that hulls and coarser meshes are cut down to
ENOUGH = 1000  #: triangles of a body that need no simplification
NEAR = 0.03  #: of a mesh's size: how far `simplified` may be from it
MANY = 20_000  #: triangles of a mesh that `auto` does not simplify, which would take minutes
PRECISION = 5e-3  #: of a mesh's size: how much too large a stated distance may be


@dataclass(frozen=True)
class Chosen:
    """What collides in place of one mesh."""

    shape: str
    body: str
    choice: str  #: as CHOICES, never "auto"
    before: int  #: triangles
    after: int
    distance: float  #: between the two surfaces at most [m]
    encloses: bool

    def __str__(self) -> str:
        if self.choice == "mesh":
            return f"shape '{self.shape}' of '{self.body}': its own {self.before:,} triangles collide"
        how = {
            "hull": "its convex hull",
            "hulls": "convex parts",
            "simplified": "a coarser mesh around it",
            "primitives": "a primitive around it",
        }[self.choice]
        return (
            f"shape '{self.shape}' of '{self.body}': {how} collides, {self.before:,} -> {self.after:,} triangles, "
            f"at most {1e3 * self.distance:.3g} mm from it"
        )


def choose_collision(scene: Scene, collision: str | Mapping[str, str] = "auto") -> tuple[Scene, list[Chosen]]:
    """The scene with its colliding meshes replaced as chosen, and what was done to each.

    Args:
        scene: With meshes that collide.
        collision: One of CHOICES for all, or a mapping from names of bodies and shapes to choices; a shape's own name
            comes before its body's, and "*" is for all others (default: "mesh").

    Raises:
        ValueError: A choice or a name is unknown, a mesh cannot be simplified as asked, or coacd is missing.
    """
    choice_of = _choices(scene, collision)
    meshes, bodies, together = scene.meshes, scene.bodies, Counter()
    colliding = [(k, s) for k, s in enumerate(scene.shapes) if s.type == ShapeType.Mesh and s.collides]
    for _, shape in colliding:
        together[shape.body] += len(meshes[shape.mesh].triangles)
    out, chosen, added, known = scene.replace(), [], [], {}
    for index, shape in colliding:
        mesh, choice = meshes[shape.mesh], choice_of(shape)
        key = (shape.mesh, choice, together[shape.body])  # robots have the same leg four times
        if key not in known:
            made, parts, ending = _automatic(mesh, key[2]) if choice == "auto" else _make(mesh, choice, shape)
            names = [f"{mesh.name}:{ending}{len(out.meshes)}.{k}" for k in range(len(parts))]
            places = [
                out.add_mesh(name=name, vertices=part.vertices, triangles=part.triangles)
                for name, part in zip(names, parts, strict=True)
                if made != "mesh"
            ]
            known[key] = made, sum(len(part.triangles) for part in parts), _distance(made, parts, mesh), places, ending
        made, after, far, places, ending = known[key]
        chosen.append(
            Chosen(
                shape=shape.name,
                body=bodies[shape.body].name,
                choice=made,
                before=len(mesh.triangles),
                after=after,
                distance=far,
                encloses=made != "hulls",
            )
        )
        if made == "mesh":
            continue
        for k, place in enumerate(places):
            added.append(shape.replace(name=f"{shape.name}:{ending}{k}", mesh=place, color=[0, 0, 0, 0]))
        out.replace_shape(index, collides=False)
    if added:
        out.shapes = [*out.shapes, *added]
        _keep_masses(scene, out)
    return out, chosen


def distance(surface: TriangleMesh, original: TriangleMesh) -> float:
    """Of the farthest point of one surface from another [m]: never too small, too large by at most PRECISION of the size."""
    return surface.distance_to(original, tolerance=PRECISION * size_of(original))


def size_of(mesh: TriangleMesh) -> float:
    """Diagonal of the bounding box [m]."""
    return float(np.linalg.norm(np.ptp(np.asarray(mesh.vertices), axis=0)))


def enclosing_hull(mesh: TriangleMesh, max_triangles: int = FEW) -> TriangleMesh:
    """The convex hull, cut down outwards to at most so many triangles where that is possible."""
    hull = mesh.convex_hull()
    if len(hull.triangles) <= max_triangles or not hull.is_watertight:
        return hull
    return _sound(hull.enclosing(max_triangles=max_triangles, max_distance=NEAR * size_of(mesh))) or hull


def enclosing_box(mesh: TriangleMesh) -> TriangleMesh:
    """An oriented box around the vertices, along their principal axes or the mesh's own, whichever is smaller."""
    points = np.asarray(mesh.vertices)
    centred = points - points.mean(axis=0)
    boxes = []
    for axes in (np.eye(3), np.linalg.svd(centred, full_matrices=False)[2]):
        axes = axes * np.linalg.det(axes)  # right-handed, so that triangles face outwards
        low, high = (points @ axes.T).min(axis=0), (points @ axes.T).max(axis=0)
        boxes.append((float(np.prod(high - low)), axes, low, high))
    _, axes, low, high = min(boxes, key=lambda box: box[0])
    corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    return TriangleMesh(
        name=mesh.name, vertices=corners @ axes, triangles=np.zeros((0, 3), dtype=np.int32)
    ).convex_hull()


def cached_parts(mesh: TriangleMesh) -> list[TriangleMesh]:
    """:func:`farfield.convex.convex_parts`, kept in FARFIELD_CACHE (default ~/.cache/farfield) under the hash of the mesh."""
    digest = hashlib.sha256(np.ascontiguousarray(mesh.vertices).tobytes())
    digest.update(np.ascontiguousarray(mesh.triangles).tobytes())
    folder = Path(os.environ.get("FARFIELD_CACHE", Path.home() / ".cache" / "farfield")) / "hulls"
    file = folder / f"{digest.hexdigest()[:32]}.npz"
    if file.is_file():
        with np.load(file, allow_pickle=False) as stored:
            count = int(stored["count"])
            pairs = [(stored[f"v{k}"], stored[f"t{k}"]) for k in range(count)]
        return [TriangleMesh(name=f"{mesh.name}.{k}", vertices=v, triangles=t) for k, (v, t) in enumerate(pairs)]
    from farfield.output import atomic_path

    parts = convex_parts(mesh)
    arrays = {f"v{k}": part.vertices for k, part in enumerate(parts)}
    arrays |= {f"t{k}": part.triangles for k, part in enumerate(parts)}
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_path(file) as temporary, temporary.open("wb") as stream:
        np.savez_compressed(stream, count=len(parts), **arrays)
    return parts


def _choices(scene: Scene, collision: str | Mapping[str, str]):
    """Shape -> choice."""
    table = {"*": collision} if isinstance(collision, str) else {"*": "mesh", **collision}
    known = {body.name for body in scene.bodies} | {shape.name for shape in scene.shapes} | {"*"}
    for name, choice in table.items():
        if name not in known:
            raise ValueError(f"collision: '{name}' is neither a body nor a shape of the scene; expected one, or '*'")
        if choice not in CHOICES:
            raise ValueError(f"collision of '{name}': '{choice}', expected one of: {', '.join(CHOICES)}")
    return lambda shape: table.get(shape.name, table.get(scene.bodies[shape.body].name, table["*"]))


def _make(mesh: TriangleMesh, choice: str, shape: Shape) -> tuple[str, list[TriangleMesh], str]:
    """What was made, its parts, and the ending of their names."""
    if choice == "mesh":
        return "mesh", [mesh], ""
    if choice == "hull":
        return "hull", [enclosing_hull(mesh)], "hull"
    if choice == "hulls":
        return "hulls", [enclosing_hull(part) for part in cached_parts(mesh)], "hull"
    if choice == "primitives":
        return "primitives", [enclosing_box(mesh)], "box"
    coarse = _simplified(mesh, FEW)
    if coarse is None:
        raise ValueError(
            f"collision 'simplified' of shape '{shape.name}': mesh '{mesh.name}' is not closed or cannot be simplified; "
            "expected a watertight one, or another choice: hull, hulls"
        )
    return "simplified", [coarse], "around"


def _automatic(mesh: TriangleMesh, together: int) -> tuple[str, list[TriangleMesh], str]:
    """`together`: triangles of all colliding meshes of the body, which share what it may have."""
    share = max(20, FEW * len(mesh.triangles) // together)
    if together <= ENOUGH or len(mesh.triangles) <= share:
        return "mesh", [mesh], ""
    hull = enclosing_hull(mesh, share)
    if distance(hull, mesh) <= NEAR * size_of(mesh) or len(mesh.triangles) > MANY:
        return "hull", [hull], "hull"
    coarse = _simplified(mesh, share)
    if coarse is not None and len(coarse.triangles) <= 2 * share:
        return "simplified", [coarse], "around"
    return "hull", [hull], "hull"


def _simplified(mesh: TriangleMesh, max_triangles: int, limit: float = NEAR) -> TriangleMesh | None:
    if not mesh.is_watertight:
        return None
    return _sound(mesh.enclosing(max_triangles=max_triangles, max_distance=limit * size_of(mesh)))


def _sound(mesh: TriangleMesh) -> TriangleMesh | None:
    """The mesh if it may collide, else none."""
    try:
        mesh.validate()
    except ValueError:
        return None
    return mesh


def _distance(made: str, parts: list[TriangleMesh], mesh: TriangleMesh) -> float:
    """Between what collides and the mesh at most; convex parts also cut away, so for them it is that of the mesh from the parts."""
    if made == "mesh":
        return 0.0
    if made != "hulls":
        return max(distance(part, mesh) for part in parts)
    firsts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    union = TriangleMesh(
        name=mesh.name,
        vertices=np.concatenate([part.vertices for part in parts]),
        triangles=np.concatenate([part.triangles + first for part, first in zip(parts, firsts, strict=False)]),
    )
    return distance(mesh, union)


def _keep_masses(scene: Scene, out: Scene) -> None:
    """Bodies whose mass comes from their shapes keep that of the original ones."""
    wanting = [
        index
        for index, body in enumerate(scene.bodies)
        if index > 0 and body.moments is None and any(shape.body == index for shape in scene.shapes)
    ]
    if not wanting:
        return
    moments = build_model(scene.replace(self_contact="None")).default_parameters().moments
    for index in wanting:
        if moments[index, 0] > 0.0:
            out.replace_body(index, moments=Moments.from_vector(moments[index]))
