# SPDX-License-Identifier: Apache-2.0
"""`farfield bench NAME`: a benchmark and the bounds it must keep, with everything the times depend on beside them."""

from __future__ import annotations

import argparse
import importlib

from farfield.benchmarks import BENCHMARKS
from farfield.terminal import ProgressBar, Table, show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="which benchmark; see --list")
    parser.add_argument("--list", action="store_true", help="list the benchmarks, one per line")
    parser.add_argument(
        "--set", action="append", default=[], metavar="K=V", dest="settings", help="change an option of the benchmark"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object on standard output")
    parser.add_argument("--quiet", action="store_true", help="no progress and no summary")


def run(args: argparse.Namespace) -> int:
    if args.list:
        for each in BENCHMARKS:
            print(f"{each.name:12} {each.help}")
        return 0
    known = {each.name: each for each in BENCHMARKS}
    if args.name not in known:
        given = "no benchmark named" if args.name is None else f"benchmark '{args.name}' is unknown"
        raise ValueError(f"{given}, expected one of: {', '.join(known)}")

    from farfield.benchmarks.measure import machine
    from farfield.output import dump_json

    chosen = known[args.name]
    module = importlib.import_module(chosen.module)
    options = {"options": _options(module.Options, args)} if chosen.options else {}
    if args.settings and not chosen.options:
        raise ValueError(f"--set {args.settings[0]}: benchmark '{args.name}' has no options")
    result = module.run(_silent if args.quiet else _bars(), **options)
    about = machine()
    passed = all(check.passed is not False for check in result["checks"])
    if args.json:
        checks = [{**vars(check), "passed": check.passed} for check in result["checks"]]
        print(dump_json({"benchmark": args.name, "passed": passed, **result, "checks": checks, "machine": about}))
    if not args.quiet:
        _print_summary(result, about)
    return 0 if passed else 1


def _options(kind: type, args: argparse.Namespace):
    """The benchmark's options as --set changes them."""
    from farfield.commands.arguments import parse_settings
    from farfield.options import with_options

    return with_options(kind, parse_settings(args.settings))


def _silent(text: str, turns: int):
    return lambda: None


def _bars():
    """Makes one bar after the other; a new one ends the last, which need not have come to its end."""
    last = []

    def bar(text: str, turns: int):
        if last:
            last.pop().close()
        last.append(ProgressBar(text, turns))
        return last[0].update

    return bar


def _rows_table(rows: list[dict]) -> Table:
    table = Table("Rows", [">" + key.replace("_", " ") for key in rows[0]])
    for row in rows:
        table.row(*(_cell(row[key]) for key in rows[0]))
    return table


def _cell(value) -> str:
    if isinstance(value, dict):
        return "\n".join(f"{key.replace('_', ' ')} {_cell(item)}" for key, item in value.items())
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _print_summary(result: dict, about: dict) -> None:
    if result.get("rows"):
        show(_rows_table(result["rows"]))
    times = Table("Times per call", ("what", ">minimum [us]", ">median [us]", ">repeats"))
    for name, timing in result["timings"].items():
        times.row(name, f"{1e6 * timing.minimum:.2f}", f"{1e6 * timing.median:.2f}", str(timing.repeats))
    checks = Table("Bounds; ratios are of minima, all from this run", ("what", ">measured", "bound", "", "note"))
    for check in result["checks"]:
        verdict = {True: "ok", False: "FAILED", None: "not measured"}[check.passed]
        measured = "-" if check.value is None else f"{check.value:.3g}"
        checks.row(check.name, measured, f"{check.relation} {check.bound:g}", verdict, check.note)
    show(*([times] if result["timings"] else []), *([checks] if result["checks"] else []))
    hashes = ", ".join(f"{name} {value}" for name, value in result["hashes"].items())
    show(
        f"result hashes: {hashes}",
        f"{about['cpu']}, {about['cores']} cores, threads 1 unless named; SIMD target {about['simd']}; "
        f"{about['compiler']} {about['flags']}; mujoco {about['versions'].get('mujoco')}; commit {about['commit']}",
    )
