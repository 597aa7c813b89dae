# SPDX-License-Identifier: Apache-2.0
"""Many objects and one rod: what gather, sort and gather-bunny share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import farfield as ff
from farfield.marker import Marker
from farfield.optimize.focus import Neighbourhood
from farfield.optimize.horizon import RecedingHorizon
from farfield.optimize.losses import ReachLoss
from farfield.optimize.optimizers import Adam
from farfield.optimize.parameterizations import DirectTargets
from farfield.optimize.projections import Approach, Box, Leash, Outside, Sequential
from farfield.optimize.schedule import ActiveObject, AllObjects
from farfield.optimize.starts import KNOTS, curve
from farfield.options import option
from farfield.tasks.rod import add_rod
from farfield.tasks.task import Problem, Task, long_range_options

ROD_HALF = (0.03, 0.08, 0.03)  # short: it has to pass between objects [m]


@dataclass(frozen=True)
class Clutter(Task):
    """Objects that a rod has to bring to their regions."""

    objects: int = option(10, "how many", above=0)
    frames: int = option(300, "time steps of the motion", above=0)
    horizon: int = option(32, "time steps looked ahead", above=0)
    iterations: int = option(4, "optimiser iterations per window at most", above=0)
    stride: int = option(1, "time steps applied of every window", above=0)
    dt: float = option(0.04, "time step [s]", above=0)
    learning_rate: float = option(3e-2, "of Adam [m, rad]", above=0)
    loss: str = option("active", "one object at a time, or the sum over all", choices=("active", "sum"))
    waiting: float = option(
        1.0, "weight in the loss of objects that are pushed away while they wait for their turn", least=0
    )
    slack: float = option(0.3, "how far those may be pushed away without any cost [m]", least=0)
    patience: int = option(20, "windows after which an object that has come no nearer gives way to others", above=0)
    optimizer: str = option(
        "isotropic", "Adam's second moment: per group or per coordinate", choices=("isotropic", "plain")
    )
    reach: float = option(0.3, "radius of the disc around the active object that holds the rod's targets [m]", above=0)
    near: float = option(
        0.6,
        "plans leave out objects farther than this from the way between rod and active object [m]; 0: none",
        least=0,
    )
    margin: float = option(-0.02, "the rod's targets stay this far outside of the active object's region [m]")
    speed: float = option(2.5, "largest speed of the rod's targets [m/s]", above=0)
    lift: float = option(0.0, "largest change of the rod's target height [m]", least=0)
    radius: float = option(0.35, "of a region [m]", above=0)
    plan_radius: float = option(
        0.32, "the loss of an object is zero within this distance of its region's centre [m]", above=0
    )
    tolerance: float = option(1e-7, "where Newton's method stops while planning, relative", above=0)
    when: str = option("sum", "loss over the whole window or at its end", choices=("sum", "end"))
    contact_stiffness: float = option(1.0, "of the long-range model, around its automatic weight", above=0)
    weight: float = option(0.0, "of the long-range model as printed in the paper [J]; 0: contact_stiffness", least=0)
    friction: float = option(0.3, "Coulomb coefficient of the ground", least=0)
    grip: float = option(0.0, "Coulomb coefficient between rod and objects and among objects", least=0)
    slip_speed: float = option(1e-2, "smoothing of friction [m/s]", above=0)
    blend: float = option(0.5, "blending margin of the long-range model", above=0)
    range: float = option(0.0, "where contact begins in models of finite range [m]; 0: the model's default", least=0)
    stiffness: float = option(500.0, "of the rod's position drive [N/m]; critically damped for 1 kg", above=0)
    share: float = option(0.8, "success: this share of the objects ends in its region", above=0)

    def _problem(
        self,
        scene: ff.Scene,
        names: Sequence[str],
        targets: np.ndarray,
        channels: Sequence[int],
        markers: list[Marker],
    ) -> Problem:
        """The problem of a scene with a rod and free bodies ``names``, whose free joints have the same names."""
        model = ff.build_model(scene)
        parameters = model.default_parameters()
        base = np.tile(model.default_control(), (self.horizon, 1))
        loss = ReachLoss(names, targets, self.plan_radius, when=self.when)
        judge = ReachLoss(names, targets, self.radius)
        if self.loss == "active":
            tool = ("rod_x", "rod_y")
            schedule = ActiveObject(
                loss, model, names, tool, waiting=self.waiting, slack=self.slack, patience=self.patience
            )
        else:
            schedule = AllObjects()
        tool_place = [model.joint_q("rod_x").start, model.joint_q("rod_y").start]
        tool_dofs = [model.joint_dofs("rod_x").start, model.joint_dofs("rod_y").start]
        lower, upper = np.full(len(channels), -np.inf), np.full(len(channels), np.inf)
        height = list(channels).index(2)
        lower[height], upper[height] = base[0, 2] - self.lift, base[0, 2] + self.lift
        bounds = Box(lower, upper)

        apart = self.radius + self.margin

        regions = np.unique(targets, axis=0)

        def near_the_active(state: ff.State):
            if schedule.active is None:
                return bounds
            center, rod = schedule.places(state)[schedule.active], np.asarray(state.q)[tool_place]
            # At a constant speed the rod is this far behind its targets.
            start = rod + 2.0 / np.sqrt(self.stiffness) * np.asarray(state.v)[tool_dofs]
            stride = self.speed * self.dt
            # What has been brought home is not to be swept away: on its way the rod goes round every region it has no business in.
            arrived = np.linalg.norm(rod - center) <= 1.05 * self.reach
            shut = [] if arrived else [r for r in regions if np.linalg.norm(center - r) > apart + self.reach]
            return Sequential(
                Approach(center, self.reach, (0, 1), start, stride),
                *(Outside(place, apart, (0, 1)) for place in [*shut, targets[schedule.active]]),
                Leash(start, stride, (0, 1)),
                bounds,
            )

        farthest = max(float(np.linalg.norm(model.default_state().q[model.joint_q(name)][:2])) for name in names)

        def random_motion(generator: np.random.Generator) -> np.ndarray:
            """Targets that wander from the rest pose through random places among the objects, at random headings."""
            knots, count = np.tile(base[0, list(channels)], (KNOTS, 1)), KNOTS - 1
            angle = generator.uniform(-np.pi, np.pi, count)
            distance = (farthest + 0.2) * np.sqrt(generator.uniform(0.0, 1.0, count))
            knots[1:, 0], knots[1:, 1] = distance * np.cos(angle), distance * np.sin(angle)
            if 3 in channels:
                knots[1:, list(channels).index(3)] += generator.uniform(-np.pi, np.pi, count)
            return curve(knots, self.horizon)

        focus = None
        if self.near > 0 and self.loss == "active":
            focus = Neighbourhood(
                loss,
                self.near,
                places=schedule.places,
                tool=lambda state: np.asarray(state.q)[tool_place],
                active=lambda: schedule.active,
            )
        groups = [[0, 1]] if self.optimizer == "isotropic" else None

        def inside(trajectory: ff.Trajectory) -> int:
            return int((judge.distances(trajectory)[-1] <= self.radius).sum())

        return Problem(
            model=model,
            parameters=parameters,
            parameterization=DirectTargets(base, channels),
            loss=loss,
            driver=lambda objective: RecedingHorizon(
                objective,
                Adam(self.learning_rate, groups=groups),
                frames=self.frames,
                iterations=self.iterations,
                stride=self.stride,
                projection=near_the_active,
                schedule=schedule,
                focus=focus,
            ),
            success=lambda trajectory: inside(trajectory) >= self.share * len(names),
            report=lambda trajectory: {
                "inside": inside(trajectory),
                "objects": len(names),
                "share": inside(trajectory) / len(names),
                "summed_loss": _summed(judge, trajectory),
            },
            dt=self.dt,
            tolerance=self.tolerance,
            contact_options=self._contact_options(),
            sample=random_motion,
            markers=markers,
            trails=["rod"],
            probe="rod",
        )

    def _contact_options(self) -> dict[str, dict]:
        near = {"range": self.range} if self.range > 0 else {}
        far = {"blend": [self.blend], **long_range_options(self)}
        own = {"longrange": far, "polyhedral": near, "ipc": near, "ipc-global": {}}
        return {name: {"slip_speed": self.slip_speed, **options} for name, options in own.items()}


def _summed(judge: ReachLoss, trajectory: ff.Trajectory) -> float:
    """The loss of [LongRange2026, A.6.2] over all objects at the last state [m^2]."""
    return float(np.maximum(judge.distances(trajectory)[-1] ** 2 - judge.radius**2, 0.0).sum())


def rod_scene(name: str, task: Clutter, *, place: Sequence[float], yaw: float) -> ff.Scene:
    """Ground and a rod."""
    scene = ff.Scene(name=name)
    scene.add_shape(0, name="ground", type="HalfSpace", friction=task.friction)
    add_rod(scene, place, yaw, friction=task.grip, stiffness=task.stiffness, half=ROD_HALF)
    return scene


def scatter(generator: np.random.Generator, count: int, inner: float, outer: float, spacing: float) -> np.ndarray:
    """Random places in a ring around the origin, at least ``spacing`` from each other, shape (count, 2)."""
    places: list[np.ndarray] = []
    for _ in range(10000):
        if len(places) == count:
            return np.array(places)
        angle, distance = generator.uniform(-np.pi, np.pi), np.sqrt(generator.uniform(inner**2, outer**2))
        place = distance * np.array([np.cos(angle), np.sin(angle)])
        if all(np.linalg.norm(place - other) >= spacing for other in places):
            places.append(place)
    raise ValueError(f"objects: {count} do not fit into a ring of {inner} to {outer} m, {spacing} m apart")
