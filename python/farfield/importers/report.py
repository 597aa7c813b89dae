# SPDX-License-Identifier: Apache-2.0
"""Collects what an import cannot carry over: refusals end in one error, the rest in a list of warnings."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from farfield.importers.errors import SceneFileError


def listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


class Report:
    """Warnings and refusals of one file, in the order in which they were found."""

    def __init__(self, source: Path) -> None:
        self.source = source
        self.warnings: list[str] = []
        self._refusals: list[str] = []

    def warn(self, text: str) -> None:
        self.warnings.append(text)

    def warn_elements(self, kind: str, names: Iterable[str], text: str) -> None:
        """One warning for all elements of a kind; none when there are no elements."""
        names = list(names)
        if names:
            self.warnings.append(f"{kind} {listed(names)}: {text}")

    def refuse(self, element: str, reason: str) -> None:
        self._refusals.append(f"{element}: {reason}")

    def raise_if_refused(self) -> None:
        if self._refusals:
            lines = "\n  ".join(self._refusals)
            raise SceneFileError(f"{self.source}: not supported:\n  {lines}")
