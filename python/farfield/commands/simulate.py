# SPDX-License-Identifier: Apache-2.0
"""`farfield simulate`: roll out any robot or scene file, with a replay and a certificate."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from farfield.commands.arguments import (
    add_collision_arguments,
    add_contact_argument,
    add_import_arguments,
    add_output_arguments,
    add_step_arguments,
    chosen_contact,
    import_options,
    positive_float,
    positive_int,
    settled_start,
    start_state,
)
from farfield.commands.inspect import exclusion_lines, time_step
from farfield.optional import left_out
from farfield.terminal import ProgressBar, Table, show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="MJCF or URDF file")
    parser.add_argument("--steps", type=positive_int, default=200, metavar="N", help="time steps (default: 200)")
    parser.add_argument("--dt", type=positive_float, metavar="S", help="time step (default: the file's, or 0.01 s)")
    parser.add_argument("--key", metavar="NAME", help="keyframe to start from (default: the file's own pose)")
    add_collision_arguments(parser)
    add_contact_argument(parser, default="longrange")
    add_step_arguments(parser)
    add_import_arguments(parser)
    parser.add_argument(
        "--trace", action="store_true", help="print every iteration of Newton's method, and the pair that limits it"
    )
    add_output_arguments(parser)


def run(args: argparse.Namespace) -> int:
    import farfield as ff
    from farfield.commands.far_forces import far_force_warnings
    from farfield.experiments.runs import TRAJECTORY, RunDir
    from farfield.output import dump_json
    from farfield.reading import blamed_on
    from farfield.stopping import shielded
    from farfield.viewer.recording import record
    from farfield.viewer.replay import write_replay

    contact = chosen_contact(args)
    model = _import(args)
    parameters = model.default_parameters()
    dt = args.dt or model.default_dt
    if contact is None and model.contact_pairs:
        print(
            "warning: contact is off, bodies pass through each other",
            file=sys.stderr,
        )
    state, control = start_state(model, args.key)
    with blamed_on(args.file):
        state = settled_start(model, parameters, state, contact)

    def warn_of_far_forces(when: str, q) -> None:
        for warning in far_force_warnings(model, parameters, contact, q):
            print(f"warning: at the {when}, {warning}", file=sys.stderr)

    warn_of_far_forces("start", state.q)
    name = Path(args.file).stem
    folder = RunDir.create(f"simulate-{name}", options={**_options(args), "dt": dt}, path=args.out)

    given = {"tolerance": args.tolerance, "max_iterations": args.max_iterations, "threads": args.threads}
    options = {name: value for name, value in given.items() if value is not None}
    simulation = ff.Simulation(model, parameters, contact=contact, dt=dt, state=state, **options)
    started = time.perf_counter()
    simulation.set_trace(args.trace)
    after_step = TracePrinter(model.body_names, sys.stderr if args.json else sys.stdout) if args.trace else None
    motion, interrupted = roll(simulation, control, args.steps, quiet=args.quiet or args.trace, after_step=after_step)
    seconds = time.perf_counter() - started
    with shielded():
        ff.save_trajectory(folder.file(TRAJECTORY), motion)
    warn_of_far_forces("end", motion.q[-1])
    recording = record(model, motion.poses(), dt=dt)
    with left_out("replay.html"):
        write_replay(folder.file("replay.html"), recording, title=name)
    result = summary(model, motion, seconds, dt=dt, with_contact=contact is not None)
    folder.write_json("result.json", result)
    if args.json:
        print(dump_json(result))
    if not args.quiet:
        origin = f"{dt:g} s" if args.dt else time_step(dt, stated=model.scene.dt is not None)
        _print_summary(args.file, result, motion, origin, folder)
    if after_step:
        print(after_step.summary(), file=after_step.file)
    if interrupted:
        raise KeyboardInterrupt
    return 0 if motion.converged else 1


def _import(args: argparse.Namespace):
    """The model of the file; what became of the file is told on standard error."""
    import farfield as ff
    from farfield.importers import import_file
    from farfield.reading import blamed_on

    with blamed_on(args.file):
        imported = import_file(
            args.file, collision=args.collision, self_contact=args.self_contact, **import_options(args)
        )
        imported.scene.warnings = imported.warnings
        model = ff.build_model(imported.scene)
    for warning in model.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if not args.quiet:
        for note in imported.notes:
            if note.kind == "approximated" and note.text not in imported.warnings:
                print(f"approximated: {note.text}", file=sys.stderr)
        for line in exclusion_lines(model.excluded_pairs):
            print(f"no contact: {line}", file=sys.stderr)
    return model


def _options(args: argparse.Namespace) -> dict:
    return {key: value for key, value in vars(args).items() if key not in ("run", "json", "quiet")}


def roll(simulation, control, steps: int, *, quiet: bool = False, after_step=None):
    """The motion under a constant control, with a progress bar, and whether a request to stop ended it. Stops at the first step that does not converge.

    after_step(simulation) is called after every step.
    """
    import numpy as np

    import farfield as ff
    from farfield.stopping import stop_requests

    control = np.asarray(control, dtype=float)
    states, reports, cuts, interrupted = [simulation.state], [], [], False
    with (
        stop_requests("this step") as stopped,
        ProgressBar("simulate", steps, unit="step", quiet=quiet) as bar,
    ):
        try:
            while len(reports) < steps and (not reports or reports[-1].status == "converged"):
                interrupted = stopped()
                if interrupted:
                    break
                reports.append(simulation.step(control))
                states.append(simulation.state)
                cuts += simulation.last_cuts
                bar.update()
                if after_step:
                    after_step(simulation)
        except KeyboardInterrupt:
            interrupted = True
    motion = ff.Trajectory.from_states(
        simulation.model,
        simulation.parameters,
        np.array([state.q for state in states[: len(reports) + 1]]),
        np.array([state.v for state in states[: len(reports) + 1]]),
        np.tile(control, (len(reports), 1)),
        options=simulation.options,
        contact=simulation.contact,
        reports=reports,
        cuts=[cut for cut in cuts if cut.step < len(reports)],
    )
    return motion, interrupted


def summary(model, motion, seconds: float, *, dt: float, with_contact: bool) -> dict:
    """The JSON result: steps, dt [s], converged, seconds, min_gap [m], detours, steps that were cut, contact evaluations per step,
    pairs left out of contact and the final pose of every body."""
    final = motion.poses()[-1]
    return {
        "steps": motion.num_steps,
        "dt": dt,
        "converged": motion.converged,
        "seconds": seconds,
        "min_gap": motion.min_gap if with_contact and motion.num_steps else None,
        "detours": sum(report.detour for report in motion.reports),
        "cut_steps": sum(report.pieces > 1 for report in motion.reports),
        "most_pieces": max((report.pieces for report in motion.reports), default=1),
        "contact_evaluations": sum(report.contact_evaluations for report in motion.reports),
        "excluded_pairs": model.excluded_pairs,
        "final": {
            name: {"pos": final[body, :3], "quat": final[body, 3:]} for body, name in enumerate(model.body_names)
        },
    }


def why_stopped(model, report) -> str:
    """What a step that did not converge says, with the names of bodies."""
    if report.squeezed is None:
        return report.status
    body, a, b = (model.body_names[index] for index in report.squeezed)
    return f"'{body}' is squeezed between '{a}' and '{b}'"


class TracePrinter:
    """Prints the iterations of every step, and at the end which pairs of bodies limited them most."""

    def __init__(self, body_names, file) -> None:
        self.body_names, self.file = body_names, file
        self.limits: Counter[str] = Counter()
        self.iterations = 0

    def __call__(self, simulation) -> None:
        report, trace = simulation.last_report, simulation.last_trace
        print(
            f"step {simulation.num_steps}: {report.status}, {report.iterations} iterations, "
            f"{report.contact_evaluations} contact evaluations, {report.pieces} pieces",
            file=self.file,
        )
        print("   piece           residual    excess     slope    free  taken  limited by", file=self.file)
        for one in trace:
            pair = ""
            if one.limiting is not None:
                pair = " - ".join(self.body_names[body] for body in one.limiting)
                self.limits[pair] += 1
            piece = f"{one.begin:.4g} + {one.length:.4g}"
            print(
                f"   {piece:<15} {one.residual:8.1e}  {one.excess:8.1e}  {one.slope:8.1e}  "
                f"{one.way:6.3g} {one.alpha:6.3g}  {pair}".rstrip(),
                file=self.file,
            )
        self.iterations += len(trace)

    def summary(self) -> str:
        lines = [f"{self.iterations} iterations, {sum(self.limits.values())} of them limited by a pair of bodies"]
        lines += [f"   {count:5d}  {pair}" for pair, count in self.limits.most_common(5)]
        return "\n".join(lines)


def _print_summary(file: str, result: dict, motion, dt: str, folder) -> None:
    table = Table(f"simulate {file}")
    status = (
        "converged"
        if motion.converged
        else f"stopped at step {len(motion.reports)}: {why_stopped(motion.model, motion.reports[-1])}"
    )
    table.row("motion", f"{result['steps']} steps of {dt}, {status}")
    table.row("speed", f"{result['steps'] / max(result['seconds'], 1e-9):,.0f} steps/s, {result['seconds']:.3g} s")
    table.row("Newton iterations", f"{sum(report.iterations for report in motion.reports)}")
    table.row("largest residual", f"{max(report.residual for report in motion.reports):.2e}")
    if result["min_gap"] is not None:
        table.row("smallest gap", f"{result['min_gap']:.3e} m")
    if result["detours"]:
        note = f"in {result['detours']} steps a body went around another: take smaller steps (--dt)"
        table.row("detours", note)
    if result["cut_steps"]:
        note = f"{result['cut_steps']} steps were taken in pieces, at most {result['most_pieces']}"
        table.row("cut steps", note)
    replay = folder.file("replay.html")
    table.row("replay", str(replay) if replay.is_file() else "none: pip install farfield[viewer]")
    show(table)
