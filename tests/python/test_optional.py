# SPDX-License-Identifier: Apache-2.0
"""The smallest installation, NumPy and MuJoCo: everything imports that can, the rest names its extra, and runs do without pictures."""

from __future__ import annotations

import json
import pkgutil
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import farfield
from farfield.optional import MissingPackage, needed

BLOCKED = (
    "matplotlib", "viser", "trimesh", "collada", "coacd", "fast_simplification", "svgelements", "PIL", "rich", "tqdm", "scipy", "cma",
    "torch", "jax", "gymnasium", "ray",
)  # fmt: skip
BLOCK = f"import sys; sys.modules.update(dict.fromkeys({BLOCKED!r}))\n"
#: Modules that cannot be without a package, and the extra that has it.
NEEDS = {
    "farfield.environments": "gym",
    "farfield.environments.ant_push": "gym",
    "farfield.environments.push": "gym",
    "farfield.environments.reach": "gym",
    "farfield.environments.t_push": "gym",
    "farfield.interop.gym": "gym",
    "farfield.interop.jax": "jax",
    "farfield.interop.torch": "torch",
    "farfield.viewer.live": "viewer",
    "farfield.viewer.server": "viewer",
    "farfield.viewer.stage": "viewer",
}


def run(program: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BLOCK + program], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )


def test_every_module_imports_or_names_its_extra(tmp_path):
    names = [each.name for each in pkgutil.walk_packages(farfield.__path__, "farfield.", onerror=lambda name: None)]
    names += [name for name in NEEDS if name not in names]
    program = (
        "import importlib, json\nfound = {}\n"
        f"for name in {names!r}:\n"
        "    try:\n        importlib.import_module(name)\n"
        "    except ImportError as error:\n        found[name] = str(error)\n"
        "print(json.dumps(found))\n"
    )
    done = run(program, tmp_path)
    assert done.returncode == 0, done.stderr
    missing = json.loads(done.stdout)
    assert {name: text.partition("farfield[")[2].rstrip("]") for name, text in missing.items()} == NEEDS


@pytest.mark.parametrize(
    ("call", "extra"),
    [
        ("farfield.convex_parts(farfield.TriangleMesh(name='m', vertices=[[0.0]*3]*3, triangles=[[0, 1, 2]]))", "meshes"),
        ("from farfield.optional import pyplot; pyplot()", "viewer"),
        ("from farfield.grains.outline_files import path_rings; path_rings('M 0 0 L 1 0 L 0 1 Z')", "meshes"),
    ],
    ids=("convex_parts", "pyplot", "path_rings"),
)  # fmt: skip
def test_a_call_names_its_extra(call, extra, tmp_path):
    done = run(f"import farfield\n{call}", tmp_path)
    assert f"pip install farfield[{extra}]" in done.stderr
    assert done.returncode == 1


def test_a_run_does_without_pictures_and_says_so(tmp_path):
    program = "from farfield.cli import main; sys.exit(main(['run', 'push', '--iterations', '1', '--out', 'out']))"
    done = run(program, tmp_path)
    assert done.returncode == 1, done.stderr  # one iteration reaches nothing
    assert "replay.html: left out; viser is not installed" in done.stderr
    assert "pictures: left out; matplotlib is not installed" in done.stderr
    assert " iterations, " in done.stderr and "open in a browser" not in done.stderr
    assert (tmp_path / "out" / "result.json").is_file() and not (tmp_path / "out" / "replay.html").exists()


def test_a_command_that_cannot_do_without_ends_with_one_line(tmp_path):
    mesh = tmp_path / "part.stl"
    mesh.write_bytes(b"solid nothing")
    program = f"from farfield.cli import main; sys.exit(main(['cloud', {str(mesh)!r}]))"
    done = run(program, tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "pip install farfield[meshes]" in done.stderr


def test_a_mistake_of_ours_stays_one(monkeypatch):
    with pytest.raises(ModuleNotFoundError, match=r"farfield\.nothing"):
        needed("farfield.nothing", extra="viewer")
    with pytest.raises(MissingPackage, match=r"surely_absent is not installed.*farfield\[viewer\]"):
        needed("surely_absent.part", extra="viewer")


def test_the_package_asks_for_two_others():
    always = [text for text in metadata.requires("farfield") or () if "extra ==" not in text]
    assert sorted(re.match(r"[\w-]+", text)[0] for text in always) == ["mujoco", "numpy"]
