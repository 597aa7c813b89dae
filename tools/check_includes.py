#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the order of the rooms: includes between folders of src/farfield go strictly down in rank.

Inside one room files may include each other, but never in a circle. In contact, the interface files, pairwise and plane_friction
are the base; the models above them are siblings that never include each other.

    tools/check_includes.py [ROOT]      exit code 1 and one line per offence
"""

from __future__ import annotations

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
# 2-D grains share nothing with 3-D bodies.
NEVER = {("grains", "model"), ("grains", "contact"), ("grains", "scene")}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def room_of(path: str) -> tuple[str, str]:
    """('contact', 'ipc') for farfield/contact/ipc/x.hpp, ('contact', '') for farfield/contact/x.hpp."""
    parts = path.split("/")
    return (parts[1] if len(parts) > 2 else ""), ("/".join(parts[2:-1]))


def offence(source: str, target: str) -> str | None:
    """Why `source` may not include `target`; None when it may. Paths start with farfield/."""
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
        if mine in CONTACT_BASE and theirs in CONTACT_SIBLINGS:
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
        if len(name.split("/")) < 3:
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
    return errors + find_cycles(graph), sum(len(includes) for includes in graph.values())


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    errors, count = check(root)
    for error in errors:
        print(error)
    print(f"include order: {count} includes, {len(errors)} offences")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
