# SPDX-License-Identifier: Apache-2.0
"""Optimisation through rollouts: unknowns, losses, and drivers that improve them, whoever computes the gradient.

Parameterisations turn an optimiser's numbers into the inputs of a rollout, losses judge its trajectory, projections bound the numbers,
optimisers take one step, drivers (receding horizon, several starts, Gauss-Newton, iLQR) take many and can be stopped between any two.
"""

from farfield.optimize.feedback import Feedback
from farfield.optimize.gauss_newton import GaussNewton, GaussNewtonOptions
from farfield.optimize.gauss_newton_horizon import GaussNewtonHorizon
from farfield.optimize.horizon import RecedingHorizon
from farfield.optimize.ilqr import Expansion, Ilqr, Reach, TrackingCost
from farfield.optimize.lbfgs import Lbfgs
from farfield.optimize.losses import Partials, ReachLoss
from farfield.optimize.multistart import Multistart, Round
from farfield.optimize.optimizers import Adam, GradientDescent
from farfield.optimize.parameterizations import (
    Combined,
    CubicSpline,
    DirectTargets,
    InitialState,
    ParameterSubset,
    SumOfSines,
)
from farfield.optimize.projections import Box, Disc, Outside, Sequential
from farfield.optimize.rollout_input import RolloutInput

__all__ = [
    "Adam",
    "Box",
    "Combined",
    "CubicSpline",
    "DirectTargets",
    "Disc",
    "Expansion",
    "Feedback",
    "GaussNewton",
    "GaussNewtonHorizon",
    "GaussNewtonOptions",
    "GradientDescent",
    "Ilqr",
    "InitialState",
    "Lbfgs",
    "Multistart",
    "Outside",
    "ParameterSubset",
    "Partials",
    "Reach",
    "ReachLoss",
    "RecedingHorizon",
    "RolloutInput",
    "Round",
    "Sequential",
    "SumOfSines",
    "TrackingCost",
]
