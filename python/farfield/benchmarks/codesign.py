# SPDX-License-Identifier: Apache-2.0
"""Co-design: what an iteration costs, and what two choices of the publication are worth.

`refresh`: hulls, mass and its derivative of 156 changed blocks, against a rollout's start as a whole. `iterations`: one iteration of each task, split into
the parts of [SDRS2025, Table II]. `resolution`: the same walk of the quadruped with feet of 96 to 768 vertices of one mass. `mass`: the
same walk with lumped and with exact mass.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from farfield.benchmarks.measure import Check, take_turns
from farfield.options import option

BLOCKS = 156


@dataclass(frozen=True)
class Options:
    """How much of it."""

    name = "codesign"
    frames: int = option(550, "time steps of the quadruped's walk", above=0)
    repeats: int = option(5, "of timings", above=0)
    iterations: bool = option(True, "one iteration of every task")


def plate(blocks: int = BLOCKS):
    """A plate of convex blocks above the ground."""
    import farfield as ff

    scene = ff.Scene(name="plate")
    scene.add_shape(0, name="ground", type="HalfSpace")
    scene.add_body(name="plate", position=[0.0, 0.0, 0.1])
    scene.add_joint("plate", name="plate", type="free")
    for k in range(blocks):
        scene.add_shape("plate", name=f"block {k}", type="box", size=[0.006, 0.006, 0.01], keep_vertices=True,
                        position=[0.0125 * (k % 13), 0.0125 * (k // 13), 0.0])  # fmt: skip
    return ff.build_model(scene)


def refresh(repeats: int, progress) -> tuple[dict[str, Any], dict]:
    """Times of what a change of shape costs before the first step."""
    import farfield as ff

    model = plate()
    parameters = model.default_parameters()
    noise = 1e-3 * np.random.default_rng(0).normal(size=parameters.hull_vertices.shape)
    parameters.hull_vertices = parameters.hull_vertices + noise
    by = np.ones((model.num_bodies, 10))
    contact, none = ff.Polyhedral(range=1e-3), np.zeros((1, 0))
    peers = {
        "current hulls": (lambda: ff.current_hulls(model, parameters), 1),
        "moments": (lambda: ff.hull_moments(model, parameters), 1),
        "moments' derivative": (lambda: ff.hull_moments_vjp(model, parameters, by), 1),
        "rollout of one step": (
            lambda: ff.rollout(model, parameters, model.default_state(), none, contact=contact),
            1,
        ),
    }
    timings = take_turns(peers, repeats=repeats, tick=progress("156 blocks", repeats + 1))
    row = {f"{name} [ms]": 1e3 * timing.minimum for name, timing in timings.items()}
    return row | {"blocks": BLOCKS, "vertices": len(noise)}, timings


def split(name: str) -> dict[str, Any]:
    """One iteration of a task at its start: seconds of the rollout, of its gradient and of the design's own part."""
    from farfield.experiments import runner
    from farfield.experiments.registry import find_task

    task = find_task(name)()
    run = runner.prepare(task, 0, runner.Setup(contact=task.contact))
    driver, objective = run.driver, run.objective
    x = driver.start + 1e-6
    clock, times = time.thread_time, {}
    begun = clock()
    inputs = driver.horizon.inner.decode(x)
    times["design"] = clock() - begun
    begun = clock()
    motion = objective.roll(inputs)
    times["rollout"] = clock() - begun
    objective.threads = 1
    begun = clock()
    objective.evaluate([x])
    times["gradient"] = clock() - begun - times["rollout"]
    total = sum(times.values())
    shares = {f"{part} share": seconds / total for part, seconds in times.items()}
    return {"task": name, "seconds": total, "steps": motion.num_steps, "converged": bool(motion.converged), **shares}


def walk(frames: int, **options: Any) -> dict[str, float]:
    """The quadruped's start gait: how far it comes, at the time step and a quarter of it."""
    import farfield as ff
    from farfield.optimize.codesign import at_finer_steps
    from farfield.tasks.quadruped import Quadruped, distance

    task = Quadruped(frames=frames, noise=0.0, **options)
    problem = task.build(0)
    inputs = problem.parameterization.decode(problem.parameterization.initial())
    contact = problem.contact("polyhedral")[0]
    found = {}
    for parts in (1, 4):
        own = at_finer_steps(inputs, parts)
        motion = ff.rollout(problem.model, own.parameters, own.state, own.controls, dt=task.dt / parts, contact=contact)
        found["dt" if parts == 1 else "dt/4"] = distance(motion) if motion.converged else float("nan")
    return found


def run(progress, *, options: Options | None = None) -> dict:
    """All of it."""
    options = options or Options()
    row, timings = refresh(options.repeats, progress)
    tick = progress("walks", 6)
    resolution, masses = [], []
    for vertices in (32, 64, 128, 256):
        resolution.append({"vertices per foot": 3 * vertices, **walk(options.frames, vertices=vertices)})
        tick()
    for mass in ("exact", "lumped"):
        masses.append({"mass": mass, **walk(options.frames, mass=mass)})
        tick()
    ways = np.array([each["dt"] for each in resolution])
    names = ("chain", "quadruped", "biped", "parallel-jaw") if options.iterations else ()
    tick = progress("iterations", len(names) + 1)
    iterations = []
    for name in names:
        iterations.append(split(name))
        tick()
    spread = float(np.ptp(ways) / ways.mean())
    checks = [
        Check("hull refresh of 156 blocks [ms]", row["current hulls [ms]"], "<=", 5.0),
        Check("walks of 96 to 768 vertices per foot differ by", spread, "<=", 0.02, "the publication: 0.02"),
    ]
    return {
        "timings": timings,
        "checks": checks,
        "hashes": {},
        "rows": resolution,
        "refresh": row,
        "mass": masses,
        "lumped_over_exact": masses[1]["dt"] / masses[0]["dt"],
        "lumped_over_exact_quarter_dt": masses[1]["dt/4"] / masses[0]["dt/4"],
        "iterations": iterations,
    }
