# SPDX-License-Identifier: Apache-2.0
"""Grains of any outline in the plane: crosses fall into a box: python examples/python/grain_heap.py [GRAINS]"""

import sys

import numpy as np

from farfield import grains

count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
arms = [[1, 3], [-1, 3], [-1, 1], [-3, 1], [-3, -1], [-1, -1], [-1, -3], [1, -3], [1, -1], [3, -1], [3, 1], [1, 1]]
shape = grains.GrainShape("cross", [np.array(arms) / 3.0])
law = grains.GrainLaw.default(mass=shape.area, radius=shape.radius, layers=count / 10, friction=0.4)
system = grains.GrainSystem([shape], grains.contact_maps([shape]), law=law, threads=2)
for normal, offset in (([0, 1], 0.0), ([1, 0], -15.0), ([-1, 0], -15.0)):
    system.add_wall(grains.GrainWall.half_plane(normal, offset, friction=0.4))
places = np.stack(np.meshgrid(np.arange(10), np.arange(count // 10)), -1).reshape(-1, 2)
turns = np.random.default_rng(0).uniform(0.0, 2.0 * np.pi, len(places))
system.add(0, np.column_stack([2.6 * places[:, 0] - 11.7, 2.6 * places[:, 1] + 1.5, turns]))

high = system.state()["poses"][:, 1].mean()
system.run(20_000)
audit = system.audit()
low = system.state()["poses"][:, 1].mean()
print(f"{len(places)} crosses: mean height {high:.1f} before, {low:.1f} after; kinetic energy {audit['kinetic']:.1e} J")
assert low < high
