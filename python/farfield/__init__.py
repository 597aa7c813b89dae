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
    Ipc,
    IpcGlobal,
    Joint,
    JointType,
    Keyframe,
    LongRange,
    Model,
    Moments,
    Parameters,
    Polyhedral,
    Range,
    RolloutGradient,
    Scene,
    Shape,
    ShapeType,
    State,
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
    load_trajectory,
    model_from_bytes,
    model_to_bytes,
    retract,
    rollout,
    rollout_batch,
    rollout_vjp,
    rollout_vjp_batch,
    save_model,
    save_state,
    save_trajectory,
    zero_parameters,
)
from farfield.convex import convex_parts, decompose

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
    "Ipc",
    "IpcGlobal",
    "Joint",
    "JointType",
    "Keyframe",
    "LongRange",
    "Model",
    "Moments",
    "Parameters",
    "Polyhedral",
    "Range",
    "RolloutGradient",
    "Scene",
    "Shape",
    "ShapeType",
    "State",
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
    "retract",
    "rollout",
    "rollout_batch",
    "rollout_vjp",
    "rollout_vjp_batch",
    "save_model",
    "save_state",
    "save_trajectory",
    "zero_parameters",
]


def load(path: str | PathLike[str], **options: Any) -> tuple[Model, Parameters]:
    """A robot file (MJCF or URDF) as a model and its parameters.

    What could not be carried over is listed in ``model.warnings``; what would change forces or constraints is an error.
    Options are those of :func:`farfield.importers.import_file`.
    """
    from farfield.importers import import_file

    imported = import_file(path, **options)
    imported.scene.warnings = imported.warnings
    model = build_model(imported.scene)
    return model, model.default_parameters()
