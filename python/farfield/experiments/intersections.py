# SPDX-License-Identifier: Apache-2.0
"""Do bodies intersect? A test of its own: exact signs over all triangles, sharing nothing with the collision filter.

Where the IPC Toolkit is installed it is asked as well, and either one's word counts.
"""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

import farfield as ff

SIGN_BOUND = 16.0 * np.finfo(float).eps  # of the sum of all products; 7 + 56 eps times eps would do


def orientations(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Exact signs of the volumes of tetrahedra, points of shape (n, 3)."""
    u, v, w = a - d, b - d, c - d
    minors = [(1, 2), (2, 0), (0, 1)]
    volume = sum(u[:, k] * (v[:, i] * w[:, j] - v[:, j] * w[:, i]) for k, (i, j) in enumerate(minors))
    size = sum(
        np.abs(u[:, k]) * (np.abs(v[:, i] * w[:, j]) + np.abs(v[:, j] * w[:, i])) for k, (i, j) in enumerate(minors)
    )
    signs = np.sign(volume).astype(int)
    for n in np.flatnonzero(np.abs(volume) <= SIGN_BOUND * size):
        signs[n] = _exact_orientation(a[n], b[n], c[n], d[n])
    return signs


def _exact_orientation(a, b, c, d) -> int:
    rows = [[Fraction(x) - Fraction(y) for x, y in zip(point, d, strict=True)] for point in (a, b, c)]
    (a0, a1, a2), (b0, b1, b2), (c0, c1, c2) = rows
    volume = a0 * (b1 * c2 - b2 * c1) + a1 * (b2 * c0 - b0 * c2) + a2 * (b0 * c1 - b1 * c0)
    return (volume > 0) - (volume < 0)


def pierced(p: np.ndarray, q: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Which closed segments p q meet which closed triangles, shapes (n, 3), (n, 3), (n, 3, 3); segments in a triangle's plane do not."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    above, below = orientations(a, b, c, p), orientations(a, b, c, q)
    found = (above * below <= 0) & ~((above == 0) & (below == 0))
    near = np.flatnonzero(found)
    around = [orientations(p[near], q[near], x[near], y[near]) for x, y in ((a, b), (b, c), (c, a))]
    found[near] = np.all([s >= 0 for s in around], axis=0) | np.all([s <= 0 for s in around], axis=0)
    return found


def _within(triangles: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Those whose bounding boxes meet a box."""
    return triangles[np.all((triangles.min(axis=1) <= upper) & (triangles.max(axis=1) >= lower), axis=1)]


def surfaces_cross(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether an edge of one surface goes through a triangle of the other, shapes (n, 3, 3)."""
    first = _within(first, second.min(axis=(0, 1)), second.max(axis=(0, 1)))
    second = _within(second, first.min(axis=(0, 1), initial=np.inf), first.max(axis=(0, 1), initial=-np.inf))
    (low_a, high_a), (low_b, high_b) = ((s.min(axis=1), s.max(axis=1)) for s in (first, second))
    near = np.ones((len(first), len(second)), dtype=bool)
    for k in range(3):
        near &= (low_a[:, None, k] <= high_b[None, :, k]) & (low_b[None, :, k] <= high_a[:, None, k])
    i, j = np.nonzero(near)
    if len(i) == 0:
        return False
    for s, t in ((first[i], second[j]), (second[j], first[i])):
        if any(np.any(pierced(s[:, k], s[:, (k + 1) % 3], t)) for k in range(3)):
            return True
    return False


def winding(point: np.ndarray, triangles: np.ndarray) -> float:
    """How often a closed surface goes around a point: 0 outside, 1 inside."""
    a, b, c = (triangles[:, k] - point for k in range(3))
    la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c))
    dots = [np.einsum("ij,ij->i", x, y) * length for x, y, length in ((a, b, lc), (b, c, la), (c, a, lb))]
    return float(np.sum(2.0 * np.arctan2(volume, la * lb * lc + sum(dots))) / (4.0 * np.pi))


class Surfaces:
    """The surfaces of a model's contact pairs, to be placed and looked at."""

    def __init__(self, model: ff.Model) -> None:
        self.names = model.body_names
        self.half_spaces = model.half_spaces()
        parts: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
        for drawn in model.drawables():
            parts.setdefault(drawn.body, []).append((np.asarray(drawn.vertices), np.asarray(drawn.triangles)))
        self.vertices, self.triangles = {}, {}
        for body, pieces in parts.items():
            starts = np.cumsum([0, *(len(vertices) for vertices, _ in pieces)])
            self.vertices[body] = np.vstack([vertices for vertices, _ in pieces])
            self.triangles[body] = np.vstack([t + start for (_, t), start in zip(pieces, starts, strict=False)])
        self.pairs = [(model.body(a), model.body(b)) for a, b in model.contact_pairs]
        self.toolkit: _Toolkit | None = (
            _Toolkit(self, list(self.vertices)) if importlib.util.find_spec("ipctk") else None
        )

    def place(self, poses: np.ndarray) -> dict[int, np.ndarray]:
        """World vertices of every body; poses: shape (num_bodies, 7)."""
        return {
            body: vertices @ rotation(poses[body, 3:]).T + poses[body, :3] for body, vertices in self.vertices.items()
        }

    def find_intersection(self, poses: np.ndarray) -> str | None:
        """Two bodies that intersect, or None."""
        placed = self.place(np.asarray(poses))
        for body, normal, offset in self.half_spaces:
            turn, origin = rotation(poses[body, 3:]), poses[body, :3]
            for other in (b if a == body else a for a, b in self.pairs if body in (a, b)):
                if other in placed and np.min((placed[other] - origin) @ (turn @ normal)) <= offset:
                    return f"'{self.names[body]}' and '{self.names[other]}'"
        boxes = {body: (points.min(axis=0), points.max(axis=0)) for body, points in placed.items()}
        for a, b in self.pairs:
            if a not in placed or b not in placed:
                continue
            if np.any(boxes[a][0] > boxes[b][1]) or np.any(boxes[b][0] > boxes[a][1]):
                continue
            first, second = placed[a][self.triangles[a]], placed[b][self.triangles[b]]
            inside = any(winding(s[0, 0], t) > 0.5 for s, t in ((first, second), (second, first)))
            if inside or surfaces_cross(first, second):
                return f"'{self.names[a]}' and '{self.names[b]}'"
        if self.toolkit is not None and self.toolkit.has_intersections(placed):
            return "two bodies, says the IPC Toolkit"
        return None


class _Toolkit:
    """The same question to the IPC Toolkit."""

    def __init__(self, surfaces: Surfaces, bodies: Sequence[int]) -> None:
        import ipctk

        self.bodies = sorted(bodies)
        starts = np.cumsum([0, *(len(surfaces.vertices[body]) for body in self.bodies)])
        ranges = {body: range(starts[k], starts[k + 1]) for k, body in enumerate(self.bodies)}
        faces = np.vstack([surfaces.triangles[body] + starts[k] for k, body in enumerate(self.bodies)]).astype(np.int32)
        rest = np.vstack([surfaces.vertices[body] for body in self.bodies])
        self.mesh = ipctk.CollisionMesh(np.asfortranarray(rest), ipctk.edges(faces), faces)
        pairs = {tuple(sorted(pair)) for pair in surfaces.pairs}
        never = {}
        for a, b in itertools.combinations_with_replacement(self.bodies, 2):
            if (a, b) not in pairs:
                never |= {(i, j): False for i in ranges[a] for j in ranges[b] if i < j}
        self.mesh.can_collide = ipctk.make_sparse_filter(never, True)
        self.ipctk = ipctk

    def has_intersections(self, placed: dict[int, np.ndarray]) -> bool:
        vertices = np.asfortranarray(np.vstack([placed[body] for body in self.bodies]))
        return bool(self.ipctk.has_intersections(self.mesh, vertices))

    def is_free(self, first: dict[int, np.ndarray], last: dict[int, np.ndarray]) -> bool:
        """Whether vertices that go straight from one to the other meet nothing on their way."""
        ends = [np.asfortranarray(np.vstack([placed[body] for body in self.bodies])) for placed in (first, last)]
        fine = self.ipctk.TightInclusionCCD(tolerance=PATH_TOLERANCE, conservative_rescaling=1.0 - 1e-9)
        return bool(self.ipctk.is_step_collision_free(self.mesh, *ends, narrow_phase_ccd=fine))


def rotation(quaternion: np.ndarray) -> np.ndarray:
    """Matrix of a unit quaternion (w, x, y, z)."""
    w, x, y, z = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


PARTS = 16  # of a path between states, when the straight one is not free
PATH_TOLERANCE = 1e-10  # of the test of paths [m]


def path_crosses(surfaces: Surfaces, poses: Sequence[np.ndarray]) -> str | None:
    """Which bodies must have passed through each other between states, by the IPC Toolkit's test of straight paths; None where it is not installed.

    What ways bodies really went is not known from two states. It is enough that any two have one: straight, or along their turns in parts,
    or one after the other, going and turning in any order.
    """
    toolkit = surfaces.toolkit
    if toolkit is None:
        return None
    for k, (first, last) in enumerate(itertools.pairwise(poses)):
        if toolkit.is_free(surfaces.place(first), surfaces.place(last)):
            continue
        for a, b in surfaces.pairs:
            if a in surfaces.vertices and b in surfaces.vertices and not _can_go(surfaces, a, b, first, last):
                return f"'{surfaces.names[a]}' and '{surfaces.names[b]}' between states {k} and {k + 1}"
    return None


def _can_go(surfaces: Surfaces, a: int, b: int, first: np.ndarray, last: np.ndarray) -> bool:
    """Whether two bodies have a free way from their first poses to their last."""
    alone = _Toolkit(surfaces, (a, b))

    def is_free(start: np.ndarray, end: np.ndarray, parts: int = PARTS) -> bool:
        way = [surfaces.place(between(start, end, n / parts)) for n in range(parts + 1)]
        return all(alone.is_free(p, q) for p, q in itertools.pairwise(way))

    def is_way(moves: Sequence[tuple[int, slice]]) -> bool:
        now = np.array(first)
        for body, part in moves:
            then = np.array(now)
            then[body, part] = last[body, part]
            if not is_free(now, then):
                return False
            now = then
        return True

    if is_free(first, last, 1) or is_free(first, last):
        return True
    moves = [(body, part) for body in (a, b) for part in (slice(0, 3), slice(3, 7))]
    return any(is_way(order) for order in itertools.permutations(moves))


def between(first: np.ndarray, last: np.ndarray, part: float) -> np.ndarray:
    """Poses on the shortest way from one to another."""
    place = (1.0 - part) * first[:, :3] + part * last[:, :3]
    a, b = first[:, 3:], last[:, 3:]
    cosine = np.sum(a * b, axis=1, keepdims=True)
    angle = np.arccos(np.clip(np.abs(cosine), 0.0, 1.0))
    sine = np.where(angle < 1e-9, 1.0, np.sin(angle))
    weights = [np.where(angle < 1e-9, u, np.sin(u * angle) / sine) for u in (1.0 - part, part)]
    turn = weights[0] * a + weights[1] * np.where(cosine < 0.0, -b, b)
    return np.hstack([place, turn / np.linalg.norm(turn, axis=1, keepdims=True)])
