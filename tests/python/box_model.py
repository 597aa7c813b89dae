# SPDX-License-Identifier: Apache-2.0
"""A box over the ground, as the viewer sees a model: names, surfaces and half-spaces."""

from types import SimpleNamespace

import numpy as np

CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
QUADS = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
FACES = np.array([corners for a, b, c, d in QUADS for corners in ((a, b, c), (a, c, d))])


class Model:
    body_names = ("world", "torso")
    num_bodies = 2

    def drawables(self):
        return [SimpleNamespace(body=1, vertices=0.2 * CORNERS, triangles=FACES, color=(0.9, 0.1, 0.1, 1.0))]

    def half_spaces(self):
        return [(0, (0.0, 0.0, 1.0), 0.0)]
