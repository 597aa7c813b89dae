# SPDX-License-Identifier: Apache-2.0
"""An installed tree serves find_package(farfield): install it elsewhere and build a program against it."""

import re
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


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    run(CMAKE, "--install", BUILD, "--prefix", folder, "--component", "cpp")
    return folder


def eigen_folder():
    cache = (BUILD / "CMakeCache.txt").read_text()
    cmake_folder = Path(re.search(r"^Eigen3_DIR:PATH=(.*)$", cache, re.MULTILINE)[1])
    return next(p / "include" / "eigen3" for p in cmake_folder.parents if (p / "include" / "eigen3").exists())


def test_installed_headers_are_what_the_public_one_needs(prefix):
    folder = prefix / "include" / "farfield"
    headers = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    needed, waiting = set(), ["farfield.hpp"]
    while waiting:
        header = waiting.pop()
        needed.add(header)
        text = (folder / header).read_text()  # fails on one that is not installed
        waiting += set(re.findall(r'#include "farfield/([^"]+)"', text)) - needed
    assert headers == needed
    assert not [header for header in headers if header.endswith("-inl.hpp") or "lanes" in header]


@pytest.mark.long
def test_each_installed_header_compiles_alone(prefix, tmp_path):
    folder = prefix / "include"
    for header in sorted(folder.rglob("*.hpp")):
        source = tmp_path / "alone.cpp"
        source.write_text(f'#include "{header.relative_to(folder).as_posix()}"\n')
        run("g++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", f"-I{folder}", "-isystem", eigen_folder(), source)


def test_program_builds_against_the_installed_tree(prefix, tmp_path):
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
