#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Contact evaluations and CPU time of a step in this source tree beside those in another: `farfield bench evaluations`, in turns.

compare_trees.py OTHER [--rounds N] [--set K=V ...] [--json]

OTHER is a built tree (python/farfield with its core). Each round runs both, one after the other; times are the smallest of all rounds, so
the ratio suffers least from other work on the machine.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The command `farfield` of a tree, whichever is installed: finders of editable installs are objects, Python's own are classes.
START = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if isinstance(finder, type)]
sys.path.insert(0, sys.argv.pop(1))
from farfield.cli import main
sys.exit(main(sys.argv[1:]))
"""


def measure(tree: Path, settings: list[str]) -> dict[tuple[str, str], dict]:
    """Rows of the benchmark in a tree, by scene and contact model."""
    command = [sys.executable, "-c", START, str(tree / "python"), "bench", "evaluations", "--json", "--quiet"]
    command += [word for setting in settings for word in ("--set", setting)]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not done.stdout.strip():
        raise RuntimeError(f"{tree}: {done.stderr.strip() or f'exit {done.returncode}'}")
    result = json.loads(done.stdout)
    hashes = result["hashes"]
    return {
        (row["scene"], row["contact"]): {**row, "hash": hashes[f"{row['scene']}, {row['contact']}"]}
        for row in result["rows"]
    }


def compare(other: Path, rounds: int, settings: list[str]) -> list[dict]:
    """Scene by scene: figures of both trees and the ratio of times, this tree's over the other's."""
    best: list[dict] = [{}, {}]
    for _ in range(rounds):
        for kept, tree in zip(best, (other, ROOT), strict=True):
            for key, row in measure(tree, settings).items():
                last = kept.setdefault(key, row)
                last["ms_per_step"] = min(last["ms_per_step"], row["ms_per_step"])
    return [
        {
            "scene": key[0],
            "contact": key[1],
            "evaluations": [row["mean"] for row in pair],
            "p95": [row["p95"] for row in pair],
            "arrived": [f"{row['arrived']}/{row['asked']}" for row in pair],
            "ms_per_step": [row["ms_per_step"] for row in pair],
            "ratio": pair[1]["ms_per_step"] / pair[0]["ms_per_step"],
            "same_bits": pair[0]["hash"] == pair[1]["hash"],
        }
        for key, pair in ((key, (best[0][key], best[1][key])) for key in best[0] if key in best[1])
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description="Cost of a step in this tree beside that in another.")
    parser.add_argument("other", type=Path, metavar="OTHER", help="another built source tree")
    parser.add_argument("--rounds", type=int, default=2, metavar="N", help="of both (default: 2)")
    parser.add_argument("--set", action="append", default=[], metavar="K=V", help="option of bench evaluations")
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args()
    if not (args.other / "python" / "farfield").is_dir():
        print(f"{args.other}: no source tree of farfield, expected python/farfield in it", file=sys.stderr)
        return 2
    rows = compare(args.other.resolve(), args.rounds, args.set)
    if args.json:
        print(json.dumps(rows))
        return 0
    print(f"{'scene':18}{'contact':12}{'evaluations':>20}{'p95':>18}{'ms per step':>24}{'ratio':>8}  bits")
    for row in rows:
        cells = [f"{a:.4g} -> {b:.4g}" for a, b in (row["evaluations"], row["p95"], row["ms_per_step"])]
        arrived = "" if row["arrived"][1].split("/")[0] == row["arrived"][1].split("/")[1] else f"  {row['arrived'][1]}"
        print(
            f"{row['scene']:18}{row['contact']:12}{cells[0]:>20}{cells[1]:>18}{cells[2]:>24}{row['ratio']:8.2f}  "
            f"{'same' if row['same_bits'] else 'other'}{arrived}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
