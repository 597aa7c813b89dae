# SPDX-License-Identifier: Apache-2.0
"""Differentiable physics for contact-rich robotics.

One way through: ``load`` a robot file (or build a ``Scene``), ``rollout``, compute a loss, ``rollout_vjp``.
"""

from __future__ import annotations

from os import PathLike
from typing import Any

from farfield._core import (
    Actuator,
    ActuatorType,
    Body,
    BodyMotion,
    ClosestPoints,
    ContactLinearization,
    ContactModel,
    Drawable,
    FileError,
    FilterOptions,
    Ipc,
    IpcGlobal,
    Joint,
    JointType,
    Keyframe,
    LongRange,
    Model,
    Moments,
    ParameterField,
    Parameters,
    Polyhedral,
    Range,
    RolloutGradient,
    Scene,
    Shape,
    ShapeType,
    State,
    StepJacobian,
    StepOptions,
    StepReport,
    Tie,
    Trajectory,
    TriangleMesh,
    __version__,
    build_model,
    closest_points,
    difference,
    forward_kinematics,
    hull_moments,
    hull_moments_vjp,
    load_model,
    load_state,
    model_from_bytes,
    model_to_bytes,
    parameter_mask,
    parameter_names,
    retract,
    rollout,
    rollout_batch,
    rollout_vjp,
    rollout_vjp_batch,
    save_model,
    save_state,
    save_trajectory,
    step_jacobian,
    zero_parameters,
)
from farfield.convex import convex_parts, decompose
from farfield.files import load_trajectory

__all__ = [
    "Actuator",
    "ActuatorType",
    "Body",
    "BodyMotion",
    "ClosestPoints",
    "ContactLinearization",
    "ContactModel",
    "Drawable",
    "FileError",
    "FilterOptions",
    "Ipc",
    "IpcGlobal",
    "Joint",
    "JointType",
    "Keyframe",
    "LongRange",
    "Model",
    "Moments",
    "ParameterField",
    "Parameters",
    "Polyhedral",
    "Range",
    "RolloutGradient",
    "Scene",
    "Shape",
    "ShapeType",
    "State",
    "StepJacobian",
    "StepOptions",
    "StepReport",
    "Tie",
    "Trajectory",
    "TriangleMesh",
    "__version__",
    "build_model",
    "closest_points",
    "convex_parts",
    "decompose",
    "difference",
    "forward_kinematics",
    "hull_moments",
    "hull_moments_vjp",
    "load",
    "load_model",
    "load_state",
    "load_trajectory",
    "model_from_bytes",
    "model_to_bytes",
    "parameter_mask",
    "parameter_names",
    "retract",
    "rollout",
    "rollout_batch",
    "rollout_vjp",
    "rollout_vjp_batch",
    "save_model",
    "save_state",
    "save_trajectory",
    "step_jacobian",
    "zero_parameters",
]


def load(path: str | PathLike[str], **options: Any) -> tuple[Model, Parameters]:
    """A robot file (MJCF or URDF) as a model and its parameters.

    What could not be carried over is listed in ``model.warnings``, bodies that may not meet in ``model.excluded_pairs``; what would
    change forces or constraints is an error. A time step that the file states is ``model.default_dt``, the ``dt`` of rollouts that name none.
    Options are those of :func:`farfield.importers.import_file`.
    """
    from farfield.importers import import_file

    imported = import_file(path, **options)
    imported.scene.warnings = imported.warnings
    model = build_model(imported.scene)
    return model, model.default_parameters()
