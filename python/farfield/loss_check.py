# SPDX-License-Identifier: Apache-2.0
"""Are the partials of a loss those of its value? Checked by differences, and named by body and component where they are not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from farfield._core import Model, State, Trajectory, body_jacobian, forward_kinematics, retract
from farfield.body_moments import moments_direction
from farfield.differences import Difference, slope

TOLERANCE, NOISE_FACTOR = 1e-6, 10.0
LADDER = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4)
POSE_PARTS = ("x", "y", "z", "rotation about x", "rotation about y", "rotation about z")
LOOKED_AT = 12  # states among which the worst one is named


@dataclass
class LossCase:
    """One partial, along one direction in all states together."""

    kind: str  #: by_pose, by_q, by_v or by_parameters
    what: str  #: as "by_pose of body 'box', y"
    analytic: float
    numeric: Difference
    ok: bool

    def __str__(self) -> str:
        return f"{self.what}: the loss says {self.analytic:.6g}, differences say {self.numeric.value:.6g}"


class Moved:
    """A trajectory whose states, poses or parameters are others: what a loss sees of it."""

    def __init__(self, trajectory: Trajectory, **changed: Any) -> None:
        self._trajectory, self._changed = trajectory, changed

    def __getattr__(self, name: str) -> Any:
        return self._changed[name] if name in self._changed else getattr(self._trajectory, name)

    def __len__(self) -> int:
        return len(self._trajectory)

    def poses(self) -> np.ndarray:
        """World placements of bodies."""
        return self._changed["_poses"] if "_poses" in self._changed else self._trajectory.poses()

    def state(self, step: int) -> State:
        """q and v after a step."""
        return State(q=np.array(self.q[step]), v=np.array(self.v[step]))


def check_loss(model: Model, loss: Callable, trajectory: Trajectory, *, seed: int = 0) -> list[LossCase]:
    """Compares the partials that a loss gives with differences of its value, at a trajectory.

    loss: as in a task, from a trajectory to (value, partials) with by_pose, by_q, by_v and by_parameters, any of them None. Returns all comparisons; raises ValueError
    that names body, component and the worst state of each partial that is wrong, one that is missing included.
    """
    cases = list(loss_cases(model, loss, trajectory, seed=seed))
    wrong = [str(case) for case in cases if not case.ok]
    if wrong:
        more = f"; and {len(wrong) - 6} more" if len(wrong) > 6 else ""
        raise ValueError("check_loss: " + "; ".join(wrong[:6]) + more)
    return cases


def loss_cases(model: Model, loss: Callable, trajectory: Trajectory, *, seed: int = 0) -> Iterator[LossCase]:
    """Every comparison, right or wrong."""
    check = _Check(model, loss, trajectory, np.random.default_rng(seed))
    places = [*check.by_pose(), *check.by_q()]
    if not all(case.ok for case in places):
        # A loss may compute poses from q by itself: then only both partials together are to be judged.
        whole = list(check.together())
        places = whole if all(case.ok for case in whole) else places
    yield from places
    yield from check.by_v()
    yield from check.by_parameters()


class _Check:
    def __init__(self, model: Model, loss: Callable, trajectory: Trajectory, random: np.random.Generator) -> None:
        self.model, self.loss, self.trajectory, self.random = model, loss, trajectory, random
        self.value, self.partials = loss(trajectory)
        states = len(trajectory.q)
        self.pose = self._array("by_pose", (states, model.num_bodies, 6))
        self.q = self._array("by_q", (states, model.num_dofs))
        self.v = self._array("by_v", (states, model.num_dofs))
        self.poses = np.array(trajectory.poses())

    def _array(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        given = getattr(self.partials, name)
        if given is None:
            return np.zeros(shape)
        if np.shape(given) != shape:
            raise ValueError(f"check_loss: {name} of shape {np.shape(given)}, expected {shape}")
        return np.asarray(given, dtype=float)

    def _measure(self, make: Callable[[float], Moved]) -> Difference:
        return slope(lambda h: float(self.loss(make(h))[0]), LADDER)

    def _case(self, kind: str, what: str, analytic: float, make: Callable[[float], Moved]) -> LossCase:
        numeric = self._measure(make)
        error, size = abs(numeric.value - analytic), max(abs(numeric.value), abs(analytic))
        return LossCase(
            kind,
            what,
            float(analytic),
            numeric,
            bool(error <= TOLERANCE * size or error <= NOISE_FACTOR * numeric.noise),
        )

    def _swept(self, kind: str, what: str, by: np.ndarray, make: Callable[[np.ndarray], Moved]) -> LossCase:
        """Along random moves of all states; when that is wrong, along the move of the one state that is worst."""
        moves = self.random.standard_normal(len(by))
        case = self._case(kind, what, by @ moves, lambda h: make(h * moves))
        if case.ok:
            return case
        worst = case
        for state in np.unique(np.linspace(0, len(by) - 1, LOOKED_AT).astype(int)):
            one = np.zeros(len(by))
            one[state] = 1.0
            single = self._case(kind, f"{what}, state {state}", by[state], lambda h, one=one: make(h * one))
            if not single.ok and (worst is case or _error(single) > _error(worst)):
                worst = single
        return worst

    def by_pose(self) -> Iterator[LossCase]:
        for body in range(1, self.model.num_bodies):
            for part, name in enumerate(POSE_PARTS):
                what = f"by_pose of body '{self.model.body_names[body]}', {name}"

                def make(moves: np.ndarray, body: int = body, part: int = part) -> Moved:
                    return Moved(self.trajectory, _poses=self._turned(body, part, moves))

                yield self._swept("by_pose", what, self.pose[:, body, part], make)

    def _turned(self, body: int, part: int, moves: np.ndarray) -> np.ndarray:
        poses = self.poses.copy()
        if part < 3:
            poses[:, body, part] += moves
            return poses
        w, u = poses[:, body, 3:4], poses[:, body, 4:]
        cosine, sine = np.cos(0.5 * moves)[:, None], np.sin(0.5 * moves)[:, None]
        axis = np.broadcast_to(np.eye(3)[part - 3], u.shape)
        poses[:, body, 3:4] = cosine * w - sine * (axis * u).sum(axis=1, keepdims=True)
        poses[:, body, 4:] = cosine * u + sine * (w * axis + np.cross(axis, u))
        return poses

    def by_q(self) -> Iterator[LossCase]:
        for dof, name in enumerate(_dof_names(self.model)):
            make = lambda moves, dof=dof: Moved(self.trajectory, q=self._moved_q(dof, moves), _poses=self.poses)  # noqa: E731
            yield self._swept("by_q", f"by_q of {name}", self.q[:, dof], make)

    def _moved_q(self, dof: int, moves: np.ndarray) -> np.ndarray:
        delta = np.zeros(self.model.num_dofs)
        rows = []
        for q, move in zip(self.trajectory.q, moves, strict=True):
            delta[dof] = move
            rows.append(retract(self.model, q, delta))
        return np.array(rows)

    def by_v(self) -> Iterator[LossCase]:
        for dof, name in enumerate(_dof_names(self.model)):

            def make(moves: np.ndarray, dof: int = dof) -> Moved:
                v = np.array(self.trajectory.v)
                v[:, dof] += moves
                return Moved(self.trajectory, v=v, _poses=self.poses)

            yield self._swept("by_v", f"by_v of {name}", self.v[:, dof], make)

    def together(self) -> Iterator[LossCase]:
        """by_q and by_pose along moves of q that poses follow."""
        parameters = self.trajectory.parameters
        total = self.q.copy()
        for state, q in enumerate(self.trajectory.q):
            for body in np.flatnonzero(self.pose[state].any(axis=1)):
                jacobian = np.asarray(body_jacobian(self.model, parameters, q, int(body)))
                total[state] += self.pose[state, body] @ jacobian
        for dof, name in enumerate(_dof_names(self.model)):

            def make(moves: np.ndarray, dof: int = dof) -> Moved:
                q = self._moved_q(dof, moves)
                poses = np.array([forward_kinematics(self.model, parameters, row) for row in q])
                return Moved(self.trajectory, q=q, _poses=poses)

            yield self._swept("by_q", f"by_q and by_pose of {name}", total[:, dof], make)

    def by_parameters(self) -> Iterator[LossCase]:
        given = self.partials.by_parameters or {}
        for field in self.trajectory.parameters.fields():
            value = np.asarray(getattr(self.trajectory.parameters, field.name), dtype=float)
            if not value.size:
                continue
            by = np.broadcast_to(np.asarray(given.get(field.name, 0.0), dtype=float), value.shape)
            direction = np.asarray(self.random.uniform(0.5, 1.0, value.shape) * value)
            if field.name == "moments":
                direction = np.array([moments_direction(row, self.random) for row in value])

            def make(h: float, name: str = field.name, value=value, direction=direction) -> Moved:
                parameters = self.trajectory.parameters.copy()
                moved = value + h * direction
                setattr(parameters, name, moved if moved.ndim else float(moved))
                return Moved(self.trajectory, parameters=parameters, _poses=self.poses)

            yield self._case("by_parameters", f"by_parameters['{field.name}']", float((by * direction).sum()), make)


def _error(case: LossCase) -> float:
    return abs(case.analytic - case.numeric.value)


def _dof_names(model: Model) -> list[str]:
    """Joint and number of every degree of freedom."""
    names = [""] * model.num_dofs
    for joint in model.joint_names:
        place = model.joint_dofs(joint)
        count = place.stop - place.start
        parts = POSE_PARTS if count == 6 else POSE_PARTS[3:] if count == 3 else [f"axis {k + 1}" for k in range(count)]
        for k in range(count):
            names[place.start + k] = f"joint '{joint}'" + (f", {parts[k]}" if count > 1 else "")
    return names
