# SPDX-License-Identifier: Apache-2.0
"""Rivals at their best: a small sweep over the stiffness of contact for every model that a task was not made for.

A task is tuned for long-range contact. Every entry of a comparison with another of our contact models is first run at each of `STIFFNESSES`,
on a seed that is not reported, from every start, and takes part at the value that did best: most successes, then the smallest summed
loss, then the nearest to 1. MuJoCo keeps its own contact as it comes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from farfield.contact_models import CONTACT_MODELS
from farfield.experiments import compare
from farfield.experiments.compare import Plan

STIFFNESSES = (0.1, 1.0, 10.0)  # around what the task gives the model
TUNED = "longrange"  # what tasks are tuned for


def rivals(plan: Plan) -> list[str]:
    """Entries that are swept."""
    return [name for name, setup in plan.entries.items() if setup.contact in CONTACT_MODELS and setup.contact != TUNED]


def jobs(plan: Plan) -> list[tuple[str, float]]:
    """(entry, stiffness) of every trial."""
    return [(entry, stiffness) for entry in rivals(plan) for stiffness in STIFFNESSES]


def try_one(
    plan: Plan, folder: Path, job: tuple[str, float], watch: Callable[[Any, dict], None]
) -> tuple[dict[str, Any], bool]:
    """What one entry reaches at one stiffness on the seed of the sweep, and whether it came to an end."""
    entry, stiffness = job
    trial = replace(
        plan,
        entries={entry: replace(plan.entries[entry], stiffness=stiffness)},
        seeds=[plan.tuning_seed],
        budget=plan.tuning_seconds,
    )
    place = folder / "tuning" / f"stiffness-{stiffness:g}"
    place.mkdir(parents=True, exist_ok=True)
    results = []
    for each in trial.jobs():
        result, complete = compare.run_one(trial, place, each, watch)
        if not complete:
            return {}, False
        results.append(result)
    losses = [math.inf if "error" in each or each["loss_final"] is None else each["loss_final"] for each in results]
    error = next((each["error"] for each in results if "error" in each), None)
    successes = sum(bool(each["success"]) for each in results)
    return {"entry": entry, "stiffness": stiffness, "successes": successes, "loss": sum(losses), "error": error}, True


def best(trials: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Entry -> its best stiffness."""
    found: dict[str, float] = {}
    for entry in dict.fromkeys(each["entry"] for each in trials):
        own = [each for each in trials if each["entry"] == entry]
        key = lambda each: (-each["successes"], each["loss"], abs(math.log(each["stiffness"])))  # noqa: E731
        found[entry] = min(own, key=key)["stiffness"]
    return found


def tuned(plan: Plan, trials: Sequence[Mapping[str, Any]]) -> Plan:
    """The plan with every rival at its best."""
    chosen = best(trials)
    entries = {
        name: replace(setup, stiffness=chosen[name]) if name in chosen else setup
        for name, setup in plan.entries.items()
    }
    return replace(plan, entries=entries)
