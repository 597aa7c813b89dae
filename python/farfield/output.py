# SPDX-License-Identifier: Apache-2.0
"""Files that are complete or absent, folders that one process at a time writes into, and data as JSON can hold it."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import fcntl
import json
import math
import os
import re
import secrets
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from farfield.reading import seal

#: Names of files that were being written when a process was killed: those of `atomic_path`, and those of the core.
UNFINISHED = re.compile(r"\..+\.[0-9a-f]{12}(\.[^.]*)?|.+\.partial-\d+-\d+")


def clean_json(value):
    """The same data as JSON can hold it: arrays as lists, paths as text, non-finite numbers as None."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.ndarray):
        return clean_json(value.tolist())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return clean_json({item.name: getattr(value, item.name) for item in dataclasses.fields(value)})
    if isinstance(value, Mapping):
        return {str(key): clean_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [clean_json(item) for item in (sorted(value) if isinstance(value, (set, frozenset)) else value)]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"cannot write a {type(value).__name__} as JSON")


def dump_json(value, **options) -> str:
    """JSON text of `clean_json(value)`."""
    return json.dumps(clean_json(value), allow_nan=False, **options)


@contextlib.contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`; renamed onto it when the block ends well, removed when it does not."""
    path = Path(path)
    temporary = path.with_name(f".{path.stem}.{secrets.token_hex(6)}{path.suffix}")
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        yield temporary
        with temporary.open("rb+") as stream:
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except OSError as error:  # names the file that was asked for
        if error.filename not in (None, os.fspath(temporary)):
            raise
        raise OSError(error.errno or errno.EIO, error.strerror or str(error), os.fspath(path)) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file in one piece."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write an .npz file in one piece, with a digest by which damage is known."""
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        np.savez_compressed(stream, **seal({name: np.asarray(value) for name, value in arrays.items()}))


class FolderLock:
    """Held by the one process that writes into a folder, as long as this object lives; the system releases it when the process dies."""

    _held: ClassVar[weakref.WeakValueDictionary[str, FolderLock]] = weakref.WeakValueDictionary()

    def __init__(self, folder: Path) -> None:
        self._descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, self._descriptor)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyFolder(
                f"{folder}: another process writes into it; wait until it ends, or choose another --out"
            ) from None
        except OSError:  # a file system without locks
            pass

    @classmethod
    def take(cls, folder: Path) -> FolderLock:
        """The lock of a folder, which this process may hold already. Files that a killed process left half-written are removed."""
        key = os.path.realpath(folder)
        lock = cls._held.get(key)
        if lock is None:
            lock = cls._held[key] = cls(folder)
            for file in Path(folder).iterdir():
                if UNFINISHED.fullmatch(file.name) and file.is_file():
                    with contextlib.suppress(OSError):
                        file.unlink()
        return lock


class BusyFolder(ValueError):
    """Another process writes into the folder."""
