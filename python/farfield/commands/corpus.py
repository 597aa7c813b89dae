# SPDX-License-Identifier: Apache-2.0
"""`farfield corpus`: of robots, one row for every robot file found in installed packages and named folders."""

from __future__ import annotations

import argparse
from pathlib import Path

from farfield.commands.arguments import (
    add_collision_arguments,
    add_contact_argument,
    add_output_arguments,
    positive_float,
    positive_int,
)
from farfield.commands.corpus_rows import collect


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from farfield.commands import corpus_gradients, corpus_rigid

    kinds = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    robots = kinds.add_parser("robots", help="robot files found in installed packages and named folders")
    add_robot_arguments(robots)
    robots.set_defaults(run=run)
    rigid = kinds.add_parser("rigid", help="hard scenes of rigid bodies and mechanisms")
    corpus_rigid.add_arguments(rigid)
    rigid.set_defaults(run=corpus_rigid.run)
    gradients = kinds.add_parser("gradients", help="gradcheck on scenes of every kind")
    corpus_gradients.add_arguments(gradients)
    gradients.set_defaults(run=corpus_gradients.run)


def add_robot_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--folder", action="append", default=[], metavar="DIR", help="look here instead of in packages; repeatable"
    )
    parser.add_argument("--match", metavar="TEXT", help="only files whose path contains this")
    parser.add_argument("--steps", type=positive_int, default=200, metavar="N", help="of every robot (default: 200)")
    parser.add_argument("--dt", type=positive_float, default=5e-3, metavar="S", help="time step (default: 0.005 s)")
    parser.add_argument(
        "--seconds", type=positive_float, default=300.0, metavar="S", help="longest time for one file (default: 300)"
    )
    add_collision_arguments(parser)
    add_contact_argument(parser, default="longrange")
    add_output_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from farfield.experiments import corpus
    from farfield.experiments.runs import RunDir

    plan = corpus.Plan(
        steps=args.steps,
        dt=args.dt,
        contact=args.contact,
        collision=args.collision,
        self_contact=args.self_contact,
        seconds=args.seconds,
    )
    for folder in args.folder:
        if not Path(folder).is_dir():
            raise ValueError(f"--folder {folder}: no such folder")
    files = corpus.find_robots([Path(folder) for folder in args.folder] or corpus.package_folders())
    files = [path for path in files if args.match is None or args.match in str(path)]
    if not files:
        raise ValueError(f"no robot files found, expected some in a folder or in {', '.join(corpus.PACKAGES)}")
    folder = RunDir.create("corpus", options={**plan.options(), "files": len(files)}, path=args.out)
    summary = collect(
        folder,
        (corpus.run_apart(plan, path) for path in files),
        args,
        options=plan.options(),
        as_line=as_line,
        summarize=corpus.summarize,
    )
    return 0 if summary["ran"] == summary["files"] else 1


def as_line(row: dict) -> str:
    """A row in one line of text."""
    name = "/".join(Path(row["file"]).parts[-2:])
    if not row["loaded"]:
        return f"{name}: refused: {row.get('problem')}"
    size = f"{row['dofs']} dofs, {row['pairs']} pairs, {row['triangles']:,} triangles"
    if not row["started"]:
        return f"{name}: {size}: did not start: {row.get('problem')}"
    speed = f"{row['steps']} steps, median {row['median_ms']:.3g} ms, worst {row['worst_ms']:.3g} ms"
    if row.get("mujoco_ms"):
        speed += f" (MuJoCo {row['mujoco_ms']:.2g})"
    if row.get("gradient_error") is not None:
        speed += f", gradient {row['gradient_error']:.1e}"
    problem = row.get("problem") or (row["status"] if row["status"] != "converged" else "")
    return f"{name}: {size}: {speed}{f': {problem}' if problem else ''}"
