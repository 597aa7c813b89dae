# SPDX-License-Identifier: Apache-2.0
"""The tensors of a safetensors file, which is what model and trajectory files are, as NumPy arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

TYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U8": "u1"}


def read_tensors(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Name -> array, and the metadata."""
    data = Path(path).read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, about in header.items():
        begin, end = about["data_offsets"]
        flat = np.frombuffer(data[start + begin : start + end], TYPES[about["dtype"]])
        tensors[name] = flat.reshape(about["shape"]).copy()
    return tensors, metadata


def write_tensors(path: Path, tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> None:
    """A file of these arrays, wide items first, so that all are aligned."""
    header: dict[str, object] = {"__metadata__": dict(metadata)}
    parts, offset = [], 0
    names = {kind: name for name, kind in TYPES.items()}
    for name, array in sorted(tensors.items(), key=lambda item: -item[1].dtype.itemsize):
        kind = names[array.dtype.newbyteorder("<").str.replace("|", "")]
        parts.append(np.ascontiguousarray(array).tobytes())
        end = offset + len(parts[-1])
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(len(text).to_bytes(8, "little") + text + b"".join(parts))
