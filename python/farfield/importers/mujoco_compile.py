# SPDX-License-Identifier: Apache-2.0
"""The MuJoCo compiler, run in a process of its own: ``python mujoco_compile.py REQUEST.json``.

The request names a model file, edits to apply to it (ties, motors, a floating base) and a folder for the results:
``arrays.npz`` with the compiled fields and ``model.json`` with names, options and mesh sources, or an ``error`` text. A
crash or a hang of the compiler ends this process only. It uses nothing of farfield, so it starts without the package.
"""

from __future__ import annotations

import fnmatch
import json
import os
import sys

MEMORY = 2 << 30  #: bytes for a scene
#: What becomes of every field of the compiled model. The first pattern that matches a field decides:
#:   used     becomes part of the Scene
#:   warned   has no counterpart: a warning names the elements where it is not at its default
#:   refused  has no counterpart and carries forces or constraints: an error names each element
#:   drawn    only concerns pictures, measurements or user data: counted in one closing warning
#:   derived  computed by the compiler from other fields
TREATMENT = [
    ("qpos0", "used"), ("qpos_spring", "used"),
    ("body_parentid body_pos body_quat body_ipos body_iquat body_mass body_inertia body_jntadr body_jntnum "
     "body_mocapid body_geomadr body_geomnum", "used"),
    ("body_gravcomp body_weldid", "used"), ("body_plugin", "refused"), ("body_user", "drawn"),
    ("body_bvhadr body_bvhnum body_conaffinity body_contype body_dofadr body_dofnum body_invweight0 body_margin "
     "body_rootid body_sameframe body_simple body_subtreemass body_treeid", "derived"),
    ("jnt_type jnt_qposadr jnt_dofadr jnt_bodyid jnt_pos jnt_axis jnt_limited jnt_range jnt_stiffness", "used"),
    ("jnt_actfrclimited jnt_actfrcrange jnt_actgravcomp", "used"),
    ("jnt_solref jnt_solimp jnt_margin jnt_stiffnesspoly jnt_springyield", "warned"),
    ("jnt_group jnt_user", "drawn"), ("jnt_actuatorid jnt_plasticadr", "derived"),
    ("dof_armature dof_damping dof_frictionloss", "used"), ("dof_solref dof_solimp dof_dampingpoly", "warned"),
    ("dof_M0 dof_Madr dof_bodyid dof_invweight0 dof_jntid dof_length dof_parentid dof_simplenum dof_treeid", "derived"),
    ("geom_type geom_bodyid geom_dataid geom_pos geom_quat geom_size geom_friction geom_contype geom_conaffinity "
     "geom_rgba geom_matid geom_condim", "used"),
    ("geom_solref geom_solimp geom_solmix geom_margin geom_gap geom_priority geom_fluid geom_adhesion "
     "geom_surfacevel", "warned"),
    ("geom_plugin", "refused"), ("geom_group geom_user geom_castshadow", "drawn"), ("geom_aabb geom_rbound geom_sameframe", "derived"),
    ("mesh_vert mesh_vertadr mesh_vertnum mesh_face mesh_faceadr mesh_facenum mesh_pos mesh_quat mesh_scale", "used"),
    ("mesh_normal* mesh_texcoord* mesh_facenormal mesh_facetexcoord", "drawn"),
    ("mesh_bvh* mesh_extrema mesh_graph mesh_graphadr mesh_oct* mesh_pathadr mesh_poly*", "derived"),
    ("hfield_adr hfield_ncol hfield_nrow hfield_size hfield_data", "used"), ("hfield_pathadr", "derived"),
    ("pair_geom1 pair_geom2 pair_friction", "used"),
    ("pair_dim pair_gap pair_margin pair_solimp pair_solref pair_solreffriction pair_adhesion", "warned"),
    ("pair_signature", "derived"), ("exclude_signature", "used"),
    ("eq_type eq_obj1id eq_obj2id eq_objtype eq_data eq_active0", "used"), ("eq_solref eq_solimp", "warned"),
    ("actuator_trntype actuator_trnid actuator_gaintype actuator_gainprm actuator_biastype actuator_biasprm "
     "actuator_dyntype actuator_dynprm actuator_gear actuator_ctrlrange actuator_ctrlnum actuator_ctrllimited "
     "actuator_forcelimited actuator_forcerange", "used"),
    ("actuator_actlimited", "warned"),
    ("actuator_plugin actuator_delay actuator_armature actuator_damping actuator_dampingpoly "
     "actuator_history", "refused"),
    ("actuator_group actuator_user", "drawn"),
    ("actuator_actadr actuator_actnum actuator_actearly actuator_actrange actuator_cranklength "
     "actuator_ctrlspec actuator_historyadr", "derived"),  # meaningful only for actuators that are refused
    ("actuator_acc0 actuator_length0 actuator_lengthrange actuator_ctrladr actuator_outadr actuator_outnum", "derived"),
    ("key_qpos key_qvel key_ctrl key_mpos key_mquat", "used"), ("key_time key_act key_plastic", "warned"),
    ("tendon_adr tendon_num tendon_stiffness tendon_damping tendon_frictionloss tendon_limited tendon_range tendon_armature "
     "tendon_lengthspring tendon_length0 wrap_type wrap_objid wrap_prm", "used"),
    ("tendon_*", "warned"), ("ten_J_* wrap_*", "derived"),
    ("flex*", "refused"), ("plugin*", "refused"),
    ("site_bodyid site_pos site_quat", "used"),
    ("skin_* cam_* light_* mat_emission mat_metallic mat_reflectance mat_roughness mat_shininess mat_specular mat_tex* "
     "tex_* site_* sensor_* numeric_* text_* tuple_* vis", "drawn"), ("mat_rgba", "used"),
    ("opt", "used"), ("stat", "derived"),
    ("B_* D_* M_* mapD2M mapM2D mapM2M efm0_* efmC_* bvh_* oct_* tree_* name_* names names_map paths signature", "derived"),
    ("flg_* n[A-Z]* n[a-z]*", "derived"),  # sizes
]  # fmt: skip

#: Texts of the compiler about bodies that repair_inertias and bound_masses mend.
REPAIRABLE = ("inertia must", "mass and inertia of moving bodies")
MASS_BOUND, INERTIA_BOUND = 1e-3, 1e-6  # [kg], [kg m^2]
INERTIA_OF_A_POINT = 4e-5  # per kg, where none is given: that of a ball of 1 cm [m^2]
LEAST_INERTIA = 1e-4  # of the largest

EXPORTED = ("used", "warned", "refused")
#: Kinds of named elements: the key in ``names``, MuJoCo's object type, the field that counts them.
NAMED = {
    "body": ("mjOBJ_BODY", "body_parentid"), "joint": ("mjOBJ_JOINT", "jnt_type"), "geom": ("mjOBJ_GEOM", "geom_type"),
    "mesh": ("mjOBJ_MESH", "mesh_vertadr"), "hfield": ("mjOBJ_HFIELD", "hfield_adr"),
    "pair": ("mjOBJ_PAIR", "pair_geom1"),
    "exclude": ("mjOBJ_EXCLUDE", "exclude_signature"), "equality": ("mjOBJ_EQUALITY", "eq_type"),
    "tendon": ("mjOBJ_TENDON", "tendon_adr"), "actuator": ("mjOBJ_ACTUATOR", "actuator_trntype"),
    "sensor": ("mjOBJ_SENSOR", "sensor_type"), "site": ("mjOBJ_SITE", "site_type"),
    "camera": ("mjOBJ_CAMERA", "cam_mode"),
    "light": ("mjOBJ_LIGHT", "light_mode"), "texture": ("mjOBJ_TEXTURE", "tex_type"),
    "skin": ("mjOBJ_SKIN", "skin_matid"),
    "flex": ("mjOBJ_FLEX", "flex_dim"), "plugin": ("mjOBJ_PLUGIN", "plugin"), "keyframe": ("mjOBJ_KEY", "key_time"),
    "numeric": ("mjOBJ_NUMERIC", "numeric_adr"), "text": ("mjOBJ_TEXT", "text_adr"),
    "tuple": ("mjOBJ_TUPLE", "tuple_adr"),
}  # fmt: skip


def treatment(field: str) -> str | None:
    """How `field` of the compiled model is treated, None when the table does not know it."""
    for patterns, kind in TREATMENT:
        if any(fnmatch.fnmatchcase(field, pattern) for pattern in patterns.split()):
            return kind
    return None


def model_fields(model) -> list[str]:
    """All data fields of a compiled model."""
    return [
        name for name in dir(type(model)) if not name.startswith("_") and not callable(getattr(type(model), name, None))
    ]


def apply_edits(mujoco, spec, edits: dict) -> None:
    """URDF has no place for ties, motors and a free base: they are added to the parsed model here."""
    for tie in edits.get("ties", []):
        spec.add_equality(
            name=f"mimic_{tie['joint']}",
            type=mujoco.mjtEq.mjEQ_JOINT,
            name1=tie["joint"],
            data=[tie["offset"], tie["ratio"], *[0.0] * (mujoco.mjNEQDATA - 2)],
            **({"name2": tie["source"]} if tie["source"] else {}),
        )
    for motor in edits.get("motors", []):
        actuator = spec.add_actuator(name=motor["joint"], target=motor["joint"], trntype=mujoco.mjtTrn.mjTRN_JOINT)
        actuator.set_to_motor()
        actuator.ctrlrange = [-motor["effort"], motor["effort"]]
        actuator.ctrllimited = True
    if edits.get("massless_visuals"):
        for geom in spec.geoms:
            if geom.contype == 0 and geom.conaffinity == 0:
                geom.mass = 0.0
    if edits.get("floating_base"):
        spec.worldbody.first_body().add_freejoint(name="base")


def repair_inertias(spec) -> list[dict]:
    """Inertias that no rigid body has: none positive is raised to the bound, and all three are made equal where A + B < C."""
    import numpy as np

    changes = []
    for body in spec.bodies:
        if not body.explicitinertial:
            continue
        full = np.array(body.fullinertia, dtype=float)
        given = not np.isnan(full[0])
        matrix = np.diag(np.array(body.inertia, dtype=float))
        if given:
            xx, yy, zz, xy, xz, yz = full
            matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        before, axes = np.linalg.eigh(matrix)
        after = before.copy()
        if after.min() <= 0.0:
            point = INERTIA_OF_A_POINT * max(float(body.mass), MASS_BOUND)
            after = np.maximum(after, max(LEAST_INERTIA * after.max(), point if after.max() <= 0.0 else 0.0))
        if after[0] + after[1] < after[2] * (1.0 - 1e-9):
            after = np.full(3, after.mean())
        if np.array_equal(before, after):
            continue
        matrix = axes @ np.diag(after) @ axes.T
        if given:
            body.fullinertia = [matrix[0, 0], matrix[1, 1], matrix[2, 2], matrix[0, 1], matrix[0, 2], matrix[1, 2]]
        else:
            body.inertia = np.diag(matrix)
        shown = lambda p: "(" + ", ".join(f"{x:.4g}" for x in p) + ") kg m^2"  # noqa: E731
        changes.append({"element": f"body '{body.name}': inertia", "before": shown(before), "after": shown(after)})
    return changes


def bound_masses(mujoco, spec, path: str, edits: dict) -> list[dict]:
    """Moving bodies without mass get a small one."""
    probe = mujoco.MjSpec.from_file(path)
    apply_edits(mujoco, probe, edits)
    repair_inertias(probe)
    probe.compiler.boundmass = probe.compiler.boundinertia = 1e-13
    try:
        model = probe.compile()
    except ValueError:
        return []
    carried = model.body_mass.copy()  # with what is welded to it
    for body in range(model.nbody - 1, 0, -1):
        if model.body_jntnum[body] == 0:
            carried[model.body_parentid[body]] += carried[body]
    changes = []
    for body in range(1, model.nbody):
        if model.body_jntnum[body] == 0 or carried[body] > 1e-12:
            continue
        name = name_of(mujoco, model, "mjOBJ_BODY", body)
        target = next(entry for entry in spec.bodies if entry.name == name)
        target.explicitinertial = True
        target.mass, target.inertia, target.ipos = MASS_BOUND, [INERTIA_BOUND] * 3, [0.0, 0.0, 0.0]
        after = f"{MASS_BOUND:g} kg, ({INERTIA_BOUND:g}, {INERTIA_BOUND:g}, {INERTIA_BOUND:g}) kg m^2"
        changes.append({"element": f"body '{name}': mass and inertia", "before": "0", "after": after})
    return changes


def mesh_sources(spec) -> list[dict]:
    """Where each mesh came from, so that its vertices can be read again in double precision."""
    sources = []
    for mesh in spec.meshes:
        path = None
        if mesh.file:
            folders = [spec.modelfiledir, os.path.join(spec.modelfiledir, spec.meshdir or "")]
            tries = [
                os.path.join(folder, name)
                for folder in reversed(folders)
                for name in (mesh.file, os.path.basename(mesh.file))
            ]
            path = next((os.path.abspath(name) for name in tries if os.path.isfile(name)), None)
        sources.append(
            {
                "id": int(mesh.id),
                "file": mesh.file,
                "path": path,
                "content_type": mesh.content_type,
                "scale": list(map(float, mesh.scale)),
                "refpos": list(map(float, mesh.refpos)),
                "refquat": list(map(float, mesh.refquat)),
                "legacy_inertia": int(mesh.inertia) == legacy_inertia(),
            }
        )
    return sorted(sources, key=lambda source: source["id"])


def legacy_inertia() -> int:
    import mujoco

    return int(mujoco.mjtMeshInertia.mjMESH_INERTIA_LEGACY)


def is_closed(model, mesh: int) -> bool:
    """Every edge has its opposite: the exact volume formula holds."""
    import numpy as np

    begin, count = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
    face = model.mesh_face[begin : begin + count].astype(np.int64)
    edges = np.concatenate([face[:, [0, 1]], face[:, [1, 2]], face[:, [2, 0]]])
    keys, opposite = edges[:, 0] << 32 | edges[:, 1], edges[:, 1] << 32 | edges[:, 0]
    return len(np.unique(keys)) == len(keys) and bool(np.array_equal(np.sort(keys), np.sort(opposite)))


def inferring_bodies(mujoco, spec) -> dict[str, set[str]]:
    """Bodies whose mass is inferred from their geoms, and the meshes that count. `spec` has been compiled."""
    result = {}
    for body in spec.bodies:
        used = {
            geom.meshname
            for geom in body.geoms
            if geom.type == mujoco.mjtGeom.mjGEOM_MESH and geom.mass != 0.0 and geom.density != 0.0
        }
        if used and not body.explicitinertial and body.name != "world":
            result[body.name] = used
    return result


def compile_exact(mujoco, spec, path: str, edits: dict, repair: bool, model, sources: list[dict]):
    """Bodies whose mass comes from meshes: the exact volume of closed meshes, not the default that over-counts."""
    import numpy as np

    bodies = inferring_bodies(mujoco, spec)
    counted = set().union(*bodies.values()) if bodies else set()
    legacy = {
        source["name"]: source["id"] for source in sources if source["legacy_inertia"] and source["name"] in counted
    }
    closed = {name for name, mesh in legacy.items() if is_closed(model, mesh)}
    notes = {"body": {}}
    for body, used in bodies.items():
        if used & set(legacy) - closed:
            names = ", ".join(sorted(used - closed))
            text = f"mass and inertia inferred from meshes that are not closed ({names}); give it an <inertial>"
            notes["body"].setdefault(text, []).append(body)
    if not closed:
        return model, notes
    again = mujoco.MjSpec.from_file(path)
    apply_edits(mujoco, again, edits)
    if repair:
        repair_inertias(again)
        bound_masses(mujoco, again, path, edits)
    file_names = {source["file"]: source["name"] for source in sources}
    for mesh in again.meshes:
        if (mesh.name or file_names.get(mesh.file)) in closed:
            mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_EXACT
    try:
        exact = again.compile()
    except ValueError:  # inside-out meshes have no exact volume
        return model, notes
    changed = np.flatnonzero(~np.isclose(exact.body_mass, model.body_mass, rtol=1e-5, atol=0.0))
    for body in changed:
        text = (
            f"mass {exact.body_mass[body]:.6g} kg from the exact volume of its meshes; "
            f"MuJoCo's default rule would give {model.body_mass[body]:.6g} kg"
        )
        notes["body"].setdefault(text, []).append(name_of(mujoco, model, "mjOBJ_BODY", body))
    return (exact if len(changed) else model), notes


def name_of(mujoco, model, kind: str, index: int) -> str:
    return mujoco.mj_id2name(model, getattr(mujoco.mjtObj, kind), int(index)) or ""


def describe_options(mujoco, model) -> dict:
    """Options of the model and, for comparison, their defaults."""
    import numpy as np

    default = mujoco.MjModel.from_xml_string("<mujoco/>").opt
    names = [name for name in dir(default) if not name.startswith("_") and not callable(getattr(default, name))]
    plain = lambda options: {name: np.asarray(getattr(options, name)).tolist() for name in names}  # noqa: E731
    return {"values": plain(model.opt), "defaults": plain(default)}


def run(request: dict) -> dict:
    import mujoco
    import numpy as np

    bound_memory()
    edits, repair = request.get("edits", {}), bool(request.get("repair"))
    spec = mujoco.MjSpec.from_file(request["path"])
    apply_edits(mujoco, spec, edits)
    repairs = repair_inertias(spec) + bound_masses(mujoco, spec, request["path"], edits) if repair else []
    try:
        model = spec.compile()
    except ValueError as error:
        raise ValueError(with_mesh_file(str(error), spec)) from error
    sources = mesh_sources(spec)
    for source in sources:
        source["name"] = name_of(mujoco, model, "mjOBJ_MESH", source["id"])
    model, notes = compile_exact(mujoco, spec, request["path"], edits, repair, model, sources)

    fields = model_fields(model)
    arrays, unknown = {}, []
    for field in fields:
        kind = treatment(field)
        if kind is None:
            unknown.append(field)
        elif kind in EXPORTED and isinstance(getattr(model, field), np.ndarray):
            arrays[field] = np.array(getattr(model, field))
    np.savez(os.path.join(request["results"], "arrays.npz"), **arrays)

    names = {}
    for kind, (object_type, counted_by) in NAMED.items():
        count = len(np.asarray(getattr(model, counted_by, ())))
        names[kind] = [name_of(mujoco, model, object_type, k) for k in range(count)]
    return {
        "name": spec.modelname,
        "names": names,
        "options": describe_options(mujoco, model),
        "meshes": sources,
        "notes": notes,
        "repairs": repairs,
        "unknown_fields": unknown,
        "enums": {
            kind: {str(int(v)): k for k, v in getattr(mujoco, kind).__members__.items()}
            for kind in (
                "mjtJoint",
                "mjtGeom",
                "mjtEq",
                "mjtTrn",
                "mjtGain",
                "mjtBias",
                "mjtWrap",
                "mjtObj",
                "mjtDyn",
                "mjtDisableBit",
                "mjtEnableBit",
            )
        },
        "version": mujoco.__version__,
    }


def bound_memory() -> None:
    """No scene needs more than `MEMORY` beyond the compiler itself: one that says so is refused before the machine is out of memory."""
    import resource

    with open("/proc/self/statm", encoding="ascii") as file:
        bound = int(file.read().split()[0]) * resource.getpagesize() + MEMORY
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard == resource.RLIM_INFINITY or bound < hard:
        resource.setrlimit(resource.RLIMIT_AS, (bound, hard))


def with_mesh_file(text: str, spec) -> str:
    """An error about a mesh also names its file."""
    files = [mesh.file for mesh in spec.meshes if mesh.name and mesh.file and f"'{mesh.name}'" in text]
    return f"{text}; mesh file '{files[0]}'" if files and files[0] not in text else text


def main() -> int:
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    try:
        result = run(request)
    except Exception as error:  # every failure of the compiler is an answer, not a traceback
        text = f"{error}".strip() or type(error).__name__
        repairable = not request.get("repair") and any(word in text for word in REPAIRABLE)
        result = {"error": text, "kind": type(error).__name__, "repairable": repairable}
    target = os.path.join(request["results"], "model.json")
    with open(target, "w", encoding="utf-8") as file:
        json.dump(result, file)
    return 0


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [
        entry for entry in sys.path if os.path.abspath(entry or os.getcwd()) != here
    ]  # siblings are not modules here
    sys.exit(main())
