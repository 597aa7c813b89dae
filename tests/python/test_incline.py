# SPDX-License-Identifier: Apache-2.0
"""A box on a slope holds or slides by Coulomb's law, on a half-space and on a mesh.

The slope is a turned gravity. Held, the box creeps at slip_speed tan / sqrt(friction^2 - tan^2): friction is smoothed.
"""

import math

import numpy as np
import pytest

import farfield as ff

SLOPE = 0.5  # tangent
SLIP_SPEED = 1e-3
DT = 0.01


def slide(ground: str, friction: float, seconds: float, speed: float = 0.0, slope: float = SLOPE) -> np.ndarray:
    """Speeds down the slope of a box of 1 kg, one for each step."""
    angle = math.atan(slope)
    scene = ff.Scene(gravity=[9.81 * math.sin(angle), 0.0, -9.81 * math.cos(angle)])
    if ground == "half-space":
        scene.add_shape(0, name="ground", type="HalfSpace", friction=friction)
    else:
        scene.add_shape(0, name="ground", type="Box", size=[4.0, 4.0, 0.1], position=[0, 0, -0.1], friction=friction)
    scene.add_body(name="box", position=[0.0, 0.0, 0.1 + 1e-4])
    scene.add_joint("box", name="box", type="Free")
    scene.add_shape("box", name="box", type="Box", size=[0.1, 0.1, 0.1], density=125.0, friction=friction)
    model = ff.build_model(scene)
    parameters = model.default_parameters()
    state = model.default_state()
    v = np.zeros(model.num_dofs)
    v[0] = speed
    steps = round(seconds / DT)
    contact = ff.LongRange(stiffness=0.003, slip_speed=SLIP_SPEED)  # tight: the two triangles of a face push unevenly
    run = ff.rollout(
        model, parameters, ff.State(q=state.q, v=v), np.zeros((steps, 0)), dt=DT, contact=contact, tolerance=1e-8
    )
    assert run.converged
    assert min(report.shortest_step for report in run.reports) == 1.0
    return np.diff(np.asarray(run.q)[:, 0]) / DT


@pytest.mark.parametrize("ground", ["half-space", "mesh"])
def test_the_threshold_is_coulombs_within_one_percent(ground):
    held = slide(ground, 1.01 * SLOPE, 3.0)
    creep = SLIP_SPEED * SLOPE / math.sqrt((1.01 * SLOPE) ** 2 - SLOPE**2)
    assert held[-1] == pytest.approx(creep, rel=0.05)
    sliding = slide(ground, 0.99 * SLOPE, 3.0)
    gained = 0.01 * SLOPE * 9.81 * math.cos(math.atan(SLOPE))  # acceleration by Coulomb's law
    assert np.diff(sliding[-100:]).mean() / DT == pytest.approx(gained, rel=0.05)


@pytest.mark.parametrize("ground", ["half-space", "mesh"])
@pytest.mark.parametrize("friction", [0.05, 0.3, 0.5])
def test_a_thrown_box_slows_down_by_coulombs_law(ground, friction):
    speeds = slide(ground, friction, 0.3, speed=2.0, slope=0.0)
    assert np.diff(speeds[5:]).mean() / DT == pytest.approx(-9.81 * friction, rel=0.005)
