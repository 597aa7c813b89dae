# SPDX-License-Identifier: Apache-2.0
"""Gather-bunny [LongRange2026, A.6.4]: what a frame of planning costs with the long-range model, with all pairs of triangles, with IPC.

A frame is what the paper counts: 60 iterations of a window of 32 steps with their gradient, all ten bunnies in the scene. Ten bunnies of
250 triangles and a rod that goes for the nearest of them; every model starts from the same settled state. The rival runs at its best: the
stiffness of contact at which IPC is fastest, found in another scene, printed and kept.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

import farfield as ff
from farfield.benchmarks.measure import Check, Timing, result_hash, take_turns
from farfield.experiments.tuning import STIFFNESSES
from farfield.options import option
from farfield.tasks.gather_bunny import GatherBunny

BOX = 12  # triangles of the rod
WINDOW, ITERATIONS = 32, 60  # of the paper's frame
PAPER = {"longrange": 3.89, "ipc": 3.14, "brute": 309.62}  # seconds per frame
SETTLING = 25  # steps at rest
SPEED = 1.0  # of the rod's targets [m/s]


@dataclass(frozen=True)
class Options:
    """What is timed."""

    steps: int = option(12, "of the rollouts of the long-range model and IPC", above=0)
    brute_steps: int = option(2, "of the rollout with all pairs of triangles; 0: none", least=0)
    repeats: int = option(2, "timings of each", above=0)
    shape: str = option("bunny", "of the objects", choices=("bunny", "trefoil"))
    sweep_steps: int = option(
        4, "of IPC at each stiffness, in another scene; the fastest is timed; 0: no sweep", least=0
    )


class Start:
    """A scene at rest, and the way from its rod to the nearest object."""

    def __init__(self, task: GatherBunny, seed: int) -> None:
        self.task, self.problem = task, task.build(seed)
        model = self.problem.model
        contact, parameters = self.problem.contact("longrange")
        rest = np.tile(model.default_control(), (SETTLING, 1))
        settled = ff.rollout(model, parameters, model.default_state(), rest, dt=task.dt, contact=contact)
        if not settled.converged:
            raise RuntimeError("bench bunnies: the start does not settle")
        self.state = ff.State(q=settled.q[-1], v=np.zeros(model.num_dofs))
        places = np.array([self.state.q[model.joint_q(name)][:2] for name in self.problem.loss.bodies])
        nearest = places[np.argmin(np.linalg.norm(places, axis=1))]
        self.way = nearest / np.linalg.norm(nearest)

    def work(self, name: str, steps: int, **options) -> tuple[ff.Trajectory, ff.RolloutGradient]:
        """A rollout towards the nearest object with a contact model and its options, and its gradient."""
        model, task = self.problem.model, self.task
        contact, parameters = self.problem.contact(name, **options)
        controls = np.tile(model.default_control(), (steps, 1))
        controls[:, :2] += SPEED * task.dt * np.arange(1, steps + 1)[:, None] * self.way
        motion = ff.rollout(
            model, parameters, self.state, controls, dt=task.dt, contact=contact, tolerance=task.tolerance
        )
        if not motion.converged:
            raise RuntimeError(f"bench bunnies: a step ended with '{motion.reports[-1].status}'")
        _, partials = self.problem.loss(motion)
        return motion, ff.rollout_vjp(motion, dL_dpose=partials.by_pose)


def sweep(task: GatherBunny, steps: int, tick) -> list[dict]:
    """CPU of a step of IPC at every stiffness, in a scene that is not the one reported; None where a step fails."""
    start, found = Start(task, 1), []
    for stiffness in STIFFNESSES:
        began = time.process_time()
        try:
            start.work("ipc", steps, stiffness=stiffness)
            spent = 1e3 * (time.process_time() - began) / steps
        except RuntimeError:
            spent = None
        found.append({"stiffness": stiffness, "step_ms": spent})
        tick()
    return found


def run(progress, options: Options | None = None) -> dict:
    """Seconds of CPU per step with its gradient and per frame, beside the paper's. IPC runs at the stiffness that is fastest for it."""
    options = Options() if options is None else options
    task = GatherBunny(shape=options.shape)
    tried = []
    if options.sweep_steps > 0:
        tried = sweep(task, options.sweep_steps, progress("stiffness of IPC", len(STIFFNESSES)))
    reached = [each for each in tried if each["step_ms"] is not None]
    best = min(reached, key=lambda each: each["step_ms"])["stiffness"] if reached else 1.0
    start = Start(task, 0)
    settings = {
        "longrange": ("longrange", options.steps, {}),
        "ipc": ("ipc", options.steps, {"stiffness": best}),
        "brute": ("longrange", options.brute_steps, {"brute_force": True}),
    }
    tick = progress("bunnies", options.repeats + 1)
    peers = {
        name: (lambda k=kind, n=steps, o=own: start.work(k, n, **o), steps)
        for name, (kind, steps, own) in settings.items()
        if steps > 0
    }
    timings = take_turns(peers, repeats=options.repeats, tick=tick)
    motion, gradient = start.work("longrange", options.steps)
    rows = [row(name, timing, settings[name][2].get("stiffness", 1.0)) for name, timing in timings.items()]
    per_step = {name: timing.minimum for name, timing in timings.items()}
    checks = [Check("long range / IPC", per_step["longrange"] / per_step["ipc"], "<=", 2.0, "paper: 1.24")]
    if "brute" in per_step:
        ratio = per_step["brute"] / per_step["longrange"]
        checks.append(Check("brute force / long range", ratio, ">=", 80.0, "paper: 80"))
    hashes = {"longrange": result_hash([motion.q, gradient.controls])}
    model = start.problem.model
    triangles = len(start.problem.loss.bodies) * len(model.scene.meshes[0].triangles) + BOX
    return {
        "timings": timings,
        "checks": checks,
        "hashes": hashes,
        "rows": rows,
        "triangles": triangles,
        "sweep": tried,
    }


def row(name: str, timing: Timing, stiffness: float) -> dict:
    """A model's line of the table."""
    frame = timing.minimum * WINDOW * ITERATIONS
    return {
        "model": name,
        "stiffness": stiffness,
        "step_ms": 1e3 * timing.minimum,
        "frame_seconds": frame,
        "paper_seconds": PAPER[name],
    }
