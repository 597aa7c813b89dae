# SPDX-License-Identifier: Apache-2.0
"""`farfield demo`: throw an ant, check the gradient of its flight against finite differences, write the replay."""

from __future__ import annotations

import argparse
import importlib.resources
import time

from farfield.commands.arguments import add_output_arguments

STEPS, DT = 100, 0.01
TOLERANCE = 1e-6  # relative, as for every 100-step rollout on a smooth scene
DIRECTIONS = 4
LANDING = (1.5, 0.5, 0.6)  # where the torso should be at the end [m]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="random throw and directions (default: 0)")
    add_output_arguments(parser)


def run(args: argparse.Namespace) -> int:
    import numpy as np

    import farfield as ff
    from farfield.runs import RunDir, dump_json
    from farfield.viewer.recording import Marker, record, save_recording
    from farfield.viewer.replay import write_replay
    from farfield.viewer.still import render_png

    with importlib.resources.as_file(importlib.resources.files("farfield") / "assets" / "ant.xml") as file:
        model, parameters = ff.load(file)
    generator = np.random.default_rng(args.seed)
    start = model.default_state()
    v0 = throw(np.asarray(start.v, dtype=float), generator)
    controls = 0.5 * generator.standard_normal((STEPS, model.num_controls))
    torso = list(model.body_names).index("torso")

    def fly(velocity, inputs):
        state = ff.State(q=start.q, v=velocity)
        return ff.rollout(model, parameters, state, inputs, dt=DT, contact=None)

    def loss_of(trajectory) -> float:
        return 0.5 * float(((trajectory.poses()[-1, torso, :3] - np.array(LANDING)) ** 2).sum())

    started = time.perf_counter()
    trajectory = fly(v0, controls)
    forward = time.perf_counter() - started
    dL_dpose = np.zeros((STEPS + 1, model.num_bodies, 6))
    dL_dpose[-1, torso, :3] = trajectory.poses()[-1, torso, :3] - np.array(LANDING)
    started = time.perf_counter()
    gradient = ff.rollout_vjp(trajectory, dL_dpose=dL_dpose)
    backward = time.perf_counter() - started

    errors = {
        "velocity": worst_error(lambda x: loss_of(fly(x, controls)), v0, np.asarray(gradient.v0), generator),
        "controls": worst_error(lambda x: loss_of(fly(v0, x)), controls, np.asarray(gradient.controls), generator),
    }
    result = {
        "steps": STEPS,
        "converged": bool(trajectory.converged),
        "loss": loss_of(trajectory),
        "gradient_norm": float(np.linalg.norm(gradient.v0)),
        "errors": errors,
        "tolerance": TOLERANCE,
        "passed": bool(trajectory.converged) and all(error < TOLERANCE for error in errors.values()),
        "forward_seconds": forward,
        "backward_seconds": backward,
    }
    options = {"steps": STEPS, "dt": DT, "landing": LANDING}
    folder = RunDir.create("demo-ant", options=options, seed=args.seed, path=args.out)
    poses = trajectory.poses()
    extras = {"trails": {"torso": poses[:, torso, :3]}, "markers": [Marker("landing", LANDING, 0.1)]}
    recording = record(model, poses, dt=DT, **extras)
    folder.write_arrays({"q": trajectory.q, "v": trajectory.v, "poses": poses, "controls": controls})
    save_recording(folder.file("recording.npz"), recording)
    write_replay(folder.file("replay.html"), recording, title="A thrown ant")
    render_png(recording, folder.file("picture.png"))
    folder.write_json("result.json", result)
    if args.json:
        print(dump_json({**result, "run_dir": folder.path}))
    if not args.quiet:
        _print_summary(result, folder)
    return 0 if result["passed"] else 1


def throw(v, generator):
    """Forward, upward and spinning; every joint with a random swing."""
    v = 0.8 * generator.standard_normal(v.shape)
    v[:3] = [1.6, 0.4, 4.6]
    return v


def worst_error(function, x, gradient, generator) -> float:
    """Largest relative error of a gradient over random directions, by central differences.

    Each direction tries a ladder of steps and two neighbouring ones have to agree, so that a lucky crossing of rounding
    and truncation does not pass.
    """
    import numpy as np

    worst = 0.0
    scale = max(1.0, float(np.abs(x).max()))
    for _ in range(DIRECTIONS):
        direction = generator.standard_normal(x.shape)
        direction /= np.linalg.norm(direction)
        analytic = float((gradient * direction).sum())
        best, previous = 1.0, 1.0
        for exponent in range(1, 8):
            h = scale * 10.0**-exponent
            numeric = (function(x + h * direction) - function(x - h * direction)) / (2 * h)
            error = abs(numeric - analytic) / (abs(numeric) + abs(analytic) + 1e-12)
            best = min(best, max(error, previous))
            previous = error if np.isfinite(error) else 1.0
        worst = max(worst, best)
    return worst


def _print_summary(result: dict, folder) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="A thrown ant: the gradient of its flight", show_header=False, title_justify="left")
    table.add_row("flight", f"{result['steps']} steps of {DT:g} s, {'converged' if result['converged'] else 'failed'}")
    table.add_row("loss, gradient norm", f"{result['loss']:.6g}, {result['gradient_norm']:.6g}")
    for name, error in result["errors"].items():
        verdict = "ok" if error < TOLERANCE else "FAILED"
        table.add_row(f"gradient by {name}", f"relative error {error:.1e} against finite differences: {verdict}")
    table.add_row("time", f"{1e3 * result['forward_seconds']:.3g} ms forward, {1e3 * result['backward_seconds']:.3g} ms gradient")
    table.add_row("replay (open in a browser)", str(folder.file("replay.html")))
    table.add_row("picture", str(folder.file("picture.png")))
    table.add_row("interactive", f"farfield view {folder.path}")
    Console(stderr=True, soft_wrap=True).print(table)
