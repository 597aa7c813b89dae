# SPDX-License-Identifier: Apache-2.0
"""The printed way from a separation field to single contact points: soft top-K by optimal transport [SCM2025, Eqs. (12), (13)].

It is iterative, and equal weights get equal shares: on two flat faces all points fall on one place. `Separation.contacts` has neither.
"""

from __future__ import annotations

import numpy as np


def topk_paper(
    values: np.ndarray, points: np.ndarray, count: int, *, temperature: float = 5e-3, iterations: int = 3000
) -> tuple[np.ndarray, np.ndarray, float]:
    """``count`` points (count, 3), the selection matrix (count, n), and how far its marginals are from their own at the end.

    Sinkhorn's iteration in the logarithmic domain: n sources of mass 1/n, a target of mass 1/n for every rank and one for the rest.
    """
    z, points = np.asarray(values, dtype=float), np.asarray(points, dtype=float)
    n = len(z)
    if z.ndim != 1 or points.shape != (n, 3) or not 0 < count < n:
        raise ValueError(
            f"topk_paper: {z.shape} values, {points.shape} points and {count} ranks, expected (n,), (n, 3), 0 < ranks < n"
        )
    spread = np.ptp(z)
    z = count * (z - z.min()) / spread if spread > 0 else np.full(n, 0.5 * count)
    anchors = np.append(count - np.arange(count), 0.0)
    cost = (z[:, None] - anchors) ** 2 / count**2
    source, target = np.full(n, 1.0 / n), np.append(np.full(count, 1.0 / n), (n - count) / n)
    f, g = np.zeros(n), np.zeros(count + 1)

    def log_sum(x: np.ndarray, axis: int) -> np.ndarray:
        top = x.max(axis=axis, keepdims=True)
        return (top + np.log(np.exp(x - top).sum(axis=axis, keepdims=True))).squeeze(axis)

    for _ in range(iterations):
        f = temperature * (np.log(source) - log_sum((g - cost) / temperature, 1))
        g = temperature * (np.log(target) - log_sum((f[:, None] - cost) / temperature, 0))
    plan = np.exp((f[:, None] + g - cost) / temperature)
    selection = n * plan[:, :count].T
    return selection @ points, selection, float(np.abs(plan.sum(axis=1) - source).max() * n)
