# SPDX-License-Identifier: Apache-2.0
"""Meshes as unions of convex parts, for contact models that see convex hulls only.

The decomposition is made once, offline, by CoACD (the optional package ``coacd``); its parts are meshes of the scene, so they
are stored with the model like any other.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from farfield._core import Moments, Scene, ShapeType, TriangleMesh, build_model
from farfield.optional import needed


def convex_parts(
    mesh: TriangleMesh, *, threshold: float = 0.05, max_parts: int = -1, seed: int = 0
) -> list[TriangleMesh]:
    """Convex parts whose union approximates the mesh.

    Args:
        mesh: The surface.
        threshold: Concavity that is left, 0.01 (many parts) to 1, as CoACD defines it.
        max_parts: At most so many parts; -1 for no limit.
        seed: Of CoACD's tree search.

    Raises:
        ValueError: An option is out of range.
        MissingPackage: The package coacd is not installed.
    """
    if not 0.01 <= threshold <= 1.0:
        raise ValueError(f"convex_parts: threshold {threshold}, expected 0.01 to 1")
    if max_parts == 0 or max_parts < -1:
        raise ValueError(f"convex_parts: max_parts {max_parts}, expected -1 or >= 1")
    coacd = needed("coacd", extra="meshes")
    coacd.set_log_level("error")
    parts = coacd.run_coacd(
        coacd.Mesh(np.asarray(mesh.vertices), np.asarray(mesh.triangles)),
        threshold=threshold,
        max_convex_hull=max_parts,
        seed=seed,
    )
    return [
        TriangleMesh(name=f"{mesh.name}.{k}", vertices=vertices, triangles=np.asarray(triangles, dtype=np.int32))
        for k, (vertices, triangles) in enumerate(parts)
    ]


def decompose(
    scene: Scene, *, shapes: Collection[str] | None = None, threshold: float = 0.05, max_parts: int = -1, seed: int = 0
) -> Scene:
    """The scene with its colliding mesh shapes, or those named, replaced by convex parts; masses stay as they are.

    The original shape remains, drawn but not colliding. Options as in :func:`convex_parts`.
    """
    known = {shape.name for shape in scene.shapes}
    for name in shapes or ():
        if name not in known:
            raise ValueError(f"decompose: shape '{name}' is unknown, expected one of: {', '.join(sorted(known))}")
    moments = build_model(scene).default_parameters().moments
    out = scene.replace()
    for index, body in enumerate(scene.bodies):
        if index > 0 and body.moments is None and moments[index, 0] > 0.0:
            out.replace_body(index, moments=Moments.from_vector(moments[index]))
    for index, shape in enumerate(scene.shapes):
        chosen = shape.name in shapes if shapes is not None else shape.collides
        if shape.type != ShapeType.Mesh or not chosen:
            continue
        parts = convex_parts(scene.meshes[shape.mesh], threshold=threshold, max_parts=max_parts, seed=seed)
        if len(parts) == 1 and shapes is None:
            continue
        for k, part in enumerate(parts):
            mesh = out.add_mesh(name=part.name, vertices=part.vertices, triangles=part.triangles)
            out.shapes = [*out.shapes, shape.replace(name=f"{shape.name}.{k}", mesh=mesh, collides=True)]
        out.replace_shape(index, collides=False)
    return out
