# SPDX-License-Identifier: Apache-2.0
"""One self-contained HTML file that plays a recording in any browser, without a server or a network."""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from farfield.output import write_text
from farfield.viewer.recording import Recording

MAX_RATE = 60.0  # frames per second of playback
MAX_FRAMES = 1800
MAX_POSES = 60_000  # frames times moving bodies
HOLD = 0.8  # pause on the last frame before the playback starts again [s]

CAPTION = (
    '<div style="position:fixed;left:50%;top:12px;transform:translateX(-50%);z-index:9;pointer-events:none;'
    'font:600 14px system-ui,sans-serif;color:#33415c">{title}</div>'
)

LEGEND = (
    '<div id="legend" style="position:fixed;left:50%;top:34px;transform:translateX(-50%);z-index:9;pointer-events:none;'
    'font:12px system-ui,sans-serif;color:#5b6579">{text}</div>'
)

LOSS = (
    '<div id="loss" style="position:fixed;left:14px;bottom:64px;z-index:9;pointer-events:none;padding:6px 8px;'
    'background:#ffffffcc;border-radius:6px;font:12px system-ui,sans-serif;color:#33415c">{text}'
    '<svg width="{width}" height="{height}" style="display:block;margin-top:4px">'
    '<path d="M0,0 V{height} H{width}" fill="none" stroke="#9aa4b5"/>'
    '<polyline fill="none" stroke="#3474b7" stroke-width="1.5" points="{points}"/>'
    '<g font-size="10" fill="#33415c"><text x="4" y="10">{high}</text><text x="4" y="{bottom}">{low}</text>'
    '<text x="{width}" y="{bottom}" text-anchor="end">iteration {count}</text></g></svg></div>'
)


def playback_frames(recording: Recording) -> np.ndarray:
    """Indices of the frames a replay keeps; always the first and the last.

    At most 60 per second of playback, 1800 in all, and 60 000 body poses in all, which keeps a file below about
    3 MB beside its meshes. Longer recordings are thinned evenly; they play at the same speed.
    """
    moving = max(1, len(recording.moving_bodies()))
    limit = max(2, min(MAX_FRAMES, MAX_POSES // moving))
    stride = max(
        1, math.ceil(1.0 / (MAX_RATE * recording.dt) - 1e-9), math.ceil((recording.num_frames - 1) / (limit - 1))
    )
    frames = np.arange(0, recording.num_frames, stride)
    return frames if frames[-1] == recording.num_frames - 1 else np.append(frames, recording.num_frames - 1)


def write_replay(
    path: Path,
    recording: Recording,
    *,
    title: str = "Farfield",
    up: str = "z",
    loss: Sequence[float] | None = None,
    hidden: Sequence[str] = (),
) -> None:
    """Write the recording as one HTML file with a playback bar; it needs no server and loads nothing.

    loss: one value per iteration, drawn as a curve in a corner. hidden: names of arrows and trails to leave out.

    The file appears under its name only when it is complete. Long recordings are thinned, see `playback_frames`;
    bodies that never move cost nothing per frame. The last frame is held for 0.8 s before the playback repeats.
    """
    from farfield.viewer.stage import Stage, quiet_server  # viser takes most of a second to import

    with quiet_server() as server:
        stage = Stage(server, recording, up=up, hidden=hidden)
        serializer = server.get_scene_serializer()
        frames = playback_frames(recording)
        for previous, frame in itertools.pairwise(frames):
            serializer.insert_sleep(float(frame - previous) * recording.dt)
            stage.show(int(frame))
        if len(frames) > 1:
            serializer.insert_sleep(HOLD)
        page = serializer.as_html()
    legends = [f"{name}: {text}" for name, text in recording.legends.items() if name not in hidden]
    write_text(Path(path), _with_overlay(page, title, loss, legends))


def _with_overlay(page: str, title: str, loss: Sequence[float] | None, legends: Sequence[str] = ()) -> str:
    """The page with its title in the tab and as a caption over the picture, and the loss curve below."""
    title = html.escape(title)
    start, end = page.index("<title>") + len("<title>"), page.index("</title>")
    page = page[:start] + title + page[end:]
    body_end = page.rindex("</body>")
    curve = _loss_curve(np.asarray(loss, dtype=float)) if loss is not None else ""
    legend = LEGEND.format(text=html.escape("; ".join(legends))) if legends else ""
    return page[:body_end] + CAPTION.format(title=title) + curve + legend + page[body_end:]


def _loss_curve(loss: np.ndarray) -> str:
    """A small plot of the loss over the iterations as SVG, logarithmic; zeros lie on the lower edge."""
    width, height = 240, 84
    positive = loss[np.isfinite(loss) & (loss > 0)]
    if len(loss) < 2 or positive.size == 0:
        return ""
    top, low = math.log10(positive.max()), math.log10(max(positive.min(), 1e-6 * positive.max()))
    chosen = np.unique(np.linspace(0, len(loss) - 1, 400).round().astype(int))
    with np.errstate(divide="ignore", invalid="ignore"):
        level = (np.log10(np.maximum(loss[chosen], 0.0)) - low) / max(top - low, 1e-9)
    level = np.clip(np.nan_to_num(level, nan=0.0, neginf=0.0), 0.0, 1.0)
    points = " ".join(
        f"{width * k / (len(loss) - 1):.1f},{height * (1 - y):.1f}" for k, y in zip(chosen, level, strict=True)
    )
    text = f"loss over {len(loss)} iterations: {loss[0]:.3g} to {loss[-1]:.3g}"
    ends = {"high": f"{10**top:.2g}", "low": f"{10**low:.2g}", "bottom": height - 4, "count": len(loss)}
    return LOSS.format(width=width, height=height, points=points, text=text, **ends)
