# SPDX-License-Identifier: Apache-2.0
"""Run directories: one folder per run, every file either complete or absent.

    runs/<utc>-<name>/   config.json   options, versions, commit, CPU, seed
                         metrics.jsonl one JSON object per line
                         model.safetensors       the scene of a task, for farfield.load_model
                         trajectory.safetensors  the motion, for farfield.load_trajectory
                         arrays.npz    numbers to keep of runs that are no motion of bodies
                         and whatever else the run writes through `RunDir.atomic`

Files are written under a temporary name beside the target and renamed, so an interrupted run keeps its last good state. One process at a
time writes into a directory. What is read from one is checked: it may come from elsewhere, and holds no symbolic links.
"""

from __future__ import annotations

import contextlib
import datetime
import errno
import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

import farfield as ff
from farfield.output import FolderLock, atomic_path, clean_json, dump_json, write_arrays, write_text
from farfield.reading import BadFile, parse_json, read_arrays, read_json, read_text, require

FORMAT = 1
TRAJECTORY = "trajectory.safetensors"
MODEL = "model.safetensors"
METRICS = "metrics.jsonl"
CHECKPOINT = "checkpoint.npz"
RESULT = "result.json"
#: What a new run in an old directory must not take over.
OF_A_RUN = (METRICS, CHECKPOINT, RESULT)
CONFIG_FORM = {
    "format": int,
    "name": str,
    "options": dict,
    "seed": (int, None),
    "cpu?": (str, None),
    "commit?": (str, None),
    "versions?": dict,
}
NUMBER_OR_NONE = (float, None)
ROW_FORM = {
    f"{key}?": NUMBER_OR_NONE
    for key in ("loss", "gradient_norm", "min_gap", "steps", "seconds", "cpu_seconds", "step_length")
}
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
        self._lock: FolderLock | None = None

    def lock(self) -> RunDir:
        """Keeps other processes from writing into the directory as long as this object lives; ValueError when one does so already."""
        self._lock = FolderLock.take(self.path)
        return self

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
            folder.mkdir(parents=True, exist_ok=True)
        lock = FolderLock.take(folder)
        if any(folder.iterdir()) and not (folder / "config.json").is_file():
            raise ValueError(f"{folder}: is not empty and not a run directory (no config.json)")
        for earlier in OF_A_RUN:
            (folder / earlier).unlink(missing_ok=True)
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
        run._lock = lock
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
            config = read_json(file, dict, links=False)
        except FileNotFoundError:
            raise ValueError(f"{path}: not a run directory (no config.json)") from None
        if config.get("format") != FORMAT:
            raise BadFile(f"{file}: not a run configuration of format {FORMAT}")
        require(file, config, CONFIG_FORM)
        return cls(path, config)

    def file(self, name: str) -> Path:
        """Path of a file in the run directory, whether or not it exists."""
        return self.path / name

    def given(self, name: str) -> Path:
        """Path of a file of the run that is to be read: a symbolic link would lead out of the directory, and is refused."""
        file = self.file(name)
        if file.is_symlink():
            raise BadFile(f"{file}: is a symbolic link, expected a regular file")
        return file

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
        file = self.given(METRICS)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o666)
        try:
            end = os.fstat(descriptor).st_size
            if end and os.pread(descriptor, 1, end - 1) != b"\n":
                os.ftruncate(descriptor, os.pread(descriptor, end, 0).rfind(b"\n") + 1)
            if os.write(descriptor, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise OSError(error.errno, error.strerror, os.fspath(file)) from error
        finally:
            os.close(descriptor)

    def read_metrics(self, needed: Sequence[str] = ()) -> list[dict]:
        """All complete lines of metrics.jsonl; empty when there is none. ``needed``: numbers that every line has to have."""
        file = self.given(METRICS)
        if not file.is_file():
            return []
        complete, newline, _ = read_text(file, links=False).rpartition("\n")
        rows = []
        for number, line in enumerate(complete.split("\n") if newline else [], start=1):
            row = parse_json(f"{file}:{number}", line)
            require(f"{file}:{number}", row, {**ROW_FORM, **dict.fromkeys(needed, float)})
            rows.append(row)
        return rows

    def truncate_metrics(self, count: int) -> None:
        """Keep the first `count` lines of metrics.jsonl: those after them belong to work that a checkpoint does not hold."""
        rows = self.read_metrics()
        if len(rows) < count:
            raise BadFile(
                f"{self.file(METRICS)}: {len(rows)} complete lines, expected the {count} of {self.file(CHECKPOINT)}"
            )
        if len(rows) > count:
            write_text(self.file(METRICS), "".join(dump_json(row) + "\n" for row in rows[:count]))

    def write_arrays(self, arrays: Mapping[str, np.ndarray], name: str = "arrays.npz") -> None:
        write_arrays(self.file(name), arrays)

    def read_arrays(self, name: str = "arrays.npz", *, sealed: bool = False) -> dict[str, np.ndarray]:
        """Arrays of an .npz file of the run; a missing or damaged file is a ValueError that names it. ``sealed``: and one without a digest."""
        file = self.file(name)
        if not file.exists():
            raise BadFile(f"{file}: no such file")
        return read_arrays(file, sealed=sealed, links=False)


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
