# SPDX-License-Identifier: Apache-2.0
"""One simulation to hold: single steps, contacts, files and pickles; batches of everything a rollout takes."""

import copy
import pickle

import numpy as np
import pytest

import farfield as ff
from farfield.commands.simulate import why_stopped
from farfield.contact_models import CONTACT_MODELS

SCENE = """<mujoco><option timestep="0.01"/><worldbody>
  <geom type="plane" size="0 0 1" friction="0.5"/>
  <body name="box" pos="0 0 0.11"><freejoint/><geom type="box" size=".1 .1 .1" density="500" friction="0.5"/></body>
  <body name="top" pos="0.02 0 0.28"><freejoint/><geom type="box" size=".05 .05 .05" density="500" friction="0.5"/></body>
</worldbody></mujoco>"""
PUSHER = """<mujoco><worldbody><geom type="plane" size="0 0 1"/>
  <body name="hand" mocap="true" pos="-0.3 0 0.1"><geom type="box" size=".05 .1 .05"/></body>
  <body name="box" pos="0 0 0.06"><freejoint/><geom type="box" size=".05 .05 .05"/></body>
</worldbody></mujoco>"""

VICE = """<mujoco><option gravity="0 0 0"/><worldbody>
  <body name="left" mocap="true" pos="-0.3 0 0"><geom type="box" size=".05 .3 .3"/></body>
  <body name="right" mocap="true" pos="0.3 0 0"><geom type="box" size=".05 .3 .3"/></body>
  <body name="nut" pos="0.02 0 0"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
</worldbody></mujoco>"""


DT = {"softmin": 5e-3}  # explicit steps of contact this stiff are shorter than the scene's


@pytest.fixture
def model(tmp_path):
    (tmp_path / "scene.xml").write_text(SCENE)
    return ff.load(tmp_path / "scene.xml")[0]


def steps(simulation, count):
    for _ in range(count):
        assert simulation.step().status == "converged"
    return simulation


@pytest.mark.parametrize("name", CONTACT_MODELS)
def test_single_steps_are_a_rollout(model, name):
    dt = DT.get(name, model.default_dt)
    simulation = ff.Simulation(model, contact=name, dt=dt)
    parameters, state = model.default_parameters(), model.default_state()
    whole = ff.rollout(model, parameters, state, np.zeros((30, 0)), contact=name, dt=dt)
    for step in range(30):
        assert simulation.step().iterations == whole.reports[step].iterations
        np.testing.assert_array_equal(simulation.state.q, whole.q[step + 1])
    assert simulation.time == pytest.approx(30 * dt) and simulation.dt == dt


def test_contact_is_on_unless_it_is_turned_off(model):
    still, falling = ff.Simulation(model), ff.Simulation(model, contact=None)
    steps(still, 100), steps(falling, 100)
    assert '"longrange"' in still.contact and falling.contact == ""
    assert still.state.q[2] > 0.09 > -4 > falling.state.q[2]
    rolled = ff.rollout(model, model.default_parameters(), model.default_state(), np.zeros((100, 0)))
    np.testing.assert_array_equal(rolled.q[-1], still.state.q)


def test_contacts_carry_the_weights(model):
    simulation = steps(ff.Simulation(model, tolerance=1e-10), 300)
    world, box, top = (model.body_names.index(name) for name in ("world", "box", "top"))
    mass = model.default_parameters().moments[:, 0]
    found = {(c.a, c.b): c for c in simulation.contacts()}
    ground, stack = found[world, box], found[box, top]
    np.testing.assert_allclose(stack.force_on(top)[2] + found[world, top].force_on(top)[2], mass[top] * 9.81, rtol=1e-3)
    upwards = ground.force_on(box)[2] + stack.force_on(box)[2]
    np.testing.assert_allclose(upwards, mass[box] * 9.81, rtol=1e-3)
    np.testing.assert_allclose(ground.force_on(world), -ground.force_on(box))
    assert ground.normal_force > 0 and ground.gap > 0
    np.testing.assert_allclose(np.abs(ground.normal), [0, 0, 1], atol=1e-3)
    with pytest.raises(ValueError, match=f"body {top}, expected {world} or {box}"):
        ground.force_on(top)
    assert simulation.find_intersection() is None


@pytest.mark.parametrize("name", CONTACT_MODELS)
@pytest.mark.parametrize("way", ["file", "pickle", "copy"])
def test_a_saved_simulation_goes_on_bit_for_bit(model, tmp_path, name, way):
    dt = DT.get(name, model.default_dt)
    first = steps(ff.Simulation(model, contact=name, dt=dt, tolerance=1e-9, filter=ff.FilterOptions(keep=0.2)), 15)
    if way == "file":
        first.save(tmp_path / "here")
        second = ff.Simulation.load(tmp_path / "here", threads=2)
    else:
        second = pickle.loads(pickle.dumps(first)) if way == "pickle" else copy.deepcopy(first)
    assert second.contact == first.contact and second.options.tolerance == 1e-9
    assert second.last_report.iterations == first.last_report.iterations
    for _ in range(15):
        assert first.step().iterations == second.step().iterations
        np.testing.assert_array_equal(first.state.q, second.state.q)
        np.testing.assert_array_equal(first.state.v, second.state.v)
    assert first.num_steps == second.num_steps == 30


def test_files_that_are_no_simulation_are_refused_by_name(model, tmp_path):
    ff.save_model(tmp_path / "model", model, model.default_parameters())
    with pytest.raises(ff.FileError, match=r"model.*farfield\.simulation"):
        ff.Simulation.load(tmp_path / "model")
    with pytest.raises(ff.FileError, match="none"):
        ff.Simulation.load(tmp_path / "none")


def test_a_step_that_failed_ends_the_simulation_until_it_is_reset(model):
    simulation = ff.Simulation(model, tolerance=1e-300, max_iterations=1)
    assert simulation.step().status == "max_iterations"
    for again in (simulation, pickle.loads(pickle.dumps(simulation))):
        with pytest.raises(ValueError, match="ended with 'max_iterations'"):
            again.step()
        again.reset()
        assert again.time == 0.0


def test_a_body_without_room_is_named(tmp_path):
    (tmp_path / "vice.xml").write_text(VICE)
    model = ff.load(tmp_path / "vice.xml")[0]
    simulation = ff.Simulation(model)
    script = model.default_state().q[:14].copy()
    for x in np.arange(0.28, 0.1, -0.02):
        script[0], script[7] = -x, x
        report = simulation.step(script=script)
        if report.status != "converged":
            break
    assert (report.status, report.squeezed) == ("squeezed", (3, 1, 2))
    assert why_stopped(model, report) == "'nut' is squeezed between 'left' and 'right'"
    assert simulation.find_intersection() is None
    assert pickle.loads(pickle.dumps(simulation)).last_report.squeezed == (3, 1, 2)


def test_a_trace_tells_every_iteration_and_costs_nothing_when_off(model):
    simulation = ff.Simulation(model)
    assert simulation.step().iterations > 0 and simulation.last_trace == []
    simulation.set_trace(True)
    report = simulation.step()
    trace = simulation.last_trace
    assert len(trace) == report.iterations
    assert trace[-1].excess <= 1.0 and trace[-1].alpha == 1.0 and trace[-1].residual == report.residual
    assert all(one.begin == 0.0 and one.length == 1.0 and one.slope <= 0.0 for one in trace)


def test_trajectories_are_pickled_with_their_contact(model):
    rolled = ff.rollout(model, model.default_parameters(), model.default_state(), np.zeros((5, 0)))
    other = pickle.loads(pickle.dumps(rolled))
    partials = np.ones((6, model.num_dofs))
    mine, theirs = (ff.rollout_vjp(each, dL_dq=partials).v0 for each in (rolled, other))
    np.testing.assert_array_equal(mine, theirs)


class Spring:
    """Pulls the one control towards where the box should be."""

    num_parameters = 1

    def __init__(self, gain):
        self.gain = gain

    def control(self, step, state):
        return np.array([self.gain * (0.5 - state.q[0])])

    def vjp(self, step, state, bar):
        q_bar = np.zeros(len(state.v))
        q_bar[0] = -self.gain * bar[0]
        return q_bar, np.zeros(len(state.v)), np.array([(0.5 - state.q[0]) * bar[0]])


def slider(mass):
    text = f"""<mujoco><worldbody><body name="cart"><joint type="slide" axis="1 0 0"/>
      <geom type="box" size=".1 .1 .1" mass="{mass}"/></body></worldbody>
      <actuator><motor joint="slide"/></actuator></mujoco>"""
    return text.replace('type="slide" axis', 'name="slide" type="slide" axis')


def test_batches_take_models_scripts_and_policies(tmp_path):
    models = []
    for mass in (1.0, 3.0):
        (tmp_path / "cart.xml").write_text(slider(mass))
        models.append(ff.load(tmp_path / "cart.xml")[0])
    (tmp_path / "pusher.xml").write_text(PUSHER)
    models.append(ff.load(tmp_path / "pusher.xml")[0])
    policies = [Spring(2.0), None, None]
    controls = [np.zeros((20, 1)), np.ones((20, 1)), np.zeros((20, 0))]
    script = np.tile([-0.3, 0, 0.1, 1, 0, 0, 0], (20, 1))
    script[:, 0] += np.linspace(0.0, 0.25, 20)
    scripts = [None, None, script]
    states = [model.default_state() for model in models]
    sets = [model.default_parameters() for model in models]
    for threads in (1, 2):
        batch = ff.rollout_batch(
            models, sets, states, controls, scripts=scripts, policies=policies, dt=0.01, threads=threads
        )
        partials = [np.ones((21, model.num_dofs)) for model in models]
        back = ff.rollout_vjp_batch(batch, dL_dq=partials, policies=policies, threads=threads)
        for k, model in enumerate(models):
            alone = ff.rollout(model, sets[k], states[k], controls[k], script=scripts[k], policy=policies[k], dt=0.01)
            np.testing.assert_array_equal(batch[k].q, alone.q)
            gradient = ff.rollout_vjp(alone, dL_dq=partials[k], policy=policies[k])
            np.testing.assert_array_equal(back[k].v0, gradient.v0)
            np.testing.assert_array_equal(back[k].policy, gradient.policy)
    assert batch[0].q[-1, 0] != batch[1].q[-1, 0] and batch[2].q[-1, 7] > 0.05  # pushed
    assert back[0].policy.shape == (1,) and back[0].policy[0] != 0


def test_a_batch_that_does_not_fit_is_refused(model):
    state, controls, parameters = model.default_state(), np.zeros((2, 0)), model.default_parameters()
    for given, said in (
        ({"scripts": []}, "0 scripts for 1 states"),
        ({"policies": [None, None]}, "2 policies for 1 states"),
        ({"guesses": []}, "0 guesses for 1 states"),
    ):
        with pytest.raises(ValueError, match=said):
            ff.rollout_batch(model, [parameters], [state], [controls], **given)
    with pytest.raises(ValueError, match="2 models for 1 states"):
        ff.rollout_batch([model, model], [parameters], [state], [controls])
