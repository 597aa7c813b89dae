# SPDX-License-Identifier: Apache-2.0
"""Run directories: one folder per run, every file either complete or absent.

    runs/<utc>-<name>/   config.json   options, versions, commit, CPU, seed
                         metrics.jsonl one JSON object per line
                         model.safetensors       the scene of a task, for farfield.load_model
                         trajectory.safetensors  the motion, for farfield.load_trajectory
                         arrays.npz    numbers to keep of runs that are no motion of bodies
                         and whatever else the run writes through `RunDir.atomic`

Files are written under a temporary name beside the target and renamed, so an interrupted run keeps its last good state.
"""

from __future__ import annotations

import contextlib
import datetime
import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

import farfield as ff
from farfield.output import atomic_path, clean_json, dump_json, write_text

FORMAT = 1
TRAJECTORY = "trajectory.safetensors"
MODEL = "model.safetensors"
PACKAGES = ("farfield", "numpy", "mujoco", "viser", "matplotlib")


def environment() -> dict:
    """What a result depends on besides its options: versions, commit, CPU."""
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return {
        "versions": versions,
        "commit": source_commit(),
        "platform": platform.platform(),
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
    }


def source_commit() -> str | None:
    """Commit of the Farfield checkout this package belongs to, "-dirty" with local changes; None outside one."""
    for folder in Path(__file__).resolve().parents:
        if (folder / ".git").exists():
            if not (folder / "src" / "farfield").is_dir():
                return None  # installed inside somebody else's repository
            command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
                return done.stdout.strip() or None
            return None
    return None


def _cpu_name() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


class RunDir:
    """A run directory; make one with `create` or `open`."""

    def __init__(self, path: Path, config: dict) -> None:
        self.path = Path(path)
        self.config = config

    @classmethod
    def create(cls, name: str, *, options: Mapping, seed: int | None = None, root="runs", path=None) -> RunDir:
        """A new run directory `root`/<utc>-<name>, or exactly `path`.

        `path` may exist when it is empty or an earlier run directory, whose files are then replaced one by one.
        """
        now = datetime.datetime.now(datetime.timezone.utc)
        if path is None:
            folder = _fresh_folder(Path(root), f"{now:%Y%m%dT%H%M%SZ}-{_file_safe(name)}")
        else:
            folder = Path(path)
            if folder.exists() and not folder.is_dir():
                raise ValueError(f"{folder}: is a file, expected a directory for the run")
            if folder.is_dir() and any(folder.iterdir()) and not (folder / "config.json").is_file():
                raise ValueError(f"{folder}: is not empty and not a run directory (no config.json)")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "metrics.jsonl").unlink(missing_ok=True)
        config = {
            "format": FORMAT,
            "name": name,
            "created": now.isoformat(timespec="seconds"),
            "command": sys.argv,
            "options": clean_json(options),
            "seed": seed,
            **environment(),
        }
        run = cls(folder, config)
        run.write_json("config.json", config)
        return run

    @classmethod
    def open(cls, path) -> RunDir:
        """An existing run directory; ValueError when it is not one."""
        path = Path(path)
        if not path.is_dir():
            raise ValueError(f"{path}: no such run directory")
        file = path / "config.json"
        try:
            config = json.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ValueError(f"{path}: not a run directory (no config.json)") from None
        except ValueError as error:
            raise ValueError(f"{file}: not readable JSON ({error})") from error
        if not isinstance(config, dict) or config.get("format") != FORMAT:
            raise ValueError(f"{file}: not a run configuration of format {FORMAT}")
        return cls(path, config)

    def file(self, name: str) -> Path:
        """Path of a file in the run directory, whether or not it exists."""
        return self.path / name

    def atomic(self, name: str) -> contextlib.AbstractContextManager[Path]:
        """Temporary path to write `name` through; see `atomic_path`."""
        return atomic_path(self.file(name))

    def write_json(self, name: str, value) -> None:
        write_text(self.file(name), dump_json(value, indent=2) + "\n")

    def keep_sources(self, task: Path | None, model: ff.Model, parameters: ff.Parameters) -> None:
        """What the run can be repeated from after edits: the whole scene, and the task's file if it is the user's own."""
        ff.save_model(self.file(MODEL), model, parameters)
        if task is not None and task.is_file():
            with self.atomic(task.name) as temporary:
                shutil.copyfile(task, temporary)

    def require_same_source(self, task: Path | None) -> None:
        """Raises ValueError when the task's file is no longer the one that the run was started with."""
        kept = None if task is None else self.file(task.name)
        if kept is not None and kept.is_file() and kept.read_bytes() != task.read_bytes():
            raise ValueError(
                f"{task}: has changed since {self.path} was started; go on with its copy, {kept}, or start anew"
            )

    def append_metrics(self, row: Mapping) -> None:
        """Append one line to metrics.jsonl in a single write; a line torn by an earlier crash is removed first."""
        line = (dump_json(row) + "\n").encode()
        descriptor = os.open(self.file("metrics.jsonl"), os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            end = os.fstat(descriptor).st_size
            if end and os.pread(descriptor, 1, end - 1) != b"\n":
                os.ftruncate(descriptor, os.pread(descriptor, end, 0).rfind(b"\n") + 1)
            os.write(descriptor, line)
        finally:
            os.close(descriptor)

    def read_metrics(self) -> list[dict]:
        """All complete lines of metrics.jsonl; empty when there is none."""
        file = self.file("metrics.jsonl")
        if not file.is_file():
            return []
        complete, newline, _ = file.read_text(encoding="utf-8").rpartition("\n")
        rows = []
        for number, line in enumerate(complete.splitlines() if newline else [], start=1):
            try:
                rows.append(json.loads(line))
            except ValueError as error:
                raise ValueError(f"{file}:{number}: not readable JSON ({error})") from error
        return rows

    def truncate_metrics(self, count: int) -> None:
        """Keep the first `count` lines of metrics.jsonl: those after them belong to work that a checkpoint does not hold."""
        file = self.file("metrics.jsonl")
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True) if file.is_file() else []
        if len(lines) > count:
            write_text(file, "".join(lines[:count]))

    def write_arrays(self, arrays: Mapping[str, np.ndarray], name: str = "arrays.npz") -> None:
        with self.atomic(name) as temporary, temporary.open("wb") as stream:
            np.savez_compressed(stream, **arrays)

    def read_arrays(self, name: str = "arrays.npz") -> dict[str, np.ndarray]:
        """Arrays of an .npz file of the run; a missing or damaged file is a ValueError that names it."""
        file = self.file(name)
        if not file.is_file():
            raise ValueError(f"{file}: no such file")
        try:
            with np.load(file, allow_pickle=False) as arrays:
                return {key: arrays[key] for key in arrays.files}
        except Exception as error:  # zipfile, zlib and numpy each have their own errors for damaged files
            raise ValueError(f"{file}: not readable arrays ({error})") from error


def _fresh_folder(root: Path, name: str) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    for attempt in range(1, 1000):
        folder = root / (name if attempt == 1 else f"{name}-{attempt}")
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
            return folder
    raise OSError(f"{root}: a thousand runs named {name} already exist")


def _file_safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "run"
