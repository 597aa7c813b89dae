# SPDX-License-Identifier: Apache-2.0
"""Problems to solve. A task is a small class with options and a ``build`` (see `farfield.tasks.task`).

``farfield run`` runs it by name or by the path of its file. What it is built of is in `farfield.optimize`.
"""

from farfield.marker import Marker
from farfield.options import option
from farfield.tasks.task import Problem, Task

__all__ = ["Marker", "Problem", "Task", "option"]
