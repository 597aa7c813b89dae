# SPDX-License-Identifier: Apache-2.0
"""Scenes, states and controls in other units: what is 1 in the old ones is `length`, `mass`, `time` in the new ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import farfield as ff
from farfield.contact_models import contact_model


@dataclass(frozen=True)
class Units:
    """Factors of numbers."""

    name: str
    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0

    @property
    def force(self) -> float:
        return self.mass * self.length / self.time**2

    @property
    def energy(self) -> float:
        return self.force * self.length

    @property
    def speed(self) -> float:
        return self.length / self.time

    def contact(self, name: str, **options) -> ff.ContactModel | None:
        """A contact model whose options with units are given in the old ones."""
        factors = {
            "weight_in_joules": self.energy,
            "slip_speed": self.speed,
            "length_scale": self.length,
            "range": self.length,
        }
        return contact_model(name, **{key: value * factors.get(key, 1.0) for key, value in options.items()})

    def scene(self, scene: ff.Scene) -> ff.Scene:
        """The same world."""
        out = scene.replace(
            gravity=np.asarray(scene.gravity) * (self.length / self.time**2),
            dt=None if scene.dt is None else scene.dt * self.time,
            meshes=[mesh.replace(vertices=np.asarray(mesh.vertices) * self.length) for mesh in scene.meshes],
            bodies=[self._body(body) for body in scene.bodies],
            shapes=[
                shape.replace(
                    size=np.asarray(shape.size) * self.length,
                    position=np.asarray(shape.position) * self.length,
                    density=shape.density * self.mass / self.length**3,
                )
                for shape in scene.shapes
            ],
            keyframes=[],
        )
        joints = {joint.name: joint for joint in scene.joints}
        out.actuators = [self._actuator(actuator, joints[actuator.joint]) for actuator in scene.actuators]
        out.ties = [
            tie.replace(
                ratio=tie.ratio * self._coordinate(joints[tie.joint]) / self._coordinate(joints[tie.source]),
                offset=tie.offset * self._coordinate(joints[tie.joint]),
            )
            for tie in scene.ties
        ]
        return out

    def _coordinate(self, joint: ff.Joint) -> float:
        return self.length if joint.type == ff.JointType.Slide else 1.0

    def _body(self, body: ff.Body) -> ff.Body:
        moments = body.moments
        if moments is not None:
            moments = moments.replace(
                mass=moments.mass * self.mass,
                first=np.asarray(moments.first) * (self.mass * self.length),
                second=np.asarray(moments.second) * (self.mass * self.length**2),
            )
        return body.replace(
            position=np.asarray(body.position) * self.length,
            joints=[self._joint(joint) for joint in body.joints],
            moments=moments,
        )

    def _joint(self, joint: ff.Joint) -> ff.Joint:
        assert joint.type != ff.JointType.Free or joint.damping == joint.armature == joint.stiffness == 0.0
        q = self._coordinate(joint)
        effort = self.energy / q  # a force, or a torque
        span = None if joint.range is None else (joint.range.lower * q, joint.range.upper * q)
        return joint.replace(
            anchor=np.asarray(joint.anchor) * self.length,
            reference=joint.reference * q,
            spring_reference=joint.spring_reference * q,
            range=span,
            limit_stiffness=joint.limit_stiffness * effort / q**2,
            damping=joint.damping * effort * self.time / q,
            armature=joint.armature * effort * self.time**2 / q,
            stiffness=joint.stiffness * effort / q,
        )

    def _actuator(self, actuator: ff.Actuator, joint: ff.Joint) -> ff.Actuator:
        q = self._coordinate(joint)
        effort = self.energy / q
        return actuator.replace(kp=actuator.kp * effort / q, kd=actuator.kd * effort * self.time / q)

    def coordinates(self, model: ff.Model, q: np.ndarray) -> np.ndarray:
        """Coordinates, any number of rows; `model`: in either units."""
        return np.asarray(q) * self._factors(model, model.num_q, model.joint_q)

    def velocities(self, model: ff.Model, v: np.ndarray) -> np.ndarray:
        """Velocities, any number of rows."""
        return np.asarray(v) * self._factors(model, model.num_dofs, model.joint_dofs) / self.time

    def state(self, model: ff.Model, state: ff.State) -> ff.State:
        return ff.State(q=self.coordinates(model, state.q), v=self.velocities(model, state.v))

    def _factors(self, model: ff.Model, count: int, places) -> np.ndarray:
        out = np.ones(count)
        for joint in model.scene.joints:
            place = places(joint.name)
            if joint.type == ff.JointType.Slide:
                out[place] = self.length
            elif joint.type == ff.JointType.Free:
                out[place.start : place.start + 3] = self.length
        for k in model.kinematic_bodies:
            assert model.scene.bodies[k].joints, "scripted bodies are not among these scenes"
        return out

    def controls(self, model: ff.Model, controls: np.ndarray) -> np.ndarray:
        """Controls, any number of rows: targets of drives, efforts of motors."""
        factors = np.ones(model.num_controls)
        joints = {joint.name: joint for joint in model.scene.joints}
        for actuator in model.scene.actuators:
            place = model.actuator_controls(actuator.name)
            q = self._coordinate(joints[actuator.joint])
            if actuator.type == ff.ActuatorType.Motor:
                factors[place] = self.energy / q
            else:
                inputs = [q] * actuator.position_input + [q / self.time] * actuator.velocity_input
                assert len(range(*place.indices(model.num_controls))) == len(inputs)
                factors[place] = inputs
        return np.asarray(controls) * factors


SI = Units("m, kg, s")
POWERS_OF_TWO = (
    Units("1/1024 m", length=2.0**10),
    Units("1/4096 kg", mass=2.0**12),
    Units("16 s", time=2.0**-4),
    Units("64 m, 1024 kg, 1/8 s", 2.0**-6, 2.0**-10, 2.0**3),
)
DECIMAL = (
    Units("mm, g, s", 1e3, 1e3, 1.0),
    Units("100 m, 1000 kg, s", 1e-2, 1e-3, 1.0),
    Units("m, kg, ms", 1.0, 1.0, 1e3),
)
