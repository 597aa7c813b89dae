#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Result hashes and losses of tasks, scenes, benchmarks and test scenes: did a change of the code change a result?

regression.py record           runs every case and writes tests/regression.json
regression.py check            runs every case and compares: same bits, or how far the figures have moved
regression.py check NAME...    only the cases whose name contains one of the words

Bits are those of one SIMD target and compiler, which the file names; where they differ, the figures tell by how much. On another target
or compiler bits mean nothing: there a case is the same when its figures agree to `TOLERANCE`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "tests" / "regression.json"
TOLERANCE = 1e-6  # relative, of figures on another target

TASKS = {
    "push": ["--set", "frames=20"],
    "push, ipc": ["--set", "frames=20", "--contact", "ipc"],
    "push, polyhedral": ["--set", "frames=20", "--contact", "polyhedral"],
    "push, bundle": ["--set", "frames=3", "--set", "first_iterations=2", "--iterations", "1", "--method", "bundle"],
    "push, mujoco-fd": [
        "--set",
        "frames=3",
        "--set",
        "first_iterations=2",
        "--iterations",
        "1",
        "--method",
        "mujoco-fd",
    ],
    "billiards": ["--set", "start=single", "--iterations", "2"],
    "gather": ["--iterations", "1", "--set", "frames=6"],
    "sort": ["--iterations", "1", "--set", "frames=6"],
    "ant-push": ["--iterations", "2", "--set", "frames=60"],
    "gather-bunny": ["--iterations", "1", "--set", "frames=2"],
}
SCENES = ["ant", "arm7", "bowl", "chain14", "double_pendulum", "pendulum", "push", "wall_spin"]
CONTACTS = ["none", "longrange", "ipc", "polyhedral"]
GRAINS = {
    "incline": [],
    "column": ["--grains", "60"],
    "silo": ["--grains", "400"],
}


def digest(arrays: list[np.ndarray]) -> str:
    """Twelve hexadecimal digits that change when any bit does."""
    total = hashlib.sha256()
    for array in arrays:
        total.update(np.ascontiguousarray(array, dtype=np.float64).tobytes())
    return total.hexdigest()[:12]


def farfield(*arguments: str) -> dict:
    """The JSON that a command prints; its exit code may tell of a check that failed, which is no matter here."""
    done = subprocess.run(
        [sys.executable, "-m", "farfield.cli", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1) or not done.stdout.strip():
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}")
    return json.loads(done.stdout)


def numbers(value: object, prefix: str = "") -> dict[str, float]:
    """All numbers of a JSON value by their path, without those that tell of time."""
    if isinstance(value, bool) or value is None:
        return {}
    if isinstance(value, (int, float)):
        return {prefix: float(value)}
    if isinstance(value, dict):
        pairs = [(f"{prefix}.{key}".lstrip("."), item) for key, item in value.items()]
    elif isinstance(value, list):
        pairs = [(f"{prefix}[{k}]", item) for k, item in enumerate(value)]
    else:
        return {}
    found: dict[str, float] = {}
    for path, item in pairs:
        if not any(word in path for word in ("second", "rate", "time", "steps_per")):
            found |= numbers(item, path)
    return found


def states(run: Path) -> list[np.ndarray]:
    """Coordinates and velocities of the motion in a run directory; older ones kept them as arrays."""
    import farfield as ff

    if (run / "arrays.npz").is_file():
        with np.load(run / "arrays.npz") as arrays:
            return [arrays["q"], arrays["v"]]
    trajectory = ff.load_trajectory(run / "trajectory.safetensors")
    return [np.array(trajectory.q), np.array(trajectory.v)]


def run_task(name: str, options: list[str]) -> dict:
    """Losses of a short optimisation and the motion it ends with."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        result = farfield(
            "run", name.partition(",")[0], "--seed", "0", "--out", str(out), "--quiet", "--json", *options
        )
        rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
        bits = digest(states(out))
    losses = [row["loss"] for row in rows if row.get("loss") is not None]
    return {"hash": bits, "figures": {"loss": losses[-1], "final": result["loss_final"], "steps": result["steps"]}}


def simulate(scene: str, contact: str) -> dict:
    """A scene left to itself."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        arguments = [f"scenes/{scene}.xml", "--steps", "60", "--dt", "0.01", "--contact", contact, "--out", str(out)]
        result = farfield("simulate", *arguments, "--quiet", "--json")
        q, v = states(out)
    figures = {"q": float(np.linalg.norm(q[-1])), "v": float(np.linalg.norm(v[-1])), "steps": result["steps"]}
    return {"hash": digest([q, v]), "figures": figures}


def simulate_grains(task: str, options: list[str]) -> dict:
    """A task of grains at a small size."""
    with tempfile.TemporaryDirectory() as folder:
        result = farfield("grains", task, "--out", str(Path(folder) / "run"), "--quiet", "--json", *options)
    figures = numbers(result)
    return {"hash": digest([np.array(list(figures.values()))]), "figures": figures}


def benchmark_step() -> dict:
    """The hashes that the benchmark of a step prints beside its times: states and gradients of ant and arm, batch, assembly."""
    hashes = farfield("bench", "step", "--json")["hashes"]
    return {"hash": " ".join(f"{key}={value}" for key, value in hashes.items()), "figures": {}}


def rack(contact: str) -> dict:
    """Sixteen balls, the cue ball thrown at the others: states, gradients, Newton iterations."""
    import farfield as ff
    from farfield.benchmarks.racks import rack as make_rack
    from farfield.contact_models import contact_model

    model = make_rack(32)
    made = contact_model(contact)
    state = model.default_state()
    v = np.array(state.v)
    v[-6:-3] = [3.0, 0.1, 0.0]
    start = ff.State(q=state.q, v=v)
    trajectory = ff.rollout(model, model.default_parameters(), start, np.zeros((12, 0)), dt=0.01, contact=made)
    q = np.asarray(trajectory.q)
    figures = {"q": float(np.linalg.norm(q[-1])), "iterations": sum(r.iterations for r in trajectory.reports)}
    arrays = [q, np.asarray(trajectory.v)]
    if trajectory.converged:
        partials = np.random.default_rng(0).normal(size=(len(q), model.num_dofs))
        gradient = ff.rollout_vjp(trajectory, dL_dq=partials)
        arrays += [gradient.q0, gradient.v0, gradient.parameters.friction]
        figures["gradient"] = float(np.linalg.norm(gradient.v0))
    return {"hash": digest(arrays), "figures": figures}


def test_scenes() -> dict[str, dict]:
    """What the C++ tests' own scenes give, one case each."""
    program = ROOT / "build" / "release" / "farfield_tests"
    command = [str(program), "--no-skip", "--test-case=result hashes", "--minimal"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    cases = {}
    for line in lines:
        if line.count("\t") != 4:
            continue
        name, states, gradients, q, gradient = line.split("\t")
        figures = {"q": float(q), "gradient": float(gradient)}
        cases[f"test scene: {name}"] = {"hash": f"{states} {gradients}", "figures": figures}
    return cases


def cases() -> dict:
    """Name -> function that gives {hash, figures}, or for a group a dict of such."""
    found = {"bench step": benchmark_step, "test scenes": test_scenes}
    found |= {f"run {name}": lambda n=name, o=options: run_task(n, o) for name, options in TASKS.items()}
    found |= {f"simulate {s}, {c}": lambda s=s, c=c: simulate(s, c) for s in SCENES for c in CONTACTS}
    found |= {f"rack, {c}": lambda c=c: rack(c) for c in CONTACTS[1:]}
    found |= {f"grains {name}": lambda n=name, o=options: simulate_grains(n, o) for name, options in GRAINS.items()}
    return found


def collect(words: list[str]) -> dict[str, dict]:
    """The results of all cases whose name has one of the words in it; one that fails is kept with its complaint."""
    results: dict[str, dict] = {}
    for name, function in cases().items():
        if words and not any(word in name for word in words):
            continue
        print(f"-- {name}", file=sys.stderr, flush=True)
        try:
            result = function()
        except Exception as error:  # a case that cannot run is a result too
            result = {"hash": "", "figures": {}, "error": " ".join(str(error).split())[:200]}
        results |= result if "hash" not in result else {name: result}
    return results


def distance(before: dict[str, float], after: dict[str, float]) -> float:
    """Largest relative difference of the figures both have."""
    pairs = [(before[key], after[key]) for key in before.keys() & after.keys()]
    pairs = [(a, b) for a, b in pairs if a is not None and b is not None]
    return max((abs(a - b) / max(abs(a), abs(b), 1e-300) for a, b in pairs), default=0.0)


def machine() -> dict[str, str]:
    """What bits depend on."""
    from farfield import _core

    about = _core._build_info()
    return {
        "processor": platform.machine(),
        "simd": about["simd"],
        "compiler": about["compiler"],
        "python": platform.python_version(),
    }


def bits_compare(kept: dict[str, str], now: dict[str, str]) -> bool:
    """Whether two machines must give the same bits."""
    return all(kept.get(key) == now[key] for key in ("processor", "simd", "compiler"))


def verdict(before: dict | None, result: dict, bits: bool) -> tuple[str, bool]:
    """What became of a case, and whether it changed. Without `bits` figures alone are compared."""
    if "error" in result:
        return f"CHANGED   {result['error']}", True
    if before is None:
        return "new", False
    if before["hash"] == result["hash"]:
        return "same bits", False
    if not before["figures"] and not bits:
        return "bits of another target, no figures", False
    far = distance(before["figures"], result["figures"])
    if not bits and far <= TOLERANCE:
        return f"same figures ({far:.1e})", False
    return f"CHANGED   figures differ by {far:.1e}", True


def compare(kept: dict, now: dict[str, dict]) -> int:
    """Prints what changed; returns how many cases did."""
    here, there = machine(), kept["machine"]
    bits = bits_compare(there, here)
    if not bits:
        told = [
            ", ".join(str(about.get(key, "?")) for key in ("processor", "simd", "compiler")) for about in (there, here)
        ]
        print(f"recorded with {told[0]}, this is {told[1]}: figures are compared to {TOLERANCE:g}, not bits\n")
    changed = 0
    for name, result in now.items():
        words, differs = verdict(kept["cases"].get(name), result, bits)
        print(f"{name:44s} {words}")
        changed += differs
    print(f"\n{len(now) - changed} same, {changed} changed")
    return changed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["record", "check"])
    parser.add_argument("words", nargs="*")
    parser.add_argument("--file", type=Path, default=KEPT)
    arguments = parser.parse_args()
    os.environ.setdefault("FARFIELD_THREADS", "1")
    results = collect(arguments.words)
    if arguments.what == "check":
        return 1 if compare(json.loads(arguments.file.read_text()), results) else 0
    kept = json.loads(arguments.file.read_text())["cases"] if arguments.words and arguments.file.exists() else {}
    text = json.dumps({"machine": machine(), "cases": kept | results}, indent=1) + "\n"
    temporary = arguments.file.with_suffix(".tmp")
    temporary.write_text(text)
    temporary.rename(arguments.file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
