# SPDX-License-Identifier: Apache-2.0
"""Files that are complete or absent, and data as JSON can hold it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np


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
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield temporary
        with temporary.open("rb+") as stream:
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file in one piece."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
