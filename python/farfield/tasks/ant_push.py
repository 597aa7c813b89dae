# SPDX-License-Identifier: Apache-2.0
"""Ant-push: a four-legged robot that stands still has to find a gait that takes a box to its target.

Settings after [LongRange2026, A.6]: nine links; the base has three translations and yaw, each leg a hip of two and a knee of one degree of
freedom, so 16 with 12 drives; the target angle of a drive is its rest angle plus four sine waves whose amplitudes, frequencies and
phases are the unknowns; the whole motion is optimised at once.
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
from farfield.optimize.parameterizations import SumOfSines
from farfield.optimize.projections import Box
from farfield.options import option
from farfield.tasks.cube import REST_GAP, add_cube
from farfield.tasks.task import Problem, Task, long_range_options

BASE_HALF = (0.1, 0.1, 0.04)  # [m]
UPPER, LOWER, THICK = 0.12, 0.2, 0.015  # lengths and half thickness of the links of a leg [m]
KNEE = 1.0  # slope of the lower legs at rest [rad]
BOX_SIDE = 0.2  # [m]
LEGS = ("front left", "back left", "back right", "front right")


@dataclass(frozen=True)
class AntPush(Task):
    """Let a four-legged ant that stands still find a gait that pushes a box to a target."""

    frames: int = option(240, "time steps of the motion", above=0)
    iterations: int = option(100, "optimiser iterations", above=0)
    dt: float = option(0.02, "time step [s]", above=0)
    learning_rate: float = option(3e-2, "of Adam, for amplitudes and phases [rad]", above=0)
    frequency_rate: float = option(1e-2, "of Adam, for frequencies [Hz]", least=0)
    waves: int = option(4, "sine waves per drive", above=0)
    amplitude: float = option(0.02, "of every wave at the start [rad]", least=0)
    largest: float = option(0.5, "largest amplitude of a wave [rad]", above=0)
    radius: float = option(0.1, "the loss is zero within this distance of the target [m]", above=0)
    when: str = option("end", "loss at the last state or over the whole motion", choices=("sum", "end"))
    share: float = option(0.2, "success: the loss at the end is at most this part of the first one", above=0)
    contact_stiffness: float = option(1.0, "of the long-range model, around its automatic weight", above=0)
    weight: float = option(0.0, "of the long-range model as printed in the paper [J]; 0: contact_stiffness", least=0)
    foot_friction: float = option(0.8, "Coulomb coefficient of the ant on the ground", least=0)
    friction: float = option(0.3, "Coulomb coefficient of the box on the ground", least=0)
    slip_speed: float = option(1e-2, "smoothing of friction [m/s]", above=0)
    blend: float = option(0.5, "blending margin of the long-range model", above=0)
    range: float = option(0.0, "where contact begins in models of finite range [m]; 0: the model's default", least=0)
    stiffness: float = option(30.0, "of the drives [N m/rad]", above=0)
    tolerance: float = option(1e-7, "where Newton's method stops while optimising, relative", above=0)

    def build(self, seed: int) -> Problem:
        """The scene: place of the box, target and phases of the waves are drawn from the seed."""
        generator = np.random.default_rng(seed)
        bearing = generator.uniform(-0.3, 0.3)
        box = generator.uniform(0.5, 0.6) * np.array([math.cos(bearing), math.sin(bearing)])
        course = bearing + generator.uniform(-0.3, 0.3)
        target = box + generator.uniform(0.3, 0.5) * np.array([math.cos(course), math.sin(course)])
        model = ff.build_model(scene(self, box, bearing))
        parameters = model.default_parameters()
        base = np.tile(model.default_control(), (self.frames, 1))
        shape = (base.shape[1], self.waves)
        phases = generator.uniform(-math.pi, math.pi, shape)
        frequencies = np.tile(0.5 * (1.0 + np.arange(self.waves)), (shape[0], 1))
        gait = SumOfSines(
            base, self.dt, waves=self.waves, amplitude=self.amplitude, frequency=frequencies, phase=phases
        )
        loss = ReachLoss(["box"], target, self.radius, when=self.when)
        rates = np.array([self.learning_rate, self.frequency_rate, self.learning_rate])
        bounds = Box([-self.largest, 0.0, -np.inf], [self.largest, 4.0, np.inf])
        first: list[float] = []

        def driver(objective):
            if not first:
                rest = objective.roll(objective.parameterization.decode(gait.initial()))
                first.append(loss(rest)[0])
            rounds = [Round(self.iterations, keep=1)]
            start = objective.parameterization.initial()
            return Multistart(objective, [start], lambda: Adam(rates), rounds, projection=bounds)

        return Problem(
            model=model,
            parameters=parameters,
            parameterization=gait,
            loss=loss,
            driver=driver,
            success=lambda trajectory: loss(trajectory)[0] <= self.share * first[0],
            report=lambda trajectory: {
                "distance": loss.distances(trajectory)[-1, 0],
                "loss_share": loss(trajectory)[0] / first[0],
            },
            dt=self.dt,
            tolerance=self.tolerance,
            contact_options=self._contact_options(),
            markers=[Marker("target", (*target, 0.5 * BOX_SIDE), self.radius)],
            trails=["base", "box"],
        )

    def _contact_options(self) -> dict[str, dict]:
        near = {"range": self.range} if self.range > 0 else {}
        far = {"blend": [self.blend], **long_range_options(self)}
        own = {"longrange": far, "polyhedral": near, "ipc": near, "ipc-global": {}}
        return {name: {"slip_speed": self.slip_speed, **options} for name, options in own.items()}


def scene(task: AntPush, box: np.ndarray, heading: float) -> ff.Scene:
    """Ground, ant and box; pairs rub with the larger of two coefficients, so the ground has none of its own."""
    made = ff.Scene(name="ant-push")
    made.add_shape(0, name="ground", type="HalfSpace", friction=0.0)
    height = LOWER * math.sin(KNEE) + THICK * math.cos(KNEE) + REST_GAP
    made.add_body(name="base", position=[0.0, 0.0, height])
    for name, axis in (("x", [1, 0, 0]), ("y", [0, 1, 0]), ("z", [0, 0, 1])):
        made.add_joint("base", name=f"base_{name}", type="Slide", axis=axis)
    made.add_joint("base", name="base_yaw", type="Hinge", axis=[0, 0, 1])
    made.exclude("world", "base")  # legs alone carry it: the far potential of the ground would lift the base too
    color = [0.3, 0.5, 0.35, 1.0]
    made.add_shape(
        "base", name="base", type="Box", size=BASE_HALF, density=300.0, friction=task.foot_friction, color=color
    )
    for k, leg in enumerate(LEGS):
        _add_leg(made, task, leg, (0.25 + 0.5 * k) * math.pi)
    add_cube(made, "box", box, heading, side=BOX_SIDE, density=50.0, friction=task.friction)
    return made


def _add_leg(made: ff.Scene, task: AntPush, leg: str, angle: float) -> None:
    """A leg that goes out at ``angle`` from the nearest corner of the base: its x axis outward, hip about z and y, knee about y."""
    upper, lower = f"{leg} upper", f"{leg} lower"
    corner = [math.copysign(BASE_HALF[0], math.cos(angle)), math.copysign(BASE_HALF[1], math.sin(angle)), 0.0]
    made.add_body(
        name=upper, parent="base", position=corner, orientation=[math.cos(0.5 * angle), 0, 0, math.sin(0.5 * angle)]
    )
    made.add_joint(upper, name=f"{leg} swing", type="Hinge", axis=[0, 0, 1])
    made.add_joint(upper, name=f"{leg} lift", type="Hinge", axis=[0, 1, 0])
    made.add_body(
        name=lower, parent=upper, position=[UPPER, 0, 0], orientation=[math.cos(0.5 * KNEE), 0, math.sin(0.5 * KNEE), 0]
    )
    made.add_joint(lower, name=f"{leg} knee", type="Hinge", axis=[0, 1, 0])
    for body, length in ((upper, UPPER), (lower, LOWER)):
        made.add_shape(
            body,
            name=body,
            type="Box",
            size=[0.5 * length, THICK, THICK],
            position=[0.5 * length, 0.0, 0.0],
            density=300.0,
            friction=task.foot_friction,
            color=[0.45, 0.65, 0.5, 1.0],
        )
    for joint in ("swing", "lift", "knee"):
        damping = 2.0 * math.sqrt(task.stiffness * 0.01)  # critical for 0.01 kg m^2
        made.add_actuator(
            name=f"{leg} {joint}",
            type="Pd",
            joint=f"{leg} {joint}",
            kp=task.stiffness,
            kd=damping,
            velocity_input=False,
        )
