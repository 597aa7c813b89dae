# SPDX-License-Identifier: Apache-2.0
"""Names every part of a compiled model that has no counterpart: in an error, or in a warning."""

from __future__ import annotations

import numpy as np

from farfield.importers.compiler import Compiled
from farfield.importers.report import Report

SOLREF = (0.02, 1.0)
SOLIMP = (0.9, 0.95, 0.001, 0.5, 2.0)
#: field, default, kind of its elements, what happens instead.
WARNED = [
    ("jnt_solref", SOLREF, "joint", "solref is not used: limits are cubic springs of the stated stiffness"),
    ("jnt_solimp", SOLIMP, "joint", "solimp is not used: limits are cubic springs of the stated stiffness"),
    ("jnt_margin", 0.0, "joint", "the limit margin is not used"),
    ("jnt_stiffnesspoly", 0.0, "joint", "the nonlinear part of the spring is not applied"),
    ("jnt_springyield", 0.0, "joint", "the spring does not yield"),
    ("geom_solref", SOLREF, "geom", "solref is not used"),
    ("geom_solimp", SOLIMP, "geom", "solimp is not used"),
    ("geom_solmix", 1.0, "geom", "solmix is not used"),
    ("geom_margin", 0.0, "geom", "margin is not used"),
    ("geom_gap", 0.0, "geom", "gap is not used"),
    ("geom_priority", 0, "geom", "priority is not used: a pair takes the larger friction"),
    ("geom_adhesion", 0.0, "geom", "adhesion is not applied"),
    ("geom_surfacevel", 0.0, "geom", "the surface velocity is not applied"),
    ("eq_solref", SOLREF, "equality", "solref is not used: constraints are exact"),
    ("eq_solimp", SOLIMP, "equality", "solimp is not used: constraints are exact"),
    (
        "tendon_solref_lim",
        SOLREF,
        "tendon",
        "solreflimit is not used: limits are cubic springs of the stated stiffness",
    ),
    (
        "tendon_solimp_lim",
        SOLIMP,
        "tendon",
        "solimplimit is not used: limits are cubic springs of the stated stiffness",
    ),
    ("tendon_margin", 0.0, "tendon", "the limit margin is not used"),
]
#: dof fields are reported by the joint that owns the degree of freedom.
WARNED_DOFS = [
    ("dof_solref", SOLREF, "solreffriction is not used"),
    ("dof_solimp", SOLIMP, "solimpfriction is not used"),
    ("dof_dampingpoly", 0.0, "the nonlinear part of the damping is not applied"),
]
#: Options that only steer MuJoCo's own solvers or measurements.
SOLVER_OPTIONS = {
    "ccd_iterations", "ccd_tolerance", "cone", "impratio", "iterations", "jacobian", "ls_iterations", "ls_tolerance",
    "noslip_iterations", "noslip_tolerance", "sdf_initpoints", "sdf_iterations", "sleep_tolerance", "solver",
    "tolerance", "o_friction", "o_margin", "o_solimp", "o_solref",
}  # fmt: skip
HANDLED_OPTIONS = {"gravity", "timestep", "disableflags", "enableflags"}
HANDLED_FLAGS = {"gravity", "limit", "contact", "equality", "constraint"}
NOT_IMPORTED = ("sensor", "site", "camera", "light", "texture", "skin", "numeric", "text", "tuple")


def flags(model: Compiled, kind: str, bits: int) -> set[str]:
    """Names of the set bits of an option word, for instance {"gravity", "contact"}."""
    return {model.enum(kind, 1 << k) for k in range(31) if bits >> k & 1}


def check(model: Compiled, names: dict[str, list[str]], report: Report) -> None:
    """Everything but actuators, equalities and geom types, which are judged where they are converted."""
    _refused(model, names, report)
    for element, group in model.notes.items():
        for text, found in group.items():
            report.warn_elements(element, found, text, kind="approximated")
    for field, default, kind, text in WARNED:
        if field in model.arrays:
            relevant = _relevant(model, field)
            report.warn_elements(kind, [names[kind][k] for k in _rows(model[field], default) if relevant[k]], text)
    owner = _dof_owners(model)
    for field, default, text in WARNED_DOFS:
        if field in model.arrays:
            joints = dict.fromkeys(names["joint"][owner[k]] for k in _rows(model[field], default))
            report.warn_elements("joint", joints, text)
    _geoms(model, names, report)
    _ball_friction(model, names, report)
    _keyframes(model, names, report)
    _options(model, report)
    counts = [f"{len(names[kind])} {kind}{'s' if len(names[kind]) > 1 else ''}" for kind in NOT_IMPORTED if names[kind]]
    if counts:
        report.warn(f"not imported, as they move nothing: {', '.join(counts)}")
    if model.unknown_fields:
        report.warn(f"MuJoCo {model.version} has fields unknown to this importer: {', '.join(model.unknown_fields)}")


def _relevant(model: Compiled, field: str) -> np.ndarray:
    """Elements for which a field can matter: limit parameters need a limit, contact parameters need contact."""
    if field in ("jnt_solref", "jnt_solimp", "jnt_margin"):
        return model["jnt_limited"] != 0
    if field.startswith("tendon_"):
        return model["tendon_limited"] != 0
    if field.startswith("geom_"):
        return (model["geom_contype"] != 0) | (model["geom_conaffinity"] != 0)
    return np.ones(len(model[field]), dtype=bool)


def _rows(values: np.ndarray, default: float | tuple) -> np.ndarray:
    values = values.reshape(len(values), int(np.prod(values.shape[1:])))
    return np.flatnonzero(np.any(values != np.asarray(default), axis=1))


def _differing(values: np.ndarray, default: float | tuple, names: list[str]) -> list[str]:
    return [names[k] for k in _rows(values, default)]


def _dof_owners(model: Compiled) -> np.ndarray:
    starts = model["jnt_dofadr"]
    return np.searchsorted(starts, np.arange(len(model["dof_damping"])), side="right") - 1


def _refused(model: Compiled, names: dict[str, list[str]], report: Report) -> None:
    for flex in names["flex"]:
        report.refuse(f"flex '{flex}'", "deformable bodies")
    for plugin in names["plugin"]:
        report.refuse(f"plugin '{plugin}'", "plugins")
    for kind in ("body", "geom", "actuator"):
        for k in np.flatnonzero(model[f"{kind}_plugin"] >= 0):
            report.refuse(f"{kind} '{names[kind][k]}'", "driven by a plugin")


def _geoms(model: Compiled, names: dict[str, list[str]], report: Report) -> None:
    kinds = [model.enum("mjtGeom", kind) for kind in model["geom_type"]]
    condim = model["geom_condim"]
    geoms = names["geom"]
    flat = [geoms[k] for k in np.flatnonzero(condim == 1)]
    report.warn_elements("geom", flat, "condim 1: imported with friction 0", kind="approximated")
    report.warn_elements(
        "geom",
        [geoms[k] for k in np.flatnonzero(condim > 3)],
        "condim above 3: torsional and rolling friction are not applied",
    )
    finite = [geoms[k] for k, kind in enumerate(kinds) if kind == "plane" and np.any(model["geom_size"][k][:2] > 0.0)]
    report.warn_elements(
        "geom", finite, "the plane is infinite (as in MuJoCo, where its size is only drawn)", kind="approximated"
    )
    fields = [geoms[k] for k, kind in enumerate(kinds) if kind == "hfield"]
    report.warn_elements("geom", fields, "the height field is imported as a closed triangle mesh", kind="approximated")
    report.warn_elements(
        "geom", _differing(model["geom_fluid"], 0.0, geoms), "forces of a surrounding fluid are not applied"
    )


def _ball_friction(model: Compiled, names: dict[str, list[str]], report: Report) -> None:
    rubbing = [
        names["joint"][joint]
        for joint, dof in enumerate(model["jnt_dofadr"])
        if model.enum("mjtJoint", model["jnt_type"][joint]) in ("ball", "free")
        and model["dof_frictionloss"][dof] != 0.0
    ]
    report.warn_elements("joint", rubbing, "dry friction of a ball or free joint is not applied")


def _keyframes(model: Compiled, names: dict[str, list[str]], report: Report) -> None:
    report.warn_elements("keyframe", _differing(model["key_time"], 0.0, names["keyframe"]), "its time is not used")


def _options(model: Compiled, report: Report) -> None:
    values, defaults = model.options["values"], model.options["defaults"]
    changed = {name for name in values if values[name] != defaults.get(name)} - HANDLED_OPTIONS
    solver = sorted(changed & SOLVER_OPTIONS)
    if solver:
        report.warn(f"option {', '.join(solver)}: settings of MuJoCo's solver are not used")
    for name in sorted(changed - SOLVER_OPTIONS):
        report.warn(f"option {name} = {values[name]}: not used")
    disabled = flags(model, "mjtDisableBit", values["disableflags"])
    other = sorted(disabled - HANDLED_FLAGS) + sorted(flags(model, "mjtEnableBit", values["enableflags"]))
    if other:
        report.warn(f"option flag {', '.join(other)}: not used")
    applied = sorted(disabled & HANDLED_FLAGS)
    if applied:
        report.warn(
            f"option flag {', '.join(applied)}: disabled in the file, and so left out of the scene", kind="applied"
        )
