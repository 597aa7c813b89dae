# SPDX-License-Identifier: Apache-2.0
"""Motions that tasks ended with, kept as controls in recorded_motions.npz, in units of 1e-4 m or rad, by task and seed ("push 1").

They are rolled out in the scene of the task with the settings it has now, so steps may be compared over changes of either.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from farfield.experiments.registry import find_task
from farfield.tasks.task import Problem

FILE = Path(__file__).with_name("recorded_motions.npz")
UNIT = 1e-4


def names() -> list[str]:
    """Of all motions."""
    with np.load(FILE) as kept:
        return list(kept.files)


def recorded(name: str) -> tuple[Problem, np.ndarray]:
    """The problem of a motion and its controls, shape (steps, num_controls)."""
    with np.load(FILE) as kept:
        controls = UNIT * kept[name]
    task, _, seed = name.rpartition(" ")
    return find_task(task)().build(int(seed)), controls
