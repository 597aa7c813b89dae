# SPDX-License-Identifier: Apache-2.0
"""Runs the MuJoCo compiler in a child process and reads back what it made of a file."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from farfield.importers.errors import SceneFileError


@dataclass
class Compiled:
    """The compiled model: its arrays by MuJoCo's field names, and what is not an array."""

    arrays: dict[str, np.ndarray]
    name: str
    names: dict[str, list[str]]
    options: dict[str, dict[str, Any]]
    meshes: list[dict[str, Any]]
    notes: dict[str, dict[str, list[str]]]  #: element -> text -> names
    repairs: list[dict[str, str]]
    enums: dict[str, dict[str, str]]
    version: str
    unknown_fields: list[str] = field(default_factory=list)

    def __getitem__(self, field_name: str) -> np.ndarray:
        return self.arrays[field_name]

    def enum(self, kind: str, value: int) -> str:
        """Enumerator without its prefix, in lower case: ``enum("mjtGeom", 6) == "box"``."""
        return self.enums[kind].get(str(int(value)), f"_{int(value)}").split("_", 1)[1].lower()


def child_command(request: Path) -> list[str]:
    """The command of the child: the script itself, so that it needs nothing of this package."""
    return [sys.executable, str(Path(__file__).with_name("mujoco_compile.py")), str(request)]


def compile_file(path: Path, *, source: Path, edits: dict[str, Any], timeout: float, repair: bool = False) -> Compiled:
    """Compiles the model file `path`; errors name `source`, the file the user gave. With `repair`, masses and inertias that no rigid
    body has are changed as the compiler's own options would, and listed."""
    with tempfile.TemporaryDirectory(prefix="farfield-import-") as name:
        folder = Path(name)
        request = folder / "request.json"
        request.write_text(
            json.dumps({"path": str(path), "results": name, "edits": edits, "repair": repair}), encoding="utf-8"
        )
        try:
            # The compiler writes its log into the working folder.
            child = subprocess.run(
                child_command(request),
                cwd=folder,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise SceneFileError(f"{source}: the MuJoCo compiler did not finish within {timeout:g} s") from None
        answer = folder / "model.json"
        if child.returncode != 0 or not answer.exists():
            raise SceneFileError(f"{source}: the MuJoCo compiler {_death(child.returncode)}{_last_words(child)}")
        result = json.loads(answer.read_text(encoding="utf-8"))
        if "error" in result:
            if result.get("kind") in ("ModuleNotFoundError", "ImportError"):
                raise SceneFileError(f"{source}: importing needs the package mujoco: {result['error']}")
            advice = "; repair=True makes a body of it and says how" if result.get("repairable") else ""
            raise SceneFileError(f"{source}: {_flatten(result['error'])}{advice}")
        with np.load(folder / "arrays.npz", allow_pickle=False) as stored:
            arrays = {key: stored[key] for key in stored.files}
    return Compiled(arrays=arrays, **result)


def _death(code: int) -> str:
    if code < 0:
        return f"crashed ({signal.Signals(-code).name})"
    return f"failed with exit code {code}"


def _last_words(child: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in (child.stderr + child.stdout).splitlines() if line.strip()]
    return f": {lines[-1]}" if lines else ""


def _flatten(text: str) -> str:
    return "; ".join(line.strip() for line in text.splitlines() if line.strip())
