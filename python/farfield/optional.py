# SPDX-License-Identifier: Apache-2.0
"""Packages that only parts of Farfield need. They come with the extras of the install, and are imported where they are used."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any


class MissingPackage(ImportError, ValueError):
    """A package of an extra is not installed."""


@contextlib.contextmanager
def needs(extra: str) -> Iterator[None]:
    """Around imports: says which extra brings a package that is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").split(".")[0]
        if package in ("", "farfield"):
            raise
        raise MissingPackage(
            f"{package} is not installed, and this needs it: pip install farfield[{extra}]", name=package
        ) from None


def needed(module: str, *, extra: str) -> ModuleType:
    """The module, or an error that says which extra has it."""
    with needs(extra):
        return importlib.import_module(module)


@contextlib.contextmanager
def left_out(what: str) -> Iterator[None]:
    """Around pictures that a run can do without: where their packages are missing they are left out, and it says so."""
    try:
        yield
    except MissingPackage as error:
        print(f"{what}: left out; {error}", file=sys.stderr)


def pyplot() -> Any:
    """matplotlib's pyplot, drawing into files."""
    needed("matplotlib", extra="viewer").use("Agg")
    return needed("matplotlib.pyplot", extra="viewer")
