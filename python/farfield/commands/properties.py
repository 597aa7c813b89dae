# SPDX-License-Identifier: Apache-2.0
"""`farfield properties`: what every contact model promises, measured."""

from __future__ import annotations

import argparse

from farfield.terminal import Table, show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="fewer random pairs")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the random pairs (default: 0)")
    parser.add_argument(
        "--plot", metavar="FILE", help="draw force and stiffness against separation instead of measuring"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object on standard output")
    parser.add_argument("--quiet", action="store_true", help="no summary")


def run(args: argparse.Namespace) -> int:
    from dataclasses import replace

    from farfield.output import dump_json
    from farfield.properties import MODELS, QUICK, Settings, measure, to_dict

    if args.plot:
        from farfield.properties.forces import draw

        draw(args.plot)
        return 0
    settings = replace(QUICK if args.quick else Settings(), seed=args.seed)
    findings = {name: measure(row, settings) for name, row in MODELS.items()}
    if args.json:
        print(dump_json(to_dict(findings)))
    elif not args.quiet:
        _print_scorecard(findings)
    kept = all(findings[name][key].passed for name, row in MODELS.items() for key in row.expected)
    return 0 if kept else 1


def _print_scorecard(findings: dict) -> None:
    from farfield.contact_models import TRADES
    from farfield.properties import MODELS

    table = Table("Properties of contact models", ("model", "property", "", "worst figure found"))
    for name, found in findings.items():
        for key, finding in found.items():
            promised = key in MODELS[name].expected
            verdict = ("yes" if promised else "YES, unexpected") if finding.passed else ("NO" if promised else "no")
            table.row(name, key.replace("_", "-"), verdict, finding.worst)
        table.row(name, "in a line", "", TRADES[name.removesuffix("-paper")])
    show(table)
