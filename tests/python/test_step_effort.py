# SPDX-License-Identifier: Apache-2.0
"""How many evaluations of contact a step takes where bodies hit, slide and pile up."""

import numpy as np
import pytest

import farfield as ff
from farfield.benchmarks.racks import rack

MODELS = [ff.LongRange, ff.Ipc, ff.Polyhedral]


def evaluations(trajectory) -> np.ndarray:
    assert trajectory.converged
    return np.array([report.contact_evaluations for report in trajectory.reports])


@pytest.mark.parametrize("contact", MODELS, ids=lambda c: c.__name__)
def test_a_hit_takes_few_evaluations(contact):
    """Sixteen balls of 32 triangles, hit at 1 m/s. With the exact Hessian of friction: 33, 109 and 71 a step."""
    model = rack(32)
    v = np.zeros(model.num_dofs)
    v[6 * 15] = 1.0
    state = ff.State(q=model.default_state().q, v=v)
    trajectory = ff.rollout(model, model.default_parameters(), state, np.zeros((10, 0)), dt=0.01, contact=contact())
    assert evaluations(trajectory).mean() < 17
    assert evaluations(trajectory).max() < 40


@pytest.mark.parametrize("contact", MODELS, ids=lambda c: c.__name__)
def test_cubes_dropped_on_each_other_come_to_their_end(contact):
    """Eight cubes, turned at random. With the exact Hessian of friction steps of such piles stop."""
    random = np.random.default_rng(1)
    scene = ff.Scene(name="pile")
    for k in range(8):
        layer, i = divmod(k, 4)
        turn = random.standard_normal(4)
        place = [(i % 2 - 0.5) * 0.17, (i // 2 - 0.5) * 0.17, 0.1 + 0.18 * layer]
        cube = scene.add_body(name=f"cube {k}", position=place, orientation=turn / np.linalg.norm(turn))
        scene.add_joint(cube, name=f"cube {k}", type="Free")
        scene.add_shape(cube, type="Box", size=[0.05, 0.05, 0.05])
    scene.add_shape(0, name="table", type="HalfSpace")
    model = ff.build_model(scene)
    trajectory = ff.rollout(
        model, model.default_parameters(), model.default_state(), np.zeros((40, 0)), dt=0.01, contact=contact()
    )
    assert evaluations(trajectory).mean() < 25
