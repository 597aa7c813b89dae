# SPDX-License-Identifier: Apache-2.0
"""Convex polyhedra against what is known: twenty planks that stand for a minute, blocks thrown against a wall beside MuJoCo, Coulomb friction.

Planks: as in the benchmark `books`, with a contact range of 0.01 % of their length; a range near the 0.1 % by which they are pulled in
would move the edges they tip over.
Wall: scenes/wall_spin.xml, angles of both blocks about the vertical axis; MuJoCo with its defaults at a time step of 0.5 ms.
Coulomb: a box on a slope (gravity is turned), and a box that is thrown over level ground, on a half-space and on another hull.
"""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np

import farfield as ff
from farfield.benchmarks import books
from farfield.benchmarks.measure import Check, result_hash

SCENE = Path(__file__).resolve().parents[3] / "scenes" / "wall_spin.xml"
GRAVITY = 9.81
PLANK_RANGE, PLANK_DT, PLANK_SLIP = 2e-4, 0.01, 1e-5
WALL_RANGE, WALL_DT, WALL_SECONDS, MUJOCO_DT = 5e-4, 1e-3, 1.5, 5e-4
WALL_STIFFNESS = 0.5
WALL_DEGREES = 10.0  # largest difference of angles, while one block turns by 110 degrees and bounces three times
SLIP_SPEED, DT, SLOPE = 1e-4, 0.01, 0.5


@dataclasses.dataclass
class Standing:
    """What became of a stack that was left alone."""

    stands: bool
    drop: float  #: largest fall of a plank [m]
    drift: float  #: largest way aside [m]
    force_error: float  #: largest relative difference of a plank's vertical contact force from its weight, in the end
    seconds: float
    q: np.ndarray  #: in the end


def planks(
    *, seconds: float = 60.0, reach: float = PLANK_RANGE, pull_in: float = books.PULL_IN, tick=lambda: None
) -> Standing:
    """Lets the stack go with neighbours half the range apart."""
    stack = books.Stack(pull_in=pull_in)
    model = stack.model(0.5 * reach, books.FREE)
    parameters = books.with_friction(model, books.FRICTION)
    contact = ff.Polyhedral(range=reach, slip_speed=PLANK_SLIP)
    state = model.default_state()
    start, done, drop, drift, converged = np.array(state.q), 0.0, 0.0, 0.0, True
    while done < seconds - 1e-9 and drop < books.DROP and converged:
        count = round(min(1.0, seconds - done) / PLANK_DT)
        run = ff.rollout(model, parameters, state, np.zeros((count, 0)), dt=PLANK_DT, contact=contact, tolerance=1e-6)
        moved = (np.asarray(run.q) - start).reshape(len(run.q), -1, 7)
        drop = max(drop, float(-moved[:, :, 2].min()))
        drift = max(drift, float(np.linalg.norm(moved[:, :, :2], axis=2).max()))
        state, converged = run.state(-1), run.converged
        done += PLANK_DT * run.num_steps
        tick()
    upward = -np.asarray(contact.evaluate(model, parameters, state.q).wrench)[1:, 2]
    weight = books.MASS * books.GRAVITY
    return Standing(
        stands=converged and drop < books.DROP,
        drop=drop,
        drift=drift,
        force_error=float(np.abs(upward / weight - 1.0).max()),
        seconds=done,
        q=np.asarray(state.q),
    )


def yaw(q: np.ndarray) -> np.ndarray:
    """Degrees about the vertical axis, per time and body, of free bodies that turn about it alone."""
    poses = np.asarray(q).reshape(len(q), -1, 7)
    return np.degrees(np.unwrap(2.0 * np.arctan2(poses[:, :, 6], poses[:, :, 3]), axis=0))


def wall(
    *, reach: float = WALL_RANGE, dt: float = WALL_DT, seconds: float = WALL_SECONDS
) -> tuple[np.ndarray, np.ndarray]:
    """Times and angles of both blocks [degrees]."""
    model, parameters = ff.load(SCENE)
    state = model.keyframes["spin"][0]
    steps = np.zeros((round(seconds / dt), 0))
    contact = ff.Polyhedral(range=reach, stiffness=WALL_STIFFNESS)
    run = ff.rollout(model, parameters, state, steps, dt=dt, contact=contact, tolerance=1e-7)
    if not run.converged:
        raise RuntimeError(f"bench polyhedra: wall: step {run.num_steps} did not converge")
    return dt * np.arange(len(run.q)), yaw(run.q)


def wall_mujoco(times: np.ndarray, *, time_constant: float = 0.02) -> np.ndarray:
    """The same angles at the given times, from MuJoCo; time_constant: how soft its contact is (solref), its default is 0.02 [s]."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(SCENE))
    model.opt.timestep = MUJOCO_DT
    model.geom_solref[:, 0] = time_constant
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    states = [data.qpos.copy()]
    for _ in range(round(times[-1] / MUJOCO_DT)):
        mujoco.mj_step(model, data)
        states.append(data.qpos.copy())
    every = round((times[1] - times[0]) / MUJOCO_DT)
    return yaw(np.array(states)[::every])


def box_speeds(ground: str, friction: float, *, seconds: float, speed: float = 0.0, slope: float = 0.0) -> np.ndarray:
    """Speeds along the slope, one per step, of a box of 1 kg that has come to rest and is then let go or thrown."""
    angle = math.atan(slope)
    scene = ff.Scene(gravity=[GRAVITY * math.sin(angle), 0.0, -GRAVITY * math.cos(angle)])
    if ground == "half-space":
        scene.add_shape(0, name="ground", type="HalfSpace", friction=0.0)
    else:
        scene.add_shape(0, name="ground", type="Box", size=[6.0, 1.0, 0.1], position=[0, 0, -0.1], friction=0.0)
    scene.add_body(name="box", position=[0.0, 0.0, 0.1 + 5e-4])
    scene.add_joint("box", name="box", type="Free")
    scene.add_shape("box", name="box", type="Box", size=[0.1, 0.1, 0.1], density=125.0, friction=friction)
    model = ff.build_model(scene)
    contact = ff.Polyhedral(range=1e-3, slip_speed=SLIP_SPEED)
    held = model.default_parameters()
    held.friction[:] = 10.0
    state = ff.rollout(model, held, model.default_state(), np.zeros((50, 0)), dt=DT, contact=contact).state(-1)
    v = np.zeros(model.num_dofs)
    v[0] = speed
    steps = np.zeros((round(seconds / DT), 0))
    start = ff.State(q=state.q, v=v)
    run = ff.rollout(model, model.default_parameters(), start, steps, dt=DT, contact=contact, tolerance=1e-8)
    if not run.converged:
        raise RuntimeError(f"bench polyhedra: box on a {ground}: step {run.num_steps} did not converge")
    return np.diff(np.asarray(run.q)[:, 0]) / DT


def coulomb_row(ground: str, friction: float, speed: float = 1.0) -> dict:
    """Way of a thrown box, and whether slopes one percent below and above the coefficient hold and let go."""
    deceleration = friction * GRAVITY
    # implicit Euler ends half a step early
    expected = speed**2 / (2.0 * deceleration) - 0.5 * speed * DT
    way = DT * float(box_speeds(ground, friction, seconds=1.2 * speed / deceleration, speed=speed).sum())
    below, above = 0.99 * friction, 1.01 * friction
    creep = SLIP_SPEED * below / math.sqrt(friction**2 - below**2)
    gain = 0.01 * friction * GRAVITY * math.cos(math.atan(above))
    held = box_speeds(ground, friction, seconds=1.0, slope=below)
    slid = box_speeds(ground, friction, seconds=1.0, slope=above)
    return {
        "ground": ground,
        "friction": friction,
        "way": way,
        "way_over_coulomb": way / expected,
        "creep_below_threshold": float(held[-1]),
        "creep_over_smoothing": float(held[-1]) / creep,
        "acceleration_above_threshold_over_coulomb": float(np.diff(slid[-50:]).mean()) / DT / gain,
    }


def run(progress, *, seconds: float = 60.0, frictions=(0.1, 0.3, 0.5)) -> dict:
    """All three."""
    tick = progress("planks", round(seconds))
    standing = planks(seconds=seconds, tick=tick)
    pulled_out = planks(seconds=min(seconds, 5.0), pull_in=-books.PULL_IN)
    wide = planks(seconds=min(seconds, 5.0), reach=2e-3)
    tick = progress("wall and Coulomb", 1 + 2 * len(frictions))
    times, angles = wall()
    reference = wall_mujoco(times)
    difference = np.abs(angles - reference)
    spread = np.abs(wall_mujoco(times, time_constant=0.005) - reference)
    tick()
    rows = []
    for ground in ("half-space", "hull"):
        for friction in frictions:
            rows.append(coulomb_row(ground, friction))
            tick()
    checks = [
        Check(
            f"planks stand for {seconds:g} s",
            float(standing.stands),
            ">=",
            1.0,
            f"drop {standing.drop:.2g} m, drift {standing.drift:.2g} m",
        ),
        Check("planks: contact force over weight, difference from 1", standing.force_error, "<=", 1e-3),
        Check("planks pulled out by 0.1 % fall", float(not pulled_out.stands), ">=", 1.0),
        Check("wall: largest difference of angles from MuJoCo [degrees]", float(difference.max()), "<=", WALL_DEGREES),
    ]
    worst_way = max(abs(row["way_over_coulomb"] - 1.0) for row in rows)
    worst_gain = max(abs(row["acceleration_above_threshold_over_coulomb"] - 1.0) for row in rows)
    checks += [
        Check("thrown box: way over Coulomb's, difference from 1", worst_way, "<=", 0.02),
        Check("slope 1 % above the threshold: acceleration over Coulomb's, difference from 1", worst_gain, "<=", 0.05),
        Check(
            "slope 1 % below the threshold: creep [m/s]", max(row["creep_below_threshold"] for row in rows), "<=", 1e-3
        ),
    ]
    return {
        "timings": {},
        "checks": checks,
        "hashes": {"angles": result_hash([angles]), "planks": result_hash([standing.q])},
        "rows": rows,
        "planks": {
            "drop": standing.drop,
            "drift": standing.drift,
            "seconds": standing.seconds,
            "stands_at_range_2mm": wide.stands,
        },
        "wall": {
            "largest_difference_degrees": difference.max(axis=0).tolist(),
            "mujoco_softer_or_stiffer_degrees": spread.max(axis=0).tolist(),
            "largest_angles_degrees": np.abs(angles).max(axis=0).tolist(),
        },
    }
