# SPDX-License-Identifier: Apache-2.0
"""Arguments of the wrong kind: says which one, what came and what is expected, where the core can only list its signature."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from farfield import _core

P, R = ParamSpec("P"), TypeVar("R")


class Kind(NamedTuple):
    """What an argument has to be: an instance of a class, a NumPy array of so many extents, or a list of either."""

    type: type | None = None
    extents: tuple[int, ...] = ()
    many: bool = False
    or_many: bool = False  #: one, or a list of them
    shape: str = ""  #: as it is told, "(steps, num_controls)"

    def text(self) -> str:
        """What is expected, in words."""
        one = f"array of floats of shape {self.shape}" if self.type is None else f"farfield.{self.type.__name__}"
        return f"a list with one {one} per rollout" if self.many else f"{'an' if one[0] == 'a' else 'a'} {one}"


MODEL, PARAMETERS, STATE = Kind(_core.Model), Kind(_core.Parameters), Kind(_core.State)
CONTROLS, GUESS, SCRIPT = (
    Kind(None, (2,), shape=f"(steps, {n})") for n in ("num_controls", "num_dofs", "7 num_kinematic")
)
TRAJECTORY = Kind(_core.Trajectory)
BY_DOF, BY_POSE = (
    Kind(None, (2, 3), shape="(steps + 1, num_dofs)"),
    Kind(None, (3, 4), shape="(steps + 1, num_bodies, 6)"),
)


def many(kind: Kind) -> Kind:
    """A list of them."""
    return kind._replace(many=True)


def explained(function: Callable[P, R], required: Sequence[str], kinds: dict[str, Kind]) -> Callable[P, R]:
    """The function, with a message about its arguments in place of a signature. Costs nothing unless something is wrong."""
    names = _argument_names(function)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if "incompatible function arguments" not in str(error):
                raise
            raise TypeError(f"{function.__name__}: {_mistake(names, required, kinds, args, kwargs)}") from None

    return call


def _argument_names(function: Callable) -> list[str]:
    """From the signature that the core writes into the documentation."""
    text = function.__nb_signature__[0][0]
    inside = text[text.index("(") + 1 : text.rindex(") ->")]
    depth, names, word = 0, [], ""
    for letter in inside + ",":
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and depth == 0:
            names.append(word.partition(":")[0].partition("=")[0].strip())
            word = ""
        else:
            word += letter
    return [name for name in names if name not in ("", "*", "/", "self")]


def _mistake(names: list[str], required: Sequence[str], kinds: dict[str, Kind], args: tuple, kwargs: dict) -> str:
    for name in kwargs:
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            return f"'{name}' is no argument" + (
                f"; did you mean '{near[0]}'?" if near else f"; it has: {', '.join(names)}"
            )
    if len(args) > len(required):
        return (
            f"{len(args)} arguments without a name, expected {len(required)}: {', '.join(required)}; others need theirs"
        )
    given = dict(zip(required, args, strict=False)) | kwargs
    missing = [name for name in required if name not in given]
    if missing:
        return f"'{missing[0]}' is missing; expected {kinds[missing[0]].text() if missing[0] in kinds else 'a value'}"
    for name, value in given.items():
        wrong = _wrong(kinds[name], value) if name in kinds and value is not None else None
        if wrong:
            return f"{name}: {wrong}, expected {kinds[name].text()}"
    plain = [name for name in given if name not in kinds]
    for name in plain:
        if isinstance(given[name], type):
            return f"{name}: got {_came(given[name])}, expected {given[name].__name__}(...)"
    told = ", ".join(f"{name}={_came(given[name])}" for name in plain)
    return f"an argument of the wrong kind among {told}; see help(farfield)"


def _wrong(kind: Kind, value: Any) -> str | None:
    """What came, when it is not of this kind."""
    if kind.or_many and isinstance(value, (list, tuple)):
        return _wrong(kind._replace(many=True, or_many=False), value)
    if not kind.many:
        return None if _fits(kind, value) else f"got {_came(value)}"
    single = kind._replace(many=False)
    if _fits(single, value) and not isinstance(value, (list, tuple)):
        return f"got a single {_came(value)} (write [{_came(value)}])" if kind.type else f"got {_came(value)}"
    if not isinstance(value, (list, tuple, np.ndarray)):
        return f"got {_came(value)}"
    for index, each in enumerate(value):
        if each is not None and not _fits(single, each):
            return f"got {_came(each)} at index {index}"
    return None


def _fits(kind: Kind, value: Any) -> bool:
    if kind.type is not None:
        return isinstance(value, kind.type)
    return isinstance(value, np.ndarray) and value.ndim in kind.extents and value.dtype.kind in "fiub"


def _came(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    if isinstance(value, type):
        return f"the class {value.__name__}, not an instance"
    if isinstance(value, (list, tuple)):
        try:
            shape = np.shape(value)
        except ValueError:
            return f"a ragged {type(value).__name__}"
        return (
            f"a {type(value).__name__} of shape {shape} (numpy.asarray makes it an array)"
            if len(shape)
            else type(value).__name__
        )
    if inspect.isfunction(value):
        return f"the function {value.__name__}"
    return type(value).__name__ if not isinstance(value, (int, float, str)) else repr(value)


rollout = explained(_core.rollout, ("model", "parameters", "state", "controls"), {
    "model": MODEL, "parameters": PARAMETERS, "state": STATE, "controls": CONTROLS, "script": SCRIPT, "guess": GUESS,
})  # fmt: skip
rollout_batch = explained(_core.rollout_batch, ("model", "parameters", "states", "controls"), {
    "model": MODEL._replace(or_many=True), "parameters": many(PARAMETERS), "states": many(STATE), "controls": many(CONTROLS),
    "scripts": many(SCRIPT), "guesses": many(GUESS),
})  # fmt: skip
rollout_vjp = explained(_core.rollout_vjp, ("trajectory",), {
    "trajectory": TRAJECTORY, "dL_dq": BY_DOF, "dL_dv": BY_DOF, "dL_dpose": BY_POSE,
})  # fmt: skip
rollout_vjp_batch = explained(_core.rollout_vjp_batch, ("trajectories",), {
    "trajectories": many(TRAJECTORY), "dL_dq": many(BY_DOF), "dL_dv": many(BY_DOF), "dL_dpose": many(BY_POSE),
})  # fmt: skip
