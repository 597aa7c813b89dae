# SPDX-License-Identifier: Apache-2.0
"""The tutorial's task is as short as promised and works as shown."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from farfield.cli import main

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial_task.md"


@pytest.fixture
def task_file(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", TUTORIAL.read_text(), flags=re.DOTALL)
    path = tmp_path / "flick.py"
    path.write_text(code)
    return path


def test_it_is_short(task_file):
    assert len(task_file.read_text().splitlines()) < 60


def test_it_runs_and_succeeds(task_file, tmp_path, capsys):
    code = main(["run", str(task_file), "--out", str(tmp_path / "run"), "--quiet", "--json"])
    result = json.loads(capsys.readouterr().out)
    assert code == 0
    assert result["success"]
    assert result["loss_final"] == 0.0 < result["loss_initial"]
    assert result["min_gap"] > 0.0
    rows = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert 0.0 < rows[0]["gradient_norm"] < 1e-7  # what the text says about its size
    assert max(row["gradient_norm"] or 0.0 for row in rows) > 0.1  # none where a trial did not converge
