# SPDX-License-Identifier: Apache-2.0
"""An installed tree serves find_package(farfield): install it elsewhere and build a program against it."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
CMAKE = "/usr/bin/cmake" if Path("/usr/bin/cmake").exists() else shutil.which("cmake")
NINJA = "/usr/bin/ninja" if Path("/usr/bin/ninja").exists() else shutil.which("ninja")

pytestmark = pytest.mark.skipif(
    not (BUILD / "libfarfield.a").exists() or CMAKE is None, reason="needs the build of make setup"
)


def run(*command):
    outcome = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert outcome.returncode == 0, f"{command}\n{outcome.stdout}\n{outcome.stderr}"
    return outcome.stdout


def test_program_builds_against_the_installed_tree(tmp_path):
    prefix = tmp_path / "prefix"
    run(CMAKE, "--install", BUILD, "--prefix", prefix, "--component", "cpp")
    # Headers and archive only: nothing of the source tree may be needed any more.
    targets = "".join(path.read_text() for path in prefix.rglob("*.cmake"))
    assert str(ROOT) not in targets

    run(
        CMAKE, "-S", ROOT / "examples" / "cpp", "-B", tmp_path / "build", "-G", "Ninja",
        f"-DCMAKE_MAKE_PROGRAM={NINJA}", f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release",
    )  # fmt: skip
    run(CMAKE, "--build", tmp_path / "build")
    output = run(tmp_path / "build" / "describe_scene")
    assert output.splitlines() == [
        "world: 0 joint(s)",
        "door: 1 joint(s)",
        "refused: shape 'panel': smallest size -0.02, expected > 0 [m]",
    ]
