# SPDX-License-Identifier: Apache-2.0
"""What a run leaves to look at: the recording with targets, trails and forces, its replay, and the convergence plot."""

from __future__ import annotations

from typing import Any

import numpy as np

import farfield as ff
from farfield.experiments.runs import RunDir
from farfield.optimize.losses import TargetLoss, centers_of_mass
from farfield.optimize.parameterizations import additive_coordinates
from farfield.optional import left_out, pyplot
from farfield.output import atomic_path
from farfield.tasks.task import Problem
from farfield.viewer.recording import FIELD, FORCES, OVERLAYS, Recording, record, save_overlays

ARROW = 0.4  # of a contact force that is usual in the motion [m]
FIELD_EVERY = 10  # frames between two force fields
FIELD_SIDE, FIELD_REACH = 13, 0.9  # points per side of the grid, and its half width around the probe's partner [m]


def write_pictures(
    folder: RunDir, problem: Problem, contact: Any, trajectory: ff.Trajectory, rows: list[dict], *, title: str
) -> Recording:
    """overlays.npz, replay.html and convergence.png of a run; before.png and after.png of one that changed shapes."""
    from farfield.viewer.replay import write_replay

    recording = make_recording(problem, contact, trajectory)
    save_overlays(folder.file(OVERLAYS), recording)
    losses = [float("nan") if row["loss"] is None else row["loss"] for row in rows if "loss" in row]
    with left_out("replay.html"):
        write_replay(folder.file("replay.html"), recording, title=title, loss=losses, hidden=[FIELD])
    with left_out("pictures"):
        draw_design(folder, problem, trajectory)
        plot_convergence(folder.file("convergence.png"), problem, trajectory, rows, title=title)
    return recording


def make_recording(problem: Problem, contact: Any, trajectory: ff.Trajectory) -> Recording:
    """The motion with markers, trails of centres of mass, contact forces and the force field of the probe."""
    model = problem.model
    trails = {}
    if problem.trails:
        centers, _ = centers_of_mass(trajectory, [model.body(name) for name in problem.trails])
        trails = {f"{name} path": centers[:, k] for k, name in enumerate(problem.trails)}
    arrows, legends = {}, {}
    if contact is not None:
        arrows[FORCES], legends[FORCES] = contact_forces(contact, trajectory)
        if problem.probe is not None:
            arrows[FIELD] = force_field(contact, trajectory, problem.probe)
    return record(
        model,
        trajectory.poses(),
        dt=trajectory.dt,
        parameters=trajectory.parameters,
        trails=trails,
        arrows=arrows,
        legends=legends,
        markers=list(problem.markers),
    )


def contact_forces(contact: Any, trajectory: ff.Trajectory) -> tuple[list[np.ndarray], str]:
    """Net contact force on every body but the world at every frame, drawn from its origin, and what the length of its arrows means.

    Arrows grow with the square root of the force: a force as large as is usual in this motion has 0.4 m, none more than twice that.
    """
    model, parameters = trajectory.model, trajectory.parameters
    poses = trajectory.poses()
    if isinstance(contact, ff.Softmin):  # a force law
        states = zip(trajectory.q, trajectory.v, strict=True)
        forces = np.array([contact.forces(model, parameters, q, v).force[1:] for q, v in states])
    else:
        forces = np.array([-contact.evaluate(model, parameters, q).wrench[1:, :3] for q in trajectory.q])
    sizes = np.linalg.norm(forces, axis=2, keepdims=True)
    usual = float(np.median(sizes.max(axis=1)))
    if usual == 0.0:
        return [np.zeros((0, 2, 3)) for _ in poses], "no forces"
    unit = np.divide(forces, sizes, out=np.zeros(forces.shape), where=sizes > 0.0)
    starts = poses[:, 1:, :3]
    lengths = ARROW * np.minimum(np.sqrt(sizes / usual), 2.0)
    legend = f"{ARROW:g} m is {usual:.3g} N; four times the force has twice the length, up to {2 * ARROW:g} m"
    return list(np.stack([starts, starts + lengths * unit], axis=2)), legend


def force_field(contact: Any, trajectory: ff.Trajectory, probe: str) -> list[np.ndarray]:
    """Long-range force that the probe would feel at the points of a horizontal grid around it; arrow lengths are logarithmic.

    Taken every tenth frame and held in between. Points where the probe would touch something are left out.
    """
    model, parameters = trajectory.model, trajectory.parameters
    body = model.body(probe)
    coordinates = additive_coordinates(model)
    joints = [joint.name for joint in model.scene.bodies[body].joints]
    first = model.joint_dofs(joints[0]).start
    columns = [coordinates[first], coordinates[first + 1]]
    others = [k for k in range(1, model.num_bodies) if k != body]
    poses = trajectory.poses()
    line = np.linspace(-FIELD_REACH, FIELD_REACH, FIELD_SIDE)
    grid = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    held, frames = np.zeros((0, 2, 3)), []
    for frame, q in enumerate(trajectory.q):
        if frame % FIELD_EVERY == 0:
            center = poses[frame, others, :2].mean(axis=0) if others else poses[frame, body, :2]
            points = np.column_stack([center + grid, np.full(len(grid), poses[frame, body, 2])])
            held = _field_arrows(contact, model, parameters, q, columns, points - poses[frame, body, :3], points, body)
        frames.append(held)
    return frames


def _field_arrows(contact, model, parameters, q, columns, shifts, points, body) -> np.ndarray:
    forces = np.zeros(points.shape)
    for k, shift in enumerate(shifts):
        moved = np.array(q)
        moved[columns] += shift[:2]
        found = contact.evaluate(model, parameters, moved)
        if np.isfinite(found.energy):
            forces[k] = -found.wrench[body, :3]
    forces[:, 2] = 0.0
    sizes = np.linalg.norm(forces, axis=1, keepdims=True)
    keep = sizes[:, 0] > 0.0
    if not keep.any():
        return np.zeros((0, 2, 3))
    forces, sizes, points = forces[keep], sizes[keep], points[keep]
    decades = np.log10(sizes / sizes.max())
    lengths = 0.13 * np.clip(1.0 + decades / 4.0, 0.15, 1.0)
    return np.stack([points, points + lengths * forces / sizes], axis=1)


def _branches(rows: list[dict]) -> list[tuple[str | None, list[int], str | None]]:
    """Iterations by the stage they belong to, as "control 100" and "control 200" to "control"; one branch without stages."""
    if not any("stage" in row for row in rows):
        return [(None, list(range(len(rows))), "#3474b7")]
    branches: dict[str, list[int]] = {}
    for k, row in enumerate(rows):
        branches.setdefault(str(row.get("stage")).rstrip(" 0123456789"), []).append(k)
    return [(name, chosen, None) for name, chosen in branches.items()]


def draw_design(folder: RunDir, problem: Problem, trajectory: ff.Trajectory) -> None:
    """before.png and after.png of a run that changed shapes: the start pose with the shapes as described, and as found."""
    from farfield.viewer.still import render_png

    described = problem.model.default_parameters()
    if np.array_equal(trajectory.parameters.hull_vertices, described.hull_vertices):
        return
    poses = trajectory.poses()[:1]
    for name, parameters in (("before.png", None), ("after.png", trajectory.parameters)):
        recording = record(problem.model, poses, dt=trajectory.dt, parameters=parameters)
        render_png(recording, folder.file(name), frames=[0])


def plot_convergence(path, problem: Problem, trajectory: ff.Trajectory, rows: list[dict], *, title: str) -> None:
    """Loss and gradient norm over all iterations, and the distance to the target over the motion."""
    plt = pyplot()

    has_distance = isinstance(problem.loss, TargetLoss)
    figure, axes = plt.subplots(
        1, 3 if has_distance else 2, figsize=(14 if has_distance else 10, 4), constrained_layout=True
    )
    for axis, key, label in ((axes[0], "loss", "loss"), (axes[1], "gradient_norm", "gradient norm")):
        values = np.array([np.nan if row.get(key) is None else row[key] for row in rows], dtype=float)
        for label_of, chosen, color in _branches(rows):
            axis.plot(chosen, np.where(values > 0, values, np.nan)[chosen], lw=0.9, color=color, label=label_of)
        if any("stage" in row for row in rows):
            axis.legend(fontsize=8)
        if np.any(values > 0):
            axis.set_yscale("log")
        axis.set(xlabel="optimiser iteration", ylabel=label, title=f"{title}: {label}" if key == "loss" else label)
        axis.grid(alpha=0.3)
    if has_distance:
        time = trajectory.dt * np.arange(len(trajectory.q))
        distances = problem.loss.distances(trajectory)
        for k, name in enumerate(problem.loss.bodies):
            axes[2].plot(time, distances[:, k], label=str(name))
        limits = (0.0, 1.05 * max(distances.max(), 1e-6))
        axes[2].set(xlabel="time [s]", ylabel="distance to the target [m]", title="the motion", ylim=limits)
        axes[2].legend(fontsize=8)
        axes[2].grid(alpha=0.3)
    with atomic_path(path) as temporary:
        figure.savefig(temporary, format="png", dpi=110)
    plt.close(figure)
