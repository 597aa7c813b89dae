# SPDX-License-Identifier: Apache-2.0
"""What feedback gains from exact derivatives are worth: plans of iLQR, repeated with disturbances, in open and in closed loop.

*push*: a rod strokes a box 0.6 m to a target; the box starts elsewhere, turned, on ground of other friction. *swing-up*: a pole swings up on a cart beside a
wall; it starts elsewhere, moving, with another mass. Disturbances are drawn from seeds that no setting was chosen by; a try that does not converge has failed.
"""

from __future__ import annotations

import dataclasses
import math
import time

import numpy as np

from farfield.benchmarks.measure import Check, result_hash
from farfield.options import option


@dataclasses.dataclass(frozen=True)
class Options:
    """What `farfield bench feedback --set` changes."""

    name = "feedback"
    tries: int = option(50, "disturbed repetitions of each plan", above=0)
    iterations: int = option(100, "of a plan at most", above=0)


@dataclasses.dataclass(frozen=True)
class Case:
    """A plan to make, and what may go wrong with it."""

    name: str
    model: object
    state: object
    controls: np.ndarray
    cost: object
    dt: float
    bounds: tuple | None
    disturb: object  #: random generator -> (state, parameters)
    miss: object  #: trajectory -> how far it ends from its goal
    good: float  #: largest miss of a success


def push() -> Case:
    """The rod behind the box."""
    import farfield as ff
    from farfield.optimize import Reach, TrackingCost
    from farfield.tasks.push import scene

    model = ff.build_model(scene(math.pi, 0.4, 500.0))
    state, steps, n = model.default_state(), 60, model.num_dofs
    box, body, target = model.joint_dofs("box"), model.body_names.index("box"), np.array([0.6, 0.0])
    of_box, heading = np.zeros(n), np.zeros(n)
    of_box[box], heading[box.stop - 1] = 1.0, 1.0
    controls = np.tile(model.default_control(), (steps, 1))
    controls[:, 0] += np.linspace(0.0, 0.75, steps)
    cost = TrackingCost(
        model,
        state,
        v=0.01,
        control=[0.1] * 3 + [0.01] * 3,
        final_q=10.0 * heading,
        final_v=5.0 * of_box,
        reach=[Reach("box", (*target, None), weight=0.5, final_weight=200.0)],
    )

    def disturb(random: np.random.Generator):
        moved = np.zeros(n)
        moved[box] = np.array([0.04, 0.08, 0.0, 0.0, 0.0, 0.3]) * random.uniform(-1.0, 1.0, 6)
        parameters = model.default_parameters()
        parameters.friction = np.asarray(parameters.friction) * random.uniform(0.8, 1.2)
        return ff.State(q=ff.retract(model, state.q, moved), v=state.v), parameters

    def miss(trajectory) -> float:
        return float(np.linalg.norm(trajectory.poses()[-1, body, :2] - target))

    return Case("push", model, state, controls, cost, 0.04, None, disturb, miss, 0.05)


def swing_up() -> Case:
    """A pole on a cart beside a wall."""
    import farfield as ff
    from farfield.optimize import TrackingCost

    scene = ff.Scene(name="cart and pole", gravity=[0.0, 0.0, -9.81])
    scene.add_shape(0, name="wall", type="Box", size=[0.05, 0.5, 0.5], position=[-0.6, 0.0, 0.0])
    scene.add_body(name="cart")
    scene.add_joint("cart", name="slide", type="Slide", axis=[1, 0, 0])
    scene.add_shape("cart", name="cart", type="Box", size=[0.15, 0.1, 0.05], density=300.0)
    scene.add_body(name="pole", parent="cart", position=[0.0, 0.0, 0.08])
    scene.add_joint("pole", name="hinge", type="Hinge", axis=[0, 1, 0])
    scene.add_shape(
        "pole", name="pole", type="Capsule", size=[0.02, 0.3, 0.0], position=[0.0, 0.0, 0.35], density=300.0
    )
    scene.add_actuator(name="push", joint="slide", type="Motor")
    model = ff.build_model(scene)
    state = ff.State(q=np.array([0.0, math.pi]), v=np.zeros(2))
    upright = ff.State(q=np.zeros(2), v=np.zeros(2))
    cost = TrackingCost(
        model, upright, q=[0.1, 0.05], v=0.01, control=1e-4, final_q=[100.0, 400.0], final_v=[20.0, 40.0]
    )
    pole = model.body_names.index("pole")

    def disturb(random: np.random.Generator):
        parameters = model.default_parameters()
        parameters.set_mass(pole, parameters.moments[pole, 0] * random.uniform(0.9, 1.1))
        start = ff.State(
            q=state.q + random.uniform(-1.0, 1.0, 2) * [0.02, 0.1], v=random.uniform(-1.0, 1.0, 2) * [0.1, 0.3]
        )
        return start, parameters

    def miss(trajectory) -> float:
        return float(abs(trajectory.q[-1, 1]))

    controls = np.random.default_rng(0).standard_normal((150, 1))
    return Case("swing-up", model, state, controls, cost, 0.02, ([-30.0], [30.0]), disturb, miss, 0.2)


def run(progress, options: Options | None = None) -> dict:
    """Both cases."""
    import farfield as ff
    from farfield.optimize import Ilqr

    options = options or Options()
    rows, checks, hashes = [], [], {}
    for case in (push(), swing_up()):
        tick = progress(f"{case.name}: plan", options.iterations)
        started = time.process_time()
        driver = Ilqr(
            case.model,
            case.cost,
            case.state,
            case.controls,
            dt=case.dt,
            iterations=options.iterations,
            bounds=case.bounds,
        )
        while not driver.done:
            driver.advance()
            tick()
        seconds, best, feedback = time.process_time() - started, driver.best, driver.feedback()
        hashes[case.name] = result_hash([best.q, best.controls])
        tick = progress(f"{case.name}: tries", options.tries)
        misses: dict[str, list[float]] = {"open": [], "closed": []}
        random = np.random.default_rng(20260)
        for _ in range(options.tries):
            start, parameters = case.disturb(random)
            for loop, policy in (("open", None), ("closed", feedback)):
                motion = ff.rollout(case.model, parameters, start, driver.controls, dt=case.dt, policy=policy)
                misses[loop].append(case.miss(motion) if motion.converged else math.inf)
            tick()
        rates = {loop: float(np.mean(np.array(values) <= case.good)) for loop, values in misses.items()}
        rows.append(
            {
                "case": case.name,
                "iterations": driver.iterations,
                "cpu_s": seconds,
                "planned_miss": case.miss(best),
                "open_rate": rates["open"],
                "closed_rate": rates["closed"],
                "open_median_miss": float(np.median(misses["open"])),
                "closed_median_miss": float(np.median(misses["closed"])),
            }
        )
        checks.append(Check(f"{case.name}: closed loop arrives", rates["closed"], ">=", 0.8))
        checks.append(Check(f"{case.name}: open loop arrives", rates["open"], "<=", rates["closed"]))
    return {"timings": {}, "checks": checks, "hashes": hashes, "rows": rows}
