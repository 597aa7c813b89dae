# SPDX-License-Identifier: Apache-2.0
"""Biped: walk without feedback and not fall, by gait and by the shape of the feet [SDRS2025, Sec. V-C, Figs. 12, 13].

Seven links on a free base; hips, knees and ankles turn about x, so nothing but the feet's shape keeps the machine upright sideways. The horizon grows
from one second to all; control alone and control with design go through the same horizons from the same start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import farfield as ff
from farfield.engines.mujoco_replay import replay_in_mujoco
from farfield.optimize.codesign import CoDesign, Stage, design_groups, roll_finer
from farfield.optimize.design import Design, Mirror, Offset
from farfield.optimize.gait import Gait
from farfield.optimize.lift import Lift
from farfield.optimize.losses import Partials, rotate
from farfield.optimize.parameterizations import Combined
from farfield.optimize.points import MassCenter
from farfield.options import option
from farfield.tasks.quadruped import control_groups
from farfield.tasks.shapes import ellipsoid
from farfield.tasks.task import Problem, Task

LEG, HALF, HIP = 0.4, 0.035, 0.07  # thigh and shin, their half thickness, the hips' offset [m]
TORSO = np.array([0.14, 0.07, 0.2])
TOE = np.array([0.05, 0.048, 0.02])
TOE_PLACES = (-0.03, 0.0, 0.03)
DENSITY = 600.0
CROUCH = 0.25  # [rad]
STRIDE, RISE, DUTY, FREQUENCY = 0.06, 0.03, 0.6, 1.0 / 0.6
SIDES = {"left": 1.0, "right": -1.0}
JOINTS = ("hip", "knee", "ankle")
FALLEN = 0.7  # of the start height of the torso, or a lean of 45 degrees


class FollowLoss:
    """Mean over time of |centre of mass - start - v t|^2 [m^2]."""

    def __init__(self, velocity: np.ndarray) -> None:
        self.velocity = np.array(velocity, dtype=float)

    def __call__(self, trajectory: ff.Trajectory) -> tuple[float, Partials]:
        center = MassCenter(trajectory, range(1, trajectory.model.num_bodies))
        time = trajectory.dt * np.arange(len(center.places))
        offset = center.places - center.places[0] - np.outer(time, self.velocity)
        by = 2.0 * offset / len(offset)
        by[0] -= by.sum(axis=0)
        return float((offset**2).sum() / len(offset)), center.partials(by)


@dataclass(frozen=True)
class Biped(Task):
    """Walk for four seconds without feedback and stay upright: a gait and the shape of two mirrored feet, together."""

    contact: ClassVar[str] = "polyhedral"

    iterations: int = option(25, "optimiser iterations per horizon", above=0)
    frames: int = option(400, "time steps", above=0)
    dt: float = option(0.01, "time step [s]", above=0)
    speed: float = option(0.3, "to walk with [m/s]", above=0)
    vertices: int = option(32, "of each of a foot's three hulls", choices=(32, 64, 128, 256))
    control_radius: float = option(1e-2, "of a control step [rad]", above=0)
    design_radius: float = option(4e-3, "of a design step [m]", above=0)
    limit: float = option(0.03, "of a vertex's way along each axis [m]", above=0)
    range: float = option(6e-3, "of contact [m]", above=0)
    friction: float = option(0.9, "of the feet", above=0)
    noise: float = option(0.002, "of the start gait's amplitudes, drawn from the seed [rad]", least=0)
    mass: str = option("exact", "how mass follows the shape", choices=("exact", "lumped", "fixed"))

    def build(self, seed: int) -> Problem:
        """The start gait is perturbed by the seed."""
        model = ff.build_model(scene(self))
        gait = start_gait(model, self.frames, self.dt)
        start = gait.initial()
        start[7:] += self.noise * np.random.default_rng(seed).normal(size=start.size - 7)
        feet = {side: [f"{side} toe {k}" for k in range(3)] for side in SIDES}
        design = Design(
            model,
            Offset(feet["left"], limit=self.limit),
            Mirror(feet["left"], feet["right"], "x"),
            state=posed(model, gait.angles(start, [0.0])[0]),
            lift=Lift.of(model, "torso", 0.5 * self.range),
            mass=self.mass,
        )
        groups = control_groups(gait, self.control_radius, 0.6)
        groups.append(design_groups(design, gait.size, radius=self.design_radius, decay=0.3))
        stages = []
        for branch, free in (("control", ["control"]), ("codesign", ["control", "design"])):
            before = None
            for steps in horizons(self.frames):
                stages.append(Stage(f"{branch} {steps}", self.iterations, free, after=before, steps=steps))
                before = stages[-1].name
        drivers: list[CoDesign] = []

        def driver(objective: Any) -> CoDesign:
            drivers.append(CoDesign(objective, groups, stages, x=np.concatenate([start, design.initial()])))
            return drivers[-1]

        return Problem(
            model=model,
            parameters=model.default_parameters(),
            parameterization=Combined(gait, design),
            loss=FollowLoss([0.0, self.speed, 0.0]),
            driver=driver,
            success=lambda trajectory: steps_upright(trajectory) == self.frames,
            report=lambda trajectory: figures(self, drivers[-1], design, trajectory),
            dt=self.dt,
            contact_options={"polyhedral": {"range": self.range}},
            trails=["torso"],
        )


def horizons(frames: int) -> list[int]:
    """A quarter of all steps, then more and more."""
    return sorted({max(1, round(frames * share)) for share in (0.25, 0.375, 0.5, 0.75, 1.0)})


def steps_upright(trajectory: ff.Trajectory) -> int:
    """Steps until the torso has sunk or leans too far; all of those taken when it does not."""
    torso = trajectory.poses()[:, trajectory.model.body("torso")]
    up = rotate(torso[:, 3:], np.broadcast_to([0.0, 0.0, 1.0], (len(torso), 3)))[:, 2]
    fallen = np.flatnonzero((torso[:, 2] < FALLEN * torso[0, 2]) | (up < np.sqrt(0.5)))
    return int(fallen[0]) - 1 if fallen.size else trajectory.num_steps


def figures(task: Biped, driver: CoDesign, design: Design, trajectory: ff.Trajectory) -> dict[str, Any]:
    """How long both stay upright, at the time step and finer ones, and in MuJoCo."""
    last = f"codesign {task.frames}"
    if last not in driver.best:
        return {"figures": {}}
    control, codesign = driver.inputs_of(f"control {task.frames}"), driver.inputs_of(last)
    finer = {parts: steps_upright(roll_finer(driver.objective, codesign, parts)) // parts for parts in (2, 4)}
    replay = replay_in_mujoco(driver.objective.model, codesign, dt=task.dt)[0]
    places = MassCenter(trajectory, range(1, trajectory.model.num_bodies)).places
    return {
        "figures": {
            "steps_upright": steps_upright(trajectory),
            "control_only_steps_upright": steps_upright(driver.objective.roll(control)),
            "steps_upright_half_dt": finer[2],
            "steps_upright_quarter_dt": finer[4],
            "control_only_steps_upright_half_dt": steps_upright(roll_finer(driver.objective, control, 2)) // 2,
            "mujoco_steps_upright": steps_upright(replay),
            "distance_m": float(places[-1, 1] - places[0, 1]),
        },
        **design.report(driver.point(last)[-design.size :]),
    }


def posed(model: ff.Model, angles: np.ndarray) -> ff.State:
    """The default state with the legs at these angles."""
    state = model.default_state()
    q = np.array(state.q)
    for name, angle in zip([f"{side} {joint}" for side in SIDES for joint in JOINTS], angles, strict=True):
        q[model.joint_q(name)] = angle
    return ff.State(q=q, v=state.v)


def leg_angles(y: float, z: float) -> list[float]:
    """Hip, knee and ankle about x that put the ankle at (y, z) [m] from the hip, with a level foot and the knee in front."""
    reach = min(np.hypot(y, z), 2.0 * LEG * (1.0 - 1e-9))
    bend = 2.0 * np.arccos(reach / (2.0 * LEG))
    # a turn a about x takes (0, 0, -1) to (0, sin a, -cos a): the thigh leads forward by half the bend
    hip = np.arctan2(y, -z) + 0.5 * bend
    return [hip, -bend, bend - hip]


def start_gait(model: ff.Model, frames: int, dt: float) -> Gait:
    """Feet on a line in stance, lifted in swing, always level; legs half a period apart."""
    samples, angles = 120, []
    phase = np.arange(samples) / samples
    height = -2.0 * LEG * np.cos(CROUCH)
    for side in SIDES:
        p = (phase + (0.0 if side == "left" else 0.5)) % 1.0
        stance = p < DUTY
        s = np.where(stance, p / DUTY, (p - DUTY) / (1.0 - DUTY))
        y = np.where(stance, STRIDE * (1.0 - 2.0 * s), -STRIDE * np.cos(np.pi * s))
        z = np.where(stance, 0.0, RISE * np.sin(np.pi * s) ** 2)
        angles.append([leg_angles(dy, height + dz) for dy, dz in zip(y, z, strict=True)])
    controls = [model.actuator_controls(f"{side} {joint}") for side in SIDES for joint in JOINTS]
    base = np.tile(model.default_control(), (frames, 1))
    return Gait.fitted(
        base,
        dt,
        [c.start for c in controls],
        [c.start + 1 for c in controls],
        frequency=FREQUENCY,
        angles=np.concatenate(angles, axis=1),
    )


def scene(task: Biped) -> ff.Scene:
    """Torso, two thighs, shins and feet; the right foot's meshes are the left one's, mirrored."""
    made = ff.Scene(name="biped")
    made.add_shape(0, name="ground", type="HalfSpace", friction=task.friction)
    toe = ellipsoid("toe", TOE, task.vertices)
    made.add_mesh(name="left toe", vertices=toe.vertices, triangles=toe.triangles)
    made.add_mesh(name="right toe", vertices=np.asarray(toe.vertices) * [-1.0, 1.0, 1.0],
                  triangles=np.asarray(toe.triangles)[:, ::-1])  # fmt: skip
    made.add_body(name="torso", position=[0.0, 0.0, 2.0 * LEG + TOE[2] + 0.01])
    made.add_joint("torso", name="torso", type="free")
    made.add_shape("torso", name="torso", type="box", size=TORSO, position=[0.0, 0.0, TORSO[2]], density=DENSITY,
                   friction=0.0, color=[0.3, 0.34, 0.4, 1.0])  # fmt: skip
    link = {"type": "box", "size": [HALF, HALF, 0.45 * LEG], "position": [0.0, 0.0, -0.5 * LEG]}
    for side, sign in SIDES.items():
        thigh, shin, foot = (f"{side} {part}" for part in ("thigh", "shin", "foot"))
        made.add_body(name=thigh, parent="torso", position=[sign * HIP, 0.0, 0.0])
        made.add_body(name=shin, parent=thigh, position=[0.0, 0.0, -LEG])
        made.add_body(name=foot, parent=shin, position=[0.0, 0.0, -LEG])
        for body, joint in zip((thigh, shin, foot), JOINTS, strict=True):
            made.add_joint(body, name=f"{side} {joint}", type="hinge", axis=[1.0, 0.0, 0.0])
            made.add_actuator(name=f"{side} {joint}", joint=f"{side} {joint}", type="pd", kp=1000.0, kd=100.0)
        for body in (thigh, shin):
            made.add_shape(body, name=body, **link, density=DENSITY, friction=0.0)
        for k, place in enumerate(TOE_PLACES):
            made.add_shape(foot, name=f"{side} toe {k}", type="mesh", mesh=f"{side} toe", position=[0.0, place, 0.0],
                           density=DENSITY, friction=task.friction, keep_vertices=True, color=[0.85, 0.45, 0.2, 1.0])  # fmt: skip
        made.exclude(thigh, foot)
        made.exclude("torso", shin)
    for a in ("thigh", "shin", "foot"):  # legs swing in planes of their own
        for b in ("thigh", "shin", "foot"):
            made.exclude(f"left {a}", f"right {b}")
    made.dt = task.dt
    return made
