#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every citation in the sources, such as [Li2020, Eq. (6)], has its key in docs/references.bib.

A citation is a bracket that opens with a key: a name that starts with a
capital letter and ends with a year of four digits.

    tools/check_citations.py [ROOT]     exit code 1 and one line per unknown key
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

KEY = r"[A-Z][A-Za-z]*(?:19|20)\d\d[a-z]?"
CITATION = re.compile(rf"(?<![\w\])])\[((?:{KEY})(?:\s*[,;][^\]]*)?)\]")
ENTRY = re.compile(r"^\s*@\w+\s*\{\s*([^,\s]+)\s*,", re.MULTILINE)


def known_keys(bibliography: str) -> list[str]:
    return ENTRY.findall(bibliography)


def cited_keys(text: str) -> list[tuple[int, str]]:
    """(line, key) of each citation; a bracket may hold several: [Li2020; Ye2025, Eq. (3)]."""
    found = []
    for match in CITATION.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        found += [(line, key) for key in re.findall(rf"(?:^|;\s*)({KEY})", match.group(1))]
    return found


def source_files(root: Path) -> list[Path]:
    patterns = [
        "src/**/*.hpp", "src/**/*.cpp", "bindings/*.cpp", "bindings/*.hpp", "python/**/*.py",
        "tests/**/*.cpp", "tests/**/*.hpp", "benchmarks/*.cpp", "docs/**/*.md", "README.md",
    ]  # fmt: skip
    return sorted(path for pattern in patterns for path in root.glob(pattern) if "_build" not in path.parts)


def check(root: Path) -> tuple[list[str], int]:
    bibliography = root / "docs" / "references.bib"
    if not bibliography.exists():
        return [f"{bibliography}: missing"], 0
    keys = known_keys(bibliography.read_text(encoding="utf-8"))
    errors = [f"docs/references.bib: key {key} appears twice" for key in sorted({k for k in keys if keys.count(k) > 1})]
    count = 0
    for path in source_files(root):
        for line, key in cited_keys(path.read_text(encoding="utf-8")):
            count += 1
            if key not in keys:
                place = path.relative_to(root).as_posix()
                errors.append(f"{place}:{line}: [{key}] is not in docs/references.bib ({', '.join(sorted(keys))})")
    return errors, count


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    errors, count = check(root)
    for error in errors:
        print(error)
    print(f"citations: {count} found, {len(errors)} offences")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
