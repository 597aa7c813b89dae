# SPDX-License-Identifier: Apache-2.0
"""Damage to files, by kind of file: each function takes the bytes of a good file and a random generator, and gives those of a bad one."""

from __future__ import annotations

import io
import json
import re
import struct
import warnings
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

VALUES = (
    "nan", "inf", "-inf", "1e308", "-1e308", "1e400", "-1", "0", "1e-320", "99999999999999999999", "2147483648",
    "1000000000", "0.5", "", "foo", "0x10", "1,5", "1 2 3 4 5 6 7", "\u00bd", "../../../../etc/passwd", "x" * 5000,
)  # fmt: skip
JSON_VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 10**30, 1.5, 1e308, "", "foo", "../../../../etc/passwd", [], {}, [1], {"a": 1}, [[]], "nan", "x" * 5000,
)  # fmt: skip
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")

Damage = Callable[[bytes, Random], bytes]


def damage_bytes(data: bytes, rng: Random) -> bytes:
    """Cut, flipped, torn, repeated, or replaced."""
    data = bytearray(data)
    at = rng.randrange(len(data) + 1)
    until = min(len(data), at + rng.choice((1, 4, 100)))
    way = rng.randrange(7)
    if way == 0:
        return bytes(data[:at])
    if way == 1:
        for _ in range(rng.choice((1, 3, 30))):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif way == 2:
        data[at:until] = rng.randbytes(until - at)
    elif way == 3:
        del data[at:until]
    elif way == 4:
        data[at:at] = data[at:until] * rng.choice((1, 50))
    elif way == 5:
        data[at:at] = rng.choice((b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\n\n", b'"', b"<", b"{"))
    else:
        return rng.choice((b"", b"\0" * 64, b"\n", b"PK\3\4" + bytes(30), rng.randbytes(200)))
    return bytes(data)


def damage_text(data: bytes, rng: Random) -> bytes:
    """A number or a word replaced, a line lost or repeated, another encoding; at times plain bytes."""
    way = rng.randrange(8)
    if way == 0:
        return damage_bytes(data, rng)
    text = data.decode("utf-8", errors="replace")
    if way == 1:
        return text.encode(rng.choice(("utf-16", "utf-32", "utf-8-sig"))) + rng.choice((b"", b"\xff"))
    if way in (2, 3):
        lines = text.splitlines(keepends=True)
        at = rng.randrange(len(lines))
        lines[at : at + 1] = [] if way == 2 else [lines[at]] * rng.choice((2, 100))
        return "".join(lines).encode()
    pattern = NUMBER if way < 7 else re.compile(r"[A-Za-z_]\w*")
    found = list(pattern.finditer(text))
    if not found:
        return damage_bytes(data, rng)
    one = rng.choice(found)
    other = rng.choice(VALUES) if way < 7 else rng.choice([*(each.group() for each in found), "foo"])
    return (text[: one.start()] + other + text[one.end() :]).encode()


def damage_xml(data: bytes, rng: Random) -> bytes:
    """An attribute or element changed, lost, repeated, renamed or moved; at times plain text."""
    if rng.random() < 0.3:
        return damage_text(data, rng)
    root = ElementTree.fromstring(data)
    parents = {child: parent for parent in root.iter() for child in parent}
    everything = list(root.iter())
    one = rng.choice(everything[1:])
    way = rng.randrange(9)
    if way < 5:
        one = rng.choice([each for each in everything if each.attrib])
        name = rng.choice(list(one.attrib))
        if way == 4:
            del one.attrib[name]
        elif way == 3:
            one.set(name, NUMBER.sub(lambda _: rng.choice(VALUES), one.get(name), count=1))
        else:
            one.set(name, rng.choice(VALUES))
    elif way == 5:
        parents[one].remove(one)
    elif way == 6:
        parents[one].append(one)
    elif way == 7:
        one.tag = rng.choice([each.tag for each in everything] + ["foo"])
    else:
        parents[one].remove(one)
        rng.choice([each for each in everything if each not in set(one.iter())]).append(one)
    return ElementTree.tostring(root)


def _damage_document(value: Any, rng: Random) -> Any:
    """The document with one of its nodes replaced, lost or added."""
    places: list[tuple[Any, Any]] = []

    def collect(node: Any) -> None:
        for key in node if isinstance(node, dict) else range(len(node)):
            places.append((node, key))
            if isinstance(node[key], (dict, list)):
                collect(node[key])

    collect(value) if isinstance(value, (dict, list)) else None
    if not places or rng.random() < 0.05:
        return rng.choice(JSON_VALUES)
    node, key = rng.choice(places)
    if rng.random() < 0.2:
        del node[key]
    else:
        node[key] = rng.choice(JSON_VALUES)
    return value


def damage_json(data: bytes, rng: Random) -> bytes:
    if rng.random() < 0.25:
        return damage_text(data, rng)
    return json.dumps(_damage_document(json.loads(data), rng)).encode()


def damage_json_lines(data: bytes, rng: Random) -> bytes:
    """One line changed."""
    if rng.random() < 0.25:
        return damage_text(data, rng)
    lines = data.decode().splitlines()
    at = rng.randrange(len(lines))
    lines[at] = json.dumps(_damage_document(json.loads(lines[at]), rng))
    return ("\n".join(lines) + "\n").encode()


def damage_arrays(data: bytes, rng: Random) -> bytes:
    """An array of an .npz file with other values, another type or shape, another name, or none at all."""
    if rng.random() < 0.25:
        return damage_bytes(data, rng)
    with np.load(io.BytesIO(data)) as stored:
        arrays = {key: stored[key] for key in stored.files}
    key = rng.choice(list(arrays))
    value = arrays[key]
    way = rng.randrange(8)
    if way == 0:
        del arrays[key]
    elif way == 1:
        arrays[key] = value.reshape(-1)[: value.size // 2]
    elif way == 2:
        arrays[key] = np.array(rng.choice(("foo", 1 + 2j, True, -1, 10**18, np.nan, np.inf)))
    elif way == 3:
        arrays[key] = value.astype(
            rng.choice(("U8", "complex128", "int8", "datetime64[s]" if value.dtype.kind in "iu" else "S4"))
        )
    elif way == 4:
        arrays[key] = np.stack([value, value])
    elif way == 5 and value.dtype.kind == "f" and value.size:
        arrays[key] = value.copy()
        arrays[key].flat[rng.randrange(value.size)] = rng.choice((np.nan, np.inf, 1e308, -1.0))
    elif way == 6:
        arrays[rng.choice(("foo", "../foo"))] = arrays.pop(key)
    else:
        return _with_declared_shape(arrays, key, (10**7, 10**7))
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.savez(stream, **arrays)
    return stream.getvalue()


def _with_declared_shape(arrays: dict, key: str, shape: tuple[int, ...]) -> bytes:
    """An .npz file in which one array says to be far larger than the file."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, value in arrays.items():
            part = io.BytesIO()
            if name == key:
                np.lib.format.write_array_header_1_0(part, {"descr": "<f8", "fortran_order": False, "shape": shape})
            else:
                np.lib.format.write_array(part, value)
            archive.writestr(f"{name}.npy", part.getvalue())
    return stream.getvalue()


def damage_safetensors(data: bytes, rng: Random) -> bytes:
    """The JSON header changed, or the bytes."""
    if rng.random() < 0.4:
        return damage_bytes(data, rng)
    size = struct.unpack_from("<Q", data)[0]
    header = json.dumps(_damage_document(json.loads(data[8 : 8 + size]), rng)).encode()
    return struct.pack("<Q", len(header)) + header + data[8 + size :]


BY_SUFFIX: dict[str, Damage] = {
    ".xml": damage_xml, ".urdf": damage_xml, ".svg": damage_xml, ".dae": damage_xml, ".json": damage_json,
    ".jsonl": damage_json_lines, ".npz": damage_arrays, ".safetensors": damage_safetensors, ".obj": damage_text,
    ".off": damage_text, ".txt": damage_text, ".csv": damage_text,
}  # fmt: skip


def damage(name: str, data: bytes, rng: Random) -> bytes:
    """Damage that suits the kind of file."""
    suffix = name[name.rindex(".") :] if "." in name else ""
    is_text = suffix in (".stl", ".ply") and b"\0" not in data
    return BY_SUFFIX.get(suffix, damage_text if is_text else damage_bytes)(data, rng)
