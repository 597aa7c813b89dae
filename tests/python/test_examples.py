# SPDX-License-Identifier: Apache-2.0
"""The examples run, some at a reduced size; each asserts what it claims."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "python"


RUNS = (
    ("balance.py",),
    ("batch.py", "16"),
    ("contact_models.py",),
    ("four_bar.py",),
    ("gradients.py",),
    ("grain_heap.py", "40"),
    ("jax_gradient.py",),
    ("load_robot.py",),
    ("many_environments.py", "8"),
    ("on_workers.py",),
    ("own_task.py", "run"),
    ("push_t.py",),
    ("read_forces.py", "forces.png"),
    ("replay.py", "replay.html"),
    ("soft_distance.py",),
    ("step_and_contacts.py",),
    ("throw.py",),
    ("torch_identify.py", "12"),
)


@pytest.mark.parametrize("words", RUNS, ids=lambda words: words[0])
def test_it_runs(words, tmp_path):
    done = subprocess.run(
        [sys.executable, EXAMPLES / words[0], *words[1:]], cwd=tmp_path, capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout
