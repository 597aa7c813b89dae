# SPDX-License-Identifier: Apache-2.0
"""`farfield tasks`: the tasks with one line each, or the options of one."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", nargs="?", help="name of a task or path of its file: show its options")


def run(args: argparse.Namespace) -> int:
    import dataclasses

    from farfield.experiments.registry import TASKS, find_task

    if args.task is None:
        width = max(len(name) for name in TASKS)
        for name in TASKS:
            print(f"{name:<{width}}  {find_task(name).summary()}")
        return 0
    kind = find_task(args.task)
    print(f"{kind.name}: {kind.summary()}")
    options = dataclasses.fields(kind)
    width = max(len(f"{item.name}={item.default}") for item in options)
    for item in options:
        print(f"  {f'{item.name}={item.default}':<{width}}  {item.metadata.get('help', '')}".rstrip())
    return 0
