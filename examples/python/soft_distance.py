# SPDX-License-Identifier: Apache-2.0
"""A signed distance of a mesh that is smooth everywhere, with gradient and Hessian: python examples/python/soft_distance.py"""

import numpy as np

import farfield as ff

corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * 0.1 - 0.05
faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
triangles = np.array([[f[0], f[k], f[k + 1]] for f in faces for k in (1, 2)])

cloud = ff.PointCloud.from_mesh(corners, triangles, spacing=0.01)
distance = ff.SoftDistance(cloud)
print(f"{len(cloud)} points, {100 * cloud.sign_errors(corners, triangles):.2f} % wrong signs near the surface")

points = np.array([[0.08, 0.0, 0.0], [0.055, 0.055, 0.0], [0.0, 0.0, 0.02]])
print("distance [mm]", 1e3 * distance(points))
print("gradient\n", distance.gradient(points))
print("Hessian of the first [1/m]\n", distance.hessian(points)[0].reshape(3, 3))

p = np.array([[0.09, 0.06, 0.02]])  # Newton steps onto the surface along the gradient
for _ in range(5):
    g = distance.gradient(p)
    p = p - distance(p)[:, None] * g / (g * g).sum()
assert np.abs(distance(p)) < 1e-6
print("nearest point of the surface", p[0], "certified error", distance.error(p)[0])
