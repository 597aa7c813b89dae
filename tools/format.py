#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-format over our own C++ files: a check by default, a rewrite with --write."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ["src", "bindings", "tests", "benchmarks", "examples"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="rewrite the files in place")
    options = parser.parse_args()
    files = sorted(
        str(path.relative_to(ROOT))
        for folder in FOLDERS
        for suffix in ("hpp", "cpp")
        for path in (ROOT / folder).rglob(f"*.{suffix}")
    )
    beside = Path(sys.executable).parent / "clang-format"  # the pinned one, when there is a virtual environment
    program = str(beside) if beside.exists() else "clang-format"
    mode = ["-i"] if options.write else ["--dry-run", "--Werror"]
    outcome = subprocess.run([program, "--style=file", *mode, *files], cwd=ROOT, capture_output=True, text=True)
    complaints = outcome.stderr.splitlines()
    places = [line.split(":")[0] for line in complaints if "[-Wclang-format-violations]" in line]
    for place in dict.fromkeys(places):
        print(f"{place}: {places.count(place)} places")
    if outcome.returncode and not places:
        print(outcome.stderr)
    print(f"clang-format: {len(files)} files, {'ok' if outcome.returncode == 0 else 'differences; run make format'}")
    return 1 if outcome.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
