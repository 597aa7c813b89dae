# SPDX-License-Identifier: Apache-2.0
"""Push: a rod that stands between a box and the box's target has to find its way round and push the box home.

Every control starts as the rod's rest pose, and the rod touches nothing: whatever it learns comes from contact forces at a
distance. Settings after [LongRange2026, A.6]; what is added to them are the isotropic groups of Adam and the reach disc.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import farfield as ff
from farfield.marker import Marker
from farfield.optimize.gauss_newton_horizon import GaussNewtonHorizon
from farfield.optimize.horizon import RecedingHorizon
from farfield.optimize.losses import ReachLoss
from farfield.optimize.optimizers import Adam
from farfield.optimize.parameterizations import DirectTargets
from farfield.optimize.projections import Box, Disc, Sequential
from farfield.optimize.starts import KNOTS, curve
from farfield.options import option
from farfield.tasks.cube import add_cube
from farfield.tasks.rod import add_rod
from farfield.tasks.task import Problem, Task, long_range_options

BOX_SIDE = 0.4  # [m]
ROD_HEIGHT = 0.2  # [m]


@dataclass(frozen=True)
class Push(Task):
    """Push a box to a target with a rod that starts on the wrong side of it, at rest, touching nothing."""

    frames: int = option(200, "time steps of the motion", above=0)
    horizon: int = option(48, "time steps looked ahead", above=0)
    iterations: int = option(10, "optimiser iterations per window at most", above=0)
    first_iterations: int = option(10, "of the first window", above=0)
    dt: float = option(0.04, "time step [s]", above=0)
    planner: str = option(
        "adam", "what improves a window's plan; gauss-newton takes exact gradients", choices=("adam", "gauss-newton")
    )
    stride: int = option(1, "time steps applied of each plan", above=0)
    learning_rate: float = option(1e-2, "of Adam [m, rad]", above=0)
    trust: float = option(0.5, "shortest step of Gauss-Newton over a whole window [m, rad]", above=0)
    optimizer: str = option(
        "isotropic", "Adam's second moment: per group or per coordinate", choices=("isotropic", "plain")
    )
    reach: float = option(0.7, "radius of the disc around the box that holds the rod's targets [m]; 0: none", least=0)
    lift: float = option(0.1, "largest change of the rod's target height [m]", least=0)
    tilt: float = option(0.2, "largest target pitch and roll of the rod [rad]", least=0)
    radius: float = option(0.05, "the box has to end this near to its target [m]", above=0)
    plan_radius: float = option(0.045, "the loss is zero within this distance [m]", above=0)
    when: str = option("sum", "loss over the whole window or at its end", choices=("sum", "end"))
    contact_stiffness: float = option(3.0, "of the long-range model, around its automatic weight", above=0)
    weight: float = option(0.0, "of the long-range model as printed in the paper [J]; 0: contact_stiffness", least=0)
    friction: float = option(0.0, "Coulomb coefficient of everything; 0: drawn from 0.3 to 0.5", least=0)
    slip_speed: float = option(1e-2, "smoothing of friction [m/s]", above=0)
    blend: float = option(1.0, "blending margin of the long-range model", above=0)
    range: float = option(0.0, "where contact begins in models of finite range [m]; 0: the model's default", least=0)
    stiffness: float = option(500.0, "of the rod's position drive [N/m]; critically damped for 1 kg", above=0)

    def build(self, seed: int) -> Problem:
        """The scene: heading of the rod, target and friction are drawn from the seed."""
        generator = np.random.default_rng(seed)
        heading = generator.uniform(-math.pi, math.pi)
        bearing = heading + generator.uniform(-math.pi / 4, math.pi / 4)
        target = generator.uniform(1.0, 1.5) * np.array([math.cos(bearing), math.sin(bearing)])
        drawn = generator.uniform(0.3, 0.5)
        friction = self.friction if self.friction > 0 else drawn
        model = ff.build_model(scene(heading, friction, self.stiffness))
        parameters = model.default_parameters()
        box_place = model.joint_q("box")
        base = np.tile(model.default_control(), (self.horizon, 1))
        height = base[0, 2]
        inf = np.inf
        bounds = Box(
            [-inf, -inf, height - self.lift, -inf, -self.tilt, -self.tilt],
            [inf, inf, height + self.lift, inf, self.tilt, self.tilt],
        )

        def near_the_box(state: ff.State):
            return Sequential(Disc(state.q[box_place][:2], self.reach, (0, 1)), bounds) if self.reach > 0 else bounds

        groups = [[0, 1, 2], [3, 4, 5]] if self.optimizer == "isotropic" else None
        judge = ReachLoss(["box"], target, self.radius)
        return Problem(
            model=model,
            parameters=parameters,
            parameterization=DirectTargets(base),
            loss=ReachLoss(["box"], target, self.plan_radius, when=self.when),
            driver=lambda objective: self._driver(objective, Adam(self.learning_rate, groups=groups), near_the_box),
            success=lambda trajectory: judge.distances(trajectory)[-1, 0] <= self.radius,
            report=lambda trajectory: {"distance": judge.distances(trajectory)[-1, 0]},
            dt=self.dt,
            contact_options=self._contact_options(),
            sample=lambda generator: self._random_motion(generator, base),
            markers=[
                Marker("target", (*target, 0.5 * BOX_SIDE), self.radius),
                Marker("target place", (*target, 2e-3), 0.75 * BOX_SIDE, flat=True),
            ],
            trails=["rod", "box"],
            probe="rod",
        )

    def _driver(self, objective, optimizer, projection) -> RecedingHorizon:
        options = {
            "frames": self.frames,
            "stride": self.stride,
            "iterations": self.iterations,
            "first_iterations": self.first_iterations,
            "projection": projection,
        }
        if self.planner == "adam" or not objective.capabilities.jacobian:
            return RecedingHorizon(objective, optimizer, **options)
        return GaussNewtonHorizon(objective, optimizer, trust=2.0 * self.trust, floor=self.trust, **options)

    def _random_motion(self, generator: np.random.Generator, base: np.ndarray) -> np.ndarray:
        """Targets that wander from the rest pose through random places within reach of the box, at random headings."""
        knots, count = np.tile(base[0], (KNOTS, 1)), KNOTS - 1
        angle = generator.uniform(-math.pi, math.pi, count)
        distance = (self.reach or 0.7) * np.sqrt(generator.uniform(0.0, 1.0, count))
        knots[1:, 0], knots[1:, 1] = distance * np.cos(angle), distance * np.sin(angle)
        knots[1:, 2] += generator.uniform(-self.lift, self.lift, count)
        knots[1:, 3] += generator.uniform(-math.pi, math.pi, count)
        knots[1:, 4:] = generator.uniform(-self.tilt, self.tilt, (count, 2))
        return curve(knots, self.horizon)

    def _contact_options(self) -> dict[str, dict]:
        near = {"range": self.range} if self.range > 0 else {}
        far = {"blend": [self.blend], **long_range_options(self)}
        own = {"longrange": far, "polyhedral": near, "ipc": near, "ipc-global": {}}
        return {name: {"slip_speed": self.slip_speed, **options} for name, options in own.items()}


def scene(heading: float, friction: float, stiffness: float) -> ff.Scene:
    """A rod at `heading` [rad] seen from the box, across the line between them."""
    scene = ff.Scene(name="push")
    scene.add_shape(0, name="ground", type="HalfSpace", friction=friction)
    place = [0.4 * math.cos(heading), 0.4 * math.sin(heading), ROD_HEIGHT]
    add_rod(scene, place, heading, friction=friction, stiffness=stiffness)
    add_cube(scene, "box", (0.0, 0.0), side=BOX_SIDE, friction=friction)
    return scene
