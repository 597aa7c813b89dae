# SPDX-License-Identifier: Apache-2.0
"""Checks the gradient of a user's own scene against finite differences, from touching to far apart.

Loss: a seeded linear functional of all body poses after a rollout. One free body is moved along the line of its closest points to a
ladder of gaps; at each gap the analytic derivative along one random direction per quantity is compared with :func:`farfield.differences.slope_of_batch`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import numpy as np

import farfield as ff
from farfield.differences import Difference, slope_of_batch

GAPS = tuple(np.logspace(-4, 1, 11))
STEPS, TOLERANCE, NOISE_FACTOR = 20, 1e-5, 10.0
SOLVER_TOLERANCE = 1e-10
LADDER = tuple(10.0 ** (-k / 2) for k in range(3, 10))


@dataclass
class Case:
    """One derivative at one gap."""

    gap: float  #: distance of the moved body to its nearest neighbour [m]
    quantity: str
    analytic: float
    fd: float
    relative_error: float
    fd_noise: float  #: disagreement of the two best neighbouring difference steps, absolute
    ok: bool
    noise_limited: bool  #: the differences themselves are too noisy to tell


@dataclass
class Report:
    """All cases, and places that could not be reached."""

    body: str
    cases: list[Case]
    skipped: list[str]

    @property
    def passed(self) -> bool:
        return bool(self.cases) and all(case.ok for case in self.cases)

    @property
    def max_relative_error(self) -> float:
        """Over the cases that are not limited by the noise of the differences."""
        return max((case.relative_error for case in self.cases if not case.noise_limited), default=float("nan"))

    def to_dict(self) -> dict:
        cases = [asdict(case) for case in self.cases]
        return {
            "passed": self.passed,
            "max_relative_error": self.max_relative_error,
            "body": self.body,
            "cases": cases,
            "skipped": self.skipped,
        }


@dataclass
class Experiment:
    """Everything the loss depends on."""

    model: ff.Model
    parameters: ff.Parameters
    state: ff.State
    controls: np.ndarray
    contact: ff.ContactModel | None
    dt: float
    weights: np.ndarray  #: of the loss, shape (bodies, 12): position, then rotation matrix by rows

    def run(self) -> ff.Trajectory:
        return ff.rollout(
            self.model,
            self.parameters,
            self.state,
            self.controls,
            dt=self.dt,
            contact=self.contact,
            tolerance=SOLVER_TOLERANCE,
        )

    def losses(self, changes: list[dict]) -> list[float]:
        """The loss with each of the changes (of parameters, state or controls), on all cores."""
        trajectories = ff.rollout_batch(
            self.model,
            [change.get("parameters", self.parameters) for change in changes],
            [change.get("state", self.state) for change in changes],
            [change.get("controls", self.controls) for change in changes],
            dt=self.dt,
            contact=self.contact,
            tolerance=SOLVER_TOLERANCE,
        )
        return [self.loss(trajectory) for trajectory in trajectories]

    def loss(self, trajectory: ff.Trajectory) -> float:
        if not trajectory.converged:
            return float("nan")
        pose = ff.forward_kinematics(self.model, trajectory.parameters, trajectory.q[-1])
        return float(
            (self.weights[:, :3] * pose[:, :3]).sum() + (self.weights[:, 3:] * rotations(pose).reshape(-1, 9)).sum()
        )

    def partials(self, trajectory: ff.Trajectory) -> np.ndarray:
        """dL/dpose at the last state, zero before."""
        pose = ff.forward_kinematics(self.model, trajectory.parameters, trajectory.q[-1])
        moment = self.weights[:, 3:].reshape(-1, 3, 3) @ rotations(pose).transpose(0, 2, 1)
        out = np.zeros((len(trajectory.q), self.model.num_bodies, 6))
        out[-1, :, :3] = self.weights[:, :3]
        for axis, (i, j) in enumerate(((2, 1), (0, 2), (1, 0))):
            out[-1, :, 3 + axis] = moment[:, i, j] - moment[:, j, i]
        return out


def rotations(pose: np.ndarray) -> np.ndarray:
    """Rotation matrices of rows (position, w, x, y, z)."""
    w, x, y, z = pose[:, 3:].T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.array(rows).transpose(2, 0, 1)


def free_bodies(model: ff.Model) -> list[str]:
    """Bodies with a free joint, lightest first."""
    scene, mass = model.scene, model.default_parameters().moments[:, 0]
    names = [body.name for body in scene.bodies if any(joint.type == ff.JointType.Free for joint in body.joints)]
    return sorted(names, key=lambda name: mass[model.body(name)])


def moved_to_gap(model: ff.Model, parameters: ff.Parameters, q: np.ndarray, body: int, gap: float) -> np.ndarray | None:
    """q with the body moved along the line of its closest points until its nearest neighbour is ``gap`` away; None when something is in the way."""
    joint = next(j.name for j in model.scene.bodies[body].joints)
    place = model.joint_q(joint).start
    q = np.array(q)
    for _ in range(20):  # the closest features may change on the way
        pairs = [pair for pair in ff.closest_points(model, parameters, q) if body in (pair.a, pair.b)]
        nearest = min(pairs, key=lambda pair: pair.distance, default=None)
        if nearest is None or not np.isfinite(nearest.distance) or nearest.distance <= 0.0:
            return None
        if abs(nearest.distance - gap) <= 1e-3 * gap:
            return q
        away = (np.array(nearest.point_a) - np.array(nearest.point_b)) / nearest.distance
        q[place : place + 3] += (gap - nearest.distance) * (away if nearest.a == body else -away)
    return None


def quantities(
    e: Experiment, gradient: ff.RolloutGradient, scale: float, random: np.random.Generator
) -> Iterator[tuple[str, float, Callable[[float], dict]]]:
    """(name, analytic slope, change at a distance along the direction) of every quantity the scene has."""

    def unit(size) -> np.ndarray:
        direction = random.standard_normal(size)
        return direction / np.linalg.norm(direction)

    def parameter(name: str, value) -> dict:
        moved = e.parameters.copy()
        setattr(moved, name, value)
        return {"parameters": moved}

    def state(q: np.ndarray, v: np.ndarray) -> dict:
        return {"state": ff.State(q=q, v=v)}

    p, g = e.parameters, gradient.parameters
    tangent = scale * (e.model.reduction @ unit(e.model.num_unknowns))
    speed = scale / e.dt * (e.model.reduction @ unit(e.model.num_unknowns))
    yield "position", gradient.q0 @ tangent, lambda h: state(ff.retract(e.model, e.state.q, h * tangent), e.state.v)
    yield "velocity", gradient.v0 @ speed, lambda h: state(e.state.q, e.state.v + h * speed)
    if e.model.num_controls:
        push = unit(e.controls.shape)
        yield "controls", (gradient.controls * push).sum(), lambda h: {"controls": e.controls + h * push}
    mass = random.uniform(0.5, 1.0, (e.model.num_bodies, 1)) * p.moments
    yield "masses", (g.moments * mass).sum(), lambda h: parameter("moments", p.moments + h * mass)
    if e.contact is None or not e.model.contact_pairs:
        return
    # One factor for all bodies that can touch another: where two coefficients are equal, only their common change has one slope.
    paired = {name for pair in e.model.contact_pairs for name in pair}
    rough = p.friction * [body.name in paired for body in e.model.scene.bodies]
    if rough.any():
        yield "friction", g.friction @ rough, lambda h: parameter("friction", p.friction + h * rough)
    yield (
        "stiffness",
        g.contact_stiffness * p.contact_stiffness,
        lambda h: parameter("contact_stiffness", p.contact_stiffness * (1 + h)),
    )


def judge(gap: float, quantity: str, analytic: float, numeric: Difference) -> Case:
    error = abs(numeric.value - analytic)
    relative = error / max(abs(numeric.value), abs(analytic), 1e-300)
    within_noise = error <= NOISE_FACTOR * numeric.noise
    ok = bool(np.isfinite(relative) and (relative <= TOLERANCE or within_noise))
    return Case(
        gap, quantity, analytic, numeric.value, relative, numeric.noise, ok, bool(relative > TOLERANCE and within_noise)
    )


def gradcheck(
    model: ff.Model,
    parameters: ff.Parameters,
    *,
    contact: ff.ContactModel | None,
    body: str | None = None,
    state: ff.State | None = None,
    dt: float = 0.01,
    seed: int = 0,
    progress: Callable[[str], None] = lambda text: None,
) -> Report:
    """Checks all derivatives at every gap. ``body``: the free body to move, the lightest by default; without one only the given state is checked.

    Raises ValueError for a body that is unknown or not free.
    """
    random = np.random.default_rng(seed)
    state = model.default_state() if state is None else state
    candidates = free_bodies(model)
    if body is not None and body not in candidates:
        raise ValueError(
            f"gradcheck: body '{body}', expected a body with a free joint: {', '.join(candidates) or 'the scene has none'}"
        )
    name = body or (candidates[0] if candidates else "")
    controls = np.tile(model.default_control(), (STEPS, 1)) + 0.1 * random.standard_normal((STEPS, model.num_controls))
    weights = random.standard_normal((model.num_bodies, 12))
    movable = bool(name) and contact is not None and any(name in pair for pair in model.contact_pairs)
    report = Report(name, [], [])
    for gap in GAPS if movable else (float("nan"),):
        q = moved_to_gap(model, parameters, state.q, model.body(name), gap) if movable else state.q
        if q is None:
            report.skipped.append(f"gap {gap:.3g}: something is in the way of body '{name}'")
            continue
        e = Experiment(model, parameters, ff.State(q=q, v=state.v), controls, contact, dt, weights)
        trajectory = e.run()
        if not trajectory.converged:
            report.skipped.append(f"gap {gap:.3g}: the rollout did not converge ({trajectory.reports[-1].status})")
            continue
        gradient = ff.rollout_vjp(trajectory, dL_dpose=e.partials(trajectory))
        scale = min(0.1, trajectory.min_gap)
        for quantity, analytic, change in quantities(e, gradient, scale, random):
            progress(f"gap {gap:.2g} m, {quantity}")
            numeric = slope_of_batch(lambda points, e=e, change=change: e.losses([change(h) for h in points]), LADDER)
            report.cases.append(judge(gap, quantity, float(analytic), numeric))
    return report
