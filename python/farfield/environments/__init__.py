# SPDX-License-Identifier: Apache-2.0
"""Environments that Gymnasium makes by name, once this is imported: ``gymnasium.make("Farfield/Push-v0")``.

``gymnasium.make_vec("Farfield/Push-v0", num_envs=256)`` makes the ones that step together on threads. Keywords are those of the setting;
``Farfield/File-v0`` takes any MJCF or URDF file.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import farfield as ff
from farfield.environments.ant_push import AntPushSetting
from farfield.environments.push import PushSetting
from farfield.environments.reach import ReachSetting
from farfield.environments.t_push import TPushSetting
from farfield.interop.gym import FarfieldEnv, FarfieldVectorEnv, FileSetting, Setting
from farfield.optional import needs

with needs("gym"):
    import gymnasium

__all__ = [
    "SETTINGS",
    "AntPushSetting",
    "FileSetting",
    "PushSetting",
    "ReachSetting",
    "TPushSetting",
    "make",
    "make_vector",
]

SETTINGS: dict[str, type[Setting]] = {
    "Push": PushSetting,
    "AntPush": AntPushSetting,
    "Reach": ReachSetting,
    "TPush": TPushSetting,
    "File": FileSetting,
}


def make(name: str, *, render_mode: str | None = None, **options: Any) -> FarfieldEnv:
    """One environment of a setting in SETTINGS."""
    return FarfieldEnv(SETTINGS[name](**options), render_mode=render_mode, draw=draw)


def make_vector(name: str, num_envs: int = 1, *, threads: int | None = None, **options: Any) -> FarfieldVectorEnv:
    """Many environments of a setting in SETTINGS."""
    return FarfieldVectorEnv(SETTINGS[name](**options), num_envs, threads=threads)


def draw(model: ff.Model, poses: np.ndarray) -> np.ndarray:
    """A picture of bodies at these poses, shape (height, width, 3), uint8."""
    from farfield.viewer.recording import record
    from farfield.viewer.still import render

    return render(record(model, poses[None], dt=1.0), frames=[0], size=(480, 320))


for _name in SETTINGS:
    gymnasium.register(
        f"Farfield/{_name}-v0",
        entry_point=make,
        vector_entry_point=make_vector,
        kwargs={"name": _name},
    )
