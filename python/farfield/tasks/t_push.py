# SPDX-License-Identifier: Apache-2.0
"""T-push: a spherical finger pushes a T over a table [SCM2025, Sec. IV-C].

The T is 25 x 20 x 5 cm in cells of 5 cm; the finger, a ball of 2 cm, moves on two slides in the plane of its centre. From rest controls it
touches nothing: what it learns comes from the tails of contact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import farfield as ff
from farfield.marker import Marker
from farfield.optimize.losses import ReachLoss
from farfield.optimize.multistart import Multistart, Round
from farfield.optimize.optimizers import Adam
from farfield.optimize.parameterizations import CubicSpline
from farfield.optimize.projections import Box
from farfield.options import option
from farfield.tasks.task import Problem, Task

CELL = 0.05  # [m]
BAR = 0.0375  # of the bar's middle from the centre of mass [m]
MASS = 0.5  # of T and finger [kg]
RADIUS = 0.02  # of the finger [m]
HEIGHT = 0.5 * CELL
KP, KD = 500.0, 30.0  # of the finger's drive
TABLE_FRICTION, FINGER_FRICTION = 0.3, 0.5
CLEARANCE = 1e-3  # of the T above the table when it is pushed by gradients [m]
FEET = ((-0.1, BAR), (0.1, BAR), (0.0, -0.11))  # of the tripod [m]
CELLS = [(k * CELL, BAR) for k in range(-2, 3)] + [(0.0, BAR - k * CELL) for k in range(1, 4)]


@dataclass(frozen=True)
class TPush(Task):
    """Push a T to a target over a table with a finger that starts at rest, touching nothing."""

    frames: int = option(300, "time steps of the motion", above=0)
    iterations: int = option(150, "optimiser iterations at most", above=0)
    knots: int = option(8, "of the finger's path in time", least=4)
    dt: float = option(0.004, "time step [s]", above=0)
    gap: float = option(0.05, "between finger and T at the start [m]", above=0)
    distance: float = option(0.1, "of the target [m]", above=0)
    learning_rate: float = option(1e-2, "of Adam [m]", above=0)
    radius: float = option(0.01, "the T has to end this near to its target [m]", above=0)
    points: int = option(3, "of the T's cloud along a side of a cell", above=0)
    temperature: float = option(5e-3, "of the soft-minimum law: how far its forces reach [m]", above=0)
    weight: float = option(1e-6, "of the long-range model [J]", above=0)

    def build(self, seed: int) -> Problem:
        """The target lies up from the stem, within 20 degrees; its bearing is drawn from the seed."""
        bearing = math.pi / 2 + np.random.default_rng(seed).uniform(-0.35, 0.35)
        target = self.distance * np.array([math.cos(bearing), math.sin(bearing)])
        model = ff.build_model(scene((0.0, BAR - 3.5 * CELL - RADIUS - self.gap)))
        state = model.default_state()
        start = np.array(state.q)
        start[2] += CLEARANCE  # models that let nothing touch begin apart
        base = np.tile(model.default_control(), (self.frames, 1))
        loss = ReachLoss(["t"], target, self.radius, when="end")
        soft = {
            "newtons_per_metre": 3e3,
            "separation_temperature": self.temperature,
            "force_temperature": self.temperature,
            "clouds": {"t": t_cloud(self.points), "finger": ff.PointCloud.sphere(RADIUS, 100)},
        }
        parameterization = CubicSpline(base, self.knots)
        # Half of the iterations at full length, which find the T, the rest ever shorter: what is left is to stop in time.
        rounds = [
            Round(-(-self.iterations // 2), 1),
            *(Round(-(-self.iterations // 6), 1, rate) for rate in (0.3, 0.1, 0.03)),
        ]
        return Problem(
            model=model,
            parameters=model.default_parameters(),
            parameterization=parameterization,
            loss=loss,
            driver=lambda objective: Multistart(
                objective,
                [objective.parameterization.initial()],
                lambda: Adam(self.learning_rate, groups=[[0, 1]]),
                rounds,
                projection=Box([-0.4, -0.4], [0.4, 0.4]),
            ),
            success=lambda trajectory: loss.distances(trajectory)[-1, 0] <= self.radius,
            report=lambda trajectory: {"distance": loss.distances(trajectory)[-1, 0]},
            dt=self.dt,
            state=ff.State(q=start, v=state.v),
            contact_options={"softmin": soft, "longrange": {"weight_in_joules": self.weight}},
            markers=[Marker("target", (*target, HEIGHT), self.radius)],
            trails=["finger", "t"],
        )


def t_cloud(per_side: int, *, temperature: float | None = None, top: bool = True) -> ff.PointCloud:
    """per_side^2 points on every outer square of the T, 34 per_side^2 in all; temperature in squared spacings."""
    offsets = CELL * ((np.arange(per_side) + 0.5) / per_side - 0.5)
    u, w = (grid.ravel() for grid in np.meshgrid(offsets, offsets))
    filled = {(round(x / CELL), round((y - BAR) / CELL)) for x, y in CELLS}
    points, normals = [], []

    def add(centre, normal, first, second) -> None:
        points.append(np.asarray(centre) + 0.5 * CELL * np.asarray(normal) + np.outer(u, first) + np.outer(w, second))
        normals.append(np.tile(normal, (len(u), 1)))

    for x, y in CELLS:
        for z in (1.0, -1.0) if top else (-1.0,):
            add([x, y, 0.0], [0.0, 0.0, z], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
        for side in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            if (round(x / CELL) + side[0], round((y - BAR) / CELL) + side[1]) not in filled:
                add([x, y, 0.0], [*side, 0.0], [side[1], side[0], 0.0], [0.0, 0.0, 1.0])
    spacing = CELL / per_side
    if temperature is None:
        temperature = 0.03 if per_side == 1 else 0.1
    return ff.PointCloud(np.vstack(points), np.vstack(normals), spacing=spacing, temperature=temperature * spacing**2)


def contact(
    per_side: int = 1, *, finger_points: int = 100, top: bool = True, tripod: bool = False, **options
) -> ff.Softmin:
    """The soft-minimum law of a push: set B of docs/softmin.md unless ``options`` say otherwise."""
    numbers = {"newtons_per_metre": 3e3, "separation_temperature": 1e-3, "force_temperature": 1e-3} | options
    clouds = {"t": t_cloud(per_side, top=top)}
    if finger_points:
        clouds["finger"] = ff.PointCloud.sphere(RADIUS, finger_points)
    support = {"t": np.array([[x, y, -HEIGHT] for x, y in FEET])} if tripod else {}
    return ff.Softmin(clouds=clouds, support=support, **numbers)


def scene(start=(0.0, -0.22), *, kp: float = KP, kd: float = KD) -> ff.Scene:
    """T, finger and table; coordinates of the finger are its place in the world [m]."""
    made = ff.Scene(name="t-push")
    made.add_shape(0, name="table", type="HalfSpace", friction=TABLE_FRICTION)
    density = MASS / (len(CELLS) * CELL**3)
    made.add_body(name="t", position=[0.0, 0.0, HEIGHT])
    made.add_joint("t", name="t", type="Free")
    red = [0.8, 0.35, 0.25, 1.0]
    made.add_shape("t", name="bar", type="Box", size=[2.5 * CELL, HEIGHT, HEIGHT], position=[0.0, BAR, 0.0],
                   density=density, friction=TABLE_FRICTION, color=red)  # fmt: skip
    made.add_shape("t", name="stem", type="Box", size=[HEIGHT, 1.5 * CELL, HEIGHT], position=[0.0, BAR - 2 * CELL, 0.0],
                   density=density, friction=TABLE_FRICTION, color=red)  # fmt: skip
    made.add_body(name="finger", position=[*start, HEIGHT])
    for k, axis in enumerate(("x", "y")):
        made.add_joint("finger", name=f"finger_{axis}", type="Slide", axis=np.eye(3)[k], reference=start[k])
        made.add_actuator(name=f"finger_{axis}", type="Pd", joint=f"finger_{axis}", kp=kp, kd=kd, velocity_input=False)
    made.add_shape("finger", name="finger", type="Sphere", size=[RADIUS, 0.0, 0.0],
                   density=MASS / (4.0 / 3.0 * math.pi * RADIUS**3), friction=FINGER_FRICTION, color=[0.2, 0.45, 0.75, 1.0])  # fmt: skip
    made.exclude("world", "finger")
    return made


def pose(q: np.ndarray) -> np.ndarray:
    """(x, y, yaw) of the T from coordinates, shape (..., num_q) -> (..., 3)."""
    w, x, y, z = (q[..., k] for k in range(3, 7))
    return np.stack([q[..., 0], q[..., 1], np.arctan2(2 * (w * z + x * y), 1 - 2 * (y**2 + z**2))], axis=-1)
