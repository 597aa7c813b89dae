# SPDX-License-Identifier: Apache-2.0
"""Quadruped: a trot up a slope of 15 degrees, and the shape of the feet [SDRS2025, Sec. V-B, Fig. 11].

The start is a trot by inverse kinematics, fitted by four harmonics; sines from nothing find a bounding gait whose gain vanishes at half the time
step. Control is improved first, then once more without and once with the design, so that both have had the same iterations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import farfield as ff
from farfield.engines.mujoco_replay import replay_in_mujoco
from farfield.optimize.codesign import CoDesign, Group, Stage, design_groups, roll_finer
from farfield.optimize.design import Alias, Design, Offset
from farfield.optimize.gait import Gait
from farfield.optimize.lift import Lift
from farfield.optimize.losses import Partials
from farfield.optimize.parameterizations import Combined
from farfield.optimize.points import MassCenter
from farfield.options import option
from farfield.tasks.shapes import ellipsoid
from farfield.tasks.task import Problem, Task

BASE = np.array([0.2, 0.2, 0.08])  # half sizes [m]
UPPER, LOWER, HALF = 0.24, 0.4, 0.024
FOOT = np.array([0.032, 0.032, 0.024])
DENSITY = 300.0
LEGS = {"front left": 0.25, "front right": -0.25, "rear left": 0.75, "rear right": -0.75}  # azimuth in half turns
JOINTS = ("swing", "lift", "knee")
STRIDE, RISE, DUTY = 0.12, 0.05, 0.6  # of the start gait: half stride and lift [m], share of stance
FREQUENCY = 1.0 / 0.6


class DistanceLoss:
    """(x - goal)^2 + drift y^2 of the centre of mass at the last state, and bounce times the variance of its height over time [m^2]."""

    def __init__(self, goal: float, drift: float, bounce: float) -> None:
        self.goal, self.drift, self.bounce = goal, drift, bounce

    def __call__(self, trajectory: ff.Trajectory) -> tuple[float, Partials]:
        center = MassCenter(trajectory, range(1, trajectory.model.num_bodies))
        x, y = center.places[-1, :2]
        height = center.places[:, 2] - center.places[:, 2].mean()
        by = np.zeros(center.places.shape)
        by[:, 2] = 2.0 * self.bounce * height / len(height)
        by[-1, :2] = 2.0 * (x - self.goal), 2.0 * self.drift * y
        value = (x - self.goal) ** 2 + self.drift * y**2 + self.bounce * float((height**2).mean())
        return float(value), center.partials(by)


@dataclass(frozen=True)
class Quadruped(Task):
    """Walk up a slope: a trot and the shape of four equal feet, together."""

    contact: ClassVar[str] = "polyhedral"

    iterations: int = option(30, "optimiser iterations with the design, and as many without", above=0)
    first_iterations: int = option(90, "of control alone before both", above=0)
    frames: int = option(550, "time steps", above=0)
    dt: float = option(0.01, "time step [s]", above=0)
    vertices: int = option(32, "of each of a foot's three hulls", choices=(32, 64, 128, 256))
    slope: float = option(15.0, "of the ground [degrees]", least=0)
    goal: float = option(10.0, "that the loss draws to [m]", above=0)
    drift: float = option(1.0, "weight of the way to the side", least=0)
    bounce: float = option(
        2000.0, "weight of the height's variance: a gait that flies gains nothing at finer steps", least=0
    )
    control_radius: float = option(0.05, "of a control step of the first stage [rad]", above=0)
    refine_radius: float = option(0.01, "of a control step afterwards [rad]", above=0)
    design_radius: float = option(3e-3, "of a design step [m]", above=0)
    limit: float = option(0.024, "of a vertex's way along each axis [m]", above=0)
    range: float = option(8e-3, "of contact [m]", above=0)
    friction: float = option(0.8, "of the feet", above=0)
    noise: float = option(0.005, "of the start gait's amplitudes, drawn from the seed [rad]", least=0)
    mass: str = option("exact", "how mass follows the shape", choices=("exact", "lumped", "fixed"))

    def build(self, seed: int) -> Problem:
        """The start gait is perturbed by the seed."""
        model = ff.build_model(scene(self))
        gait = start_gait(model, self.frames, self.dt)
        names = list(LEGS)
        feet = {leg: [f"{leg} toe {k}" for k in range(3)] for leg in names}
        start = gait.initial()
        start[13:] += self.noise * np.random.default_rng(seed).normal(size=start.size - 13)
        design = Design(
            model,
            Offset(feet[names[0]], limit=self.limit),
            *(Alias(feet[names[0]], feet[leg]) for leg in names[1:]),
            state=posed(model, gait.angles(start, [0.0])[0]),
            lift=Lift.of(model, "base z", 0.5 * self.range),
            mass=self.mass,
        )
        loss = DistanceLoss(self.goal, self.drift, self.bounce)
        groups = control_groups(gait, self.control_radius, 0.35)
        groups += control_groups(gait, self.refine_radius, 0.35, "refine")
        groups.append(design_groups(design, gait.size, radius=self.design_radius, decay=0.1))
        stages = [
            Stage("gait", self.first_iterations, ["control"]),
            Stage("control", self.iterations, ["refine"], after="gait"),
            Stage("codesign", self.iterations, ["refine", "design"], after="gait"),
        ]
        drivers: list[CoDesign] = []

        def driver(objective: Any) -> CoDesign:
            x = np.concatenate([start, design.initial()])
            drivers.append(CoDesign(objective, groups, stages, x=x))
            return drivers[-1]

        return Problem(
            model=model,
            parameters=model.default_parameters(),
            parameterization=Combined(gait, design),
            loss=loss,
            driver=driver,
            success=lambda trajectory: distance(trajectory) > 0.0 and _gain(drivers[-1], 1) >= 0.04,
            report=lambda trajectory: figures(self, drivers[-1], design, trajectory),
            dt=self.dt,
            contact_options={"polyhedral": {"range": self.range}},
            trails=["base"],
        )


def control_groups(gait: Gait, radius: float, limit: float, name: str = "control") -> list[Group]:
    """One group: frequencies step in units of 0.03 Hz beside radians, and every amplitude stays within ``limit`` [rad] of its start's mean."""
    scale = np.ones(gait.size)
    scale[0] = 0.03
    lower, upper = np.full(gait.size, -limit), np.full(gait.size, limit)
    joints = len(gait.positions)
    lower[0], upper[0] = 0.7 * gait.initial()[0], 1.4 * gait.initial()[0]
    mean = gait.initial()[1 : 1 + joints]
    lower[1 : 1 + joints], upper[1 : 1 + joints] = mean - limit, mean + limit
    return [Group(name, 0, gait.size, radius=radius, scale=scale, lower=lower, upper=upper, decay=0.1)]


def distance(trajectory: ff.Trajectory) -> float:
    """Way of the centre of mass up the slope [m]."""
    places = MassCenter(trajectory, range(1, trajectory.model.num_bodies)).places
    return float(places[-1, 0] - places[0, 0])


def flight_share(trajectory: ff.Trajectory, reach: float) -> float:
    """Share of the states in which no hull is within ``reach`` of the ground."""
    vertices = np.asarray(trajectory.parameters.hull_vertices)
    poses, lowest = trajectory.poses(), np.full(len(trajectory.q), np.inf)
    for hull in trajectory.model.hulls:
        q = poses[:, hull.body, 3:]
        w, u = q[:, :1], q[:, 1:]
        # the third row of the rotation matrix
        row = np.stack([2 * (u[:, 0] * u[:, 2] - w[:, 0] * u[:, 1]), 2 * (u[:, 1] * u[:, 2] + w[:, 0] * u[:, 0]),
                        1 - 2 * (u[:, 0] ** 2 + u[:, 1] ** 2)], axis=1)  # fmt: skip
        lowest = np.minimum(lowest, poses[:, hull.body, 2] + (row @ vertices[hull.rows].T).min(axis=1))
    return float((lowest > reach).mean())


def _gain(driver: CoDesign, parts: int) -> float:
    """Of the walk with design over control alone, at 1/parts of the time step; nan when one does not arrive."""
    ways = []
    for stage in ("control", "codesign"):
        motion = roll_finer(driver.objective, driver.inputs_of(stage), parts)
        ways.append(distance(motion) if motion.converged else float("nan"))
    return ways[1] / ways[0] - 1.0


def figures(task: Quadruped, driver: CoDesign, design: Design, trajectory: ff.Trajectory) -> dict[str, Any]:
    """Gain at the time step, at a half and a quarter of it, flight, and the same walk in MuJoCo."""
    if not {"control", "codesign"} <= driver.best.keys():
        return {"figures": {}}
    own = distance(trajectory)
    replay, _ = replay_in_mujoco(driver.objective.model, driver.inputs_of("codesign"), dt=task.dt)
    control, _ = replay_in_mujoco(driver.objective.model, driver.inputs_of("control"), dt=task.dt)
    z = driver.point("codesign")[-design.size :]
    return {
        "figures": {
            "gain": _gain(driver, 1),
            "gain_half_dt": _gain(driver, 2),
            "gain_quarter_dt": _gain(driver, 4),
            "flight_share": flight_share(trajectory, task.range),
            "mujoco_distance_ratio": distance(replay) / own,
            "mujoco_gain": distance(replay) / distance(control) - 1.0,
            "distance_m": own,
        },
        **design.report(z),
    }


def posed(model: ff.Model, angles: np.ndarray) -> ff.State:
    """The default state with the legs at these angles."""
    state = model.default_state()
    q = np.array(state.q)
    names = [f"{leg} {joint}" for leg in LEGS for joint in JOINTS]
    for name, angle in zip(names, angles, strict=True):
        q[model.joint_q(name)] = angle
    return ff.State(q=q, v=state.v)


def leg_angles(azimuth: float, foot: np.ndarray) -> np.ndarray:
    """Swing, lift and knee that put a leg's end at ``foot`` [m], seen from its hip in the base's axes."""
    swing = np.arctan2(foot[1], foot[0]) - azimuth
    swing = (swing + np.pi) % (2.0 * np.pi) - np.pi
    r, down = np.hypot(foot[0], foot[1]), -foot[2]
    # upper link along (cos l, -sin l) in (r, z), lower one along (-sin(l + k), -cos(l + k))
    sine = (r**2 + down**2 - UPPER**2 - LOWER**2) / (-2.0 * UPPER * LOWER)
    knee = np.arcsin(np.clip(sine, -1.0, 1.0))
    lift = np.arctan2(down, r) - np.arctan2(LOWER * np.cos(knee), UPPER - LOWER * np.sin(knee))
    return np.array([swing, lift, knee])


def start_gait(model: ff.Model, frames: int, dt: float) -> Gait:
    """A trot: diagonal legs together, feet on a line in stance, lifted in swing."""
    samples, angles = 120, []
    phase = np.arange(samples) / samples
    for leg, half_turns in LEGS.items():
        azimuth = np.pi * half_turns
        shift = 0.0 if leg in ("front left", "rear right") else 0.5
        p = (phase + shift) % 1.0
        stance = p < DUTY
        s = np.where(stance, p / DUTY, (p - DUTY) / (1.0 - DUTY))
        x = np.where(stance, STRIDE * (1.0 - 2.0 * s), -STRIDE * np.cos(np.pi * s))
        z = np.where(stance, 0.0, RISE * np.sin(np.pi * s) ** 2)
        rest = np.array([UPPER * np.cos(azimuth), UPPER * np.sin(azimuth), -LOWER])
        angles.append([leg_angles(azimuth, rest + np.array([dx, 0.0, dz])) for dx, dz in zip(x, z, strict=True)])
    joints = [f"{leg} {joint}" for leg in LEGS for joint in JOINTS]
    controls = [model.actuator_controls(name) for name in joints]
    base = np.tile(model.default_control(), (frames, 1))
    return Gait.fitted(
        base,
        dt,
        [c.start for c in controls],
        [c.start + 1 for c in controls],
        frequency=FREQUENCY,
        angles=np.concatenate(angles, axis=1),
    )


def scene(task: Quadruped) -> ff.Scene:
    """Gravity is tilted instead of the ground. The base has x, y, z and yaw."""
    tilt = np.radians(task.slope)
    made = ff.Scene(name="quadruped", gravity=9.81 * np.array([-np.sin(tilt), 0.0, -np.cos(tilt)]))
    made.add_shape(0, name="ground", type="HalfSpace", friction=task.friction)
    made.add_mesh(
        name="toe", vertices=(mesh := ellipsoid("toe", FOOT, task.vertices)).vertices, triangles=mesh.triangles
    )
    made.add_body(name="base", position=[0.0, 0.0, LOWER + FOOT[2]])
    for k, axis in enumerate("xyz"):
        made.add_joint("base", name=f"base {axis}", type="slide", axis=np.eye(3)[k])
    made.add_joint("base", name="base yaw", type="hinge", axis=[0.0, 0.0, 1.0])
    made.add_shape(
        "base", name="base", type="box", size=BASE, density=DENSITY, friction=0.0, color=[0.3, 0.34, 0.4, 1.0]
    )
    for leg, half_turns in LEGS.items():
        azimuth = np.pi * half_turns
        corner = [BASE[0] * np.sign(np.cos(azimuth)), BASE[1] * np.sign(np.sin(azimuth)), 0.0]
        turn = [np.cos(0.5 * azimuth), 0.0, 0.0, np.sin(0.5 * azimuth)]
        upper, lower = f"{leg} upper", f"{leg} lower"
        made.add_body(name=upper, parent="base", position=corner, orientation=turn)
        made.add_joint(upper, name=f"{leg} swing", type="hinge", axis=[0.0, 0.0, 1.0])
        made.add_joint(upper, name=f"{leg} lift", type="hinge", axis=[0.0, 1.0, 0.0])
        made.add_shape(upper, name=upper, type="box", size=[0.5 * UPPER, HALF, HALF], position=[0.5 * UPPER, 0.0, 0.0],
                       density=DENSITY, friction=0.0)  # fmt: skip
        made.add_body(name=lower, parent=upper, position=[UPPER, 0.0, 0.0])
        made.add_joint(lower, name=f"{leg} knee", type="hinge", axis=[0.0, 1.0, 0.0])
        made.add_shape(lower, name=lower, type="box", size=[HALF, HALF, 0.5 * LOWER], position=[0.0, 0.0, -0.5 * LOWER],
                       density=DENSITY, friction=task.friction)  # fmt: skip
        for k in range(3):
            around = azimuth + 2.0 * np.pi * k / 3.0
            place = [0.5 * FOOT[0] * np.cos(around), 0.5 * FOOT[0] * np.sin(around), -LOWER]
            made.add_shape(lower, name=f"{leg} toe {k}", type="mesh", mesh="toe", position=place, density=DENSITY,
                           friction=task.friction, keep_vertices=True, color=[0.85, 0.45, 0.2, 1.0])  # fmt: skip
        for joint in JOINTS:
            made.add_actuator(name=f"{leg} {joint}", joint=f"{leg} {joint}", type="pd", kp=100.0, kd=10.0)
    made.dt = task.dt
    return made
