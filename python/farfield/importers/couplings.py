# SPDX-License-Identifier: Apache-2.0
"""Tendons and equalities of a compiled MuJoCo model.

Fixed tendons are exact. A linear equality of two joints becomes a tie, which takes a coordinate away; every other equality becomes an
exact constraint of the step. Spatial tendons that do something are refused.
"""

from __future__ import annotations

import numpy as np

from farfield import _core
from farfield.importers import unsupported
from farfield.importers.compiler import Compiled
from farfield.importers.report import Report
from farfield.importers.rotations import conjugate, quaternion_product

EFFECTS = ("stiffness", "damping", "frictionloss", "limited", "armature", "stiffnesspoly", "dampingpoly")
NO_TURN = np.array([1.0, 0.0, 0.0, 0.0])


def tendon_terms(model: Compiled, names: dict[str, list[str]], tendon: int) -> list[_core.LengthTerm] | None:
    """What a fixed tendon is made of; None for a spatial one."""
    begin, count = int(model["tendon_adr"][tendon]), int(model["tendon_num"][tendon])
    terms = []
    for k in range(begin, begin + count):
        if model.enum("mjtWrap", model["wrap_type"][k]) != "joint":
            return None
        joint = names["joint"][int(model["wrap_objid"][k])]
        terms.append(_core.LengthTerm(joint=joint, coefficient=float(model["wrap_prm"][k])))
    return terms


def add_tendons(scene: _core.Scene, model: Compiled, names: dict[str, list[str]], report: Report) -> None:
    limits_off = "limit" in unsupported.flags(model, "mjtDisableBit", model.options["values"]["disableflags"])
    added, idle, bent, damped = [], [], [], []
    for k, name in enumerate(names["tendon"]):
        terms = tendon_terms(model, names, k)
        zero = np.zeros(k + 1)
        effects = [field for field in EFFECTS if np.any(model.arrays.get(f"tendon_{field}", zero)[k] != 0)]
        if terms is None:
            if effects:
                report.refuse(f"tendon '{name}'", f"spatial, with {', '.join(effects)}; expected a fixed tendon")
            else:
                idle.append(name)
            continue
        if "stiffnesspoly" in effects:
            bent.append(name)
        if "dampingpoly" in effects:
            damped.append(name)
        limited = bool(model["tendon_limited"][k]) and not limits_off
        scene.add_tendon(
            name=name,
            terms=terms,
            range=model["tendon_range"][k] if limited else None,
            stiffness=float(model["tendon_stiffness"][k]),
            rest=tuple(map(float, np.atleast_1d(model["tendon_lengthspring"][k]))),
            damping=float(model["tendon_damping"][k]),
            friction=float(model["tendon_frictionloss"][k]),
            armature=float(model.arrays.get("tendon_armature", zero)[k]),
        )
        added.append(name)
    report.applied_elements("tendon", added, "fixed tendon, exactly")
    report.warn_elements("tendon", idle, "spatial tendon that moves nothing by itself")
    report.warn_elements("tendon", bent, "the nonlinear part of the spring is not applied")
    report.warn_elements("tendon", damped, "the nonlinear part of the damping is not applied")


def add_equalities(scene: _core.Scene, model: Compiled, names: dict[str, list[str]], report: Report) -> None:
    off = {"equality", "constraint"} & unsupported.flags(
        model, "mjtDisableBit", model.options["values"]["disableflags"]
    )
    ties = Ties()
    inactive: dict[str, list[str]] = {}
    closed: dict[str, list[str]] = {}
    for k, name in enumerate(names["equality"]):
        kind = model.enum("mjtEq", model["eq_type"][k])
        if off or not model["eq_active0"][k]:
            inactive.setdefault(kind, []).append(name)
        elif kind in ("connect", "weld"):
            if _add_body_constraint(scene, model, names, k, name, kind):
                closed.setdefault(kind, []).append(name)
            else:
                report.warn(f"equality '{name}': {kind} of bodies that cannot move against each other", kind="dropped")
        elif kind == "joint":
            _add_joint_equality(scene, model, names, k, name, ties)
        elif kind == "tendon":
            _add_tendon_equality(scene, model, names, k, name, report)
        else:
            report.refuse(f"equality '{name}'", f"{kind} constraint")
    for kind, found in inactive.items():
        report.warn_elements("equality", found, f"inactive {kind} constraint is not imported")
    for kind, found in closed.items():
        report.applied_elements("equality", found, f"{kind}, held exactly")


class Ties:
    """Which joints follow which: a joint that is tied already, or would follow itself, needs a constraint instead."""

    def __init__(self) -> None:
        self._leader: dict[int, int] = {}

    def add(self, joint: int, source: int) -> bool:
        above, seen = source, {joint}
        while above not in seen and above in self._leader:
            seen.add(above)
            above = self._leader[above]
        if joint in self._leader or above in seen:
            return False
        self._leader[joint] = source
        return True


def _add_joint_equality(scene, model: Compiled, names, k: int, name: str, ties: Ties) -> None:
    """q1 - ref1 = a0 + a1 (q2 - ref2) + a2 (...)^2 + ..."""
    first, second = int(model["eq_obj1id"][k]), int(model["eq_obj2id"][k])
    joints, coefficients = names["joint"], model["eq_data"][k][:5]
    reference = float(model["qpos0"][model["jnt_qposadr"][first]])
    follows = [_core.LengthTerm(joint=joints[first])]
    if second < 0:
        scene.add_constraint(
            name=name, type="Coupling", terms=follows, reference=reference, polynomial=coefficients[:1]
        )
        return
    source = float(model["qpos0"][model["jnt_qposadr"][second]])
    if not np.any(coefficients[2:] != 0.0) and ties.add(first, second):
        offset = reference + coefficients[0] - coefficients[1] * source
        scene.add_tie(joint=joints[first], source=joints[second], ratio=float(coefficients[1]), offset=float(offset))
        return
    scene.add_constraint(
        name=name,
        type="Coupling",
        terms=follows,
        source=[_core.LengthTerm(joint=joints[second])],
        reference=reference,
        source_reference=source,
        polynomial=coefficients,
    )


def _add_tendon_equality(scene, model: Compiled, names, k: int, name: str, report: Report) -> None:
    """The same of lengths, counted from those of the reference pose."""
    first, second = int(model["eq_obj1id"][k]), int(model["eq_obj2id"][k])
    sides = [tendon_terms(model, names, tendon) if tendon >= 0 else [] for tendon in (first, second)]
    if any(terms is None for terms in sides):
        report.refuse(f"equality '{name}'", "of a spatial tendon; expected fixed ones")
        return
    coefficients = model["eq_data"][k][:5]
    scene.add_constraint(
        name=name,
        type="Coupling",
        terms=sides[0],
        source=sides[1],
        reference=float(model["tendon_length0"][first]),
        source_reference=float(model["tendon_length0"][second]) if second >= 0 else 0.0,
        polynomial=coefficients if second >= 0 else coefficients[:1],
    )


def _add_body_constraint(scene, model: Compiled, names, k: int, name: str, kind: str) -> bool:
    """False where neither body can move against the other."""
    first, second = int(model["eq_obj1id"][k]), int(model["eq_obj2id"][k])
    data = model["eq_data"][k]
    if model.enum("mjtObj", model["eq_objtype"][k]) == "site":
        bodies = [int(model["site_bodyid"][site]) for site in (first, second)]
        anchors = [model["site_pos"][site] for site in (first, second)]
        turn = quaternion_product(model["site_quat"][first], conjugate(model["site_quat"][second]))
    else:
        bodies = [first, second]
        if kind == "connect":
            anchors, turn = [data[0:3], data[3:6]], NO_TURN
        else:  # the anchor in the second body, where it is in the first, and the second's orientation in the first
            anchors, turn = [data[3:6], data[0:3]], data[6:10]
    roots = [int(model["body_weldid"][body]) for body in bodies]
    if roots[0] == roots[1]:
        return False
    scene.add_constraint(
        name=name,
        type=kind.capitalize(),
        body=names["body"][bodies[0]],
        other=names["body"][bodies[1]],
        anchor=anchors[0],
        other_anchor=anchors[1],
        orientation=turn,
    )
    return True
