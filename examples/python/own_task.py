# SPDX-License-Identifier: Apache-2.0
"""A task of your own, run as `farfield run` runs it: a puck gets the velocity that brings it to a spot.

python examples/python/own_task.py [DIRECTORY], or: farfield run examples/python/own_task.py
"""

import sys
from dataclasses import dataclass

import numpy as np

import farfield as ff
from farfield.experiments import runner
from farfield.optimize import InitialState, Lbfgs, ReachLoss
from farfield.tasks import Marker, Problem, Task, option


@dataclass(frozen=True)
class Slide(Task):
    """Slide a puck to a spot."""

    name = "slide"
    spot: float = option(0.5, "how far away the spot is [m]", above=0)
    iterations: int = option(40, "optimiser iterations", above=0)

    def build(self, seed: int) -> Problem:
        bearing = np.random.default_rng(seed).uniform(-1.0, 1.0)
        spot = self.spot * np.array([np.cos(bearing), np.sin(bearing)])
        scene = ff.Scene(name="slide")
        scene.add_shape(0, name="ground", type="HalfSpace", friction=0.3)
        scene.add_body(name="puck", position=[0.0, 0.0, 0.051])
        scene.add_joint("puck", name="puck", type="Free")
        scene.add_shape("puck", type="Cylinder", size=[0.1, 0.05, 0.0], density=300.0)
        model = ff.build_model(scene)
        x = model.joint_dofs("puck").start
        start = InitialState(model, model.default_state(), np.zeros((60, 0)), velocities=[x, x + 1])
        loss = ReachLoss(["puck"], [spot], radius=0.0, when="end")
        return Problem(
            model=model,
            parameters=model.default_parameters(),
            parameterization=start,
            loss=loss,
            driver=lambda objective: Lbfgs(objective, start.initial() + 0.3, iterations=self.iterations),
            success=lambda motion: loss.distances(motion)[-1, 0] <= 0.01,
            dt=0.02,
            markers=[Marker("spot", (*spot, 0.05), 0.02)],
        )


if __name__ == "__main__":
    run = runner.start(Slide(), seed=0, out=sys.argv[1] if len(sys.argv) > 1 else None)
    runner.execute(run)
    result = runner.finish(run)
    print(
        f"{'solved' if result['success'] else 'not solved'} after {result['iterations']} iterations: {result['run_dir']}"
    )
    assert result["success"] and result["certified"]
