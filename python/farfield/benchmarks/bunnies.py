# SPDX-License-Identifier: Apache-2.0
"""Gather-bunny [LongRange2026, A.6.4]: what a frame of planning costs with the long-range model, with all pairs of triangles, with IPC.

A frame is what the paper counts: 60 iterations of a window of 32 steps with their gradient, all ten bunnies in the scene. Ten bunnies of
250 triangles and a rod that goes for the nearest of them; every model starts from the same settled state.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from farfield.benchmarks.measure import Check, Timing, result_hash, take_turns
from farfield.options import option
from farfield.tasks.clutter import BOX
from farfield.tasks.gather_bunny import GatherBunny

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


def run(progress, options: Options | None = None) -> dict:
    """Seconds of CPU per step with its gradient and per frame, beside the paper's."""
    import farfield as ff
    from farfield.contact_models import contact_model

    options = Options() if options is None else options
    task = GatherBunny(shape=options.shape)
    problem = task.build(0)
    model, parameters = problem.model, problem.parameters
    own = problem.contact_options
    contacts = {
        "longrange": (contact_model("longrange", **own["longrange"]), options.steps),
        "ipc": (contact_model("ipc", **own["ipc"]), options.steps),
        "brute": (contact_model("longrange", brute_force=True, **own["longrange"]), options.brute_steps),
    }
    rest = np.tile(model.default_control(), (SETTLING, 1))
    settled = ff.rollout(model, parameters, model.default_state(), rest, dt=task.dt, contact=contacts["longrange"][0])
    if not settled.converged:
        raise RuntimeError("bench bunnies: the start does not settle")
    state = ff.State(q=settled.q[-1], v=np.zeros(model.num_dofs))
    places = np.array([state.q[model.joint_q(name)][:2] for name in problem.loss.bodies])
    nearest = places[np.argmin(np.linalg.norm(places, axis=1))]
    way = nearest / np.linalg.norm(nearest)

    def work(contact, steps: int):
        controls = np.tile(model.default_control(), (steps, 1))
        controls[:, :2] += SPEED * task.dt * np.arange(1, steps + 1)[:, None] * way
        motion = ff.rollout(model, parameters, state, controls, dt=task.dt, contact=contact, tolerance=task.tolerance)
        if not motion.converged:
            raise RuntimeError(f"bench bunnies: a step ended with '{motion.reports[-1].status}'")
        _, partials = problem.loss(motion)
        return motion, ff.rollout_vjp(motion, dL_dpose=partials.by_pose)

    tick = progress("bunnies", options.repeats + 1)
    peers = {
        name: (lambda c=contact, n=steps: work(c, n), steps) for name, (contact, steps) in contacts.items() if steps > 0
    }
    timings = take_turns(peers, repeats=options.repeats, tick=tick)
    motion, gradient = work(*contacts["longrange"])
    rows = [row(name, timing) for name, timing in timings.items()]
    per_step = {name: timing.minimum for name, timing in timings.items()}
    checks = [Check("long range / IPC", per_step["longrange"] / per_step["ipc"], "<=", 2.0, "paper: 1.24")]
    if "brute" in per_step:
        ratio = per_step["brute"] / per_step["longrange"]
        checks.append(Check("brute force / long range", ratio, ">=", 80.0, "paper: 80"))
    hashes = {"longrange": result_hash([motion.q, gradient.controls])}
    triangles = len(problem.loss.bodies) * len(model.scene.meshes[0].triangles) + BOX
    return {"timings": timings, "checks": checks, "hashes": hashes, "rows": rows, "triangles": triangles}


def row(name: str, timing: Timing) -> dict:
    """A model's line of the table."""
    frame = timing.minimum * WINDOW * ITERATIONS
    return {
        "model": name,
        "step_ms": 1e3 * timing.minimum,
        "frame_seconds": frame,
        "paper_seconds": PAPER[name],
    }
