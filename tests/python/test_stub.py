# SPDX-License-Identifier: Apache-2.0
"""The Python interface of the C++ core is typed, and every change of it shows in the golden stub."""

import difflib
from pathlib import Path

import farfield

GOLDEN = Path(__file__).parent / "golden" / "_core.pyi"


def test_stub_is_the_golden_one():
    built = Path(farfield.__file__).with_name("_core.pyi")
    assert built.exists(), f"{built} is missing: run make setup"
    difference = "\n".join(
        difflib.unified_diff(
            GOLDEN.read_text().splitlines(), built.read_text().splitlines(), "golden", "built", lineterm="", n=1
        )
    )
    assert not difference, f"the Python interface changed; if that is meant, run: make stubs\n{difference}"


def test_stub_is_valid_python():
    compile(GOLDEN.read_text(), str(GOLDEN), "exec")  # a parameter named twice passes the parser alone


def test_package_is_marked_as_typed():
    assert Path(farfield.__file__).with_name("py.typed").exists()
