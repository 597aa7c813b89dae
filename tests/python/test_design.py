# SPDX-License-Identifier: Apache-2.0
"""Design spaces: what moves, its derivative through contact, mass and start pose, and steps that never lead to a design that cannot start."""

from __future__ import annotations

import numpy as np
import pytest

import farfield as ff
from farfield.engines.adjoint import Adjoint
from farfield.optimize.codesign import CoDesign, Group, Stage, design_groups, trust_linear
from farfield.optimize.design import Alias, AttachAt, Cage, Design, Mirror, Offset, Pin, Scale
from farfield.optimize.gait import Gait
from farfield.optimize.lift import Lift
from farfield.optimize.losses import ReachLoss
from farfield.optimize.parameterizations import Combined, DirectTargets
from farfield.optimize.rollout_input import InputGradient

BOX = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
FACES = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
         [1, 5, 7], [1, 7, 3]]  # fmt: skip


def arm() -> ff.Model:
    """An upper and a lower link above the ground, on a slide; the lower one hangs on the end of the upper one, and has two toes."""
    scene = ff.Scene(name="arm")
    scene.add_shape(0, name="ground", type="HalfSpace", friction=0.6)
    scene.add_body(name="upper", position=[0.0, 0.0, 0.7])
    scene.add_joint("upper", name="height", type="slide", axis=[0.0, 0.0, 1.0])
    scene.add_joint("upper", name="along", type="slide", axis=[1.0, 0.0, 0.0])
    scene.add_joint("upper", name="shoulder", type="hinge", axis=[0.0, 1.0, 0.0], damping=0.1)
    scene.add_mesh(name="link", vertices=BOX * [0.02, 0.02, 0.15] + [0.0, 0.0, -0.15], triangles=FACES)
    scene.add_mesh(name="toe", vertices=BOX * [0.02, 0.03, 0.015] + [0.0, 0.0, -0.3], triangles=FACES)
    scene.add_shape("upper", name="upper", type="mesh", mesh="link", density=400.0, keep_vertices=True)
    scene.add_body(name="lower", parent="upper", position=[0.0, 0.0, -0.3])
    scene.add_joint("lower", name="elbow", type="hinge", axis=[0.0, 1.0, 0.0])
    scene.add_actuator(name="elbow", joint="elbow", type="pd", kp=20.0, kd=2.0, velocity_input=False)
    scene.add_shape("lower", name="lower", type="mesh", mesh="link", density=400.0, keep_vertices=True)
    for side, place in (("left", 0.05), ("right", -0.05)):
        scene.add_shape("lower", name=f"{side} toe", type="mesh", mesh="toe", density=400.0, position=[0.0, place, 0.0],
                        friction=0.6, keep_vertices=True)  # fmt: skip
    return ff.build_model(scene)


def moved(model: ff.Model, design: Design, z: np.ndarray) -> dict[str, np.ndarray]:
    """How far the vertices of every hull moved."""
    change = design.at(z).hull_vertices - model.default_parameters().hull_vertices
    return {hull.shape: change[hull.rows] for hull in model.hulls}


def test_the_hulls_of_a_model_are_visible():
    model = arm()
    assert [hull.shape for hull in model.hulls] == ["upper", "lower", "left toe", "right toe"]
    assert [hull.body for hull in model.hulls] == [1, 2, 2, 2]
    assert model.hulls[1].rows == slice(8, 16, 1)
    assert model.hulls[0].triangles.shape == (12, 3)
    assert model.hulls[0].volume == pytest.approx(0.04 * 0.04 * 0.3)
    assert not model.hulls[0].clamped
    assert not model.hulls[0].inverted


def test_pieces_move_what_they_say():
    model = arm()
    design = Design(
        model,
        Offset("left toe", limit=[0.01, 0.02], axes="xz"),
        Mirror("left toe", "right toe", "x"),
        Pin("left toe", [0]),
    )
    # vertex 0 of the right toe still follows the unknown of the pinned one
    assert design.names[0] == "left toe: vertex 0 x"
    assert design.units[:2] == ["m", "m"]
    assert design.size == 16
    assert design.upper[:2].tolist() == [0.01, 0.02]
    z = np.arange(1.0, 17.0) * 1e-3
    change = moved(model, design, z)
    assert np.allclose(change["left toe"][1:, 0], z[2::2])
    assert np.allclose(change["left toe"][0], 0.0)
    assert np.allclose(change["right toe"][:, 0], -z[0::2])
    assert np.allclose(change["right toe"][:, 2], z[1::2])
    assert not change["upper"].any()

    scaled = Design(model, Scale("upper", "z", -0.3, 0.5, carry=["lower"]))
    assert scaled.names == ["upper: scale z"]
    assert moved(model, scaled, [0.2])["upper"][:, 2].min() == pytest.approx(-0.06)
    assert scaled.at([0.2]).attachment[2, 2] == pytest.approx(-0.36)

    cage = Design(model, Cage("left toe", (2, 2, 2), limit=0.01), Alias("left toe", "right toe"))
    shift = np.tile([0.001, -0.002, 0.003], 8)  # all nodes alike: everything is shifted
    assert np.allclose(moved(model, cage, shift)["right toe"], [0.001, -0.002, 0.003])


def test_a_body_hangs_at_a_mean_of_vertices():
    model = arm()
    ends = np.flatnonzero(np.asarray(model.default_parameters().hull_vertices)[model.hulls[0].rows][:, 2] < -0.2)
    design = Design(model, Offset("upper", limit=0.02), AttachAt("lower", "upper", rows=ends))
    z = 1e-3 * np.random.default_rng(1).normal(size=design.size)
    parameters = design.at(z)
    assert np.allclose(parameters.attachment[2], np.asarray(parameters.hull_vertices)[ends].mean(axis=0))
    with pytest.raises(ValueError, match="hangs at"):
        Design(model, Offset("upper", limit=0.02), AttachAt("lower", "upper", rows=[0]))
    with pytest.raises(ValueError, match="not on its parent"):
        Design(model, Offset("upper", limit=0.02), AttachAt("upper", "upper", rows=[0]))


def test_bad_designs_are_refused_by_name():
    model = arm()
    with pytest.raises(ValueError, match="shape 'heel' has no hull, expected one of: upper, lower"):
        Design(model, Offset("heel"))
    with pytest.raises(ValueError, match="no unknowns"):
        Design(model, Offset("upper"), Pin("upper"))
    with pytest.raises(ValueError, match=r"16 vertices .* for 8"):
        Design(model, Offset("upper"), Alias("upper", ["left toe", "right toe"]))
    with pytest.raises(ValueError, match="moments follow the design"):
        Design(model, Offset("upper")).change(moments=np.zeros((3, 10)))


@pytest.mark.parametrize(("mass", "total"), [("exact", "density"), ("lumped", "constant")])
def test_the_gradient_by_a_design_and_control_agrees_with_differences(mass, total):
    """Through contact with the ground, friction, mass, attachment points and the lifted start pose, at once."""
    model = arm()
    design = Design(
        model,
        Offset("left toe", limit=0.02),
        Mirror("left toe", "right toe", "y"),
        Scale("upper", "z", -0.3, 0.5, carry=["lower"]),
        Cage("lower", (2, 2, 3), limit=0.01),
        lift=Lift.of(model, "height", 2e-3),
        mass=mass,
        mass_total=total,
    )
    base = np.tile(model.default_control(), (25, 1))
    base[:, 0] = 0.4
    both = Combined(DirectTargets(base), design)
    objective = Adjoint(
        model,
        model.default_parameters(),
        both,
        ReachLoss(["lower", "upper"], [[0.3, 0.1, 0.2], [0.0, 0.0, 0.5]], 0.0),
        contact=ff.Polyhedral(range=5e-3),
        tolerance=1e-11,
    )
    generator = np.random.default_rng(2)
    x = both.initial() + np.concatenate([np.zeros(25), 2e-3 * generator.normal(size=design.size)])
    found = objective.evaluate([x])[0]
    assert found.trajectory.min_gap < 5e-3  # the toes touch the ground
    for part in (slice(0, 25), slice(25, None)):
        direction = np.zeros(x.size)
        direction[part] = generator.normal(size=x[part].size)
        direction /= np.linalg.norm(direction)
        slope = float(np.sum(found.gradient.ravel() * direction))
        errors = []
        for h in (1e-4, 3e-5, 1e-5, 3e-6):
            ends = objective.evaluate([x + k * h * direction for k in (-2, -1, 1, 2)])
            a, b, c, d = (each.value for each in ends)
            errors.append(abs((a - 8 * b + 8 * c - d) / (12 * h) - slope) / abs(slope))
        assert sorted(errors)[1] < 2e-5, errors  # two steps of the ladder agree


def test_the_start_pose_follows_the_lowest_vertex():
    model = arm()
    design = Design(model, Offset(["left toe", "right toe"], limit=0.03), lift=Lift.of(model, "height", 1e-3))
    z = design.initial()
    z[design.names.index("right toe: vertex 0 z")] = -0.02
    given = design.decode(z)
    contact = ff.Polyhedral(range=1e-2)
    poses = ff.forward_kinematics(model, given.parameters, given.state.q)
    low = (np.asarray(given.parameters.hull_vertices)[model.hulls[3].rows][:, 2] + poses[2, 2]).min()
    assert low == pytest.approx(1e-3)
    assert np.isfinite(contact.evaluate(model, given.parameters, given.state.q).energy)


def test_inner_vertices_are_counted_and_spread_brings_them_back():
    model = arm()
    design = Design(model, Offset("left toe", limit=0.1))
    z = 1e-3 * np.random.default_rng(7).uniform(-1.0, 1.0, design.size)  # off the kink of faces with four corners
    corner = np.array([design.names.index(f"left toe: vertex 0 {axis}") for axis in "xyz"])
    z[corner] = [0.03, 0.035, 0.02]  # far inside
    assert design.interior(z) == ["left toe: vertex 0"]
    assert design.report(z)["interior_vertices"] == 1
    value, gradient = design.spread(z)
    assert value > 0.0
    direction = np.random.default_rng(3).normal(size=z.size)
    h = 1e-7
    slope = (design.spread(z + h * direction)[0] - design.spread(z - h * direction)[0]) / (2 * h)
    assert slope == pytest.approx(float(gradient @ direction), rel=1e-5)
    for _ in range(200):
        z = z - 0.5 * design.spread(z)[1]
    assert design.spread(z)[0] < 1e-3 * value
    assert design.spread(design.initial())[0] == 0.0


def test_the_trust_region_step_is_optimal():
    """Against many random feasible points, and against the plain step where no bound is active."""
    generator = np.random.default_rng(4)
    for trial in range(20):
        gradient = generator.normal(size=12) * 10.0 ** generator.uniform(-8, 2, 12)
        lower, upper = -generator.uniform(0.0, 0.1, 12), generator.uniform(0.0, 0.1, 12)
        step = trust_linear(gradient, 0.15, lower, upper)
        assert np.all((lower <= step) & (step <= upper))
        assert np.linalg.norm(step) <= 0.15 * (1 + 1e-12)
        others = np.clip(step + generator.normal(size=(500, 12)) * 0.05, lower, upper)
        others *= np.minimum(1.0, 0.15 / np.linalg.norm(others, axis=1))[:, None]
        assert np.all(others @ gradient >= gradient @ step - 1e-12 * np.abs(gradient @ step)), trial
    free = trust_linear(np.array([3.0, 4.0]), 0.5, np.full(2, -9.0), np.full(2, 9.0))
    assert np.allclose(free, [-0.3, -0.4])
    assert not trust_linear(np.zeros(3), 0.5, -np.ones(3), np.ones(3)).any()


def test_steps_never_lead_to_a_design_that_cannot_start():
    """Without a lift, a step of the toes into the ground is halved until it starts, or left out."""
    scene = arm().scene
    model = ff.build_model(
        scene.replace(bodies=[scene.bodies[0], scene.bodies[1].replace(position=[0.0, 0.0, 0.617]), scene.bodies[2]])
    )
    design = Design(model, Offset(["left toe", "right toe"], limit=0.05, axes="z"))
    base = np.tile(model.default_control(), (10, 1))
    both = Combined(DirectTargets(base), design)
    loss = ReachLoss(["upper"], [[0.0, 0.0, 2.0]], 0.0)  # higher: longer toes help
    objective = Adjoint(model, model.default_parameters(), both, loss, contact=ff.Polyhedral(range=4e-3))
    groups = [
        Group("control", 0, 10, radius=1e-2),
        design_groups(design, 10, radius=0.05),
    ]
    driver = CoDesign(objective, groups, [Stage("all", 6, ["control", "design"])])
    rows = []
    while not driver.done:
        rows.append(driver.advance())
        assert driver.starts_well(driver.best["all"])
    assert any(row["designs_refused"] > 0 for row in rows)
    assert min(row["loss"] for row in rows) < driver.first_value["all"]


def test_a_stopped_driver_goes_on_bit_for_bit():
    model = arm()

    def made() -> CoDesign:
        design = Design(model, Offset("left toe", limit=0.01), Alias("left toe", "right toe"))
        both = Combined(DirectTargets(np.tile(model.default_control(), (12, 1))), design)
        loss = ReachLoss(["lower"], [[0.3, 0.0, 0.4]], 0.0)
        objective = Adjoint(model, model.default_parameters(), both, loss, contact=ff.Polyhedral(range=4e-3))
        groups = [
            Group("control", 0, 12, rule="adam_projected", rate=0.02),
            design_groups(design, 12, radius=2e-3, decay=0.5),
        ]
        stages = [Stage("control", 3, ["control"], steps=8), Stage("both", 3, ["control", "design"], after="control")]
        return CoDesign(objective, groups, stages)

    whole, first = made(), made()
    while not whole.done:
        whole.advance()
    for _ in range(4):
        first.advance()
    second = made()
    second.restore(first.state())
    while not second.done:
        second.advance()
    assert np.array_equal(whole.x, second.x)
    assert all(np.array_equal(whole.best[name], second.best[name]) for name in whole.best)


def test_a_gait_and_its_gradient():
    generator = np.random.default_rng(5)
    angles = generator.normal(size=(40, 3))
    gait = Gait.fitted(np.zeros((30, 6)), 0.02, [0, 1, 2], [3, 4, 5], frequency=1.5, angles=angles, harmonics=4)
    assert np.allclose(gait.angles(gait.initial(), [0.1]), gait.angles(gait.initial(), [0.1 + 1 / 1.5]))
    x, by, direction = gait.initial(), generator.normal(size=(30, 6)), generator.normal(size=gait.size)
    controls = gait.decode(x).controls
    rate = (gait.angles(x, gait.time + 1e-6) - gait.angles(x, gait.time - 1e-6)) / 2e-6
    assert np.allclose(controls[:, 3:], rate, atol=1e-6)
    gradient = gait.pullback(x, InputGradient(by, np.zeros(0), np.zeros(0)))
    h = 1e-6
    ends = [float((gait.decode(x + k * h * direction).controls * by).sum()) for k in (-1, 1)]
    assert (ends[1] - ends[0]) / (2 * h) == pytest.approx(float(gradient @ direction), rel=1e-6)
