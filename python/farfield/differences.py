# SPDX-License-Identifier: Apache-2.0
"""Finite differences one can trust: a ladder of steps that reports its own noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

DEFAULT_STEPS = tuple(10.0 ** (-k / 2) for k in range(2, 13))


class Difference(NamedTuple):
    """A derivative by finite differences."""

    value: float
    noise: float  #: disagreement of the two neighbouring steps that agree best
    step: float

    def relative_error(self, analytic: float) -> float:
        """Of an analytic derivative against this one."""
        return abs(self.value - analytic) / (abs(self.value) + abs(analytic) + 1e-300)


def slope(function: Callable[[float], float], steps: Sequence[float] = DEFAULT_STEPS) -> Difference:
    """Derivative of ``function`` at 0 by fourth-order central differences.

    Every step of the ladder is tried, largest first; the two neighbours that agree best give the value (of the smaller step) and the
    noise. Large steps suffer from truncation, small ones from rounding, so a derivative that is really there shows as agreement.
    """
    best = Difference(float("nan"), float("inf"), float("nan"))
    previous = None
    for h in steps:
        near, far = function(h) - function(-h), function(2 * h) - function(-2 * h)
        value = (8.0 * near - far) / (12.0 * h)
        if previous is not None and abs(value - previous) < best.noise:
            best = Difference(value, abs(value - previous), h)
        previous = value
    return best
