# SPDX-License-Identifier: Apache-2.0
"""Every reader of files that others have made, as a function of a path, and good files to begin with."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

import farfield as ff
import hostile_seeds
from farfield.experiments.runs import RunDir
from farfield.grains.outline_files import shape_named
from farfield.importers import load_scene
from farfield.importers.meshes import read_mesh
from farfield.reading import read_arrays, read_json

CORPUS = Path(__file__).resolve().parent / "corpus"  #: a folder of files for each reader
REFUSED = (ValueError, OSError)  #: how a bad file is refused; anything else is a fault


@dataclass(frozen=True)
class Reader:
    """A function that reads a file, and where good ones of its kind are: a folder of hostile_seeds and patterns in it."""

    read: Callable[[Path], object]
    folder: str
    files: tuple[str, ...]


def read_run(path: Path) -> None:
    """The files of a run directory that are read when it is opened."""
    RunDir.open(path.parent).read_metrics()


def read_any_safetensors(path: Path) -> None:
    """The same bytes as all kinds of files of arrays."""
    readers = (
        ff.load_model, ff.load_trajectory, ff.load_state, ff.Simulation.load, ff._core.load_grain_table,
        ff._core.load_grain_networks,
    )  # fmt: skip
    for read in readers:
        try:
            read(path)
        except REFUSED:
            continue


READERS: dict[str, Reader] = {
    "mjcf": Reader(load_scene, "scenes", ("pendulum.xml", "push.xml", "arm7.xml")),
    "urdf": Reader(load_scene, "robot", ("two.urdf",)),
    "mesh": Reader(read_mesh, "meshes", ("part.*",)),
    "outline": Reader(lambda path: shape_named(str(path)), "shapes", ("*.svg", "*.txt", "*.csv")),
    "safetensors": Reader(read_any_safetensors, "simulated", ("run/*.safetensors",)),
    "grain-map": Reader(read_any_safetensors, "maps", ("cache/grains/*",)),
    "json": Reader(read_json, "simulated", ("run/*.json",)),
    "arrays": Reader(read_arrays, "run", ("run/*.npz",)),
    "run": Reader(read_run, "simulated", ("run/config.json", "run/metrics.jsonl")),
}


def seeds(name: str, root: Path) -> list[Path]:
    """Good files for a reader, made below root."""
    reader = READERS[name]
    if not (root / reader.folder).is_dir():
        kinds = [recipe.kind for recipe in hostile_seeds.RECIPES if recipe.folder == reader.folder]
        hostile_seeds.make(root, kinds[:1])
    return sorted(path for pattern in reader.files for path in (root / reader.folder).glob(pattern))


def attempt(name: str, path: Path) -> Exception | None:
    """Reads a file; the fault that this ends in, if it is neither read nor refused."""
    try:
        READERS[name].read(path)
    except REFUSED:
        return None
    except Exception as fault:
        return fault
    return None
