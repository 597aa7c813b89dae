# SPDX-License-Identifier: Apache-2.0
"""Names on the command line and what they stand for: tasks, and the methods that compute their gradients."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import inspect
import sys
from pathlib import Path
from typing import Any

from farfield.engines.engine import Engine
from farfield.options import with_options
from farfield.tasks.task import Task

# Name -> module and class. A file of one's own needs no entry: `farfield run path/to/task.py`.
TASKS = {
    "push": "farfield.tasks.push:Push",
    "billiards": "farfield.tasks.billiards:Billiards",
    "gather": "farfield.tasks.gather:Gather",
    "gather-bunny": "farfield.tasks.gather_bunny:GatherBunny",
    "sort": "farfield.tasks.sort:Sort",
    "ant-push": "farfield.tasks.ant_push:AntPush",
    "t-push": "farfield.tasks.t_push:TPush",
    "chain": "farfield.tasks.chain:Chain",
    "quadruped": "farfield.tasks.quadruped:Quadruped",
    "biped": "farfield.tasks.biped:Biped",
    "parallel-jaw": "farfield.tasks.parallel_jaw:ParallelJaw",
}

# Name -> farfield.engines.Engine. An engine or a method
# of one's own needs no entry: `farfield run TASK --method path/to/engine.py`.
METHODS = {
    "adjoint": "farfield.engines.adjoint:Adjoint",
    "bundle": "farfield.engines.bundle:Bundle",
    "mujoco-fd": "farfield.engines.mujoco_fd:MujocoFd",
}


def find_task(name: str) -> type[Task]:
    """The task of this name, or the one that a Python file defines. A file is executed: names come from the user, never from a file."""
    if name in TASKS:
        kind = _load(TASKS[name])
        kind.name = name
        return kind
    if name.endswith(".py"):
        return _from_file(Path(name))
    raise ValueError(f"task '{name}' is unknown, expected one of: {', '.join(TASKS)}, or the path of a .py file")


def find_method(name: str) -> type[Engine]:
    """The class that computes gradients by this method, or the one that a Python file defines, which is executed as in `find_task`."""
    if name in METHODS:
        return _load(METHODS[name])
    if name.endswith(".py"):
        return _method_from_file(Path(name))
    raise ValueError(f"method '{name}' is unknown, expected one of: {', '.join(METHODS)}, or the path of a .py file")


def task_file(task: Task) -> Path | None:
    """The file of a task of one's own; None for those that come with the package."""
    if type(task).__module__.startswith("farfield."):
        return None
    try:
        return Path(inspect.getfile(type(task)))
    except (TypeError, OSError):  # typed into an interpreter
        return None


def recipe(task: Task) -> tuple[str, dict[str, str]]:
    """Name or file of a task and its options as text: what another process makes it of with `task_of`."""
    file = task_file(task)
    if file is None and task.name not in TASKS:
        raise ValueError(
            f"task '{task.name}' is in no file, so no other process can load it; expected one of a .py file"
        )
    return str(file.resolve()) if file else task.name, {name: str(value) for name, value in task.options().items()}


def task_of(made: tuple[str, dict[str, str]]) -> Task:
    """The task of a recipe."""
    return with_options(find_task(made[0]), made[1])


def _load(place: str) -> Any:
    module, _, attribute = place.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _from_file(path: Path) -> type[Task]:
    kinds = _classes(path, "task", Task)
    if len(kinds) != 1 or not dataclasses.is_dataclass(kinds[0]):
        raise ValueError(
            f"{path}: defines {len(kinds)} tasks, expected one dataclass that derives from farfield.tasks.Task"
        )
    kinds[0].name = kinds[0].name or path.stem
    return _complete(path, kinds[0])


def _method_from_file(path: Path) -> Any:
    kinds = _classes(path, "method", Engine)
    if len(kinds) != 1:
        raise ValueError(
            f"{path}: defines {len(kinds)} methods, expected one class that derives from farfield.engines.Outside"
        )
    return _complete(path, kinds[0])


def _complete(path: Path, kind: type) -> Any:
    if inspect.isabstract(kind):
        raise ValueError(f"{path}: {kind.__name__} has no {', '.join(sorted(kind.__abstractmethods__))}")
    return kind


def _classes(path: Path, what: str, base: type) -> list[type]:
    """The classes derived from ``base`` that a Python file defines itself."""
    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    module_name = f"farfield_{what}_{path.stem}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[module_name]
        raise ValueError(f"{path}: cannot be loaded ({type(error).__name__}: {error})") from error
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, base) and value.__module__ == module_name
    ]
