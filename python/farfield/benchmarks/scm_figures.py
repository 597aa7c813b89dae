# SPDX-License-Identifier: Apache-2.0
"""Figures 4 and 5 of [SCM2025]: zero surfaces of a square over temperature, points and normals; the force between two spheres.

    python -m farfield.benchmarks.scm_figures FOLDER

writes soft_distance.png and soft_spheres.png there and prints what was measured on them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import farfield as ff
from farfield.optional import pyplot

RADII, POINTS = (0.10, 0.05), (400, 100)  # of the spheres [m]
STIFFNESS, TEMPERATURE = 1000.0, 4e-3
CUT = 0.02  # of the line along which jumps are measured [m]


def square(per_side: int, temperature: float, *, flipped: int = -1, corners: bool = False) -> ff.PointCloud:
    """[-1, 1]^2 as points in the plane z = 0; one normal may be flipped, points may be added at the corners."""
    offsets = 2.0 * (np.arange(per_side) + 0.5) / per_side - 1.0
    points, normals = [], []
    for axis in range(2):
        for sign in (-1.0, 1.0):
            for offset in offsets:
                p, n = np.zeros(3), np.zeros(3)
                p[axis], p[1 - axis], n[axis] = sign, offset, sign
                points.append(p)
                normals.append(n)
    if corners:
        for x in (-1.0, 1.0):
            for y in (-1.0, 1.0):
                points.append(np.array([x, y, 0.0]))
                normals.append(np.array([x, y, 0.0]) / np.sqrt(2.0))
    normals = np.array(normals)
    if flipped >= 0:
        normals[flipped] *= -1.0
    return ff.PointCloud(np.array(points), normals, spacing=2.0 / per_side, temperature=temperature)


def zero_radius(cloud: ff.PointCloud, angle: np.ndarray, reach: float) -> np.ndarray:
    """Distance of the zero surface from the middle along directions in the plane: the first change of sign from inside."""
    distance = ff.SoftDistance(cloud)
    along = np.column_stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)])
    radii = np.linspace(1e-3, reach, 2000)
    inside = np.array([distance(along * r) for r in radii]) < 0.0
    return radii[np.argmin(inside, axis=0)]


def hausdorff(cloud: ff.PointCloud, reach: float = 2.0) -> float:
    """Largest distance of the zero surface from the outline of the square, seen from the middle."""
    angle = np.linspace(0.0, 2.0 * np.pi, 361)[:-1]
    radius = zero_radius(cloud, angle, reach)
    x = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    over = np.abs(x) - 1.0
    outside = np.linalg.norm(np.maximum(over, 0.0), axis=1)
    return float(np.where(over.max(1) > 0.0, outside, -over.max(1)).max())


def draw_squares(path: Path) -> dict[str, float]:
    plt = pyplot()

    panels = {
        "eps 0.025": square(4, 0.025),
        "eps 0.5": square(4, 0.5),
        "eps 5": square(4, 5.0),
        "eps 0.5, 32 a side": square(32, 0.5),
        "eps 0.025, one normal flipped": square(4, 0.025, flipped=1),
        "eps 0.025, points at corners": square(4, 0.025, corners=True),
    }
    figure, axes = plt.subplots(2, 3, figsize=(12, 8))
    grid = np.linspace(-3.0, 3.0, 240)
    u, v = np.meshgrid(grid, grid)
    places = np.column_stack([u.ravel(), v.ravel(), np.zeros(u.size)])
    for axis, (title, cloud) in zip(axes.ravel(), panels.items(), strict=True):
        phi = ff.SoftDistance(cloud)(places).reshape(u.shape)
        axis.contourf(u, v, phi, levels=np.linspace(-2, 3, 26), cmap="RdBu_r", extend="both")
        axis.contour(u, v, phi, levels=[0.0], colors="b")
        axis.plot([-1, 1, 1, -1, -1], [-1, -1, 1, 1, -1], "w-", lw=1)
        points, normals = np.asarray(cloud.points), np.asarray(cloud.normals)
        axis.quiver(points[:, 0], points[:, 1], normals[:, 0], normals[:, 1], color="w", width=4e-3)
        axis.set_title(title)
        axis.set_aspect("equal")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)
    return {title: hausdorff(cloud, 3.0) for title, cloud in panels.items() if "flipped" not in title}


def spheres(**options) -> tuple[ff.Model, ff.Softmin]:
    scene = ff.Scene(name="spheres", gravity=[0.0, 0.0, 0.0])
    for name, radius in zip(("large", "small"), RADII, strict=True):
        scene.add_body(name=name, position=[0.0, 0.0 if name == "large" else 0.3, 0.0])
        scene.add_joint(name, name=name, type="Free")
        scene.add_shape(name, name=name, type="Sphere", size=[radius, 0.0, 0.0])
    clouds = {
        name: ff.PointCloud.sphere(r, n, temperature=1.0)
        for name, r, n in zip(("large", "small"), RADII, POINTS, strict=True)
    }
    contact = ff.Softmin(
        newtons_per_metre=STIFFNESS,
        separation_temperature=TEMPERATURE,
        force_temperature=TEMPERATURE,
        clouds=clouds,
        **options,
    )
    return ff.build_model(scene), contact


def soft_force(model: ff.Model, contact: ff.Softmin, places: np.ndarray) -> np.ndarray:
    """Force on the small sphere at places in the plane, shape (n, 2) -> (n, 2)."""
    q, out = np.array(model.default_state().q), np.empty_like(places)
    for k, place in enumerate(places):
        q[7:9] = place
        out[k] = contact.forces(model, model.default_parameters(), q).force[2, :2]
    return out


def mujoco_force(places: np.ndarray) -> np.ndarray:
    """The same in MuJoCo, at rest."""
    import mujoco

    spheres = "".join(
        f'<body name="{name}" pos="0 {place} 0"><freejoint/><geom type="sphere" size="{r}" mass="1"/></body>'
        for name, r, place in (("large", RADII[0], 0.0), ("small", RADII[1], 0.3))
    )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option gravity="0 0 0"/><worldbody>{spheres}</worldbody></mujoco>'
    )
    data, out = mujoco.MjData(model), np.zeros_like(places)
    for k, place in enumerate(places):
        mujoco.mj_resetData(model, data)
        data.qpos[7:9] = place
        mujoco.mj_forward(model, data)
        out[k] = data.qfrc_constraint[6:8]
    return out


def jumps(force) -> list[float]:
    """Largest change of the second difference of the force along x = CUT from one place to the next, over its size, step by half steps."""
    out = []
    for step in 2e-3 * 0.5 ** np.arange(5):
        y = np.arange(0.09, 0.2, step)
        along = force(np.column_stack([np.full_like(y, CUT), y]))[:, 1]
        second = np.diff(along, 2) / step**2
        out.append(float(np.abs(np.diff(second)).max() / np.abs(second).max()))
    return out


def damping_jumps(damping: str) -> list[float]:
    """The same along the speed of approach of the small sphere, 1 cm deep, step by half steps from 8 to 1 mm/s."""
    model, contact = spheres(damping=damping)
    q, v = np.array(model.default_state().q), np.zeros(model.num_dofs)
    q[7:9] = [0.0, RADII[0] + RADII[1] - 0.01]
    out = []
    for step in 8e-3 * 0.5 ** np.arange(4):
        along = []
        for speed in np.arange(-0.3, 1.3, step):
            v[7] = speed
            along.append(contact.forces(model, model.default_parameters(), q, v).force[2, 1])
        second = np.diff(along, 2) / step**2
        out.append(float(np.abs(np.diff(second)).max() / np.abs(second).max()))
    return out


def all_jumps() -> dict[str, list[float]]:
    """Of the force by place, here and in MuJoCo, and by speed with the damping as it is and as printed."""
    model, contact = spheres()
    return {
        "soft minimum": jumps(lambda p: soft_force(model, contact, p)),
        "mujoco": jumps(mujoco_force),
        "damping": damping_jumps("smooth"),
        "damping as printed": damping_jumps("paper"),
    }


def draw_spheres(path: Path) -> None:
    plt = pyplot()

    model, contact = spheres()
    grid = np.linspace(-0.2, 0.2, 61)
    u, v = np.meshgrid(grid, grid)
    places = np.column_stack([u.ravel(), v.ravel()])
    figure, axes = plt.subplots(2, 3, figsize=(12, 7.5))
    for row, (name, force) in enumerate(
        {"soft minimum": soft_force(model, contact, places), "MuJoCo": mujoco_force(places)}.items()
    ):
        shown = {"Fx": force[:, 0], "Fy": force[:, 1], "|F|": np.linalg.norm(force, axis=1)}
        for axis, (title, value) in zip(axes[row], shown.items(), strict=True):
            axis.contourf(u, v, value.reshape(u.shape), levels=30, cmap="viridis" if title == "|F|" else "RdBu_r")
            axis.set_title(f"{name}: {title}")
            axis.set_aspect("equal")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    print(draw_squares(folder / "soft_distance.png"))
    draw_spheres(folder / "soft_spheres.png")
    print(all_jumps())
