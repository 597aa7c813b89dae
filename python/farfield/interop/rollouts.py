# SPDX-License-Identifier: Apache-2.0
"""Batches of rollouts as functions of plain arrays, and their gradients: what the learning frameworks are told.

Inputs and outputs are arrays of stored numbers (quaternions of four, poses of seven); the chain to and from tangent vectors is done here. A gradient
needs the trajectories of its rollout. They are kept under a digest of its inputs, for as long as the framework holds on to them or there is
room, and are computed anew, to the same bits, when they are gone: so a graph may be replayed, compiled or split without a handle to pass along.
"""

from __future__ import annotations

import hashlib
import itertools
import threading
import weakref
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

import farfield as ff
from farfield._core import contact_from_description
from farfield.coordinates import Coordinates, pose_partials, script_gradient, unit_script

KEPT_BYTES = 256e6  # of trajectories that no graph holds
KEPT_ENGINES = 32


class NotConverged(RuntimeError):
    """A rollout stopped before its last step."""


class Inputs(NamedTuple):
    """Of a batch of B rollouts of T steps; parameters may have one row for all."""

    q0: np.ndarray  #: (B, num_q)
    v0: np.ndarray  #: (B, num_dofs)
    controls: np.ndarray  #: (B, T, num_controls)
    parameters: np.ndarray  #: (B or 1, num_parameters)
    script: np.ndarray  #: (B, T, 7 num_kinematic), after each step

    def digest(self) -> bytes:
        """Of every bit and shape."""
        state = hashlib.blake2b(digest_size=16)
        for array in self:
            state.update(str(array.shape).encode())
            state.update(array)
        return state.digest()


class Outputs(NamedTuple):
    """States of all rollouts, the first included; NaN after a step that did not converge."""

    q: np.ndarray  #: (B, T + 1, num_q)
    v: np.ndarray  #: (B, T + 1, num_dofs)
    poses: np.ndarray  #: (B, T + 1, num_bodies, 7)


@dataclass(eq=False)
class Tape:
    """Trajectories of a batch up to their last converged step, and what stopped those that are short."""

    trajectories: list[ff.Trajectory]
    failures: list[str]
    size: int  #: [B]


class Engine:
    """The model, options and contact of a simulation, ready for batches."""

    _handles = itertools.count(1)
    _alive: ClassVar[weakref.WeakValueDictionary[int, Engine]] = weakref.WeakValueDictionary()
    _kept: ClassVar[OrderedDict[int, Engine]] = OrderedDict()  # by id of their simulations, the last used at the end
    _recent: ClassVar[deque[Tape]] = deque()
    _lock = threading.Lock()

    def __init__(self, simulation: ff.Simulation, threads: int | None = None) -> None:
        self.model, self.parameters, self.options = simulation.model, simulation.parameters, simulation.options
        self.simulation, self.contact = simulation, contact_from_description(simulation.contact)
        self.coordinates, self.threads = Coordinates(self.model), threads
        self.handle = next(self._handles)
        self._alive[self.handle] = self
        self._tapes: weakref.WeakValueDictionary[bytes, Tape] = weakref.WeakValueDictionary()

    @classmethod
    def of(cls, simulation: ff.Simulation) -> Engine:
        """The engine of a simulation; made once, kept for the last KEPT_ENGINES simulations and as long as a graph needs it."""
        if not isinstance(simulation, ff.Simulation):
            kind = isinstance(simulation, type)
            what = f"the class {simulation.__name__}" if kind else type(simulation).__name__
            raise TypeError(f"simulation: got {what}, expected a farfield.Simulation")
        with cls._lock:
            found = cls._kept.pop(id(simulation), None)
            if found is None or found.simulation is not simulation:
                found = cls(simulation)
            cls._kept[id(simulation)] = found
            while len(cls._kept) > KEPT_ENGINES:
                cls._kept.popitem(last=False)
        return found

    @classmethod
    def at(cls, handle: int) -> Engine:
        """The engine with this handle."""
        found = cls._alive.get(handle)
        if found is None:
            raise RuntimeError(
                "the farfield.Simulation of this operator is gone: more than KEPT_ENGINES others were used since"
            )
        return found

    def shapes(self, batch: int, steps: int) -> Outputs:
        """Of the outputs."""
        m = self.model
        return Outputs(*((batch, steps + 1, *tail) for tail in ((m.num_q,), (m.num_dofs,), (m.num_bodies, 7))))

    def refined(self, parameters: np.ndarray) -> np.ndarray:
        """In double precision: entries that are the simulation's own, rounded, are those before rounding. Half a rounding of a vertex is a new shape."""
        own = self.parameters.flatten()
        return np.where(parameters == own.astype(parameters.dtype), own, parameters)

    # ---- values --------------------------------------------------------------------------------------------------------------

    def forward(self, inputs: Inputs, *, allow_failure: bool = False) -> tuple[Outputs, Tape]:
        """All states, and what a gradient needs of them. Raises NotConverged for a rollout that stops early, unless its rest may be NaN."""
        inputs = self._clean(inputs)
        tape = self.tape(inputs)
        if tape.failures and not allow_failure:
            raise NotConverged("; ".join(tape.failures[:3]))
        batch, steps = inputs.controls.shape[:2]
        out = Outputs(*(np.full(shape, np.nan) for shape in self.shapes(batch, steps)))
        for row, trajectory in enumerate(tape.trajectories):
            count = trajectory.num_steps + 1
            out.q[row, :count], out.v[row, :count] = trajectory.q, trajectory.v
            out.poses[row, :count] = trajectory.poses()
        return out, tape

    def tape(self, inputs: Inputs) -> Tape:
        """The trajectories of these inputs, kept from the last time or computed."""
        inputs = self._clean(inputs)
        key = inputs.digest()
        with self._lock:
            found = self._tapes.get(key)
        if found is None:
            found = self._roll(inputs)
            with self._lock:
                self._tapes[key] = found
                self._recent.append(found)
                while len(self._recent) > 1 and sum(tape.size for tape in self._recent) > KEPT_BYTES:
                    self._recent.popleft()
        return found

    def _roll(self, inputs: Inputs) -> Tape:
        trajectories = self._trajectories(inputs, inputs.controls.shape[1])
        failures = []
        for row, trajectory in enumerate(trajectories):
            if trajectory.converged:
                continue
            done = len(trajectory.reports) - 1
            status = trajectory.reports[-1].status
            failures.append(f"rollout {row} of {len(trajectories)} stopped in step {done}: {status}")
            one = Inputs(*(a[row : row + 1] if len(a) > 1 else a for a in inputs))
            trajectories[row] = self._trajectories(one, done)[0]
        size = sum(8 * (t.parameters.flatten().size + 3 * t.q.size + t.controls.size) for t in trajectories)
        return Tape(trajectories, failures, size)

    def _trajectories(self, inputs: Inputs, steps: int) -> list[ff.Trajectory]:
        scripts = unit_script(inputs.script[:, :steps]) if inputs.script.shape[-1] else None
        return ff.rollout_batch(
            self.model,
            self._parameters(inputs),
            [ff.State(q=q, v=v) for q, v in zip(self.coordinates.unit(inputs.q0), inputs.v0, strict=True)],
            list(np.ascontiguousarray(inputs.controls[:, :steps])),
            scripts=None if scripts is None else list(scripts),
            contact=self.contact,
            options=self.options,
            threads=self.threads,
        )

    def _parameters(self, inputs: Inputs) -> list[ff.Parameters]:
        return [self.parameters.unflatten(row) for row in inputs.parameters]

    def _clean(self, inputs: Inputs) -> Inputs:
        return Inputs(*(np.ascontiguousarray(array, dtype=float) for array in inputs))

    # ---- gradients -----------------------------------------------------------------------------------------------------------

    def backward(self, inputs: Inputs, by: Outputs) -> Inputs:
        """The gradient of a loss by the inputs, from its partials by the outputs; that by parameters has a row per rollout."""
        inputs = self._clean(inputs)
        tape = self.tape(inputs)
        batch = len(inputs.q0)
        out = Inputs(*(np.zeros((batch, *array.shape[1:])) for array in inputs))
        parts = [self._partials(trajectory, by, row) for row, trajectory in enumerate(tape.trajectories)]
        gradients = ff.rollout_vjp_batch(
            tape.trajectories,
            dL_dq=[part[0] for part in parts],
            dL_dv=[part[1] for part in parts],
            dL_dpose=[part[2] for part in parts],
            threads=self.threads,
        )
        for row, gradient in enumerate(gradients):
            count = len(gradient.controls)
            out.q0[row] = self.coordinates.from_tangent(inputs.q0[row], gradient.q0)
            out.v0[row], out.controls[row, :count] = gradient.v0, gradient.controls
            out.parameters[row] = gradient.parameters.flatten()
            if out.script.shape[-1]:
                out.script[row, :count] = script_gradient(inputs.script[row, :count], gradient.script)
        return out

    def _partials(self, trajectory: ff.Trajectory, by: Outputs, row: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        count = trajectory.num_steps + 1
        by_q, by_v, by_pose = (np.ascontiguousarray(part[row, :count], dtype=float) for part in by)
        return self.coordinates.to_tangent(trajectory.q, by_q), by_v, pose_partials(trajectory.poses(), by_pose)
