# SPDX-License-Identifier: Apache-2.0
"""Every reader of files reads or refuses: the kept files of the fuzzers, and in long runs the fuzzers themselves."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))

import readers

FUZZ = readers.CORPUS.parent
KEPT = sorted(path for path in readers.CORPUS.rglob("*") if path.is_file())


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_kept_files_are_read_or_refused(path, tmp_path):
    name = path.parent.name
    target = tmp_path / (
        {".json": "config.json", ".jsonl": "metrics.jsonl"}.get(path.suffix, path.name) if name == "run" else path.name
    )
    shutil.copyfile(path, target)
    assert readers.attempt(name, target) is None


def test_every_reader_has_kept_files():
    assert {path.parent.name for path in KEPT} == set(readers.READERS)
    assert sum(path.stat().st_size for path in KEPT) < 100_000


def test_a_fault_is_found_and_kept(tmp_path):
    """A reader that does not refuse."""
    plain = "import sys; sys.path.insert(0, sys.argv.pop(1)); import readers, fuzz, importlib.util as u; find = u.find_spec\n"
    plain += "u.find_spec = lambda name, *rest: None if name == 'atheris' else find(name, *rest)\n"
    plain += "readers.READERS['json'] = readers.Reader(lambda path: 1 // 0, 'simulated', ('run/config.json',))\n"
    plain += "sys.exit(fuzz.main())"
    command = [sys.executable, "-c", plain, str(FUZZ), "--reader", "json", "--seconds", "5", "--keep", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "ZeroDivisionError" in json.loads(done.stdout)["json"]
    assert len(list(tmp_path.glob("json-0-*"))) == 1


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_ten_minutes_of_fuzzing(tmp_path):
    seconds = str(600 / len(readers.READERS))
    command = [sys.executable, str(FUZZ / "fuzz.py"), "--seconds", seconds, "--keep", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout or '"no answer"') == {}, done.stderr[-2000:]
