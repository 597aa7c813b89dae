# SPDX-License-Identifier: Apache-2.0
"""Collision geometry in place of meshes: it encloses them, it is as far from them as it says, and masses stay."""

import numpy as np
import pytest
import trimesh
from scipy.spatial import cKDTree

import farfield as ff
from farfield.collision import CHOICES, FEW, choose_collision, enclosing_box, size_of


def torus(name="ring", sections=48):
    made = trimesh.creation.torus(major_radius=0.2, minor_radius=0.06, major_sections=sections, minor_sections=24)
    return ff.TriangleMesh(name=name, vertices=made.vertices, triangles=made.faces.astype(np.int32))


def ring_scene(mesh=None):
    scene = ff.Scene()
    mesh = mesh or torus()
    index = scene.add_mesh(name=mesh.name, vertices=mesh.vertices, triangles=mesh.triangles)
    scene.add_body(name="ring", position=[0, 0, 0.3])
    scene.add_joint("ring", name="free", type="Free")
    scene.add_shape("ring", name="tyre", type="Mesh", mesh=index)
    scene.add_shape("world", name="floor", type="HalfSpace")
    return scene


@pytest.mark.parametrize("choice", ["hull", "simplified", "primitives", "auto"])
def test_what_collides_encloses_the_mesh_and_is_as_far_as_it_says(choice):
    scene = ring_scene()
    made, (told,) = choose_collision(scene, choice)
    parts = [made.meshes[shape.mesh] for shape in made.shapes if shape.collides and shape.type.name == "Mesh"]
    assert len(parts) == 1 and told.encloses
    assert told.after == len(parts[0].triangles) < told.before
    assert told.choice == ("simplified" if choice == "auto" else choice)
    assert parts[0].is_watertight
    assert parts[0].moments(density=1.0).mass > torus().moments(density=1.0).mass
    # no point of the new surface is further away than stated, and some point nearly is
    surface = trimesh.Trimesh(parts[0].vertices, parts[0].triangles)
    sampled, _ = trimesh.sample.sample_surface(surface, 4000, seed=1)
    original, _ = trimesh.sample.sample_surface(trimesh.Trimesh(torus().vertices, torus().triangles), 100_000, seed=2)
    far = cKDTree(original).query(sampled)[0].max()  # too large by the spacing of the samples, 2 mm
    assert 0.7 * told.distance < far <= told.distance + 0.002
    if choice in ("simplified", "auto"):
        assert told.distance < 0.06 * size_of(torus())
        assert told.after <= 2 * FEW


def test_masses_and_pictures_keep_to_the_mesh():
    scene = ring_scene()
    before = ff.build_model(scene)
    made, _ = choose_collision(scene, "hull")
    after = ff.build_model(made)
    np.testing.assert_allclose(
        after.default_parameters().moments, before.default_parameters().moments, rtol=1e-12, atol=1e-15
    )
    drawn = [shape.name for shape in made.shapes if shape.color[3] > 0 and shape.type.name == "Mesh"]
    assert drawn == ["tyre"]
    assert not next(shape for shape in made.shapes if shape.name == "tyre").collides


def test_choices_by_body_and_shape():
    scene = ring_scene()
    assert choose_collision(scene, {"*": "hull", "ring": "mesh"})[1][0].choice == "mesh"
    assert choose_collision(scene, {"ring": "mesh", "tyre": "hull"})[1][0].choice == "hull"
    assert choose_collision(scene, {"world": "hull"})[1][0].choice == "mesh"
    small = ring_scene(torus(sections=4))
    assert choose_collision(small, "auto")[1][0].choice == "mesh"
    with pytest.raises(ValueError, match="'tire' is neither a body nor a shape"):
        choose_collision(scene, {"tire": "hull"})
    with pytest.raises(ValueError, match=f"'round', expected one of: {', '.join(CHOICES)}"):
        choose_collision(scene, "round")


def test_open_meshes_become_hulls_or_are_refused_by_name():
    whole = torus()
    lid = ff.TriangleMesh(name="open", vertices=whole.vertices, triangles=whole.triangles[:-7])
    scene = ring_scene(lid)
    scene.replace_body("ring", moments=ff.Moments.from_inertia(mass=1.0, center=[0, 0, 0], inertia=0.01 * np.eye(3)))
    assert choose_collision(scene, "auto")[1][0].choice == "hull"
    with pytest.raises(ValueError, match="shape 'tyre': mesh 'open' is not closed"):
        choose_collision(scene, "simplified")


def test_convex_parts_are_kept_on_disk(tmp_path, monkeypatch):
    pytest.importorskip("coacd")
    monkeypatch.setenv("FARFIELD_CACHE", str(tmp_path))
    scene = ring_scene(torus(sections=24))
    made, (told,) = choose_collision(scene, "hulls")
    assert told.choice == "hulls" and not told.encloses
    (_kept,) = (tmp_path / "hulls").glob("*.npz")
    monkeypatch.setattr("farfield.collision.convex_parts", lambda mesh: pytest.fail("made again"))
    again, _ = choose_collision(scene, "hulls")
    for one, other in zip(made.meshes, again.meshes, strict=True):
        np.testing.assert_array_equal(one.vertices, other.vertices)


def test_a_box_around_turned_points_is_tight():
    turned = trimesh.transformations.rotation_matrix(0.7, [1, 2, 3])[:3, :3]
    box = trimesh.creation.box(extents=[0.1, 0.2, 0.4])
    mesh = ff.TriangleMesh(name="box", vertices=box.vertices @ turned.T, triangles=box.faces.astype(np.int32))
    assert enclosing_box(mesh).moments(density=1.0).mass == pytest.approx(0.1 * 0.2 * 0.4, rel=1e-6)


def test_one_mesh_on_several_bodies_is_simplified_once():
    scene = ring_scene()
    scene.add_body(name="other", position=[0, 0, 1])
    scene.add_joint("other", name="free2", type="Free")
    scene.add_shape("other", name="tyre2", type="Mesh", mesh=0)
    made, told = choose_collision(scene, "hull")
    assert [one.shape for one in told] == ["tyre", "tyre2"]
    assert len(made.meshes) == 2
    assert len({shape.mesh for shape in made.shapes if shape.collides and shape.type.name == "Mesh"}) == 1
