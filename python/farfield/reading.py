# SPDX-License-Identifier: Apache-2.0
"""The way in for files: regular ones of a bounded size, and plain data of the form that is expected.

Every mistake is a `BadFile` that names file, place, value and expectation. Nothing is taken into memory before its size is known.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import os
import stat
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

LARGEST = 1 << 30  #: bytes of a file, and of the arrays that an archive holds
DEEPEST = 200  #: elements of an XML file within each other
SHOWN = 60  #: letters of a value that a message repeats
SEAL = "sha256"  #: the array that holds the digest of the others


class BadFile(ValueError):
    """A file that cannot be used; the text names file, place, value and expectation."""


@contextlib.contextmanager
def blamed_on(path: str | PathLike[str], what: str = "") -> Iterator[None]:
    """Errors about values name the file they come from. For code that takes data of a file apart, and for readers of other packages."""
    name = os.fspath(path)
    try:
        with np.errstate(all="ignore"):  # what overflows is refused below, or where it is used
            yield
    except (OSError, MemoryError):
        raise
    except Exception as error:  # readers of many formats raise anything
        text = " ".join(str(error).split()) if isinstance(error, (ValueError, RuntimeError)) else ""
        text = text or f"{type(error).__name__}: {error}"
        if isinstance(error, ValueError) and name in text:
            raise
        raise BadFile(f"{name}: {what}{': ' if what else ''}{text}") from error


def read_bytes(path: str | PathLike[str], *, largest: int = LARGEST, links: bool = True) -> bytes:
    """The content of a regular file. ``links``: False refuses symbolic links, which a directory from elsewhere may hold."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if links else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise BadFile(f"{path}: is a symbolic link, expected a regular file") from None
        raise
    with open(descriptor, "rb") as stream:
        about = os.fstat(descriptor)
        _check_status(path, about, largest)
        return stream.read(about.st_size)


def read_text(path: str | PathLike[str], *, largest: int = LARGEST, links: bool = True) -> str:
    """The content of a text file in UTF-8."""
    data = read_bytes(path, largest=largest, links=links)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadFile(f"{path}: byte {error.start} is no UTF-8 text") from None


def read_json(path: str | PathLike[str], form: Any = None, *, links: bool = True) -> Any:
    """The document of a JSON file, which has this form (see `require`)."""
    value = parse_json(path, read_text(path, links=links))
    require(path, value, form)
    return value


def parse_json(place: str | PathLike[str], text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise BadFile(f"{place}: not readable JSON (nested too deeply)") from None
    except ValueError as error:
        raise BadFile(f"{place}: not readable JSON ({error})") from None


def require(file: str | PathLike[str], value: Any, form: Any, place: str = "") -> None:
    """Raises `BadFile` unless data have a form: a type; alternatives in a tuple, None among them; {key: form}, where a key that ends in ? may
    be missing; or [form] for lists. Whole numbers are floats, too, but truth values are no numbers."""
    if form is None or _fits(value, form):
        if isinstance(form, Mapping):
            for key, inner in form.items():
                name = key.removesuffix("?")
                if name in value:
                    require(file, value[name], inner, f"{place}.{name}" if place else name)
                elif name == key:
                    raise BadFile(f"{file}: {f'{place}.' if place else ''}{name} is missing, expected {_words(inner)}")
        elif isinstance(form, list):
            for index, each in enumerate(value):
                require(file, each, form[0], f"{place}[{index}]")
        return
    raise BadFile(f"{file}: {f'{place} is ' if place else ''}{shown(value)}, expected {_words(form)}")


def shown(value: Any) -> str:
    """A value as a message repeats it: in one line, and short."""
    text = " ".join((json.dumps(value, default=str)).split())
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."


def _fits(value: Any, form: Any) -> bool:
    if isinstance(form, tuple):
        return any(_fits(value, each) for each in form)
    if form is None:
        return value is None
    if isinstance(form, (Mapping, list)):
        return isinstance(value, dict if isinstance(form, Mapping) else list)
    if form in (int, float):
        return isinstance(value, (int, form)) and not isinstance(value, bool) and abs(value) < 2**63
    return isinstance(value, form)


def _words(form: Any) -> str:
    if isinstance(form, tuple):
        return " or ".join(_words(each) for each in form)
    if form is None:
        return "null"
    kind = dict if isinstance(form, Mapping) else list if isinstance(form, list) else form
    names = {
        int: "a whole number",
        float: "a number",
        str: "text",
        bool: "true or false",
        dict: "an object",
        list: "a list",
    }
    return names[kind]


def read_xml(path: str | PathLike[str], *, largest: int = LARGEST) -> tuple[ElementTree.Element, bytes]:
    """The root element of an XML file, and its bytes. Files that declare entities or nest deeply are refused."""
    data = read_bytes(path, largest=largest)
    depth = 0

    def refuse_entity(name: str, *_: Any) -> None:
        raise BadFile(f"{path}: declares the entity '{name[:SHOWN]}', expected a file without entities of its own")

    def begin(*_: Any) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise BadFile(f"{path}: elements lie more than {DEEPEST} deep in each other")

    def end(*_: Any) -> None:
        nonlocal depth
        depth -= 1

    scan = expat.ParserCreate()
    scan.EntityDeclHandler, scan.StartElementHandler, scan.EndElementHandler = refuse_entity, begin, end
    try:
        scan.Parse(data, True)
        return ElementTree.fromstring(data), data
    except (expat.ExpatError, ElementTree.ParseError, LookupError, UnicodeError) as error:
        raise BadFile(f"{path}: not readable as XML: {error}") from None


def seal(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays and their digest, by which `read_arrays` knows that none was changed."""
    return {**arrays, SEAL: np.frombuffer(_digest(arrays), dtype=np.uint8)}


def _digest(arrays: Mapping[str, np.ndarray]) -> bytes:
    total = hashlib.sha256()
    for name in sorted(arrays):
        value = np.ascontiguousarray(arrays[name])
        total.update(f"{name} {value.dtype.str} {np.shape(arrays[name])};".encode())
        total.update(value.tobytes())
    return total.digest()


def read_arrays(
    path: str | PathLike[str], *, sealed: bool = False, links: bool = True, largest: int = LARGEST
) -> dict[str, np.ndarray]:
    """The arrays of an .npz file, without its digest. ``sealed``: files without one are refused."""
    data = read_bytes(path, largest=largest, links=links)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            total = sum(entry.file_size for entry in archive.infolist())
        if total > largest:
            raise BadFile(f"{path}: not readable arrays ({total:,} bytes when unpacked, expected at most {largest:,})")
        with np.load(io.BytesIO(data), allow_pickle=False) as stored:
            arrays = {key: _bounded(stored, key, total) for key in stored.files}
    except BadFile:
        raise
    except Exception as error:  # zipfile, zlib and numpy each have their own errors for damaged files
        raise BadFile(f"{path}: not readable arrays ({error})") from error
    kept = arrays.pop(SEAL, None)
    if kept is None and sealed:
        raise BadFile(f"{path}: has no digest, expected arrays that this version has written")
    if kept is not None and kept.tobytes() != _digest(arrays):
        raise BadFile(f"{path}: its arrays do not agree with their digest: the file was changed or damaged")
    return arrays


def _bounded(stored: Any, key: str, total: int) -> np.ndarray:
    """An array whose header says no more bytes than the archive holds."""
    with stored.zip.open(f"{key}.npy") as stream:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, kind = read(stream)
    size = kind.itemsize
    for extent in shape:
        size *= int(extent)
    if size > total:
        raise ValueError(f"'{key}' says shape {shape}, more than the {total:,} bytes of the file")
    return stored[key]


def regular_file(path: str | PathLike[str]) -> Path:
    """The path, when a regular file of a bounded size is there."""
    path = Path(path)
    if not path.exists():
        raise BadFile(f"{path}: no such file")
    _check_status(path, path.stat(), LARGEST)
    return path


def _check_status(path: str | PathLike[str], about: os.stat_result, largest: int) -> None:
    if not stat.S_ISREG(about.st_mode):
        kind = "a folder" if stat.S_ISDIR(about.st_mode) else "a pipe or a device"
        raise BadFile(f"{path}: is {kind}, expected a regular file")
    if about.st_size > largest:
        raise BadFile(f"{path}: {about.st_size:,} bytes, expected at most {largest:,}")
