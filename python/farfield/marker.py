# SPDX-License-Identifier: Apache-2.0
"""Places that are drawn beside a motion, such as a target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Marker:
    """A see-through ball, or a flat horizontal disc, in the world, for instance a target: position and radius [m]."""

    name: str
    position: tuple[float, float, float]
    radius: float = 0.05
    rgba: tuple[float, float, float, float] = (0.85, 0.2, 0.3, 0.5)
    flat: bool = False

    def surface(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertices [m] and triangles of the disc around its own centre."""
        angle = np.linspace(0.0, 2.0 * np.pi, 64, endpoint=False)
        rim = self.radius * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(64)])
        first = np.arange(64)
        return np.vstack([rim, np.zeros(3)]), np.column_stack([first, (first + 1) % 64, np.full(64, 64)])
