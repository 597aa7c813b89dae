# SPDX-License-Identifier: Apache-2.0
"""Damaged files and arguments for every command, each run in a process of its own with bounds on time and memory.

    python tests/python/hostile.py [--count N] [--seed S] [--kind K] [--json]

Every case has to end in time with exit code 0, 1 or 2; with 2, in one line that names the user's file.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent))

import hostile_arguments
import hostile_seeds
from hostile_specials import SPECIALS
from mutations import damage

SECONDS, BYTES = 10.0, 2 << 30
#: Lines on standard error that are no error.
NOTES = ("warning:", "settled:", "approximated:", "no contact:", "stopping", "claims:", "soak:", "listening")
TEMPORARY = ("farfield-import-", "farfield-urdf-", "request.json", "model.urdf")


@dataclass(frozen=True)
class Case:
    """One command line. names: what its message must contain one of. long: it may be busy when the time is up."""

    title: str
    argv: list[str]
    names: tuple[str, ...] = ()
    long: bool = False
    environment: dict[str, str] = field(default_factory=dict)


@dataclass
class Ending:
    """How a command ended: exit code (negative: a signal; None: still busy), what it wrote, and its greatest memory [bytes]."""

    code: int | None
    out: str
    err: str
    memory: int
    seconds: float


def address_space() -> int:
    """Of this process, now [bytes]."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * resource.getpagesize()


def attempt(
    case: Case,
    box: Path,
    *,
    seconds: float = SECONDS,
    memory: int = BYTES,
    largest_file: int | None = None,
    signals: Sequence[tuple[float, int]] = (),
    ready: str | None = None,
) -> Ending:
    """Run a command in a fork of this process, inside the folder `box`.

    signals: (seconds, signal) to send to it, counted from the moment when the file `ready` is there. It is killed after `seconds`.
    """
    began = time.monotonic()
    for name in (".out", ".err"):
        (box / name).unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        _child(case, box, memory, largest_file)
    code, waiting, start = None, list(signals), began if ready is None else None
    while True:
        done, status, usage = os.wait4(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            break
        if time.monotonic() - began > seconds:
            os.kill(child, signal.SIGKILL)
            _, _, usage = os.wait4(child, 0)
            break
        if start is None and (box / str(ready)).exists():
            start = time.monotonic()
        while waiting and start is not None and time.monotonic() - start >= waiting[0][0]:
            os.kill(child, waiting.pop(0)[1])
        time.sleep(0.002)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what it may have left behind
    texts = []
    for name in (".out", ".err"):  # absent when it was killed before it had begun
        file = box / name
        texts.append(file.read_text(encoding="utf-8", errors="replace") if file.exists() else "")
    return Ending(code, *texts, usage.ru_maxrss * 1024, time.monotonic() - began)


def _child(case: Case, box: Path, memory: int, largest_file: int | None) -> None:
    code = 70
    try:
        os.setsid()
        os.chdir(box)
        os.environ.update(case.environment)
        for number, name in ((1, ".out"), (2, ".err")):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdout, sys.stderr = (
            os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace") for number in (1, 2)
        )
        bound = address_space() + memory
        resource.setrlimit(resource.RLIMIT_AS, (bound, bound))
        if largest_file is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
        from farfield import cli

        try:
            code = cli.main(case.argv)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
        except BaseException:
            import traceback

            traceback.print_exc()
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def fault(case: Case, ending: Ending) -> str | None:
    """What is wrong with an ending; None when nothing is."""
    if ending.memory > BYTES:
        return f"memory: {ending.memory / 2**30:.1f} GB"
    if ending.code is None:
        return None if case.long else "hang"
    if ending.code < 0:
        return f"died: {signal.Signals(-ending.code).name}"
    if "Traceback (most recent call last)" in ending.err:
        return f"traceback: {ending.err.strip().splitlines()[-1][:200]}"
    if ending.code not in (0, 1, 2):
        return f"exit code {ending.code}: {ending.err.strip()[-200:]}"
    if ending.code != 2:
        return None
    lines = [line for line in ending.err.splitlines() if line.strip() and not line.startswith(NOTES)]
    if len(lines) != 1 or "error:" not in lines[0]:
        return f"{len(lines)} lines: {ending.err.strip()[:300]}"
    if any(text in lines[0] for text in TEMPORARY):
        return f"names a temporary file: {lines[0][:300]}"
    if case.names and not any(name in lines[0] for name in case.names):
        return f"does not name {case.names[0]}: {lines[0][:300]}"
    if len(lines[0]) > 1500:
        return f"a line of {len(lines[0])} letters: {lines[0][:200]}"
    return None


def cases(seeds: Path, box: Path, rng: Random, kinds: Sequence[str]) -> Iterator[Case]:
    """Endless cases; each is set up in `box` when it is asked for."""
    recipes = [each for each in hostile_seeds.RECIPES if not kinds or each.kind in kinds]
    share = 1.0 if not recipes else 0.25 if not kinds or "arguments" in kinds else 0.0
    while True:
        if rng.random() < share:
            yield _fresh(box, seeds, "arguments", hostile_arguments.draw(rng))
            continue
        recipe = rng.choice(recipes)
        _refill(box, seeds / recipe.folder)
        file = rng.choice([each for pattern in recipe.files for each in sorted(box.glob(pattern))])
        file.write_bytes(damage(file.name, file.read_bytes(), rng))
        names = (file.name, str(file.parent.name)) if file.parent != box else (file.name, *recipe.names)
        argv = [word.replace("FILE", file.name) for word in rng.choice(recipe.commands)]
        yield Case(f"{recipe.kind}: {file.relative_to(box)}", argv, names, environment=recipe.environment)


def _fresh(box: Path, seeds: Path, kind: str, drawn: tuple[list[str], bool]) -> Case:
    _refill(box, seeds / hostile_arguments.FOLDER)
    argv, long = drawn
    return Case(f"{kind}: {' '.join(argv)[:120]}", argv, (), long)


def _refill(box: Path, folder: Path) -> None:
    shutil.rmtree(box, ignore_errors=True)
    shutil.copytree(folder, box)


def specials(seeds: Path, box: Path, only: str | None = None) -> Iterator[Case]:
    """The named bombs and traps, one after the other."""
    for name, make in SPECIALS.items():
        if only is None or re.search(only, name):
            _refill(box, seeds / hostile_arguments.FOLDER)
            argv, names = make(box)
            yield Case(f"special: {name}", argv, tuple(names))


def run(
    count: int,
    seed: int,
    kinds: Sequence[str],
    *,
    only: str | None = None,
    keep: Path | None = None,
    show: bool = False,
) -> dict:
    """So many cases; the faults that were found, and the codes of all."""
    codes: Counter[str] = Counter()
    faults, total, slowest = [], 0, 0.0
    with tempfile.TemporaryDirectory(prefix="hostile-") as name:
        seeds, box = Path(name) / "seeds", Path(name) / "box"
        hostile_seeds.make(seeds, kinds)
        named = "specials" in kinds
        drawn = specials(seeds, box, only) if named else cases(seeds, box, Random(seed), kinds)
        for case in drawn:
            if not named and total >= count:
                break
            total += 1
            ending = attempt(case, box)
            codes[str(ending.code)] += 1
            slowest = max(slowest, ending.seconds)
            wrong = fault(case, ending)
            if named and wrong is None and ending.code != 2:
                wrong = f"exit code {ending.code}, expected 2"
            if show:
                print(f"{case.title}: {ending.code} {ending.err.strip()[-300:]}", file=sys.stderr)
            if wrong is not None:
                faults.append({"case": case.title, "argv": case.argv, "fault": wrong})
                if keep is not None:
                    shutil.copytree(box, keep / f"{len(faults)}", dirs_exist_ok=True, symlinks=True)
                    (keep / f"{len(faults)}" / "CASE").write_text(json.dumps(faults[-1]), encoding="utf-8")
    return {"cases": total, "codes": dict(codes), "slowest": slowest, "faults": faults}


def main() -> int:
    parser = argparse.ArgumentParser(description="Damaged files and arguments for every command.")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--kind",
        action="append",
        default=[],
        choices=sorted({each.kind for each in hostile_seeds.RECIPES} | {"arguments", "specials"}),
    )
    parser.add_argument("--only", help="of the specials: those whose name this expression finds")
    parser.add_argument("--keep", type=Path, help="copy the files of every fault into this folder")
    parser.add_argument("--show", action="store_true", help="every case on standard error")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    result = run(args.count, args.seed, args.kind, only=args.only, keep=args.keep, show=args.show)
    if args.json:
        print(json.dumps(result))
    else:
        for each in result["faults"]:
            print(f"{each['case']}\n    {each['fault']}\n    farfield {' '.join(each['argv'])[:200]}")
        print(
            f"{result['cases']} cases, {len(result['faults'])} faults, codes {result['codes']}, slowest {result['slowest']:.1f} s"
        )
    return 1 if result["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
