# SPDX-License-Identifier: Apache-2.0
"""A small depth-buffered triangle renderer in NumPy, enough for still pictures without a graphics driver."""

from __future__ import annotations

import math

import numpy as np

from farfield.viewer.camera import Camera

BATCH = 300_000  # fragments tested at a time


class Canvas:
    """Perspective picture of (height, width) pixels: nearest depth [m] (infinite where empty) and rgb in 0..1."""

    def __init__(self, camera: Camera, width: int, height: int) -> None:
        self.camera, self.width, self.height = camera, width, height
        self.axes = camera.axes()
        self.focal = 0.5 * height / math.tan(camera.fov / 2)  # [pixels]
        self.depth = np.full((height, width), np.inf, dtype=np.float32)
        self.color = np.zeros((height, width, 3), dtype=np.float32)

    def project(self, points: np.ndarray) -> np.ndarray:
        """Pixel column, pixel row and depth along the viewing axis of world points (..., 3)."""
        local = (points - self.camera.position) @ self.axes.T
        depth = local[..., 2]
        safe = np.where(depth > 0, depth, np.nan)
        column = 0.5 * self.width + self.focal * local[..., 0] / safe
        row = 0.5 * self.height - self.focal * local[..., 1] / safe
        return np.stack([column, row, depth], axis=-1)

    def rays(self) -> np.ndarray:
        """World direction (height, width, 3) through each pixel centre, of length one along the viewing axis."""
        right = ((np.arange(self.width) + 0.5 - 0.5 * self.width) / self.focal).astype(np.float32)
        up = ((0.5 * self.height - np.arange(self.height) - 0.5) / self.focal).astype(np.float32)
        axes = self.axes.astype(np.float32)
        return right[None, :, None] * axes[0] + up[:, None, None] * axes[1] + axes[2]

    def draw(self, triangles: np.ndarray, colors: np.ndarray) -> None:
        """Draw triangles (n, 3, 3) [m] in flat colours (n, 3). One that reaches behind the camera is left out."""
        corners = self.project(triangles)
        keep = np.isfinite(corners).all(axis=(1, 2))
        corners, colors = corners[keep], np.asarray(colors, dtype=np.float32)[keep]
        low = np.floor(corners[..., :2].min(axis=1) - 0.5).astype(int)
        high = np.ceil(corners[..., :2].max(axis=1) - 0.5).astype(int)
        low, high = np.maximum(low, 0), np.minimum(high, [self.width - 1, self.height - 1])
        span = (high - low).max(axis=1) + 1
        inside = (high >= low).all(axis=1)
        # Triangles of like size share one grid of pixels, so that each batch is a few array operations.
        level = np.ceil(np.log2(np.maximum(span, 1))).astype(int)
        for size in np.unique(level[inside]):
            chosen = np.flatnonzero(inside & (level == size))
            side = 1 << int(size)
            chunk = max(1, BATCH // (side * side))
            for start in range(0, len(chosen), chunk):
                part = chosen[start : start + chunk]
                self._fill(corners[part], colors[part], low[part], side)

    def _fill(self, corners: np.ndarray, colors: np.ndarray, low: np.ndarray, side: int) -> None:
        offsets = np.arange(side)
        columns = low[:, 0, None, None] + offsets[None, None, :]
        rows = low[:, 1, None, None] + offsets[None, :, None]
        x, y = columns + 0.5, rows + 0.5
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = (corners[:, k].T[:, :, None, None] for k in range(3))
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        with np.errstate(divide="ignore", invalid="ignore"):
            u = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / area
            v = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / area
            w = 1.0 - u - v
            depth = 1.0 / (u / az + v / bz + w / cz)  # inverse depth is linear on the screen
            hit = (u >= 0) & (v >= 0) & (w >= 0) & (columns < self.width) & (rows < self.height) & (depth > 0)
        which, row, column = np.nonzero(hit)
        if which.size == 0:
            return
        depth = depth[hit].astype(np.float32)
        pixel = (low[which, 1] + row) * self.width + low[which, 0] + column
        order = np.lexsort((depth, pixel))  # nearest fragment first within each pixel
        first = order[np.unique(pixel[order], return_index=True)[1]]
        pixel, depth, which = pixel[first], depth[first], which[first]
        nearer = depth < self.depth.reshape(-1)[pixel]
        self.depth.reshape(-1)[pixel[nearer]] = depth[nearer]
        self.color.reshape(-1, 3)[pixel[nearer]] = colors[which[nearer]]


def shade(triangles: np.ndarray, rgb: np.ndarray, *, light: np.ndarray, camera: Camera) -> np.ndarray:
    """Flat colours (n, 3): ambient light, a soft key light (unit vector towards it) and a weak light at the camera."""
    normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    normal = normal / np.where(length > 0, length, 1.0)
    towards = camera.position - triangles.mean(axis=1)
    towards /= np.linalg.norm(towards, axis=1, keepdims=True)
    facing = (normal * towards).sum(axis=1, keepdims=True)
    normal = np.where(facing < 0, -normal, normal)  # both sides are lit: not every mesh is closed
    key = np.maximum(normal @ light, 0.0)
    wrapped = 0.5 + 0.5 * (normal @ light)
    intensity = 0.38 + 0.25 * wrapped + 0.34 * key + 0.14 * np.abs(facing[:, 0])
    return np.clip(np.asarray(rgb) * intensity[:, None], 0.0, 1.0)
