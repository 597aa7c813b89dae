# SPDX-License-Identifier: Apache-2.0
"""Finite differences one can trust: a ladder of steps that reports its own noise."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

DEFAULT_STEPS = tuple(10.0 ** (-k / 2) for k in range(2, 13))


class Difference(NamedTuple):
    """A derivative by finite differences."""

    value: float
    noise: float  #: disagreement of the two neighbouring steps that agree best, at least the rounding of the function
    step: float

    def relative_error(self, analytic: float) -> float:
        """Of an analytic derivative against this one."""
        return abs(self.value - analytic) / (abs(self.value) + abs(analytic) + 1e-300)


def slope(function: Callable[[float], float], steps: Sequence[float] = DEFAULT_STEPS) -> Difference:
    """Derivative of ``function`` at 0; see :func:`slope_of_batch`."""
    return slope_of_batch(lambda points: [function(h) for h in points], steps)


def slope_of_batch(
    function: Callable[[Sequence[float]], Sequence[float]], steps: Sequence[float] = DEFAULT_STEPS
) -> Difference:
    """Derivative at 0 of a function that is evaluated at many points at once, by fourth-order central differences.

    Every step of the ladder is tried, largest first; the two neighbours that agree best give the value (of the smaller
    step) and the noise. Large steps suffer from truncation, small ones from rounding, so a derivative that is really
    there shows as agreement.
    """
    values = function([multiple * h for h in steps for multiple in (1, -1, 2, -2)])
    best = Difference(float("nan"), float("inf"), float("nan"))
    previous = None
    for k, h in enumerate(steps):
        plus, minus, far_plus, far_minus = values[4 * k : 4 * k + 4]
        value = (8.0 * (plus - minus) - (far_plus - far_minus)) / (12.0 * h)
        rounding = sys.float_info.epsilon * max(abs(x) for x in (plus, minus, far_plus, far_minus)) / h
        if previous is not None and max(abs(value - previous), rounding) < best.noise:
            best = Difference(value, max(abs(value - previous), rounding), h)
        previous = value
    return best
