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
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

import farfield as ff
from farfield.contact_models import contact_model
from farfield.marker import Marker
from farfield.optimize.driver import Driver
from farfield.optimize.losses import Loss
from farfield.optimize.parameterizations import Parameterization


@dataclass
class Problem:
    """What a task asks for.

    driver: makes the Driver from an objective (see `farfield.optimize.objective`). success: judges the whole motion; that every
    step converged without intersection is asked for besides. contact_options: contact model -> its options. sample: a random
    point for the sampled start, drawn with a generator; by default noise around the trivial one (see `farfield.optimize.starts`).
    """

    model: ff.Model
    parameters: ff.Parameters
    parameterization: Parameterization
    loss: Loss
    driver: Callable[[Any], Driver]
    success: Callable[[ff.Trajectory], bool]
    report: Callable[[ff.Trajectory], dict[str, Any]] = lambda trajectory: {}  #: figures of the task for result.json
    dt: float = 0.01
    state: ff.State | None = None
    tolerance: float = 1e-7  #: Newton stop while optimising, relative (StepOptions)
    final_tolerance: float = 1e-9  #: of the motion that is judged and kept
    max_iterations: int = 200  #: of Newton's method per step
    stop_at_success: bool = True  #: end with the first motion that is a success, where the driver finds it as a whole
    contact_options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    sample: Callable[[np.random.Generator], np.ndarray] | None = None
    markers: Sequence[Marker] = ()  #: drawn in the replay
    trails: Sequence[str] = ()  #: names of bodies whose path is drawn
    probe: str | None = None  #: body whose long-range force field is drawn; it must have x and y slides or a free joint

    def contact(self, name: str, **options: Any) -> tuple[ff.ContactModel | None, ff.Parameters]:
        """The contact model of this name with the task's options, ``options`` over them, and the parameters that go with it.

        ``stiffness``: around what the task gives the model, 1 for just that.
        """
        own = dict(self.contact_options.get(name, {}))
        if "stiffness" in own and "stiffness" in options:
            own["stiffness"] *= options.pop("stiffness")
        return contact_model(name, **{**own, **options}), self.parameters.copy()


def long_range_options(task: Task) -> dict[str, Any]:
    """Of a task with the options ``contact_stiffness``, around the automatic weight, and ``weight`` [J], as printed in the paper."""
    if task.weight > 0:
        return {"leaf_weights": "paper", "weight_in_joules": task.weight}
    return {"stiffness": task.contact_stiffness}


class Task(ABC):
    """Base of all tasks: a frozen dataclass whose docstring starts with one line on what it is about."""

    name: ClassVar[str] = ""
    contact: ClassVar[str] = "longrange"  #: model of runs that name none

    @abstractmethod
    def build(self, seed: int) -> Problem:
        """The problem of these options and this seed."""

    @classmethod
    def summary(cls) -> str:
        """One line."""
        return (cls.__doc__ or "").strip().partition("\n")[0]

    def options(self) -> dict[str, Any]:
        """Name -> value of every option."""
        return {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
