# SPDX-License-Identifier: Apache-2.0
"""Contact models by name."""

from __future__ import annotations

import json
from typing import Any

from farfield import _core
from farfield._core import ContactModel

CONTACT_MODELS = {
    "longrange": _core.LongRange,
    "polyhedral": _core.Polyhedral,
    "ipc": _core.Ipc,
    "ipc-global": _core.IpcGlobal,
}


def contact_from_description(text: str) -> ContactModel | None:
    """The contact model that ``ContactModel.description`` or ``Trajectory.contact`` describes.

    None for an empty text, and for the contact of another engine (`engine_description`), which is no model of ours.
    """
    if not text:
        return None
    try:
        options = dict(json.loads(text))
        if set(options) == {"engine"}:
            return None
        return CONTACT_MODELS[options.pop("model")](**options)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"contact model {text!r}: {error}; expected the description of one of {', '.join(CONTACT_MODELS)}"
        ) from error


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
