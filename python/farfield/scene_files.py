# SPDX-License-Identifier: Apache-2.0
"""Robots and scenes that come with the package."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).resolve().parent
#: In an installed package beside its modules, in the repository at its top.
FOLDER = next((place for place in (HERE / "scenes", HERE.parents[1] / "scenes") if place.is_dir()), HERE / "scenes")


def scene_file(name: str) -> Path:
    """The path of a robot or scene that comes with the package, such as "arm7.xml"; for :func:`farfield.load`."""
    known = sorted(path.name for path in FOLDER.glob("*.xml"))
    if name not in known:
        raise ValueError(f"scene file '{name}' is unknown, expected one of: {', '.join(known)}")
    return FOLDER / name
