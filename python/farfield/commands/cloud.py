# SPDX-License-Identifier: Apache-2.0
"""`farfield cloud FILE`: the point cloud of a mesh, checked, with a picture of its points, normals and zero surface."""

from __future__ import annotations

import argparse
from pathlib import Path

from farfield.optional import pyplot

POLYHEDRAL_BOUND = 1e-3  # share of wrong signs near the surface


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="mesh file (STL, OBJ)")
    parser.add_argument("--spacing", type=float, help="wanted distance of points [m]")
    parser.add_argument("--points", type=int, help="wanted number of points instead; 400 unless given")
    parser.add_argument("--temperature", type=float, default=0.1, help="in squared spacings")
    parser.add_argument("--scale", type=float, default=1.0, help="metres per unit of the file")
    parser.add_argument("--out", metavar="PNG", help="draw points, normals and the zero surface into this file")
    parser.add_argument("--save", metavar="NPZ", help="write points, normals, spacing and temperature to this file")
    parser.add_argument("--json", action="store_true", help="print one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    import numpy as np

    import farfield as ff
    from farfield.importers.meshes import read_triangles, weld
    from farfield.output import dump_json, write_arrays
    from farfield.reading import blamed_on

    vertices, triangles = weld(read_triangles(Path(args.file)))
    vertices = args.scale * np.asarray(vertices, dtype=float)
    if args.spacing is not None and args.points is not None:
        raise ValueError("--spacing and --points, expected one of them")
    for option in ("spacing", "points", "temperature", "scale"):
        value = getattr(args, option)
        if value is not None and not value > 0:
            raise ValueError(f"--{option} {value}, expected > 0")
    corners = vertices[triangles]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum()
    spacing = args.spacing or np.sqrt(area / (args.points or 400))
    with blamed_on(args.file):
        cloud = ff.PointCloud.from_mesh(vertices, triangles, spacing=spacing, temperature=args.temperature)
        errors = cloud.sign_errors(vertices, triangles, samples=5000)
    passed = errors <= POLYHEDRAL_BOUND
    report = {
        "file": args.file,
        "size": np.ptp(vertices, axis=0).tolist(),
        "points": len(cloud),
        "spacing": cloud.spacing,
        "temperature": cloud.temperature,
        "inradius": cloud.inradius,
        "sign_errors": errors,
        "passed": passed,
    }
    if args.save:
        names = ("points", "normals", "spacing", "temperature")
        write_arrays(Path(args.save), {name: getattr(cloud, name) for name in names})
    if args.out:
        draw(cloud, args.out)
    if args.json:
        print(dump_json(report))
    else:
        size = " x ".join(f"{extent:.3g}" for extent in report["size"])
        print(
            f"{args.file}: {size} m (--scale gives metres per unit of the file)\n  {len(cloud)} points {1e3 * cloud.spacing:.3g} mm apart, temperature {cloud.temperature:.3g} m^2\n"
            f"  signs wrong within three spacings: {100 * errors:.3g} % (at most {100 * POLYHEDRAL_BOUND:g} %)"
        )
        if not passed:
            print("  refused: raise --points, or lower --temperature to 0.03")
    return 0 if passed else 1


def draw(cloud, path: str) -> None:
    """Points and normals, and the zero surface in three planes through the middle."""
    import numpy as np

    import farfield as ff

    plt = pyplot()
    points, normals = np.asarray(cloud.points), np.asarray(cloud.normals)
    low, high = points.min(0), points.max(0)
    middle, half = 0.5 * (low + high), 0.65 * (high - low).max()
    distance = ff.SoftDistance(cloud)
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.4))
    for axis, (i, j) in zip(axes, ((0, 1), (0, 2), (1, 2)), strict=True):
        grid = np.linspace(-half, half, 160)
        u, v = np.meshgrid(middle[i] + grid, middle[j] + grid)
        places = np.tile(middle, (u.size, 1))
        places[:, i], places[:, j] = u.ravel(), v.ravel()
        phi = distance(places).reshape(u.shape)
        axis.contourf(u, v, phi, levels=24, cmap="RdBu_r", alpha=0.5)
        axis.contour(u, v, phi, levels=[0.0], colors="tab:blue")
        k = 3 - i - j
        near = np.abs(points[:, k] - middle[k]) < 0.5 * (high - low)[k] * 0.999 + cloud.spacing
        axis.quiver(points[near, i], points[near, j], normals[near, i], normals[near, j], width=2e-3, alpha=0.6)
        axis.plot(points[near, i], points[near, j], "k.", ms=2)
        axis.set_xlabel("xyz"[i] + " [m]")
        axis.set_ylabel("xyz"[j] + " [m]")
        axis.set_aspect("equal")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
