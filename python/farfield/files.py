# SPDX-License-Identifier: Apache-2.0
"""Trajectories in files. Models and states need nothing beyond the core: see farfield.save_model, farfield.save_state."""

from __future__ import annotations

from os import PathLike

from farfield._core import FileError, Trajectory
from farfield._core import load_trajectory as _load
from farfield._core import save_trajectory as _save


def save_trajectory(path: str | PathLike[str], trajectory: Trajectory) -> None:
    """Writes a trajectory with its model, parameters and reports, without loss; complete or not at all.

    Raises ValueError for a trajectory with contact.
    """
    _save(path, trajectory)


def load_trajectory(path: str | PathLike[str]) -> Trajectory:
    """What :func:`save_trajectory` wrote. Raises FileError when the file is missing, truncated, foreign or damaged."""
    trajectory, contact = _load(path)
    if contact:
        raise FileError(f"file '{path}': contact {contact!r}, expected a trajectory without contact")
    return trajectory
