# SPDX-License-Identifier: Apache-2.0
"""The examples of learning run at a reduced size; each asserts what it claims."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "python"


@pytest.mark.parametrize("words", [("torch_identify.py", "12"), ("many_environments.py", "8"), ("soft_distance.py",), ("push_t.py",)], ids=lambda words: words[0])  # fmt: skip
def test_it_runs(words):
    done = subprocess.run(
        [sys.executable, EXAMPLES / words[0], *words[1:]], capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout
