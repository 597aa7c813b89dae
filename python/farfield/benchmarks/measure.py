# SPDX-License-Identifier: Apache-2.0
"""Timing that compares like with like: peers take turns in one run, each from the same saved state every time."""

from __future__ import annotations

import dataclasses
import hashlib
import operator
import statistics
import time
from collections.abc import Callable, Iterable, Mapping

import numpy as np

COMPARISONS = {">=": operator.ge, "<=": operator.le}


@dataclasses.dataclass(frozen=True)
class Timing:
    """Seconds per call over several repeats."""

    minimum: float
    median: float
    repeats: int


@dataclasses.dataclass(frozen=True)
class Check:
    """A measured number beside the bound it must keep; `passed` is None when this machine cannot measure it."""

    name: str
    value: float | None
    relation: str
    bound: float
    note: str = ""

    @property
    def passed(self) -> bool | None:
        return None if self.value is None else COMPARISONS[self.relation](self.value, self.bound)


def take_turns(
    peers: Mapping[str, tuple[Callable[[], object], int]],
    *,
    repeats: int,
    clock: Callable[[], float] = time.thread_time,
    tick: Callable[[], None] = lambda: None,
) -> dict[str, Timing]:
    """Time every peer `repeats` times in turn, after one turn to warm up.

    A peer is (function, calls): the time of one run of the function is divided by `calls`. The default clock is the CPU
    time of this thread, which a busy neighbour disturbs least; work on several threads needs time.perf_counter.
    """
    samples: dict[str, list[float]] = {name: [] for name in peers}
    for turn in range(repeats + 1):
        for name, (function, calls) in peers.items():
            started = clock()
            function()
            elapsed = clock() - started
            if turn > 0:
                samples[name].append(elapsed / calls)
        tick()
    return {name: Timing(min(times), statistics.median(times), repeats) for name, times in samples.items()}


def result_hash(arrays: Iterable[np.ndarray | float]) -> str:
    """Twelve hexadecimal digits that change when any bit of the results does."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array, dtype=np.float64).tobytes())
    return digest.hexdigest()[:12]


def machine() -> dict:
    """What a time depends on: processor, cores, commit, compiler, flags and SIMD target."""
    from farfield import _core
    from farfield.experiments.runs import environment

    around = environment()
    return {
        "cpu": around["cpu"],
        "cores": around["cores"],
        "commit": around["commit"],
        "versions": around["versions"],
        **_core._build_info(),
    }
