# SPDX-License-Identifier: Apache-2.0
"""`farfield view`: replay a run in the browser, two side by side, or step a scene live; or write a replay, a picture or a movie."""

from __future__ import annotations

import argparse
import dataclasses
import ipaddress
import math
import sys
from pathlib import Path

from farfield.commands.arguments import port_number, positive_float

LOOPBACK = "127.0.0.1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "places",
        metavar="RUN_DIR|FILE",
        nargs="+",
        help="directory of an earlier run, two of them side by side, or a robot or scene file to step live",
    )
    parser.add_argument("--html", metavar="FILE", help="write one self-contained HTML file instead of serving")
    parser.add_argument("--png", metavar="FILE", help="write a picture of some moments instead of serving")
    parser.add_argument("--movie", metavar="FILE", help="write a .gif or .mp4 instead of serving")
    parser.add_argument("--contact", default="automatic", metavar="M", help="live: contact model (default: automatic)")
    parser.add_argument("--dt", type=positive_float, metavar="S", help="live: time step [s] (default: of the file)")
    parser.add_argument("--key", metavar="NAME", help="live: keyframe to start from")
    parser.add_argument("--frames", type=frame_list, metavar="A,B,...", help="moments of the picture (default: four)")
    parser.add_argument(
        "--elevation", type=float, default=22.0, metavar="DEG", help="of the picture's camera (default: 22)"
    )
    parser.add_argument(
        "--host", default=LOOPBACK, metavar="H", help=f"address to listen on (default: {LOOPBACK}, this machine alone)"
    )
    parser.add_argument("--port", type=port_number, default=8080, metavar="P", help="port, 0 for any (default: 8080)")


def run(args: argparse.Namespace) -> int:
    from farfield.experiments.runs import RunDir
    from farfield.viewer.recording import FIELD, beside

    if len(args.places) > 2:
        raise ValueError(f"{len(args.places)} runs, expected one, two side by side, or a file")
    if Path(args.places[0]).is_file():
        return _live(args)
    folders = [RunDir.open(place) for place in args.places]
    recordings, folder = [_recording(each) for each in folders], folders[0]
    title = " | ".join(str(each.config.get("name", each.path.name)) for each in folders)
    recording, hidden = recordings[0], [FIELD]
    if len(recordings) == 2:
        recording = beside(*recordings, names=("first", "second"))
        hidden = [name for name in recording.arrows if name.startswith(FIELD)]
    for file in (args.html, args.png, args.movie):
        if file is not None and not Path(file).resolve().parent.is_dir():
            raise ValueError(f"{file}: its folder does not exist")
    if args.html is not None:
        from farfield.viewer.replay import write_replay

        loss = losses(folder.read_metrics()) if len(folders) == 1 else None
        write_replay(Path(args.html), recording, title=title, loss=loss, hidden=hidden)
        print(args.html)
    if args.png is not None:
        from farfield.viewer.still import render_png

        shown = dataclasses.replace(recording, arrows={})
        render_png(shown, Path(args.png), frames=args.frames, elevation=math.radians(args.elevation))
        print(args.png)
    if args.movie is not None:
        from farfield.viewer.movie import write_movie

        shown = dataclasses.replace(recording, arrows={})
        write_movie(shown, Path(args.movie), elevation=math.radians(args.elevation))
        print(args.movie)
    if any(file is not None for file in (args.html, args.png, args.movie)):
        return 0
    from farfield.viewer.server import serve

    loss = losses(folder.read_metrics()) if len(folders) == 1 else None
    _warn_of_others(args.host)
    serve(recording, host=args.host, port=args.port, title=title, loss=loss, hidden=hidden, announce=_announce)
    return 0


def _recording(folder):
    from farfield.experiments.runs import TRAJECTORY
    from farfield.reading import regular_file
    from farfield.viewer.recording import OVERLAYS, load_recording

    file = folder.given(TRAJECTORY)
    if not file.is_file():
        raise ValueError(f"{file}: no such file; the run has not recorded a motion")
    return load_recording(regular_file(file), folder.given(OVERLAYS))


def _live(args: argparse.Namespace) -> int:
    """Steps a robot or scene file in the browser."""
    import farfield as ff
    from farfield.commands.arguments import settled_start, start_state
    from farfield.contact_models import contact_model
    from farfield.viewer.live import serve_live

    if len(args.places) > 1 or any(file is not None for file in (args.html, args.png, args.movie)):
        raise ValueError(f"{args.places[0]}: a file is stepped live, alone; `farfield simulate` records a motion")
    model, parameters = ff.load(args.places[0], repair=True)
    contact = args.contact if args.contact == "automatic" else contact_model(args.contact)
    state, control = start_state(model, args.key)
    if contact is not None:
        state = settled_start(model, parameters, state, contact)
    simulation = ff.Simulation(model, parameters, contact=contact, dt=args.dt or model.default_dt, state=state)
    _warn_of_others(args.host)
    serve_live(simulation, control, host=args.host, port=args.port, title=Path(args.places[0]).stem, announce=_announce)
    return 0


def _announce(address: str) -> None:
    print(f"{address}  (Ctrl-C ends)", file=sys.stderr, flush=True)


def _warn_of_others(host: str) -> None:
    if not is_loopback(host):
        print(f"warning: {host}: whoever reaches this machine can watch; without --host only it can", file=sys.stderr)


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
