#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What pyproject.toml asks for, one requirement per line: those of every installation and those of the extras that are named.

tools/requirements.py test dev
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

OURS = re.compile(r"farfield\[(.+)\]")


def requirements(project: dict, extras: list[str]) -> list[str]:
    """Extras of extras are taken apart; farfield itself is not among them."""
    found = list(project["dependencies"])
    for extra in extras:
        for text in project["optional-dependencies"][extra]:
            ours = OURS.fullmatch(text)
            found += requirements(project, ours[1].split(",")) if ours else [text]
    return list(dict.fromkeys(found))


if __name__ == "__main__":
    file = Path(__file__).resolve().parent.parent / "pyproject.toml"
    print(*requirements(tomllib.loads(file.read_text(encoding="utf-8"))["project"], sys.argv[1:]), sep="\n")
