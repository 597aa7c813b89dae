# SPDX-License-Identifier: Apache-2.0
"""The soft-minimum law on the T-push of [SCM2025, Sec. IV-C, Fig. 7]: end poses against MuJoCo's, the tripod, and times of a step.

`tpush`, `tripod`: mean differences over five motions that make and break contact, per time step, integrator and number of points;
`stopped` counts motions that ended with a step that was reported as unstable or too deep. `step_us`: minima over turns in one run, with
MuJoCo's in C and, where it is installed, MJX's on the CPU (wall-clock time, all its threads).
`detection`, `reach`, `by_gradients`, `identification`: what it is for (scm_detection, scm_uses); `second_difference`: jumps of the force.
"""

from __future__ import annotations

import time

import numpy as np

import farfield as ff
from farfield.benchmarks import scm_detection, scm_figures, scm_uses
from farfield.benchmarks.measure import Check, result_hash, take_turns
from farfield.benchmarks.t_push_motions import MOTIONS
from farfield.benchmarks.t_push_mujoco import MujocoPush, targets
from farfield.tasks import t_push

SIDES = {26: (1, False), 34: (1, True), 306: (3, True), 4114: (11, True)}  # points: (per side of a cell, with the top)
COLUMNS = ((2, "rk4", 4114), (8, "rk4", 4114), (16, "rk4", 4114), (2, "rk4", 26), (8, "rk4", 26), (16, "rk4", 26),
           (2, "euler", 4114), (2, "euler", 26), (8, "euler", 26), (15, "rk4", 4114))  # fmt: skip
PAPER = {(2, "rk4", 4114): (1.2, 10.8), (8, "rk4", 4114): (1.3, 12.5), (16, "rk4", 4114): (4.6, 29.4),
         (2, "rk4", 26): (2.1, 6.8), (8, "rk4", 26): (2.4, 11.4), (16, "rk4", 26): (6.3, 26.6),
         (2, "euler", 4114): (6.7, 42.3), (2, "euler", 26): (11.2, 46.2)}  # fmt: skip
TURNS, STEPS = 25, 200
BATCH, BATCH_STEPS = 256, 50
GRADIENT_SECONDS = 60.0  # of processor time for a push by gradients
STEP_BOUNDS = {26: 45.0, 306: 90.0, 4114: 400.0}  # [us]


def end_pose(model: ff.Model, contact: ff.Softmin, motion: dict, dt: float, integrator: str) -> np.ndarray | None:
    """(x, y, yaw) of the T at the end of a motion; None when a step of it was refused or reported."""
    trajectory = ff.rollout(
        model,
        model.default_parameters(),
        model.default_state(),
        targets(motion["via"], dt),
        contact=contact,
        options=ff.StepOptions(dt=dt, integrator=integrator),
    )
    return t_push.pose(np.asarray(trajectory.q)[-1]) if trajectory.converged else None


def compare(
    model: ff.Model, contact: ff.Softmin, references: list[np.ndarray], dt_ms: float, integrator: str, points: int
) -> dict:
    """One row: mean distances of end poses from the references."""
    away, stopped = [], 0
    for motion, reference in zip(MOTIONS, references, strict=True):
        pose = end_pose(model, contact, motion, 1e-3 * dt_ms, integrator)
        if pose is None:
            stopped += 1
            continue
        turn = (pose[2] - reference[2] + np.pi) % (2 * np.pi) - np.pi
        away.append((100.0 * np.linalg.norm(pose[:2] - reference[:2]), abs(np.degrees(turn))))
    mean = np.mean(away, axis=0) if away else (None, None)
    paper = PAPER.get((dt_ms, integrator, points), (None, None))
    return {"dt_ms": dt_ms, "integrator": integrator, "points": points, "position_cm": mean[0], "angle_deg": mean[1],
            "each_cm": [distance for distance, _ in away], "each_deg": [angle for _, angle in away], "stopped": stopped,
            "paper_cm": paper[0], "paper_deg": paper[1]}  # fmt: skip


def pushing(model: ff.Model, points: int, steps: int) -> tuple[ff.Softmin, ff.State, np.ndarray]:
    """A finger that pushes the stem from below, for timing."""
    per_side, top = SIDES[points]
    state = model.default_state()
    q = np.array(state.q)
    q[2], q[8] = 0.0235, t_push.BAR - 3.5 * t_push.CELL - t_push.RADIUS
    controls = np.column_stack([np.zeros(steps), q[8] + 2e-4 * np.arange(steps)])
    return t_push.contact(per_side, top=top), ff.State(q=q, v=state.v), controls


def times(model: ff.Model, progress) -> tuple[dict, dict]:
    """Timings of steps, vjps and MuJoCo, and of a batch on two threads."""
    peers, rolled = {}, {}
    parameters = model.default_parameters()
    for points in STEP_BOUNDS:
        contact, state, controls = pushing(model, points, STEPS)
        for integrator in ("euler", "rk4"):
            options = ff.StepOptions(dt=2e-3, integrator=integrator)

            def roll(contact=contact, state=state, controls=controls, options=options):
                return ff.rollout(model, parameters, state, controls, contact=contact, options=options)

            rolled[points, integrator] = roll()
            peers[f"{integrator} {points}"] = (roll, STEPS)
        motion = rolled[points, "euler"]
        partial = np.zeros((len(motion.q), model.num_dofs))
        partial[-1] = 1.0
        peers[f"vjp {points}"] = (lambda motion=motion, partial=partial: ff.rollout_vjp(motion, dL_dq=partial), STEPS)
    push = MujocoPush()
    via = targets(MOTIONS[0]["via"], push.dt)
    contact_part = via[1150 : 1150 + STEPS]  # finger and T touch
    peers["mujoco euler"] = (push.steps(contact_part), STEPS)
    timings = take_turns(peers, repeats=TURNS, tick=progress("steps", (TURNS + 1) * len(peers)))
    step_us = {name: 1e6 * timing.minimum for name, timing in timings.items()}
    mjx = push.mjx_steps(contact_part)
    if mjx:
        step_us["mjx euler"] = 1e6 / STEPS * min(wall_time(mjx) for _ in range(TURNS + 1))
    return timings, step_us


def wall_time(function) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def batch_rate(model: ff.Model) -> float:
    """Steps per second of many pushes at once on two threads."""
    contact, state, controls = pushing(model, 26, BATCH_STEPS)
    arguments = ([model.default_parameters()], [state] * BATCH, [controls] * BATCH)
    options = ff.StepOptions(dt=2e-3)
    best = min(
        wall_time(lambda: ff.rollout_batch(model, *arguments, contact=contact, threads=2, options=options))
        for _ in range(3)
    )
    return BATCH * BATCH_STEPS / best


def uses(tick) -> tuple[dict, list[Check]]:
    """Detection, reach, a push by gradients and identification, with what must hold of them."""
    seen = scm_detection.numbers()
    tick()
    solved = [scm_uses.push_by_gradients(contact, cpu_seconds=GRADIENT_SECONDS) for contact in ("softmin", "longrange")]
    tick()
    found = scm_uses.identify()
    jumps = scm_figures.all_jumps()
    tick()
    halvings = np.array(jumps["soft minimum"])
    checks = [
        Check("box on box, soft separation off [mm]", abs(seen["box_on_box"]["soft_mm"] + 1.0), "<=", 0.02),
        Check("box on box, supports from corners [mm]", seen["box_on_box"]["support_to_corner_mm"], "<=", 10.0),
        Check("horseshoe, mass on the deeper leg", seen["horseshoe"]["mass_on_the_left"], ">=", 0.82),
        Check("horseshoe, least separation off [mm]", abs(seen["horseshoe"]["least_mm"] + 4.0), "<=", 0.6),
        Check("jump of F'', largest over the one before", float((halvings[1:] / halvings[:-1]).max()), "<=", 0.6),
        Check("jump of F'' at 0.125 mm", float(halvings[-1]), "<=", 0.07),
        Check("push from 5 cm by gradients [mm]", solved[0]["distance_mm"], "<=", 10.0),
        Check("its iterations", solved[0]["iterations"], "<=", 150),
        Check("identification, largest error [%]", 100.0 * found["worst_error"], "<=", 3.0),
    ]
    parts = {"detection": seen, "reach": {"gaps_m": scm_uses.GAPS} | scm_uses.reach(), "by_gradients": solved,
             "identification": found, "second_difference": jumps}  # fmt: skip
    return parts, checks


def run(progress) -> dict:
    model = ff.build_model(t_push.scene())
    tick = progress("motions", len(COLUMNS) + 1)
    boxes, feet = MujocoPush(), MujocoPush(tripod=True)
    references = [boxes.run(targets(motion["via"], boxes.dt))[0][-1] for motion in MOTIONS]
    on_feet = [feet.run(targets(motion["via"], feet.dt))[0][-1] for motion in MOTIONS]
    rows = []
    for dt_ms, integrator, points in COLUMNS:
        per_side, top = SIDES[points]
        rows.append(compare(model, t_push.contact(per_side, top=top), references, dt_ms, integrator, points))
        tick()
    tripod = [
        compare(model, t_push.contact(3, tripod=True), on_feet, 2, "euler", 306),
        compare(model, t_push.contact(3, tripod=True), on_feet, 2, "rk4", 306),
    ]
    tick()
    timings, step_us = times(model, progress)
    rate = batch_rate(model)
    short = [row for row in rows if row["dt_ms"] <= 8]
    near = sum(cm <= 0.5 and deg <= 2.0 for cm, deg in zip(tripod[0]["each_cm"], tripod[0]["each_deg"], strict=True))
    parts, more = uses(progress("uses", 3))
    growth = np.log(step_us["euler 4114"] / step_us["euler 306"]) / np.log(4114 / 306)
    checks = [
        Check("T-push at 2 and 8 ms, worst mean [cm]", max(row["position_cm"] for row in short), "<=", 2.6),
        Check("T-push at 2 and 8 ms, worst mean [deg]", max(row["angle_deg"] for row in short), "<=", 5.0),
        Check("T-push, RK4 at 16 ms and 26 points [cm]", rows[5]["position_cm"], "<=", 3.3),
        Check("T-push, RK4 at 15 ms and 4114 points, motions that stopped", rows[-1]["stopped"], "<=", 0),
        Check("26 against 4114 points at 2 ms [cm]", abs(rows[0]["position_cm"] - rows[3]["position_cm"]), "<=", 0.5),
        Check("tripod, mean [cm]", tripod[0]["position_cm"], "<=", 1.5),
        Check("tripod, motions within 0.5 cm and 2 degrees", near, ">=", 3),
        *(
            Check(f"Euler step, {points} points [us]", step_us[f"euler {points}"], "<=", bound)
            for points, bound in STEP_BOUNDS.items()
        ),
        *(
            Check(f"vjp over step, {points} points", step_us[f"vjp {points}"] / step_us[f"euler {points}"], "<=", 1.5)
            for points in STEP_BOUNDS
        ),
        Check("growth with points, 306 to 4114", growth, "<=", 0.6),
        Check("256 pushes on two threads [steps/s]", rate, ">=", 20000.0),
        *more,
    ]
    return {"timings": timings, "checks": checks, "tpush": rows, "tripod": tripod, "step_us": step_us | {"paper": 900.0},
            "batch_steps_per_second": rate, **parts,
            "hashes": {"end poses": result_hash([[row["position_cm"] or 0.0, row["angle_deg"] or 0.0] for row in rows])}}  # fmt: skip
