# SPDX-License-Identifier: Apache-2.0
"""Argument types and options that several commands share."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

LARGEST = 1e9  # seconds, metres, or anything else that a command takes


def positive_int(text: str) -> int:
    """Argument type: a whole number above zero."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"'{text}', expected a whole number >= 1")
    return value


def up_to(most: int) -> Callable[[str], int]:
    """Argument type: a whole number from 1 to what a machine can hold."""

    def parse(text: str) -> int:
        value = positive_int(text)
        if value > most:
            raise argparse.ArgumentTypeError(f"'{text}', expected at most {most:,}")
        return value

    return parse


def positive_float(text: str) -> float:
    """Argument type: a finite number above zero."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(f"'{text}', expected a number > 0")
    if value > LARGEST:
        raise argparse.ArgumentTypeError(f"'{text}', expected at most {LARGEST:g}")
    return value


def port_number(text: str) -> int:
    """Argument type: a TCP port, 0 for any free one."""
    try:
        value = int(text)
    except ValueError:
        value = -1
    if not 0 <= value <= 65535:
        raise argparse.ArgumentTypeError(f"'{text}', expected 0 to 65535")
    return value


def add_output_arguments(parser: argparse.ArgumentParser) -> None:
    """--out, --json and --quiet."""
    parser.add_argument("--out", metavar="DIR", help="run directory (default: a new one in runs/)")
    parser.add_argument("--json", action="store_true", help="print one JSON object on standard output")
    parser.add_argument("--quiet", action="store_true", help="no progress and no summary")


def add_method_arguments(parser: argparse.ArgumentParser) -> None:
    """--method-set, --start and --start-samples."""
    parser.add_argument(
        "--method-set",
        action="append",
        default=[],
        metavar="K=V",
        help="change an option of the method; repeatable",
    )
    parser.add_argument(
        "--start", metavar="S", help="trivial, or sampled: the best of random points (default: trivial)"
    )
    parser.add_argument("--start-samples", type=positive_int, metavar="N", help="random points (default: 64)")


def parse_settings(texts: list[str], iterations: int | None = None) -> dict[str, str]:
    """Option -> text of every --set key=value, and of --iterations."""
    settings = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ValueError(f"--set {text}: expected key=value")
        settings[name.strip()] = value.strip()
    if iterations is not None:
        settings["iterations"] = str(iterations)
    return settings


def method_setup(args: argparse.Namespace) -> dict:
    """The fields of `farfield.experiments.runner.Setup` that the command line gives."""
    from farfield.experiments.registry import find_method

    given = {key: getattr(args, key) for key in ("contact", "method", "start", "start_samples")}
    given["method_set"] = tuple(parse_settings(args.method_set).items()) or None
    own = find_method(args.method).capabilities.own_contact if args.method is not None else None
    if own is not None and args.contact not in (None, own):
        raise ValueError(f"--contact {args.contact}: method '{args.method}' has contact of its own; leave it out")
    return {key: value for key, value in given.items() if value is not None}


def add_collision_arguments(parser: argparse.ArgumentParser) -> None:
    """--collision and --self-contact."""
    parser.add_argument(
        "--collision",
        default="auto",
        choices=("auto", "mesh", "hull", "hulls", "simplified", "primitives"),
        help="what collides in place of meshes (default: auto, simpler surfaces where there are many triangles)",
    )
    parser.add_argument(
        "--self-contact",
        default="near",
        choices=("near", "all", "none"),
        help="how far the bodies of one robot push each other (default: near)",
    )


def settled_start(model, parameters, state, contact):
    """A start that contact can go on from; a line on standard error for every body that was moved."""
    import sys

    import farfield as ff

    if contact is None:
        return state
    try:
        settled = ff.settle(model, parameters, state, contact)
    except ValueError as error:
        if "pushed" not in str(error):  # bodies overlap deeply
            raise
        print(f"warning: {error}; it starts as it is", file=sys.stderr)
        return state
    for move in settled.moves:
        print(f"settled: {describe_move(model, move)}", file=sys.stderr)
    return settled.state


def describe_move(model, move) -> str:
    """What settle did to one body, and why."""
    names = model.body_names
    x, y, z = (1e3 * value for value in move.shift)
    reasons = []
    if move.other >= 0:
        reasons.append(f"overlapped '{names[move.other]}' by {1e3 * move.overlap:.3g} mm")
    if move.force > 0.0:
        reasons.append(f"stood too near, pushed with {move.force:.3g} of its weight")
    return f"'{names[move.body]}' moved by ({x:.3g}, {y:.3g}, {z:.3g}) mm: it {' and '.join(reasons)}"


def add_executor_argument(parser: argparse.ArgumentParser) -> None:
    """--executor."""
    parser.add_argument(
        "--executor",
        default="local",
        metavar="E",
        help="where jobs are computed: local, ray, or ray:ADDRESS of a cluster; same numbers (default: local)",
    )


def add_contact_argument(parser: argparse.ArgumentParser, *, default: str) -> None:
    """--contact."""
    parser.add_argument("--contact", default=default, metavar="M", help=f"contact model, or none (default: {default})")


def add_step_arguments(parser: argparse.ArgumentParser) -> None:
    """--stiffness, --tolerance, --max-iterations and --threads."""
    parser.add_argument(
        "--stiffness",
        type=positive_float,
        metavar="K",
        help="of contact, around what the model chooses for the scene (default: 1)",
    )
    parser.add_argument(
        "--tolerance", type=positive_float, metavar="T", help="where Newton's method stops, relative (default: 1e-7)"
    )
    parser.add_argument(
        "--max-iterations", type=positive_int, metavar="N", help="of Newton's method per step (default: 200)"
    )
    parser.add_argument("--threads", type=positive_int, metavar="N", help="for contact; same bits (default: 1)")


def chosen_contact(args: argparse.Namespace):
    """The contact model that --contact and --stiffness name; None for none."""
    from farfield.contact_models import contact_model

    if args.stiffness is None:
        return contact_model(args.contact)
    if args.contact == "none":
        raise ValueError(f"--stiffness {args.stiffness:g}: there is no contact; expected a contact model with it")
    return contact_model(args.contact, stiffness=args.stiffness)


def add_import_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--strict", action="store_true", help="refuse files with masses, inertias or numbers that need repair"
    )
    parser.add_argument(
        "--unsupported",
        choices=("refuse", "drop"),
        default="refuse",
        help="elements whose forces or constraints have no counterpart: refuse the file, or drop and list them",
    )


def import_options(args: argparse.Namespace) -> dict:
    """Options of farfield.load that --strict and --unsupported name: commands repair, and say what."""
    return {"repair": not args.strict, "unsupported": args.unsupported}


def start_state(model, key: str | None) -> tuple:
    """State and control of a keyframe, or the defaults of the file."""
    if key is None:
        return model.default_state(), model.default_control()
    if key not in model.keyframes:
        known = ", ".join(f"'{name}'" for name in model.keyframes) or "none"
        raise ValueError(f"keyframe '{key}' is unknown; the file has: {known}")
    return model.keyframes[key]
