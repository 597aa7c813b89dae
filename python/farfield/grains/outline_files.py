# SPDX-License-Identifier: Apache-2.0
"""Grain outlines from outside: SVG paths and files, and lists of points."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np

from farfield._core import GrainShape
from farfield.optional import needed
from farfield.reading import BadFile, blamed_on, read_text, read_xml

COMMANDS = "MLHVCSQTAZ"  # of SVG path data, absolute or relative
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
LARGEST = 1e9  # coordinate
CURVE_PIECES = 8  # straight pieces of one curve
FILES = (".svg", ".txt", ".csv")
MOST_ELEMENTS = 10_000  # of an SVG file, with all uses


def shape_named(name: str, radius: float = 1.0) -> GrainShape:
    """A library shape, or the outline in a file whose name ends in .svg, .txt or .csv, with this circumradius [m]."""
    path = Path(name)
    if path.suffix not in FILES:
        return GrainShape.library(name, radius)
    with blamed_on(path):
        rings = svg_rings(path) if path.suffix == ".svg" else listed_rings(path)
        return shape_of_rings(path.stem, rings, radius)


def shape_from_svg(name: str, path: str, *, radius: float = 1.0) -> GrainShape:
    """A grain from the `d` attribute of an SVG path, scaled to a circumradius [m]; y points up in the result."""
    return shape_of_rings(name, [ring * [1.0, -1.0] for ring in path_rings(path)], radius)


def shape_of_rings(name: str, rings: list[np.ndarray], radius: float) -> GrainShape:
    """The largest ring is the outline and the others are holes, whatever their direction."""
    if not rings:
        raise ValueError(f"shape '{name}': no points")
    rings = sorted(rings, key=lambda ring: -abs(_area(ring)))
    oriented = [ring if (_area(ring) > 0) == (k == 0) else ring[::-1] for k, ring in enumerate(rings)]
    return GrainShape(name, [np.ascontiguousarray(ring) for ring in oriented]).scaled(radius)


def path_rings(path: str) -> list[np.ndarray]:
    """The closed rings of SVG path data, each of shape (n, 2), y down as in SVG. Curves become short straight pieces."""
    svgelements = needed("svgelements", extra="meshes")
    for letter in NUMBER.sub("", path):
        if not letter.isspace() and letter != "," and letter.upper() not in COMMANDS:
            raise ValueError(f"SVG path: '{letter}', expected one of {' '.join(COMMANDS)} and numbers")
    if not path.lstrip(" \t\r\n").upper().startswith("M"):
        raise ValueError(f"SVG path: starts with '{path.strip()[:1]}', expected M")
    try:
        return _rings_of(svgelements.Path(path))
    except ValueError as error:
        raise ValueError(f"SVG path: a command of '{path.strip()[:40]}' has too few numbers") from error


def svg_rings(file: Path) -> list[np.ndarray]:
    """The rings of the one shape of an SVG file, transformed as the file says, y up."""
    svgelements = needed("svgelements", extra="meshes")
    root, data = read_xml(file)
    if root.tag.rpartition("}")[2] != "svg":
        raise BadFile(f"{file}: root element <{root.tag}>, expected <svg>")
    _check_uses(file, root)
    with blamed_on(file, "no SVG file"):
        elements = list(svgelements.SVG.parse(io.BytesIO(data), reify=True).elements())
    shapes = [element for element in elements if isinstance(element, svgelements.Shape)]
    if len(shapes) != 1:
        raise ValueError(f"{file}: {len(shapes)} shapes, expected one path, polygon, rectangle, circle or ellipse")
    return [ring * [1.0, -1.0] for ring in _rings_of(svgelements.Path(shapes[0]))]


def _check_uses(file: Path, root: ElementTree.Element) -> None:
    """Refuses elements that are used within themselves, and more copies than a picture needs."""
    named = {element.get("id"): element for element in root.iter() if element.get("id")}
    sizes: dict[ElementTree.Element, int | None] = {}

    def size(element: ElementTree.Element) -> int:
        known = sizes.get(element, 0)
        if known is None:
            raise BadFile(f"{file}: <use> of '{element.get('id')}' within itself")
        if not known:
            sizes[element] = None
            known = 1 + sum(size(child) for child in element)
            if element.tag.rpartition("}")[2] == "use":
                link = next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == "href"), "")
                known += size(named[link[1:]]) if link[1:] in named else 0
            sizes[element] = known
        return known

    try:
        total = size(root)
    except RecursionError:
        raise BadFile(f"{file}: <use> of elements that use others, too deeply") from None
    if total > MOST_ELEMENTS:
        raise BadFile(f"{file}: {total:,} elements with all uses, expected at most {MOST_ELEMENTS:,}")


def listed_rings(file: Path) -> list[np.ndarray]:
    """Rings of a text file: a point per line, x and y separated by blanks or a comma; an empty line ends a ring."""
    rings: list[list[list[float]]] = [[]]
    for number, line in enumerate(read_text(file).splitlines(), start=1):
        text = line.split("#")[0].replace(",", " ").split()
        if not text and not line.strip():
            rings.append([])
        elif text:
            try:
                x, y = (float(word) for word in text)
            except ValueError:
                raise ValueError(f"{file}:{number}: '{line.strip()[:40]}', expected two numbers") from None
            rings[-1].append([x, y])
    return [_without_repeats(np.array(ring)) for ring in rings if ring]


def _rings_of(path) -> list[np.ndarray]:
    svgelements = needed("svgelements", extra="meshes")
    rings = []
    for part in path.as_subpaths():
        points = []
        for segment in svgelements.Path(part):
            if isinstance(segment, (svgelements.Move, svgelements.Line, svgelements.Close)):
                points.append(segment.end)
            else:
                points += [segment.point(k / CURVE_PIECES) for k in range(1, CURVE_PIECES + 1)]
        ring = np.array([[point.x, point.y] for point in points if point is not None])
        if len(ring) > 1:
            rings.append(_without_repeats(ring))
    return rings


def _without_repeats(ring: np.ndarray) -> np.ndarray:
    if not (np.abs(ring) <= LARGEST).all():
        point = ring[~(np.abs(ring) <= LARGEST).all(axis=1)][0]
        raise ValueError(f"point {point[0]:g} {point[1]:g}, expected numbers up to {LARGEST:g}")
    keep = np.linalg.norm(ring - np.roll(ring, 1, axis=0), axis=1) > 1e-9 * max(np.ptp(ring), 1e-300)
    return ring[keep]


def _area(ring: np.ndarray) -> float:
    x, y = ring.T
    return 0.5 * float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
