# SPDX-License-Identifier: Apache-2.0
"""Formulas of docs/derivations against finite differences."""

import numpy as np


def cross_matrix(r):
    return np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])


def rotation(w):
    angle = np.linalg.norm(w)
    if angle == 0:
        return np.eye(3)
    k = cross_matrix(w / angle)
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def test_body_chart_second_derivatives():
    """Energy sum_ij sin(a_ij . x_i) cos(b_ij . x_j) of three points of one body: gradient and Hessian by (v, w)."""
    rng = np.random.default_rng(5)
    points, origin = rng.normal(size=(3, 3)), rng.normal(size=3)
    a, b = rng.normal(size=(3, 3, 3)), rng.normal(size=(3, 3, 3))

    def moved(twist):
        return origin + twist[:3] + (points - origin) @ rotation(twist[3:]).T

    def energy(x):
        return sum(np.sin(a[i, j] @ x[i]) * np.cos(b[i, j] @ x[j]) for i in range(3) for j in range(3))

    g, hessian = np.zeros((3, 3)), np.zeros((3, 3, 3, 3))  # hessian[i, j] = d2E/dx_i dx_j
    for i in range(3):
        for j in range(3):
            s, c = np.sin(a[i, j] @ points[i]), np.cos(a[i, j] @ points[i])
            t, d = np.sin(b[i, j] @ points[j]), np.cos(b[i, j] @ points[j])
            g[i] += c * d * a[i, j]
            g[j] -= s * t * b[i, j]
            hessian[i, i] -= s * d * np.outer(a[i, j], a[i, j])
            hessian[j, j] -= s * d * np.outer(b[i, j], b[i, j])
            hessian[i, j] -= c * t * np.outer(a[i, j], b[i, j])
            hessian[j, i] -= c * t * np.outer(b[i, j], a[i, j])

    r = points - origin
    wrench = np.concatenate([g.sum(axis=0), np.cross(r, g).sum(axis=0)])
    chart = np.zeros((6, 6))
    for i in range(3):
        for j in range(3):
            chart[:3, :3] += hessian[i, j]
            chart[:3, 3:] -= hessian[i, j] @ cross_matrix(r[j])
            chart[3:, 3:] += cross_matrix(r[i]).T @ hessian[i, j] @ cross_matrix(r[j])
        chart[3:, 3:] += 0.5 * (np.outer(g[i], r[i]) + np.outer(r[i], g[i])) - (g[i] @ r[i]) * np.eye(3)
    chart[3:, :3] = chart[:3, 3:].T

    def value(twist):
        return energy(moved(twist))

    steps = np.eye(6)
    h = 1e-5
    numeric = np.array([(value(h * e) - value(-h * e)) / (2 * h) for e in steps])
    assert np.abs(wrench).min() > 1e-3
    np.testing.assert_allclose(numeric, wrench, rtol=1e-7, atol=1e-8)
    h = 1e-3
    numeric = np.array(
        [
            [
                (value(h * (e + f)) - value(h * (e - f)) - value(h * (f - e)) + value(-h * (e + f))) / (4 * h * h)
                for e in steps
            ]
            for f in steps
        ]
    )
    np.testing.assert_allclose(numeric, chart, rtol=1e-4, atol=3e-4)
