# SPDX-License-Identifier: Apache-2.0
"""`farfield grains TASK`, `train SHAPES...` and `claims NAMES...`: two-dimensional grains of any shape."""

from __future__ import annotations

import argparse
import importlib

from farfield.commands.arguments import add_executor_argument, add_output_arguments, positive_float, positive_int, up_to
from farfield.optional import left_out, pyplot
from farfield.terminal import ProgressBar, Table, show

MOST_GRAINS = 1_000_000
BLOCK_TASKS = ("incline", "leaning", "triangle")
# Task -> module with build(**options) -> Scene, and the command-line options it knows.
COMMON = ("grains", "seconds", "friction", "seed")
SCENE_TASKS = {
    "column": ("farfield.grains.column", ("shape", "settle", *COMMON)),
    "silo": ("farfield.grains.silo", ("shape", "opening", "radius", "settle", *COMMON)),
    "packing": ("farfield.grains.packing", ("shape", *COMMON)),
    "drum": ("farfield.grains.drum", COMMON),
    "cereal": ("farfield.grains.cereal", COMMON),
    "chain": ("farfield.grains.chain", COMMON),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    tasks = ", ".join([*BLOCK_TASKS, *SCENE_TASKS])
    parser.add_argument("task", metavar="TASK", help=f"one of {tasks}; or train; or claims")
    parser.add_argument(
        "shapes",
        metavar="SHAPES",
        nargs="*",
        help="with train: library shapes, or .svg, .txt and .csv files of outlines; "
        "with claims: repose, jamming, packing (default: all)",
    )
    parser.add_argument("--shape", metavar="NAME", help="grain shape of the task; column and silo also take a file")
    parser.add_argument("--grains", type=up_to(MOST_GRAINS), metavar="N", help="number of grains, fixed ones included")
    parser.add_argument("--full", action="store_true", help="the published number of grains")
    parser.add_argument("--opening", type=positive_float, metavar="M", help="silo: width of the opening [m]")
    parser.add_argument("--radius", type=positive_float, metavar="M", help="silo: circumradius of the grains [m]")
    parser.add_argument("--seconds", type=positive_float, metavar="S", help="simulated time")
    parser.add_argument("--settle", type=positive_float, metavar="S", help="time before the lid or wall is removed")
    parser.add_argument("--friction", type=float, metavar="MU", help="friction coefficient")
    parser.add_argument("--seed", type=int, metavar="N", help="random start (default: 0)")
    parser.add_argument("--seeds", type=positive_int, default=5, metavar="N", help="claims: random starts (default: 5)")
    parser.add_argument("--threads", type=positive_int, metavar="N", help="default: FARFIELD_THREADS, or all cores")
    parser.add_argument(
        "--map", default="table", metavar="M", help="contact map: table, exact or network (default: table)"
    )
    parser.add_argument(
        "--theta", type=positive_int, default=128, metavar="N", help="table slices per turn (default: 128)"
    )
    parser.add_argument(
        "--space", type=positive_int, default=128, metavar="N", help="table nodes per axis (default: 128)"
    )
    parser.add_argument("--network", default="5x64", metavar="LxW", help="hidden layers and width (default: 5x64)")
    parser.add_argument("--training-steps", type=positive_int, default=25_000, metavar="N", help="default: 25000")
    parser.add_argument("--paper-network", action="store_true", help="ReLU on the raw angle, for replication")
    parser.add_argument("--labels", default="exact", metavar="L", help="exact, or paper for replication")
    parser.add_argument("--resume", action="store_true", help="continue the run of --out from its checkpoint")
    add_executor_argument(parser)
    parser.add_argument("--no-pictures", action="store_true", help="no PNG, animation and figure")
    add_output_arguments(parser)


def run(args: argparse.Namespace) -> int:
    if args.task == "train":
        return train(args)
    if args.task == "claims":
        return run_claims(args)
    if args.shapes:
        raise ValueError(f"shapes {' '.join(args.shapes)} are given, but only `train` takes a list of shapes")
    if args.task in BLOCK_TASKS:
        return run_block(args)
    if args.task not in SCENE_TASKS:
        known = ", ".join(["train", "claims", *BLOCK_TASKS, *SCENE_TASKS])
        raise ValueError(f"task '{args.task}' is unknown, expected one of: {known}")
    return run_scene_task(args)


def map_options(args: argparse.Namespace):
    from farfield.grains.maps import MapOptions

    layers, _, width = args.network.partition("x")
    if not (layers.isdecimal() and width.isdecimal()):
        raise ValueError(f"--network '{args.network}', expected layers x width such as 5x64")
    return MapOptions(
        back_end=args.map,
        theta=args.theta,
        space=args.space,
        labels=args.labels,
        layers=int(layers),
        width=int(width),
        steps=args.training_steps,
        paper_network=args.paper_network,
    )


class MapBar:
    """Progress of the maps of several pairs, one bar that names the pair."""

    def __init__(self, quiet: bool) -> None:
        self.bar = ProgressBar(unit="slice", quiet=quiet)

    def __call__(self, pair: str, done: int, total: int) -> None:
        self.bar.description, self.bar.total = f"contact map {pair}", total
        self.bar.update(done - self.bar.done)

    def close(self) -> None:
        self.bar.close()


def train(args: argparse.Namespace) -> int:
    """Build, audit and cache the maps of all pairs of the named shapes."""
    from farfield.grains import shape_named
    from farfield.grains.maps import cache_folder, pair_map
    from farfield.output import dump_json

    if not args.shapes:
        raise ValueError("train: no shapes, expected names such as: O U N")
    shapes = [shape_named(name) for name in dict.fromkeys(args.shapes)]
    options = map_options(args)
    bar, rows = MapBar(args.quiet), []
    for i, a in enumerate(shapes):
        for b in shapes[i:]:
            trained = pair_map(a, b, options, progress=lambda done, total, p=f"{a.name}-{b.name}": bar(p, done, total))
            audit = trained.audit
            row = {"a": a.name, "b": b.name, "map": trained.map.description, "cached": trained.cached}
            if audit is not None:
                row |= {
                    "rmse": audit.rmse,
                    "normal_median": audit.normal_median,
                    "normal_p90": audit.normal_p90,
                    "wrap_jump": audit.wrap_jump,
                    "file": str(trained.file),
                }
            rows.append(row)
    bar.close()
    if args.json:
        print(dump_json({"maps": rows, "folder": str(cache_folder())}))
    if not args.quiet:
        _print_table(
            f"{len(rows)} contact maps", rows, ("a", "b", "map", "rmse", "normal_median", "normal_p90", "cached")
        )
    return 0


def run_block(args: argparse.Namespace) -> int:
    from farfield.experiments.runs import RunDir
    from farfield.grains import blocks
    from farfield.output import dump_json

    total = 3 + blocks.BISECTIONS
    with ProgressBar(args.task, total, quiet=args.quiet) as bar:
        result, outcomes, test = blocks.run(args.task, bar.update)
    if args.out or not args.no_pictures:
        folder = RunDir.create(f"grains-{args.task}", options=_options(args), path=args.out)
        folder.write_json("result.json", result)
        folder.write_arrays({f"poses_mu_{o.mu:g}": o.poses for o in outcomes})
        for row in result["rows"]:
            folder.append_metrics(row)
        if not args.no_pictures:
            with left_out("pictures"):
                _block_pictures(folder, test, outcomes)
                _figure(folder, "figure.png", lambda axes: blocks.draw(test, outcomes, result, axes))
    if args.json:
        print(dump_json(result))
    if not args.quiet:
        title = f"{args.task}: critical mu {result['critical_mu']:.5f}, theory {result['theory_mu']:.5f}"
        _print_table(title, result["rows"], ("mu", "slides", "displacement", "speed"))
    return 0 if abs(result["relative_error"]) <= 0.03 else 1


def run_scene_task(args: argparse.Namespace) -> int:
    from farfield.experiments.runs import RunDir
    from farfield.grains.runner import run_scene
    from farfield.output import dump_json
    from farfield.threads import default_threads

    module, known = SCENE_TASKS[args.task]
    options = {key: getattr(args, key) for key in known if getattr(args, key) is not None}
    for key in ("shape", "opening", "radius", "grains", "settle", "friction"):
        if getattr(args, key) is not None and key not in known:
            raise ValueError(f"{args.task} has no option --{key}")
    builder = importlib.import_module(module)
    if args.full:
        if args.grains is not None:
            raise ValueError("--full and --grains are given, expected one of them")
        options["grains"] = builder.FULL
    if args.resume and not args.out:
        raise ValueError("--resume needs --out, the directory of the run to continue")
    bar = MapBar(args.quiet)
    scene = builder.build(**options, threads=args.threads or default_threads(), maps=map_options(args), progress=bar)
    bar.close()
    experiment = {**_options(args), "outlines": [f"{shape.hash:016x}" for shape in scene.system.shapes]}
    if args.resume:
        folder = _resumed(args.out, experiment)
    else:
        folder = RunDir.create(f"grains-{args.task}", options=experiment, seed=args.seed, path=args.out)
    done = run_scene(scene, folder, quiet=args.quiet, resume=args.resume)
    result = {
        "task": args.task,
        **scene.finish(done.rows, done.frames),
        "steps": done.total_steps,
        "dt": scene.system.dt,
        "time": scene.system.time,
        "seconds": done.seconds,
        "steps_per_second": done.steps / done.seconds if done.seconds > 0 else None,
        "finite": done.finite,
        "interrupted": done.interrupted,
        "energy": {key: done.rows[-1][key] for key in ("kinetic", "gravitational", "elastic")},
        "deepest": max(row["deepest"] for row in done.rows),
        "contacts": done.rows[-1]["contacts"],
        **scene.system.counters(),
        "run": str(folder.path),
    }
    folder.write_json("result.json", result)
    folder.write_arrays({"frames": done.frames})
    if not args.no_pictures:
        with left_out("pictures"):
            _scene_pictures(folder, scene, done, result)
    if args.json:
        print(dump_json(result))
    if not args.quiet:
        _print_table(args.task, [{"what": k, "value": v} for k, v in result.items()], ("what", "value"))
    if done.interrupted:
        raise KeyboardInterrupt
    return 0 if done.finite else 1


def _resumed(path: str, experiment: dict):
    """The directory of a run that was started with the same options; threads, pictures and places may differ."""
    from farfield.experiments.runs import RunDir
    from farfield.output import clean_json

    folder = RunDir.open(path).lock()
    kept, given = folder.config["options"], clean_json(experiment)
    free = {"threads", "no_pictures", "out", "shapes", "seeds"}
    differing = [key for key in {**kept, **given} if key not in free and kept.get(key) != given.get(key)]
    if differing:
        told = [f"{key} {kept.get(key)!r}, now {given.get(key)!r}" for key in differing]
        raise ValueError(f"{folder.path}: was started with {'; '.join(told)}; give the same options to resume")
    return folder


def run_claims(args: argparse.Namespace) -> int:
    """Published claims about shape over several random starts; runs already in --out are kept."""
    from farfield.executors import open_executor
    from farfield.experiments.runs import RunDir
    from farfield.grains import claims
    from farfield.output import dump_json
    from farfield.threads import default_threads

    names = args.shapes or list(claims.CLAIMS)
    unknown = [name for name in names if name not in claims.CLAIMS]
    if unknown:
        raise ValueError(f"claim '{unknown[0]}' is unknown, expected one of: {', '.join(claims.CLAIMS)}")
    folder = RunDir.create("grains-claims", options=_options(args), path=args.out)
    maps = map_options(args)
    total = args.seeds * sum(len(claims.CLAIMS[name].variants) for name in names)
    results = {}
    with (
        open_executor(args.executor) as executor,
        ProgressBar("claims", total, unit="run", quiet=args.quiet, keep=True) as bar,
    ):

        def told(text: str) -> None:
            bar.note = text
            bar.update()

        for name in names:
            results[name] = claims.run(
                name,
                folder.path,
                grains=args.grains,
                seeds=args.seeds,
                threads=args.threads or (default_threads() if executor is None else 1),
                maps=maps,
                progress=told,
                executor=executor,
            )
            folder.write_json(f"{name}.json", results[name])
            if not args.no_pictures:
                with left_out(f"{name}.png"):
                    _figure(folder, f"{name}.png", lambda axes, name=name: claims.draw(name, results[name], axes))
    if args.json:
        print(dump_json({"claims": results, "run": str(folder.path)}))
    if not args.quiet:
        for result in results.values():
            verdict = "holds" if result["holds"] else "in the means only" if result["in_means"] else "does not hold"
            keys = [key for key in ("variant", "runs", "mean", "deviation", "jammed") if key in result["rows"][0]]
            _print_table(f"{result['claim']}: {verdict}", result["rows"], tuple(keys))
    return 0


def _figure(folder, name: str, draw) -> None:
    plt = pyplot()

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    draw(axes)
    with folder.atomic(name) as temporary:
        figure.savefig(temporary, dpi=120, format="png")
    plt.close(figure)


def _options(args: argparse.Namespace) -> dict:
    return {
        key: value for key, value in vars(args).items() if key not in ("run", "json", "quiet", "resume", "executor")
    }


def _scene_pictures(folder, scene, done, result) -> None:
    from farfield.grains.draw import Picture, write_gif, write_png

    system = scene.system
    walls = [system.wall(k) for k in range(len(system.state()["walls"]))]
    window = _window(scene.view, done.frames[-1][scene.moving])
    picture = Picture(system.shapes, system.shape_index, scene.moving, walls, window)
    write_png(folder.file("final.png"), picture, done.frames[-1])
    small = Picture(system.shapes, system.shape_index, scene.moving, walls, scene.view, width=420)
    write_gif(folder.file("animation.gif"), small, done.frames)
    if scene.figure is not None:
        _figure(folder, "figure.png", lambda axes: scene.figure(done.rows, result, axes))


def _window(view, poses, margin: float = 3.0):
    """The part of a view that holds grains."""
    (left, right), (bottom, top) = view
    inside = (poses[:, 0] > left) & (poses[:, 0] < right) & (poses[:, 1] > bottom) & (poses[:, 1] < top)
    if not inside.any():
        return view
    low, high = poses[inside, :2].min(axis=0) - margin, poses[inside, :2].max(axis=0) + margin
    return (max(left, low[0]), min(right, high[0])), (max(bottom, low[1]), min(top, high[1]))


def _block_pictures(folder, test, outcomes) -> None:
    import numpy as np

    from farfield.grains.draw import Picture, write_gif, write_png

    system = test.build(outcomes[0].mu)
    walls = [system.wall(k) for k in range(len(system.state()["walls"]))]
    longest = max(len(o.poses) for o in outcomes)
    # The three blocks in one picture, in different colours.
    frames = np.stack(
        [np.vstack([o.poses, np.repeat(o.poses[-1:], longest - len(o.poses), axis=0)]) for o in outcomes], 1
    )
    low, high = frames[..., :2].min(axis=(0, 1)) - 1.0, frames[..., :2].max(axis=(0, 1)) + 1.0
    view = ((float(low[0]), float(high[0])), (float(low[1]), float(high[1])))
    count = len(outcomes)
    picture = Picture(system.shapes * count, np.arange(count), np.ones(count, dtype=bool), walls, view, width=600)
    write_png(folder.file("final.png"), picture, frames[-1])
    write_gif(folder.file("animation.gif"), picture, frames)


def _print_table(title: str, rows: list[dict], columns: tuple[str, ...]) -> None:
    table = Table(title, [column.replace("_", " ") for column in columns])
    for row in rows:
        values = (row.get(column, "") for column in columns)
        table.row(*(f"{value:.4g}" if isinstance(value, float) else str(value) for value in values))
    show(table)
