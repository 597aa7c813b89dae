# SPDX-License-Identifier: Apache-2.0
"""The IPC model against the IPC Toolkit, and its options."""

from __future__ import annotations

import numpy as np
import pytest

import farfield as ff
from farfield import properties
from farfield.contact_models import contact_from_description
from farfield.gradcheck import moved_to_gap

ipctk = pytest.importorskip("ipctk")
trimesh = pytest.importorskip("trimesh")

ipctk.set_num_threads(1)  # its threads would wait for a filter written in Python

RANGE = 0.05
FRICTION = 0.4
SLIP_SPEED = 0.05
DT = 0.01


def lumpy(random: np.random.Generator, name: str) -> ff.TriangleMesh:
    """A closed mesh that is not convex."""
    ball = trimesh.creation.icosphere(subdivisions=1, radius=0.3)
    vertices = ball.vertices * random.uniform(0.6, 1.4, (len(ball.vertices), 1)) * random.uniform(0.5, 1.0, 3)
    return ff.TriangleMesh(name=name, vertices=vertices, triangles=np.asarray(ball.faces, dtype=np.int32))


def box(random: np.random.Generator, name: str) -> ff.TriangleMesh:
    made = trimesh.creation.box(extents=random.uniform(0.2, 0.6, 3))
    return ff.TriangleMesh(name=name, vertices=made.vertices, triangles=np.asarray(made.faces, dtype=np.int32))


def two_bodies(random: np.random.Generator, make) -> tuple[ff.Model, ff.Parameters, list[ff.TriangleMesh]]:
    meshes = [make(random, f"mesh {k}") for k in range(2)]
    model, parameters = properties.pair_model([{"type": ff.ShapeType.Mesh, "mesh": k} for k in range(2)], meshes)
    parameters.friction = np.full(3, FRICTION)
    return model, parameters, meshes


def rotation(q: np.ndarray) -> np.ndarray:
    w, x, y, z = q / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def placed_vertices(meshes: list[ff.TriangleMesh], q: np.ndarray) -> np.ndarray:
    return np.vstack(
        [m.vertices @ rotation(q[7 * k + 3 : 7 * k + 7]).T + q[7 * k : 7 * k + 3] for k, m in enumerate(meshes)]
    )


def cross_matrix(v: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


class Peer:
    """Potential of the peer on the vertices of both bodies, never within one body."""

    def __init__(self, meshes: list[ff.TriangleMesh], q: np.ndarray):
        self.count = [len(m.vertices) for m in meshes]
        faces = np.vstack([np.asarray(meshes[0].triangles), np.asarray(meshes[1].triangles) + self.count[0]])
        rest = placed_vertices(meshes, q)
        self.mesh = ipctk.CollisionMesh(rest, ipctk.edges(faces), faces)
        self.mesh.can_collide = ipctk.make_vertex_patches_filter(np.repeat([0, 1], self.count).astype(np.int32))
        self.barrier = ipctk.BarrierPotential(RANGE, 1.0)

    def collisions(self, x: np.ndarray) -> ipctk.NormalCollisions:
        found = ipctk.NormalCollisions()
        found.build(self.mesh, x, RANGE)
        return found

    def reduced(self, x: np.ndarray, q: np.ndarray, gradient: np.ndarray, hessian: np.ndarray):
        """From vertices to the motions of both bodies: wrenches (12,) and Hessian (12, 12)."""
        gradient = gradient.reshape(-1, 3)
        jacobian = np.zeros((x.size, 12))
        curvature = np.zeros((12, 12))
        start = 0
        for body, count in enumerate(self.count):
            for i in range(start, start + count):
                arm, force, at = x[i] - q[7 * body : 7 * body + 3], gradient[i], 6 * body
                jacobian[3 * i : 3 * i + 3, at : at + 3] = np.eye(3)
                jacobian[3 * i : 3 * i + 3, at + 3 : at + 6] = -cross_matrix(arm)
                curvature[at + 3 : at + 6, at + 3 : at + 6] += 0.5 * (
                    np.outer(force, arm) + np.outer(arm, force)
                ) - force @ arm * np.eye(3)
            start += count
        return jacobian.T @ gradient.ravel(), jacobian.T @ hessian @ jacobian + curvature


def near(random: np.random.Generator, model: ff.Model, parameters: ff.Parameters) -> np.ndarray:
    q, _ = properties.placed(random, 3.0)
    return moved_to_gap(model, parameters, q, 2, RANGE * random.uniform(0.02, 0.5))


def relative(ours: np.ndarray, theirs: np.ndarray) -> float:
    assert np.linalg.norm(theirs) > 0.0
    return float(np.linalg.norm(np.asarray(ours) - theirs) / np.linalg.norm(theirs))


@pytest.mark.parametrize("make", [lumpy, box])
def test_barrier_agrees_with_the_toolkit(make):
    random = np.random.default_rng(3)
    contact = ff.Ipc(range=RANGE, scale=[1.0])
    worst = np.zeros(3)
    for _ in range(12):
        model, parameters, meshes = two_bodies(random, make)
        q = near(random, model, parameters)
        peer, x = Peer(meshes, q), placed_vertices(meshes, q)
        found = peer.collisions(x)
        assert len(found) > 0
        gradient = np.asarray(peer.barrier.gradient(found, peer.mesh, x))
        hessian = peer.barrier.hessian(found, peer.mesh, x).toarray()
        wrench, block = peer.reduced(x, q, gradient, hessian)
        ours = contact.evaluate(model, parameters, q)
        unit = RANGE**4  # the toolkit's barrier is not divided by it
        worst = np.maximum(
            worst,
            [
                relative(ours.energy * unit, np.array(peer.barrier(found, peer.mesh, x))),
                relative(np.asarray(ours.wrench)[1:].ravel() * unit, wrench),
                relative(np.asarray(ours.blocks[0].hessian) * unit, block),
            ],
        )
    print(f"worst relative differences: energy {worst[0]:.2g}, gradient {worst[1]:.2g}, Hessian {worst[2]:.2g}")
    assert np.all(worst < 1e-8)


def test_nearly_parallel_edges_agree_with_the_toolkit():
    random = np.random.default_rng(4)
    contact = ff.Ipc(range=RANGE, scale=[1.0])
    for angle in (1e-4, 3e-3, 1e-2, 2.5e-2, 3.5e-2):
        model, parameters, meshes = two_bodies(random, box)
        axis = properties.unit(random)
        turn = np.concatenate([[np.cos(0.5 * angle)], np.sin(0.5 * angle) * axis])
        q = np.concatenate([np.zeros(3), [1.0, 0.0, 0.0, 0.0], [0.03, -0.02, 3.0], turn])
        q = moved_to_gap(model, parameters, q, 2, 0.01)
        peer, x = Peer(meshes, q), placed_vertices(meshes, q)
        found = peer.collisions(x)
        wrench, block = peer.reduced(
            x,
            q,
            np.asarray(peer.barrier.gradient(found, peer.mesh, x)),
            peer.barrier.hessian(found, peer.mesh, x).toarray(),
        )
        ours = contact.evaluate(model, parameters, q)
        assert relative(ours.energy * RANGE**4, np.array(peer.barrier(found, peer.mesh, x))) < 1e-8
        assert relative(np.asarray(ours.wrench)[1:].ravel() * RANGE**4, wrench) < 1e-8
        assert relative(np.asarray(ours.blocks[0].hessian) * RANGE**4, block) < 1e-8


def test_friction_agrees_with_the_toolkit():
    random = np.random.default_rng(5)
    contact = ff.Ipc(range=RANGE, scale=[1.0], slip_speed=SLIP_SPEED)
    for size in (0.1, 1.0, 10.0):  # sticking, at the switch, sliding
        model, parameters, meshes = two_bodies(random, lumpy)
        before = near(random, model, parameters)
        step = 0.3 * size * SLIP_SPEED * DT * random.normal(size=12)
        after = np.asarray(ff.retract(model, before, step))
        peer = Peer(meshes, before)
        x, y = placed_vertices(meshes, before), placed_vertices(meshes, after)
        rubbing = ipctk.TangentialCollisions()
        rubbing.build(peer.mesh, x, peer.collisions(x), peer.barrier, FRICTION)
        potential = ipctk.FrictionPotential(SLIP_SPEED * DT)
        slid = y - x
        wrench, block = peer.reduced(
            y,
            after,
            np.asarray(potential.gradient(rubbing, peer.mesh, slid)),
            potential.hessian(rubbing, peer.mesh, slid).toarray(),
        )
        with_friction = contact.evaluate(model, parameters, after, previous_q=before, dt=DT)
        without = contact.evaluate(model, parameters, after)
        unit = RANGE**4
        assert relative(with_friction.friction_energy * unit, np.array(potential(rubbing, peer.mesh, slid))) < 1e-8
        ours = np.asarray(with_friction.wrench)[1:].ravel() - np.asarray(without.wrench)[1:].ravel()
        noise = 1e-14 * np.linalg.norm(np.asarray(without.wrench)) / np.linalg.norm(ours)
        assert relative(ours * unit, wrench) < 1e-8 + noise
        ours = np.asarray(with_friction.blocks[0].hessian) - np.asarray(without.blocks[0].hessian)
        noise = 1e-14 * np.linalg.norm(np.asarray(without.blocks[0].hessian)) / np.linalg.norm(ours)
        assert relative(ours * unit, block) < 1e-8 + noise


def test_options_come_back_from_the_description():
    for made in (
        ff.Ipc(),
        ff.Ipc(range=0.02, scale=[2.0, 3.0], slip_speed=0.01),
        ff.IpcGlobal(length_scale=0.5),
    ):
        assert contact_from_description(made.description).description == made.description


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: ff.Ipc(range=0.0), "range"),
        (lambda: ff.Ipc(scale=[-1.0]), "scale"),
        (lambda: ff.IpcGlobal(length_scale=-1.0), "length_scale"),
        (lambda: ff.IpcGlobal(slip_speed=0.0), "slip_speed"),
    ],
)
def test_bad_options_are_refused_by_name(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_global_form_refuses_large_scenes():
    ball = trimesh.creation.icosphere(subdivisions=3)
    mesh = ff.TriangleMesh(name="ball", vertices=ball.vertices, triangles=np.asarray(ball.faces, dtype=np.int32))
    model, parameters = properties.pair_model([{"type": ff.ShapeType.Mesh, "mesh": 0}] * 2, [mesh])
    q, _ = properties.placed(np.random.default_rng(0), 5.0)
    with pytest.raises(ValueError, match="2560 triangles, expected at most 2000; use Ipc or LongRange"):
        ff.IpcGlobal().evaluate(model, parameters, q)
