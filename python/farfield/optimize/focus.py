# SPDX-License-Identifier: Apache-2.0
"""Plans among many objects in a smaller scene: the tool, the active object, and what is near to them and between them.

Objects that lie still far away hardly change a plan, but every pair of bodies costs time. What is applied is always the whole scene.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import farfield as ff
from farfield.optimize.losses import ReachLoss
from farfield.optimize.objective import Evaluation, Objective

PLAN_ITERATIONS = 100  # of Newton's method; a plan that needs more is given up


class View:
    """An objective over some of the bodies of another one's scene; states and guesses come and go in coordinates of the whole."""

    def __init__(self, objective: Objective, whole: ff.Model) -> None:
        self.objective, self._dofs = objective, whole.num_dofs
        q, v = [], []
        for joint in objective.model.scene.joints:
            q.extend(range(whole.num_q)[whole.joint_q(joint.name)])
            v.extend(range(whole.num_dofs)[whole.joint_dofs(joint.name)])
        self._columns_q, self._columns_v = q, v

    def evaluate(
        self, x: np.ndarray, state: ff.State, guess: np.ndarray | None
    ) -> tuple[Evaluation, np.ndarray | None]:
        """The evaluation of x from a state of the whole, and its velocities as a guess for the next one; bodies left out rest."""
        self.objective.state = ff.State(q=np.asarray(state.q)[self._columns_q], v=np.asarray(state.v)[self._columns_v])
        self.objective.guess = None if guess is None else guess[:, self._columns_v]
        (here,) = self.objective.evaluate([x])
        if here.gradient is None:
            return here, None
        velocities = np.zeros((here.trajectory.num_steps, self._dofs))
        velocities[:, self._columns_v] = here.trajectory.v[1:]
        return here, velocities


class Neighbourhood:
    """Chooses the view of a window: the objects within ``near`` [m] of the straight way from the tool to the active object.

    ``places``: state -> (n, 2), where the objects of ``loss`` are; ``tool``: state -> (2,); ``active``: () -> index or None.
    Without an active object, or when the engine does not plan in parts of a scene, it is the whole scene.
    """

    def __init__(
        self,
        loss: ReachLoss,
        near: float,
        *,
        places: Callable[[ff.State], np.ndarray],
        tool: Callable[[ff.State], np.ndarray],
        active: Callable[[], int | None],
    ) -> None:
        if not near > 0.0:
            raise ValueError(f"Neighbourhood: near {near}, expected > 0 m")
        self.loss, self.near, self.places, self.tool, self.active = loss, float(near), places, tool, active
        self._views: dict[tuple[int, ...], View] = {}

    def chosen(self, state: ff.State) -> tuple[int, ...]:
        """Indices of the objects that take part, in order."""
        active, places = self.active(), self.places(state)
        if active is None:
            return tuple(range(len(places)))
        start = self.tool(state)
        way = places[active] - start
        along = np.clip((places - start) @ way / max(float(way @ way), 1e-24), 0.0, 1.0)
        apart = np.linalg.norm(places - start - along[:, None] * way, axis=1)
        return tuple(int(k) for k in np.flatnonzero(apart <= self.near))

    def view(self, objective: Objective, state: ff.State) -> View:
        """The view of a window that starts at ``state``, with the present weights and limits of the loss."""
        count = len(self.loss.bodies)
        chosen = self.chosen(state) if objective.capabilities.parts else tuple(range(count))
        if chosen not in self._views:
            whole = len(chosen) == count
            self._views[chosen] = View(objective if whole else self._part(objective, chosen), objective.model)
        found = self._views[chosen]
        if found.objective is not objective:
            kept = list(chosen)
            found.objective.loss.weights, found.objective.loss.limits = self.loss.weights[kept], self.loss.limits[kept]
        return found

    def _part(self, objective: Objective, chosen: Sequence[int]) -> Objective:
        loss = self.loss
        left_out = {loss.bodies[k] for k in range(len(loss.bodies)) if k not in chosen}
        model = ff.build_model(without(objective.model.scene, left_out))
        parameters = model.default_parameters()
        parameters.weight = objective.parameters.weight
        kept = list(chosen)
        part = ReachLoss([loss.bodies[k] for k in kept], loss.targets[kept], loss.radius, when=loss.when)
        return objective.part(model, parameters, part, max_iterations=PLAN_ITERATIONS)


def without(scene: ff.Scene, names: set[str]) -> ff.Scene:
    """The scene without the bodies of these names, which have no children and are named in no contact pair."""
    kept = [k for k, body in enumerate(scene.bodies) if body.name not in names]
    index = {old: new for new, old in enumerate(kept)}
    bodies = [scene.bodies[k].replace(parent=index[scene.bodies[k].parent]) for k in kept]
    shapes = [shape.replace(body=index[shape.body]) for shape in scene.shapes if shape.body in index]
    return scene.replace(bodies=bodies, shapes=shapes)
