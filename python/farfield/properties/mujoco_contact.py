# SPDX-License-Identifier: Apache-2.0
"""Contact force of MuJoCo as a function of place: bodies at rest, without gravity, its defaults for contact.

There is no energy to ask for: it is the work against the force on the straight way out of contact. Second derivatives are central
differences of the force by the moving body's position.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

import farfield as ff

DIFFERENCE = 1e-8  # of positions [m]
PLACES = 40  # of the integral for the work
REACH = 2.0  # no two boxes of the measurements overlap when their centres are moved this far apart [m]


class World:
    """The same boxes and spheres, and the ground if there is one, in MuJoCo."""

    def __init__(self, model: ff.Model):
        import mujoco

        text = ['<mujoco><option gravity="0 0 0" tolerance="0" iterations="100"/><worldbody>']
        for k in range(model.num_bodies):
            geoms = "".join(self._geom(shape) for shape in model.scene.shapes if shape.body == k)
            inner = f'<freejoint/><inertial pos="0 0 0" mass="1" diaginertia="0.02 0.02 0.02"/>{geoms}'
            text.append(geoms if k == 0 else f"<body>{inner}</body>")
        text.append("</worldbody></mujoco>")
        self._mujoco = mujoco
        self._model = mujoco.MjModel.from_xml_string("".join(text))
        self._data = mujoco.MjData(self._model)

    @staticmethod
    def _geom(shape: ff.Shape) -> str:
        if shape.type == ff.ShapeType.HalfSpace:
            return '<geom type="plane" size="100 100 1"/>'
        kinds = {ff.ShapeType.Box: "box", ff.ShapeType.Sphere: "sphere"}
        if shape.type not in kinds:
            raise ValueError(f"shape '{shape.name}': MuJoCo is measured on boxes and spheres only")
        return f'<geom type="{kinds[shape.type]}" size="{" ".join(repr(float(x)) for x in shape.size)}"/>'

    def forces(self, q: np.ndarray) -> np.ndarray:
        """On each free body, shape (bodies, 3) [N]."""
        self._data.qpos[:] = q
        self._data.qvel[:] = 0.0
        self._data.qacc_warmstart[:] = 0.0
        self._mujoco.mj_forward(self._model, self._data)
        return self._data.qfrc_constraint.reshape(-1, 6)[:, :3].copy()

    def normal_forces(self, q: np.ndarray) -> np.ndarray:
        """Of all contacts at q [N]."""
        self.forces(q)
        out = np.zeros(6)
        found = []
        for k in range(self._data.ncon):
            self._mujoco.mj_contactForce(self._model, self._data, k, out)
            found.append(out[0])
        return np.array(found)


class MujocoContact:
    """Answers like a ContactModel; only linear motion of the last body is differentiated."""

    def __init__(self) -> None:
        self._model: ff.Model | None = None
        self._world: World | None = None

    def world(self, model: ff.Model) -> World:
        if self._world is None or model is not self._model:
            self._model, self._world = model, World(model)
        return self._world

    def evaluate(self, model: ff.Model, parameters: ff.Parameters, q: np.ndarray) -> SimpleNamespace:
        world = self.world(model)
        q = np.asarray(q, dtype=float)
        last = len(q) - 7
        forces = world.forces(q)
        wrench = np.zeros((model.num_bodies, 6))
        wrench[1:, :3] = -forces
        energy = _work(world, q, last) if forces.any() else 0.0
        return SimpleNamespace(energy=energy, wrench=wrench, blocks=[SimpleNamespace(hessian=_hessian(world, q, last))])


def _work(world: World, q: np.ndarray, last: int) -> float:
    away = q[last : last + 3] - q[:3] if last else np.array([0.0, 0.0, 1.0])
    away = away / np.linalg.norm(away)
    ways = np.concatenate([[0.0], np.geomspace(1e-9, REACH, PLACES)])
    return float(np.trapezoid([world.forces(_shifted(q, last, s * away))[-1] @ away for s in ways], ways))


def _shifted(q: np.ndarray, first: int, step: np.ndarray) -> np.ndarray:
    out = q.copy()
    out[first : first + 3] += step
    return out


def _hessian(world: World, q: np.ndarray, last: int) -> np.ndarray:
    columns = []
    for axis in range(3):
        step = DIFFERENCE * np.eye(3)[axis]
        ahead, behind = (world.forces(_shifted(q, last, s * step))[-1] for s in (1.0, -1.0))
        columns.append(-(ahead - behind) / (2.0 * DIFFERENCE))
    return np.array(columns).T
