# SPDX-License-Identifier: Apache-2.0
"""Trajectories in files. Models and states need nothing beyond the core: see farfield.save_model, farfield.save_state."""

from __future__ import annotations

import json
from os import PathLike

from farfield import _core
from farfield._core import ContactModel, FileError, Trajectory

CONTACT_MODELS = {
    "longrange": _core.LongRange,
    "polyhedral": _core.Polyhedral,
    "ipc": _core.Ipc,
    "ipc-global": _core.IpcGlobal,
}


def contact_from_description(text: str) -> ContactModel | None:
    """The contact model that ``ContactModel.description`` or ``Trajectory.contact`` describes; None for an empty text."""
    if not text:
        return None
    try:
        options = json.loads(text)
        return CONTACT_MODELS[options.pop("model")](**options)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"contact model {text!r}: {error}; expected the description of one of {', '.join(CONTACT_MODELS)}"
        ) from error


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
