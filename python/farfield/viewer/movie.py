# SPDX-License-Identifier: Apache-2.0
"""A recording as a GIF or an MP4, drawn without a browser by one camera that stands still."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from farfield.optional import needed, needs
from farfield.output import atomic_path
from farfield.viewer.camera import fit_camera
from farfield.viewer.recording import Recording
from farfield.viewer.still import ELEVATION, render

KINDS = (".gif", ".mp4")


def write_movie(
    recording: Recording,
    path: Path,
    *,
    rate: float = 25.0,
    size: tuple[int, int] = (640, 400),
    up: str = "z",
    elevation: float = ELEVATION,
) -> int:
    """Writes the motion at its own speed, ``rate`` pictures a second, and returns how many there are. The file appears when it is complete.

    size: width and height [pixels], even for an MP4.
    """
    path = Path(path)
    if path.suffix.lower() not in KINDS:
        raise ValueError(f"{path}: expected a name that ends with {' or '.join(KINDS)}")
    if not (math.isfinite(rate) and rate > 0.0):
        raise ValueError(f"{path}: {rate} pictures a second, expected > 0")
    count = 1 + math.floor(recording.duration * rate + 1e-9)
    chosen = np.minimum(np.round(np.arange(count) / (rate * recording.dt)).astype(int), recording.num_frames - 1)
    camera = fit_camera(recording, up=up, aspect=size[0] / size[1], elevation=elevation)
    pictures = (render(recording, frames=[int(k)], size=size, up=up, camera=camera) for k in chosen)
    with atomic_path(path) as temporary:
        (_write_gif if path.suffix.lower() == ".gif" else _write_mp4)(temporary, pictures, size, rate)
    return count


def _write_gif(path: Path, pictures: Iterator[np.ndarray], size: tuple[int, int], rate: float) -> None:
    with needs("viewer"):
        from PIL import Image
    first, *others = (Image.fromarray(picture).quantize(128, dither=Image.Dither.NONE) for picture in pictures)
    duration = max(20, round(1000.0 / rate))  # ms; browsers show no more than 50 a second
    first.save(path, format="GIF", save_all=True, append_images=others, duration=duration, loop=0)


def _write_mp4(path: Path, pictures: Iterator[np.ndarray], size: tuple[int, int], rate: float) -> None:
    if size[0] % 2 or size[1] % 2:
        raise ValueError(f"{path}: {size[0]} x {size[1]} pixels, expected even numbers for an MP4")
    writer = needed("imageio_ffmpeg", extra="viewer").write_frames(str(path), size, fps=rate, macro_block_size=2)
    writer.send(None)
    try:
        for picture in pictures:
            writer.send(np.ascontiguousarray(picture))
    finally:
        writer.close()
