# SPDX-License-Identifier: Apache-2.0
"""`farfield doctor`: ten lines on what is installed and whether it works, to paste into a report."""

from __future__ import annotations

import argparse

OPTIONAL = {
    "viewer": ("viser", "matplotlib", "imageio_ffmpeg"),
    "meshes": ("trimesh", "pycollada", "coacd", "fast_simplification", "svgelements"),
    "tasks": ("scipy",),
    "search": ("cma",),
    "torch": ("torch",),
    "jax": ("jax", "jaxlib"),
    "gym": ("gymnasium",),
    "ray": ("ray",),
}
TOLERANCE = 1e-6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    from farfield.output import dump_json

    report = examine()
    if args.json:
        print(dump_json(report))
    else:
        print("\n".join(lines(report)))
    return 0 if report["ok"] else 1


def examine() -> dict:
    """Everything that the lines tell."""
    import os
    import platform
    import sys

    import numpy as np

    import farfield as ff
    from farfield._core import _build_info
    from farfield.experiments.runs import environment
    from farfield.threads import default_threads

    about = environment()
    gradient = gradient_check()
    return {
        "ok": gradient["ok"],
        "farfield": ff.__version__,
        "commit": about["commit"],
        "core": ff._core.__file__,
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": about["platform"],
        "cpu": about["cpu"],
        "cores": os.cpu_count(),
        "threads": default_threads(),
        "threads_variable": os.environ.get("FARFIELD_THREADS"),
        "simd": _build_info()["simd"],
        "numpy": np.__version__,
        "mujoco": version("mujoco"),
        "optional": {extra: {name: version(name) for name in names} for extra, names in OPTIONAL.items()},
        "gradient": gradient,
    }


def version(package: str) -> str | None:
    """Of an installed package; it is not imported."""
    import importlib.metadata

    for name in (package, package.replace("_", "-")):
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


def gradient_check() -> dict:
    """A box slides on the ground: the derivative of where it stops by how fast it starts, against differences."""
    import time

    import numpy as np

    import farfield as ff
    from farfield.differences import slope

    scene = ff.Scene(name="doctor")
    scene.add_shape(0, name="ground", type="HalfSpace")
    scene.add_body(name="box", position=[0.0, 0.0, 0.101])
    scene.add_joint("box", name="box", type="Free")
    scene.add_shape("box", name="box", type="Box", size=[0.1, 0.1, 0.1])
    model = ff.build_model(scene)
    parameters, start = model.default_parameters(), model.default_state()

    def roll(h: float) -> ff.Trajectory:
        v = np.zeros(model.num_dofs)
        v[0] = 1.0 + h
        return ff.rollout(model, parameters, ff.State(q=start.q, v=v), np.zeros((20, 0)), tolerance=1e-12)

    began = time.perf_counter()
    trajectory = roll(0.0)
    by_pose = np.zeros((21, model.num_bodies, 6))
    by_pose[-1, model.body("box"), 0] = 1.0
    analytic = float(ff.rollout_vjp(trajectory, dL_dpose=by_pose).v0[0])
    numeric = slope(lambda h: float(roll(h).poses()[-1, model.body("box"), 0]), [1e-2, 3e-3, 1e-3, 3e-4])
    error = abs(numeric.value - analytic) / abs(numeric.value)
    ok = bool(trajectory.converged and error <= TOLERANCE)
    seconds = time.perf_counter() - began
    return {"ok": ok, "analytic": analytic, "differences": numeric.value, "relative_error": error, "seconds": seconds}


def lines(report: dict) -> list[str]:
    """Ten of them."""
    gradient = report["gradient"]
    told = {
        name: ", ".join(f"{package} {found}" for package, found in parts.items() if found) or "not installed"
        for name, parts in report["optional"].items()
    }
    variable = f"FARFIELD_THREADS={report['threads_variable']}" if report["threads_variable"] else "all cores"
    rows = {
        "farfield": f"{report['farfield']}, commit {report['commit'] or 'unknown'}",
        "core": report["core"],
        "python": f"{report['python']}, {report['executable']}",
        "machine": f"{report['platform']}; {report['cpu']}",
        "simd, threads": f"{report['simd']}; {report['threads']} of {report['cores']} cores ({variable})",
        "needed": f"numpy {report['numpy']}, mujoco {report['mujoco'] or 'MISSING'}",
        "viewer, meshes": f"{told['viewer']}; {told['meshes']}",
        "learning": f"[torch] {told['torch']}; [jax] {told['jax']}; [gym] {told['gym']}; [tasks] {told['tasks']}; [search] {told['search']}; [ray] {told['ray']}",
        "gradient": f"analytic {gradient['analytic']:.9g}, differences {gradient['differences']:.9g}, "
        f"relative error {gradient['relative_error']:.1e}, {gradient['seconds']:.2f} s",
        "verdict": "works" if report["ok"] else f"FAILED: the gradient is off by more than {TOLERANCE:g}",
    }
    return [f"{name:16s}{text}" for name, text in rows.items()]
