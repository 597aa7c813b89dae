# SPDX-License-Identifier: Apache-2.0
"""Shape and control in one optimiser: steps by group, in stages, never to a design that cannot start.

Unknowns come in groups (controls, frequencies, vertices) with a step rule, a box and a length scale of their own. A stage moves some of the groups from
where an earlier stage ended, so that the same driver runs "control alone" beside "control and design". Every new design is tried
at its start pose before it is rolled out: nothing intersects *and* the first two steps converge. A design step that fails is halved, and
at last left out; a rollout that stops early, or a loss that grows by a quarter, halves the whole step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import farfield as ff
from farfield.optimize.driver import Driver, Stuck
from farfield.optimize.objective import Evaluation, Objective
from farfield.optimize.optimizers import Adam
from farfield.optimize.parameterizations import Gradient, Parameterization
from farfield.optimize.rollout_input import InputGradient, RolloutInput

FIRST_STEPS = 2  # that a new design has to get through
HALVINGS = 6
LARGEST_FINITE = float(np.finfo(float).max)


def trust_linear(gradient: np.ndarray, radius: float, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """argmin of gradient . d over |d| <= radius, lower <= d <= upper (bounds that hold 0) [SDRS2025, Eq. (15)].

    d(nu) = clip(-gradient / nu, lower, upper); its length falls with the multiplier nu, which is bisected.
    """
    largest = float(np.abs(gradient).max(initial=0.0))
    if largest == 0.0 or radius == 0.0:
        return np.zeros(gradient.shape)
    slope = gradient / largest

    def step(nu: float) -> np.ndarray:
        return np.clip(-slope / nu, lower, upper)

    # below this every coordinate with a slope is either at its bound or longer than the radius
    low, high = 1e-12 * np.abs(slope[slope != 0.0]).min() / radius, np.linalg.norm(slope) / radius
    if np.linalg.norm(step(low)) <= radius:
        return step(low)
    for _ in range(200):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if np.linalg.norm(step(middle)) > radius else (low, middle)
        if high - low <= 1e-15 * high:
            break
    return step(high)


@dataclass(frozen=True)
class Group:
    """Unknowns ``start`` to ``stop`` of the flat vector and how they step.

    ``rule``: "trust_linear" (a step of length ``radius`` in units of ``scale``) or "adam_projected" (Adam with ``rate``, its step clipped to
    ``radius``). Steps shrink geometrically to ``decay`` of their size over a stage. ``design``: checked at the start pose.
    """

    name: str
    start: int
    stop: int
    radius: float = np.inf
    rule: str = "trust_linear"
    rate: float = 0.0
    betas: tuple[float, float] = (0.9, 0.99)
    scale: float | np.ndarray = 1.0
    lower: float | np.ndarray = -np.inf
    upper: float | np.ndarray = np.inf
    decay: float = 1.0
    design: bool = False

    def __post_init__(self) -> None:
        if self.rule not in ("trust_linear", "adam_projected"):
            raise ValueError(f"group '{self.name}': rule '{self.rule}', expected trust_linear or adam_projected")
        if self.rule == "trust_linear" and not 0.0 <= self.radius < np.inf:
            raise ValueError(f"group '{self.name}': radius {self.radius}, expected a finite one")

    @property
    def part(self) -> slice:
        """Its place."""
        return slice(self.start, self.stop)


@dataclass(frozen=True)
class Stage:
    """``iterations`` that move the groups ``free`` from the best point of stage ``after`` (None: the start). ``steps``: horizon, None: all."""

    name: str
    iterations: int
    free: Sequence[str]
    after: str | None = None
    steps: int | None = None


class Horizon(Parameterization):
    """Another parameterisation, cut to its first ``steps`` steps."""

    def __init__(self, inner: Parameterization) -> None:
        self.inner, self.moves, self.steps = inner, inner.moves, None

    @property
    def size(self) -> int:
        """How many numbers."""
        return self.inner.size

    def initial(self) -> np.ndarray:
        """Of the inner one."""
        return self.inner.initial()

    def decode(self, x: np.ndarray) -> RolloutInput:
        """The first steps."""
        given = self.inner.decode(x)
        if self.steps is None:
            return given
        script = None if given.script is None else given.script[: self.steps]
        return RolloutInput(given.controls[: self.steps], given.state, script, given.parameters)

    def pullback(self, x: np.ndarray, gradient: Gradient) -> np.ndarray:
        """Zero for the controls of later steps."""
        if self.steps is None:
            return self.inner.pullback(x, gradient)
        full = self.inner.decode(x)
        script = None if full.script is None else _padded(gradient.script, len(full.script))
        controls = _padded(gradient.controls, len(full.controls))
        return self.inner.pullback(
            x, InputGradient(controls, gradient.q0, gradient.v0, script, getattr(gradient, "parameters", None))
        )


def _padded(rows: np.ndarray, count: int) -> np.ndarray:
    rows = np.asarray(rows)
    return np.vstack([rows, np.zeros((count - len(rows), *rows.shape[1:]))])


class Continuation(ABC):
    """Makes a problem harder whenever it is solved, such as less friction each time everything is held."""

    @abstractmethod
    def solved(self, found: Evaluation) -> bool:
        """The problem as it is now is solved at this point."""

    @abstractmethod
    def harder(self) -> bool:
        """Makes it harder; False: it is as hard as it should be."""

    @abstractmethod
    def figures(self) -> dict[str, float]:
        """How hard it is, for the row of metrics."""

    @abstractmethod
    def state(self) -> dict[str, np.ndarray]:
        """Everything it depends on."""

    @abstractmethod
    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Takes up a state."""


class CoDesign(Driver):
    """Runs the stages one after the other and keeps the best point of each.

    ``extra``: a term of the unknowns alone, x -> (value, gradient), such as a spread of inner vertices. ``continuation``: makes the problem harder
    whenever it is solved; the point kept is then the last that solved it, and a stage ends early when nothing is left to make harder.
    ``normalized``: of a `ResidualLoss`, the sum of the residuals' gradients, each divided by its length: one hard object does not drown the
    others. ``x``: where the first stage starts.
    """

    def __init__(
        self,
        objective: Objective,
        groups: Sequence[Group],
        stages: Sequence[Stage],
        *,
        x: np.ndarray | None = None,
        extra: Callable[[np.ndarray], tuple[float, np.ndarray]] | None = None,
        continuation: Continuation | None = None,
        normalized: bool = False,
    ) -> None:
        self.objective, self.groups, self.stages = objective, {g.name: g for g in groups}, list(stages)
        self.horizon = Horizon(objective.parameterization)
        objective.parameterization = self.horizon
        self.extra, self.continuation, self.normalized = extra, continuation, normalized
        self.start = np.array(self.horizon.initial() if x is None else x, dtype=float).ravel()
        unknown = [name for stage in stages for name in stage.free if name not in self.groups]
        if unknown:
            raise ValueError(f"CoDesign: group '{unknown[0]}' is unknown, expected one of: {', '.join(self.groups)}")
        self.total = sum(stage.iterations for stage in self.stages)
        self.stage = self.iteration = 0
        self.best: dict[str, np.ndarray] = {}
        self.best_value: dict[str, float] = {}
        self.first_value: dict[str, float] = {}
        self.shrink = 1.0
        self.x, self._here = self.start.copy(), None
        self._adam = self._optimizers()

    @property
    def done(self) -> bool:
        """All stages are through."""
        return self.stage >= len(self.stages)

    def advance(self) -> dict[str, Any]:
        """One step of the present stage."""
        stage, before = self.stages[self.stage], self.objective.rollouts
        self.horizon.steps = stage.steps
        if self._here is None:
            self._begin(stage)
        here, halvings = self._here, 0
        step, refused = self._step(stage, here)
        found = None
        while found is None and halvings <= HALVINGS:
            trial = self._evaluate(self.x + 0.5**halvings * step)
            found = trial if trial.value <= self._allowed(here) else None
            halvings += found is None
        if found is None:
            self.shrink *= 0.25
        else:
            self.shrink = min(1.0, 2.0 * self.shrink)
            self.x, self._here = found.x, found
            self._keep(stage, found)
        gradient = float(np.linalg.norm(here.gradient))
        now = self._here
        row = {
            "loss": now.value,
            "best": self.best_value[stage.name],
            "gradient_norm": gradient,
            "min_gap": now.trajectory.min_gap,
            "steps": (self.objective.rollouts - before) * now.trajectory.num_steps,
            "stage": stage.name,
            "halvings": halvings,
            "designs_refused": refused,
        }
        finished = False
        if self.continuation is not None:
            row |= self.continuation.figures()
            finished = self._continue(stage)
        self.iteration += 1
        if self.iteration >= stage.iterations or finished:
            self._next()
        return row

    def point(self, stage: str) -> np.ndarray:
        """The best point of a stage that has begun."""
        return self.best[stage]

    def inputs(self) -> RolloutInput:
        """Of the best point of the last stage that has begun."""
        begun = [stage.name for stage in self.stages if stage.name in self.best]
        return self.inputs_of(begun[-1]) if begun else self.horizon.inner.decode(self.start)

    def inputs_of(self, stage: str) -> RolloutInput:
        """Of the best point of a stage, over the whole time."""
        return self.horizon.inner.decode(self.best[stage])

    def state(self) -> dict[str, np.ndarray]:
        """Everything that later iterations depend on."""
        kept = {"x": self.x.copy(), "place": np.array([self.stage, self.iteration]), "shrink": np.array(self.shrink)}
        for name, x in self.best.items():
            kept |= {f"best.{name}": x, f"value.{name}": np.array([self.best_value[name], self.first_value[name]])}
        for name, optimizer in self._adam.items():
            kept |= {f"adam.{name}.{key}": value for key, value in optimizer.state().items()}
        if self.continuation is not None:
            kept |= {f"continuation.{key}": value for key, value in self.continuation.state().items()}
        return kept

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Continues, bit for bit, where ``state`` was taken."""
        self.x, self.shrink = np.array(state["x"], dtype=float), float(state["shrink"])
        self.stage, self.iteration = (int(k) for k in state["place"])
        self.best = {k.removeprefix("best."): np.array(v) for k, v in state.items() if k.startswith("best.")}
        values = {k.removeprefix("value."): v for k, v in state.items() if k.startswith("value.")}
        self.best_value = {k: float(v[0]) for k, v in values.items()}
        self.first_value = {k: float(v[1]) for k, v in values.items()}
        for name, optimizer in self._adam.items():
            prefix = f"adam.{name}."
            optimizer.restore({k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)})
        if self.continuation is not None:
            prefix = "continuation."
            self.continuation.restore({k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)})
        self._here = None
        if not self.done and self.iteration > 0:
            self.horizon.steps = self.stages[self.stage].steps
            self._here = self._evaluate(self.x)

    def starts_well(self, x: np.ndarray) -> bool:
        """Nothing intersects at the start pose, and the first steps converge."""
        kept, self.horizon.steps = self.horizon.steps, FIRST_STEPS
        try:
            return bool(self.objective.roll(self.horizon.decode(x)).converged)
        except ValueError:  # an intersecting start is refused by name
            return False
        finally:
            self.horizon.steps = kept

    def _optimizers(self) -> dict[str, Adam]:
        adams = [g for g in self.groups.values() if g.rule == "adam_projected"]
        return {g.name: Adam(g.rate, betas=g.betas) for g in adams}

    def _evaluate(self, x: np.ndarray) -> Evaluation:
        try:
            found = self._normalized(x) if self.normalized else self.objective.evaluate([x])[0]
        except ValueError as refusal:
            if "intersect" not in str(refusal):
                raise
            return Evaluation(x, np.inf, None, None)
        if self.extra is not None and np.isfinite(found.value):
            value, gradient = self.extra(x)
            found.value, found.gradient = found.value + value, found.gradient + gradient
        return found

    def _allowed(self, here: Evaluation) -> float:
        """The largest loss of a step: a quarter above the present one, so that a gait is not lost by a step across a fall."""
        return LARGEST_FINITE if self.continuation is not None else here.value + 0.25 * abs(here.value)

    def _normalized(self, x: np.ndarray) -> Evaluation:
        trajectory = self.objective.simulate([x])[0]
        if not trajectory.converged:
            return Evaluation(x, np.inf, None, trajectory)
        rows = self.objective.jacobian(x, trajectory)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        gradient = np.divide(rows, lengths, out=np.zeros(rows.shape), where=lengths > 0.0).sum(axis=0)
        return Evaluation(x, self.objective.loss(trajectory)[0], gradient, trajectory)

    def _continue(self, stage: Stage) -> bool:
        """Harder as long as it is solved; True when it is as hard as it should be."""
        while self.continuation.solved(self._here):
            self.best[stage.name], self.best_value[stage.name] = self.x.copy(), self._here.value
            if not self.continuation.harder():
                return True
            again = self._evaluate(self.x)
            if not np.isfinite(again.value):
                break
            self._here = again
        return False

    def _begin(self, stage: Stage) -> None:
        if self.iteration == 0:
            self.x = (self.start if stage.after is None else self.best[stage.after]).copy()
        self._here = self._evaluate(self.x)
        if not np.isfinite(self._here.value):
            raise Stuck(f"stage '{stage.name}': its start does not roll out")
        if self.iteration == 0:
            self.first_value[stage.name] = self._here.value
            self._keep(stage, self._here)

    def _keep(self, stage: Stage, found: Evaluation) -> None:
        first = stage.name not in self.best_value
        if first or (self.continuation is None and found.value < self.best_value[stage.name]):
            self.best[stage.name], self.best_value[stage.name] = found.x.copy(), found.value

    def _next(self) -> None:
        self.stage, self.iteration, self.shrink, self._here = self.stage + 1, 0, 1.0, None
        self._adam = self._optimizers()
        self.horizon.steps = None

    def _step(self, stage: Stage, here: Evaluation) -> tuple[np.ndarray, int]:
        """The step of all free groups, and how often the design's part was halved until it starts well."""
        fraction = self.iteration / max(stage.iterations - 1, 1)
        step, designed = np.zeros(self.x.shape), np.zeros(self.x.shape)
        for name in stage.free:
            group = self.groups[name]
            size = self.shrink * group.decay**fraction
            (designed if group.design else step)[group.part] = self._group_step(group, here.gradient, size)
        if not designed.any():
            return step, 0
        for halvings in range(HALVINGS + 1):
            trial = step + 0.5**halvings * designed
            if self.starts_well(self.x + trial):
                return trial, halvings
        return step, HALVINGS + 1

    def _group_step(self, group: Group, gradient: np.ndarray, size: float) -> np.ndarray:
        x, g, scale = self.x[group.part], gradient[group.part], np.asarray(group.scale, dtype=float)
        lower, upper = (group.lower - x) / scale, (group.upper - x) / scale
        if group.rule == "trust_linear":
            return scale * trust_linear(g * scale, size * group.radius, np.minimum(lower, 0.0), np.maximum(upper, 0.0))
        wanted = size * (self._adam[group.name].step(x / scale, g * scale) - x / scale)
        wanted = wanted * min(1.0, group.radius / max(np.linalg.norm(wanted), 1e-300))
        return scale * np.clip(wanted, lower, upper)


def design_groups(design: Any, start: int, **options: Any) -> Group:
    """The group of a `farfield.optimize.design.Design` whose unknowns begin at ``start``, with its box."""
    return Group("design", start, start + design.size, lower=design.lower, upper=design.upper, design=True, **options)


def at_finer_steps(inputs: RolloutInput, parts: int) -> RolloutInput:
    """The same signals for steps of 1/parts of the length: every control is held."""
    controls = np.repeat(inputs.controls, parts, axis=0)
    script = None if inputs.script is None else np.repeat(inputs.script, parts, axis=0)
    return RolloutInput(controls, inputs.state, script, inputs.parameters)


def roll_finer(objective: Any, inputs: RolloutInput, parts: int) -> ff.Trajectory:
    """A rollout of the same signals with steps of 1/parts of the length."""
    kept = objective.dt
    objective.dt = kept / parts
    try:
        return objective.roll(at_finer_steps(inputs, parts))
    finally:
        objective.dt = kept
