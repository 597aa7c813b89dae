# SPDX-License-Identifier: Apache-2.0
"""Collects what became of a file: what was applied, approximated, repaired or dropped, and what refuses it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from farfield.importers.errors import SceneFileError

#: More names than this are counted instead of listed.
MOST_NAMES = 6


def listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def counted(element: str, names: list[str]) -> str:
    """ "joint 'a', 'b'", or with many names "25 joints 'a', 'b', 'c', ..."."""
    if len(names) <= MOST_NAMES:
        return f"{element} {listed(names)}"
    plural = (
        element.removesuffix("y") + "ies"
        if element.endswith("y")
        else element + ("es" if element.endswith("sh") else "s")
    )
    return f"{len(names)} {plural} {listed(names[:3])}, ..."


@dataclass(frozen=True)
class Note:
    """What became of a part of a file."""

    kind: str  #: "applied", "approximated", "repaired" or "dropped"
    text: str
    count: int = 1  #: elements it speaks of


class Report:
    """Notes and refusals of one file, in the order in which they were found. Notes that are no warnings need no attention.

    Args:
        source: The file.
        repair: Elements no tool can use as they stand may be changed, each listed.
        drop: Elements without a counterpart are left out, each listed, instead of refusing the file.
    """

    def __init__(self, source: Path, *, repair: bool = False, drop: bool = False) -> None:
        self.source = source
        self.repair = repair
        self.drop = drop
        self.notes: list[Note] = []
        self.warnings: list[str] = []
        self._refusals: list[str] = []

    def applied(self, text: str, count: int = 1) -> None:
        self.notes.append(Note("applied", text, count))

    def approximated(self, text: str) -> None:
        self.notes.append(Note("approximated", text))

    def applied_elements(self, element: str, names: Iterable[str], text: str) -> None:
        names = list(names)
        if names:
            self.applied(f"{counted(element, names)}: {text}", len(names))

    def warn(self, text: str, *, kind: str = "dropped", count: int = 1) -> None:
        self.notes.append(Note(kind, text, count))
        self.warnings.append(text)

    def warn_elements(self, element: str, names: Iterable[str], text: str, *, kind: str = "dropped") -> None:
        """One warning for all elements of a sort; none when there are no elements."""
        names = list(names)
        if names:
            self.warn(f"{counted(element, names)}: {text}", kind=kind, count=len(names))

    def repaired(self, element: str, before: str, after: str) -> None:
        self.warn(f"{element}: {before} became {after}", kind="repaired")

    def refuse(self, element: str, reason: str) -> None:
        """The element cannot be carried over: an error in the end, or a note where such elements are to be dropped."""
        if self.drop:
            self.warn(f"{element}: left out: {reason}")
        else:
            self._refusals.append(f"{element}: {reason}")

    def raise_if_refused(self) -> None:
        if self._refusals:
            lines = "\n  ".join(self._refusals)
            raise SceneFileError(
                f'{self.source}: not supported:\n  {lines}\n  unsupported="drop" loads what is left and lists what was dropped'
            )
