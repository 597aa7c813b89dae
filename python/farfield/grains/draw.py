# SPDX-License-Identifier: Apache-2.0
"""Pictures of grains: a PNG of one state and a GIF of many, with Pillow alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from farfield._core import GrainShape, GrainWall
from farfield.optional import needs
from farfield.output import atomic_path

BACKGROUND, HELD, LINE = (250, 251, 253), (150, 156, 168), (110, 116, 130)
PALETTE = ((66, 118, 184), (222, 132, 62), (84, 160, 104), (196, 84, 92), (136, 108, 180), (150, 116, 92),
           (214, 128, 184), (120, 130, 140), (180, 176, 70), (70, 172, 184))  # fmt: skip


class Picture:
    """Draws states of one set of grains in a fixed window of the plane."""

    def __init__(
        self,
        shapes: Sequence[GrainShape],
        shape_index: np.ndarray,
        free: np.ndarray,
        walls: Sequence[GrainWall],
        view: tuple[tuple[float, float], tuple[float, float]],
        width: int = 900,
    ) -> None:
        self.shapes, self.index, self.free, self.walls = list(shapes), np.asarray(shape_index), np.asarray(free), walls
        self.several = len(np.unique(self.index[self.free])) > 1  # then colours tell shapes, else only grains apart
        (self.left, right), (self.bottom, self.top) = view
        largest = 1100
        self.scale = min(width / (right - self.left), largest / (self.top - self.bottom))
        self.size = (
            max(16, round(self.scale * (right - self.left))),
            max(16, round(self.scale * (self.top - self.bottom))),
        )

    def draw(self, poses: np.ndarray, *, supersample: int = 1):
        """A Pillow image of rows (x, y, theta)."""
        with needs("viewer"):
            from PIL import Image, ImageDraw

        scale = self.scale * supersample
        image = Image.new("RGB", (self.size[0] * supersample, self.size[1] * supersample), BACKGROUND)
        pen = ImageDraw.Draw(image)
        for wall in self.walls:
            self._wall(pen, wall, scale)
        poses = np.asarray(poses, dtype=float)
        order = np.argsort(self.free, kind="stable")  # held grains first
        for grain in order:
            x, y, angle = poses[grain]
            c, s = np.cos(angle), np.sin(angle)
            base = PALETTE[(int(self.index[grain]) if self.several else int(grain) % 5) % len(PALETTE)]
            color = base if self.free[grain] else HELD
            for k, ring in enumerate(self.shapes[self.index[grain]].rings):
                turned = ring @ np.array([[c, s], [-s, c]]) + [x, y]
                corners = [((px - self.left) * scale, (self.top - py) * scale) for px, py in turned]
                pen.polygon(corners, fill=color if k == 0 else BACKGROUND)
        if supersample > 1:
            image = image.resize(self.size, Image.Resampling.BOX)
        return image

    def _wall(self, pen, wall: GrainWall, scale: float) -> None:
        if not wall.enabled:
            return
        width = max(1, round(min(scale * 0.05, 4)))
        if wall.kind == "half_plane":
            foot = wall.normal * wall.offset
            along = np.array([-wall.normal[1], wall.normal[0]]) * 1e4
            ends = [foot - along, foot + along]
            pen.line([((p[0] - self.left) * scale, (self.top - p[1]) * scale) for p in ends], fill=LINE, width=width)
        else:
            x, y, r = (wall.centre[0] - self.left) * scale, (self.top - wall.centre[1]) * scale, wall.radius * scale
            pen.ellipse((x - r, y - r, x + r, y + r), outline=LINE, width=width)


def write_png(path: Path, picture: Picture, poses: np.ndarray) -> None:
    """One state, smoothed."""
    with atomic_path(Path(path)) as temporary:
        picture.draw(poses, supersample=2).save(temporary, format="PNG")


def write_gif(path: Path, picture: Picture, frames: np.ndarray, *, most: int = 40, frame_ms: int = 80) -> None:
    """At most `most` evenly spread frames as an animation that repeats."""
    chosen = np.unique(np.linspace(0, len(frames) - 1, min(most, len(frames))).round().astype(int))
    images = [picture.draw(frames[k]).quantize(64) for k in chosen]
    with atomic_path(Path(path)) as temporary:
        images[0].save(
            temporary, format="GIF", save_all=True, append_images=images[1:], duration=frame_ms, loop=0, optimize=False
        )
