# SPDX-License-Identifier: Apache-2.0
"""Hard scenes to their end: every step arrives, nothing intersects by a test of its own, energy does not rise, and the outcome is the
one that mechanics knows."""

import math
from functools import cache

import numpy as np
import pytest

import farfield as ff
import hard_scenes
from farfield.contact_models import contact_from_description
from farfield.experiments.intersections import Surfaces
from farfield.experiments.rigid_scenes import Seen
from hard_scenes import GRAVITY, Hard

MODELS = ("longrange", "ipc", "polyhedral")
HULLS = "polyhedral contact knows this body by its hull"


@cache
def rolled(name: str, contact: str) -> ff.Trajectory:
    """The motion of a scene of hard_scenes."""
    hard = getattr(hard_scenes, name)()
    return roll(hard, contact)


def roll(hard: Hard, contact: str, state: ff.State | None = None, **options) -> ff.Trajectory:
    model = hard.model()
    controls = np.zeros((hard.steps, model.num_controls))
    start = hard.state(model) if state is None else state
    return ff.rollout(model, model.default_parameters(), start, controls, dt=hard.dt, contact=contact, **options)


def check(motion: ff.Trajectory) -> None:
    """Arrived, apart, and without energy from nowhere."""
    last = motion.reports[-1]
    assert motion.converged, f"{last.status} at step {motion.num_steps} after {last.iterations} iterations"
    assert motion.min_gap > 0.0
    surfaces = Surfaces(motion.model)
    for step, poses in enumerate(motion.poses()):
        assert surfaces.find_intersection(np.asarray(poses)) is None, f"state {step}"
    energy = mechanical_energy(motion)
    # where bodies tip over an edge the potential is concave, and implicit Euler gains energy in proportion to dt^2
    allowed = 1e-4 * (motion.dt / 0.01) ** 2 * np.abs(energy).max()
    assert np.diff(energy).max() <= allowed


def mechanical_energy(motion: ff.Trajectory) -> np.ndarray:
    """Kinetic, potential and of contact without friction, which has none, after every step [J]."""
    contact = contact_from_description(motion.contact)
    stored = [contact.evaluate(motion.model, motion.parameters, q).energy for q in motion.q[1:]]
    return np.array([r.kinetic + r.potential + s for r, s in zip(motion.reports, stored, strict=True)])


SCENES = (
    "lever_arm",
    "wedge_in_crack",
    "spiked_plates",
    "cube_on_its_edge",
    "chain",
    "small_gaps",
    "rough_slabs",
    "bullet",
    "great_masses",
    "feather_on_truck",
    "long_steps",
)
CONCAVE = ("spiked_plates", "chain")


@pytest.mark.parametrize("contact", MODELS)
@pytest.mark.parametrize("name", SCENES)
def test_arrives_apart_and_without_energy_from_nowhere(name, contact):
    if contact == "polyhedral" and name in CONCAVE:
        pytest.skip(HULLS)
    check(rolled(name, contact))


def place(motion: ff.Trajectory, body: str, step: int = -1) -> np.ndarray:
    return np.asarray(motion.poses()[step, motion.model.body(body)])


@pytest.mark.parametrize("contact", MODELS)
def test_the_lever_throws_the_ball(contact):
    motion = rolled("lever_arm", contact)
    heights = motion.poses()[:, motion.model.body("ball"), 2]
    # the weight comes down at 5 m/s 0.7 m from the fulcrum, the ball is 2.8 m from it on the other side
    speed = 2.0 * math.sqrt(2.0 * GRAVITY * 1.2) * 2.8 / 0.7  # twice that of the plank where it bounces off
    assert 2.0 < heights.max() < heights[0] + speed**2 / (2.0 * GRAVITY)


@pytest.mark.parametrize("contact", MODELS)
def test_the_wedge_sticks_in_the_crack(contact):
    motion = rolled("wedge_in_crack", contact)
    # sides at atan(1/4) meet walls at the same angle where the crack is as wide as the wedge
    assert place(motion, "wedge")[2] == pytest.approx(-0.6, abs=0.05)
    assert np.linalg.norm(motion.v[-1]) < 0.05


@pytest.mark.parametrize("contact", MODELS)
def test_the_cube_falls_on_its_side(contact):
    motion = rolled("cube_on_its_edge", contact)
    height = place(motion, "cube")[2]
    if contact == "ipc":  # on four corners at 0.85 of a range of 0.02 sizes
        assert height == pytest.approx(0.5 + 0.017, abs=1e-3)
    else:
        assert height == pytest.approx(0.5, abs=0.015)
    assert np.linalg.norm(motion.v[-1]) < 0.01
    energy = [report.kinetic + report.potential for report in (motion.reports[0], motion.reports[-1])]
    assert energy[1] == pytest.approx(1000.0 * GRAVITY * height, rel=1e-3)
    assert energy[0] > 1000.0 * GRAVITY * 0.5 * math.sqrt(2.0)


@pytest.mark.parametrize("contact", MODELS)
@pytest.mark.parametrize(("overhang", "falls"), [(-0.2, False), (0.1, True)])
def test_a_box_falls_off_a_cliff_when_its_centre_is_beyond_the_edge(contact, overhang, falls):
    motion = roll(hard_scenes.cliff_edge(overhang), contact)
    check(motion)
    assert (place(motion, "box")[2] < -0.5) == falls
    if not falls:
        np.testing.assert_allclose(place(motion, "box")[:2], [0.2 * overhang, 0.0], atol=0.01)


@pytest.mark.parametrize("contact", ["longrange", "ipc"])
def test_linked_rings_stay_linked(contact):
    motion = rolled("chain", contact)
    assert hard_scenes.chain().expect(seen(motion)) is None
    apart = seen(motion)
    apart.poses[-1, motion.model.body("ring 3"), 0] += 0.3
    assert hard_scenes.chain().expect(apart) == f"ring 3 is no longer linked at state {motion.num_steps}"


def seen(motion: ff.Trajectory) -> Seen:
    return Seen(motion.model, np.asarray(motion.q), np.asarray(motion.v), np.array(motion.poses()), motion.dt)


@pytest.mark.parametrize("contact", MODELS)
def test_rough_slabs_come_to_rest_where_coulomb_says(contact):
    hard = hard_scenes.rough_slabs()
    model = hard.model()
    settled = roll(hard, contact).state(-1)
    speed = 1.0
    v = np.zeros(model.num_dofs)
    v[model.joint_dofs("below").start] = v[model.joint_dofs("above").start] = speed
    motion = roll(hard, contact, ff.State(q=settled.q, v=v))
    check(motion)
    way = motion.q[-1, 0] - settled.q[0]
    assert way == pytest.approx(
        speed**2 / (2.0 * GRAVITY) - 0.5 * speed * hard.dt, rel=0.1
    )  # implicit Euler ends early
    assert abs(motion.v[-1, 0]) < 1e-3


@pytest.mark.parametrize("contact", MODELS)
def test_the_bullet_stays_on_its_side(contact):
    motion = rolled("bullet", contact)
    assert np.all(motion.poses()[:, motion.model.body("bullet"), 2] > 0.01)


@pytest.mark.parametrize("contact", MODELS)
def test_great_masses_rest(contact):
    motion = rolled("great_masses", contact)
    assert place(motion, "heavy")[2] == pytest.approx(0.4, abs=0.02)
    assert place(motion, "light")[2] == pytest.approx(0.1, abs=0.01)
    motion = rolled("feather_on_truck", contact)
    assert 2.0 < place(motion, "feather")[2] < 2.05


def squeeze(contact: str, room: float) -> tuple[ff.Simulation, list[ff.StepReport]]:
    """Steps of a press until it stops or ends."""
    hard, script = hard_scenes.press(room)
    model = hard.model()
    simulation = ff.Simulation(model, contact=contact, dt=hard.dt)
    reports = []
    for row in script:
        reports.append(simulation.step(script=row))
        if reports[-1].status != "converged":
            break
    return simulation, reports


@pytest.mark.parametrize("contact", MODELS)
def test_a_press_with_room_closes(contact):
    simulation, reports = squeeze(contact, room=0.21)
    assert len(reports) == 40 and reports[-1].status == "converged"
    assert abs(simulation.state.q[simulation.model.joint_q("nut").start]) < 5e-3
    assert Surfaces(simulation.model).find_intersection(poses_now(simulation)) is None


@pytest.mark.parametrize("contact", MODELS)
def test_a_press_without_room_stops_and_says_what_is_squeezed(contact):
    simulation, reports = squeeze(contact, room=0.19)
    last = reports[-1]
    assert last.status == "squeezed" and len(reports) < 40
    names = simulation.model.body_names
    body, a, b = last.squeezed
    assert names[body] == "nut"
    assert {names[a], names[b]} == {"left jaw", "right jaw"}
    assert Surfaces(simulation.model).find_intersection(poses_now(simulation)) is None
    assert last.iterations < 2500  # it does not try for ever


def poses_now(simulation: ff.Simulation) -> np.ndarray:
    return np.asarray(ff.forward_kinematics(simulation.model, simulation.parameters, simulation.state.q))
