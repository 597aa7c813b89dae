# SPDX-License-Identifier: Apache-2.0
"""Feeds damaged files to the readers until one ends other than by reading or refusing.

python tests/fuzz/fuzz.py [--reader R] [--seconds S] [--seed N] [--keep DIR]

With atheris installed its coverage of our Python code guides what is damaged further; without it damage is drawn at random. A file that ends in
a fault is kept, and goes to tests/fuzz/corpus once the fault is mended.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from random import Random

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

MEMORY, PATIENCE = 2048, 10  # [MB], [s] for one file


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reader", action="append", default=[])
    parser.add_argument("--seconds", type=float, default=60.0, help="for each reader")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-faults"), help="where files that end in a fault go")
    parser.add_argument(
        "--guided", action="store_true", help="of one reader, in this process: what others are started with"
    )
    options = parser.parse_args()
    import readers

    names = options.reader or list(readers.READERS)
    for name in names:
        if name not in readers.READERS:
            parser.error(f"--reader {name}, expected one of: {', '.join(readers.READERS)}")
    if options.guided:
        return guided(names[0], options)
    faults = {name: apart(name, options) for name in names}
    print(json.dumps({name: fault for name, fault in faults.items() if fault}))
    return int(any(faults.values()))


def apart(name: str, options: argparse.Namespace) -> str:
    """Fuzzes a reader in a process of its own; what went wrong, or nothing."""
    if importlib.util.find_spec("atheris") is None:
        return drawn(name, options)
    command = [sys.executable, __file__, "--guided", "--reader", name, "--seconds", str(options.seconds)]
    done = subprocess.run(
        [*command, "--seed", str(options.seed), "--keep", str(options.keep)],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    runs = [line for line in done.stderr.splitlines() if line.startswith(("Done", "stat::number_of_executed_units"))]
    print(f"{name}: {runs[0] if runs else f'exit code {done.returncode}'}", file=sys.stderr, flush=True)
    return "" if done.returncode == 0 else done.stderr[-2000:]


def drawn(name: str, options: argparse.Namespace) -> str:
    """Damage at random."""
    import readers

    from mutations import damage

    rng, count = Random(options.seed), 0
    with tempfile.TemporaryDirectory() as folder:
        good = {path: path.read_bytes() for path in readers.seeds(name, Path(folder))}
        last = time.monotonic() + options.seconds
        while time.monotonic() < last:
            path = rng.choice(list(good))
            data = good[path]
            with contextlib.suppress(Exception):  # damage that cannot be done to what is damaged already
                for _ in range(rng.choice((1, 1, 2, 4))):
                    data = damage(path.name, data, rng)
            path.write_bytes(data)
            fault = readers.attempt(name, path)
            if fault is not None:
                options.keep.mkdir(parents=True, exist_ok=True)
                kept = options.keep / f"{name}-{options.seed}-{count}{path.suffix}"
                kept.write_bytes(data)
                return f"{kept}: {''.join(traceback.format_exception(fault))[-1500:]}"
            path.write_bytes(good[path])
            count += 1
    print(f"{name}: {count} files", file=sys.stderr, flush=True)
    return ""


def guided(name: str, options: argparse.Namespace) -> int:
    """Damage that finds new ways through our code; libFuzzer ends the process."""
    import atheris

    with atheris.instrument_imports(include=["farfield"]):
        import readers
    from mutations import damage

    folder = Path(tempfile.mkdtemp())
    good = readers.seeds(name, folder)
    suffixes = sorted({path.suffix for path in good})
    begin = folder / "begin"
    begin.mkdir()
    for k, path in enumerate(good):  # the first byte of an input says which kind of file the others are
        (begin / f"seed {k}").write_bytes(bytes([suffixes.index(path.suffix)]) + path.read_bytes())
    targets = {path.suffix: path for path in good}

    def of(data: bytes) -> tuple[Path, bytes]:
        return targets[suffixes[(data[0] if data else 0) % len(suffixes)]], data[1:]

    def mutate(data: bytes, size: int, seed: int) -> bytes:
        path, content = of(data)
        with contextlib.suppress(Exception):
            content = damage(path.name, content, Random(seed))
        return (data[:1] + content)[:size]

    def one(data: bytes) -> None:
        path, content = of(data)
        path.write_bytes(content)
        fault = readers.attempt(name, path)
        if fault is not None:
            options.keep.mkdir(parents=True, exist_ok=True)
            (options.keep / f"{name}-{options.seed}{path.suffix}").write_bytes(content)
            raise fault

    arguments = [f"-max_total_time={max(1, round(options.seconds))}", f"-rss_limit_mb={MEMORY}", f"-timeout={PATIENCE}"]
    arguments += [f"-seed={options.seed + 1}", "-max_len=100000", f"-artifact_prefix={folder}/", str(begin)]
    atheris.Setup([sys.argv[0], *arguments], one, custom_mutator=mutate, internal_libfuzzer=True)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
