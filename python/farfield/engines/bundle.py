# SPDX-License-Identifier: Apache-2.0
"""Gradient bundles: the average of exact gradients at random neighbours, first-order randomised smoothing [Suh2022].

With the rollout inputs u = (q0, v0, controls) and Gaussian noise w of the given widths, the gradient is
    (1/N) sum_i dL/du (u + w_i),
an unbiased estimate of the gradient of the smoothed loss E[L(u + w)], pulled back to the unknowns. The value stays that of the
loss itself, without noise, so that curves of all methods show the same thing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

import farfield as ff
from farfield.engines.adjoint import Adjoint
from farfield.engines.rollouts import roll_batch, roll_one
from farfield.optimize.objective import Capabilities, Evaluation
from farfield.optimize.parameterizations import Gradient
from farfield.optimize.rollout_input import PARTS, InputGradient, RolloutInput
from farfield.options import option

REDRAWS = 32  # of a start that intersects, until the sample keeps the start without noise
STREAM = 20_002  # keeps these draws apart from others of the same seed


@dataclass(frozen=True)
class BundleOptions:
    """Noise of a gradient bundle; widths are standard deviations."""

    name: ClassVar[str] = "method bundle"
    samples: int = option(16, "neighbours per gradient", above=0)
    width: float = option(0.1, "of noise on every control, in its unit", least=0)
    position_width: float = option(0.01, "of noise on the first coordinates [m, rad]", least=0)
    velocity_width: float = option(0.1, "of noise on the first velocities [m/s, rad/s]", least=0)
    seed: int = option(0, "of the noise", least=0)


class Bundle(Adjoint):
    """Exact gradients, averaged over neighbours; over any contact model, all samples of all points in one batch on threads.
    There is no Jacobian: Gauss-Newton would not be a bundle any more.

    Noise is fresh for every call of ``evaluate`` and depends on nothing but the options' seed and how many calls came before. A start
    that intersects is drawn again (the noise is then that of a Gaussian cut off where bodies meet), and after 32 tries the sample
    begins without noise on its coordinates. Samples whose rollout does not converge are left out of the average.
    """

    Options = BundleOptions
    capabilities = Capabilities(certifies=True, gradients=True, deterministic=False, spreads=True, inputs=PARTS)

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.calls = self.drawn = self.redrawn = self.unmoved = self.failed = 0

    def evaluate(self, points: Sequence[np.ndarray]) -> list[Evaluation]:
        """Loss and trajectory of every point without noise, and the average gradient; zero where that loss is zero."""
        results, pending = [], []
        for x, trajectory in zip(points, self.simulate(points), strict=True):
            here = Evaluation(np.array(x, dtype=float), float("inf"), None, trajectory)
            results.append(here)
            if trajectory.converged:
                here.value, by = self._loss(trajectory)
                here.gradient = np.zeros(here.x.shape)
                if by.any():
                    pending.append(here)
        count = self.options.samples
        bundles = [self._neighbours(here, k) for k, here in enumerate(pending)]
        self.calls += 1
        gradients = self._gradients(
            [each for bundle in bundles for each in bundle],
            [np.array(here.trajectory.v[1:]) for here in pending for _ in range(count)],
        )
        for k, here in enumerate(pending):
            own = [gradient for gradient in gradients[k * count : (k + 1) * count] if gradient is not None]
            here.gradient = self.parameterization.pullback(here.x, InputGradient.mean(own)) if own else None
        return results

    def _neighbours(self, here: Evaluation, index: int) -> list[RolloutInput]:
        """The inputs of the samples around a point."""
        generator = np.random.default_rng([self.options.seed, STREAM, self.calls, index])
        (center,) = self._decoded([here.x])
        controls = np.asarray(center.controls)
        samples = []
        for _ in range(self.options.samples):
            noisy = controls + self.options.width * generator.standard_normal(controls.shape)
            samples.append(replace(center, controls=noisy, state=self._start(center, generator)))
        self.drawn += self.options.samples
        return samples

    def _start(self, center: RolloutInput, generator: np.random.Generator) -> ff.State:
        """A start near the centre's without intersections. Ties hold and scripted bodies stay: noise is drawn for the unknowns of a step."""
        q0, v0 = np.asarray(center.state.q), np.asarray(center.state.v)
        freedom = np.asarray(self.model.reduction)
        velocity = v0 + self.options.velocity_width * (freedom @ generator.standard_normal(freedom.shape[1]))
        if self.options.position_width == 0.0:
            return ff.State(q=q0, v=velocity)
        for _ in range(REDRAWS):
            shift = self.options.position_width * (freedom @ generator.standard_normal(freedom.shape[1]))
            moved = ff.State(q=ff.retract(self.model, q0, shift), v=velocity)
            if self._free(replace(center, state=moved)):
                return moved
            self.redrawn += 1
        self.unmoved += 1
        return ff.State(q=q0, v=velocity)

    def _free(self, given: RolloutInput) -> bool:
        """No bodies intersect: a rollout of no steps is willing to begin there."""
        nothing = replace(given, controls=np.zeros((0, self.model.num_controls)), script=None)
        try:
            roll_one(self.model, nothing, dt=self.dt, contact=self.contact)
        except ValueError as error:
            if "intersect" not in str(error):
                raise
            return False
        return True

    def _gradients(self, samples: list[RolloutInput], guesses: list[np.ndarray]) -> list[Gradient | None]:
        """dL/d inputs of every sample, None where its rollout fails; a sample whose loss is zero has a zero gradient like any other."""
        if not samples:
            return []
        if self.executor is not None:
            results = self._spread(_gradient_of, list(zip(samples, guesses, strict=True)))
            self.failed += sum(each is None for each in results)
            return results
        self.rollouts += len(samples)
        trajectories = roll_batch(self.model, samples, guesses=guesses, threads=self.threads, **self._options())
        good = [k for k, each in enumerate(trajectories) if each.converged]
        self.failed += len(trajectories) - len(good)
        partials = [self._loss(trajectories[k])[1] for k in good]
        found: list[Gradient | None] = [None] * len(trajectories)
        for k, gradient in zip(good, self._vjp([trajectories[k] for k in good], partials), strict=True):
            found[k] = gradient
        return found

    def memory(self) -> dict[str, np.ndarray]:
        """Counters; the first decides on the noise of the next call."""
        return {"counters": np.array([self.calls, self.drawn, self.redrawn, self.unmoved, self.failed])}

    def restore(self, memory: Mapping[str, np.ndarray]) -> None:
        """Takes up a memory."""
        self.calls, self.drawn, self.redrawn, self.unmoved, self.failed = (int(n) for n in memory["counters"])

    def counts(self) -> dict[str, Any]:
        """How many samples were drawn, and what became of those that could not be used as they were."""
        return {
            "bundle": {
                "samples": self.drawn,
                "redrawn": self.redrawn,
                "unmoved_starts": self.unmoved,
                "failed": self.failed,
            }
        }


def _gradient_of(engine: Bundle, job: tuple[RolloutInput, np.ndarray | None]) -> InputGradient | None:
    """In a worker: the gradient of one sample."""
    found = engine._gradients([job[0]], [job[1]])[0]
    if found is None or isinstance(found, InputGradient):
        return found
    return InputGradient(found.controls, found.q0, found.v0, found.script, found.parameters)
