# SPDX-License-Identifier: Apache-2.0
"""`farfield view`: replay a run in the browser, or write it as one self-contained file or as a picture."""

from __future__ import annotations

import argparse
import dataclasses
import ipaddress
import math
import sys
from pathlib import Path

from farfield.commands.arguments import port_number

LOOPBACK = "127.0.0.1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_dir", metavar="RUN_DIR", help="directory of an earlier run")
    parser.add_argument("--html", metavar="FILE", help="write one self-contained HTML file instead of serving")
    parser.add_argument("--png", metavar="FILE", help="write a picture of some moments instead of serving")
    parser.add_argument("--frames", type=frame_list, metavar="A,B,...", help="moments of the picture (default: four)")
    parser.add_argument(
        "--elevation", type=float, default=22.0, metavar="DEG", help="of the picture's camera (default: 22)"
    )
    parser.add_argument(
        "--host", default=LOOPBACK, metavar="H", help=f"address to listen on (default: {LOOPBACK}, this machine alone)"
    )
    parser.add_argument("--port", type=port_number, default=8080, metavar="P", help="port, 0 for any (default: 8080)")


def run(args: argparse.Namespace) -> int:
    from farfield.experiments.runs import TRAJECTORY, RunDir
    from farfield.reading import regular_file
    from farfield.viewer.recording import FIELD, OVERLAYS, load_recording

    folder = RunDir.open(args.run_dir)
    file = folder.given(TRAJECTORY)
    if not file.is_file():
        raise ValueError(f"{file}: no such file; the run has not recorded a motion")
    recording = load_recording(regular_file(file), folder.given(OVERLAYS))
    title = str(folder.config.get("name", folder.path.name))
    for file in (args.html, args.png):
        if file is not None and not Path(file).resolve().parent.is_dir():
            raise ValueError(f"{file}: its folder does not exist")
    if args.html is not None:
        from farfield.viewer.replay import write_replay

        loss = losses(folder.read_metrics())
        write_replay(Path(args.html), recording, title=title, loss=loss, hidden=[FIELD])
        print(args.html)
    if args.png is not None:
        from farfield.viewer.still import render_png

        shown = dataclasses.replace(recording, arrows={})
        render_png(shown, Path(args.png), frames=args.frames, elevation=math.radians(args.elevation))
        print(args.png)
    if args.html is not None or args.png is not None:
        return 0
    from farfield.viewer.server import serve

    def announce(address: str) -> None:
        print(f"{address}  (Ctrl-C ends)", file=sys.stderr, flush=True)

    loss = losses(folder.read_metrics())
    if not is_loopback(args.host):
        print(
            f"warning: {args.host}: whoever reaches this machine can watch; without --host only it can", file=sys.stderr
        )
    serve(recording, host=args.host, port=args.port, title=title, loss=loss, hidden=[FIELD], announce=announce)
    return 0


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def frame_list(text: str) -> list[int]:
    """Argument type: whole numbers with commas between them."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}', expected whole numbers with commas between them") from None


def losses(metrics: list[dict]) -> list[float] | None:
    """The loss of every line of metrics that has one, NaN where it was not finite; None when no line has."""
    values = [row["loss"] for row in metrics if "loss" in row]
    return [float("nan") if value is None else float(value) for value in values] or None
