# SPDX-License-Identifier: Apache-2.0
"""Contact models by name."""

from __future__ import annotations

import copyreg
import json
from typing import Any

from farfield import _core
from farfield._core import ContactModel, contact_from_description

__all__ = ["CONTACT_MODELS", "TRADES", "certifies", "contact_from_description", "contact_model", "engine_description"]

CONTACT_MODELS = {
    "longrange": _core.LongRange,
    "polyhedral": _core.Polyhedral,
    "ipc": _core.Ipc,
    "ipc-global": _core.IpcGlobal,
    "softmin": _core.Softmin,
}

# What a model gives up and what it gains, in one line.
TRADES = {
    "longrange": "acts at every distance and never touches; a Newton solve a step",
    "polyhedral": "never touches, smooth between convex hulls; nothing beyond its range, a Newton solve a step",
    "ipc": "never touches, any mesh; nothing beyond its range, second derivatives jump, a Newton solve a step",
    "ipc-global": "never touches, acts at every distance; second derivatives jump, a Newton solve a step",
    "softmin": "may penetrate, nothing is certified, tails are exponential; explicit, microseconds a step, second derivatives",
    "mujoco": "penetrates, acts on overlap only; fast",
}


def certifies(contact: ContactModel | None) -> bool:
    """Whether rollouts with this contact prove that nothing intersects; force laws let bodies into each other."""
    return not isinstance(contact, _core.Softmin)


def engine_description(name: str) -> str:
    """What `farfield.Trajectory.contact` says of states that another engine computed with contact of its own."""
    return json.dumps({"engine": name})


def contact_model(name: str, **options: Any) -> ContactModel | None:
    """The contact model of this name, options as given or the defaults; None for "none"."""
    if name == "none":
        return None
    if name not in CONTACT_MODELS:
        raise ValueError(f"contact model '{name}' is unknown, expected one of: {', '.join(['none', *CONTACT_MODELS])}")
    return CONTACT_MODELS[name](**options)


def _described(text: str) -> ContactModel | None:
    return contact_from_description(text)


# Processes hand contact models to each other as their options.
for _kind in CONTACT_MODELS.values():
    copyreg.pickle(_kind, lambda model: (_described, (model.description,)))
