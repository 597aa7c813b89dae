# SPDX-License-Identifier: Apache-2.0
"""The command `farfield`.

Exit codes: 0 ran and passed, 1 a check failed, 2 bad input, 3 memory or disk used up, 130 interrupted (Ctrl-C, or a request to end).
Results go to standard output, everything else to standard error. FARFIELD_DEBUG=1 shows the full trace of an error.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from farfield.stopping import interrupts

# Name, module and one line of help. A module has add_arguments(parser) and run(args) -> exit code, and imports what is
# slow to import inside run().
COMMANDS = (
    ("run", "farfield.commands.run", "optimise a task: progress, checkpoints, replay and summary"),
    ("study", "farfield.commands.study", "run a task over many seeds and print one table"),
    ("compare", "farfield.commands.compare", "methods side by side on one task: one figure, success rates, one file"),
    ("tasks", "farfield.commands.tasks", "list the tasks, or the options of one"),
    ("simulate", "farfield.commands.simulate", "roll out a robot or scene file and write a replay"),
    ("inspect", "farfield.commands.inspect", "say what became of a robot or scene file: bodies, contacts, losses"),
    (
        "gradcheck",
        "farfield.commands.gradcheck",
        "check a scene's gradients against finite differences, from touching to far apart",
    ),
    (
        "properties",
        "farfield.commands.properties",
        "measure what each contact model promises: barrier, smooth, never pulls, never vanishes",
    ),
    ("cloud", "farfield.commands.cloud", "turn a mesh into a point cloud for soft contact, and check it"),
    (
        "soak",
        "farfield.commands.soak",
        "random heaps: does every step arrive, at what cost, and does nothing intersect",
    ),
    (
        "corpus",
        "farfield.commands.corpus",
        "many scenes at once: robot files of others, hard rigid scenes",
    ),
    ("scorecard", "farfield.commands.scorecard", "one page of what holds and what does not, from recorded results"),
    (
        "gallery",
        "farfield.commands.gallery",
        "well-known robots in small scenes with contact: stand, grasp, catch, land",
    ),
    ("view", "farfield.commands.view", "replay a run in the browser, or as one self-contained file"),
    ("grains", "farfield.commands.grains", "two-dimensional grains of any shape: experiments, and their contact maps"),
    ("doctor", "farfield.commands.doctor", "say in ten lines what is installed and whether it works"),
    ("bench", "farfield.commands.bench", "measure speed against a peer in the same run"),
)

PASSED, FAILED, BAD_INPUT, USED_UP, INTERRUPTED = 0, 1, 2, 3, 130
#: What is said when a thread cannot be started, or a library not be loaded, for lack of memory.
NO_MEMORY = (
    os.strerror(errno.EAGAIN),
    os.strerror(errno.ENOMEM),
    "can't start new thread",
    "failed to map segment",
)
LONGEST = 1200  # letters of an error
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Parser(argparse.ArgumentParser):
    """Mistakes are one line, as everywhere."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: error: {_printable(message)}; see {self.prog} --help\n")


def build_parser() -> argparse.ArgumentParser:
    """Parser of the whole command line."""
    from farfield import __version__

    parser = Parser(prog="farfield", description="Differentiable physics for contact-rich robotics.")
    parser.add_argument("--version", action="version", version=f"farfield {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, module, help_text in COMMANDS:
        command = commands.add_parser(name, help=help_text, description=help_text[0].upper() + help_text[1:] + ".")
        implementation = importlib.import_module(module)
        implementation.add_arguments(command)
        command.set_defaults(run=implementation.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    args = build_parser().parse_args(argv)
    try:
        with interrupts():
            return args.run(args)
    except KeyboardInterrupt:
        print("farfield: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone, as with `farfield ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PASSED
    except (ValueError, OSError, MemoryError, RuntimeError, ImportError) as error:
        mistake = isinstance(error, (ValueError, OSError)) or _is_used_up(error)
        if not mistake or os.environ.get("FARFIELD_DEBUG") == "1":
            raise
        print(f"farfield {args.command}: error: {_printable(_one_line(error))}", file=sys.stderr)
        return USED_UP if _is_used_up(error) else BAD_INPUT


def _is_used_up(error: Exception) -> bool:
    """Whether memory, threads or disk are at their end; the core and the loader of libraries say so in words."""
    if isinstance(error, (ValueError, OSError)):
        words = [f": {os.strerror(code)}" for code in DISK_FULL]
        return getattr(error, "errno", None) in (*DISK_FULL, errno.ENOMEM) or any(each in str(error) for each in words)
    return isinstance(error, MemoryError) or any(each in str(error) for each in NO_MEMORY)


def _one_line(error: Exception) -> str:
    text = str(error) or type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    if not isinstance(error, (ValueError, OSError)):
        text = f"out of memory ({text})"
    return f"{text}; files that were complete are kept" if _is_used_up(error) else text


def _printable(text: str) -> str:
    """One line that any terminal takes; very long ones without their middle."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    line = line.encode("utf-8", errors="backslashreplace").decode()
    return line if len(line) <= LONGEST else f"{line[: LONGEST // 2]} ... {line[-LONGEST // 2 :]}"


if __name__ == "__main__":
    sys.exit(main())
