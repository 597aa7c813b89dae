# SPDX-License-Identifier: Apache-2.0
"""Where a rollout and its gradient come from: our adjoint, a bundle of gradients, MuJoCo, or an engine from outside.

An engine of one's own derives from `Outside`; `farfield run TASK --method path/to/engine.py` takes it.
"""

from farfield.engines.adjoint import Adjoint
from farfield.engines.engine import Engine
from farfield.engines.outside import Outside
from farfield.optimize.objective import Capabilities
from farfield.optimize.rollout_input import InputGradient

__all__ = ["Adjoint", "Capabilities", "Engine", "InputGradient", "Outside"]
