#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the order of the rooms: includes between folders of src/farfield go strictly down in rank, and so do the imports of python/farfield.

Inside one room files may include each other, but never in a circle. In contact, the interface files, pairwise and plane_friction
are the base; the models above them are siblings that never include each other. In Python, imports inside functions count, and so do
modules that are named in a string ("farfield.tasks.push:Push").

    tools/check_includes.py [ROOT]      exit code 1 and one line per offence
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

RANKS = {
    "base": 0,
    "math": 1,
    "geometry": 2,
    "optim": 2,
    "scene": 3,
    "model": 4,
    "contact": 5,
    "dynamics": 6,
    "grains": 6,
    "io": 7,
}
CONTACT_BASE = {"", "pairwise", "plane_friction"}
CONTACT_SIBLINGS = {"longrange", "polyhedral", "ipc", "softmin"}
# The one file of the base that knows all models.
CONTACT_TOP = "farfield/contact/make_contact."
# The public header: includes the rooms, and no room includes it.
FRONT = "farfield/farfield.hpp"
# 2-D grains share nothing with 3-D bodies.
NEVER = {("grains", "model"), ("grains", "contact"), ("grains", "scene")}

# Python: a module of farfield, or a folder -> rank. Imports go strictly down, also those inside functions.
PYTHON_RANKS = {
    "": 0,  # farfield itself, the names that everything may use
    "_core": 0,
    "collision": 0,
    "body_moments": 0,
    "contact_models": 0,
    "convex": 0,
    "coordinates": 0,
    "differences": 0,
    "files": 0,
    "soft_top_k": 0,
    "importers": 0,
    "loss_check": 0,
    "marker": 0,
    "messages": 0,
    "motion": 0,
    "options": 0,
    "output": 0,
    "reading": 0,
    "reshape": 0,
    "simd": 0,
    "stopping": 0,
    "threads": 0,
    "unknowns_check": 0,
    "export": 1,
    "gradcheck": 1,
    "interop": 1,
    "optimize": 1,
    "engines": 2,
    "tasks": 3,
    "benchmarks": 4,
    "environments": 4,
    "experiments": 4,
    "grains": 4,
    "properties": 4,
    "viewer": 4,
    "cli": 5,
    "commands": 5,
}
# Who may import whom within rank 4: runs are drawn by the viewer and kept in run directories, benchmarks measure all of them.
PYTHON_NEIGHBOURS = {
    "benchmarks": {"experiments", "grains", "properties"},
    "environments": {"viewer"},
    "experiments": {"viewer"},
    "grains": {"experiments"},
    "cli": {"commands"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
MODULE_NAME = re.compile(r"(farfield(?:\.\w+)+)(?::\w+)?")


def room_of(path: str) -> tuple[str, str]:
    """('contact', 'ipc') for farfield/contact/ipc/x.hpp, ('contact', '') for farfield/contact/x.hpp."""
    parts = path.split("/")
    return (parts[1] if len(parts) > 2 else ""), ("/".join(parts[2:-1]))


def offence(source: str, target: str) -> str | None:
    """Why `source` may not include `target`; None when it may. Paths start with farfield/."""
    if target == FRONT:
        return f"{FRONT} is for programs outside; name the header that is needed"
    if source == FRONT:
        return None
    (room, place), (other, other_place) = room_of(source), room_of(target)
    for name, path in ((room, source), (other, target)):
        if name not in RANKS:
            return f"{path}: unknown room '{name}', expected one of {', '.join(RANKS)}"
    if (room, other) in NEVER:
        return f"{room} never includes {other}"
    if room != other:
        if RANKS[other] < RANKS[room]:
            return None
        return f"{room} (rank {RANKS[room]}) includes {other} (rank {RANKS[other]}); includes go strictly down"
    if room == "contact":
        mine, theirs = place.split("/")[0], other_place.split("/")[0]
        for name, path in ((mine, source), (theirs, target)):
            if name not in CONTACT_BASE | CONTACT_SIBLINGS:
                return f"{path}: unknown contact folder '{name}'"
        if target.startswith(CONTACT_TOP) and not source.startswith(CONTACT_TOP):
            return "contact/make_contact stands above the rest of contact"
        if mine in CONTACT_BASE and theirs in CONTACT_SIBLINGS and not source.startswith(CONTACT_TOP):
            return f"the base of contact includes the model contact/{theirs}"
        if mine in CONTACT_SIBLINGS and theirs in CONTACT_SIBLINGS and mine != theirs:
            return f"contact/{mine} includes its sibling contact/{theirs}"
    return None


def read_includes(root: Path) -> tuple[dict[str, list[tuple[int, str]]], list[str]]:
    """Includes of every file under src/farfield, and the offences of form found on the way."""
    graph: dict[str, list[tuple[int, str]]] = {}
    errors = []
    source_root = root / "src"
    for path in sorted(source_root.glob("farfield/**/*")):
        if path.suffix not in {".hpp", ".cpp", ".h", ".ipp", ".inl"}:
            continue
        name = path.relative_to(source_root).as_posix()
        graph[name] = []
        if len(name.split("/")) < 3 and name != FRONT:
            errors.append(f"src/{name}: lies outside the rooms")
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            match = INCLUDE.match(line)
            if not match:
                continue
            bracket, target = match.groups()
            if target.startswith("farfield/"):
                if bracket == "<":
                    errors.append(f'src/{name}:{number}: write #include "{target}" with quotes')
                if not (source_root / target).exists():
                    errors.append(f"src/{name}:{number}: {target} does not exist")
                else:
                    graph[name].append((number, target))
            elif bracket == '"' and ("/" not in target or (path.parent / target).exists()):
                errors.append(f'src/{name}:{number}: write the full path, "farfield/<room>/..."; got "{target}"')
    return graph, errors


def python_room(module: str) -> str:
    """'optimize' for farfield.optimize.losses, 'files' for farfield.files, '' for farfield."""
    return module.split(".")[1] if "." in module else ""


def python_offence(source: str, target: str) -> str | None:
    """Why the module `source` may not import `target`; None when it may."""
    room, other = python_room(source), python_room(target)
    for name, module in ((room, source), (other, target)):
        if name not in PYTHON_RANKS:
            return f"{module}: unknown room '{name}', expected one of {', '.join(PYTHON_RANKS)}"
    below = PYTHON_RANKS[other] < PYTHON_RANKS[room]
    at_the_bottom = (
        PYTHON_RANKS[room] == PYTHON_RANKS[other] == 0
    )  # single files; the search for circles keeps them in order
    if room == other or below or at_the_bottom or other in PYTHON_NEIGHBOURS.get(room, ()):
        return None
    return f"{room} (rank {PYTHON_RANKS[room]}) imports {other} (rank {PYTHON_RANKS[other]}); imports go strictly down"


def imported_modules(tree: ast.AST, known: set[str]) -> list[tuple[int, str]]:
    """Line and module of everything of farfield that a file imports, anywhere in it, or names in a string."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            names = [f"{base}.{alias.name}" for alias in node.names]
            found += [(node.lineno, name if name in known else base) for name in names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            match = MODULE_NAME.fullmatch(node.value)
            if match and match[1] in known:
                found.append((node.lineno, match[1]))
    return [(line, name) for line, name in found if name.split(".")[0] in ("", "farfield")]


def read_imports(root: Path) -> tuple[dict[str, list[tuple[int, str]]], dict[str, str], list[str]]:
    """Imports of every module under python/farfield, the path of each, and the offences of form found on the way."""
    paths = {}
    for path in sorted((root / "python").glob("farfield/**/*.py")):
        place = path.relative_to(root / "python").with_suffix("")
        paths[".".join(place.parts[:-1] if place.name == "__init__" else place.parts)] = path
    known = {*paths, "farfield._core"}
    graph: dict[str, list[tuple[int, str]]] = {}
    errors = []
    for module, path in paths.items():
        graph[module] = []
        for line, target in imported_modules(ast.parse(path.read_text(encoding="utf-8")), known):
            if target.startswith("."):
                errors.append(
                    f"{path.relative_to(root)}:{line}: write the full name, farfield.<room>...; got '{target}'"
                )
            elif target not in known:
                errors.append(f"{path.relative_to(root)}:{line}: {target} does not exist")
            else:
                graph[module].append((line, target))
    return graph, {module: path.relative_to(root).as_posix() for module, path in paths.items()}, errors


def find_cycles(graph: dict[str, list[tuple[int, str]]]) -> list[str]:
    """One line for each circle of files met in a depth-first walk."""
    done: set[str] = set()
    cycles = []

    def visit(name: str, trail: list[str]) -> None:
        if name in trail:
            cycles.append(" -> ".join([*trail[trail.index(name) :], name]))
            return
        if name in done:
            return
        for _, target in graph.get(name, []):
            visit(target, [*trail, name])
        done.add(name)

    for name in graph:
        visit(name, [])
    return [f"include circle: {cycle}" for cycle in cycles]


def check(root: Path) -> tuple[list[str], int]:
    graph, errors = read_includes(root)
    for name, includes in graph.items():
        for number, target in includes:
            reason = offence(name, target)
            if reason:
                errors.append(f"src/{name}:{number}: {reason}")
    imports, paths, more = read_imports(root)
    errors += more
    for module, targets in imports.items():
        for line, target in targets:
            reason = python_offence(module, target)
            if reason:
                errors.append(f"{paths[module]}:{line}: {reason}")
    count = sum(len(targets) for targets in (*graph.values(), *imports.values()))
    return errors + find_cycles(graph) + find_cycles(imports), count


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    errors, count = check(root)
    for error in errors:
        print(error)
    print(f"include order: {count} includes, {len(errors)} offences")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
