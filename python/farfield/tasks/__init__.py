# SPDX-License-Identifier: Apache-2.0
"""Experiments: tasks, the drivers that optimise them, and runs that can be stopped and continued.

A task is a small class with options and a ``build`` (see `farfield.tasks.task`); ``farfield run`` runs it by name or by the
path of its file. Optimisers, losses, parameterisations and projections are in the modules of those names.
"""

from farfield.tasks.horizon import RecedingHorizon
from farfield.tasks.losses import ReachLoss
from farfield.tasks.motion import Motion
from farfield.tasks.optimizers import Adam, GradientDescent
from farfield.tasks.outside import InputGradient, Outside
from farfield.tasks.parameterizations import CubicSpline, DirectTargets, InitialState, SumOfSines
from farfield.tasks.projections import Box, Disc, Sequential
from farfield.tasks.task import Problem, Task, option

__all__ = [
    "Adam",
    "Box",
    "CubicSpline",
    "DirectTargets",
    "Disc",
    "GradientDescent",
    "InitialState",
    "InputGradient",
    "Motion",
    "Outside",
    "Problem",
    "ReachLoss",
    "RecedingHorizon",
    "Sequential",
    "SumOfSines",
    "Task",
    "option",
]
