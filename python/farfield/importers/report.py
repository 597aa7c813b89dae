# SPDX-License-Identifier: Apache-2.0
"""Collects what an import cannot carry over: refusals end in one error, the rest in a list of notes and warnings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from farfield.importers.errors import SceneFileError


def listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


@dataclass(frozen=True)
class Note:
    """What became of a part of a file."""

    kind: str  #: "applied", "approximated" or "dropped"
    text: str


class Report:
    """Notes and refusals of one file, in the order in which they were found. Notes that are no warnings need no attention."""

    def __init__(self, source: Path) -> None:
        self.source = source
        self.notes: list[Note] = []
        self.warnings: list[str] = []
        self._refusals: list[str] = []

    def applied(self, text: str) -> None:
        self.notes.append(Note("applied", text))

    def warn(self, text: str, *, kind: str = "dropped") -> None:
        self.notes.append(Note(kind, text))
        self.warnings.append(text)

    def warn_elements(self, element: str, names: Iterable[str], text: str, *, kind: str = "dropped") -> None:
        """One warning for all elements of a sort; none when there are no elements."""
        names = list(names)
        if names:
            self.warn(f"{element} {listed(names)}: {text}", kind=kind)

    def refuse(self, element: str, reason: str) -> None:
        self._refusals.append(f"{element}: {reason}")

    def raise_if_refused(self) -> None:
        if self._refusals:
            lines = "\n  ".join(self._refusals)
            raise SceneFileError(f"{self.source}: not supported:\n  {lines}")
