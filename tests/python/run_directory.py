# SPDX-License-Identifier: Apache-2.0
"""What a run directory shows."""

from pathlib import Path

from farfield.experiments.runs import TRAJECTORY
from farfield.viewer import Recording, load_recording
from farfield.viewer.recording import OVERLAYS


def recorded(folder: Path) -> Recording:
    """The recording that `farfield view` draws of a run directory."""
    return load_recording(folder / TRAJECTORY, folder / OVERLAYS)
