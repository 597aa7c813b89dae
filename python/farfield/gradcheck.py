# SPDX-License-Identifier: Apache-2.0
"""Checks the gradient of a user's own scene against finite differences, from touching to far apart.

Loss: a seeded linear functional of all body poses after a rollout. One free body is moved along the line of its closest points to a
ladder of gaps; at each gap the analytic derivative along one random direction per quantity is compared with :func:`farfield.differences.slope_of_batch`.
Quantities are the initial positions and velocities, the controls, and every field of the parameters; those that the scene or the contact
model does not have are named with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from dataclasses import field as dataclass_field
from typing import Any

import numpy as np

import farfield as ff
from farfield.body_moments import moment_matrix, moments_direction
from farfield.differences import Difference, slope_of_batch
from farfield.loss_check import loss_cases
from farfield.unknowns_check import unknowns_cases

GAPS = tuple(np.logspace(-4, 1, 11))
STEPS, TOLERANCE, NOISE_FACTOR = 20, 1e-5, 10.0
SOLVER_TOLERANCE, FINER_TOLERANCE = 1e-10, 1e-13
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
    unchecked: dict[str, str]  #: quantity -> why it has no case
    mistakes: list[str] = dataclass_field(default_factory=list)  #: wrong partials of a task's loss or unknowns, named

    @property
    def passed(self) -> bool:
        return bool(self.cases) and all(case.ok for case in self.cases) and not self.mistakes

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
            "unchecked": self.unchecked,
            "mistakes": self.mistakes,
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
    script: np.ndarray | None = None  #: of kinematic bodies

    def run(self) -> ff.Trajectory:
        return ff.rollout(
            self.model,
            self.parameters,
            self.state,
            self.controls,
            dt=self.dt,
            contact=self.contact,
            tolerance=SOLVER_TOLERANCE,
            script=self.script,
        )

    def losses(self, changes: list[dict], tolerance: float = SOLVER_TOLERANCE) -> list[float]:
        """The loss with each of the changes (of parameters, state or controls), on all cores."""
        trajectories = ff.rollout_batch(
            self.model,
            [change.get("parameters", self.parameters) for change in changes],
            [change.get("state", self.state) for change in changes],
            [change.get("controls", self.controls) for change in changes],
            dt=self.dt,
            contact=self.contact,
            tolerance=tolerance,
            scripts=None if self.script is None else [self.script] * len(changes),
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


@dataclass
class Quantity:
    """Something the loss depends on, and a direction to move it in."""

    name: str
    analytic: float  #: slope along the direction
    change: Callable[[float], dict]  #: what to change for a distance along the direction


def quantities(
    e: Experiment, gradient: ff.RolloutGradient, scale: float, random: np.random.Generator
) -> Iterator[Quantity | tuple[str, str]]:
    """Every quantity, or its name and why it cannot be checked."""

    def state(q: np.ndarray, v: np.ndarray) -> dict:
        return {"state": ff.State(q=q, v=v)}

    tangent = scale * (e.model.reduction @ unit(e.model.num_unknowns, random))
    if e.model.scene.constraints:
        tangent = constrained_tangent(e, tangent)
    speed = scale / e.dt * (e.model.reduction @ unit(e.model.num_unknowns, random))
    yield Quantity("position", gradient.q0 @ tangent, lambda h: state(moved_along(e, h * tangent), e.state.v))
    yield Quantity("velocity", gradient.v0 @ speed, lambda h: state(e.state.q, e.state.v + h * speed))
    if e.model.num_controls:
        push = unit(e.controls.shape, random)
        yield Quantity("controls", (gradient.controls * push).sum(), lambda h: {"controls": e.controls + h * push})
    else:
        yield "controls", NO_ENTRY
    direction = np.zeros(e.model.num_parameters)
    for field in e.parameters.fields():
        along = field_direction(e, field.name, scale, random)
        if isinstance(along, str):
            yield field.name, along
            continue
        direction[:] = 0.0
        direction[field.entries] = np.ravel(along)
        step = ff.Parameters.from_flat(e.model, direction)
        yield Quantity(
            field.name, gradient.parameters.dot(step), lambda h, step=step: {"parameters": e.parameters + step * h}
        )


def moved_along(e: Experiment, step: np.ndarray) -> np.ndarray:
    """Coordinates a step away that keep all constraints."""
    q = ff.retract(e.model, e.state.q, step)
    if not e.model.scene.constraints:
        return q
    return ff.project_onto_constraints(e.model, e.parameters, ff.State(q=q, v=e.state.v)).state.q


def constrained_tangent(e: Experiment, step: np.ndarray) -> np.ndarray:
    """The part of a step that keeps all constraints, by fourth-order differences of their projection."""
    h = 1e-2
    near, far = (
        ff.difference(e.model, e.state.q, moved_along(e, k * h * step))
        - ff.difference(e.model, e.state.q, moved_along(e, -k * h * step))
        for k in (1.0, 2.0)
    )
    return (8.0 * near - far) / (12.0 * h)


def unit(shape, random: np.random.Generator) -> np.ndarray:
    direction = random.standard_normal(shape)
    return direction / np.linalg.norm(direction)


NO_ENTRY = "the scene has no entry of it"


def field_direction(e: Experiment, name: str, scale: float, random: np.random.Generator) -> np.ndarray | str:
    """A change of a field that keeps the scene one that can be simulated, or why there is none.

    Positive fields change in proportion; where they are zero, by a tenth of what the lightest moving part makes of it (see `smallest_inertia`).
    """
    value = np.asarray(getattr(e.parameters, name))
    scene = e.model.scene
    if value.size == 0:
        return NO_ENTRY
    if name in ("friction", "contact_stiffness", "hull_vertices") and (e.contact is None or not e.model.contact_pairs):
        return "no contact"
    if name == "moments":
        return np.array([moments_direction(row, random) for row in value])
    if name == "attachment":
        placed = [k > 0 and not floats(body) for k, body in enumerate(scene.bodies)]
        if not any(placed):
            return "every body is free"
        return scale * unit(value.shape, random) * np.array(placed)[:, None]
    if name == "gravity":
        return max(np.linalg.norm(value), 1.0) * unit(3, random)
    if name == "hull_vertices":
        return scale * unit(value.shape, random)
    rates = {"armature": 0, "damping": 1, "kd": 1, "stiffness": 2, "kp": 2}
    proportion = random.uniform(0.5, 1.0, value.shape)
    if name in rates:
        at_zero = 0.1 * smallest_inertia(e.parameters.moments) / e.dt ** rates[name]
        return proportion * np.where(value == 0.0, at_zero, value)
    if name == "friction":
        # In one proportion: where the coefficients of a pair are equal, only their common change has one slope.
        stated = {frozenset((pair.a, pair.b)) for pair in scene.pair_friction}
        meeting = {body for pair in e.model.contact_pairs if frozenset(pair) not in stated for body in pair}
        proportion, value = 1.0, value * [body in meeting for body in e.model.body_names]
    return proportion * value if np.any(value) else "zero everywhere, and it may not be negative"


def floats(body: ff.Body) -> bool:
    """Placed by coordinates of its own, not by an attachment."""
    return body.motion == ff.BodyMotion.Kinematic or any(joint.type == ff.JointType.Free for joint in body.joints)


def smallest_inertia(moments: np.ndarray) -> float:
    """The least mass [kg] or principal inertia [kg m^2] of a body: a lower bound of what resists any degree of freedom."""
    least = np.inf
    for row in moments[moments[:, 0] > 0.0]:
        matrix = moment_matrix(row)
        second = matrix[:3, :3] - np.outer(row[1:4], row[1:4]) / row[0]
        inertia = np.linalg.eigvalsh(np.trace(second) * np.eye(3) - second)
        least = min(least, row[0], *inertia[inertia > 0.0])
    return least if np.isfinite(least) else 1.0


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
    script: np.ndarray | None = None,
    dt: float = 0.01,
    steps: int = STEPS,
    gaps: Sequence[float] | None = None,
    seed: int = 0,
    progress: Callable[[str], None] = lambda text: None,
) -> Report:
    """Checks all derivatives at every gap. ``body``: the free body to move, the lightest by default; the given state is checked as it is
    where there is none, or where it cannot be moved to any gap. ``script``: of kinematic bodies, shape (steps, 7 num_kinematic).

    Raises ValueError for a body that is unknown or not free, and for a state in which bodies intersect.
    """
    random = np.random.default_rng(seed)
    state = model.default_state() if state is None else state
    candidates = free_bodies(model)
    if body is not None and body not in candidates:
        raise ValueError(
            f"gradcheck: body '{body}', expected a body with a free joint: {', '.join(candidates) or 'the scene has none'}"
        )
    name = body or (candidates[0] if candidates else "")
    controls = np.tile(model.default_control(), (steps, 1)) + 0.1 * random.standard_normal((steps, model.num_controls))
    weights = random.standard_normal((model.num_bodies, 12))
    movable = bool(name) and contact is not None and any(name in pair for pair in model.contact_pairs)
    report = Report(name, [], [], {})
    if contact is not None:
        ff.rollout(
            model, parameters, state, controls[:0], dt=dt, contact=contact
        )  # refuses bodies that intersect, by name

    def check_at(gap: float, q: np.ndarray) -> None:
        e = Experiment(model, parameters, ff.State(q=q, v=state.v), controls, contact, dt, weights, script)
        try:
            trajectory = e.run()
        except ValueError as error:
            if q is state.q:
                raise
            report.skipped.append(
                f"{where(gap)}: {error}"
            )  # what hangs on the body is in the way, or a constraint broken
            return
        if not trajectory.converged:
            report.skipped.append(f"{where(gap)}: the rollout did not converge ({trajectory.reports[-1].status})")
            return
        gradient = ff.rollout_vjp(trajectory, dL_dpose=e.partials(trajectory))
        for item in quantities(e, gradient, min(0.1, trajectory.min_gap), random):
            if isinstance(item, Quantity):
                progress(f"{where(gap)}, {item.name}")
                check(report, e, gap, item)
            else:
                report.unchecked[item[0]] = item[1]

    for gap in (GAPS if gaps is None else gaps) if movable else ():
        q = moved_to_gap(model, parameters, state.q, model.body(name), gap)
        if q is None:
            report.skipped.append(f"{where(gap)}: something is in the way of body '{name}'")
        else:
            check_at(gap, q)
    if not report.cases:
        check_at(float("nan"), state.q)  # None of the gaps could be made.
    return report


def where(gap: float) -> str:
    """A gap in words."""
    return f"gap {gap:.3g}" if np.isfinite(gap) else "the state as given"


def check(report: Report, e: Experiment, gap: float, quantity: Quantity) -> None:
    """Adds the case of a quantity, or why there is none."""
    try:
        numeric = slope_of_batch(lambda points: e.losses([quantity.change(h) for h in points]), LADDER)
    except ValueError as error:
        if quantity.name not in {field.name for field in e.parameters.fields()}:
            raise
        report.unchecked[quantity.name] = f"refused: {error}"
        return
    if quantity.analytic == 0.0 and numeric.value == 0.0:
        if not any(case.quantity == quantity.name for case in report.cases):
            report.unchecked[quantity.name] = "no effect: derivative and differences are exactly 0"
        return
    report.unchecked.pop(quantity.name, None)
    case = judge(gap, quantity.name, float(quantity.analytic), numeric)
    if not case.ok:  # What steps leave unsolved is the same from one difference to the next: solved further, it is not.
        finer = slope_of_batch(lambda points: e.losses([quantity.change(h) for h in points], FINER_TOLERANCE), LADDER)
        finer = finer._replace(noise=max(finer.noise, abs(finer.value - numeric.value)))
        case = judge(gap, quantity.name, float(quantity.analytic), finer)
    report.cases.append(case)


def check_problem(
    report: Report,
    problem: Any,
    *,
    contact: ff.ContactModel | None,
    seed: int = 0,
    progress: Callable[[str], None] = lambda text: None,
) -> None:
    """Adds the loss partials and the parameterisation of a task's problem (`farfield.tasks.Problem`), near its trivial start."""
    random = np.random.default_rng(seed)
    unknowns, model = problem.parameterization, problem.model
    state = model.default_state() if problem.state is None else problem.state
    first = unknowns.initial()
    x = first + 1e-3 * random.standard_normal(np.shape(first))
    cases: list[tuple[str, Any]] = []
    for case in unknowns_cases(model, unknowns, x, problem.parameters, state, seed=seed):
        progress(f"parameterisation, {case.part}")
        cases.append((f"parameterisation, {case.part}", case))
    given = unknowns.decode(x)
    trajectory = ff.rollout(
        model,
        given.parameters or problem.parameters,
        given.state or state,
        given.controls,
        script=given.script,
        dt=problem.dt,
        contact=contact,
        tolerance=problem.tolerance,
    )
    if trajectory.converged:
        for case in loss_cases(model, problem.loss, trajectory, seed=seed):
            progress(f"loss, {case.what}")
            cases.append((f"loss, {case.kind}", case))
    else:
        report.skipped.append(
            f"loss: the rollout near the trivial start did not converge ({trajectory.reports[-1].status})"
        )
    for quantity in dict.fromkeys(name for name, _ in cases):
        own = [case for name, case in cases if name == quantity]
        worst = max(own, key=lambda case: (not case.ok, case.numeric.relative_error(case.analytic)))
        if not any(case.analytic or case.numeric.value for case in own):
            report.unchecked[quantity] = "no effect: derivative and differences are exactly 0"
            continue
        judged = judge(float("nan"), quantity, worst.analytic, worst.numeric)
        report.cases.append(replace(judged, ok=worst.ok, noise_limited=judged.relative_error > TOLERANCE and worst.ok))
    report.mistakes += [str(case) for _, case in cases if not case.ok]
