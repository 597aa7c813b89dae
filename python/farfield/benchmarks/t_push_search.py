# SPDX-License-Identifier: Apache-2.0
"""Finds motions of the finger that push the T to a goal in MuJoCo, by CMA-ES over via points (the package `cma`).

    python -m farfield.benchmarks.t_push_search GOAL_X GOAL_Y GOAL_YAW [SEED]

prints a motion in the form of `t_push_motions`.
"""

from __future__ import annotations

import sys

import numpy as np

from farfield.benchmarks.t_push_mujoco import MujocoPush, targets
from farfield.optional import needed

START = (0.0, -0.22)
VIA_POINTS, POPULATION, GENERATIONS = 7, 20, 150
LEAST_BREAKS = 2
ANGLE_WEIGHT = 0.1  # metres per radian


def cost(push: MujocoPush, via: np.ndarray, goal: np.ndarray) -> float:
    """Distance of the T's last pose from the goal [m]; breaks that are missing and places out of reach cost more."""
    poses, breaks = push.run(targets(via, push.dt))
    away = poses[-1] - goal
    angle = (away[2] + np.pi) % (2 * np.pi) - np.pi
    wide = np.maximum(np.abs(via) - 0.4, 0.0).sum()
    return float(np.hypot(np.linalg.norm(away[:2]), ANGLE_WEIGHT * angle) + 0.05 * max(LEAST_BREAKS - breaks, 0) + wide)


def search(goal: np.ndarray, seed: int = 0, generations: int = GENERATIONS) -> dict:
    """The best motion found."""
    try:
        cma = needed("cma", extra="search")
    except ImportError as error:
        raise ImportError("the search needs the package cma: pip install farfield[search]") from error
    push = MujocoPush()
    goal = np.asarray(goal, dtype=float)

    def via_of(x: np.ndarray) -> np.ndarray:
        return np.vstack([START, np.reshape(x, (VIA_POINTS, 2))])

    options = {"popsize": POPULATION, "seed": seed + 1, "maxiter": generations, "verbose": -9}
    evolution = cma.CMAEvolutionStrategy(np.tile([0.0, -0.1], VIA_POINTS), 0.12, options)
    while not evolution.stop():
        points = evolution.ask()
        evolution.tell(points, [cost(push, via_of(x), goal) for x in points])
    via = via_of(evolution.result.xbest)
    poses, breaks = push.run(targets(via, push.dt))
    return {"goal": goal.tolist(), "via": via.tolist(), "pose": poses[-1].tolist(), "breaks": breaks}


if __name__ == "__main__":
    print(search(np.array([float(x) for x in sys.argv[1:4]]), int(sys.argv[4]) if len(sys.argv) > 4 else 0))
