# SPDX-License-Identifier: Apache-2.0
"""`farfield simulate`: roll out any robot or scene file, with a replay and a certificate."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from farfield.commands.arguments import (
    add_contact_argument,
    add_output_arguments,
    positive_float,
    positive_int,
    start_state,
)
from farfield.commands.inspect import exclusion_lines, time_step
from farfield.contact_models import contact_model

CHUNK = 100  # steps per rollout: the progress bar moves between them; a fixed number, so results do not depend on it


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="MJCF or URDF file")
    parser.add_argument("--steps", type=positive_int, default=200, metavar="N", help="time steps (default: 200)")
    parser.add_argument("--dt", type=positive_float, metavar="S", help="time step (default: the file's, or 0.01 s)")
    parser.add_argument("--key", metavar="NAME", help="keyframe to start from (default: the file's own pose)")
    add_contact_argument(parser, default="none")
    add_output_arguments(parser)


def run(args: argparse.Namespace) -> int:
    import farfield as ff
    from farfield.experiments.runs import TRAJECTORY, RunDir
    from farfield.motion import save_motion
    from farfield.output import dump_json
    from farfield.viewer.recording import record
    from farfield.viewer.replay import write_replay

    contact = contact_model(args.contact)
    if not Path(args.file).is_file():
        raise ValueError(f"{args.file}: no such file")
    model, parameters = ff.load(args.file)
    dt = args.dt or model.default_dt
    for warning in model.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if not args.quiet:
        for line in exclusion_lines(model.excluded_pairs):
            print(f"no contact: {line}", file=sys.stderr)
    if contact is None and model.contact_pairs:
        print(
            "warning: contact is off, bodies pass through each other; turn it on with --contact longrange",
            file=sys.stderr,
        )
    state, control = start_state(model, args.key)
    name = Path(args.file).stem
    folder = RunDir.create(f"simulate-{name}", options={**_options(args), "dt": dt}, path=args.out)

    started = time.perf_counter()
    motion, interrupted = roll(
        model, parameters, state, control, args.steps, dt=dt, contact=contact, quiet=args.quiet
    )
    seconds = time.perf_counter() - started

    save_motion(folder.file(TRAJECTORY), motion)
    recording = record(model, motion.poses(), dt=dt)
    write_replay(folder.file("replay.html"), recording, title=name)
    result = summary(model, motion, seconds, dt=dt, with_contact=contact is not None)
    folder.write_json("result.json", result)
    if args.json:
        print(dump_json(result))
    if not args.quiet:
        origin = f"{dt:g} s" if args.dt else time_step(dt, stated=model.scene.dt is not None)
        _print_summary(args.file, result, motion, origin, folder)
    if interrupted:
        raise KeyboardInterrupt
    return 0 if motion.converged else 1


def _options(args: argparse.Namespace) -> dict:
    return {key: value for key, value in vars(args).items() if key not in ("run", "json", "quiet")}


def roll(model, parameters, state, control, steps: int, *, dt: float, contact=None, quiet: bool = False):
    """The motion under a constant control, with a progress bar, and whether it was interrupted.

    Stops at the first chunk that did not converge, and at Ctrl-C, which keeps the chunks that are done.
    """
    import numpy as np
    from tqdm import tqdm

    import farfield as ff
    from farfield.motion import Motion

    q, v, poses, reports, converged, interrupted = [], [], [], [], True, False
    control = np.asarray(control, dtype=float)
    with tqdm(total=steps, unit="step", desc="simulate", file=sys.stderr, disable=quiet, leave=False) as bar:
        while converged and len(reports) < steps:
            count = min(CHUNK, steps - len(reports))
            controls = np.tile(control, (count, 1))
            try:
                part = ff.rollout(model, parameters, state, controls, dt=dt, contact=contact)
            except KeyboardInterrupt:
                if not q:
                    raise
                interrupted = True
                break
            skip = 1 if q else 0  # a chunk begins with the state the one before ended with
            q.append(np.asarray(part.q)[skip:])
            v.append(np.asarray(part.v)[skip:])
            poses.append(np.asarray(part.poses())[skip:])
            reports.extend(part.reports)
            converged = bool(part.converged)
            state = ff.State(q=q[-1][-1], v=v[-1][-1])
            bar.update(len(part.reports))
    states, steps = (np.concatenate(q), np.concatenate(v)), len(reports)
    motion = Motion(model, parameters, *states, np.tile(control, (steps, 1)), dt, converged, reports=reports)
    motion.contact = "" if contact is None else contact.description
    motion.min_gap = min(report.min_gap for report in reports)
    motion._poses = np.concatenate(poses)
    return motion, interrupted


def summary(model, motion, seconds: float, *, dt: float, with_contact: bool) -> dict:
    """The JSON result: steps, dt [s], converged, seconds, min_gap [m], detours, pairs left out of contact and the final pose of every body."""
    final = motion.poses()[-1]
    return {
        "steps": motion.num_steps,
        "dt": dt,
        "converged": motion.converged,
        "seconds": seconds,
        "min_gap": motion.min_gap if with_contact else None,
        "detours": sum(report.detour for report in motion.reports),
        "excluded_pairs": model.excluded_pairs,
        "final": {
            name: {"pos": final[body, :3], "quat": final[body, 3:]} for body, name in enumerate(model.body_names)
        },
    }


def _print_summary(file: str, result: dict, motion, dt: str, folder) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"simulate {file}", show_header=False, title_justify="left")
    last = motion.reports[-1]
    status = "converged" if motion.converged else f"stopped at step {len(motion.reports)}: {last.status}"
    table.add_row("motion", f"{result['steps']} steps of {dt}, {status}")
    table.add_row("speed", f"{result['steps'] / max(result['seconds'], 1e-9):,.0f} steps/s, {result['seconds']:.3g} s")
    table.add_row("Newton iterations", f"{sum(report.iterations for report in motion.reports)}")
    table.add_row("largest residual", f"{max(report.residual for report in motion.reports):.2e}")
    if result["min_gap"] is not None:
        table.add_row("smallest gap", f"{result['min_gap']:.3e} m")
    if result["detours"]:
        note = f"in {result['detours']} steps a body went around another: take smaller steps (--dt)"
        table.add_row("detours", note, style="yellow")
    table.add_row("replay", str(folder.file("replay.html")))
    Console(stderr=True, soft_wrap=True).print(table)
