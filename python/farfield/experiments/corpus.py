# SPDX-License-Identifier: Apache-2.0
"""Robots that others made: does each file load, start on a floor and run, how fast, and is its gradient right?

Files are found in installed packages and in folders that are named; none comes with this project. Every robot runs in a process of its
own under a time limit, so that one bad file ends nothing but itself.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

import farfield as ff
from farfield.differences import slope
from farfield.output import dump_json

PACKAGES = ("gymnasium", "dm_control", "robosuite", "example_robot_data", "pybullet_data")
STEPS, DT = 200, 5e-3
GRADIENT_STEPS, GRADIENT_TOLERANCE = 3, 1e-10
SUFFIXES = (".xml", ".urdf", ".mjcf")


@dataclass(frozen=True)
class Plan:
    """What is asked of every robot."""

    steps: int = STEPS
    dt: float = DT  #: [s]
    contact: str = "longrange"
    collision: str = "auto"
    self_contact: str = "near"
    seconds: float = 300.0  #: longest time for one file

    def options(self) -> dict:
        return dataclasses.asdict(self)


def package_folders(names: Sequence[str] = PACKAGES) -> list[Path]:
    """Where the installed ones of these packages keep their files."""
    folders = []
    for name in names:
        if name == "example_robot_data":  # its files stand below share/, with or without a module
            folders += data_folders("example-robot-data", "robots")
        elif (spec := importlib.util.find_spec(name)) is not None:
            folders += [Path(place) for place in spec.submodule_search_locations or ()]
    return folders


def data_folders(distribution: str, name: str) -> list[Path]:
    """Folders of this name that an installed distribution brings, the outermost of each path."""
    try:
        files = importlib.metadata.files(distribution) or ()
    except importlib.metadata.PackageNotFoundError:
        return []
    found = set()
    for file in files:
        if name in file.parts[:-1]:
            above = len(file.parts) - file.parts.index(name) - 2
            found.add(Path(str(file.locate())).parents[above].resolve())
    return sorted(found)


def is_robot(path: Path) -> bool:
    """A file with joints of its own: scenes that only include a robot, and parts that others include, are none."""
    try:
        root = ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, OSError, ValueError):
        return path.suffix == ".urdf"  # unreadable, which is for the row to say
    if root.tag == "robot":
        return any(joint.get("type") not in (None, "fixed") for joint in root.iter("joint"))
    if root.tag != "mujoco":
        return False
    return any(
        joint.tag in ("joint", "freejoint") for world in root.iter("worldbody") for joint in world.iter() if joint.tag
    )


def find_robots(folders: Sequence[Path]) -> list[Path]:
    """All robot files below the folders, each once, sorted."""
    found = {path.resolve() for folder in folders for path in folder.rglob("*") if path.suffix in SUFFIXES}
    return [path for path in sorted(found) if is_robot(path)]


def run_apart(plan: Plan, path: Path) -> dict:
    """The row of one file, made in a process of its own."""
    command = [sys.executable, __file__, str(path), json.dumps(plan.options())]
    row = {"file": str(path), "loaded": False, "started": False, "steps": 0}
    started = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=plan.seconds, check=False)
    except subprocess.TimeoutExpired as stopped:
        # The last row that the process printed says how far it came.
        row |= _last_row(stopped.stdout)
        return row | {"problem": f"not done after {plan.seconds:g} s", "seconds": time.perf_counter() - started}
    last = _last_row(done.stdout)
    if not last:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        last = {"problem": lines[-1][:300]}
    return row | last | {"seconds": time.perf_counter() - started}


def _last_row(output: str | bytes | None) -> dict:
    text = output.decode(errors="replace") if isinstance(output, bytes) else output or ""
    lines = [line for line in text.splitlines() if line.startswith("{")]
    try:
        return json.loads(lines[-1]) if lines else {}
    except ValueError:
        return {}


def examine(plan: Plan, path: Path) -> Iterator[dict]:
    """The row of one file, again and again as it grows: loaded, started, stepped, compared, differentiated."""
    from farfield.contact_models import contact_model

    row: dict = {"file": str(path), "loaded": False, "started": False, "steps": 0}
    try:
        scene = load_scene(plan, path)
        model = on_floor(scene)
    except ValueError as error:
        yield row | {"problem": _one_line(error)}
        return
    parameters, (state, control) = model.default_parameters(), start_of(model)
    row |= {"loaded": True, "dofs": model.num_dofs, "pairs": len(model.contact_pairs), "triangles": triangles(model)}
    yield row
    contact = contact_model(plan.contact)
    try:
        settled = ff.settle(model, parameters, state, contact)
        row["settled_mm"] = max((1e3 * float(np.linalg.norm(move.shift)) for move in settled.moves), default=0.0)
        state = settled.state
        simulation = ff.Simulation(model, parameters, contact=contact, dt=plan.dt, state=state)
        for measured in step_all(simulation, control, plan):
            row |= {"started": True, **measured}
            yield row
    except ValueError as error:
        yield row | {"problem": _one_line(error)}
        return
    row |= mujoco_ms(path, model, parameters, state, control, plan)
    yield row
    if row["status"] == "converged":
        yield row | gradient_error(model, parameters, simulation.state, control, contact, plan.dt)


def load_scene(plan: Plan, path: Path) -> ff.Scene:
    """What `farfield simulate` loads."""
    from farfield.importers import import_file

    imported = import_file(path, collision=plan.collision, self_contact=plan.self_contact, repair=True)
    imported.scene.warnings = imported.warnings
    return imported.scene


def on_floor(scene: ff.Scene) -> ff.Model:
    """The model, with a floor just below the lowest point of its start when the scene has none."""
    model = ff.build_model(scene)
    if model.half_spaces():
        return model
    poses = ff.forward_kinematics(model, model.default_parameters(), start_of(model)[0].q)
    lowest, size = np.inf, 0.0
    for drawable, shape in zip(model.drawables(), scene.shapes, strict=True):
        if not shape.collides:
            continue
        points = place(poses[drawable.body], np.asarray(drawable.vertices))
        lowest, size = min(lowest, points[:, 2].min()), max(size, np.ptp(points, axis=0).max())
    if not np.isfinite(lowest):
        return model
    floor = scene.replace()
    floor.add_shape("world", name="corpus floor", type="HalfSpace", position=[0.0, 0.0, lowest - 0.01 * size])
    return ff.build_model(floor)


def place(pose: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points of a body in the world; pose: position and quaternion."""
    w, xyz = pose[3], np.asarray(pose[4:])
    turned = points + 2.0 * np.cross(xyz, np.cross(xyz, points) + w * points)
    return turned + pose[:3]


def start_of(model: ff.Model) -> tuple[ff.State, np.ndarray]:
    """The file's first keyframe, or its own pose."""
    if model.keyframes:
        return next(iter(model.keyframes.values()))
    return model.default_state(), model.default_control()


def triangles(model: ff.Model) -> int:
    """That collide."""
    shapes = [shape for shape in model.scene.shapes if shape.type.name != "HalfSpace"]
    return sum(len(d.triangles) for d, shape in zip(model.drawables(), shapes, strict=True) if shape.collides)


def step_all(simulation: ff.Simulation, control: np.ndarray, plan: Plan) -> Iterator[dict]:
    """Steps done so far with their times: CPU time of this thread, which others on the machine do not lengthen."""
    times: list[float] = []
    while len(times) < plan.steps:
        begun = time.thread_time()
        report = simulation.step(control)
        times.append(1e3 * (time.thread_time() - begun))
        stopped = report.status != "converged"
        yield {
            "status": report.status,
            "steps": len(times) - stopped,
            "last_ms": times[-1],
            "median_ms": float(np.median(times)),
            "worst_ms": max(times),
            "min_gap": min(report.min_gap, simulation.last_report.min_gap),
        }
        if stopped:
            return


def mujoco_ms(path: Path, model, parameters, state, control, plan: Plan) -> dict:
    """MuJoCo's time for a step of the same scene, whose meshes it collides as convex hulls; where that cannot be made, of the file
    itself, without our floor (``mujoco_of``); none where it does not read the file either."""
    import mujoco

    from farfield.engines.mujoco_scene import translate

    try:
        peer = translate(model, parameters, dt=plan.dt, substeps=1)
    except ValueError as error:
        row = {"mujoco_of": "file", "mujoco_problem": _one_line(error)}
        try:
            peer_model = mujoco.MjModel.from_xml_path(str(path))
        except ValueError:
            return row | {"mujoco_ms": None}
        peer_model.opt.timestep = plan.dt
        data = mujoco.MjData(peer_model)
        if peer_model.nkey:
            mujoco.mj_resetDataKeyframe(peer_model, data, 0)
    else:
        row, peer_model = {"mujoco_of": "scene"}, peer.model
        data = mujoco.MjData(peer_model)
        peer.set_state(data, state)
        data.ctrl[:] = np.asarray(control)[peer.control]
    times = []
    for _ in range(plan.steps):
        begun = time.thread_time()
        mujoco.mj_step(peer_model, data)
        times.append(1e3 * (time.thread_time() - begun))
    return row | {"mujoco_ms": float(np.median(times))}


def gradient_error(model, parameters, state, control, contact, dt: float) -> dict:
    """Relative error, against differences, of a seeded functional of the state after a few steps from where the run ended, by the
    velocity at the start."""
    random = np.random.default_rng(0)
    weights_q, weights_v = random.standard_normal(model.num_dofs), random.standard_normal(model.num_dofs)
    direction = keep_ties(model, random.standard_normal(model.num_dofs))
    controls = np.tile(np.asarray(control, dtype=float), (GRADIENT_STEPS, 1))

    def roll(v) -> ff.Trajectory:
        start = ff.State(q=state.q, v=v)
        return ff.rollout(model, parameters, start, controls, dt=dt, contact=contact, tolerance=GRADIENT_TOLERANCE)

    def loss(h: float) -> float:
        motion = roll(np.asarray(state.v) + h * direction)
        if not motion.converged:
            return float("nan")
        return float(ff.difference(model, reference, motion.q[-1]) @ weights_q + motion.v[-1] @ weights_v)

    try:
        motion = roll(np.asarray(state.v))
        reference = motion.q[-1].copy()
        q_partials, v_partials = np.zeros_like(motion.v), np.zeros_like(motion.v)
        q_partials[-1], v_partials[-1] = weights_q, weights_v
        analytic = float(ff.rollout_vjp(motion, dL_dq=q_partials, dL_dv=v_partials).v0 @ direction)
        found = slope(loss, [10.0 ** (-k / 2) for k in range(4, 13)])
    except ValueError as error:
        return {"gradient_error": None, "gradient_problem": _one_line(error)}
    return {
        "gradient_error": found.relative_error(analytic),
        "gradient_noise": abs(found.noise) / max(abs(found.value), 1e-300),
    }


def keep_ties(model, direction: np.ndarray) -> np.ndarray:
    """The velocities with those of tied joints as their sources say, along chains of ties."""
    direction = direction.copy()
    for _ in model.scene.ties:
        for tie in model.scene.ties:
            direction[model.joint_dofs(tie.joint)] = tie.ratio * direction[model.joint_dofs(tie.source)]
    return direction


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:400]


def summarize(rows: Sequence[dict]) -> dict:
    """How many came how far, and how fast those ran that went through."""
    through = [row for row in rows if row.get("status") == "converged"]
    return {
        "files": len(rows),
        "loaded": sum(row["loaded"] for row in rows),
        "started": sum(row["started"] for row in rows),
        "ran": len(through),
        "median_within_20_ms": sum(row["median_ms"] <= 20.0 for row in through),
        "worst_within_100_ms": sum(row["worst_ms"] <= 100.0 for row in through),
        "gradient_within_1e-5": sum((row.get("gradient_error") or 1.0) <= 1e-5 for row in through),
    }


if __name__ == "__main__":  # of run_apart: a row of the file on every line, the last one complete
    for grown in examine(Plan(**json.loads(sys.argv[2])), Path(sys.argv[1])):
        print(dump_json(grown), flush=True)
