# SPDX-License-Identifier: Apache-2.0
"""Contact maps of all pairs of shapes, built once, audited, and kept on disk by the hash of the outlines."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from farfield import _core
from farfield._core import GrainMap, GrainMapAudit, GrainShape

BACK_ENDS = ("table", "exact", "network")
AUDIT_SAMPLES = 3000
NETWORK_RMSE = 0.01  # networks are the compact choice: their bound is twice that of tables


@dataclass(frozen=True)
class MapOptions:
    """Which back end, and how fine.

    theta: slices of a table per full turn; space: nodes along X and Y; labels: "exact", or "paper" for replication of
    the published grid search (such maps are not gated by the audit, which measures the true distance). layers, width,
    steps: of networks; paper_network: ReLU on the raw angle, for replication and not gated either.
    """

    back_end: str = "table"
    theta: int = 128
    space: int = 128
    labels: str = "exact"
    layers: int = 5
    width: int = 64
    steps: int = 25_000
    paper_network: bool = False

    def __post_init__(self) -> None:
        if self.back_end not in BACK_ENDS:
            raise ValueError(f"contact map '{self.back_end}' is unknown, expected one of: {', '.join(BACK_ENDS)}")
        if self.labels not in ("exact", "paper"):
            raise ValueError(f"labels '{self.labels}', expected 'exact' or 'paper'")
        if self.labels == "paper" and self.back_end != "table":
            raise ValueError(
                f"labels 'paper' of a {self.back_end} map, expected a table: a grid search per sample is too slow"
            )


@dataclass(frozen=True)
class TrainedMap:
    """A map, how good it is, where it is kept and whether it came from there."""

    map: GrainMap
    audit: GrainMapAudit | None
    file: Path | None
    cached: bool


def cache_folder() -> Path:
    """FARFIELD_CACHE, or the user's cache directory."""
    root = os.environ.get("FARFIELD_CACHE")
    if root:
        return Path(root) / "grains"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "farfield" / "grains"


def table_file(a: GrainShape, b: GrainShape, options: MapOptions, folder: Path) -> Path:
    """Where the table of a pair is kept: outlines, ratio of radii, resolution and labels name it."""
    ratio = f"{b.radius / a.radius:.9g}"
    return folder / f"{a.hash:016x}-{b.hash:016x}-r{ratio}-{options.theta}x{options.space}-{options.labels}.safetensors"


def pair_map(
    a: GrainShape,
    b: GrainShape,
    options: MapOptions | None = None,
    *,
    folder: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> TrainedMap:
    """The map of shapes a and b. A table is read from the cache when it is there, else built and written.

    A map that fails its audit is an error that says what to raise. A damaged or foreign file in the cache is an error too.
    """
    options = options or MapOptions()
    if options.back_end == "exact":
        return TrainedMap(_core.grain_exact_map(a, b), None, None, False)
    folder = Path(folder) if folder is not None else cache_folder()
    if options.back_end == "network":
        return _network_map(a, b, options, folder, progress)
    file = table_file(a, b, options, folder)
    cached = file.exists()
    if cached:
        table, audit = _core.load_grain_table(file)
        found = _core.grain_table_map(table, a, b)
    else:
        table = _core.grain_table(
            a, b, theta=options.theta, space=options.space, paper_labels=options.labels == "paper", progress=progress
        )
        found = _core.grain_table_map(table, a, b)
        audit = _core.grain_audit(found, a, b, samples=AUDIT_SAMPLES)
        folder.mkdir(parents=True, exist_ok=True)
        _core.save_grain_table(file, table, audit)
    if options.labels == "exact":
        audit.require(f"contact map of '{a.name}' and '{b.name}' ({options.theta} x {options.space})")
    return TrainedMap(found, audit, file, cached)


def network_file(a: GrainShape, b: GrainShape, options: MapOptions, folder: Path) -> Path:
    """Where the networks of a pair are kept."""
    kind = "relu" if options.paper_network else "softplus"
    ratio = f"{b.radius / a.radius:.9g}"
    size = f"{options.layers}x{options.width}-{options.steps}-{kind}"
    return folder / f"{a.hash:016x}-{b.hash:016x}-r{ratio}-{size}.safetensors"


def _network_map(a, b, options: MapOptions, folder: Path, progress) -> TrainedMap:
    file = network_file(a, b, options, folder)
    cached = file.exists()
    if cached:
        networks = _core.load_grain_networks(file)
    else:
        networks = _core.grain_train_networks(
            a,
            b,
            layers=options.layers,
            width=options.width,
            steps=options.steps,
            paper=options.paper_network,
            progress=progress,
        )
    found = _core.grain_network_map(networks, a, b)
    audit = _core.grain_audit(found, a, b, samples=AUDIT_SAMPLES)
    if not cached:
        folder.mkdir(parents=True, exist_ok=True)
        _core.save_grain_networks(file, networks, audit)
    if not options.paper_network:
        audit.require(
            f"contact map of '{a.name}' and '{b.name}' ({options.layers}x{options.width}, {options.steps} steps)",
            rmse=NETWORK_RMSE,
        )
    return TrainedMap(found, audit, file, cached)


def contact_maps(
    shapes: Sequence[GrainShape],
    options: MapOptions | None = None,
    *,
    folder: Path | None = None,
    driven: Sequence[int] = (),
    progress: Callable[[str, int, int], None] | None = None,
) -> list[list[GrainMap | None]]:
    """The `maps` argument of GrainSystem: maps[a][b] for a <= b. `progress(pair, done, total)` follows the work.

    driven: shapes of which no grain is free; they need no maps among each other. Their tables with others are finer: blocks of
    walls are often much smaller or longer than grains.
    """
    options = options or MapOptions()
    fine = dataclasses.replace(options, theta=round(1.25 * options.theta), space=round(1.25 * options.space))
    maps: list[list[GrainMap | None]] = [[None] * len(shapes) for _ in shapes]
    for i, a in enumerate(shapes):
        for j in range(i, len(shapes)):
            b = shapes[j]
            if i in driven and j in driven:
                continue

            def told(done: int, total: int, pair: str = f"{a.name}-{b.name}") -> None:
                if progress is not None:
                    progress(pair, done, total)

            chosen = fine if i in driven or j in driven else options
            maps[i][j] = pair_map(a, b, chosen, folder=folder, progress=told).map
    return maps
