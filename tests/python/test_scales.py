# SPDX-License-Identifier: Apache-2.0
"""Light and heavy, small and large: everything rests at a hundredth of its size, and nothing is held up from afar."""

import numpy as np
import pytest

import farfield as ff
from farfield.cli import main
from farfield.commands.far_forces import far_force_warnings


def ground() -> ff.Scene:
    scene = ff.Scene()
    scene.add_shape(0, name="ground", type="HalfSpace")
    return scene


def add(scene: ff.Scene, name: str, place, *, turn=None, **shape) -> None:
    scene.add_body(name=name, position=place, **({} if turn is None else {"orientation": turn}))
    scene.add_joint(name, name=name, type="Free")
    scene.add_shape(name, name=name, **shape)


def roll(scene: ff.Scene, seconds: float, dt: float = 0.01, contact: str = "longrange") -> ff.Trajectory:
    model = ff.build_model(scene)
    steps = round(seconds / dt)
    motion = ff.rollout(
        model, model.default_parameters(), model.default_state(), np.zeros((steps, 0)), dt=dt, contact=contact
    )
    assert motion.converged
    return motion


@pytest.mark.parametrize("contact", ["longrange", "polyhedral", "ipc"])
@pytest.mark.parametrize("free", [False, True])
def test_a_bead_of_a_millimetre_stays_on_a_box_of_a_metre(free, contact):
    scene = ground()
    box = {"type": "Box", "size": [0.5, 0.5, 0.5]}
    if free:
        add(scene, "box", [0, 0, 0.508], density=1000.0, **box)
    else:
        scene.add_shape(0, name="box", position=[0, 0, 0.508], **box)
    add(scene, "bead", [0.1, 0.05, 1.00851], type="Sphere", size=[5e-4, 0, 0], density=2500.0)
    motion = roll(scene, 1.0, contact=contact)
    x, y, z = motion.q[-1, -7:-4]
    top = motion.q[-1, 2] + 0.5 if free else 1.008
    # its triangles may roll to one of them; a true ball rolls on, pushed by 2e-3 of its weight where two triangles push unevenly
    assert np.hypot(x - 0.1, y - 0.05) < (1e-2 if contact == "longrange" else 1e-3)
    assert (2e-4 if free else 4e-4) < z - top < 5.3e-4  # a box that settles may tilt


def test_a_feather_stays_on_a_truck():
    scene = ground()
    add(scene, "truck", [0, 0, 1.02], type="Box", size=[4.0, 1.2, 1.0], density=1000.0)
    add(scene, "feather", [1.0, 0.3, 2.0227], type="Box", size=[0.05, 0.01, 5e-4], density=20.0)
    motion = roll(scene, 1.0)
    truck, feather = motion.q[-1, :3], motion.q[-1, 7:10]
    assert np.abs(feather[:2] - [1.0, 0.3]).max() < 5e-3
    assert feather[2] - truck[2] == pytest.approx(1.0 + 5e-4, abs=2e-3)
    assert truck[2] == pytest.approx(1.0, abs=0.04)


def test_a_block_of_a_tonne_falls_from_its_edge():
    scene = ground()
    angle = 0.25 * np.pi - 0.05
    turn = [np.cos(0.5 * angle), np.sin(0.5 * angle), 0, 0]
    add(scene, "block", [0, 0, 0.73], turn=turn, type="Box", size=[0.5, 0.5, 0.5], density=1000.0)
    motion = roll(scene, 1.5)
    assert motion.q[-1, 2] == pytest.approx(0.508, abs=0.01)
    assert max(report.iterations for report in motion.reports) < 40


def test_a_lever_of_eight_tonnes_throws_what_lies_on_it():
    scene = ground()
    scene.add_shape(0, name="fulcrum", type="Box", size=[0.2, 1.0, 0.25], position=[0, 0, 0.25])
    add(scene, "beam", [0, 0, 0.72], type="Box", size=[5.0, 1.0, 0.2], density=1000.0)
    add(scene, "light", [-4.5, 0, 1.24], type="Box", size=[0.3, 0.3, 0.3], density=100.0)
    add(scene, "heavy", [4.3, 0, 2.32], type="Box", size=[0.4, 0.4, 0.4], density=4000.0)
    motion = roll(scene, 1.5)
    assert motion.q[:, 9].max() > 1.6
    assert not any(report.detour for report in motion.reports)


FINE = """
<mujoco>
  <asset><mesh name="ball" vertex="{vertices}" face="{faces}"/></asset>
  <worldbody>
    <geom name="ground" type="plane" size="1 1 1"/>
    <body name="ball" pos="0 0 0.0303"><freejoint/><geom type="mesh" mesh="ball" mass="{mass}"/></body>
    <body name="wall" pos="0.075 0 0.11"><joint type="slide" axis="1 0 0"/><geom type="box" size="0.03 0.1 0.1" mass="5"/></body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def scene_file(tmp_path):
    import trimesh

    ball = trimesh.creation.icosphere(subdivisions=2, radius=0.03)

    def write(mass: float):
        path = tmp_path / "fine.xml"
        vertices = " ".join(f"{x:.9g}" for x in ball.vertices.ravel())
        path.write_text(FINE.format(vertices=vertices, faces=" ".join(map(str, ball.faces.ravel())), mass=mass))
        return path

    return write


def test_forces_from_afar_are_named_with_a_remedy(scene_file, tmp_path, capsys):
    path = scene_file(0.1)
    model, parameters = ff.load(str(path))
    q = model.default_state().q
    assert far_force_warnings(model, parameters, ff.LongRange(), q) == []
    assert far_force_warnings(model, parameters, None, q) == []
    assert far_force_warnings(model, parameters, ff.Ipc(), q) == []
    paper = ff.LongRange(weight_in_joules=1e-6, leaf_weights="paper")
    (warning,) = far_force_warnings(model, parameters, paper, q)
    force = np.linalg.norm(paper.far_forces(model, parameters, q)[model.body_names.index("ball")])
    assert force > 0.1 * 0.1 * 9.81
    assert "'ball'" in warning and f"{force:.3g} N" in warning and "--stiffness" in warning

    out = ["--steps", "2", "--quiet", "--out", str(tmp_path / "run")]
    assert main(["simulate", str(path), *out]) == 0
    assert "nowhere near" not in capsys.readouterr().err
    assert main(["simulate", str(path), "--stiffness", "1000", *out[:-1], str(tmp_path / "stiff")]) == 0
    said = capsys.readouterr().err
    assert "at the start, body 'ball'" in said
    assert "at the end, body 'ball'" in said
    assert main(["inspect", str(path)]) == 0
    assert "nowhere near" not in capsys.readouterr().out
