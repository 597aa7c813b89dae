# SPDX-License-Identifier: Apache-2.0
"""What a task is: options with defaults, and a ``build`` that turns them and a seed into a problem.

    @dataclass(frozen=True)
    class Tap(Task):
        "Tap a puck so that it stops on a spot."
        frames: int = option(80, "time steps", above=0)
        iterations: int = 5

        def build(self, seed: int) -> Problem: ...

Every field is an option that ``farfield run tap.py --set frames=40`` can change; its type is that of its default.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

import farfield as ff
from farfield.viewer.recording import Marker


class Stuck(Exception):
    """A numerical outcome that a driver cannot get past; the run ends there, with what it has, and says so."""


class Driver(Protocol):
    """Something that improves controls, one optimiser iteration at a time, and can be stopped between any two.

    After ``restore(state())`` it goes on bit for bit. ``total`` is the largest number of iterations it may take.
    """

    total: int
    done: bool

    def advance(self) -> dict[str, Any]:
        """One iteration; a row of metrics with at least loss, gradient_norm, min_gap and steps (steps simulated).

        Raises Stuck when no further iteration can be made.
        """

    def inputs(self) -> dict[str, np.ndarray]:
        """What a rollout needs to show the motion found so far: controls, and q0 and v0 where they are unknowns."""

    def state(self) -> dict[str, np.ndarray]:
        """Everything that later iterations depend on."""

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Takes up a state."""


@dataclass
class Problem:
    """What a task asks for.

    driver: makes the Driver from an objective (see `farfield.optimize.objective`). success: judges the whole motion; that every
    step converged without intersection is asked for besides. contact_options: contact model -> its options. sample: a random
    point for the sampled start, drawn with a generator; by default noise around the trivial one (see `farfield.optimize.starts`).
    """

    model: ff.Model
    parameters: ff.Parameters
    parameterization: Any
    loss: Callable[[ff.Trajectory], tuple[float, np.ndarray]]
    driver: Callable[[Any], Driver]
    success: Callable[[ff.Trajectory], bool]
    report: Callable[[ff.Trajectory], dict[str, Any]] = lambda trajectory: {}  #: figures of the task for result.json
    dt: float = 0.01
    state: ff.State | None = None
    tolerance: float = 1e-6  #: Newton stop while optimising [N, N m]
    final_tolerance: float = 1e-8  #: of the motion that is judged and kept
    max_iterations: int = 100  #: of Newton's method per step
    contact_options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    sample: Callable[[np.random.Generator], np.ndarray] | None = None
    markers: Sequence[Marker] = ()  #: drawn in the replay
    trails: Sequence[str] = ()  #: names of bodies whose path is drawn
    probe: str | None = None  #: body whose long-range force field is drawn; it must have x and y slides or a free joint


class Task:
    """Base of all tasks: a frozen dataclass whose docstring starts with one line on what it is about."""

    name: ClassVar[str] = ""

    def build(self, seed: int) -> Problem:
        """The problem of these options and this seed."""
        raise NotImplementedError

    @classmethod
    def summary(cls) -> str:
        """One line."""
        return (cls.__doc__ or "").strip().partition("\n")[0]

    def options(self) -> dict[str, Any]:
        """Name -> value of every option."""
        return {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}


def option(
    default: Any,
    text: str,
    *,
    above: float | None = None,
    least: float | None = None,
    choices: Sequence[Any] | None = None,
) -> Any:
    """A task option with its explanation and what values it takes: > above, >= least, one of choices."""
    limits = {"above": above, "least": least, "choices": tuple(choices) if choices is not None else None}
    return field(default=default, metadata={"help": text, **limits})


def with_options(kind: type, settings: Mapping[str, str]) -> Any:
    """A task, or the options of a method, with values given as text, as on the command line; ValueError names what does not fit."""
    known = {item.name: item for item in dataclasses.fields(kind)}
    values = {}
    for name, text in settings.items():
        if name not in known:
            raise ValueError(f"option '{name}' is unknown; {kind.name} has: {', '.join(known) or 'none'}")
        item = known[name]
        values[name] = _checked(item, _parse(name, text, type(item.default)))
    return kind(**values)


def _parse(name: str, text: str, kind: type) -> Any:
    if kind is bool:
        words = {
            "true": True,
            "yes": True,
            "on": True,
            "1": True,
            "false": False,
            "no": False,
            "off": False,
            "0": False,
        }
        if text.lower() not in words:
            raise ValueError(f"option {name}: '{text}', expected true or false")
        return words[text.lower()]
    if kind is str:
        return text
    what = {int: "a whole number", float: "a number"}[kind]
    try:
        value = kind(text)
    except ValueError:
        raise ValueError(f"option {name}: '{text}', expected {what}") from None
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"option {name}: '{text}', expected a finite number")
    return value


def _checked(item: dataclasses.Field, value: Any) -> Any:
    limits = item.metadata
    if limits.get("above") is not None and not value > limits["above"]:
        raise ValueError(f"option {item.name}: {value}, expected > {limits['above']}")
    if limits.get("least") is not None and not value >= limits["least"]:
        raise ValueError(f"option {item.name}: {value}, expected >= {limits['least']}")
    if limits.get("choices") is not None and value not in limits["choices"]:
        raise ValueError(f"option {item.name}: '{value}', expected one of: {', '.join(map(str, limits['choices']))}")
    return value
