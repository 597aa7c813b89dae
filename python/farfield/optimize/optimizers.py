# SPDX-License-Identifier: Apache-2.0
"""First-order optimisers: one ``step`` from an array and a gradient of its shape to a new array.

Gradients through contact at a distance span ten and more decades, so normalisation is part of the method and the usual
epsilon of 1e-8 would freeze it: the default is 1e-30.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


class Adam:
    """Adam [Kingma2015, Algorithm 1], per coordinate or isotropic in groups.

    ``groups``: lists of indices along the last axis. The coordinates of a group share one second moment, that of the squared length of
    their gradient, so that a step keeps its direction (a coordinate of its own takes nearly sign steps and turns a
    descent direction by up to 45 degrees in the plane). Coordinates in no group have their own.
    ``learning_rate``: a number, or an array that broadcasts against x.
    """

    def __init__(
        self,
        learning_rate: float | np.ndarray,
        *,
        betas: tuple[float, float] = (0.3, 0.5),
        epsilon: float = 1e-30,
        groups: Sequence[Sequence[int]] | None = None,
    ) -> None:
        rates = np.asarray(learning_rate, dtype=float)
        if not np.all(np.isfinite(rates)) or np.any(rates < 0.0):
            raise ValueError(f"Adam: learning_rate {learning_rate}, expected finite and >= 0")
        if not all(0.0 <= beta < 1.0 for beta in betas):
            raise ValueError(f"Adam: betas {betas}, expected two numbers in [0, 1)")
        members = [index for group in groups or () for index in group]
        if len(set(members)) != len(members):
            raise ValueError(f"Adam: groups {groups}, expected every index at most once")
        self.learning_rate, self.betas, self.epsilon = rates, betas, float(epsilon)
        self.groups = [list(group) for group in groups or ()]
        self.reset()

    def reset(self) -> None:
        """Forgets all moments, as if no step had been taken."""
        self._first = self._second = np.zeros(0)
        self._count = 0

    def step(self, x: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """x after one step down the gradient."""
        x, gradient = _checked("Adam", x, gradient)
        if self._count == 0:
            self._first, self._second = np.zeros(x.shape), np.zeros(x.shape)
        elif self._first.shape != x.shape:
            raise ValueError(f"Adam: x has shape {x.shape}, but earlier steps had {self._first.shape}; call reset()")
        b1, b2 = self.betas
        self._count += 1
        self._first = b1 * self._first + (1.0 - b1) * gradient
        self._second = b2 * self._second + (1.0 - b2) * self._squares(gradient)
        first, second = self._first / (1.0 - b1**self._count), self._second / (1.0 - b2**self._count)
        return x - self.learning_rate * first / (np.sqrt(second) + self.epsilon)

    def _squares(self, gradient: np.ndarray) -> np.ndarray:
        squares = gradient**2
        for group in self.groups:
            squares[..., group] = squares[..., group].sum(axis=-1, keepdims=True)
        return squares

    def state(self) -> dict[str, np.ndarray]:
        """Everything that later steps depend on."""
        return {"first": self._first.copy(), "second": self._second.copy(), "count": np.array(self._count)}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Continues, bit for bit, where ``state`` was taken."""
        self._first, self._second = np.array(state["first"], dtype=float), np.array(state["second"], dtype=float)
        self._count = int(state["count"])


class GradientDescent:
    """x - learning_rate * gradient; ``normalized`` divides by the gradient's norm, so that a step has the length of the rate."""

    def __init__(self, learning_rate: float | np.ndarray, *, normalized: bool = False) -> None:
        rates = np.asarray(learning_rate, dtype=float)
        if not np.all(np.isfinite(rates)) or np.any(rates < 0.0):
            raise ValueError(f"GradientDescent: learning_rate {learning_rate}, expected finite and >= 0")
        self.learning_rate, self.normalized = rates, normalized

    def reset(self) -> None:
        """There is nothing to forget."""

    def step(self, x: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """x after one step down the gradient."""
        x, gradient = _checked("GradientDescent", x, gradient)
        if self.normalized:
            # Scaled first: the square of a gradient of 1e-200 would be zero.
            largest = np.abs(gradient).max(initial=0.0)
            if largest > 0.0:
                gradient = gradient / largest
                gradient = gradient / np.linalg.norm(gradient)
        return x - self.learning_rate * gradient

    def state(self) -> dict[str, np.ndarray]:
        """Nothing: every step stands alone."""
        return {}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Nothing to restore."""


def _checked(who: str, x: np.ndarray, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x, gradient = np.asarray(x, dtype=float), np.asarray(gradient, dtype=float)
    if x.shape != gradient.shape:
        raise ValueError(f"{who}: gradient of shape {gradient.shape} for x of shape {x.shape}, expected the same")
    if not np.all(np.isfinite(gradient)):
        raise ValueError(f"{who}: the gradient is not finite")
    return x, gradient
