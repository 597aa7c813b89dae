# SPDX-License-Identifier: Apache-2.0
"""Options with defaults, explanations and limits: fields of a dataclass that the command line can set as text."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar


@dataclass(frozen=True)
class NoOptions:
    """The options of a method that has none."""

    name: ClassVar[str] = "this method"


def option(
    default: Any,
    text: str,
    *,
    above: float | None = None,
    least: float | None = None,
    choices: Sequence[Any] | None = None,
) -> Any:
    """An option with its explanation and what values it takes: > above, >= least, one of choices."""
    limits = {"above": above, "least": least, "choices": tuple(choices) if choices is not None else None}
    return field(default=default, metadata={"help": text, **limits})


def with_options(kind: type, settings: Mapping[str, str]) -> Any:
    """An instance of a dataclass of options (a task, the options of a method) with values given as text, as on the command line; ValueError names what does not fit."""
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
