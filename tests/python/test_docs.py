# SPDX-License-Identifier: Apache-2.0
"""Every Python block of the user documentation runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    pytest.param(match.group(1), id=f"{page.name}:{page.read_text().count(chr(10), 0, match.start()) + 1}")
    for page in PAGES
    for match in re.finditer(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
]


@pytest.mark.parametrize("block", BLOCKS)
def test_python_block_runs(block, monkeypatch):
    monkeypatch.chdir(ROOT)
    exec(compile(block, "documentation", "exec"), {"__name__": "documentation"})
