# SPDX-License-Identifier: Apache-2.0
"""Two-dimensional grains of any polygonal shape: shapes, contact maps, systems and experiments."""

from farfield._core import (
    GrainLaw,
    GrainMap,
    GrainMapAudit,
    GrainMotion,
    GrainShape,
    GrainSystem,
    GrainTable,
    GrainWall,
)
from farfield.grains.maps import MapOptions, contact_maps, pair_map
from farfield.grains.outline_files import shape_from_svg, shape_named

__all__ = [
    "GrainLaw",
    "GrainMap",
    "GrainMapAudit",
    "GrainMotion",
    "GrainShape",
    "GrainSystem",
    "GrainTable",
    "GrainWall",
    "MapOptions",
    "contact_maps",
    "pair_map",
    "shape_from_svg",
    "shape_named",
]
