# SPDX-License-Identifier: Apache-2.0
"""Twelve robots that many people know, each in a small scene with contact: does it stand, grasp, catch or land, and is its gradient right?

Files are found in folders that are named and in installed packages; none comes with this project.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import farfield as ff
from farfield.experiments.corpus import Plan, gradient_error, on_floor, place, start_of, step_all, triangles
from farfield.importers import import_file

STEPS, DT = 200, 5e-3
CLOSING = 120  #: steps of the grasp without gravity
FALLEN, SLIPPED = 0.15, 0.01  #: of the robot's size; [m] of a thing that is held
PICTURE = (480, 360)
COLUMNS = 4


@dataclass(frozen=True)
class Entry:
    """One robot: endings of the paths of its file, the first that is there counts, and what it does."""

    name: str
    kind: str
    files: tuple[str, ...]
    act: Callable[[Entry, ff.Scene], Act]
    fingers: tuple[str, str] = ("", "")


@dataclass
class Act:
    """What was done: the motion, a sentence about it, and whether it is what was wanted."""

    model: ff.Model
    motion: ff.Trajectory
    times: list[float]  #: of a step [ms]
    did: str
    good: bool


def stand(entry: Entry, scene: ff.Scene) -> Act:
    """On the floor for a second, its joints held where they start."""
    scene = held(scene)
    model = on_floor(scene)
    state, control = start_of(model)
    control = np.array(control, dtype=float)
    positions = {joint.name: state.q[index] for joint, index in single_coordinates(model)}
    for k, actuator in enumerate(scene.actuators):
        if actuator.name.startswith("hold ") and actuator.joint in positions:
            control[k] = positions[actuator.joint]
    act = roll(model, model.default_parameters(), state, control)
    base = base_body(model)
    poses = act.motion.poses()
    size = float(np.ptp(poses[0, 1:, :3], axis=0).max())
    lowered = float(poses[0, base, 2] - poses[-1, base, 2])
    act.good = abs(lowered) < FALLEN * size
    act.did = f"{'stands' if act.good else 'falls'}: its base is {1e3 * lowered:.0f} mm lower after a second"
    return act


def grasp(entry: Entry, scene: ff.Scene) -> Act:
    """Closes on a box without gravity, then holds it with gravity."""
    bare = ff.build_model(scene)
    state, control = start_of(bare)
    a, b = (bare.body(name) for name in entry.fingers)
    poses = ff.forward_kinematics(bare, bare.default_parameters(), state.q)
    first, second = colliding_points(bare, poses, a), colliding_points(bare, poses, b)
    middle = 0.5 * (centre(first) + centre(second))
    axis = centre(second) - centre(first)
    axis /= np.linalg.norm(axis)
    gap = float((second @ axis).min() - (first @ axis).max())
    if not gap > 0.0:
        raise ValueError(f"fingers '{entry.fingers[0]}' and '{entry.fingers[1]}' leave no room between them")
    half = 0.4 * gap
    made = scene.replace()
    made.add_body(name="thing", position=middle, orientation=turned_to(axis))
    made.add_joint("thing", name="thing", type="Free")
    made.add_shape("thing", name="thing", type="Box", size=[half, min(half, 0.012), min(half, 0.012)], density=400.0,
                   friction=1.0, color=[0.95, 0.57, 0.22, 1.0])  # fmt: skip
    made.keyframes = []
    model = on_floor(made)
    parameters = model.default_parameters()
    weightless = parameters.copy()
    weightless.gravity = np.zeros(3)
    start = model.default_state()
    start.q[: len(state.q)] = state.q  # what was added stands last
    closed = closing_control(bare, state, np.array(control, dtype=float), (a, b))
    before = roll(model, weightless, start, closed, steps=CLOSING)
    after = roll(model, parameters, ff.State(q=before.motion.q[-1], v=before.motion.v[-1]), closed, settle=False)
    thing = model.body("thing")
    relative = after.motion.poses()[:, thing, :3] - after.motion.poses()[:, a, :3]
    slip = float(np.linalg.norm(relative[-1] - relative[0]))
    after.times = before.times + after.times
    after.did, after.good = f"grasps a box and holds it: {1e3 * slip:.1f} mm of slip in a second", slip < SLIPPED
    return after


def catch(entry: Entry, scene: ff.Scene) -> Act:
    """A ball falls on it."""
    bare = ff.build_model(scene)
    state, control = start_of(bare)
    poses = ff.forward_kinematics(bare, bare.default_parameters(), state.q)
    palm = colliding_points(bare, poses, bare.body(entry.fingers[0]))
    size, tip = np.ptp(palm, axis=0).max(), colliding_points(bare, poses, bare.body(entry.fingers[1]))
    radius = 0.3 * size
    low = palm.max(axis=0)[2]
    over = 0.65 * centre(palm) + 0.35 * centre(tip)
    made = scene.replace()
    made.add_body(name="ball", position=[over[0], over[1], low + 1.2 * radius])
    made.add_joint("ball", name="ball", type="Free")
    made.add_shape("ball", name="ball", type="Sphere", size=[radius, 0.0, 0.0], density=200.0, friction=1.0,
                   color=[0.95, 0.57, 0.22, 1.0])  # fmt: skip
    made.keyframes = []
    model = on_floor(made)
    start = model.default_state()
    start.q[: len(state.q)] = state.q
    act = roll(model, model.default_parameters(), start, np.array(control, dtype=float))
    height = float(act.motion.poses()[-1, model.body("ball"), 2] - low)
    act.did, act.good = f"catches a ball: its centre ends {1e3 * height:.0f} mm above the palm", height > 0.0
    return act


def touch(entry: Entry, scene: ff.Scene) -> Act:
    """A ball falls on its highest link and rolls off; the arm holds its pose."""
    bare = ff.build_model(scene)
    poses = ff.forward_kinematics(bare, bare.default_parameters(), start_of(bare)[0].q)
    shapes = [shape for shape in bare.scene.shapes if shape.type.name != "HalfSpace"]
    bodies = {drawable.body for drawable, shape in zip(bare.drawables(), shapes, strict=True) if shape.collides}
    highest = max(bodies - {0}, key=lambda body: colliding_points(bare, poses, body)[:, 2].max())
    name = bare.body_names[highest]
    act = catch(dataclasses.replace(entry, fingers=(name, name)), scene)
    arm = slice(0, bare.num_dofs)
    moved = float(np.abs(act.motion.q[-1][arm] - act.motion.q[0][arm]).max())
    act.did, act.good = f"holds its pose, to {moved:.1g} rad, while a ball rolls off it", moved < 0.05
    return act


def land(entry: Entry, scene: ff.Scene) -> Act:
    """Falls from where it hovers, without thrust."""
    model = on_floor(scene)
    state, control = start_of(model)
    act = roll(model, model.default_parameters(), state, np.zeros(len(control)))
    speed = float(np.linalg.norm(act.motion.v[-1][:3]))
    act.did, act.good = f"lands: {1e3 * speed:.1f} mm/s after a second", speed < 0.01
    return act


ENTRIES = (
    Entry("Franka Panda", "arm", ("franka_emika_panda/panda.xml",), grasp, ("left_finger", "right_finger")),
    Entry("UFACTORY xArm7", "arm", ("ufactory_xarm7/xarm7.xml",), grasp, ("left_finger", "right_finger")),
    Entry(
        "Trossen ViperX 300 S", "arm", ("trossen_vx300s/vx300s.xml",), grasp, ("left_finger_link", "right_finger_link")
    ),
    Entry("SO-ARM100", "arm", ("trs_so_arm100/so_arm100.xml",), touch, ("Fixed_Jaw", "Fixed_Jaw")),
    Entry("Robotiq 2F-85", "gripper", ("robotiq_2f85/2f85.xml",), grasp, ("left_pad", "right_pad")),
    Entry(
        "UMI gripper", "gripper", ("umi_gripper/umi_gripper.xml",), grasp, ("left_finger_holder", "right_finger_holder")
    ),
    Entry("Shadow Hand", "hand", ("shadow_hand/right_hand.xml",), catch, ("rh_palm", "rh_mfdistal")),
    Entry("Allegro Hand", "hand", ("wonik_allegro/right_hand.xml",), catch, ("palm", "mf_tip")),
    Entry("Barkour vB", "quadruped", ("google_barkour_vb/barkour_vb.xml",), stand),
    Entry("Cassie", "biped", ("agility_cassie/cassie.xml",), stand),
    Entry("Humanoid", "humanoid", ("mujoco/assets/humanoid.xml",), stand),
    Entry("Crazyflie 2", "drone", ("bitcraze_crazyflie_2/cf2.xml",), land),
)


def find(entry: Entry, folders: Sequence[Path]) -> Path | None:
    """Its file, below any of the folders."""
    for ending in entry.files:
        for folder in folders:
            found = sorted(path for path in folder.rglob(Path(ending).name) if str(path).endswith("/" + ending))
            if found:
                return found[0]
    return None


def show(entry: Entry, path: Path) -> tuple[dict, Act | None]:
    """The row of one robot, and what it did."""
    row: dict = {"name": entry.name, "kind": entry.kind, "file": "/".join(path.parts[-2:])}
    try:
        imported = import_file(path, collision="auto", repair=True)
        imported.scene.warnings = imported.warnings
        act = entry.act(entry, imported.scene)
    except ValueError as error:
        return row | {"good": False, "did": " ".join(str(error).split())[:300]}, None
    motion = act.motion
    row |= {
        "did": act.did,
        "good": act.good and motion.converged,
        "converged": motion.converged,
        "dofs": act.model.num_dofs,
        "pairs": len(act.model.contact_pairs),
        "triangles": triangles(act.model),
        "median_ms": float(np.median(act.times)),
        "worst_ms": max(act.times),
        "min_gap": motion.min_gap,
    }
    if motion.converged:
        end = ff.State(q=motion.q[-1], v=motion.v[-1])
        row |= gradient_error(act.model, motion.parameters, end, motion.controls[-1], ff.LongRange(), DT)
    return row, act


def roll(
    model: ff.Model,
    parameters: ff.Parameters,
    state: ff.State,
    control: np.ndarray,
    steps: int = STEPS,
    settle: bool = True,
) -> Act:
    """A start, settled unless it is one that goes on, under a constant control, step by step."""
    contact = ff.LongRange()
    if settle:
        state = ff.settle(model, parameters, state, contact).state
    simulation = ff.Simulation(model, parameters, contact=contact, dt=DT, state=state)
    states, reports, times, cuts = [simulation.state], [], [], []
    for measured in step_all(simulation, control, Plan(steps=steps, dt=DT)):
        states.append(simulation.state)
        reports.append(simulation.last_report)
        times.append(measured["last_ms"])
        cuts += simulation.last_cuts
    motion = ff.Trajectory.from_states(
        model, parameters, np.array([one.q for one in states]), np.array([one.v for one in states]),
        np.tile(control, (len(reports), 1)), options=simulation.options, contact=simulation.contact, reports=reports, cuts=cuts,
    )  # fmt: skip
    return Act(model, motion, times, "", False)


def held(scene: ff.Scene) -> ff.Scene:
    """With motors of joints replaced by position controllers, stiff enough for the robot's weight at its size."""
    model = ff.build_model(scene)
    masses = model.default_parameters().moments[:, 0]
    poses = ff.forward_kinematics(model, model.default_parameters(), start_of(model)[0].q)
    stiffness = 10.0 * 9.81 * float(masses.sum()) * float(np.ptp(poses[1:, 2]) or 1.0)
    made = scene.replace()
    made.actuators = [
        ff.Actuator(
            name=f"hold {one.name}", type="Pd", joint=one.joint, kp=stiffness, kd=0.05 * stiffness, velocity_input=False
        )
        if one.type.name == "Motor" and one.joint
        else one
        for one in scene.actuators
    ]
    made.keyframes = [
        key.replace(control=np.zeros(len(made.actuators))) if len(key.control) else key for key in scene.keyframes
    ]
    return made if any(one.name.startswith("hold ") for one in made.actuators) else scene


def single_coordinates(model: ff.Model) -> list[tuple[ff.Joint, int]]:
    """Joints of one coordinate, with its place in q."""
    found, place_in_q = [], 0
    for body in model.scene.bodies:
        for joint in body.joints:
            if joint.type.name in ("Hinge", "Slide"):
                found.append((joint, place_in_q))
            place_in_q += {"Free": 7, "Ball": 4, "Universal": 2}.get(joint.type.name, 1)
    return found


def base_body(model: ff.Model) -> int:
    """The first body with a free joint, or the first."""
    bodies = model.scene.bodies
    return next((k for k, body in enumerate(bodies) if any(j.type.name == "Free" for j in body.joints)), 1)


def colliding_points(model: ff.Model, poses: np.ndarray, body: int) -> np.ndarray:
    """Vertices in the world of what collides on a body."""
    shapes = [shape for shape in model.scene.shapes if shape.type.name != "HalfSpace"]
    points = [
        place(poses[body], np.asarray(drawable.vertices))
        for drawable, shape in zip(model.drawables(), shapes, strict=True)
        if shape.collides and drawable.body == body
    ]
    if not points:
        raise ValueError(f"body '{model.body_names[body]}' has nothing that collides")
    return np.vstack(points)


def centre(points: np.ndarray) -> np.ndarray:
    return 0.5 * (points.min(axis=0) + points.max(axis=0))


def turned_to(axis: np.ndarray) -> list[float]:
    """The quaternion of the shortest rotation that takes x to a unit vector."""
    if axis[0] < -0.999999:
        return [0.0, 0.0, 0.0, 1.0]
    w = 1.0 + axis[0]
    quaternion = np.array([w, 0.0, -axis[2], axis[1]])
    return list(quaternion / np.linalg.norm(quaternion))


def closing_control(model: ff.Model, state: ff.State, control: np.ndarray, fingers: tuple[int, int]) -> np.ndarray:
    """The one control whose end of range brings the fingers together most, at that end; found by trying, without contact or weight."""
    parameters = model.default_parameters()
    parameters.gravity = np.zeros(3)

    def apart(tried: np.ndarray) -> float:
        motion = ff.rollout(model, parameters, state, np.tile(tried, (60, 1)), dt=DT, contact=None)
        poses = motion.poses()[-1]
        return float(
            np.linalg.norm(
                centre(colliding_points(model, poses, fingers[0])) - centre(colliding_points(model, poses, fingers[1]))
            )
        )

    best, closest = control, apart(control)
    for k, actuator in enumerate(model.scene.actuators):
        bounds = actuator.control_range
        for end in (bounds.lower, bounds.upper) if bounds else ():
            tried = control.copy()
            tried[k] = end
            if (distance := apart(tried)) < closest - 1e-4:
                best, closest = tried, distance
    return best


def draw(act: Act, path: Path) -> None:
    """The last state."""
    from farfield.viewer.recording import record
    from farfield.viewer.still import render_png

    recording = record(act.model, act.motion.poses(), dt=DT)
    render_png(recording, path, frames=[act.motion.num_steps], size=PICTURE)


def contact_sheet(pictures: Sequence[Path], path: Path) -> None:
    """All pictures as one, row by row."""
    from PIL import Image

    if not pictures:
        return
    width, height = PICTURE
    sheet = Image.new("RGB", (COLUMNS * width, math.ceil(len(pictures) / COLUMNS) * height), "white")
    for k, picture in enumerate(pictures):
        with Image.open(picture) as image:
            sheet.paste(image, (k % COLUMNS * width, k // COLUMNS * height))
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(path, format="PNG", optimize=True)


def page(rows: Sequence[dict], image: str) -> str:
    """The page of the docs."""
    done = sum(row["good"] for row in rows)
    lines = [
        "# Robots that many people know",
        "",
        f"`farfield gallery --folder DIR` puts {len(ENTRIES)} robots into small scenes with contact, from files that others made (MuJoCo Menagerie, Gymnasium),",
        f"as `farfield simulate` loads them. {done} of {len(rows)} do what they should: {STEPS} steps of {1e3 * DT:g} ms; {sum(row.get('converged', False) for row in rows)} converge in every step, certified free of intersections.",
        "Times are of one thread of a shared machine; the gradient is that of a functional of the state three steps on, by the velocity at the end, against differences.",
        "",
        f"![All of them, in the order of the table]({image})",
        "",
        "| robot | what it does | dofs | pairs | triangles | median ms | worst ms | smallest gap [mm] | gradient |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        if "dofs" not in row:
            lines.append(f"| {row['name']}, {row['kind']} | not done: {row['did']} | | | | | | | |")
            continue
        error = row.get("gradient_error")
        lines.append(
            f"| {row['name']}, {row['kind']} | {row['did']}{'' if row['good'] else ' (not as wanted)'} | {row['dofs']} | {row['pairs']} "
            f"| {row['triangles']:,} | {row['median_ms']:.2g} | {row['worst_ms']:.2g} | {1e3 * row['min_gap']:.2g} "
            f"| {'' if error is None else f'{error:.0e}'} |"
        )
    lines += [
        "",
        "Standing robots hold their joints where they start, with position controllers in place of motors; grippers close on a box without gravity and then hold",
        "it with gravity; hands catch a ball; the drone falls from where it hovers, without thrust.",
        "",
    ]
    return "\n".join(lines)


def options(folders: Sequence[Path]) -> dict:
    return {
        "folders": [str(folder) for folder in folders],
        "steps": STEPS,
        "dt": DT,
        "plan": dataclasses.asdict(Plan()),
    }
