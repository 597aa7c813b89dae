# SPDX-License-Identifier: Apache-2.0
"""Models, states and trajectories come back from files and pickles without loss; bad files are refused by name."""

import copy
import pickle

import numpy as np
import pytest

import farfield
from farfield.contact_models import engine_description


@pytest.fixture(scope="module")
def model():
    sphere = farfield.Shape(name="s", body=1, type="sphere", size=[0.1, 0, 0], density=1000 / 3)
    mesh = farfield.TriangleMesh(
        name="tetra ▲",
        vertices=[[0, 0, 0], [1 / 3, 0, 0], [0, 1 / 3, 0], [0, 0, 1 / 3]],
        triangles=[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
    )
    bodies = [
        farfield.Body(name="world", motion="fixed"),
        farfield.Body(name="körper", position=[0, 0, 1], joints=[farfield.Joint(name="frei", type="free")]),
        farfield.Body(
            name="arm",
            parent=1,
            position=[0.5, 0, 0],
            joints=[farfield.Joint(name="h", type="hinge", axis=[0, 1, 0], range=(-1 / 3, 2.0), damping=0.1)],
        ),
    ]
    scene = farfield.Scene(
        name="ünïcode",
        bodies=bodies,
        meshes=[mesh],
        shapes=[sphere, farfield.Shape(name="m", body=2, type="mesh", mesh=0)],
        actuators=[farfield.Actuator(name="a", joint="h", kp=10 / 3, kd=0.1)],
    )
    return farfield.build_model(scene)


@pytest.fixture(scope="module")
def parameters(model):
    parameters = model.default_parameters()
    parameters.gravity = np.array([0.1, 0.0, -29.43 / 3])
    parameters.kp *= 1.1
    return parameters


@pytest.fixture(scope="module")
def trajectory(model, parameters):
    controls = np.linspace(-1.0, 1.0, 8 * model.num_controls).reshape(8, -1) / 3
    return farfield.rollout(model, parameters, model.default_state(), controls, dt=1 / 240, contact=None)


def assert_same_parameters(a, b):
    for field in a.fields():
        assert np.array_equal(getattr(a, field.name), getattr(b, field.name)), field.name


def assert_same_model(a, b):
    assert pickle.dumps(a.scene) == pickle.dumps(b.scene)
    assert a.contact_pairs == b.contact_pairs
    assert_same_parameters(a.default_parameters(), b.default_parameters())


def test_model_file(tmp_path, model, parameters):
    path = tmp_path / "modèle.safetensors"
    farfield.save_model(path, model, parameters)
    loaded, loaded_parameters = farfield.load_model(str(path))
    assert_same_model(loaded, model)
    assert_same_parameters(loaded_parameters, parameters)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    assert farfield.model_to_bytes(model, parameters) == path.read_bytes()
    assert_same_model(farfield.model_from_bytes(path.read_bytes())[0], model)


def test_state_file(tmp_path, model):
    state = farfield.State(q=model.default_state().q, v=np.linspace(0, 1, model.num_dofs) / 3)
    farfield.save_state(tmp_path / "s", state)
    loaded = farfield.load_state(tmp_path / "s")
    assert np.array_equal(loaded.q, state.q) and np.array_equal(loaded.v, state.v)


def test_trajectory_file_has_the_same_gradient(tmp_path, trajectory):
    assert trajectory.converged
    farfield.save_trajectory(tmp_path / "t", trajectory)
    loaded = farfield.load_trajectory(tmp_path / "t")
    for name in ("q", "v", "controls", "script", "dt", "converged", "min_gap"):
        assert np.array_equal(getattr(loaded, name), getattr(trajectory, name)), name
    for a, b in zip(loaded.reports, trajectory.reports, strict=True):
        assert (a.status, a.iterations, a.residual, a.kinetic) == (b.status, b.iterations, b.residual, b.kinetic)
    assert_same_model(loaded.model, trajectory.model)
    partials = np.ones((len(trajectory) + 1, trajectory.model.num_dofs))
    a, b = farfield.rollout_vjp(loaded, dL_dq=partials), farfield.rollout_vjp(trajectory, dL_dq=partials)
    assert np.linalg.norm(b.controls) > 0
    assert np.array_equal(a.controls, b.controls)
    assert_same_parameters(a.parameters, b.parameters)


def test_files_are_ordinary_safetensors(tmp_path, model, parameters, trajectory):
    safetensors = pytest.importorskip("safetensors")
    from safetensors.numpy import load_file

    farfield.save_model(tmp_path / "m", model, parameters)
    arrays = load_file(tmp_path / "m")
    assert np.array_equal(arrays["parameters.moments"], parameters.moments)
    assert arrays["mesh.0.triangles"].dtype == np.int32
    assert np.array_equal(arrays["mesh.0.vertices"], model.scene.meshes[0].vertices)
    with safetensors.safe_open(tmp_path / "m", framework="numpy") as file:
        assert file.metadata()["format"] == "farfield.model"
        assert file.metadata()["version"] == "5"
    farfield.save_trajectory(tmp_path / "t", trajectory)
    arrays = load_file(tmp_path / "t")
    assert np.array_equal(arrays["q"], trajectory.q)
    assert arrays["report.status"].shape == (len(trajectory),)
    assert arrays["script"].shape == (len(trajectory), 0)


def test_pickles_and_copies(model, parameters):
    for duplicate in (lambda value: pickle.loads(pickle.dumps(value)), copy.deepcopy):
        assert_same_model(duplicate(model), model)
        assert_same_parameters(duplicate(parameters), parameters)
        state = model.default_state()
        assert np.array_equal(duplicate(state).q, state.q)


@pytest.mark.parametrize("load", ["load_model", "load_state", "load_trajectory"])
def test_bad_files_are_refused_by_name(tmp_path, model, parameters, load):
    assert issubclass(farfield.FileError, OSError)
    load = getattr(farfield, load)
    with pytest.raises(farfield.FileError, match="missing': cannot read: No such file"):
        load(tmp_path / "missing")
    with pytest.raises(farfield.FileError, match="not a regular file"):
        load(tmp_path)
    (tmp_path / "foreign").write_text("<mujoco model='ant'/>")
    with pytest.raises(farfield.FileError, match=r"foreign': header of .*not a safetensors file"):
        load(tmp_path / "foreign")
    farfield.save_model(tmp_path / "whole", model, parameters)
    (tmp_path / "cut").write_bytes((tmp_path / "whole").read_bytes()[:-9])
    with pytest.raises(farfield.FileError, match=r"cut': .*truncated"):
        load(tmp_path / "cut")
    (tmp_path / "newer").write_bytes((tmp_path / "whole").read_bytes().replace(b'"version":"5"', b'"version":"6"'))
    with pytest.raises(farfield.FileError, match=r"newer': (version 6, expected at most 5|format 'farfield.model')"):
        load(tmp_path / "newer")
    with pytest.raises(TypeError):
        load(3)


def test_a_failed_save_names_the_path_and_keeps_the_old_file(tmp_path, model, parameters):
    with pytest.raises(farfield.FileError, match="no/such/folder': cannot write: No such file"):
        farfield.save_model(tmp_path / "no/such/folder", model, parameters)
    farfield.save_model(tmp_path / "m", model, parameters)
    before = (tmp_path / "m").read_bytes()
    wrong = parameters.copy()
    wrong.kp = np.zeros(7)
    with pytest.raises(ValueError, match="kp has 7 rows, expected 1"):
        farfield.save_model(tmp_path / "m", model, wrong)
    assert (tmp_path / "m").read_bytes() == before
    with pytest.raises(farfield.FileError, match="bytes, expected at least 8"):
        farfield.model_from_bytes(b"")


def test_a_path_that_is_not_utf8_is_shown_all_the_same(tmp_path):
    with pytest.raises(farfield.FileError, match="cannot read: No such file"):
        farfield.load_model(str(tmp_path) + "/\udcff")


def test_a_trajectory_with_contact_keeps_its_gradient(tmp_path):
    scene = farfield.Scene()
    scene.add_shape(name="ground", body=0, type="HalfSpace")
    scene.add_body(name="box", position=[0, 0, 0.12], joints=[farfield.Joint(name="free", type="Free")])
    scene.add_shape(name="box", body="box", type="Box", size=[0.1, 0.1, 0.1])
    model = farfield.build_model(scene)
    state = farfield.State(q=model.default_state().q, v=np.array([0.5, 0, 0, 0, 0, 0]))
    contact = farfield.LongRange(slip_speed=2e-3, blend=[0.75])
    trajectory = farfield.rollout(model, model.default_parameters(), state, np.zeros((15, 0)), contact=contact)
    assert trajectory.converged
    farfield.save_trajectory(tmp_path / "t", trajectory)
    loaded = farfield.load_trajectory(tmp_path / "t")
    assert loaded.contact == trajectory.contact == contact.description
    partials = np.zeros((16, 6))
    partials[-1] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    a, b = (farfield.rollout_vjp(t, dL_dq=partials) for t in (trajectory, loaded))
    assert a.parameters.friction[0] != 0
    assert np.array_equal(a.v0, b.v0)
    assert np.array_equal(a.parameters.friction, b.parameters.friction)


@pytest.mark.parametrize("converged", [True, False])
def test_states_of_another_engine_are_kept_in_the_same_file(tmp_path, model, parameters, converged):
    random = np.random.default_rng(0)
    q = np.array([farfield.retract(model, model.default_state().q, 0.1 * random.standard_normal(7)) for _ in range(4)])
    v, controls = random.standard_normal((4, 7)), random.standard_normal((3, model.num_controls))
    motion = farfield.Trajectory.from_states(
        model,
        parameters,
        q,
        v,
        controls,
        dt=0.05,
        converged=converged,
        min_gap=-0.25,
        contact=engine_description("springs"),
    )
    farfield.save_trajectory(tmp_path / "t", motion)
    loaded = farfield.load_trajectory(tmp_path / "t")
    assert loaded.converged is converged and loaded.dt == 0.05 and loaded.min_gap == -0.25
    assert loaded.num_steps == (3 if converged else 4)  # the step that failed is there, with the state before it
    np.testing.assert_array_equal(loaded.q[:4], q)
    np.testing.assert_array_equal(loaded.v[:4], v)
    np.testing.assert_array_equal(loaded.controls[:3], controls)
    np.testing.assert_array_equal(loaded.poses(), motion.poses())
    with pytest.raises(ValueError, match="carries no contact model"):
        farfield.rollout_vjp(loaded, dL_dq=np.ones((loaded.num_steps + 1, 7)), allow_unconverged=True)
    assert loaded.contact == engine_description("springs")
    assert_same_model(loaded.model, model)
    assert_same_parameters(loaded.parameters, parameters)
    assert [path.name for path in tmp_path.iterdir()] == ["t"]


def test_a_motion_that_blew_up_is_kept_as_far_as_it_went(tmp_path, model, parameters):
    q, v = np.tile(model.default_state().q, (5, 1)), np.zeros((5, model.num_dofs))
    v[3:] = np.nan
    controls = np.zeros((4, model.num_controls))
    motion = farfield.Trajectory.from_states(model, parameters, q, v, controls, dt=0.01, converged=False)
    farfield.save_trajectory(tmp_path / "t", motion)
    loaded = farfield.load_trajectory(tmp_path / "t")
    assert not loaded.converged and loaded.num_steps == 3 and np.isfinite(loaded.v).all()


def test_steps_of_several_rollouts_make_one_file(tmp_path, model, parameters):
    """With their reports and their contact, so that it is differentiated as the one rollout that it could have been."""
    controls = np.full((6, model.num_controls), 0.3)
    contact = farfield.LongRange()
    whole = farfield.rollout(model, parameters, model.default_state(), controls, contact=contact, tolerance=1e-10)
    motion = farfield.Trajectory.from_states(
        model,
        parameters,
        whole.q,
        whole.v,
        controls,
        options=whole.options,
        reports=whole.reports,
        contact=whole.contact,
    )
    farfield.save_trajectory(tmp_path / "t", motion)
    loaded = farfield.load_trajectory(tmp_path / "t")
    for mine, theirs in zip(loaded.reports, whole.reports, strict=True):
        for field in ("status", "iterations", "residual", "min_gap", "detour", "kinetic", "contact"):
            assert getattr(mine, field) == getattr(theirs, field)
    partials = np.ones((7, model.num_dofs))
    one, other = (farfield.rollout_vjp(each, dL_dq=partials) for each in (loaded, whole))
    np.testing.assert_allclose(one.controls, other.controls, rtol=1e-9)
