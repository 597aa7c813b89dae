# SPDX-License-Identifier: Apache-2.0
"""A design as a scene of its own: shapes, masses, attachment points and gains of parameters written into the description."""

from __future__ import annotations

import numpy as np

from farfield import _core as ff


def reshaped_scene(model: ff.Model, parameters: ff.Parameters) -> ff.Scene:
    """The model's scene as the parameters have it: every colliding shape becomes the mesh of its current hull, one each.

    Meshes hold all vertices of a hull, inner ones included (``keep_vertices``). Positions of free bodies stay those of the scene.
    """
    scene, meshes = model.scene, list(model.scene.meshes)
    vertices, hulls = np.asarray(parameters.hull_vertices), iter(ff.current_hulls(model, parameters))
    shapes = []
    for k, shape in enumerate(scene.shapes):
        if shape.collides and shape.type != ff.ShapeType.HalfSpace:
            hull = next(hulls)
            shape = shape.replace(
                type=ff.ShapeType.Mesh,
                mesh=len(meshes),
                position=[0.0, 0.0, 0.0],
                orientation=[1.0, 0.0, 0.0, 0.0],
                keep_vertices=True,
            )
            meshes.append(ff.TriangleMesh(name=f"hull {k}", vertices=vertices[hull.rows], triangles=hull.triangles))
        if shape.collides:
            shape = shape.replace(friction=float(parameters.friction[shape.body]))
        shapes.append(shape)
    drives = zip(scene.actuators, parameters.kp, parameters.kd, strict=True)
    return scene.replace(
        meshes=meshes,
        shapes=shapes,
        bodies=[_body(model, parameters, k) for k in range(model.num_bodies)],
        actuators=[actuator.replace(kp=float(kp), kd=float(kd)) for actuator, kp, kd in drives],
        gravity=parameters.gravity,
    )


def _body(model: ff.Model, parameters: ff.Parameters, index: int) -> ff.Body:
    body, joints = model.scene.bodies[index], []
    for joint in body.joints:
        dof = model.joint_dofs(joint.name).start
        if joint.type != ff.JointType.Fixed:
            numbers = {name: float(getattr(parameters, name)[dof]) for name in ("damping", "armature", "stiffness")}
            joint = joint.replace(**numbers)
        joints.append(joint)
    if joints:
        body = body.replace(joints=joints)
    if parameters.moments[index, 0] > 0.0:
        body = body.replace(moments=ff.Moments.from_vector(parameters.moments[index]))
    free = any(joint.type == ff.JointType.Free for joint in joints)
    return body if index == 0 or free else body.replace(position=parameters.attachment[index])


def reshaped(model: ff.Model, parameters: ff.Parameters) -> ff.Model:
    """The model of `reshaped_scene`; its default parameters are the given ones, `contact_stiffness` aside."""
    return ff.build_model(reshaped_scene(model, parameters))
