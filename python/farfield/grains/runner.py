# SPDX-License-Identifier: Apache-2.0
"""Runs a scene frame by frame: progress, audits, checkpoints, pictures. A run that is interrupted or killed can be continued."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from farfield.experiments.runs import CHECKPOINT, RunDir
from farfield.grains.scene import Scene
from farfield.output import dump_json
from farfield.reading import blamed_on, parse_json
from farfield.stopping import shielded, stop_requests
from farfield.terminal import ProgressBar

CHUNK = 200  # steps between looks at the keyboard
CHECKPOINT_SECONDS = 20.0
STATE_KEYS = ("steps", "poses", "velocities", "contacts", "springs", "wall_springs", "walls", "pivots")


@dataclass
class Run:
    """What a run leaves: rows of numbers and poses (frames, grains, 3) as 32-bit numbers."""

    rows: list[dict]
    frames: np.ndarray
    steps: int  #: of this piece, and its seconds
    total_steps: int
    seconds: float
    finite: bool
    interrupted: bool


def run_scene(scene: Scene, folder: RunDir, *, quiet: bool = False, resume: bool = False) -> Run:
    """Run to the end, or on from the last checkpoint of the folder when `resume`; from the beginning when it has none."""
    system = scene.system
    total = max(1, round(scene.seconds / scene.frame_seconds))
    steps_per_frame = max(1, round(scene.frame_seconds / system.dt))
    rows, frames = _restore(scene, folder) if resume and folder.file(CHECKPOINT).exists() else ([], [])
    folder.truncate_metrics(max(0, len(rows) - 1))  # the start has no line
    done_stages = sum(1 for at, _ in scene.stages if frames and at <= (len(frames) - 1) * scene.frame_seconds)
    for _, action in scene.stages[:done_stages]:
        action(system)
    state = system.state()  # of the last whole frame: what a checkpoint holds
    if not frames:
        system.check_start()
        rows, frames = [_row(scene, 0)], [state["poses"].astype(np.float32)]
    started, steps_before, saved = time.perf_counter(), state["steps"], time.perf_counter()
    finite, interrupted, measured = True, False, 0.0
    with (
        stop_requests("this frame") as stopped,
        ProgressBar(scene.name, total, done=len(frames) - 1, unit="frame", quiet=quiet, keep=True) as bar,
    ):
        try:
            for frame in range(len(frames), total + 1):
                if scene.at_rest is not None and len(rows) > 1 and scene.at_rest(rows):
                    break
                while (
                    done_stages < len(scene.stages)
                    and scene.stages[done_stages][0] <= (frame - 1) * scene.frame_seconds
                ):
                    scene.stages[done_stages][1](system)
                    done_stages += 1
                if scene.each_frame is not None:
                    scene.each_frame(system)
                now = time.perf_counter()
                left = steps_per_frame
                while finite and left > 0 and not stopped():
                    finite = system.run(min(CHUNK, left))
                    left -= min(CHUNK, left)
                measured += time.perf_counter() - now
                interrupted = stopped()
                if interrupted or not finite:
                    break
                row, state_now = _row(scene, frame), system.state()
                rows.append(row)
                frames.append(state_now["poses"].astype(np.float32))
                state = state_now
                folder.append_metrics(row)
                bar.update()
                if time.perf_counter() - saved > CHECKPOINT_SECONDS:
                    _checkpoint(folder, state, rows, frames)
                    saved = time.perf_counter()
        except KeyboardInterrupt:
            interrupted = True
    if finite:
        _checkpoint(folder, state, rows, frames)
    seconds = measured if measured > 0 else time.perf_counter() - started
    return Run(rows, np.array(frames), state["steps"] - steps_before, state["steps"], seconds, finite, interrupted)


def _row(scene: Scene, frame: int) -> dict:
    """Energies, momenta and what the scene measures, now."""
    poses = scene.system.state()["poses"]
    return {"frame": frame, "time": scene.system.time, **scene.system.audit(), **scene.measure(scene.system, poses)}


def _checkpoint(folder: RunDir, state: dict, rows: list[dict], frames: list[np.ndarray]) -> None:
    """State for an exact continuation, at a whole frame, and what was recorded so far."""
    arrays = {f"state_{key}": np.asarray(state[key]) for key in STATE_KEYS}
    text = np.frombuffer(dump_json(rows).encode(), dtype=np.uint8)
    with shielded():
        folder.write_arrays({**arrays, "frames": np.array(frames), "rows": text}, CHECKPOINT)


def _restore(scene: Scene, folder: RunDir) -> tuple[list[dict], list[np.ndarray]]:
    file = folder.file(CHECKPOINT)
    arrays = folder.read_arrays(CHECKPOINT, sealed=True)
    with blamed_on(file, "no checkpoint of these grains"):
        state = {key: arrays[f"state_{key}"] for key in STATE_KEYS}
        state["steps"] = int(state["steps"])
        scene.system.set_state(state)
        return parse_json(file, arrays["rows"].tobytes().decode()), list(arrays["frames"])
