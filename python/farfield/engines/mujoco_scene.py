# SPDX-License-Identifier: Apache-2.0
"""A scene as MuJoCo has it, made from a `farfield.Model` and its parameters, and the way between the two states.

The same: bodies, masses, joints with their reference, damping, armature and springs, drives and motors, gravity, which bodies may
meet, friction coefficients (a pair takes the larger in both). Different by nature: contact is MuJoCo's soft contact with its default
solver parameters; meshes collide as their convex hulls; joint limits and ties are soft constraints; drives are integrated by
``implicitfast``, not by a fully implicit step. A field of the parameters that was changed and is not carried over is refused by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import farfield as ff

HONOURED = {
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
}
NOT_ASKED_FOR = {"contact_stiffness"}  # of our contact models; MuJoCo has contact of its own
LARGEST_TIME_STEP = 0.01  # of MuJoCo's integrator [s]; longer frames are cut into equal parts
SOLVER_TOLERANCE = 1e-12  # MuJoCo's default is 1e-8
PAIR_FRICTION = (
    5e-3,
    1e-4,
    1e-4,
)  # MuJoCo's defaults for turning and rolling, without effect at three contact dimensions


@dataclass
class Peer:
    """A compiled MuJoCo model and how its arrays correspond to ours.

    q, qpos: corresponding indices of coordinates; dofs, qvel: of velocities. control: for every MuJoCo actuator the index of our control.
    mocap: (our first coordinate, MuJoCo's mocap index) of every scripted body. bodies: MuJoCo's id of every body.
    """

    model: Any
    q: np.ndarray
    qpos: np.ndarray
    dofs: np.ndarray
    qvel: np.ndarray
    control: np.ndarray
    mocap: list[tuple[int, int]]
    bodies: np.ndarray
    substeps: int

    def set_state(self, data: Any, state: ff.State) -> None:
        """Puts MuJoCo's data into a state of ours; everything else is as after a reset."""
        import mujoco

        mujoco.mj_resetData(self.model, data)
        data.qpos[self.qpos] = np.asarray(state.q)[self.q]
        data.qvel[self.qvel] = np.asarray(state.v)[self.dofs]
        for first, index in self.mocap:
            data.mocap_pos[index], data.mocap_quat[index] = np.split(np.asarray(state.q)[first : first + 7], [3])

    def get_state(self, data: Any, start: ff.State) -> tuple[np.ndarray, np.ndarray]:
        """q and v of MuJoCo's data; scripted bodies rest where they were at the start."""
        q, v = np.array(start.q), np.zeros(len(start.v))
        q[self.q] = data.qpos[self.qpos]
        v[self.dofs] = data.qvel[self.qvel]
        return q, v


def translate(model: ff.Model, parameters: ff.Parameters, *, dt: float, substeps: int = 0) -> Peer:
    """MuJoCo's counterpart of a model. ``substeps`` per frame of dt; 0: as many as keep its time step at 0.01 s or below."""
    import mujoco

    refuse_changed(model, parameters)
    scene = model.scene
    parts = substeps if substeps > 0 else max(int(np.ceil(dt / LARGEST_TIME_STEP - 1e-9)), 1)
    spec = mujoco.MjSpec()
    spec.modelname = scene.name
    spec.compiler.degree = False
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    spec.compiler.alignfree = False
    spec.option.gravity = np.asarray(parameters.gravity)
    spec.option.timestep = dt / parts
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    # With the default pyramid and tolerance, derivatives by differences are off by factors: contacts change their state within 1e-6.
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.tolerance = SOLVER_TOLERANCE
    # our list of pairs decides who meets, and a motion that blows up must not jump back to the start
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_FILTERPARENT | mujoco.mjtDisableBit.mjDSBL_AUTORESET
    _add_bodies(mujoco, spec, model, parameters)
    _add_shapes(mujoco, spec, model, parameters)
    _add_pairs(spec, model)
    _add_ties(mujoco, spec, scene)
    control = _add_actuators(mujoco, spec, model, parameters)
    try:
        compiled = spec.compile()
    except ValueError as error:
        raise ValueError(f"MuJoCo cannot compile scene '{scene.name}': {' '.join(str(error).split())}") from error
    return _correspondence(mujoco, compiled, model, parameters, control, parts)


def refuse_changed(model: ff.Model, parameters: ff.Parameters) -> None:
    """ValueError when a field differs from the model's that this translation does not carry over, such as the vertices of hulls."""
    built = model.default_parameters()
    for field in (each.name for each in built.fields()):
        if field in HONOURED | NOT_ASKED_FOR or np.array_equal(getattr(parameters, field), getattr(built, field)):
            continue
        raise ValueError(
            f"MuJoCo's copy of scene '{model.scene.name}': parameters.{field} was changed, which it does not honour; "
            f"expected the values that the model was built with, or a model built with the new ones"
        )


def _add_bodies(mujoco: Any, spec: Any, model: ff.Model, parameters: ff.Parameters) -> None:
    made = [spec.worldbody]
    moments = np.asarray(parameters.moments)
    for index, body in enumerate(model.scene.bodies[1:], start=1):
        place = np.asarray(parameters.attachment)[index]
        new = made[body.parent].add_body(name=body.name, pos=place, quat=body.orientation)
        new.mocap = body.motion == ff.BodyMotion.Kinematic
        new.gravcomp = body.gravity_compensation
        mass = moments[index, 0]
        if mass > 0.0:
            center = moments[index, 1:4] / mass
            xx, yy, zz, xy, xz, yz = moments[index, 4:]
            second = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) - mass * np.outer(center, center)
            inertia = np.trace(second) * np.eye(3) - second
            new.mass, new.ipos, new.explicitinertial = mass, center, True
            new.fullinertia = [*np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2]]
        if not new.mocap:
            for joint in body.joints:
                _add_joint(mujoco, new, joint, model, parameters)
        made.append(new)


def _add_joint(mujoco: Any, body: Any, joint: ff.Joint, model: ff.Model, parameters: ff.Parameters) -> None:
    if joint.type == ff.JointType.Fixed:
        return
    dofs = model.joint_dofs(joint.name)
    kinds = {
        ff.JointType.Free: mujoco.mjtJoint.mjJNT_FREE,
        ff.JointType.Ball: mujoco.mjtJoint.mjJNT_BALL,
        ff.JointType.Slide: mujoco.mjtJoint.mjJNT_SLIDE,
    }
    kind = kinds.get(joint.type, mujoco.mjtJoint.mjJNT_HINGE)
    axes = [joint.axis, joint.axis2] if joint.type == ff.JointType.Universal else [joint.axis]
    ranges = [joint.range, joint.range2]
    for k, (name, axis) in enumerate(zip(_joint_names(joint), axes, strict=True)):
        new = body.add_joint(name=name, type=kind)
        if joint.type == ff.JointType.Free:
            return
        new.pos = joint.anchor
        if joint.type != ff.JointType.Ball:
            new.axis, new.ref, new.springref = axis, joint.reference, joint.spring_reference
        stiffness = float(parameters.stiffness[dofs.start + k])
        if np.ndim(new.stiffness):  # newer versions have a polynomial
            new.stiffness[0] = stiffness
        else:
            new.stiffness = stiffness
        limits = ranges[k]
        new.limited = mujoco.mjtLimited.mjLIMITED_TRUE if limits is not None else mujoco.mjtLimited.mjLIMITED_FALSE
        if limits is not None:
            new.range = [limits.lower, limits.upper]


def _joint_names(joint: ff.Joint) -> list[str]:
    return [f"{joint.name}.1", f"{joint.name}.2"] if joint.type == ff.JointType.Universal else [joint.name]


def _add_shapes(mujoco: Any, spec: Any, model: ff.Model, parameters: ff.Parameters) -> None:
    kinds = {
        ff.ShapeType.Sphere: mujoco.mjtGeom.mjGEOM_SPHERE,
        ff.ShapeType.Capsule: mujoco.mjtGeom.mjGEOM_CAPSULE,
        ff.ShapeType.Cylinder: mujoco.mjtGeom.mjGEOM_CYLINDER,
        ff.ShapeType.Ellipsoid: mujoco.mjtGeom.mjGEOM_ELLIPSOID,
        ff.ShapeType.Box: mujoco.mjtGeom.mjGEOM_BOX,
        ff.ShapeType.HalfSpace: mujoco.mjtGeom.mjGEOM_PLANE,
        ff.ShapeType.Mesh: mujoco.mjtGeom.mjGEOM_MESH,
    }
    bodies = [spec.worldbody, *(spec.body(body.name) for body in model.scene.bodies[1:])]
    used = {shape.mesh for shape in model.scene.shapes if shape.collides and shape.type == ff.ShapeType.Mesh}
    for index in sorted(used):
        mesh = model.scene.meshes[index]
        faces = np.asarray(mesh.triangles, dtype=np.int32).ravel()
        spec.add_mesh(name=f"mesh{index}", uservert=np.asarray(mesh.vertices).ravel(), userface=faces)
    for index, shape in enumerate(model.scene.shapes):
        if not shape.collides:
            continue
        geom = bodies[shape.body].add_geom(name=f"shape{index}", type=kinds[shape.type])
        geom.pos, geom.quat, geom.rgba = shape.position, shape.orientation, shape.color
        if shape.type == ff.ShapeType.Mesh:
            geom.meshname = f"mesh{shape.mesh}"
        else:
            geom.size = [10.0, 10.0, 1.0] if shape.type == ff.ShapeType.HalfSpace else shape.size
        geom.friction[0] = np.asarray(parameters.friction)[shape.body]
        geom.condim = 3
        geom.contype, geom.conaffinity = shape.group & 0x7FFFFFFF, shape.collides_with & 0x7FFFFFFF


def _add_pairs(spec: Any, model: ff.Model) -> None:
    """The bodies that meet are exactly those of the model; pairs that the user includes meet whatever their groups say."""
    scene = model.scene
    meeting = {frozenset(pair) for pair in model.contact_pairs}
    shapes: dict[str, list[int]] = {}
    for index, shape in enumerate(scene.shapes):
        if shape.collides:
            shapes.setdefault(scene.bodies[shape.body].name, []).append(index)
    names = list(shapes)
    included = {frozenset(pair) for pair in scene.include_contacts}
    stated = {frozenset((pair.a, pair.b)): pair.friction for pair in scene.pair_friction}
    for k, a in enumerate(names):
        for b in names[k + 1 :]:
            if frozenset((a, b)) not in meeting:
                spec.add_exclude(bodyname1=a, bodyname2=b)
            elif frozenset((a, b)) in included | stated.keys():
                _include(spec, shapes[a], shapes[b], stated.get(frozenset((a, b))))


def _include(spec: Any, first: list[int], second: list[int], friction: float | None) -> None:
    for a in first:
        for b in second:
            one, other = spec.geom(f"shape{a}"), spec.geom(f"shape{b}")
            sliding = max(one.friction[0], other.friction[0]) if friction is None else friction
            pair = spec.add_pair(name=f"pair {a} {b}", geomname1=one.name, geomname2=other.name, condim=3)
            pair.friction = [sliding, sliding, *PAIR_FRICTION]


def _add_ties(mujoco: Any, spec: Any, scene: ff.Scene) -> None:
    reference = {joint.name: joint.reference for joint in scene.joints}
    for tie in scene.ties:
        # MuJoCo counts from the reference: q1 - r1 = a0 + a1 (q2 - r2)
        constant = tie.offset - reference[tie.joint] + tie.ratio * reference[tie.source]
        equality = spec.add_equality(type=mujoco.mjtEq.mjEQ_JOINT, name1=tie.joint, name2=tie.source)
        equality.objtype = mujoco.mjtObj.mjOBJ_JOINT
        equality.data = [constant, tie.ratio, *[0.0] * (mujoco.mjNEQDATA - 2)]


def _add_actuators(mujoco: Any, spec: Any, model: ff.Model, parameters: ff.Parameters) -> np.ndarray:
    """MuJoCo's actuators in order; for each the index of the control of ours that it takes."""
    joints = {joint.name: joint for joint in model.scene.joints}
    taken = []
    _refuse_unknown(model.scene)
    for index, (source, ours) in enumerate(zip(model.scene.actuators, _control_slices(model), strict=True)):
        joint = joints[source.joint]
        count = model.joint_dofs(joint.name).stop - model.joint_dofs(joint.name).start
        width = 1 if len(source.gear) else count
        pd = source.type == ff.ActuatorType.Pd
        if pd and joint.type in (ff.JointType.Free, ff.JointType.Ball):
            raise ValueError(
                f"actuator '{source.name}': a Pd drive on joint '{joint.name}' of type {joint.type.name}; "
                "expected a hinge, slide or universal joint for MuJoCo"
            )
        kp, kd = float(parameters.kp[index]), float(parameters.kd[index])
        for dof in range(count):
            gear = float(source.gear[dof]) if len(source.gear) else 1.0
            inputs: list[tuple[float, int, bool]] = []  # gain, our control, with feedback
            slot = 0 if len(source.gear) else dof
            if not pd:
                inputs = [(1.0, ours.start + slot, False)]
            else:
                if source.position_input:
                    inputs.append((kp, ours.start + slot, True))
                if source.velocity_input:
                    inputs.append((kd, ours.start + slot + (width if source.position_input else 0), not inputs))
            for gain, control, feedback in inputs:
                new = spec.add_actuator(name=f"drive{len(taken)}", trntype=mujoco.mjtTrn.mjTRN_JOINT)
                new.target, new.gear = _target(joint, dof, gear)
                new.gaintype, new.gainprm[0] = mujoco.mjtGain.mjGAIN_FIXED, gain
                if feedback:
                    new.biastype = mujoco.mjtBias.mjBIAS_AFFINE
                    new.biasprm[:3] = [0.0, -kp, -kd]
                if source.control_range is not None:
                    new.ctrllimited = mujoco.mjtLimited.mjLIMITED_TRUE
                    new.ctrlrange = [source.control_range.lower, source.control_range.upper]
                taken.append(control)
    return np.array(taken, dtype=int)


def _refuse_unknown(scene: ff.Scene) -> None:
    """What this translation has no words for yet."""
    found = [f"tendon '{tendon.name}'" for tendon in scene.tendons]
    found += [f"constraint '{constraint.name}'" for constraint in scene.constraints]
    for source in scene.actuators:
        if not source.joint or source.type == ff.ActuatorType.Affine or source.force_range is not None:
            found.append(f"actuator '{source.name}'")
    if found:
        raise ValueError(
            f"scene '{scene.name}': {found[0]} is not translated for MuJoCo; expected none ({len(found)} such)"
        )


def _target(joint: ff.Joint, dof: int, gear: float) -> tuple[str, list[float]]:
    """MuJoCo's joint and gear of one degree of freedom of ours."""
    if joint.type in (ff.JointType.Free, ff.JointType.Ball):
        return joint.name, [gear if k == dof else 0.0 for k in range(6)]
    return _joint_names(joint)[dof], [gear, *[0.0] * 5]


def _control_slices(model: ff.Model) -> list[slice]:
    """Our controls of every actuator, in order; names may be empty, so they are counted."""
    slices, start = [], 0
    for source in model.scene.actuators:
        dofs = model.joint_dofs(source.joint)
        inputs = 1
        if source.type == ff.ActuatorType.Pd:
            inputs = int(source.position_input) + int(source.velocity_input)
        count = inputs * (1 if len(source.gear) else dofs.stop - dofs.start)
        slices.append(slice(start, start + count))
        start += count
    return slices


def _correspondence(
    mujoco: Any, compiled: Any, model: ff.Model, parameters: ff.Parameters, control: np.ndarray, parts: int
) -> Peer:
    q, qpos, dofs, qvel = [], [], [], []
    for joint in model.scene.joints:
        if joint.type == ff.JointType.Fixed:
            continue
        ours_q, ours_v = model.joint_q(joint.name), model.joint_dofs(joint.name)
        q += range(ours_q.start, ours_q.stop)
        dofs += range(ours_v.start, ours_v.stop)
        for name in _joint_names(joint):
            found = compiled.joint(name)
            qpos += range(found.qposadr[0], found.qposadr[0] + len(found.qpos0))
            qvel += range(found.dofadr[0], found.dofadr[0] + len(found.damping))
    # per degree of freedom, which a joint element cannot hold
    compiled.dof_damping[qvel] = np.asarray(parameters.damping)[dofs]
    compiled.dof_armature[qvel] = np.asarray(parameters.armature)[dofs]
    compiled.dof_frictionloss[qvel] = np.asarray(parameters.joint_friction)[dofs]
    mujoco.mj_setConst(compiled, mujoco.MjData(compiled))
    names = [model.body_names[index] for index in model.kinematic_bodies]
    mocap = [(model.joint_q(f"{name} (scripted)").start, int(compiled.body(name).mocapid[0])) for name in names]
    bodies = np.array([0, *(compiled.body(body.name).id for body in model.scene.bodies[1:])])
    arrays = (np.array(each, dtype=int) for each in (q, qpos, dofs, qvel))
    return Peer(compiled, *arrays, control, mocap, bodies, parts)
