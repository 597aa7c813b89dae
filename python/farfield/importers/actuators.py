# SPDX-License-Identifier: Apache-2.0
"""Actuators and joint equalities of a compiled MuJoCo model.

MuJoCo: force = gain(u) + b0 + b1 length + b2 velocity on the length gear . q, with a fixed gain g. Ours:
  motor     b = (0, 0, 0):                 generalised force g gear u
  position  b = (0, -g, -kd):              Pd drive kp = g, kd, control = position target
  velocity  b = (0, 0, -g):                Pd drive kp = 0, kd = g, control = velocity target
"""

from __future__ import annotations

import numpy as np

from farfield import _core
from farfield.importers import unsupported
from farfield.importers.compiler import Compiled
from farfield.importers.report import Report

DEGREES = {"free": 6, "ball": 3, "hinge": 1, "slide": 1}


def add_actuators(scene: _core.Scene, model: Compiled, names: dict[str, list[str]], report: Report) -> None:
    """Adds every actuator in order, so that the controls are MuJoCo's ctrl; others than the three forms are refused."""
    clamped, forced = [], []
    for actuator, name in enumerate(names["actuator"]):
        reason = _refusal(model, actuator)
        if reason is None:
            fields, reason = _fields(model, names, actuator)
        if reason is not None:
            report.refuse(f"actuator '{name}'", reason)
            continue
        if model["actuator_ctrllimited"][actuator]:
            clamped.append(name)
            fields["control_range"] = model["actuator_ctrlrange"][actuator]
        if model["actuator_forcelimited"][actuator]:
            forced.append(name)
        scene.add_actuator(name=name, **fields)
    report.warn_elements(
        "actuator", clamped, "the control range is recorded, controls are not clamped to it", kind="approximated"
    )
    report.warn_elements("actuator", forced, "the force range is not applied")


def _refusal(model: Compiled, k: int) -> str | None:
    """Why this actuator has no counterpart, or None."""
    transmission = model.enum("mjtTrn", model["actuator_trntype"][k])
    if transmission not in ("joint", "jointinparent"):
        return f"transmission {transmission}; expected a joint"
    for field, kind, allowed in (
        ("actuator_dyntype", "mjtDyn", ("none",)),
        ("actuator_gaintype", "mjtGain", ("fixed",)),
        ("actuator_biastype", "mjtBias", ("none", "affine")),
    ):
        value = model.enum(kind, model[field][k])
        if value not in allowed:
            return f"{field.removeprefix('actuator_')} {value}; expected {' or '.join(allowed)}"
    if "actuator_ctrlnum" in model.arrays and model["actuator_ctrlnum"][k] != 1:
        return f"{int(model['actuator_ctrlnum'][k])} controls; expected 1"
    for field in (
        "actuator_delay",
        "actuator_armature",
        "actuator_damping",
        "actuator_dampingpoly",
        "actuator_history",
    ):
        if field in model.arrays and np.any(model[field][k] != 0.0):
            return f"{field.removeprefix('actuator_')} {model[field][k]}; expected 0"
    return None


def _fields(model: Compiled, names: dict[str, list[str]], k: int) -> tuple[dict, str | None]:
    joint = int(model["actuator_trnid"][k][0])
    kind = model.enum("mjtJoint", model["jnt_type"][joint])
    scalar = kind in ("hinge", "slide")
    if not scalar and model.enum("mjtTrn", model["actuator_trntype"][k]) == "jointinparent":
        return {}, f"jointinparent on a {kind} joint"
    gear = np.array(model["actuator_gear"][k][: DEGREES[kind]], dtype=float)
    gain = float(model["actuator_gainprm"][k][0])
    affine = model.enum("mjtBias", model["actuator_biastype"][k]) == "affine"
    constant, by_length, by_velocity = model["actuator_biasprm"][k][:3] if affine else (0.0, 0.0, 0.0)
    fields = {"joint": names["joint"][joint]}
    if constant == 0.0 and by_length == 0.0 and by_velocity == 0.0:
        return fields | {"type": _core.ActuatorType.Motor, "gear": gain * gear}, None
    if not scalar:
        return {}, f"position or velocity feedback on a {kind} joint"
    if gear[0] != 1.0:
        fields["gear"] = gear
    fields["type"] = _core.ActuatorType.Pd
    if constant == 0.0 and gain > 0.0 and by_length == -gain and by_velocity <= 0.0:
        return fields | {"kp": gain, "kd": float(-by_velocity), "velocity_input": False}, None
    if constant == 0.0 and gain > 0.0 and by_length == 0.0 and by_velocity == -gain:
        return fields | {"kp": 0.0, "kd": gain, "position_input": False}, None
    bias = f"({constant:g}, {by_length:g}, {by_velocity:g})"
    return {}, f"gain {gain:g} with bias {bias}; expected a motor, position or velocity form"


def add_ties(scene: _core.Scene, model: Compiled, names: dict[str, list[str]], report: Report) -> None:
    """Joint equalities q1 - ref1 = a0 + a1 (q2 - ref2) become exact ties; all others are refused."""
    off = {"equality", "constraint"} & unsupported.flags(
        model, "mjtDisableBit", model.options["values"]["disableflags"]
    )
    for k, name in enumerate(names["equality"]):
        kind = model.enum("mjtEq", model["eq_type"][k])
        element = f"equality '{name}'"
        if off or not model["eq_active0"][k]:
            report.warn(f"{element}: inactive {kind} constraint is not imported")
            continue
        first, second = int(model["eq_obj1id"][k]), int(model["eq_obj2id"][k])
        coefficients = model["eq_data"][k][:5]
        if kind != "joint":
            report.refuse(element, f"{kind} constraint; expected a linear constraint between joints")
        elif second < 0:
            report.refuse(element, f"holds joint '{names['joint'][first]}' at a constant; make its body fixed instead")
        elif np.any(coefficients[2:] != 0.0):
            report.refuse(element, f"polynomial {coefficients.tolist()}; expected a linear one")
        else:
            reference = model["qpos0"][model["jnt_qposadr"][[first, second]]]
            offset = reference[0] + coefficients[0] - coefficients[1] * reference[1]
            scene.add_tie(
                joint=names["joint"][first],
                source=names["joint"][second],
                ratio=float(coefficients[1]),
                offset=float(offset),
            )
