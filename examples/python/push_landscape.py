# SPDX-License-Identifier: Apache-2.0
"""Where a rod near a box gets stuck on its way round, if it only follows the force it exerts on the box from afar.

While the box rests, a step of the rod lowers the loss of `farfield run push` exactly when it makes the force on the box point more to
the target. Held on a circle around the box by the reach disc, the rod climbs that force component along the circle. For every radius
this counts the bearings of the target from which the climb ends in front of the box or beside it instead of behind it.
"""

from __future__ import annotations

import numpy as np

import farfield as ff
from farfield.tasks.push import Push

RADII = (0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 1.0)  # [m]
ANGLES = np.radians(np.arange(0, 360, 5))
BEARINGS = np.radians(np.arange(-45, 46, 5))  # of the target, seen from the box, against the rod's place at angle 0


def forces_on_box(problem, contact, radius: float) -> np.ndarray:
    """Horizontal force on the box [N], shape (angles, 2), with the rod across the line to the box at every angle."""
    q = problem.model.default_state().q
    found = []
    for angle in ANGLES:
        q[[0, 1, 3]] = radius * np.cos(angle), radius * np.sin(angle), angle
        found.append(-contact.evaluate(problem.model, problem.parameters, q).wrench[2, :2])
    return np.array(found)


def climb(heights: np.ndarray, start: int) -> int:
    """Index of the local maximum that is reached from `start` on a circle."""
    while True:
        best = max(((start - 1) % len(heights), start, (start + 1) % len(heights)), key=lambda k: heights[k])
        if heights[best] <= heights[start]:
            return start
        start = best


def trapped(forces: np.ndarray) -> int:
    """Number of target bearings from which a rod that starts at angle 0 ends less than 120 degrees away from the target."""
    count = 0
    for bearing in BEARINGS:
        end = ANGLES[climb(forces @ [np.cos(bearing), np.sin(bearing)], 0)]
        count += abs((end - bearing + np.pi) % (2 * np.pi) - np.pi) < np.radians(120)
    return count


def main() -> None:
    problem = Push().build(seed=0)
    contact = ff.LongRange(**problem.contact_options["longrange"])
    print(f"radius [m]  trapped of {len(BEARINGS)}  force on the box [mN]")
    for radius in RADII:
        forces = forces_on_box(problem, contact, radius)
        sizes = 1e3 * np.linalg.norm(forces, axis=1)
        print(f"{radius:10.2f}  {trapped(forces):13d}  {sizes.min():.1f} to {sizes.max():.1f}")


if __name__ == "__main__":
    main()
