# SPDX-License-Identifier: Apache-2.0
"""What a scene file says it needs, before anything is made of it: sizes that no machine holds, and files that are none.

The compiler takes such numbers as they come. The files that a scene refers to have to be regular ones; includes have to be XML.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from farfield.importers.errors import SceneFileError
from farfield.reading import BadFile, read_xml, regular_file

MOST_HEIGHTS = 4_000_000  #: of a height field
MOST_ELEMENTS = 100_000  #: of a scene, copies counted
INCLUDED = {".xml", ".mjcf", ".urdf"}
#: Elements that stand for as many others as their `count` says.
COPIES = {"replicate", "composite", "flexcomp"}


def check_declared(source: Path, root: ElementTree.Element) -> None:
    """Raises SceneFileError when a scene, with all that it includes, is too large or refers to what is no file."""
    waiting, seen, total = [(source, root)], {source.resolve()}, 0
    while waiting:
        path, element = waiting.pop()
        total += _elements(element)
        if total > MOST_ELEMENTS:
            raise SceneFileError(f"{path}: {total:,} elements with all copies, expected at most {MOST_ELEMENTS:,}")
        for field in element.iter("hfield"):
            _check_heights(path, field)
        for place, include in _referred(source, element):
            if include.tag not in ("include", "model"):
                regular_file(place)
                continue
            if place.suffix.lower() not in INCLUDED:
                known = ", ".join(sorted(INCLUDED))
                raise SceneFileError(
                    f"{path}: <{include.tag}> of '{include.get('file')}', expected a file that ends in {known}"
                )
            regular_file(place)
            if place.resolve() not in seen:
                seen.add(place.resolve())
                try:
                    waiting.append((place, read_xml(place)[0]))
                except BadFile:  # the compiler says what is wrong with it, or takes it
                    continue


def _elements(element: ElementTree.Element) -> int:
    """How many elements there are when all copies are made."""
    own = 1 + sum(_elements(child) for child in element)
    if element.tag not in COPIES:
        return own
    counts = [int(word) for word in element.get("count", "").split() if word.isdecimal()]
    return own * max(1, math.prod(counts))


def _check_heights(path: Path, field: ElementTree.Element) -> None:
    sizes = [field.get(key, "") for key in ("nrow", "ncol")]
    if not all(word.strip().isdecimal() for word in sizes):
        return  # none, or the compiler says what is wrong
    rows, columns = map(int, sizes)
    if rows * columns > MOST_HEIGHTS:
        place = f"{path}: hfield '{field.get('name', '')}'"
        raise SceneFileError(f"{place}: {rows} x {columns} heights, expected at most {MOST_HEIGHTS:,}")


def _referred(source: Path, root: ElementTree.Element) -> list[tuple[Path, ElementTree.Element]]:
    """Files that elements name and that exist, as the compiler looks for them."""
    compilers = list(root.iter("compiler"))
    folders = {each.get(key, "") for each in compilers for key in ("meshdir", "texturedir", "assetdir")} | {""}
    found = []
    for element in root.iter():
        name = element.get("file")
        tries = [] if not name else [source.parent / folder / name for folder in sorted(folders)]
        found += [(place, element) for place in tries if place.exists() and not place.is_dir()]
    return found
