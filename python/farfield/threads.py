# SPDX-License-Identifier: Apache-2.0
"""How many threads Python code uses; the core reads the same variable itself."""

from __future__ import annotations

import os


def default_threads() -> int:
    """FARFIELD_THREADS, or the number of cores."""
    text = os.environ.get("FARFIELD_THREADS")
    if text is None or text == "":
        return os.cpu_count() or 1
    if not text.isdigit() or int(text) < 1:
        raise ValueError(f"environment variable FARFIELD_THREADS is '{text}', expected a whole number >= 1")
    return int(text)
