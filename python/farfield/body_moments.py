# SPDX-License-Identifier: Apache-2.0
"""Changes of the ten moments of a body along which they stay those of a body."""

from __future__ import annotations

import numpy as np


def moment_matrix(row: np.ndarray) -> np.ndarray:
    """sum m (x, 1) (x, 1)^T of ten moments: positive semi-definite for every body."""
    m, hx, hy, hz, xx, yy, zz, xy, xz, yz = row
    return np.array([[xx, xy, xz, hx], [xy, yy, yz, hy], [xz, yz, zz, hz], [hx, hy, hz, m]])


def moments_direction(row: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A change of all ten moments along which they stay those of a body: M^(1/2) B M^(1/2) with |B| = 1, M of :func:`moment_matrix`."""
    values, axes = np.linalg.eigh(moment_matrix(row))
    root = axes * np.sqrt(np.maximum(values, 0.0)) @ axes.T
    b = random.standard_normal((4, 4))
    change = root @ ((b + b.T) / np.linalg.norm(b + b.T, 2)) @ root
    return np.array(
        [change[i, j] for i, j in ((3, 3), (0, 3), (1, 3), (2, 3), (0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    )
