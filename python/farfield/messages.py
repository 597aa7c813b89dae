# SPDX-License-Identifier: Apache-2.0
"""Arguments of the wrong kind: says which one, what came and what is expected, where the core can only list its signature.

What is expected is read from the signatures that the core carries. Every function, method, constructor and settable attribute of the core is covered;
it costs nothing worth measuring unless something is wrong.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import os
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from farfield import _core

CLASS = re.compile(r"farfield\._core\.(\w+)")
ARRAY = re.compile(r"(?:numpy\.)?ndarray\[dtype=(\w+)(?:, shape=\(([^)]*)\))?")
MANY = re.compile(r"(?:collections\.abc\.Sequence|list)\[(.*)\]")
PLAIN = {
    "os.PathLike": "a path",
    "float": "a number",
    "int": "a whole number",
    "str": "a text",
    "bool": "True or False",
}
#: Extents as they are told, (function, argument): the core only knows how many there are.
SHAPES = {
    ("rollout", "controls"): "(steps, num_controls)",
    ("rollout", "script"): "(steps, 7 num_kinematic)",
    ("rollout", "guess"): "(steps, num_dofs)",
    ("rollout_batch", "controls"): "(steps, num_controls)",
    ("rollout_batch", "scripts"): "(steps, 7 num_kinematic)",
    ("rollout_batch", "guesses"): "(steps, num_dofs)",
    ("rollout_vjp", "dL_dq"): "(steps + 1, num_dofs)",
    ("rollout_vjp", "dL_dv"): "(steps + 1, num_dofs)",
    ("rollout_vjp", "dL_dpose"): "(steps + 1, num_bodies, 6)",
    ("rollout_vjp_batch", "dL_dq"): "(steps + 1, num_dofs)",
    ("rollout_vjp_batch", "dL_dv"): "(steps + 1, num_dofs)",
    ("rollout_vjp_batch", "dL_dpose"): "(steps + 1, num_bodies, 6)",
}


class Argument(NamedTuple):
    """One argument of a signature: its name, the texts of its types, whether it may be left out, and whether it needs its name."""

    name: str
    types: tuple[str, ...]
    optional: bool
    named: bool


def split(text: str, by: str) -> list[str]:
    """The parts of a text between separators that stand outside of brackets and quotes."""
    parts, word, depth, quote = [], "", 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        else:
            depth += (letter in "[({") - (letter in "])}")
        if letter == by and depth == 0 and not quote:
            parts.append(word.strip())
            word = ""
        else:
            word += letter
    return [part for part in (*parts, word.strip()) if part]


def arguments(signature: str) -> list[Argument]:
    """The arguments of "def name(self, a: int, *, b: str = ...) -> None"."""
    end = signature.rfind(") ->")
    found, named = [], False
    for part in split(signature[signature.index("(") + 1 : end if end >= 0 else signature.rindex(")")], ","):
        declared, equals, _ = part.partition("=") if ":" not in part else _default(part)
        name, _, kind = declared.partition(":")
        if part in ("*", "/"):
            named = named or part == "*"
        elif name.strip() != "self":
            found.append(Argument(name.strip(), tuple(split(kind, "|")), bool(equals), named))
    return found


def _default(part: str) -> tuple[str, str, str]:
    pieces = split(part, "=")
    return pieces[0], "=" if len(pieces) > 1 else "", ""


def explained(function: Callable, name: str) -> Callable:
    """The function, with a message about its arguments in place of a signature."""
    signatures = [each[0] for each in function.__nb_signature__]
    methods = ["(self" in each for each in signatures]

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if "incompatible function arguments" not in str(error):
                raise
            given = args[1:] if all(methods) and args else args
            overloads = [arguments(each) for each in signatures]
            told = next((each for each in overloads if {*kwargs} <= {a.name for a in each}), overloads[0])
            message = mistake(name, told, given, kwargs, alone=len(overloads) == 1)
            raise TypeError(f"{name}: {message}") from None

    return call


def mistake(function: str, expected: Sequence[Argument], args: tuple, kwargs: dict, *, alone: bool = True) -> str:
    """What is wrong with a call."""
    names = [each.name for each in expected]
    for name in kwargs:
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            has = f"it has: {', '.join(names)}" if names else "it has none"
            return f"'{name}' is no argument; " + (f"did you mean '{near[0]}'?" if near else has)
    places = [each for each in expected if not each.named]
    if len(args) > len(places) and alone:
        told = ", ".join(each.name for each in places) or "none"
        named = "; others need theirs" if len(places) < len(expected) else ""
        return f"{len(args)} arguments without a name, expected {len(places)}: {told}{named}"
    given = dict(zip([each.name for each in places], args, strict=False)) | kwargs
    for each in expected:
        if not each.optional and each.name not in given:
            return f"'{each.name}' is missing; expected {wanted(function, each)}"
    for each in expected:
        if each.name in given and (wrong := unfit(each, given[each.name])):
            return f"{each.name}: got {wrong}, expected {wanted(function, each)}"
    told = ", ".join(f"{name}={came(value)}" for name, value in given.items())
    return f"an argument of the wrong kind among {told}; see help(farfield)"


def wanted(function: str, argument: Argument) -> str:
    """What an argument has to be, in words."""
    kinds = [kind for kind in argument.types if kind != "None"]
    return " or ".join(dict.fromkeys(_words(kind, SHAPES.get((function, argument.name))) for kind in kinds))


def _words(kind: str, shape: str | None) -> str:
    if many := MANY.fullmatch(kind):
        parts = [_words(part, shape) for part in split(many[1], "|") if part != "None"]
        return f"a list with one {' or '.join(re.sub('^an? ', '', part) for part in parts)} for each"
    if found := CLASS.fullmatch(kind):
        return f"a farfield.{found[1]}"
    if found := ARRAY.match(kind):
        extents = shape or (f"({found[2].replace('*', 'n')})" if found[2] else None)
        numbers = "floats" if found[1].startswith("float") else "whole numbers"
        return f"an array of {numbers}" + (f" of shape {extents}" if extents else "")
    return PLAIN.get(kind, kind)


def unfit(argument: Argument, value: Any) -> str | None:
    """What came, when it fits none of the types."""
    kinds = argument.types
    if not kinds or any(_fits(kind, value) for kind in kinds):
        return None
    lists = [many[1] for many in map(MANY.fullmatch, kinds) if many]
    if lists and isinstance(value, (list, tuple)):
        for index, each in enumerate(value):
            if not any(_fits(part, each) for text in lists for part in split(text, "|")):
                return f"{came(each)} at index {index}"
    if any(_fits(part, value) for text in lists for part in split(text, "|") if CLASS.fullmatch(part)):
        return f"a single {came(value)} (write [{came(value)}])"
    return came(value)


def _fits(kind: str, value: Any) -> bool:
    """Whether the core would take it."""
    if kind in ("None", "object", "typing.Any"):
        return kind != "None" or value is None
    if found := CLASS.fullmatch(kind):
        return isinstance(value, getattr(_core, found[1], object))
    if found := ARRAY.match(kind):
        extents = len(split(found[2], ",")) if found[2] else None
        return isinstance(value, np.ndarray) and value.dtype.kind in "fiub" and extents in (None, value.ndim)
    if many := MANY.fullmatch(kind):
        inside = split(many[1], "|")
        return (
            isinstance(value, Iterable)
            and not isinstance(value, (str, np.ndarray))
            and all(any(_fits(part, each) for part in inside) for each in value)
        )
    if kind == "bool":
        return isinstance(value, (bool, np.bool_))
    if kind == "int":
        return isinstance(value, (int, np.integer))
    if kind == "float":
        return isinstance(value, (int, float, np.number))
    if kind == "str":
        return isinstance(value, str)
    if kind == "os.PathLike":
        return isinstance(value, os.PathLike)
    return not isinstance(value, type)  # a path, a function, a mapping: the core says more


def came(value: Any) -> str:
    """What a value is, in words."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    if isinstance(value, type):
        return f"the class {value.__name__}, not an instance (write {value.__name__}(...))"
    if isinstance(value, (list, tuple)):
        try:
            shape = np.shape(value)
        except ValueError:
            return f"a ragged {type(value).__name__}"
        return f"a {type(value).__name__} of shape {shape} (numpy.asarray makes it an array)"
    if inspect.isfunction(value):
        return f"the function {value.__name__}"
    return type(value).__name__ if not isinstance(value, (int, float, str)) else repr(value)


def _takes_anything(function: Callable) -> bool:
    """It looks at its arguments itself, as `Simulation.step` does."""
    taken = [each for text in function.__nb_signature__ for each in arguments(text[0])]
    return bool(taken) and all({*each.types} & {"object", "numpy.typing.ArrayLike"} for each in taken)


def _explain_class(kind: type) -> None:
    for name, member in list(vars(kind).items()):
        full = f"{kind.__name__}.{name}"
        if isinstance(member, property):
            if hasattr(member.fset, "__nb_signature__"):
                setattr(kind, name, property(member.fget, _explained_setter(member.fset, full), None, member.__doc__))
        elif not hasattr(member, "__nb_signature__") or (name != "__init__" and _takes_anything(member)):
            continue
        elif name == "__init__":
            kind.__init__ = explained(member, kind.__name__)
            _core._call_init(kind)
        elif not name.startswith("_"):
            static = "(self" not in member.__nb_signature__[0][0]
            made = explained(member, full)
            setattr(kind, name, staticmethod(made) if static else made)


def _explained_setter(function: Callable, name: str) -> Callable:
    """A setter names its attribute rather than an argument."""
    (signature,) = (each[0] for each in function.__nb_signature__)

    def call(instance: Any, value: Any) -> None:
        try:
            function(instance, value)
        except TypeError as error:
            if "incompatible function arguments" not in str(error):
                raise
            argument = arguments(signature)[-1]
            raise TypeError(f"{name}: got {came(value)}, expected {wanted(name, argument)}") from None

    return call


def explain_core() -> None:
    """Lets everything in the core that takes arguments say what is wrong with them."""
    for name, member in list(vars(_core).items()):
        if isinstance(member, type) and member.__module__ == _core.__name__:
            _explain_class(member)
        elif hasattr(member, "__nb_signature__") and not name.startswith("_"):
            setattr(_core, name, explained(member, name))


explain_core()
