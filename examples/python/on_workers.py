# SPDX-License-Identifier: Apache-2.0
"""Seeds of a task on the workers of an executor, with the numbers of this process: python examples/python/on_workers.py [DIRECTORY] [ray]"""

import sys
import tempfile
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from farfield.executors import RayExecutor
from farfield.experiments.registry import find_task
from farfield.experiments.runner import Setup
from farfield.experiments.study import study
from farfield.options import with_options


def workers() -> Executor:
    """Ray's, here or on the cluster of RAY_ADDRESS; or two processes of Python's own."""
    if "ray" in sys.argv:
        return RayExecutor()
    return ProcessPoolExecutor(2, mp_context=get_context("spawn"))


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
    task = with_options(find_task("push"), {"frames": "4", "iterations": "2", "first_iterations": "4"})
    for name in ("workers", "here"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    with workers() as executor:
        there = study(task, range(3), Setup(), folder / "workers", executor=executor, quiet=True)
    here = study(task, range(1), Setup(), folder / "here", quiet=True)
    for each in there:
        print(
            f"seed {each['seed']}: loss {each['loss_initial']:.4f} to {each['loss_final']:.4f}, smallest gap {each['min_gap']:.1e} m"
        )
    assert [each["seed"] for each in there] == [0, 1, 2]
    assert here[0]["loss_final"] == there[0]["loss_final"]


if __name__ == "__main__":
    main()
