# SPDX-License-Identifier: Apache-2.0
"""Parallel jaws: two plates of convex blocks learn a shape that holds four objects with little friction [SDRS2025, Sec. V-E, Figs. 16 to 18].

Four equal grippers stand side by side in one scene, each with an object of its own; their blocks are the same unknowns. Nothing is controlled: the jaws
close on a fixed target and the palm rises. A loss at the final friction gets nowhere, so friction starts high and falls whenever all are held.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import farfield as ff
from farfield.optimize.codesign import CoDesign, Continuation, Stage, design_groups, roll_finer
from farfield.optimize.design import Alias, Design, Mirror, Offset
from farfield.optimize.losses import Partials, ResidualLoss
from farfield.optimize.objective import Evaluation
from farfield.optimize.parameterizations import Combined, DirectTargets
from farfield.optimize.points import MassCenter, added
from farfield.optimize.rollout_input import RolloutInput
from farfield.options import option
from farfield.tasks.shapes import ellipsoid
from farfield.tasks.task import Problem, Task

OBJECTS = ("sphere", "cylinder", "box", "cross")
RADIUS, MASS = 0.03, 0.2  # of the objects [m, kg]
GAP, CLOSING = 0.01, 0.02  # between jaw and object at the start, and how far the jaws want to go [m]
PLATE = np.array([0.012, 0.09, 0.06])  # thickness, width, height of a jaw [m]
CLEARANCE = 0.012  # of the jaws above the ground [m]
CLOSE_STEPS, LIFT = 60, 0.12
APART = 0.4  # between two grippers [m]
GRIDS = {24: (6, 4), 156: (13, 12)}


class SlipLoss(ResidualLoss):
    """Sum over the objects of the squared way of the object in its palm's frame after closing [m^2]; the residuals are these squares."""

    def __init__(self, names: list[tuple[str, str]], closed: float) -> None:
        self.names, self.closed = names, closed

    def _ways(self, trajectory: ff.Trajectory) -> list[tuple[MassCenter, MassCenter, np.ndarray, int]]:
        begin = min(round(self.closed / trajectory.dt), trajectory.num_steps)
        out = []
        for thing, palm in self.names:
            a, b = (MassCenter(trajectory, [trajectory.model.body(name)]) for name in (thing, palm))
            relative = a.places - b.places
            out.append((a, b, relative[-1] - relative[begin], begin))
        return out

    def slips(self, trajectory: ff.Trajectory) -> np.ndarray:
        """How far every object has slipped [m]."""
        return np.array([np.linalg.norm(way) for _, _, way, _ in self._ways(trajectory)])

    def residuals(self, trajectory: ff.Trajectory) -> np.ndarray:
        return self.slips(trajectory) ** 2

    def residual_partials(self, trajectory: ff.Trajectory) -> list[Partials]:
        out = []
        for a, b, way, begin in self._ways(trajectory):
            by = np.zeros(a.places.shape)
            by[-1] += 2.0 * way
            by[begin] -= 2.0 * way
            out.append(added([a.partials(by), b.partials(-by)]))
        return out

    def __call__(self, trajectory: ff.Trajectory) -> tuple[float, Partials]:
        return float(self.residuals(trajectory).sum()), added(self.residual_partials(trajectory))


class LessFriction(Continuation):
    """Multiplies the jaws' friction by ``factor`` whenever every slip is below ``threshold`` [m], down to ``floor``."""

    def __init__(
        self,
        design: Design,
        loss: SlipLoss,
        bodies: list[int],
        *,
        first: float,
        factor: float,
        floor: float,
        threshold: float,
    ) -> None:
        self.design, self.loss, self.bodies = design, loss, bodies
        self.factor, self.floor, self.threshold = factor, floor, threshold
        self.held = np.inf  #: smallest friction at which all were held
        self._set(first)

    def _set(self, friction: float) -> None:
        self.friction = friction
        self.design.change(friction=_with(self.design.parameters.friction, self.bodies, friction))

    def solved(self, found: Evaluation) -> bool:
        self.worst = float(self.loss.slips(found.trajectory).max())
        if self.worst >= self.threshold:
            return False
        self.held = self.friction
        return True

    def harder(self) -> bool:
        if self.friction <= self.floor:
            return False
        self._set(max(self.floor, self.factor * self.friction))
        return True

    def figures(self) -> dict[str, float]:
        return {"friction": self.friction, "friction_held": self.held}

    def state(self) -> dict[str, np.ndarray]:
        return {"friction": np.array(self.friction), "held": np.array(self.held)}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        self.held = float(state["held"])
        self._set(float(state["friction"]))


def _with(values: np.ndarray, places: list[int], value: float) -> np.ndarray:
    out = np.array(values, dtype=float)
    out[places] = value
    return out


@dataclass(frozen=True)
class ParallelJaw(Task):
    """Two jaws of convex blocks hold four objects with little friction: shape alone, friction falling while they hold."""

    contact: ClassVar[str] = "polyhedral"

    iterations: int = option(80, "optimiser iterations at most", above=0)
    frames: int = option(180, "time steps", above=CLOSE_STEPS)
    blocks: int = option(24, "of each jaw", choices=tuple(GRIDS))
    objects: int = option(4, "of sphere, cylinder, box, cross", above=0)
    dt: float = option(0.01, "time step [s]", above=0)
    rate: float = option(3e-4, "of Adam [m]", above=0)
    limit: float = option(8e-3, "of a vertex's way along each axis [m]", above=0)
    range: float = option(3e-3, "of contact [m]", above=0)
    first_friction: float = option(0.3, "of the jaws at the start", above=0)
    friction: float = option(0.1, "of the jaws in the end", above=0)
    factor: float = option(0.93, "of friction each time", above=0)
    threshold: float = option(6e-3, "of a slip that counts as held [m]", above=0)
    noise: float = option(2e-4, "of the start's vertices, drawn from the seed [m]", least=0)

    def build(self, seed: int) -> Problem:
        """The start shape is perturbed by the seed."""
        chosen = list(OBJECTS[: self.objects])
        model = ff.build_model(scene(chosen, self.blocks))
        count = int(np.prod(GRIDS[self.blocks]))
        jaws = {(o, s): [f"{o} {s} {k}" for k in range(count)] for o in chosen for s in ("left", "right")}
        lead = jaws[chosen[0], "left"]
        design = Design(
            model,
            Offset(lead, limit=self.limit),
            Mirror(lead, jaws[chosen[0], "right"], "x"),
            *(Alias(lead, jaws[o, "left"]) for o in chosen[1:]),
            *(Mirror(lead, jaws[o, "right"], "x") for o in chosen[1:]),
            mass="fixed",
        )
        loss = SlipLoss([(o, f"{o} palm") for o in chosen], CLOSE_STEPS * self.dt)
        fixed = DirectTargets(closing_controls(model, chosen, self.frames), channels=[])
        bodies = [model.body(f"{o} {s}") for o in chosen for s in ("left", "right")]
        fall = LessFriction(
            design,
            loss,
            bodies,
            first=self.first_friction,
            factor=self.factor,
            floor=self.friction,
            threshold=self.threshold,
        )
        start = self.noise * np.random.default_rng(seed).uniform(-1.0, 1.0, design.size)
        group = design_groups(design, 0, rule="adam_projected", rate=self.rate)
        drivers: list[CoDesign] = []

        def driver(objective: Any) -> CoDesign:
            stages = [Stage("design", self.iterations, ["design"])]
            made = CoDesign(objective, [group], stages, x=start, continuation=fall, normalized=True)
            drivers.append(made)
            return made

        return Problem(
            model=model,
            parameters=model.default_parameters(),
            parameterization=Combined(fixed, design),
            loss=loss,
            driver=driver,
            success=lambda trajectory: fall.held <= 0.12,
            report=lambda trajectory: figures(drivers[-1], loss, design, fall, bodies),
            dt=self.dt,
            contact_options={"polyhedral": {"range": self.range}},
            trails=chosen,
        )


def at_friction(
    driver: CoDesign, design: Design, bodies: list[int], x: np.ndarray, friction: float, parts: int = 1
) -> Any:
    """The motion of a point with another friction of the jaws."""
    inputs = driver.horizon.inner.decode(x)
    parameters = inputs.parameters.copy()
    parameters.friction = _with(parameters.friction, bodies, friction)
    return roll_finer(driver.objective, RolloutInput(inputs.controls, inputs.state, None, parameters), parts)


def figures(driver: CoDesign, loss: SlipLoss, design: Design, fall: LessFriction, bodies: list[int]) -> dict[str, Any]:
    """What is held at the friction reached, also at half the time step, and what the original shape holds."""
    if "design" not in driver.best or not np.isfinite(fall.held):
        return {"figures": {"held": 0, "objects": len(loss.names)}}
    x, mu = driver.point("design"), fall.held

    def slips(point: np.ndarray, friction: float, parts: int) -> np.ndarray:
        motion = at_friction(driver, design, bodies, point, friction, parts)
        return loss.slips(motion) if motion.converged else np.full(len(loss.names), np.inf)

    now, half, before = slips(x, mu, 1), slips(x, mu, 2), slips(np.zeros(x.size), 0.15, 1)
    return {
        "figures": {
            "held": int((now <= 8e-3).sum()),
            "objects": len(now),
            "worst_slip_m": float(now.max()),
            "friction": mu,
            "held_half_dt": int((half <= 8e-3).sum()),
            "worst_slip_half_dt_m": float(half.max()),
            "original_held_at_0.15": int((before <= 8e-3).sum()),
            "original_slips_m": before.tolist(),
        },
        **design.report(x),
    }


def closing_controls(model: ff.Model, objects: list[str], frames: int) -> np.ndarray:
    """Position targets: the jaws close within half of the closing time, then the palm rises."""
    controls = np.tile(model.default_control(), (frames, 1))
    closing = CLOSING * np.minimum(1.0, np.arange(1, frames + 1) / (0.5 * CLOSE_STEPS))
    rise = LIFT * np.clip((np.arange(1, frames + 1) - CLOSE_STEPS) / (frames - CLOSE_STEPS), 0.0, 1.0)
    for name in objects:
        for side in ("left", "right"):
            controls[:, model.actuator_controls(f"{name} {side}").start] = closing
        controls[:, model.actuator_controls(f"{name} palm z").start] = rise
    return controls


def scene(objects: list[str], blocks: int) -> ff.Scene:
    """One gripper per object, far enough apart; each meets its own object and the ground alone."""
    made = ff.Scene(name="parallel-jaw")
    made.add_shape(0, name="ground", type="HalfSpace", friction=0.5, group=1, collides_with=0xFFFF)
    ball = ellipsoid("ball", [RADIUS] * 3, 128)
    made.add_mesh(name="ball", vertices=ball.vertices, triangles=ball.triangles)
    for k, name in enumerate(objects):
        bit = 2 << k
        place = [0.0, APART * k, 0.0]
        made.add_body(name=name, position=[0.0, APART * k, RADIUS + 5e-4])
        made.add_joint(name, name=name, type="free")
        _add_object(made, name, bit)
        _add_gripper(made, name, place, bit, GRIDS[blocks])
    return made


def _add_object(made: ff.Scene, name: str, bit: int) -> None:
    side = RADIUS / np.sqrt(2.0)
    eighth = [np.cos(np.pi / 8), 0.0, 0.0, np.sin(np.pi / 8)]
    shapes = {
        "sphere": [({"type": "mesh", "mesh": "ball"}, 4.0 / 3.0 * np.pi * RADIUS**3)],
        "cylinder": [({"type": "cylinder", "size": [RADIUS, RADIUS, 0.0]}, 2.0 * np.pi * RADIUS**3)],
        "box": [({"type": "box", "size": [side, side, RADIUS], "orientation": eighth}, 8.0 * side**2 * RADIUS)],
        "cross": [
            ({"type": "box", "size": [RADIUS, RADIUS / 3, RADIUS / 3]}, 8.0 * RADIUS**3 / 9),
            ({"type": "box", "size": [RADIUS / 3, RADIUS / 3, RADIUS]}, 8.0 * RADIUS**3 / 9),
        ],
    }[name]
    total = sum(volume for _, volume in shapes)
    for k, (shape, _) in enumerate(shapes):
        made.add_shape(name, name=f"{name} part {k}", **shape, density=MASS / total, friction=0.0, group=bit,
                       collides_with=bit | 1, color=[0.85, 0.45, 0.2, 1.0])  # fmt: skip


def _add_gripper(made: ff.Scene, name: str, place: list[float], bit: int, grid: tuple[int, int]) -> None:
    palm = f"{name} palm"
    height = CLEARANCE + PLATE[2]
    made.add_body(name=palm, position=[place[0], place[1], height])
    for k, axis in enumerate("xyz"):
        made.add_joint(palm, name=f"{palm} {axis}", type="slide", axis=np.eye(3)[k])
        made.add_actuator(name=f"{palm} {axis}", joint=f"{palm} {axis}", type="pd", kp=2000.0, kd=100.0,
                          velocity_input=False)  # fmt: skip
    made.add_shape(palm, name=palm, type="box", size=[0.07, 0.03, 0.01], position=[0.0, 0.0, 0.02], density=2000.0,
                   collides=False, color=[0.3, 0.34, 0.4, 1.0])  # fmt: skip
    cell = np.array([PLATE[0], PLATE[1] / grid[0], PLATE[2] / grid[1]])
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * cell
    faces = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
                      [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]])  # fmt: skip
    for side, sign in (("left", -1.0), ("right", 1.0)):
        jaw = f"{name} {side}"
        made.add_body(name=jaw, parent=palm, position=[sign * (RADIUS + GAP + 0.5 * PLATE[0]), 0.0, 0.0])
        made.add_joint(jaw, name=jaw, type="slide", axis=[-sign, 0.0, 0.0])
        made.add_actuator(name=jaw, joint=jaw, type="pd", kp=500.0, kd=20.0, velocity_input=False)
        for k in range(grid[0] * grid[1]):
            at = [0.0, (k // grid[1] + 0.5) * cell[1] - 0.5 * PLATE[1], -(k % grid[1] + 0.5) * cell[2]]
            points = (corners if sign < 0 else corners * [-1.0, 1.0, 1.0]) + at
            made.add_mesh(name=f"{jaw} {k}", vertices=points, triangles=faces if sign < 0 else faces[:, ::-1])
            made.add_shape(jaw, name=f"{jaw} {k}", type="mesh", mesh=f"{jaw} {k}", density=1000.0, friction=0.3,
                           keep_vertices=True, group=bit, collides_with=bit | 1, color=[0.2, 0.45, 0.75, 1.0])  # fmt: skip
        made.exclude(palm, jaw)
    made.exclude(f"{name} left", f"{name} right")
    for side in ("left", "right"):
        made.exclude("world", f"{name} {side}")
