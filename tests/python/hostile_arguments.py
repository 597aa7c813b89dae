# SPDX-License-Identifier: Apache-2.0
"""Hostile values for every option of every command, as the parser lists them."""

from __future__ import annotations

import argparse
from random import Random

FOLDER = "arguments"
VALUES = (
    "", " ", "nan", "inf", "-inf", "-1", "0", "1", "1e308", "1e-308", "1e9", "1000000000", "100000000000000", "9" * 40, "0.5", "foo",
    "../../../../etc/passwd", "/dev/zero", "/", "run", "pendulum.xml", "array.npy", "nowhere/at/all", "=", "a=b", "iterations=1e9",
    "frames=nan", "5x64", "99999999x99999999", "1,2,3", ",", "\u2028", "\udc80", "a\nb", "x" * 5000, "%s%n", "--", "-",
)  # fmt: skip
#: Cheap command lines to start from.
BASES: tuple[tuple[str, ...], ...] = (
    ("run", "slide.py", "--quiet", "--out", "new"),
    ("study", "slide.py", "--seeds", "1", "--quiet", "--out", "new"),
    ("compare", "slide.py", "--methods", "longrange", "--starts", "trivial", "--seeds", "1", "--budget-seconds", "2", "--quiet", "--out", "new"),
    ("tasks", "push"),
    ("simulate", "pendulum.xml", "--steps", "2", "--quiet", "--out", "new"),
    ("inspect", "two.urdf"),
    ("gradcheck", "slide.py", "--quiet"),
    ("cloud", "part.obj", "--points", "60"),
    ("soak", "--scenes", "1", "--steps", "1", "--quiet", "--out", "new"),
    ("corpus", "robots", "--folder", ".", "--match", "pendulum", "--steps", "2", "--quiet", "--out", "new"),
    ("view", "run", "--html", "out.html"),
    ("grains", "column", "--grains", "40", "--seconds", "0.05", "--settle", "0.02", "--no-pictures", "--map", "exact", "--quiet", "--out", "new"),
    ("grains", "silo", "--grains", "100", "--seconds", "0.05", "--settle", "0.02", "--no-pictures", "--map", "exact", "--quiet", "--out", "new"),
    ("grains", "train", "L", "--map", "exact", "--quiet"),
    ("bench", "--list"),
    ("doctor",),
    ("properties", "--plot", "plot.png"),
)  # fmt: skip
#: Options that ask for work: with a large value a command is busy, and that is what was asked for.
WORK = {
    "--iterations", "--seeds", "--budget-seconds", "--steps", "--scenes", "--evaluations", "--seconds", "--settle", "--points",
    "--spacing", "--grains", "--theta", "--space", "--network", "--training-steps", "--set", "--start-samples", "--tune-seconds",
    "--full", "--resume", "--threads", "--max-iterations", "--dt", "--only", "--methods", "--starts", "--vary", "--match", "--folder",
    "--png", "--frames", "--opening", "--radius", "--shape", "--map",
}  # fmt: skip


def options_of(command: str) -> list[argparse.Action]:
    """The options of a command."""
    from farfield.cli import build_parser

    commands = next(each for each in build_parser()._actions if isinstance(each, argparse._SubParsersAction))
    return [each for each in commands.choices[command]._actions if each.dest != "help"]


def draw(rng: Random) -> tuple[list[str], bool]:
    """A command line with one or two hostile arguments, and whether it may be busy for long."""
    argv = list(rng.choice(BASES))
    long = argv[0] in ("properties", "gradcheck", "doctor")
    for _ in range(rng.choice((1, 1, 2))):
        way = rng.randrange(8)
        if way == 0:
            argv[rng.randrange(1, len(argv) + 1) :] = []
            long = True  # what was cut off may have kept it short
        elif way == 1 and len(argv) > 1:
            argv[rng.randrange(1, len(argv))] = rng.choice(VALUES)
            long = True
        else:
            option = rng.choice(options_of(argv[0]))
            name = option.option_strings[0] if option.option_strings else ""
            long |= name in WORK or not name
            argv += [name] if name else []
            if option.nargs != 0:
                argv.append(rng.choice(VALUES))
    return argv, long or argv[0:1] == ["view"]
