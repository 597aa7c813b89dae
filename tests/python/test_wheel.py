# SPDX-License-Identifier: Apache-2.0
"""The wheel alone, in a fresh environment without this repository: the command runs, and so do the README's lines."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_a_fresh_environment_has_all_it_needs(tmp_path):
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}

    def run(*command: str | Path) -> str:
        done = subprocess.run(
            [str(word) for word in command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        return done.stdout + done.stderr

    run(ROOT / "tools" / "build_wheel.sh", tmp_path / "dist")
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    assert "manylinux" in wheel.name
    assert wheel.stat().st_size < 10e6
    names = zipfile.ZipFile(wheel).namelist()
    assert "farfield/scenes/arm7.xml" in names and "farfield/py.typed" in names
    assert {name.split("-")[0] for name in names if name.startswith("farfield.libs/lib")} >= {"farfield.libs/libhwy"}

    run(sys.executable, "-m", "venv", tmp_path / "venv")
    python, farfield = tmp_path / "venv" / "bin" / "python", tmp_path / "venv" / "bin" / "farfield"
    run(python, "-m", "pip", "install", "-q", wheel)
    assert str(tmp_path / "venv") in run(python, "-c", "import farfield; print(farfield.__file__)")
    assert run(farfield, "doctor").splitlines()[-1].split() == ["verdict", "works"]
    (block,) = re.findall(r"## Fifteen lines\n+```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    run(python, "-c", block)
    told = run(farfield, "run", "push", "--out", tmp_path / "run")
    assert "SUCCESS" in told and "replay.html: left out" in told
    assert "pip install farfield[viewer]" in told
