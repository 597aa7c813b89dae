# SPDX-License-Identifier: Apache-2.0
"""What the soft-minimum law is for, and where it ends: how far its forces reach, a push found by gradients from no contact, and mass and
friction identified from one push."""

from __future__ import annotations

import math
import time

import numpy as np

import farfield as ff
from farfield.engines.adjoint import Adjoint
from farfield.optimize import GaussNewton, GaussNewtonOptions, ParameterSubset
from farfield.optimize.losses import Partials, ResidualLoss
from farfield.tasks import t_push

GAPS = (0.02, 0.1, 1.0)  # [m]
TEMPERATURES = (5e-4, 2e-3, 5e-3)  # [m]
TRUE = {"table friction": 0.35, "mass": 0.62, "finger friction": 0.42}  # [1, kg, 1]
GUESS = {"table friction": 0.25, "mass": 0.5, "finger friction": 0.3}
NOISE = 5e-4  # of observed places [m]
LEVER = 0.1  # an angle of the T counts as this many metres per radian
DT, STEPS, EVERY = 4e-3, 200, 2
PUSHES = 0.35  # [s]


def reach() -> dict[str, list[float]]:
    """Force between T and finger [N] at GAPS: soft minima of several temperatures, and long-range contact of 1e-6 J."""
    models = {f"softmin {1e3 * eps:g} mm": t_push.contact(3, separation_temperature=eps, force_temperature=eps)
              for eps in TEMPERATURES} | {"longrange 1e-6 J": ff.LongRange(weight_in_joules=1e-6)}  # fmt: skip
    out: dict[str, list[float]] = {name: [] for name in models}
    for gap in GAPS:
        model = ff.build_model(t_push.scene((0.0, t_push.BAR - 3.5 * t_push.CELL - t_push.RADIUS - gap)))
        q = np.array(model.default_state().q)
        q[2] += t_push.CLEARANCE
        parameters = model.default_parameters()
        for name, contact in models.items():
            if name.startswith("softmin"):
                force = contact.forces(model, parameters, q).force[model.body("finger")]
            else:
                force = contact.evaluate(model, parameters, q).wrench[model.body("finger"), :3]
            out[name].append(math.hypot(*force))  # squares would be zero
    return out


def push_by_gradients(contact: str, seed: int = 0, *, cpu_seconds: float = np.inf, **options) -> dict:
    """The task t-push from rest controls, until it is solved or its time is up."""
    task = t_push.TPush(**options)
    problem = task.build(seed)
    law, parameters = problem.contact(contact)
    objective = Adjoint(
        problem.model,
        parameters,
        problem.parameterization,
        problem.loss,
        state=problem.state,
        dt=problem.dt,
        contact=law,
    )
    driver = problem.driver(objective)
    began = time.process_time()
    while not driver.done and time.process_time() - began < cpu_seconds:
        driver.advance()
    seconds = time.process_time() - began
    motion = driver.motion(objective.roll)
    return {"contact": contact, "seed": seed, "gap_cm": 100 * task.gap, "iterations": driver.iterations, "cpu_seconds": seconds,
            "distance_mm": 1e3 * float(problem.report(motion)["distance"]), "solved": bool(problem.success(motion))}  # fmt: skip


class PoseLoss(ResidualLoss):
    """How far T and finger are from where they were seen, as residuals of Gauss-Newton [m]."""

    # Degrees of freedom that are seen: place and yaw of the T (it lies flat, so that yaw is its turn about z), place of the finger.
    SEEN = ((0, 1.0), (1, 1.0), (5, LEVER), (6, 1.0), (7, 1.0))

    def __init__(self, observed: np.ndarray) -> None:
        self.observed = observed  # (samples, 5)

    @staticmethod
    def seen(trajectory: ff.Trajectory) -> np.ndarray:
        q = np.asarray(trajectory.q)[EVERY::EVERY]
        return np.hstack([t_push.pose(q) * [1.0, 1.0, LEVER], q[:, 7:9]])

    def residuals(self, trajectory: ff.Trajectory) -> np.ndarray:
        return (self.seen(trajectory) - self.observed).ravel()

    def residual_partials(self, trajectory: ff.Trajectory) -> list[Partials]:
        out = []
        for k in range(len(self.observed)):
            for dof, scale in self.SEEN:
                by_q = np.zeros((len(trajectory.q), trajectory.model.num_dofs))
                by_q[EVERY * (k + 1), dof] = scale
                out.append(Partials(by_q=by_q))
        return out

    def __call__(self, trajectory: ff.Trajectory) -> tuple[float, Partials]:
        residuals = self.residuals(trajectory).reshape(self.observed.shape)
        by_q = np.zeros((len(trajectory.q), trajectory.model.num_dofs))
        for column, (dof, scale) in enumerate(self.SEEN):
            by_q[EVERY::EVERY, dof] = 2.0 * scale * residuals[:, column]
        return float((residuals**2).sum()), Partials(by_q=by_q)


def _with(model: ff.Model, values: dict[str, float]) -> ff.Parameters:
    """Friction of table and finger alone (that of a pair is the larger one), and the mass of the T."""
    parameters = model.default_parameters()
    friction = np.zeros(model.num_bodies)
    friction[0], friction[model.body("finger")] = values["table friction"], values["finger friction"]
    parameters.friction = friction
    moments = np.array(parameters.moments)
    moments[model.body("t")] *= values["mass"] / moments[model.body("t"), 0]
    parameters.moments = moments
    return parameters


def identify(*, noise: float = NOISE, seed: int = 0, iterations: int = 15) -> dict[str, float]:
    """Table friction, mass and finger friction from one push, seen with noise; what was found, and the largest relative error."""
    under = (0.1, t_push.BAR - 0.5 * t_push.CELL - t_push.RADIUS - 2e-3)
    model = ff.build_model(t_push.scene(under, kp=150.0, kd=15.0))  # a soft drive, whose lag can be seen
    # Fast against the right arm of the T and along it, then the finger stops: while it pushes, how far it lags behind its drive says
    # friction times mass, what the T slides on by itself says friction alone, and what it drags along the arm says its own.
    s = np.minimum(DT * np.arange(STEPS) / PUSHES, 1.0)[:, None]
    controls = np.asarray(under) + np.hstack([-0.06 * s**2, 0.14 * s])
    contact = t_push.contact(3)

    def roll(parameters: ff.Parameters) -> ff.Trajectory:
        return ff.rollout(model, parameters, model.default_state(), controls, contact=contact, dt=DT)

    observed = PoseLoss.seen(roll(_with(model, TRUE)))
    observed = observed + noise * np.random.default_rng(seed).normal(size=observed.shape)
    guess = _with(model, GUESS)
    indices, directions = _unknowns(model, guess)
    unknowns = ParameterSubset(guess, indices, controls, directions=directions)
    objective = Adjoint(model, guess, unknowns, PoseLoss(observed), dt=DT, contact=contact)
    driver = GaussNewton(
        objective, unknowns.initial(), GaussNewtonOptions(iterations=iterations, trust=1.0, damping=1e-9)
    )
    while not driver.done:
        driver.advance()
    found = dict(zip(TRUE, np.array(list(GUESS.values())) * (1.0 + driver.x), strict=True))
    errors = {name: abs(found[name] / TRUE[name] - 1.0) for name in TRUE}
    return {**{name: float(value) for name, value in found.items()}, "worst_error": float(max(errors.values())),
            "iterations": driver.iterations, "residual_mm": 1e3 * float(np.sqrt(driver.here.square / observed.size))}  # fmt: skip


def _unknowns(model: ff.Model, guess: ff.Parameters) -> tuple[np.ndarray, np.ndarray]:
    """Entries of the parameters that move with each unknown, in units of its guess: a mass takes its moments along."""
    friction = np.asarray(ff.parameter_mask(model, ["friction"]))
    moments = np.asarray(ff.parameter_mask(model, ["moments"])).reshape(model.num_bodies, 10)[model.body("t")]
    indices = np.concatenate([friction[[0]], moments, friction[[model.body("finger")]]])
    base = guess.flatten()[indices]
    directions = np.zeros((len(indices), 3))
    directions[0, 0], directions[1:-1, 1], directions[-1, 2] = base[0], base[1:-1], base[-1]
    return indices, directions
