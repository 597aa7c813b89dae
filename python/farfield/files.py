# SPDX-License-Identifier: Apache-2.0
"""Trajectories in files. Models and states need nothing beyond the core: see farfield.save_model, farfield.save_state."""

from __future__ import annotations

from os import PathLike

from farfield import _core
from farfield._core import FileError, Trajectory
from farfield.contact_models import contact_from_description


def load_trajectory(path: str | PathLike[str]) -> Trajectory:
    """What ``save_trajectory`` wrote, ready for ``rollout_vjp``. Raises FileError when the file is missing, truncated, foreign or damaged."""
    trajectory = _core.load_trajectory(path)
    try:
        contact = contact_from_description(trajectory.contact)
    except ValueError as error:
        raise FileError(f"file '{path}': {error}") from error
    if contact is not None:
        trajectory._set_contact(contact)
    return trajectory
