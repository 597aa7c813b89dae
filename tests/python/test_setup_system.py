# SPDX-License-Identifier: Apache-2.0
"""tools/setup_system.sh names what is missing exactly when it may not install it, and installs it when it may."""

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "setup_system.sh"


def write_program(folder, name, text):
    path = folder / name
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def machine(tmp_path):
    """A PATH on which everything is installed, the user is not root and sudo does not work."""
    for name in ("g++", "cmake", "ninja", "python3", "chromium"):
        write_program(tmp_path, name, "exit 0")
    for name in ("grep", "env"):
        write_program(tmp_path, name, f'exec /usr/bin/{name} "$@"')
    write_program(tmp_path, "dpkg-query", 'echo "install ok installed"')
    write_program(tmp_path, "apt-get", f'echo "apt-get $*" >> {tmp_path}/log')
    write_program(tmp_path, "sudo", "exit 1")
    write_program(tmp_path, "id", "echo 1000")
    return tmp_path


def run(machine, group="build"):
    return subprocess.run(
        ["/bin/bash", str(SCRIPT), group],
        env={**os.environ, "PATH": str(machine)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def test_silent_when_nothing_is_missing(machine):
    outcome = run(machine)
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, "", "")


def test_names_the_missing_packages_without_rights(machine):
    write_program(machine, "cmake", "exit 127")  # a shim that is there but does not run
    write_program(machine, "dpkg-query", '[ "${@: -1}" != libhwy-dev ] && echo "install ok installed"')
    outcome = run(machine)
    assert outcome.returncode == 1
    assert "sudo apt-get install -y --no-install-recommends cmake libhwy-dev\n" in outcome.stderr
    assert not (machine / "log").exists()


def test_removed_package_counts_as_missing(machine):
    write_program(machine, "dpkg-query", 'echo "deinstall ok config-files"')
    outcome = run(machine, "bench")
    assert outcome.returncode == 1
    assert "libbenchmark-dev" in outcome.stderr


def test_installs_as_root(machine):
    write_program(machine, "id", "echo 0")
    (machine / "ninja").unlink()
    outcome = run(machine)
    assert outcome.returncode == 0, outcome.stderr
    log = (machine / "log").read_text().splitlines()
    assert log[-1] == "apt-get install -y --no-install-recommends ninja-build"


def test_browser_is_optional(machine):
    (machine / "chromium").unlink()
    outcome = run(machine, "pages")
    assert outcome.returncode == 0
    assert "chromium" in outcome.stderr


def test_unknown_group_is_bad_usage(machine):
    assert run(machine, "kitchen").returncode == 2
