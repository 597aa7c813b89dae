# SPDX-License-Identifier: Apache-2.0
"""Which vector instructions the core may use: FARFIELD_SIMD, for runs that shall have the bits of another machine."""

from __future__ import annotations

import os
import sys

from farfield import _core

NAMES = ("sse4", "avx2", "avx512")


def limit_simd() -> None:
    """Follows FARFIELD_SIMD. A value that cannot be followed ends the process: nothing that it computed would be what was asked for."""
    name = os.environ.get("FARFIELD_SIMD", "")
    if name and not (name in NAMES and _core._limit_simd(name)):
        what = "this machine lacks it" if name in NAMES else f"expected one of: {', '.join(NAMES)}"
        print(f"farfield: error: environment variable FARFIELD_SIMD is {name!a}, {what}", file=sys.stderr)
        raise SystemExit(2)
