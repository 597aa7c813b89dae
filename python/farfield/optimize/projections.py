# SPDX-License-Identifier: Apache-2.0
"""Sets that an optimiser's iterates are projected into after every step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np


class Projection(ABC):
    """A set with a nearest point."""

    @abstractmethod
    def project(self, x: np.ndarray) -> np.ndarray:
        """The nearest point of the set."""

    def along(self, x: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """The gradient at x without what the projection would take away again; sets that do not know leave it as it is."""
        return gradient


class Box(Projection):
    """lower <= x <= upper, coordinate by coordinate; bounds broadcast against x and may be infinite."""

    def __init__(self, lower: float | np.ndarray, upper: float | np.ndarray) -> None:
        self.lower, self.upper = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
        if not np.all(self.lower <= self.upper):
            raise ValueError(f"Box: lower {lower} and upper {upper}, expected lower <= upper")

    def project(self, x: np.ndarray) -> np.ndarray:
        """The nearest point of the box."""
        return np.clip(x, self.lower, self.upper)


class Disc(Projection):
    """|x[axes] - center| <= radius for every row: the reach of a tool around the thing it pushes.

    ``axes``: indices along the last axis, two for a disc, more for a ball. ``center`` may be changed between steps.
    """

    def __init__(self, center: Sequence[float], radius: float, axes: Sequence[int]) -> None:
        self.center, self.radius, self.axes = _round_set("Disc", center, radius, axes)

    def project(self, x: np.ndarray) -> np.ndarray:
        """The nearest point of the disc; points inside stay as they are, bit for bit."""
        offset, distance = _offset(x, self.center, self.axes)
        return _onto(x, self, offset, distance, distance > self.radius)


class Outside(Projection):
    """|x[axes] - center| >= radius for every row: keep out of a place that is occupied. The centre itself goes along the first axis."""

    def __init__(self, center: Sequence[float], radius: float, axes: Sequence[int]) -> None:
        self.center, self.radius, self.axes = _round_set("Outside", center, radius, axes)

    def project(self, x: np.ndarray) -> np.ndarray:
        """The nearest point outside; points outside stay as they are, bit for bit."""
        offset, distance = _offset(x, self.center, self.axes)
        # without a direction (the centre itself) the first axis is as good as any
        offset = np.where(distance > 0.0, offset, np.eye(len(self.axes))[0])
        return _onto(x, self, offset, np.where(distance > 0.0, distance, 1.0), distance < self.radius)


class Approach(Projection):
    """A disc that is out of reach: row t may be outside of it, by what is left of the way from ``start`` after t + 1 strides.

    |x_t[axes] - center| <= max(radius, |start - center| - (t + 1) stride). Coming from far away is then a walk and not a jump.
    """

    def __init__(
        self, center: Sequence[float], radius: float, axes: Sequence[int], start: Sequence[float], stride: float
    ) -> None:
        self.center, self.radius, self.axes = _round_set("Approach", center, radius, axes)
        if not stride > 0.0:
            raise ValueError(f"Approach: stride {stride}, expected > 0")
        self.away, self.stride = float(np.linalg.norm(np.asarray(start) - self.center)), float(stride)

    def project(self, x: np.ndarray) -> np.ndarray:
        """The nearest point of the disc of each row."""
        left = self.away - self.stride * np.arange(1, len(x) + 1)
        limits = np.maximum(self.radius, left)[:, None]
        offset, distance = _offset(x, self.center, self.axes)
        result = np.array(x, dtype=float)
        scale = np.divide(limits, distance, out=np.ones(distance.shape), where=distance > limits)
        result[..., self.axes] = np.where(distance > limits, self.center + scale * offset, result[..., self.axes])
        return result

    def along(self, x: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """The gradient without what would lead out of the disc, in rows on its rim: normalised steps then go along the rim at full length."""
        offset, distance = _offset(x, self.center, self.axes)
        normal = np.divide(offset, distance, out=np.zeros(offset.shape), where=distance > 0.0)
        outward = -(gradient[..., self.axes] * normal).sum(axis=-1, keepdims=True)
        blocked = (outward > 0.0) & (distance >= self.radius * (1.0 - 1e-9))
        result = np.array(gradient, dtype=float)
        result[..., self.axes] += np.where(blocked, outward, 0.0) * normal
        return result


class Leash(Projection):
    """|x_t[axes] - x_(t-1)[axes]| <= stride, with ``start`` before the first row: a largest speed. Rows are shortened one after the other."""

    def __init__(self, start: Sequence[float], stride: float, axes: Sequence[int]) -> None:
        self.start, self.stride, self.axes = _round_set("Leash", start, stride, axes)

    def project(self, x: np.ndarray) -> np.ndarray:
        """x with every row near enough to the one before."""
        result = np.array(x, dtype=float)
        last = self.start
        for row in result:
            way = row[self.axes] - last
            length = float(np.sqrt(way @ way))
            if length > self.stride:
                row[self.axes] = last + (self.stride / length) * way
            last = row[self.axes]
        return result


class Sequential(Projection):
    """One projection after the other; a projection into the intersection where the sets do not compete for coordinates."""

    def __init__(self, *sets: Projection) -> None:
        self.sets = sets

    def project(self, x: np.ndarray) -> np.ndarray:
        """x after all projections, in order."""
        for each in self.sets:
            x = each.project(x)
        return x

    def along(self, x: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """The gradient without what the sets that know of it would take away again."""
        for each in self.sets:
            gradient = each.along(x, gradient)
        return gradient


def _round_set(who: str, center, radius: float, axes: Sequence[int]) -> tuple[np.ndarray, float, list[int]]:
    center, axes = np.array(center, dtype=float), list(axes)
    if center.shape[-1:] != (len(axes),):
        raise ValueError(f"{who}: center {center} for {len(axes)} axes, expected one coordinate per axis")
    if not radius > 0.0:
        raise ValueError(f"{who}: radius {radius}, expected > 0")
    return center, float(radius), axes


def _offset(x: np.ndarray, center: np.ndarray, axes: list[int]) -> tuple[np.ndarray, np.ndarray]:
    offset = np.asarray(x, dtype=float)[..., axes] - center
    return offset, np.linalg.norm(offset, axis=-1, keepdims=True)


def _onto(
    x: np.ndarray, place: Disc | Outside, offset: np.ndarray, distance: np.ndarray, where: np.ndarray
) -> np.ndarray:
    """x with its axes on the circle, along ``offset`` of length ``distance``, in the rows of ``where``."""
    result = np.array(x, dtype=float)
    circle = place.center + offset * np.divide(
        place.radius, distance, out=np.zeros(distance.shape), where=distance > 0.0
    )
    result[..., place.axes] = np.where(where, circle, result[..., place.axes])
    return result
