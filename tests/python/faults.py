# SPDX-License-Identifier: Apache-2.0
"""Commands that are killed at random moments and resumed, and whether what they leave has the same bits as without.

python tests/python/faults.py [--count N] [--seed S] [--command C] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent))

import hostile_seeds
from hostile import Case, Ending, attempt

#: What may differ from run to run: times, places, the commit, and counts of what one process has done.
TIMES = {
    "seconds", "cpu_seconds", "steps_per_second", "run", "run_dir", "seconds_to_zero", "figure", "command", "created", "commit",
    "list_builds", "list_pairs",
}  # fmt: skip
PATIENCE = 120.0


@dataclass(frozen=True)
class Command:
    """A command line, what continues it, and the files that have to be the same."""

    first: tuple[str, ...]
    again: tuple[str, ...]
    files: tuple[str, ...]


GRAINS = (
    "grains",
    "column",
    "--grains",
    "40",
    "--seconds",
    "0.6",
    "--settle",
    "0.1",
    "--no-pictures",
    "--map",
    "exact",
    "--quiet",
    "--out",
    "out",
)
RUN = ("run", "slide.py", "--set", "frames=10", "--quiet", "--out", "out")
STUDY = ("study", "slide.py", "--seeds", "2", "--quiet", "--out", "out")
COMPARE = ("compare", "slide.py", "--methods", "longrange,bundle", "--starts", "trivial,sampled", "--start-samples", "4", "--seeds", "1",
           "--budget-seconds", "60", "--tune-seconds", "0", "--quiet", "--out", "out")  # fmt: skip
COMMANDS = {
    "run": Command(
        RUN, (*RUN, "--resume"), ("trajectory.safetensors", "result.json", "metrics.jsonl", "checkpoint.npz")
    ),
    "grains": Command(GRAINS, (*GRAINS, "--resume"), ("arrays.npz", "result.json", "metrics.jsonl", "checkpoint.npz")),
    "study": Command(STUDY, STUDY, ("study.json", "seed-*/trajectory.safetensors")),
    "compare": Command(COMPARE, COMPARE, ("compare.json", "*-seed-0/trajectory.safetensors")),
}


def frequent_checkpoints() -> None:
    """A checkpoint after every iteration and every frame, so that one is often what a kill hits."""
    from farfield.experiments import runner
    from farfield.grains import runner as grains_runner

    runner.CHECKPOINT_SECONDS = grains_runner.CHECKPOINT_SECONDS = 0.0


def warm() -> None:
    """Imports what commands import late, so that forks do not."""
    import matplotlib

    matplotlib.use("Agg")
    import farfield.commands.compare
    import farfield.experiments.pictures
    import farfield.grains.column
    import farfield.viewer.replay
    import farfield.viewer.stage  # noqa: F401


def kept(value):
    """Without `TIMES`."""
    if isinstance(value, dict):
        return {key: kept(item) for key, item in value.items() if key not in TIMES}
    return [kept(item) for item in value] if isinstance(value, list) else value


def content(file: Path):
    """What has to be the same of a file."""
    if file.suffix == ".json":
        return kept(json.loads(file.read_text(encoding="utf-8")))
    if file.suffix == ".jsonl":
        return [kept(json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]
    if file.suffix == ".npz":
        from farfield.reading import read_arrays

        arrays = read_arrays(file)
        return {key: value.tobytes() for key, value in arrays.items() if not key.endswith("seconds") and key != "rows"}
    return file.read_bytes()


def contents(folder: Path, files: tuple[str, ...]) -> dict:
    """Of all files of a result."""
    found = {str(file.relative_to(folder)): content(file) for each in files for file in sorted(folder.glob(each))}
    if len(found) < len(files):
        raise FileNotFoundError(f"{folder}: {sorted(found)}, expected {files}")
    return found


class Box:
    """A folder with a task and a scene, in which commands run."""

    def __init__(self, root: Path) -> None:
        self.seeds, self.path = root / "seeds", root / "box"
        self.seeds.mkdir(parents=True)
        (self.seeds / "slide.py").write_text(hostile_seeds.SLIDE, encoding="utf-8")
        shutil.copyfile(hostile_seeds.SCENES / "pendulum.xml", self.seeds / "pendulum.xml")
        self.empty()

    def empty(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        shutil.copytree(self.seeds, self.path)

    def run(self, argv: tuple[str, ...], **bounds) -> Ending:
        return attempt(Case(argv[0], list(argv)), self.path, **{"seconds": PATIENCE, "memory": 4 << 30, **bounds})


def reference(box: Box, command: Command) -> tuple[dict, float]:
    """What the command leaves when nobody stops it, and how long it takes [s]."""
    box.empty()
    ending = box.run(command.first)
    if ending.code not in (0, 1) or "Traceback" in ending.err:
        raise RuntimeError(f"{command.first}: exit code {ending.code}: {ending.err}")
    return contents(box.path / "out", command.files), ending.seconds


def finish(box: Box, command: Command) -> Ending:
    """Goes on with what is there: from the beginning when the directory was not even begun."""
    begun = (box.path / "out" / "config.json").is_file()
    return box.run(command.again if begun else command.first)


def kill_and_resume(box: Box, command: Command, expected: dict, moments: list[float]) -> str | None:
    """Kill the command at every moment [s after its start], then let it finish; what is wrong, or None."""
    box.empty()
    for moment in moments:
        begun = (box.path / "out" / "config.json").is_file()
        box.run(command.again if begun else command.first, seconds=moment)
    ending = finish(box, command)
    if ending.code not in (0, 1) or "Traceback" in ending.err:
        return f"exit code {ending.code}: {ending.err.strip()[-300:]}"
    found = contents(box.path / "out", command.files)
    differing = [name for name in expected if found.get(name) != expected[name]]
    left = [str(file) for file in (box.path / "out").rglob(".*") if file.is_file()]
    return f"differs: {', '.join(differing)}" if differing else f"left behind: {left}" if left else None


def campaign(
    name: str, count: int, seed: int, root: Path, *, show: Callable[[str], None] = lambda _: None
) -> list[str]:
    """So many kills of one command; what went wrong."""
    box, command, rng, wrong = Box(root / name), COMMANDS[name], Random(seed), []
    expected, seconds = reference(box, command)
    for number in range(count):
        moments = [rng.uniform(0.0, seconds) for _ in range(rng.choice((1, 1, 2)))]
        problem = kill_and_resume(box, command, expected, moments)
        told = ", ".join(f"{moment:.3f}" for moment in moments)
        show(f"{name} {number}: killed after {told} of {seconds:.2f} s: {problem or 'same bits'}")
        if problem is not None:
            wrong.append(f"{name}, killed after {told} s: {problem}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description="Commands killed at random moments and resumed.")
    parser.add_argument("--count", type=int, default=25, help="kills per command")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--command", choices=sorted(COMMANDS), action="append")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    names = args.command or list(COMMANDS)
    frequent_checkpoints()
    warm()
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        told = lambda text: print(text, file=sys.stderr, flush=True)  # noqa: E731
        wrong = [each for name in names for each in campaign(name, args.count, args.seed, Path(folder), show=told)]
    kills = args.count * len(names)
    print(
        json.dumps({"kills": kills, "wrong": wrong})
        if args.json
        else "\n".join([*wrong, f"{kills} kills, {len(wrong)} wrong"])
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    os.environ.setdefault("FARFIELD_THREADS", "1")
    sys.exit(main())
