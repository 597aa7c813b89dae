# SPDX-License-Identifier: Apache-2.0
"""Which of many objects a window of a receding horizon works on.

A sum over many objects stalls where their pulls on the tool balance [LongRange2026 sums; the schedule here is ours].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

import farfield as ff
from farfield.optimize.losses import ReachLoss

PROGRESS = 0.01  # an object that has come nearer by this much is on its way [m]


class AllObjects:
    """The summed loss: every object weighs the same, always, and no object is the active one."""

    active: int | None = None

    def begin(self, state: ff.State) -> None:
        """Nothing changes between windows."""

    def state(self) -> dict[str, np.ndarray]:
        """Nothing."""
        return {}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Nothing to restore."""


class ActiveObject:
    """One object at a time: it keeps its turn until it is inside the loss's radius, then one that is outside follows,
    the one whose pushing place, ``behind`` it as seen from its target [m], is the shortest way from the tool, round its region.

    The active object and all that are inside weigh 1 in ``loss`` (an object inside costs nothing until a plan pushes it out). Those that
    still wait weigh ``waiting``, and cost nothing until they are pushed away from their target by more than ``slack`` [m] within
    the turn. After ``patience`` windows in which it has come no nearer an object goes to the end of the queue.
    ``joints``: free joints of the loss's bodies, in their order. ``tool``: names of the tool's x and y slides.
    """

    def __init__(
        self,
        loss: ReachLoss,
        model: ff.Model,
        joints: Sequence[str],
        tool: tuple[str, str],
        *,
        waiting: float = 1.0,
        slack: float = 0.05,
        behind: float = 0.2,
        patience: int = 60,
    ) -> None:
        if len(joints) != len(loss.bodies):
            raise ValueError(f"ActiveObject: {len(joints)} joints for {len(loss.bodies)} bodies of the loss")
        if patience < 1:
            raise ValueError(f"ActiveObject: patience {patience}, expected >= 1 windows")
        self.behind, self.slack = float(behind), float(slack)
        self.loss, self.waiting, self.patience = loss, float(waiting), int(patience)
        self._columns = np.array([[model.joint_q(name).start, model.joint_q(name).start + 1] for name in joints])
        self._tool = [model.joint_q(name).start for name in tool]
        self._turns = np.zeros(len(joints), dtype=int)  # how often an object has run out of patience
        self._waited, self._nearest = 0, np.inf  # windows without progress, and how near the active object has been
        self.active: int | None = None

    def places(self, state: ff.State) -> np.ndarray:
        """Horizontal places of the objects [m], shape (n, 2)."""
        return np.asarray(state.q)[self._columns]

    def begin(self, state: ff.State) -> None:
        """Choose the object of the window that starts here, and set the weights of the loss."""
        places = self.places(state)
        away = np.linalg.norm(places - self.loss.targets[:, :2], axis=1)
        outside = away > self.loss.radius
        self._waited += 1
        if self.active is not None and away[self.active] < self._nearest - PROGRESS:
            self._nearest, self._waited = float(away[self.active]), 0
        if self.active is not None and outside[self.active] and self._waited >= self.patience:
            self._turns[self.active] += 1
            self.active = None
        if self.active is None or not outside[self.active]:
            self.active = self._next(places, outside, np.asarray(state.q)[self._tool])
            self._waited = 0
            self._nearest = np.inf if self.active is None else float(away[self.active])
            self.loss.limits = np.where(outside, away + self.slack, self.loss.radius)
        self.loss.weights = np.where(outside, self.waiting, 1.0)
        if self.active is not None:
            self.loss.weights[self.active] = 1.0
            self.loss.limits[self.active] = self.loss.radius

    def _next(self, places: np.ndarray, outside: np.ndarray, tool: np.ndarray) -> int | None:
        if not outside.any():
            return None
        way = np.empty(len(places))
        for k, (place, target) in enumerate(zip(places, self.loss.targets[:, :2], strict=True)):
            size = max(float(np.linalg.norm(place - target)), 1e-12)
            behind = place + self.behind / size * (place - target)
            way[k] = way_around(tool - target, behind - target, self.loss.radius)
        return int(np.lexsort((way, self._turns, ~outside))[0])

    def state(self) -> dict[str, np.ndarray]:
        """Everything that later windows depend on."""
        active = -1 if self.active is None else self.active
        counts = {"active": np.array(active), "turns": self._turns.copy(), "waited": np.array(self._waited)}
        counts["nearest"] = np.array(self._nearest)
        return {**counts, "weights": self.loss.weights.copy(), "limits": self.loss.limits.copy()}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Takes up a state."""
        active = int(state["active"])
        self.active = None if active < 0 else active
        self._turns, self._waited = np.array(state["turns"]), int(state["waited"])
        self._nearest = float(state["nearest"])
        self.loss.weights, self.loss.limits = np.array(state["weights"]), np.array(state["limits"])


def way_around(start: np.ndarray, end: np.ndarray, radius: float) -> float:
    """Length of a way between two places that goes along a circle around the origin where the straight one would cross it [m]."""
    straight = end - start
    length = float(np.linalg.norm(straight))
    along = -float(start @ straight) / max(length**2, 1e-24)
    nearest = start + min(max(along, 0.0), 1.0) * straight
    if float(np.linalg.norm(nearest)) >= radius:
        return length
    a, b = float(np.linalg.norm(start)), float(np.linalg.norm(end))
    turn = np.arccos(np.clip(float(start @ end) / max(a * b, 1e-24), -1.0, 1.0))
    return abs(a - radius) + abs(b - radius) + radius * float(turn)
