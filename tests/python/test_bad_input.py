# SPDX-License-Identifier: Apache-2.0
"""Every mistake a caller can make from Python is a ValueError that names the element, the value and the expectation."""

from __future__ import annotations

import re

import numpy as np
import pytest

import farfield as ff

NAN, INF = float("nan"), float("inf")
UNIT = ff.Moments.from_inertia(mass=1.0, center=[0, 0, 0], inertia=0.1 * np.eye(3))


def good_scene(**changes) -> ff.Scene:
    """A free base, an arm on a hinge with a drive, and a scripted cart."""
    fields = {
        "name": "robot",
        "bodies": [
            ff.Body(name="world", motion="fixed"),
            ff.Body(name="base", joints=[ff.Joint(name="root", type="free")], moments=UNIT),
            ff.Body(name="arm", parent=1, joints=[ff.Joint(name="elbow", type="hinge")], moments=UNIT),
            ff.Body(name="cart", motion="kinematic", position=[0, 9, 0]),
        ],
        "actuators": [ff.Actuator(name="drive", joint="elbow", kp=1.0)],
    }
    return ff.Scene(**{**fields, **changes})


@pytest.fixture(scope="module")
def model() -> ff.Model:
    return ff.build_model(good_scene())


def refused(call, *parts: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        call()
    text = str(caught.value)
    for part in parts:
        assert part in text, f"{text!r} lacks {part!r}"


# ---- one field: NaN, wrong type, wrong size ------------------------------------------------------------------------------------

NUMBERS = {
    ff.Range: {"lower": 0, "upper": 0},
    ff.Joint: {
        "anchor": 3, "axis": 3, "axis2": 3, "reference": 0, "limit_stiffness": 0, "damping": 0, "armature": 0, "stiffness": 0,
        "spring_reference": 0, "range": 2, "range2": 2, "friction": 0, "friction_speed": 0,
    },
    ff.Body: {"position": 3, "orientation": 4, "gravity_compensation": 0},
    ff.Shape: {"size": 3, "position": 3, "orientation": 4, "density": 0, "friction": 0, "color": 4},
    ff.Actuator: {"kp": 0, "kd": 0, "gear": 2, "control_range": 2, "gain": 0, "bias": 0, "force_range": 2, "position": 3, "orientation": 4},
    ff.Tie: {"ratio": 0, "offset": 0},
    ff.Keyframe: {"q": 5, "v": 5, "control": 5},
    ff.Moments: {"mass": 0, "first": 3, "second": 9},
    ff.TriangleMesh: {"vertices": 9},
    ff.Scene: {"gravity": 3},
}  # fmt: skip
FIELDS = [(kind, field, size) for kind, fields in NUMBERS.items() for field, size in fields.items()]


def value_of(size: int, bad: float) -> object:
    if size == 0:
        return bad
    if size == 9:
        return [[0.0, 0.0, 0.0], [0.0, bad, 0.0], [0.0, 0.0, 0.0]]
    return [0.0] * (size - 1) + [bad]


@pytest.mark.parametrize(("kind", "field", "size"), FIELDS, ids=[f"{k.__name__}.{f}" for k, f, _ in FIELDS])
def test_no_field_takes_nan(kind, field, size):
    for bad, text in ((NAN, "nan"), (INF, "inf"), (-INF, "-inf")):
        refused(lambda bad=bad: kind(**{field: value_of(size, bad)}), field, text, "expected", "finite")


@pytest.mark.parametrize(("kind", "field", "size"), FIELDS, ids=[f"{k.__name__}.{f}" for k, f, _ in FIELDS])
def test_no_field_takes_words_or_wrong_sizes(kind, field, size):
    refused(lambda: kind(**{field: "seven"}), field, "seven", "expected")
    wrong = [[1.0, 2.0]] if size in (0, 5) else [1.0] * 7 if size not in (2, 9) else [[1.0] * 7]
    refused(lambda: kind(**{field: wrong}), field, "expected")


def test_every_numeric_field_of_the_scene_is_in_the_table():
    """A field added to a struct must be added here: numbers are what shows as a float or an array of floats."""
    for kind, fields in NUMBERS.items():
        if kind in (ff.Range, ff.Scene):
            continue
        instance = kind()
        for name in (n for n in dir(instance) if not n.startswith("_")):
            try:
                value = getattr(instance, name)
            except ValueError:  # what an empty struct cannot tell
                continue
            numeric = isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype == np.float64)
            derived = kind is ff.Moments and name in ("vector", "center", "inertia")
            assert not numeric or derived or name in fields, f"{kind.__name__}.{name}"


def test_fields_of_other_kinds():
    refused(lambda: ff.Joint(type="screw"), "type", "screw", "expected one of", "Hinge")
    refused(lambda: ff.Body(parent=1.5), "parent", "1.5", "expected an integer")
    refused(lambda: ff.Body(name=7), "name", "7", "expected a string")
    refused(lambda: ff.Body(joints=[3]), "joints", "3", "expected")
    refused(lambda: ff.Shape(collides="yes"), "collides", "yes", "expected True or False")
    refused(lambda: ff.Shape(group=-1), "group", "-1", "expected an integer from 0")
    refused(lambda: ff.Body(orientation=[0, 0, 0, 0]), "orientation", "norm 0", "expected a rotation")
    refused(lambda: ff.Joint(range=(1, -1)), "range", "(1, -1)", "expected lower <= upper")
    refused(lambda: ff.TriangleMesh(triangles=[[0, 1, -2]]), "triangles", "-2", "expected a vertex index >= 0")
    refused(lambda: ff.TriangleMesh(triangles=[[0.5, 1, 2]]), "triangles", "expected integers")
    with pytest.raises((TypeError, ValueError), match="colour"):
        ff.Shape(colour=[1, 0, 0, 1])


# ---- masses and meshes -----------------------------------------------------------------------------------------------------


def test_masses():
    for mass in (-1.0, 0.0):
        inertia = ff.Moments(mass=mass, first=[0, 0, 0], second=np.eye(3))
        body = ff.Body(name="base", joints=[ff.Joint(name="root", type="free")], moments=inertia)
        refused(
            lambda body=body: ff.build_model(ff.Scene(bodies=[ff.Body(name="world"), body])),
            "body 'base'",
            f"mass {mass:g}",
            "expected > 0",
        )
        refused(
            lambda mass=mass: ff.Moments.from_inertia(mass=mass, center=[0, 0, 0], inertia=np.eye(3)),
            f"mass {mass:g}",
            "expected > 0",
        )
    refused(
        lambda: ff.Moments.from_inertia(mass=1, center=[0, 0, 0], inertia=np.diag([1, 1, 3])), "(1, 1, 3)", "expected"
    )
    refused(
        lambda: ff.Moments.from_inertia(mass=1, center=[0, 0, 0], inertia=[[1, 1, 0], [0, 1, 0], [0, 0, 1]]),
        "not symmetric",
    )
    refused(lambda: ff.Moments.from_vector([1, 2, 3]), "got 3 numbers", "expected 10")
    bare = [ff.Body(name="world"), ff.Body(name="ghost", joints=[ff.Joint(name="j")])]
    refused(lambda: ff.build_model(ff.Scene(bodies=bare)), "body 'ghost'", "mass 0", "expected > 0")


def test_meshes():
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    refused(lambda: ff.TriangleMesh(name="m").validate(), "mesh 'm'", "no vertices", "expected")
    refused(lambda: ff.TriangleMesh(name="m", vertices=corners).validate(), "mesh 'm'", "no triangles", "expected")
    refused(
        lambda: ff.TriangleMesh(name="m", vertices=corners, triangles=[[0, 1, 1]]).validate(),
        "mesh 'm'", "triangle 0", "area 0", "expected >",
    )  # fmt: skip
    refused(
        lambda: ff.TriangleMesh(name="m", vertices=corners, triangles=[[0, 1, 4]]).validate(),
        "mesh 'm'", "vertex index 4", "expected 0 to 3",
    )  # fmt: skip
    sheet = ff.TriangleMesh(name="m", vertices=corners, triangles=[[0, 1, 2]])
    refused(lambda: sheet.moments(density=1.0), "mesh 'm'", "not watertight", "expected")
    refused(lambda: sheet.moments(density=-1.0), "mesh 'm'", "density -1", "expected > 0")


# ---- trees and names ---------------------------------------------------------------------------------------------------------


def test_trees_and_names():
    world, base = good_scene().bodies[:2]
    limb = ff.Body(name="limb", joints=[ff.Joint(name="l")], moments=UNIT)

    def build(*bodies, **rest):
        return lambda: ff.build_model(ff.Scene(bodies=[world, *bodies], **rest))

    refused(
        build(limb.replace(parent=2), limb.replace(name="other", parent=1, joints=[])),
        "body 'limb'",
        "cycle",
        "expected a tree",
    )
    refused(
        build(limb.replace(parent=2), base), "body 'limb'", "'base' comes later", "expected parents before children"
    )
    refused(build(limb.replace(parent=5)), "body 'limb'", "parent index 5", "expected 0 to 1")
    refused(build(limb, limb), "'limb'", "twice", "expected unique")
    refused(build(limb, limb.replace(name="other")), "joint 'l'", "twice", "expected unique")
    refused(build(limb, actuators=[ff.Actuator(name="a", joint="x")]), "actuator 'a'", "unknown joint 'x'", "expected")
    refused(build(limb, ties=[ff.Tie(joint="l", source="x")]), "unknown joint 'x'", "expected")
    refused(build(limb, exclude_contacts=[("limb", "x")]), "unknown body 'x'", "expected")
    refused(build(limb, keyframes=[ff.Keyframe(name="k", q=[1, 2])]), "keyframe 'k'", "q has 2 entries", "expected 1")
    plane = ff.Shape(name="floor", body=1, type="half_space" if hasattr(ff.ShapeType, "half_space") else "HalfSpace")
    refused(build(limb, shapes=[plane]), "shape 'floor'", "'limb'", "expected the world or a fixed or kinematic body")


def test_builders_and_lookups(model):
    scene = good_scene()
    refused(lambda: scene.body_index("nobody"), "unknown name 'nobody'", "expected one of", "'base'")
    refused(lambda: scene.add_body(name="base"), "'base'", "expected a new name")
    refused(lambda: model.body("nobody"), "body 'nobody'")
    refused(lambda: model.joint_q("nowhere"), "joint 'nowhere'")
    refused(lambda: model.joint_dofs("nowhere"), "joint 'nowhere'")
    refused(lambda: model.actuator_controls("nothing"), "actuator 'nothing'")


# ---- calls -------------------------------------------------------------------------------------------------------------------


def call(model, *, steps=3, state=None, parameters=None, controls=None, **options):
    controls = np.zeros((steps, model.num_controls)) if controls is None else controls
    return ff.rollout(
        model, parameters or model.default_parameters(), state or model.default_state(), controls, **options
    )


def test_options(model):
    assert call(model).converged
    for dt in (0.0, -0.01, NAN, INF):
        refused(lambda dt=dt: call(model, dt=dt), f"dt {dt:g}", "expected > 0")
    for tolerance in (0.0, -1.0, NAN, INF):
        refused(lambda t=tolerance: call(model, tolerance=t), f"tolerance {tolerance:g}", "expected > 0")
    refused(lambda: call(model, max_iterations=0), "max_iterations 0", "expected >= 1")
    refused(lambda: call(model, pd_convention="mine"), "pd_convention 'mine'", "expected 'standard' or 'paper'")


def test_states_controls_and_scripts(model):
    for field, size in (("q", model.num_q), ("v", model.num_dofs)):
        state = model.default_state()
        getattr(state, field)[1] = NAN
        refused(lambda s=state: call(model, state=s), f"{field}[1] = nan", "expected a finite number")
        state = model.default_state()
        setattr(state, field, np.zeros(2))
        refused(lambda s=state: call(model, state=s), f"{field} has 2 rows", f"expected {size}")
    state = model.default_state()
    state.q[3:7] *= 1.5
    refused(lambda: call(model, state=state), "joint 'root'", "norm 1.5", "expected 1")
    controls = np.zeros((3, model.num_controls))
    controls[2, 1] = INF
    refused(lambda: call(model, controls=controls), "controls[2, 1] = inf", "expected a finite number")
    refused(lambda: call(model, controls=np.zeros((3, 5))), "controls has shape (3, 5)", "expected (3, 2)")
    refused(lambda: call(model, script=np.zeros((3, 6))), "script has shape (3, 6)", "expected (3, 7)")
    refused(lambda: call(model, script=np.zeros((3, 7))), "body 'cart'", "norm 0", "expected 1")
    with pytest.raises(TypeError):
        call(model, controls=np.zeros(3))


ARRAYS = (
    "moments",
    "attachment",
    "kp",
    "kd",
    "damping",
    "armature",
    "stiffness",
    "joint_friction",
    "gravity",
    "friction",
)


@pytest.mark.parametrize("field", ARRAYS)
def test_parameters(model, field):
    for bad in (NAN, INF):
        parameters = model.default_parameters()
        getattr(parameters, field).flat[-1] = bad
        refused(
            lambda p=parameters: call(model, parameters=p),
            "parameters",
            f"{field}[",
            f"{bad:g}",
            "expected a finite number",
        )
        refused(
            lambda p=parameters: ff.forward_kinematics(model, p, model.default_state().q), "parameters", f"{field}["
        )
    if field != "gravity":
        parameters = model.default_parameters()
        setattr(parameters, field, np.zeros((9, *getattr(parameters, field).shape[1:])))
        refused(lambda: call(model, parameters=parameters), f"{field} has 9 rows", "expected")
        refused(
            lambda: ff.forward_kinematics(model, parameters, model.default_state().q), f"{field} has 9 rows", "expected"
        )


def test_more_parameters(model):
    for stiffness in (0.0, -1.0, NAN, INF):
        parameters = model.default_parameters()
        parameters.contact_stiffness = stiffness
        refused(lambda p=parameters: call(model, parameters=p), f"contact_stiffness {stiffness:g}", "expected > 0")
    for column, value, text in ((0, -1.0, "mass -1"), (0, 0.0, "mass 0"), (4, -2.0, "eigenvalue -2")):
        parameters = model.default_parameters()
        parameters.moments[2, column] = value
        refused(lambda p=parameters: call(model, parameters=p), "body 'arm'", text, "expected")
    parameters = model.default_parameters()
    parameters.friction[1] = -0.5
    refused(lambda: call(model, parameters=parameters), "friction[1] = -0.5", "expected >= 0")


def test_partials(model):
    trajectory = call(model)
    n, bodies = model.num_dofs, model.num_bodies
    for name in ("dL_dq", "dL_dv"):
        bad = np.zeros((4, n))
        bad[3, 2] = NAN
        refused(
            lambda name=name, bad=bad: ff.rollout_vjp(trajectory, **{name: bad}),
            f"{name}[3, 2] = nan",
            "expected a finite number",
        )
        for shape in ((3, n), (4, n + 1)):
            text = f"{name} has shape ({shape[0]}, {shape[1]})"
            refused(
                lambda name=name, s=shape: ff.rollout_vjp(trajectory, **{name: np.zeros(s)}), text, f"expected (4, {n})"
            )
        refused(
            lambda name=name: ff.rollout_vjp(trajectory, **{name: np.zeros((0, n))}),
            name,
            "no rows",
            "expected steps + 1",
        )
        refused(
            lambda name=name: ff.rollout_vjp(trajectory, **{name: np.zeros((1, 4, n, 1))}),
            name,
            "4 dimensions",
            "expected 2",
        )
        refused(  # three are several losses
            lambda name=name: ff.rollout_vjp(trajectory, **{name: np.zeros((4, n, 1))}),
            f"{name} has shape ({n}, 1)",
            f"expected (4, {n})",
        )
    refused(lambda: ff.rollout_vjp(trajectory, dL_dpose=np.zeros((4, 6, bodies))), "last extent 4", "expected 6")
    refused(
        lambda: ff.rollout_vjp(trajectory, dL_dpose=np.zeros((4, bodies + 1, 6))),
        "dL_dpose has shape (4, 30)",
        "expected (4, 24)",
    )
    refused(
        lambda: ff.rollout_vjp(trajectory, dL_dpose=np.full((4, bodies, 6), NAN)),
        "dL_dpose[0, 0] = nan",
        "expected a finite number",
    )
    refused(lambda: ff.rollout_vjp_batch([trajectory], dL_dq=[]), "dL_dq has 0 arrays for 1 trajectories")


def test_batches(model):
    state, controls = model.default_state(), np.zeros((3, model.num_controls))
    bad = model.default_state()
    bad.q[0] = NAN
    parameters = model.default_parameters()
    refused(
        lambda: ff.rollout_batch(model, [parameters], [state, bad], [controls, controls]),
        "rollout 1",
        "q[0] = nan",
        "expected",
    )
    refused(
        lambda: ff.rollout_batch(model, [parameters], [state], [controls, controls]), "2 control sequences for 1 states"
    )
    refused(lambda: ff.rollout_batch(model, [parameters] * 3, [state], [controls]), "3 parameter sets", "expected 1")
    trajectory = call(model)
    wrong = [np.zeros((4, model.num_dofs)), np.zeros((4, 1))]
    refused(
        lambda: ff.rollout_vjp_batch([trajectory] * 2, dL_dq=wrong),
        "trajectory 1",
        "dL_dq has shape (4, 1)",
        "expected",
    )


def test_policies(model):
    class Policy:
        num_parameters = 2

        def __init__(self, control, bars=None):
            self.answer, self.bars = control, bars

        def control(self, step, state):
            return self.answer

        def vjp(self, step, state, control_bar):
            return self.bars

    controls = np.zeros((2, 0))
    refused(lambda: call(model, controls=controls, policy=Policy(np.zeros(3))), "policy gave 3 controls", "expected 2")
    refused(
        lambda: call(model, controls=controls, policy=Policy(np.array([0, NAN]))),
        "control[1] = nan at step 0",
        "expected a finite number",
    )
    n = model.num_dofs
    policy = Policy(np.zeros(2), (np.zeros(n), np.zeros(n), np.zeros(3)))
    trajectory = call(model, controls=controls, policy=policy)
    partials = np.zeros((3, n))
    refused(
        lambda: ff.rollout_vjp(trajectory, dL_dq=partials, policy=policy), "parameters_bar has 3 entries", "expected 2"
    )
    policy.bars = (np.zeros(n), np.zeros(n))
    refused(
        lambda: ff.rollout_vjp(trajectory, dL_dq=partials, policy=policy),
        "2 values",
        "expected (q_bar, v_bar, parameters_bar)",
    )


def test_kinematics(model):
    q, parameters = model.default_state().q, model.default_parameters()
    refused(lambda: ff.forward_kinematics(model, parameters, q[:-1]), "q has", "expected")
    refused(
        lambda: ff.forward_kinematics(model, parameters, np.full_like(q, NAN)), "q[0] = nan", "expected a finite number"
    )
    refused(lambda: ff.retract(model, q, np.zeros(2)), "delta has 2 entries", f"expected {model.num_dofs}")
    refused(lambda: ff.retract(model, q, np.full(model.num_dofs, NAN)), "delta[0] = nan", "expected a finite number")
    refused(lambda: ff.difference(model, q, q[:-1]), "q has", "expected")


def test_messages_begin_with_the_place(model):
    """The reader sees first which call complained."""
    for run in (
        lambda: ff.build_model(good_scene(bodies=[])),
        lambda: call(model, controls=np.zeros((1, 9))),
        lambda: ff.rollout_vjp(call(model), dL_dq=np.zeros((1, 1))),
    ):
        with pytest.raises(ValueError, match=re.compile(r"^(build_model|rollout|rollout_vjp): ")):
            run()
