# SPDX-License-Identifier: Apache-2.0
"""The same world in other units moves the same way, step by step: nothing in a step is an absolute length, mass, time or force.

Every step is taken from the same state in both units, so that what chaos makes of rounding does not add up.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import farfield as ff
from farfield.benchmarks.racks import rack
from farfield.benchmarks.recorded import recorded
from farfield.benchmarks.resting import boxes, sliding
from farfield.experiments.heaps import heap
from units import DECIMAL, POWERS_OF_TWO, SI, Units

SCENES = Path(__file__).resolve().parents[2] / "scenes"
MODELS = ("longrange", "ipc", "polyhedral")
SMOOTH = 1e-9  # of the scene's size, where the way was free
WITHIN = 1  # iterations
SHARE = 0.95  # of the steps


@dataclass(frozen=True)
class Motion:
    """A scene, states to step from, and the controls of these steps."""

    scene: ff.Scene
    start: ff.State
    controls: np.ndarray
    dt: float


def passive(model: ff.Model, state: ff.State, steps: int, dt: float = 0.01) -> Motion:
    return Motion(model.scene, state, np.tile(model.default_control(), (steps, 1)), dt)


def slide() -> Motion:
    model = boxes(0.3)
    return passive(model, sliding(model, model.default_state(), 1.0), 30)


def hit() -> Motion:
    """Balls that drift a little: a row of a rack at rest is pressed along its line, and rounding says to which side it buckles."""
    model = rack(32)
    v = np.zeros((model.num_bodies - 1, 6))
    v[:, :2] = np.random.default_rng(1).uniform(-0.02, 0.02, (len(v), 2))
    v[-1, 0] = 1.0
    return passive(model, ff.State(q=model.default_state().q, v=v.ravel()), 6)


def replayed(name: str, steps: slice) -> Motion:
    problem, controls = recorded(name)
    return Motion(problem.model.scene, problem.model.default_state(), controls[steps], problem.dt)


def thrown(seed: int, steps: int) -> Motion:
    made = heap(seed)
    return passive(made.model, made.state, steps, made.dt)


def loaded(name: str) -> Motion:
    model, _ = ff.load(SCENES / f"{name}.xml")
    return passive(model, model.default_state(), 30, model.default_dt)


MOTIONS = {
    "slide": slide,
    "rack": hit,
    "push": lambda: replayed("push 1", slice(0, 60)),
    "ant-push": lambda: replayed("ant-push 1", slice(0, 30)),
    **{f"heap {seed}": lambda seed=seed: thrown(seed, 12) for seed in (3, 8)},
}
MORE_MOTIONS = {
    "gather": lambda: replayed("gather 2", slice(0, 80)),
    **{f"heap {seed}": lambda seed=seed: thrown(seed, 20) for seed in range(100, 110)},
    **{
        f"{name}.xml": lambda name=name: loaded(name)
        for name in ("ant", "arm7", "bowl", "chain14", "push", "wall_spin")
    },
}


def steps(
    motion: Motion, units: Units, contact: str, states: list[ff.State]
) -> Iterator[tuple[ff.StepReport, ff.State]]:
    """The end of one step from each state (in the old units), in these units, and its report."""
    model = ff.build_model(units.scene(motion.scene))
    simulation = ff.Simulation(model, contact=units.contact(contact), dt=motion.dt * units.time)
    for state, control in zip(states, units.controls(model, motion.controls), strict=True):
        simulation.reset(units.state(model, state))
        yield simulation.step(control), simulation.state


def compared(motion: Motion, contact: str, all_units: tuple[Units, ...]) -> Iterator[tuple[Units, ff.Model, list]]:
    """Per units: (report, end expected, report, end found) of every step of the motion."""
    model = ff.build_model(motion.scene)
    run = ff.rollout(
        model, model.default_parameters(), motion.start, motion.controls, dt=motion.dt, contact=SI.contact(contact)
    )
    assert run.converged
    states = [run.state(k) for k in range(run.num_steps)]
    old = list(steps(motion, SI, contact, states))
    for units in all_units:
        yield units, model, [(*a, *b) for a, b in zip(old, steps(motion, units, contact, states), strict=True)]


def check_powers_of_two(motion: Motion, contact: str, all_units: tuple[Units, ...]) -> None:
    for units, model, found in compared(motion, contact, all_units):
        for k, (report, state, other_report, other) in enumerate(found):
            expected = units.state(model, state)
            place = f"{units.name}, step {k}"
            same = np.array_equal(other.q, expected.q) and np.array_equal(other.v, expected.v)
            assert same, place
            assert (report.iterations, report.contact_evaluations) == (
                other_report.iterations,
                other_report.contact_evaluations,
            ), place


def check_decimal(motion: Motion, contact: str, all_units: tuple[Units, ...]) -> list[bool]:
    """Which steps took as many iterations, up to one."""
    near = []
    for units, model, found in compared(motion, contact, all_units):
        near += [abs(a.iterations - b.iterations) <= WITHIN for a, _, b, _ in found]
        for k, (report, state, other_report, other) in enumerate(found):
            assert report.status == other_report.status == "converged"
            if (
                report.shortest_step < 1.0
            ):  # the filter let only a part of a direction pass: a hit, which may end in several ways
                continue
            expected = units.coordinates(model, state.q)
            difference = np.abs(np.asarray(other.q) - expected).max()
            assert difference <= SMOOTH * np.abs(expected).max(), f"{units.name}, step {k}"
    return near


@pytest.mark.parametrize("contact", MODELS)
@pytest.mark.parametrize("name", MOTIONS)
def test_powers_of_two_give_the_same_bits(name, contact):
    check_powers_of_two(MOTIONS[name](), contact, POWERS_OF_TWO[-1:])


@pytest.mark.parametrize("contact", MODELS)
def test_decimal_factors_give_the_same_motion(contact):
    near = [step for make in MOTIONS.values() for step in check_decimal(make(), contact, DECIMAL[:1])]
    assert np.mean(near) >= SHARE


@pytest.mark.long
@pytest.mark.parametrize("contact", MODELS)
@pytest.mark.parametrize("name", [*MOTIONS, *MORE_MOTIONS])
def test_all_powers_of_two_on_all_scenes(name, contact):
    check_powers_of_two({**MOTIONS, **MORE_MOTIONS}[name](), contact, POWERS_OF_TWO)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("contact", MODELS)
def test_all_decimal_factors_on_all_scenes(contact):
    motions = [*MOTIONS.values(), *MORE_MOTIONS.values()]
    near = [step for make in motions for step in check_decimal(make(), contact, DECIMAL)]
    assert np.mean(near) >= SHARE


def test_units_scale_what_they_should():
    """A pendulum with a spring and a drive, without contact: the same angles, other lengths."""
    scene = ff.Scene(gravity=[0.0, 0.0, -9.81], dt=0.01)
    scene.add_body(name="cart", position=[0.0, 0.0, 1.0])
    scene.add_joint("cart", name="cart", type="Slide", axis=[1, 0, 0], range=(-0.1, 0.1), damping=2.0, stiffness=30.0)
    scene.add_shape("cart", name="cart", type="Box", size=[0.1, 0.1, 0.1], density=500.0)
    scene.add_body(name="bob", parent="cart", position=[0.0, 0.0, -0.5])
    scene.add_joint("bob", name="bob", type="Hinge", axis=[0, 1, 0], anchor=[0, 0, 0.5], damping=0.1, armature=0.01)
    scene.add_shape("bob", name="bob", type="Sphere", size=[0.1, 0, 0], density=1000.0)
    scene.add_actuator(name="motor", type="Motor", joint="bob")
    scene.add_actuator(name="drive", type="Pd", joint="cart", kp=50.0, kd=3.0)
    controls = np.tile([1.5, 0.3, 0.0], (60, 1))
    model = ff.build_model(scene)
    run = ff.rollout(model, model.default_parameters(), model.default_state(), controls, contact=None)
    assert np.abs(run.q[-1]).min() > 1e-2  # both joints have moved, the cart beyond its limit
    assert np.abs(run.q[:, 0]).max() > 0.1
    for units in DECIMAL:
        other = ff.build_model(units.scene(scene))
        assert other.default_dt == 0.01 * units.time
        again = ff.rollout(
            other, other.default_parameters(), other.default_state(), units.controls(other, controls), contact=None
        )
        np.testing.assert_allclose(again.q, units.coordinates(model, run.q), rtol=1e-7)
        np.testing.assert_allclose(again.v, units.velocities(model, run.v), rtol=1e-6, atol=1e-9)
