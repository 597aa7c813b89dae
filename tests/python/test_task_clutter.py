# SPDX-License-Identifier: Apache-2.0
"""Gather, sort, gather-bunny and ant-push: scenes, losses, the schedule, regions, and short runs with their certificates."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import farfield as ff
from command_line import exit_code
from farfield.differences import slope
from farfield.engines.adjoint import Adjoint
from farfield.experiments import registry, runner
from farfield.experiments.runs import TRAJECTORY, RunDir
from farfield.optimize import ReachLoss
from farfield.optimize.focus import Neighbourhood, View, without
from farfield.optimize.projections import Approach, Leash, Outside, Sequential
from farfield.optimize.schedule import ActiveObject, way_around
from farfield.options import with_options
from farfield.tasks.ant_push import AntPush
from farfield.tasks.clutter import scatter
from farfield.tasks.gather import Gather
from farfield.tasks.gather_bunny import GatherBunny, resting, trefoil
from farfield.tasks.sort import Sort

SHORT = {"objects": "2", "frames": "3", "horizon": "4", "iterations": "2", "near": "0.2"}


def objective_of(problem):
    return Adjoint(
        problem.model,
        problem.parameters,
        problem.parameterization,
        problem.loss,
        dt=problem.dt,
        contact=ff.LongRange(**problem.contact_options["longrange"]),
        tolerance=1e-11,
    )


@pytest.mark.parametrize(
    ("task", "dofs", "controls", "unknowns"),
    [
        (Gather(), 66, 6, (32, 4)),
        (Sort(), 66, 6, (16, 3)),
        (GatherBunny(shape="trefoil"), 66, 6, (32, 4)),
        (AntPush(), 22, 12, (12, 4, 3)),
    ],
)
def test_degrees_of_freedom_and_unknowns_are_those_of_the_paper(task, dofs, controls, unknowns):
    problem = task.build(0)
    assert problem.model.num_dofs == dofs
    assert problem.model.num_controls == controls
    assert problem.parameterization.initial().shape == unknowns


def test_settings_are_those_of_the_paper():
    for kind, frames, horizon in ((Gather, 300, 32), (Sort, 700, 16), (GatherBunny, 550, 32)):
        task = kind()
        assert (task.objects, task.frames, task.horizon, task.dt) == (10, frames, horizon, 0.04)
    ant = AntPush()
    assert (ant.frames, ant.dt, ant.waves, ant.iterations) == (240, 0.02, 4, 100)


@pytest.mark.parametrize("kind", [Gather, Sort])
def test_a_seed_makes_one_scene_and_every_object_starts_outside_of_its_region(kind):
    for seed in range(5):
        one, again = kind().build(seed), kind().build(seed)
        assert one.model.default_state().q.tobytes() == again.model.default_state().q.tobytes()
        assert one.model.default_state().q.tobytes() != kind().build(seed + 1).model.default_state().q.tobytes()
        start = resting_trajectory(one)
        inside = one.report(start)["inside"]
        assert inside == 0 if kind is Gather else inside <= 5
        assert not one.success(start)


def resting_trajectory(problem, moved=None):
    """One state as a trajectory; ``moved``: object -> its place."""
    q = problem.model.default_state().q
    for name, place in (moved or {}).items():
        q[problem.model.joint_q(name).start : problem.model.joint_q(name).start + 2] = place
    poses = ff.forward_kinematics(problem.model, problem.parameters, q)[None]
    return SimpleNamespace(
        model=problem.model, parameters=problem.parameters, q=np.array([q]), poses=lambda: poses, dt=problem.dt
    )


def test_success_counts_the_objects_in_their_own_region():
    task = Sort()
    problem = task.build(3)
    targets = problem.loss.targets
    rng = np.random.default_rng(0)
    places = {}
    for k, name in enumerate(problem.loss.bodies):
        angle = rng.uniform(-np.pi, np.pi)
        places[name] = targets[k] + 0.99 * task.radius * np.array([np.cos(angle), np.sin(angle)])
    home = problem.report(resting_trajectory(problem, places))
    assert home["inside"] == 10 and home["share"] == 1.0 and home["summed_loss"] == 0.0
    wrong = {name: (place if k < 6 else -targets[k]) for k, (name, place) in enumerate(places.items())}
    there = resting_trajectory(problem, wrong)
    assert problem.report(there)["inside"] == 6 and not problem.success(there)
    wrong["cube 6"] = places["cube 6"]
    assert problem.success(resting_trajectory(problem, wrong))
    assert sorted({tuple(t) for t in targets}) == [(-task.apart, 0.0), (task.apart, 0.0)]


@pytest.mark.parametrize("kind", [Gather, Sort])
def test_the_gradient_of_a_window_is_that_of_its_loss(kind):
    problem = kind(objects=3, horizon=5, loss="active").build(1)
    objective = objective_of(problem)
    problem.loss.weights = np.array([1.0, 0.3, 0.0])
    rng = np.random.default_rng(4)
    x = problem.parameterization.initial() + 0.02 * rng.standard_normal(problem.parameterization.shape)
    (here,) = objective.evaluate([x])
    direction = rng.standard_normal(x.shape) / np.sqrt(x.size)
    found = slope(lambda h: objective.evaluate([x + h * direction])[0].value, [10.0**-k for k in (1.5, 2, 2.5, 3)])
    analytic = float((here.gradient * direction).sum())
    assert analytic != 0.0
    assert found.relative_error(analytic) < 1e-3 + 10.0 * found.noise / abs(analytic)
    assert found.noise < 0.05 * abs(analytic)


def test_a_plan_takes_in_what_is_near_and_hardly_misses_the_rest():
    problem = Gather(objects=3, horizon=6).build(1)
    objective = objective_of(problem)
    state = problem.model.default_state()
    for name, place in (("cube 0", (0.4, 0.1)), ("cube 1", (0.7, 0.3)), ("cube 2", (-1.6, 0.9))):
        state.q[problem.model.joint_q(name).start : problem.model.joint_q(name).start + 2] = place
    objective.state = state
    near = Neighbourhood(
        problem.loss,
        0.5,
        places=lambda s: np.array([np.asarray(s.q)[problem.model.joint_q(n)][:2] for n in problem.loss.bodies]),
        tool=lambda s: np.asarray(s.q)[:2],
        active=lambda: 1,
    )
    assert near.chosen(state) == (0, 1)
    problem.loss.weights = np.array([0.5, 1.0, 0.0])
    x = problem.parameterization.initial() + [0.3, 0.2, 0.0, 0.1] * np.linspace(0.1, 1.0, 6)[:, None]
    (whole,) = objective.evaluate([x])
    view = near.view(objective, state)
    assert view.objective.model.num_dofs == 18 and near.view(objective, state) is view
    part, guess = view.evaluate(x, state, None)
    assert part.value == pytest.approx(whole.value, rel=1e-6)
    assert np.linalg.norm(part.gradient - whole.gradient) < 1e-3 * np.linalg.norm(whole.gradient)
    assert not np.array_equal(part.gradient, whole.gradient)
    velocities = whole.trajectory.v[1:]
    rest = problem.model.joint_dofs("cube 2")
    assert not guess[:, rest].any()  # left out: at rest
    assert np.abs(np.delete(guess - velocities, rest, axis=1)).max() < 1e-4 * np.abs(velocities).max()
    again, _ = view.evaluate(x, state, guess)
    assert again.value == pytest.approx(part.value, rel=1e-9)
    assert sum(r.iterations for r in again.trajectory.reports) < sum(r.iterations for r in part.trajectory.reports)
    state.q[problem.model.joint_q("cube 2").start : problem.model.joint_q("cube 2").start + 2] = (0.35, -0.3)
    assert near.chosen(state) == (0, 1, 2)  # near the way between rod and active cube, though far from both
    near.active = lambda: None
    assert near.chosen(state) == (0, 1, 2) and near.view(objective, state).objective is objective
    with pytest.raises(ValueError, match="near 0, expected > 0 m"):
        Neighbourhood(problem.loss, 0, places=None, tool=None, active=None)


def test_a_scene_without_some_bodies_keeps_the_others_as_they_are():
    problem = Gather(objects=3).build(1)
    whole = problem.model.scene
    part = without(whole, {"cube 0", "cube 2"})
    assert [body.name for body in part.bodies] == ["world", "rod", "cube 1"]
    model = ff.build_model(part)
    assert model.num_dofs == 12 and model.num_controls == 6
    view = View(SimpleNamespace(model=model), problem.model)
    assert np.array_equal(problem.model.default_state().q[view._columns_q], model.default_state().q)
    before, after = problem.parameters.moments, model.default_parameters().moments
    assert np.array_equal(before[[0, 1, 3]], after)


def make_schedule(places, targets, tool=(0.0, 0.0), **options):
    """A schedule over free bodies at ``places`` and a tool with two slides, and the state they are in."""
    scene = ff.Scene(name="places")
    scene.add_body(name="tool")
    for axis, name in (([1, 0, 0], "x"), ([0, 1, 0], "y")):
        scene.add_joint("tool", name=name, type="Slide", axis=axis)
    scene.add_shape("tool", type="Box", size=[0.1, 0.1, 0.1], collides=False)
    names = [f"body {k}" for k in range(len(places))]
    for name, place in zip(names, places, strict=True):
        scene.add_body(name=name, position=[*place, 1.0])
        scene.add_joint(name, name=name, type="Free")
        scene.add_shape(name, type="Box", size=[0.1, 0.1, 0.1], collides=False)
    model = ff.build_model(scene)
    state = model.default_state()
    state.q[:2] = tool
    loss = ReachLoss(names, targets, 0.2)
    return ActiveObject(loss, model, names, ("x", "y"), **options), loss, state, model


def test_the_next_object_is_the_one_with_the_shortest_way_to_its_back():
    places = [(1.0, 0.0), (0.0, 0.9), (0.1, 0.0)]
    schedule, loss, state, model = make_schedule(places, np.zeros((3, 2)), tool=(1.4, 0.1), waiting=0.25, behind=0.2)
    schedule.begin(state)
    assert schedule.active == 0
    assert list(loss.weights) == [1.0, 0.25, 1.0]  # what is inside weighs 1: it must stay there
    assert np.allclose(loss.limits, [0.2, 0.95, 0.2])  # what waits costs something once it is pushed away
    first = model.joint_q("body 0").start
    state.q[first] = 0.25  # nearly there: it keeps its turn
    schedule.begin(state)
    assert schedule.active == 0
    state.q[first] = 0.15
    schedule.begin(state)
    assert schedule.active == 1
    assert list(loss.weights) == [1.0, 1.0, 1.0]
    state.q[model.joint_q("body 1").start + 1] = 0.1
    schedule.begin(state)
    assert schedule.active is None
    state.q[first] = 0.5  # pushed out again
    schedule.begin(state)
    assert schedule.active == 0


def test_an_object_that_does_not_arrive_gives_way_and_comes_back_later():
    schedule, _, state, _ = make_schedule([(1.0, 0.0), (0.0, 1.0)], np.zeros((2, 2)), tool=(1.0, 0.5), patience=3)
    turns = []
    for _ in range(9):
        schedule.begin(state)
        turns.append(schedule.active)
    assert turns == [0, 0, 0, 1, 1, 1, 0, 0, 0]


def test_a_schedule_goes_on_where_its_state_was_taken():
    places = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)]
    one, loss, state, _ = make_schedule(places, np.zeros((3, 2)), tool=(0.9, 0.2), patience=3)
    other, other_loss, _, _ = make_schedule(places, np.zeros((3, 2)), patience=3)
    for _ in range(4):
        one.begin(state)
    other.restore(one.state())
    assert other.active == one.active and np.array_equal(other_loss.weights, loss.weights)
    for _ in range(7):
        one.begin(state)
        other.begin(state)
        assert other.active == one.active
    with pytest.raises(ValueError, match="2 joints for 3 bodies"):
        ActiveObject(loss, None, ["a", "b"], ("x", "y"))
    with pytest.raises(ValueError, match="patience 0, expected >= 1"):
        ActiveObject(loss, None, ["a", "b", "c"], ("x", "y"), patience=0)


def test_the_way_around_a_circle():
    assert way_around(np.array([2.0, 0.0]), np.array([2.0, 1.0]), 1.0) == 1.0
    assert way_around(np.array([2.0, 0.0]), np.array([-2.0, 0.0]), 1.0) == pytest.approx(2.0 + np.pi)
    assert way_around(np.array([2.0, 0.5]), np.array([2.0, 0.5]), 1.0) == 0.0


def test_the_disc_is_approached_step_by_step():
    far = Approach((0.0, 0.0), 0.5, (0, 1), (2.0, 0.0), 0.4)
    x = np.array([[2.0, 0.0, 7.0]] * 6)
    found = far.project(x)
    assert np.allclose(np.linalg.norm(found[:, :2], axis=1), [1.6, 1.2, 0.8, 0.5, 0.5, 0.5])
    assert np.array_equal(found[:, 2], x[:, 2])
    assert np.array_equal(far.project(found), found)
    inside = np.array([[0.1, 0.2, 0.0]])
    assert far.project(inside).tobytes() == inside.tobytes()
    with pytest.raises(ValueError, match="stride 0, expected > 0"):
        Approach((0.0, 0.0), 0.5, (0, 1), (2.0, 0.0), 0)


def test_on_the_rim_only_the_way_along_it_counts():
    disc = Approach((0.0, 0.0), 1.0, (0, 1), (0.0, 0.0), 1.0)
    x = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.0, 0.0]])
    gradient = np.array([[-3.0, 2.0, 1.0], [3.0, 2.0, 1.0], [-3.0, 2.0, 1.0]])
    # outward in the first row; inward in the second and inside in the third stay
    assert np.array_equal(disc.along(x, gradient), [[0.0, 2.0, 1.0], gradient[1], gradient[2]])
    assert np.array_equal(
        Sequential(Outside((5.0, 0.0), 1.0, (0, 1)), disc).along(x, gradient), disc.along(x, gradient)
    )


def test_a_leash_limits_the_speed():
    x = np.array([[0.3, 0.0, 9.0], [0.3, 0.0, 9.0], [5.0, 0.0, 9.0], [5.0, 0.0, 9.0]])
    found = Leash((0.0, 0.0), 0.2, (0, 1)).project(x)
    assert np.allclose(found[:, 0], [0.2, 0.3, 0.5, 0.7]) and np.array_equal(found[:, 2], x[:, 2])


def test_objects_are_scattered_apart_or_it_is_said_that_they_do_not_fit():
    places = scatter(np.random.default_rng(0), 12, 0.4, 0.9, 0.2)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2) + np.eye(12)
    assert apart.min() >= 0.2
    size = np.linalg.norm(places, axis=1)
    assert size.min() >= 0.4 and size.max() <= 0.9
    with pytest.raises(ValueError, match="objects: 200 do not fit into a ring of"):
        scatter(np.random.default_rng(0), 200, 0.4, 0.5, 0.2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gather", "--set", "loss=none"], "option loss: 'none', expected one of: active, sum"),
        (["gather", "--set", "objects=0"], "option objects: 0, expected > 0"),
        (["gather", "--set", "objects=100"], "objects: 100 do not fit into a ring"),
        (["gather", "--set", "stride=40"], "RecedingHorizon: stride 40, expected 1 up to the steps of a window"),
        (["sort", "--set", "shape=bunny"], "option 'shape' is unknown; sort has: objects, frames"),
        (["gather-bunny", "--set", "shape=cow"], "option shape: 'cow', expected one of: bunny, trefoil"),
        (["ant-push", "--set", "waves=0"], "option waves: 0, expected > 0"),
    ],
)
def test_mistakes_are_one_line(capsys, monkeypatch, tmp_path, arguments, said):
    monkeypatch.chdir(tmp_path)
    assert exit_code("run", *arguments) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


@pytest.mark.parametrize("missing", ["pybullet_data", "fast_simplification"])
def test_without_the_package_of_the_bunny_it_is_said_what_to_do(monkeypatch, capsys, tmp_path, missing):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, missing, None)
    assert exit_code("run", "gather-bunny") == 2
    said = capsys.readouterr().err
    assert missing in said and "--set shape=trefoil" in said and said.count("\n") == 1


def volume(points, triangles):
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0


def edges_are_shared(triangles):
    edges = {(int(t[k]), int(t[(k + 1) % 3])) for t in triangles for k in range(3)}
    return len(edges) == 3 * len(triangles) and all((b, a) in edges for a, b in edges)


def test_the_stand_in_is_closed_and_not_convex():
    from scipy.spatial import ConvexHull

    points, triangles = trefoil(250)
    assert 150 < len(triangles) < 350
    assert edges_are_shared(triangles)
    assert volume(points, triangles) < 0.95 * ConvexHull(points).volume
    mesh, size = resting(points, triangles)
    assert size == pytest.approx(volume(mesh.vertices, mesh.triangles), rel=1e-9)
    # it lies on three corners or more
    assert (mesh.vertices[:, 2] < mesh.vertices[:, 2].min() + 1e-9).sum() >= 3


def test_the_bunny_has_250_triangles_and_its_centre_of_mass_at_the_origin():
    pytest.importorskip("pybullet_data")
    pytest.importorskip("fast_simplification")
    problem = GatherBunny(objects=2).build(0)
    mesh = problem.model.scene.meshes[0]
    assert 240 <= len(mesh.triangles) <= 260 and edges_are_shared(mesh.triangles)
    body = problem.model.body("bunny 0")
    moments = np.asarray(problem.parameters.moments)[body]
    assert moments[0] == pytest.approx(0.1, rel=1e-6)
    assert np.abs(moments[1:4]).max() < 1e-9


@pytest.mark.parametrize("task", ["gather", "sort", "gather-bunny", "ant-push"])
def test_a_few_frames_are_certified_and_a_stopped_run_goes_on_with_the_same_bits(task, tmp_path):
    settings = {"frames": "8", "iterations": "3"} if task == "ant-push" else SHORT
    more = {"shape": "trefoil"} if task == "gather-bunny" else {}
    made = with_options(registry.find_task(task), settings | more)
    runs = []
    for stop in (None, 2):
        run = runner.start(made, seed=2, contact="longrange", method="adjoint", out=tmp_path / f"run-{stop}")
        complete = runner.execute(run, quiet=True, stop_after=stop)
        assert complete is (stop is None)
        if stop is not None:
            run = runner.resume(made, RunDir.open(tmp_path / f"run-{stop}"))
            assert runner.execute(run, quiet=True)
        runs.append(run)
    whole, resumed = (run.driver.inputs() for run in runs)
    assert whole.controls.tobytes() == resumed.controls.tobytes()
    if whole.state is not None:  # where the driver applies steps
        assert whole.state.q.tobytes() == resumed.state.q.tobytes()
    result = runner.finish(runs[0])
    assert result["certified"] and result["min_gap"] > 0.0 and result["stuck"] is None
    assert result["loss_initial"] > 0.0
    if task == "ant-push":
        assert 0.0 < result["loss_share"] < 1.0 + 1e-9
    else:
        assert result["objects"] == 2 and result["share"] == result["inside"] / 2
        # judged by the steps that were taken
        assert np.array_equal(ff.load_trajectory(tmp_path / "run-None" / TRAJECTORY).q, runs[0].driver.state()["q"])
    assert json.loads((tmp_path / "run-None" / "result.json").read_text())["task"] == task


def test_the_summed_loss_of_the_paper_is_there_too(tmp_path):
    made = with_options(Gather, {**SHORT, "loss": "sum"})
    run = runner.start(made, seed=2, contact="longrange", method="adjoint", out=tmp_path / "run")
    assert runner.execute(run, quiet=True)
    assert np.array_equal(run.problem.loss.weights, np.ones(2))


def test_several_steps_of_a_window_may_be_applied(tmp_path):
    made = with_options(Gather, {**SHORT, "frames": "5", "stride": "2"})
    run = runner.start(made, seed=2, contact="longrange", method="adjoint", out=tmp_path / "run")
    assert runner.execute(run, quiet=True)
    assert run.driver.frame == 5 and run.driver.total == 3 * 2
    assert run.iterations == 6


def test_the_ant_hears_of_the_box_from_afar():
    """At rest, with nothing but the ground touched, the gait has a gradient, and a step against it lowers the loss."""
    problem = AntPush(frames=40).build(5)
    objective = objective_of(problem)
    x = problem.parameterization.initial()
    (here,) = objective.evaluate([x])
    assert here.trajectory.converged and np.isfinite(here.gradient).all()
    rng = np.random.default_rng(1)
    direction = rng.standard_normal(x.shape) / np.sqrt(x.size)
    found = slope(lambda h: objective.evaluate([x + h * direction])[0].value, [10.0**-k for k in (2, 2.5, 3, 3.5)])
    analytic = float((here.gradient * direction).sum())
    assert analytic != 0.0
    assert abs(found.value - analytic) < 0.02 * abs(analytic) + 10.0 * found.noise
    assert found.noise < 0.1 * abs(analytic)


def test_the_benchmark_of_bunnies_times_a_frame_of_the_paper():
    from farfield.benchmarks import bunnies

    options = bunnies.Options(steps=1, brute_steps=0, repeats=1, shape="trefoil")
    found = bunnies.run(lambda text, total: lambda: None, options)
    assert [row["model"] for row in found["rows"]] == ["longrange", "ipc"]
    for row in found["rows"]:
        assert row["frame_seconds"] == pytest.approx(60 * 32 * 1e-3 * row["step_ms"])
    assert found["triangles"] == 10 * 288 + 12
    assert [check.name for check in found["checks"]] == ["long range / IPC"]
