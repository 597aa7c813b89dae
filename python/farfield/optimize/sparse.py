# SPDX-License-Identifier: Apache-2.0
"""A sparse matrix with the two products that designs need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np


class SparseRows:
    """A matrix given by its rows, column -> value; kept as triplets."""

    def __init__(self, rows: Sequence[Mapping[int, float]], num_columns: int) -> None:
        self.shape = (len(rows), num_columns)
        self.row = np.array([r for r, entries in enumerate(rows) for _ in entries], dtype=int)
        self.column = np.array([c for entries in rows for c in entries], dtype=int)
        self.value = np.array([v for entries in rows for v in entries.values()], dtype=float)

    def dot(self, x: np.ndarray) -> np.ndarray:
        """A x."""
        return np.bincount(self.row, self.value * x[self.column], minlength=self.shape[0])

    def transpose_dot(self, y: np.ndarray) -> np.ndarray:
        """A^T y."""
        return np.bincount(self.column, self.value * y[self.row], minlength=self.shape[1])

    def column_sizes(self) -> np.ndarray:
        """The sum of absolute values of every column."""
        return np.bincount(self.column, np.abs(self.value), minlength=self.shape[1])

    def without(self, columns: np.ndarray) -> SparseRows:
        """The matrix with columns left out."""
        keep = np.setdiff1d(np.arange(self.shape[1]), columns)
        place = np.full(self.shape[1], -1)
        place[keep] = np.arange(len(keep))
        left = place[self.column] >= 0
        out = SparseRows([], len(keep))
        out.shape = (self.shape[0], len(keep))
        out.row, out.column, out.value = self.row[left], place[self.column[left]], self.value[left]
        return out

    def dense(self) -> np.ndarray:
        """As an array."""
        out = np.zeros(self.shape)
        np.add.at(out, (self.row, self.column), self.value)
        return out
