# SPDX-License-Identifier: Apache-2.0
"""Actuators of a compiled MuJoCo model.

MuJoCo: force = gain u + b0 + b1 length + b2 velocity on the length gear . q, or on a site. Ours:
  motor     b = (0, 0, 0):                 generalised force g gear u; on a site a force and torque that turn with its body
  position  b = (0, -g, -kd):              Pd drive kp = g, kd, control = position target
  velocity  b = (0, 0, -g):                Pd drive kp = 0, kd = g, control = velocity target
  others    b1, b2 <= 0:                   Affine
Controls and forces saturate at their ranges.
"""

from __future__ import annotations

import numpy as np

from farfield import _core
from farfield.importers.compiler import Compiled
from farfield.importers.report import Report

DEGREES = {"free": 6, "ball": 3, "hinge": 1, "slide": 1}


class Unsupported(Exception):
    """Why an actuator has no counterpart."""


def add_actuators(scene: _core.Scene, model: Compiled, names: dict[str, list[str]], report: Report) -> list[int]:
    """Adds every actuator in order, so that the controls are MuJoCo's ctrl. Returns the ids of those that were added."""
    controlled, forced, kept = [], [], []
    joint_ranges = _joint_force_ranges(model, names, report)
    for actuator, name in enumerate(names["actuator"]):
        try:
            fields = _fields(model, names, actuator, report)
        except Unsupported as reason:
            report.refuse(f"actuator '{name}'", str(reason))
            continue
        forces = _force_range(model, actuator, joint_ranges)
        if forces is not None:
            forced.append(name)
            if fields["type"] == _core.ActuatorType.Motor:  # its gear has the gain in it
                gain = float(model["actuator_gainprm"][actuator][0])
                forces = tuple(sorted((forces[0] / gain, forces[1] / gain))) if gain else None
            fields["force_range"] = forces
        if model["actuator_ctrllimited"][actuator]:
            controlled.append(name)
            fields["control_range"] = model["actuator_ctrlrange"][actuator]
        scene.add_actuator(name=name, **fields)
        kept.append(actuator)
    report.applied_elements("actuator", controlled, "controls saturate at their range")
    report.applied_elements("actuator", forced, "the force saturates at its range")
    return kept


def _joint_force_ranges(model: Compiled, names: dict[str, list[str]], report: Report) -> dict[int, tuple[float, float]]:
    """Force ranges of joints by the one actuator that drives them: then they are ranges of its own force."""
    if "jnt_actfrclimited" not in model.arrays:
        return {}
    drivers: dict[int, list[int]] = {}
    for actuator, joint in enumerate(model["actuator_trnid"][:, 0]):
        kind = model.enum("mjtTrn", model["actuator_trntype"][actuator])
        if kind in ("joint", "jointinparent"):
            drivers.setdefault(int(joint), []).append(actuator)
        elif kind == "tendon":
            for driven in _tendon_joints(model, int(joint)):
                drivers.setdefault(driven, []).extend([actuator, actuator])  # not its force alone
    ranges, shared = {}, []
    for joint in np.flatnonzero(model["jnt_actfrclimited"]):
        by = drivers.get(int(joint), [])
        if len(by) == 1:
            gear = float(model["actuator_gear"][by[0]][0])
            if gear != 0.0:
                ends = model["jnt_actfrcrange"][joint] / gear
                ranges[by[0]] = (float(ends.min()), float(ends.max()))
        elif by:
            shared.append(names["joint"][joint])
    report.warn_elements(
        "joint", shared, "the range of the actuator force is not applied: more than one actuator drives it"
    )
    return ranges


def _tendon_joints(model: Compiled, tendon: int) -> list[int]:
    begin, count = int(model["tendon_adr"][tendon]), int(model["tendon_num"][tendon])
    return [
        int(model["wrap_objid"][k])
        for k in range(begin, begin + count)
        if model.enum("mjtWrap", model["wrap_type"][k]) == "joint"
    ]


def _force_range(model: Compiled, k: int, joint_ranges: dict[int, tuple[float, float]]) -> tuple[float, float] | None:
    ends = joint_ranges.get(k)
    if model["actuator_forcelimited"][k]:
        low, high = map(float, model["actuator_forcerange"][k])
        ends = (low, high) if ends is None else (max(low, ends[0]), min(high, ends[1]))
    return ends


def _check(model: Compiled, name: str, k: int, report: Report) -> None:
    for field, kind, allowed in (
        ("actuator_gaintype", "mjtGain", ("fixed",)),
        ("actuator_biastype", "mjtBias", ("none", "affine")),
    ):
        value = model.enum(kind, model[field][k])
        if value not in allowed:
            raise Unsupported(f"{field.removeprefix('actuator_')} {value}; expected {' or '.join(allowed)}")
    dynamics = model.enum("mjtDyn", model["actuator_dyntype"][k])
    if dynamics in ("filter", "filterexact") and report.drop:
        constant = float(model["actuator_dynprm"][k][0])
        report.warn(
            f"actuator '{name}': acts at once instead of with its time constant of {constant:g} s", kind="approximated"
        )
    elif dynamics != "none":
        raise Unsupported(f"dyntype {dynamics}; expected none")
    if "actuator_ctrlnum" in model.arrays and model["actuator_ctrlnum"][k] != 1:
        raise Unsupported(f"{int(model['actuator_ctrlnum'][k])} controls; expected 1")
    for field in (
        "actuator_delay",
        "actuator_armature",
        "actuator_damping",
        "actuator_dampingpoly",
        "actuator_history",
    ):
        if field in model.arrays and np.any(model[field][k] != 0.0):
            raise Unsupported(f"{field.removeprefix('actuator_')} {model[field][k]}; expected 0")


def _fields(model: Compiled, names: dict[str, list[str]], k: int, report: Report) -> dict:
    transmission = model.enum("mjtTrn", model["actuator_trntype"][k])
    if transmission == "body":
        raise Unsupported("transmission body (adhesion); expected a joint, tendon or site")
    if transmission not in ("joint", "jointinparent", "tendon", "site"):
        raise Unsupported(f"transmission {transmission}; expected a joint, tendon or site")
    _check(model, names["actuator"][k], k, report)
    gain = float(model["actuator_gainprm"][k][0])
    affine = model.enum("mjtBias", model["actuator_biastype"][k]) == "affine"
    bias = tuple(map(float, model["actuator_biasprm"][k][:3])) if affine else (0.0, 0.0, 0.0)
    if transmission == "site":
        return _site_fields(model, names, k, gain, bias)
    gear = np.array(model["actuator_gear"][k], dtype=float)
    if transmission == "tendon":
        tendon = int(model["actuator_trnid"][k][0])
        if len(_tendon_joints(model, tendon)) != int(model["tendon_num"][tendon]):
            raise Unsupported(f"transmission by the spatial tendon '{names['tendon'][tendon]}'; expected a fixed one")
        return {"tendon": names["tendon"][tendon]} | _law(gain, bias, gear[:1])
    joint = int(model["actuator_trnid"][k][0])
    kind = model.enum("mjtJoint", model["jnt_type"][joint])
    scalar = kind in ("hinge", "slide")
    if not scalar and transmission == "jointinparent":
        raise Unsupported(f"jointinparent on a {kind} joint")
    if not scalar and bias != (0.0, 0.0, 0.0):
        raise Unsupported(f"position or velocity feedback on a {kind} joint")
    return {"joint": names["joint"][joint]} | _law(gain, bias, gear[: DEGREES[kind]])


def _law(gain: float, bias: tuple[float, float, float], gear: np.ndarray) -> dict:
    """Type, gains and gear of a force that is affine in length and velocity."""
    constant, by_length, by_velocity = bias
    if bias == (0.0, 0.0, 0.0):
        return {"type": _core.ActuatorType.Motor, "gear": gain * gear}
    geared = {"gear": gear} if gear[0] != 1.0 else {}
    if constant == 0.0 and gain > 0.0 and by_length == -gain and by_velocity <= 0.0:
        return geared | {"type": _core.ActuatorType.Pd, "kp": gain, "kd": -by_velocity, "velocity_input": False}
    if constant == 0.0 and gain > 0.0 and by_length == 0.0 and by_velocity == -gain:
        return geared | {"type": _core.ActuatorType.Pd, "kp": 0.0, "kd": gain, "position_input": False}
    if by_length > 0.0 or by_velocity > 0.0:
        raise Unsupported(
            f"bias ({constant:g}, {by_length:g}, {by_velocity:g}) feeds a motion; expected none above 0 but the first"
        )
    return geared | {
        "type": _core.ActuatorType.Affine,
        "gain": gain,
        "bias": constant,
        "kp": -by_length,
        "kd": -by_velocity,
    }


def _site_fields(model: Compiled, names: dict[str, list[str]], k: int, gain: float, bias: tuple) -> dict:
    site, reference = map(int, model["actuator_trnid"][k][:2])
    if reference >= 0:
        raise Unsupported(f"transmission by site '{names['site'][site]}' against a reference site; expected none")
    if bias != (0.0, 0.0, 0.0):
        raise Unsupported("position or velocity feedback on a site")
    return {
        "type": _core.ActuatorType.Motor,
        "body": names["body"][int(model["site_bodyid"][site])],
        "position": model["site_pos"][site],
        "orientation": model["site_quat"][site],
        "gear": gain * np.array(model["actuator_gear"][k], dtype=float),
    }
