# SPDX-License-Identifier: Apache-2.0
"""`farfield view`: replay a run in the browser, or write it as one self-contained file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from farfield.commands.arguments import port_number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_dir", metavar="RUN_DIR", help="directory of an earlier run")
    parser.add_argument("--html", metavar="FILE", help="write one self-contained HTML file instead of serving")
    parser.add_argument("--port", type=port_number, default=8080, metavar="P", help="port, 0 for any (default: 8080)")


def run(args: argparse.Namespace) -> int:
    from farfield.runs import RunDir
    from farfield.viewer.recording import load_recording

    folder = RunDir.open(args.run_dir)
    file = folder.file("recording.npz")
    if not file.is_file():
        raise ValueError(f"{file}: no such file; the run has not recorded a motion")
    recording = load_recording(file)
    title = str(folder.config.get("name", folder.path.name))
    if args.html is not None:
        from farfield.viewer.replay import write_replay

        if not Path(args.html).resolve().parent.is_dir():
            raise ValueError(f"{args.html}: its folder does not exist")
        write_replay(Path(args.html), recording, title=title)
        print(args.html)
        return 0
    from farfield.viewer.server import serve

    def announce(address: str) -> None:
        print(f"{address}  (Ctrl-C ends)", file=sys.stderr, flush=True)

    serve(recording, port=args.port, title=title, loss=losses(folder.read_metrics()), announce=announce)
    return 0


def losses(metrics: list[dict]) -> list[float] | None:
    """The loss of every line of metrics that has one, NaN where it was not finite; None when no line has."""
    values = [row["loss"] for row in metrics if "loss" in row]
    return [float("nan") if value is None else float(value) for value in values] or None
