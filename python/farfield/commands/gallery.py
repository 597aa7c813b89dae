# SPDX-License-Identifier: Apache-2.0
"""`farfield gallery`: well-known robots in small scenes with contact, one picture and one row each."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from farfield.commands.arguments import add_output_arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--folder",
        action="append",
        default=[],
        metavar="DIR",
        help="where robot files are, beside packages; repeatable",
    )
    parser.add_argument("--match", metavar="TEXT", help="only robots whose name contains this")
    parser.add_argument(
        "--docs", metavar="DIR", help="write results/gallery.md and images/gallery.png below this folder"
    )
    add_output_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from farfield.experiments import corpus, gallery
    from farfield.experiments.runs import RunDir
    from farfield.output import dump_json, write_text

    for name in args.folder:
        if not Path(name).is_dir():
            raise ValueError(f"--folder {name}: no such folder")
    folders = [Path(name) for name in args.folder] + corpus.package_folders()
    chosen = [entry for entry in gallery.ENTRIES if args.match is None or args.match.lower() in entry.name.lower()]
    found = [(entry, path) for entry in chosen if (path := gallery.find(entry, folders))]
    if not found:
        raise ValueError("no robot of the gallery was found, expected their files below --folder DIR or in packages")
    missing = [entry.name for entry in chosen if entry not in [one for one, _ in found]]
    folder = RunDir.create("gallery", options=gallery.options(folders), path=args.out)
    rows, pictures = [], []
    for entry, path in found:
        row, act = gallery.show(entry, path)
        rows.append(row)
        folder.append_metrics(row)
        if act:
            pictures.append(folder.file(f"{entry.name.replace(' ', '_')}.png"))
            gallery.draw(act, pictures[-1])
        if not args.quiet:
            print(f"{entry.name}: {row['did']}", file=sys.stderr, flush=True)
    gallery.contact_sheet(pictures, folder.file("gallery.png"))
    write_text(folder.file("gallery.md"), gallery.page(rows, "gallery.png"))
    if args.docs:
        (Path(args.docs) / "results").mkdir(parents=True, exist_ok=True)
        gallery.contact_sheet(pictures, Path(args.docs) / "images" / "gallery.png")
        write_text(Path(args.docs) / "results" / "gallery.md", gallery.page(rows, "../images/gallery.png"))
    result = {"rows": rows, "missing": missing, "good": sum(row["good"] for row in rows)}
    folder.write_json("gallery.json", result)
    if args.json:
        print(dump_json(result))
    if not args.quiet:
        for name in missing:
            print(f"{name}: its file was not found", file=sys.stderr)
        print(f"page and pictures: {folder.path}", file=sys.stderr)
    return 0 if result["good"] == len(rows) else 1
