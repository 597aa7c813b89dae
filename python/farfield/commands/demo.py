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
LANDING = (2.6, -0.4, 0.4)  # where the torso should be at the end [m]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="random throw and directions (default: 0)")
    add_output_arguments(parser)


def run(args: argparse.Namespace) -> int:
    import numpy as np

    import farfield as ff
    from farfield.runs import RunDir, dump_json

    with importlib.resources.as_file(importlib.resources.files("farfield") / "assets" / "ant.xml") as file:
        model, parameters = ff.load(file)
    generator = np.random.default_rng(args.seed)
    start = model.default_state()
    v0 = throw(np.shape(start.v), generator)
    controls = 0.5 * generator.standard_normal((STEPS, model.num_controls))

    def fly(velocity, inputs):
        return ff.rollout(model, parameters, ff.State(q=start.q, v=velocity), inputs, dt=DT, tolerance=1e-11)

    options = {"steps": STEPS, "dt": DT, "landing": LANDING}
    folder = RunDir.create("demo-ant", options=options, seed=args.seed, path=args.out)
    started = time.perf_counter()
    trajectory = fly(v0, controls)
    result = {
        "steps": len(trajectory.q) - 1,
        "converged": bool(trajectory.converged),
        "forward_seconds": time.perf_counter() - started,
        "tolerance": TOLERANCE,
        "passed": False,
    }
    if trajectory.converged:
        result |= check_gradient(fly, trajectory, v0, controls, list(model.body_names).index("torso"), generator)
        result["passed"] = all(error < TOLERANCE for error in result["errors"].values())
    write_results(folder, model, trajectory, controls)
    folder.write_json("result.json", result)
    if args.json:
        print(dump_json({**result, "run_dir": folder.path}))
    if not args.quiet:
        _print_summary(result, folder)
    return 0 if result["passed"] else 1


def check_gradient(fly, trajectory, v0, controls, torso: int, generator) -> dict:
    """Loss of the landing, its gradient, and the gradient's errors against finite differences."""
    import numpy as np

    import farfield as ff

    def miss(flight):
        return flight.poses()[-1, torso, :3] - np.array(LANDING)

    def loss(flight) -> float:
        return 0.5 * float((miss(flight) ** 2).sum())

    dL_dpose = np.zeros((*trajectory.poses().shape[:2], 6))
    dL_dpose[-1, torso, :3] = miss(trajectory)
    started = time.perf_counter()
    gradient = ff.rollout_vjp(trajectory, dL_dpose=dL_dpose)
    seconds = time.perf_counter() - started
    return {
        "loss": loss(trajectory),
        "gradient_norm": float(np.linalg.norm(gradient.v0)),
        "backward_seconds": seconds,
        "errors": {
            "velocity": worst_error(lambda x: loss(fly(x, controls)), v0, np.asarray(gradient.v0), generator),
            "controls": worst_error(lambda x: loss(fly(v0, x)), controls, np.asarray(gradient.controls), generator),
        },
    }


def write_results(folder, model, trajectory, controls) -> None:
    """Arrays, recording, replay and picture of the flight."""
    from farfield.viewer.recording import Marker, record, save_recording
    from farfield.viewer.replay import write_replay
    from farfield.viewer.still import render_png

    poses = trajectory.poses()
    torso = list(model.body_names).index("torso")
    trails = {"torso path": poses[:, torso, :3]}
    recording = record(model, poses, dt=DT, trails=trails, markers=[Marker("landing", LANDING, 0.1)])
    folder.write_arrays({"q": trajectory.q, "v": trajectory.v, "poses": poses, "controls": controls})
    save_recording(folder.file("recording.npz"), recording)
    write_replay(folder.file("replay.html"), recording, title="A thrown ant")
    render_png(recording, folder.file("picture.png"))


def throw(shape, generator):
    """Initial velocity: forward, upward and spinning; every joint with a random swing."""
    v = 0.8 * generator.standard_normal(shape)
    v[:3] = [1.6, 0.4, 4.6]
    return v


def worst_error(function, x, gradient, generator) -> float:
    """Largest relative error of a gradient over random directions."""
    import numpy as np

    from farfield.differences import slope

    worst = 0.0
    for _ in range(DIRECTIONS):
        direction = generator.standard_normal(x.shape)
        direction /= np.linalg.norm(direction)
        numeric = slope(lambda h, d=direction: function(x + h * d))
        worst = max(worst, numeric.relative_error(float((gradient * direction).sum())))
    return worst


def _print_summary(result: dict, folder) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="A thrown ant: the gradient of its flight", show_header=False, title_justify="left")
    status = "converged" if result["converged"] else "did not converge"
    table.add_row("flight", f"{result['steps']} steps of {DT:g} s, {status}, {1e3 * result['forward_seconds']:.3g} ms")
    if result["converged"]:
        table.add_row("loss", f"{result['loss']:.6g}")
        table.add_row("gradient", f"norm {result['gradient_norm']:.6g}, {1e3 * result['backward_seconds']:.3g} ms")
        for name, error in result["errors"].items():
            verdict = "ok" if error < TOLERANCE else "FAILED"
            table.add_row(f"  by {name}", f"relative error {error:.1e} against finite differences: {verdict}")
    table.add_row("replay", f"{folder.file('replay.html')}  (open in a browser)")
    table.add_row("picture", str(folder.file("picture.png")))
    table.add_row("interactive", f"farfield view {folder.path}")
    Console(stderr=True, soft_wrap=True).print(table)
