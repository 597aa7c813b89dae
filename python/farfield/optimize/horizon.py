# SPDX-License-Identifier: Apache-2.0
"""Receding horizon: optimise a window of steps, apply its first controls, move the window on.

The next window starts from the shifted controls of the last one, its last row repeated, and its first rollout from the shifted
velocities of the last rollout. The optimiser forgets between windows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import farfield as ff
from farfield.optimize.driver import Driver, Stuck
from farfield.optimize.projections import Projection
from farfield.optimize.rollout_input import RolloutInput
from farfield.optimize.schedule import AllObjects


class RecedingHorizon(Driver):
    """The driver of tasks whose unknowns are controls per step (`DirectTargets`); its window has as many steps as those.

    frames: steps to apply. iterations: optimiser iterations per window at most; first_iterations: of the first window. A window
    ends early when its loss or its whole gradient is zero, as nothing more will change. projection: first state of a window -> the set its unknowns stay in.
    final_tolerance: Newton stop of the steps that are applied. stride: steps applied of each window.
    schedule: changes what is asked for from window to window (`farfield.optimize.schedule`). focus: plans in a part of the scene
    (`farfield.optimize.focus`).
    """

    def __init__(
        self,
        objective: Any,
        optimizer: Any,
        *,
        frames: int,
        iterations: int,
        first_iterations: int | None = None,
        projection: Callable[[ff.State], Projection] | None = None,
        final_tolerance: float = 1e-9,
        stride: int = 1,
        schedule: Any = None,
        focus: Any = None,
    ) -> None:
        if not 1 <= stride <= len(objective.parameterization.initial()):
            raise ValueError(f"RecedingHorizon: stride {stride}, expected 1 up to the steps of a window")
        if not objective.parameterization.per_step:
            kind = type(objective.parameterization).__name__
            raise ValueError(f"RecedingHorizon: unknowns by {kind}, expected some of every step, as of DirectTargets")
        self.objective, self.optimizer, self.projection = objective, optimizer, projection
        self.frames, self.iterations = frames, iterations
        self.first_iterations = iterations if first_iterations is None else first_iterations
        self.final_tolerance = final_tolerance
        self.focus = focus
        self.stride, self.schedule = stride, AllObjects() if schedule is None else schedule
        self.total = self.first_iterations + (math.ceil(frames / stride) - 1) * iterations
        self.done = False
        self._x = objective.parameterization.initial()
        self._good: np.ndarray | None = None  # the last unknowns whose rollout converged, and its velocities
        self._guess: np.ndarray | None = None
        self._iteration = 0
        self._q, self._v = [np.array(objective.state.q)], [np.array(objective.state.v)]
        self._controls: list[np.ndarray] = []
        self._min_gap = np.inf

    @property
    def frame(self) -> int:
        """Steps applied so far."""
        return len(self._controls)

    def advance(self) -> dict[str, Any]:
        """One iteration of the current window; after its last one the first controls are applied."""
        self.objective.state = ff.State(q=self._q[-1], v=self._v[-1])
        if self._iteration == 0:
            self.schedule.begin(self.objective.state)
        place = {"frame": self.frame, "iteration": self._iteration}
        row, moving = self._improve_plan()
        self._iteration += 1
        if not moving or self._iteration >= self._limit():
            row["steps"] += self._apply()
        return place | row

    def _limit(self) -> int:
        """Iterations of this window at most."""
        return self.iterations if self._controls else self.first_iterations

    def _improve_plan(self) -> tuple[dict[str, Any], bool]:
        """One iteration on the plan of this window: a row of metrics, and whether another one may change anything."""
        here, guess = self._evaluate()
        row = self._row(here.value, here.gradient, here.trajectory)
        # a gradient that is drawn anew each time may be zero now and not the next time
        again = not self.objective.capabilities.deterministic and here.value > 0.0
        moving = again or here.gradient is None or bool(here.gradient.any())
        if here.gradient is None:
            self._step_back(here.trajectory)
        else:
            self._good, self._guess = self._x, guess
            if moving:
                self._improve(here.gradient)
        return row, moving

    def _row(self, value: float, gradient: np.ndarray | None, trajectory: ff.Trajectory) -> dict[str, Any]:
        return {
            "loss": value,
            "gradient_norm": None if gradient is None else float(np.linalg.norm(gradient)),
            "min_gap": min(self._min_gap, trajectory.min_gap),
            "steps": trajectory.num_steps,
            "newton": sum(report.iterations for report in trajectory.reports),
        }

    def _evaluate(self) -> tuple[Any, np.ndarray | None]:
        """The present unknowns' evaluation, and its velocities as a guess for the next one."""
        if self.focus is not None:
            return self.focus.view(self.objective, self.objective.state).evaluate(
                self._x, self.objective.state, self._guess
            )
        self.objective.guess = self._guess
        (here,) = self.objective.evaluate([self._x])
        return here, None if here.gradient is None else np.array(here.trajectory.v[1:])

    def _improve(self, gradient: np.ndarray) -> None:
        if self.projection is None:
            self._x = self.optimizer.step(self._x, gradient)
            return
        place = self.projection(self.objective.state)
        self._x = place.project(self.optimizer.step(self._x, place.along(self._x, gradient)))

    def _step_back(self, trajectory: ff.Trajectory) -> None:
        """Half the way back to the last controls whose rollout converged."""
        if self._good is None:
            raise Stuck(f"step {trajectory.num_steps + 1} of the first rollout ended with '{_end(trajectory)}'")
        self._x = 0.5 * (self._x + self._good)
        self.optimizer.reset()

    def _apply(self) -> int:
        """Take the first steps of the window and move the window on; how many steps."""
        count = min(self.stride, self.frames - self.frame)
        # The last iterate has not been rolled out yet, and what was has met a looser tolerance.
        plans = [self.objective.parameterization.decode(x).controls[:count] for x in (self._x, self._good)]
        if self._controls:
            plans.append(np.tile(self._controls[-1], (count, 1)))
        for controls in plans:
            steps = self.objective.roll(RolloutInput(controls), tolerance=self.final_tolerance)
            if steps.converged:
                break
        else:
            raise Stuck(f"frame {self.frame}: the step ended with '{_end(steps)}'")
        self._q.extend(np.array(steps.q[1:]))
        self._v.extend(np.array(steps.v[1:]))
        self._controls.extend(controls)
        self._min_gap = min(self._min_gap, steps.min_gap)
        self._x, self._good, self._guess = (
            np.concatenate([rows[count:], np.repeat(rows[-1:], count, axis=0)])
            for rows in (self._x, self._good, self._guess)
        )
        self._iteration = 0
        self.optimizer.reset()
        self.done = self.frame >= self.frames
        return count

    def motion(self, roll: Callable[[RolloutInput], Any]) -> ff.Trajectory:
        """The steps applied so far, as they were taken: every one converged, from the end of the one before.

        To roll their controls out again in one piece would amplify the last digits where bodies jostle, and end elsewhere.
        """
        model, parameters = self.objective.model, self.objective.parameters
        return ff.Trajectory.from_states(
            model,
            parameters,
            np.array(self._q),
            np.array(self._v),
            self._applied(),
            dt=self.objective.dt,
            min_gap=float(self._min_gap),
            contact=self.objective.contact_description(),
        )

    def inputs(self) -> RolloutInput:
        """The controls applied so far and the state they start from."""
        return RolloutInput(self._applied(), ff.State(q=self._q[0], v=self._v[0]))

    def planned(self, roll: Callable[[RolloutInput], Any]) -> Any:
        """The whole motion as it stands: the controls applied so far, then the plan of the window, its last row held to the end."""
        plan = self.objective.parameterization.decode(self._x if self._good is None else self._good).controls
        rest = np.concatenate([plan, np.repeat(plan[-1:], max(self.frames - self.frame - len(plan), 0), axis=0)])
        controls = np.concatenate([self._applied(), rest[: self.frames - self.frame]])
        return roll(RolloutInput(controls, ff.State(q=self._q[0], v=self._v[0])))

    def _applied(self) -> np.ndarray:
        return np.array(self._controls).reshape(self.frame, self.objective.model.num_controls)

    def state(self) -> dict[str, np.ndarray]:
        """Everything that later iterations depend on."""
        return {
            "x": self._x,
            **({} if self._good is None else {"good": self._good, "guess": self._guess}),
            "iteration": np.array(self._iteration),
            "q": np.array(self._q),
            "v": np.array(self._v),
            "controls": self._applied(),
            "min_gap": np.array(self._min_gap),
            **{f"optimizer.{key}": value for key, value in self.optimizer.state().items()},
            **{f"schedule.{key}": value for key, value in self.schedule.state().items()},
        }

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Continues, bit for bit, where ``state`` was taken."""
        self._x = np.array(state["x"])
        self._good, self._guess = (np.array(state[key]) if key in state else None for key in ("good", "guess"))
        self._iteration = int(state["iteration"])
        self._q, self._v, self._controls = list(state["q"]), list(state["v"]), list(state["controls"])
        self._min_gap = float(state["min_gap"])
        for prefix, part in (("optimizer.", self.optimizer), ("schedule.", self.schedule)):
            part.restore({k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)})
        self.done = self.frame >= self.frames


def _end(trajectory: Any) -> str:
    """How a rollout ended; engines from outside have no reports."""
    return trajectory.reports[-1].status if trajectory.reports else "no finite state"
