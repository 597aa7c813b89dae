#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every kind of test and closes with one count over all of them.

run_tests.py              checks, C++ tests (release; those of files and models also under asan+ubsan), Python tests
run_tests.py --all        also long tests, Debug, all under asan+ubsan, and the thread sanitizer
run_tests.py --only NAME  the stages whose name starts with NAME
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable

# doctest: names with [long] take seconds to minutes; [threads] is worth running under the thread sanitizer.
NOT_LONG = "--test-case-exclude=*[long]*"


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        text = f"{self.passed} passed, {self.failed} failed"
        return text + (f", {self.skipped} skipped" if self.skipped else "")


def run(command: list[str], environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Runs, passing the output through as it comes, and returns exit code and output."""
    process = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )  # fmt: skip
    lines = []
    for line in process.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        lines.append(line)
    return process.wait(), "".join(lines)


def run_check(command: list[str]) -> Count:
    """One static check counts as one test."""
    code, _ = run(command)
    return Count(passed=int(code == 0), failed=int(code != 0))


def parse_doctest(code: int, output: str) -> Count:
    """Counts of doctest's closing line; a run that ends without one, or badly, has failed at least once."""
    match = re.search(r"test cases:\s*(\d+)\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed", output)
    if not match:
        return Count(failed=1)
    count = Count(passed=int(match[2]), failed=int(match[3]))
    if code != 0 and count.failed == 0:
        count.failed = 1
    return count


def run_cpp(options: argparse.Namespace, preset: str, *arguments: str) -> Count:
    build = [options.cmake, "--build", f"build/{preset}", "-j", str(options.jobs), "--target", "farfield_tests"]
    if run(build)[0] != 0:
        return Count(failed=1)
    sanitizers = {
        "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "TSAN_OPTIONS": "halt_on_error=1",
    }
    return parse_doctest(*run([f"build/{preset}/farfield_tests", *arguments], sanitizers))


def parse_junit(code: int, path: Path) -> Count:
    if not path.exists():
        return Count(failed=1)
    suite = ElementTree.parse(path).getroot()
    suite = suite if suite.tag == "testsuite" else suite[0]
    total, bad, skipped = (
        int(suite.get("tests", 0)),
        int(suite.get("failures", 0)) + int(suite.get("errors", 0)),
        int(suite.get("skipped", 0)),
    )
    if code != 0 and bad == 0:
        bad = 1
    return Count(passed=max(0, total - bad - skipped), failed=bad, skipped=skipped)


def run_pytest(*arguments: str) -> Count:
    report = ROOT / "build" / "pytest.xml"
    report.parent.mkdir(exist_ok=True)
    report.unlink(missing_ok=True)
    code, _ = run([PYTHON, "-m", "pytest", "-q", f"--junitxml={report}", *arguments])
    return parse_junit(code, report)


def stages(options: argparse.Namespace) -> list[tuple[str, Callable[[], Count]]]:
    checks = [
        ("checks: include order", lambda: run_check([PYTHON, "tools/check_includes.py"])),
        ("checks: citations", lambda: run_check([PYTHON, "tools/check_citations.py"])),
        ("checks: ruff", lambda: run_check([PYTHON, "-m", "ruff", "check", "-q", "."])),
        ("checks: ruff format", lambda: run_check([PYTHON, "-m", "ruff", "format", "-q", "--check", "."])),
        ("checks: clang-format", lambda: run_check([PYTHON, "tools/format.py"])),
    ]
    if not options.all:
        return [
            *checks,
            ("C++ release", lambda: run_cpp(options, "release", NOT_LONG)),
            ("C++ asan+ubsan", lambda: run_cpp(options, "asan", NOT_LONG)),
            ("Python", lambda: run_pytest("-m", "not long")),
        ]
    return [
        *checks,
        ("C++ release", lambda: run_cpp(options, "release")),
        ("C++ debug", lambda: run_cpp(options, "debug", NOT_LONG)),
        ("C++ asan+ubsan", lambda: run_cpp(options, "asan-all")),
        ("C++ tsan", lambda: run_cpp(options, "tsan", "--test-case=*[threads]*")),
        ("Python", lambda: run_pytest()),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="", metavar="NAME")
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    options = parser.parse_args()

    results = []
    for name, stage in stages(options):
        if not name.startswith(options.only):
            continue
        print(f"\n== {name}", flush=True)
        start = time.monotonic()
        results.append((name, stage(), time.monotonic() - start))
    if not results:
        print(f"no stage starts with '{options.only}'")
        return 2
    print()
    for name, count, seconds in results:
        print(f"{name:24s} {count!s:40s} {seconds:7.1f} s")
    total = sum((count for _, count, _ in results), Count())
    print(f"\n{total}")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
