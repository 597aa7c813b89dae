# SPDX-License-Identifier: Apache-2.0
"""Periodic drive signals: a Fourier series per joint with one common frequency, as position and velocity targets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from farfield.optimize.parameterizations import Gradient, Parameterization
from farfield.optimize.rollout_input import RolloutInput


class Gait(Parameterization):
    """q_j(t) = m_j + sum_k a_jk sin(2 pi k f t) + b_jk cos(2 pi k f t): x is (f, m, a, b), flat; f [Hz], angles [rad].

    ``positions``, ``velocities``: controls of the position and velocity targets of the joints, in the same order. A row of controls belongs to the end
    of its step. A common frequency keeps the motion periodic, however far the optimiser goes.
    """

    def __init__(
        self,
        base: np.ndarray,
        dt: float,
        positions: Sequence[int],
        velocities: Sequence[int],
        *,
        frequency: float,
        mean: np.ndarray,
        sines: np.ndarray,
        cosines: np.ndarray,
    ) -> None:
        self.base, self.time = np.array(base, dtype=float), dt * (1.0 + np.arange(len(base)))
        self.positions, self.velocities = list(positions), list(velocities)
        self.sines = np.array(sines, dtype=float)
        if self.sines.shape[0] != len(self.positions) or np.shape(cosines) != self.sines.shape:
            raise ValueError(f"Gait: sines of shape {self.sines.shape} for {len(self.positions)} joints")
        self.harmonics = 1 + np.arange(self.sines.shape[1])
        self._initial = np.concatenate([[frequency], np.ravel(mean), self.sines.ravel(), np.ravel(cosines)])

    @staticmethod
    def fitted(
        base: np.ndarray,
        dt: float,
        positions: Sequence[int],
        velocities: Sequence[int],
        *,
        frequency: float,
        angles: np.ndarray,
        harmonics: int = 4,
    ) -> Gait:
        """From angles at even times of one period, shape (samples, joints)."""
        waves = np.fft.rfft(angles, axis=0) / len(angles)
        chosen = waves[1 : harmonics + 1].T
        return Gait(
            base,
            dt,
            positions,
            velocities,
            frequency=frequency,
            mean=waves[0].real,
            sines=-2.0 * chosen.imag,
            cosines=2.0 * chosen.real,
        )

    @property
    def size(self) -> int:
        """How many numbers."""
        return self._initial.size

    def initial(self) -> np.ndarray:
        """The gait it was made with."""
        return self._initial.copy()

    def split(self, x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """Frequency, means, sine and cosine amplitudes."""
        x = np.asarray(x, dtype=float).ravel()
        count = len(self.positions)
        a, b = x[1 + count :].reshape(2, count, -1)
        return float(x[0]), x[1 : 1 + count], a, b

    def angles(self, x: np.ndarray, time: np.ndarray) -> np.ndarray:
        """Of the joints at some times, shape (times, joints)."""
        f, mean, a, b = self.split(x)
        phase = 2.0 * np.pi * f * np.multiply.outer(np.asarray(time), self.harmonics)
        return mean + np.sin(phase) @ a.T + np.cos(phase) @ b.T

    def decode(self, x: np.ndarray) -> RolloutInput:
        """Controls with both targets."""
        f, mean, a, b = self.split(x)
        phase = 2.0 * np.pi * f * np.outer(self.time, self.harmonics)
        speed = 2.0 * np.pi * f * self.harmonics
        sin, cos, controls = np.sin(phase), np.cos(phase), self.base.copy()
        controls[:, self.positions] = mean + sin @ a.T + cos @ b.T
        controls[:, self.velocities] = (cos * speed) @ a.T - (sin * speed) @ b.T
        return RolloutInput(controls)

    def pullback(self, x: np.ndarray, gradient: Gradient) -> np.ndarray:
        """dL/dx of the shape of x."""
        f, _, a, b = self.split(x)
        turn = 2.0 * np.pi * np.outer(self.time, self.harmonics)  # d(phase)/df
        sin, cos, speed = np.sin(f * turn), np.cos(f * turn), 2.0 * np.pi * f * self.harmonics
        by = np.asarray(gradient.controls)
        p, v = by[:, self.positions], by[:, self.velocities]
        by_a, by_b = p.T @ sin + v.T @ (cos * speed), p.T @ cos - v.T @ (sin * speed)
        slope = 2.0 * np.pi * self.harmonics  # d(speed)/df
        by_phase = (p @ a) * cos - (p @ b) * sin - (v @ a) * sin * speed - (v @ b) * cos * speed
        by_f = (by_phase * turn).sum() + (((v @ a) * cos - (v @ b) * sin) * slope).sum()
        return np.concatenate([[by_f], p.sum(axis=0), by_a.ravel(), by_b.ravel()]).reshape(np.shape(x))
