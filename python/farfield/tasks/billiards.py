# SPDX-License-Identifier: Apache-2.0
"""Billiards [LongRange2026, A.6.2]: one shot of the cue ball has to send chosen balls of a rack to their places.

Unknowns are the cue ball's initial horizontal position and velocity. Places are where the balls ended under a hidden shot, so that they
can be reached. Each start is trivial: the cue ball at rest, more than ten radii from every other ball.

The physics. Balls are coarse polyhedra that stand on a face, in all six degrees of freedom. They slide on the ground with a small
friction, that of a rolling ball (0.01), and there is none between balls; drag stands for the rest. Repulsion between neighbours is kept
below friction by the spacing, so the rack stays where it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import farfield as ff
from farfield.marker import Marker
from farfield.optimize.gauss_newton import GaussNewtonOptions
from farfield.optimize.losses import ReachLoss
from farfield.optimize.multistart import Attempts, Multistart, Polished, Round, ring
from farfield.optimize.optimizers import Adam
from farfield.optimize.parameterizations import InitialState
from farfield.optimize.projections import Disc, Outside, Sequential
from farfield.optimize.starts import Started
from farfield.options import option
from farfield.tasks.balls import RADIUS, ball_mesh, rack_places
from farfield.tasks.task import Problem, Task, long_range_options

MASS = 0.17  # [kg]
REST_GAP = 1.5e-3  # between a resting ball and the ground, where repulsion carries it [m]
FREQUENCY = {32: 2, 128: 4, 392: 7}  # triangles -> parts into which an edge of the octahedron is cut
MOVED = 3.0 * RADIUS  # a target ball moves at least this far under the hidden shot [m]
SHOT_SPEED = (1.5, 3.0)  # of the hidden shot and of samples [m/s]
SHOT_OFFSET = 0.8  # the line of a shot passes the middle of the rack at most this far away [m]
# Rounds of a ring: iterations, share of the starts that go on, length of steps.
SCHEDULE = ((3, 1.0, 2.5), (8, 0.5, 1.0), (8, 0.25, 0.5), (8, 0.2, 0.2))
LARGEST_SPEED = 4.0  # of the cue ball [m/s]
COLORS = {"cue": (0.85, 0.15, 0.15, 1.0), "target": (0.2, 0.65, 0.3, 1.0), "ball": (0.92, 0.9, 0.82, 1.0)}


@dataclass(frozen=True)
class Billiards(Task):
    """Shoot the cue ball so that one or two of 15 racked balls stop on their marks.

    start=ring: several cue balls at rest around the rack, isotropic Adam with smaller and smaller steps, the worse given up on
    the way, Gauss-Newton from the best.
    start=single: one cue ball at rest, per-coordinate Adam. start=sampled: the best of random shots, then as single.
    """

    targets: int = option(1, "balls that have a place to go to", choices=(1, 2))
    start: str = option("ring", "where the search starts", choices=("ring", "single", "sampled"))
    iterations: int = option(0, "Adam iterations; 0 means 27 for a ring and 400 else", least=0)
    steps: int = option(100, "time steps", above=0)
    dt: float = option(0.04, "time step [s]", above=0)
    radius: float = option(0.1, "balls have to end this near to their places [m]", above=0)
    plan_radius: float = option(0.09, "the loss is zero within this distance [m]", above=0)
    contact_stiffness: float = option(1.0, "of the long-range model, around its automatic weight", above=0)
    weight: float = option(0.0, "of the long-range model as printed in the paper [J]; 0: contact_stiffness", least=0)
    triangles: int = option(32, "of a ball", choices=tuple(FREQUENCY))
    spacing: float = option(0.4, "between neighbours in the rack [m]", above=2.0 * RADIUS)
    friction: float = option(0.01, "of the ground", least=0)
    drag: float = option(0.8, "linear damping over mass [1/s]", least=0)
    learning_rate: float = option(0.03, "of the single and the sampled start [m, m/s]", above=0)
    starts: int = option(12, "cue balls of the ring", above=0)
    ring_rate: float = option(0.05, "learning rate of the ring's positions [m]", above=0)
    ring_speed_rate: float = option(0.15, "learning rate of the ring's velocities [m/s]", above=0)
    polish: int = option(10, "Gauss-Newton iterations from each of the best starts of a ring", least=0)
    polished: int = option(3, "how many of the ring's starts are polished", least=0)
    attempts: int = option(2, "rings, each turned against the one before, until one succeeds", above=0)
    samples: int = option(16, "random shots of which the sampled start takes the best", above=0)

    def build(self, seed: int) -> Problem:
        """The table; which balls have to go where is drawn from the seed."""
        table = Table(self)
        generator = np.random.default_rng(seed)
        balls, places = table.hidden_shot(generator, self.targets)
        names = [table.model.body_names[ball] for ball in balls]
        judge = ReachLoss(names, places, self.radius, when="end")
        model = ff.build_model(scene(self, targets=names))
        heights = table.state.q.reshape(-1, 7)[np.array(balls) - 1, 2]
        return Problem(
            model=model,
            parameters=table.parameters,
            parameterization=InitialState(
                model, table.state, table.controls, positions=table.cue, velocities=table.cue
            ),
            loss=ReachLoss(names, places, self.plan_radius, when="end"),
            driver=lambda objective: self._driver(objective, table, generator),
            success=lambda trajectory: bool(judge.distances(trajectory)[-1].max() <= self.radius),
            report=lambda trajectory: {
                "distance": float(judge.distances(trajectory)[-1].max()),
                "distances": [float(d) for d in judge.distances(trajectory)[-1]],
                "balls": names,
            },
            dt=self.dt,
            state=table.state,
            contact_options={"longrange": long_range_options(self)},
            markers=[
                Marker(f"place of {name}", (*place, height), self.radius, rgba=(0.2, 0.65, 0.3, 0.4))
                for name, place, height in zip(names, places, heights, strict=True)
            ],
            sample=table.random_shot,
            trails=["cue", *names],
            probe="cue",
        )

    def _driver(self, objective: Any, table: Table, generator: np.random.Generator) -> Any:
        given = isinstance(objective.parameterization, Started)  # a start from outside replaces those of this task
        if self.start == "ring" and not given:
            # the starts of later attempts lie between those of the first
            turn = 2.0 * math.pi / (self.starts * self.attempts)
            return Attempts([self._ring(objective, table, math.pi + k * turn) for k in range(self.attempts)])
        count = self.iterations or 400
        if self.start == "single" or given:
            points, rounds = [objective.parameterization.initial()], [Round(count, 1)]
        else:
            points = [table.random_shot(generator) for _ in range(self.samples)]
            rounds = [Round(1, self.samples), Round(count, 1)]
        return Multistart(objective, points, lambda: Adam(self.learning_rate), rounds, projection=table.projection())

    def _ring(self, objective: Any, table: Table, phase: float) -> Multistart | Polished:
        places = ring(table.center, table.start_distance, self.starts, phase=phase)
        usual = sum(iterations for iterations, _, _ in SCHEDULE)
        rounds = [
            Round(
                max(round(iterations * (self.iterations or usual) / usual), 1),
                max(round(share * self.starts), 1),
                rate=rate,
            )
            for iterations, share, rate in SCHEDULE
        ]
        rates = np.array([self.ring_rate, self.ring_rate, self.ring_speed_rate, self.ring_speed_rate])
        search = Multistart(
            objective,
            [np.array([*place, 0.0, 0.0]) for place in places],
            # No memory: where a shot begins to hit, gradients jump by six decades, and a second moment would remember that for long.
            lambda: Adam(rates, betas=(0.0, 0.0), groups=[[0, 1], [2, 3]]),
            rounds,
            projection=table.projection(),
        )
        if not objective.capabilities.jacobian:
            return search
        options = GaussNewtonOptions(
            iterations=self.polish, trust=0.5, smallest_trust=5e-3, scale=np.array([0.3, 0.3, 1.0, 1.0])
        )
        return Polished(search, options, count=self.polished)


class Table:
    """The rack and everything a shot needs."""

    def __init__(self, task: Billiards) -> None:
        self.task = task
        self.model = ff.build_model(scene(task))
        self.parameters = self.model.default_parameters()
        damping = np.full((self.model.num_bodies - 1, 6), task.drag * MASS)
        damping[:, 3:] *= RADIUS**2  # resistance to turning, of the size that drag at the surface would have
        self.parameters.damping = damping.reshape(-1)
        self.state = self.model.default_state()
        self.controls = np.zeros((task.steps, self.model.num_controls))
        first = self.model.joint_dofs("cue").start
        self.cue = [first, first + 1]
        self.center, extent = rack_circle(task.spacing)
        self.start_distance = extent + 11.0 * RADIUS

    def projection(self) -> Sequential:
        """Where the cue ball may be put, off the rack and not too far from it, and how fast it may be."""
        rack = self.start_distance - 8.0 * RADIUS
        return Sequential(
            Outside(self.center, rack, [0, 1]),
            Disc(self.center, self.start_distance + 1.0, [0, 1]),
            Disc([0.0, 0.0], LARGEST_SPEED, [2, 3]),
        )

    def random_shot(self, generator: np.random.Generator) -> np.ndarray:
        """A shot from the circle of starts towards the rack: position and velocity."""
        angle = generator.uniform(-math.pi, math.pi)
        outward, across = (math.cos(angle), math.sin(angle)), (-math.sin(angle), math.cos(angle))
        place = self.center + self.start_distance * np.array(outward)
        line = self.center + generator.uniform(-SHOT_OFFSET, SHOT_OFFSET) * np.array(across) - place
        return np.concatenate([place, generator.uniform(*SHOT_SPEED) * line / np.linalg.norm(line)])

    def hidden_shot(self, generator: np.random.Generator, count: int) -> tuple[list[int], np.ndarray]:
        """Bodies that a random shot moves far enough, and where they end."""
        shot = InitialState(self.model, self.state, self.controls, positions=self.cue, velocities=self.cue)
        contact = ff.LongRange(**long_range_options(self.task))
        for _ in range(100):
            state = shot.decode(self.random_shot(generator)).state
            trajectory = ff.rollout(
                self.model, self.parameters, state, self.controls, dt=self.task.dt, contact=contact, tolerance=1e-7
            )
            if not trajectory.converged:
                continue
            places = trajectory.q.reshape(len(trajectory.q), -1, 7)[:, :, :2]
            moved = np.linalg.norm(places[-1] - places[0], axis=1)
            far = [k + 1 for k in range(1, len(moved)) if moved[k] >= MOVED]
            if len(far) >= count:
                balls = [int(ball) for ball in generator.choice(far, count, replace=False)]
                return balls, places[-1, np.array(balls) - 1]
        raise ValueError(f"billiards: no shot of 100 moved {count} balls by {MOVED} m; try less friction")


def rack_circle(spacing: float) -> tuple[np.ndarray, float]:
    """Middle of the rack and distance of its corner balls from there [m]."""
    places = rack_places(spacing)
    center = places.mean(axis=0)
    return center, float(np.linalg.norm(places - center, axis=1).max())


def scene(task: Billiards, targets: list[str] | None = None) -> ff.Scene:
    """Ground, cue ball and rack; the balls named in ``targets`` are drawn in green."""
    mesh = ball_mesh(RADIUS, FREQUENCY[task.triangles])
    made = ff.Scene(name="billiards", meshes=[mesh])
    made.add_shape(0, name="ground", type="HalfSpace", friction=task.friction)
    moments = ff.Moments.from_inertia(mass=MASS, center=np.zeros(3), inertia=0.4 * MASS * RADIUS**2 * np.eye(3))
    height = REST_GAP - mesh.vertices[:, 2].min()
    center, extent = rack_circle(task.spacing)
    cue = center - [extent + 11.0 * RADIUS, 0.0]
    for k, place in enumerate([cue, *rack_places(task.spacing)]):
        name = f"ball {k}" if k else "cue"
        kind = "cue" if k == 0 else "target" if name in (targets or ()) else "ball"
        made.add_body(name=name, position=[*place, height], moments=moments)
        made.add_joint(name, name=name, type="Free")
        made.add_shape(name, name=name, type="Mesh", mesh=0, friction=0.0, color=COLORS[kind])
    return made
