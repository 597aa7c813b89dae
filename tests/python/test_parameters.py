# SPDX-License-Identifier: Apache-2.0
"""Parameters as a vector with names: flat vectors, arithmetic, masks, masses."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import farfield as ff
from farfield.differences import slope

SCENES = Path(__file__).parents[2] / "scenes"


@pytest.fixture(scope="module")
def loaded():
    return ff.load(SCENES / "push.xml")


def test_the_flat_vector_goes_there_and_back(loaded):
    model, parameters = loaded
    flat = np.random.default_rng(0).standard_normal(model.num_parameters)
    value = ff.Parameters.from_flat(model, flat)
    assert np.array_equal(value.flatten(), flat)
    for field in parameters.fields():
        attribute = np.asarray(getattr(value, field.name))
        assert attribute.shape == field.shape == np.shape(getattr(parameters, field.name))
        assert np.array_equal(np.ravel(attribute), flat[field.entries])
        assert field.unit and field.description
    assert np.array_equal(parameters.unflatten(flat).flatten(), flat)
    attributes = {name for name, kind in vars(ff.Parameters).items() if isinstance(kind, property)}
    assert attributes == {field.name for field in parameters.fields()}
    assert {field.rows for field in parameters.fields()} == {"body", "actuator", "dof", "hull vertex", "scene"}
    with pytest.raises(ValueError, match=f"2 numbers, expected {model.num_parameters}"):
        ff.Parameters.from_flat(model, np.zeros(2))


def test_arithmetic_and_pickles(loaded):
    model, _ = loaded
    random = np.random.default_rng(1)
    x, y = random.standard_normal((2, model.num_parameters))
    a, b = ff.Parameters.from_flat(model, x), ff.Parameters.from_flat(model, y)
    assert np.array_equal((a + b).flatten(), x + y)
    assert np.array_equal((a - b).flatten(), x - y)
    assert np.array_equal((a * 0.3).flatten(), 0.3 * x) and np.array_equal((0.3 * a).flatten(), 0.3 * x)
    assert a.dot(b) == pytest.approx(x @ y, rel=1e-13)
    assert np.array_equal(pickle.loads(pickle.dumps(a)).flatten(), x)
    with pytest.raises(TypeError):
        a + 1.0
    other = ff.load(SCENES / "pendulum.xml")[1]
    with pytest.raises(ValueError, match="expected parameters of one model"):
        a + other


def test_names_and_masks(loaded):
    model, parameters = loaded
    names = ff.parameter_names(model)
    assert len(names) == len(set(names)) == model.num_parameters
    mask = ff.parameter_mask(model, ["friction", "moments[box].mass", "kp[rod_x]"])
    assert [names[k] for k in mask] == [
        "moments[box].mass",
        "kp[rod_x]",
        "friction[world]",
        "friction[rod]",
        "friction[box]",
    ]
    assert parameters.flatten()[mask[0]] == parameters.moments[model.body("box"), 0]
    with pytest.raises(ValueError, match=r"'kp\[rod\]' is no parameter of the model, expected a field"):
        ff.parameter_mask(model, ["kp[rod]"])


def test_a_masked_gradient_is_the_pullback_of_the_masked_entries(loaded):
    model, parameters = loaded
    mask = ff.parameter_mask(model, ["kp", "moments[box]", "damping", "gravity"])
    direction = np.random.default_rng(2).standard_normal(len(mask)) * parameters.flatten()[mask]

    def motion(h):
        x = parameters.flatten()
        x[mask] += h * direction
        controls = np.full((5, model.num_controls), 0.3)
        return ff.rollout(
            model, ff.Parameters.from_flat(model, x), model.default_state(), controls, tolerance=1e-11, contact=None
        )

    weights = np.random.default_rng(3).standard_normal(model.num_dofs)
    partials = np.zeros((6, model.num_dofs))
    partials[-1] = weights
    gradient = ff.rollout_vjp(motion(0.0), dL_dv=partials).parameters.flatten()[mask]
    numeric = slope(lambda h: float(weights @ motion(h).v[-1]))
    assert gradient @ direction != 0.0
    assert numeric.relative_error(gradient @ direction) < 1e-7


def test_a_mass_brings_its_inertia_along(loaded):
    model, parameters = loaded
    changed, box = parameters.copy(), model.body("box")
    changed.set_mass(box, 12.5)
    np.testing.assert_allclose(changed.moments[box], 12.5 / parameters.moments[box, 0] * parameters.moments[box])
    assert changed.moments[box, 0] == 12.5
    assert np.array_equal(np.delete(changed.moments, box, axis=0), np.delete(parameters.moments, box, axis=0))
    for mass in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="expected > 0"):
            changed.set_mass(box, mass)
    with pytest.raises(ValueError, match="body 0 has mass 0"):
        changed.set_mass(0, 1.0)
