# SPDX-License-Identifier: Apache-2.0
"""Shapes as unknowns: hull vertices and attachment points d = d0 + E z, with a box on z [SDRS2025, Sec. IV].

A design is a list of pieces. `Offset`, `Scale` and `Cage` bring unknowns of their own; `Alias`, `Mirror`, `AttachAt` and `Pin` then tie entries
to others or hold them, in the order given. All of them are linear, so the only constraint left is a box, and E is sparse.

    design = Design(model, Offset("toe", limit=0.02), Alias("toe", "other toe"), AttachAt("shin", "thigh", rows=[0, 1]))

Vertices are those of `model.hulls`, in the frame of their body; describe their shapes with ``keep_vertices=True``, else a hull drops those
that are no corners. Mass follows the current hull (see `farfield.hull_moments`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import farfield as ff
from farfield.optimize.lift import Lift
from farfield.optimize.parameterizations import Gradient, Parameterization
from farfield.optimize.rollout_input import RolloutInput
from farfield.optimize.sparse import SparseRows

AXES = "xyz"
Names = str | Sequence[str]


class Space:
    """The entries d of a model's design and the unknowns that move them, while pieces are added."""

    def __init__(self, model: ff.Model) -> None:
        self.model = model
        parameters = model.default_parameters()
        self.base = np.vstack([parameters.hull_vertices, parameters.attachment]).astype(float)
        self.num_vertices = len(parameters.hull_vertices)
        self.hulls = {hull.shape: hull for hull in model.hulls}
        self.rows: list[dict[int, float]] = [{} for _ in range(self.base.size)]
        self.names: list[str] = []
        self.units: list[str] = []
        self.lower: list[float] = []
        self.upper: list[float] = []

    def vertices(self, shapes: Names, who: str) -> np.ndarray:
        """Rows of the hulls' vertices."""
        found = []
        for name in [shapes] if isinstance(shapes, str) else shapes:
            if name not in self.hulls:
                raise ValueError(f"{who}: shape '{name}' has no hull, expected one of: {', '.join(self.hulls)}")
            found.append(np.arange(self.hulls[name].rows.start, self.hulls[name].rows.stop))
        return np.concatenate(found)

    def attachment(self, body: str) -> int:
        """Row of a body's attachment point."""
        return self.num_vertices + self.model.body(body)

    def unknown(self, name: str, unit: str, lower: float, upper: float) -> int:
        """A new unknown; its column."""
        if not lower <= 0.0 <= upper:
            raise ValueError(f"design variable '{name}': bounds [{lower}, {upper}], expected to hold 0")
        for values, value in (
            (self.names, name),
            (self.units, unit),
            (self.lower, float(lower)),
            (self.upper, float(upper)),
        ):
            values.append(value)
        return len(self.names) - 1

    def move(self, row: int, axis: int, column: int, amount: float) -> None:
        """d[row, axis] += amount * z[column]."""
        entry = self.rows[3 * row + axis]
        entry[column] = entry.get(column, 0.0) + amount


class Piece(ABC):
    """A part of a design."""

    @abstractmethod
    def add(self, space: Space) -> None:
        """Enters itself."""


@dataclass(frozen=True)
class Offset(Piece):
    """Every vertex of the shapes moves on its own, by at most ``limit`` [m] along each of ``axes``. ``limit``: one number or one per axis."""

    shapes: Names
    limit: float | Sequence[float] = 0.01
    axes: str = AXES

    def add(self, space: Space) -> None:
        limits = np.broadcast_to(np.asarray(self.limit, dtype=float), (len(self.axes),))
        for name in [self.shapes] if isinstance(self.shapes, str) else self.shapes:
            for k, row in enumerate(space.vertices(name, "Offset")):
                for axis, limit in zip(self.axes, limits, strict=True):
                    column = space.unknown(f"{name}: vertex {k} {axis}", "m", -limit, limit)
                    space.move(row, _axis("Offset", axis), column, 1.0)


@dataclass(frozen=True)
class Scale(Piece):
    """One unknown stretches shapes along an axis: x' = about + (1 + z)(x - about), and the attachment points of ``carry`` with them."""

    shapes: Names
    axis: str
    lower: float
    upper: float
    about: float = 0.0
    carry: Sequence[str] = ()

    def add(self, space: Space) -> None:
        axis = _axis("Scale", self.axis)
        label = self.shapes if isinstance(self.shapes, str) else ", ".join(self.shapes)
        if not self.lower > -1.0:
            raise ValueError(f"Scale of '{label}': lower {self.lower}, expected > -1")
        column = space.unknown(f"{label}: scale {self.axis}", "1", self.lower, self.upper)
        rows = [*space.vertices(self.shapes, "Scale"), *(space.attachment(body) for body in self.carry)]
        for row in rows:
            space.move(row, axis, column, space.base[row, axis] - self.about)


@dataclass(frozen=True)
class Cage(Piece):
    """A lattice around the shapes carries them: vertices follow its ``nodes`` (how many along x, y, z) by trilinear weights.

    Every node moves by at most ``limit`` [m]; nodes without influence bring no unknowns. [Xu et al. 2021]'s cage for comparison.
    """

    shapes: Names
    nodes: tuple[int, int, int] = (2, 2, 2)
    limit: float = 0.01

    def add(self, space: Space) -> None:
        if min(self.nodes) < 2:
            raise ValueError(f"Cage: nodes {self.nodes}, expected at least 2 along every axis")
        rows = space.vertices(self.shapes, "Cage")
        weights = lattice_weights(space.base[rows], self.nodes)
        for node in np.flatnonzero(weights.max(axis=0) > 0.0):
            place = np.unravel_index(node, self.nodes)
            for axis in range(3):
                name = f"cage node {place[0]} {place[1]} {place[2]} {AXES[axis]}"
                column = space.unknown(name, "m", -self.limit, self.limit)
                for row, weight in zip(rows, weights[:, node], strict=True):
                    if weight > 0.0:
                        space.move(row, axis, column, weight)


@dataclass(frozen=True)
class Alias(Piece):
    """Vertices of ``target`` move as those of ``source`` do, one by one, each in the frame of its body."""

    source: Names
    target: Names

    def add(self, space: Space) -> None:
        _follow(space, "Alias", self.source, self.target, (1.0, 1.0, 1.0))


@dataclass(frozen=True)
class Mirror(Piece):
    """As `Alias`, with the motion along ``axis`` reversed: the other half of something symmetric."""

    source: Names
    target: Names
    axis: str = "y"

    def add(self, space: Space) -> None:
        signs = [1.0, 1.0, 1.0]
        signs[_axis("Mirror", self.axis)] = -1.0
        _follow(space, "Mirror", self.source, self.target, tuple(signs))


@dataclass(frozen=True)
class AttachAt(Piece):
    """A body hangs on its parent at a fixed mean of vertices of one of the parent's shapes: ``weights`` of its ``rows``, even when None."""

    body: str
    shape: str
    rows: Sequence[int]
    weights: Sequence[float] | None = None

    def add(self, space: Space) -> None:
        vertices = space.vertices(self.shape, "AttachAt")
        hull, parent = space.hulls[self.shape], space.model.scene.bodies[space.model.body(self.body)].parent
        if hull.body != parent:
            raise ValueError(f"AttachAt '{self.body}': shape '{self.shape}' is not on its parent")
        weights = np.full(len(self.rows), 1.0 / len(self.rows)) if self.weights is None else np.array(self.weights)
        if weights.shape != (len(self.rows),) or not np.isclose(weights.sum(), 1.0):
            raise ValueError(f"AttachAt '{self.body}': weights {weights}, expected one per row with sum 1")
        chosen, row = vertices[list(self.rows)], space.attachment(self.body)
        if not np.allclose(weights @ space.base[chosen], space.base[row], atol=1e-9):
            raise ValueError(
                f"AttachAt '{self.body}': hangs at {space.base[row]}, but the mean of the vertices is {weights @ space.base[chosen]}"
            )
        for axis in range(3):
            mean: dict[int, float] = {}
            for vertex, weight in zip(chosen, weights, strict=True):
                for column, amount in space.rows[3 * vertex + axis].items():
                    mean[column] = mean.get(column, 0.0) + weight * amount
            space.rows[3 * row + axis] = mean


@dataclass(frozen=True)
class Pin(Piece):
    """Vertices of a shape stay where they are, whatever came before; all when ``rows`` is None."""

    shape: str
    rows: Sequence[int] | None = None

    def add(self, space: Space) -> None:
        vertices = space.vertices(self.shape, "Pin")
        for row in vertices if self.rows is None else vertices[list(self.rows)]:
            for axis in range(3):
                space.rows[3 * row + axis] = {}


class Design(Parameterization):
    """Parameters (and, with a ``lift``, the start pose) of the design z: the unknowns of its pieces, zero for the model as it is.

    ``mass``: "exact", "lumped" or "fixed", ``mass_total``: "constant" or "density", of `farfield.hull_moments`. ``parameters``: what is not
    designed. ``lift``: how the start pose follows the shape (see `Lift`). Unknowns whose entries others took over are left out.
    """

    def __init__(
        self,
        model: ff.Model,
        *pieces: Piece,
        parameters: ff.Parameters | None = None,
        state: ff.State | None = None,
        lift: Lift | None = None,
        mass: str = "exact",
        mass_total: str = "constant",
    ) -> None:
        space = Space(model)
        for piece in pieces:
            piece.add(space)
        self.model, self.lift, self.mass, self.mass_total = model, lift, mass, mass_total
        self.parameters = (model.default_parameters() if parameters is None else parameters).copy()
        self.state = model.default_state() if state is None else state
        self.directions = SparseRows(space.rows, len(space.names))
        idle = np.flatnonzero(self.directions.column_sizes() == 0.0)
        self.directions = self.directions.without(idle)
        kept = np.setdiff1d(np.arange(len(space.names)), idle)
        self.names = [space.names[k] for k in kept]
        self.units = [space.units[k] for k in kept]
        self.lower, self.upper = np.array(space.lower)[kept], np.array(space.upper)[kept]
        if not self.names:
            raise ValueError("Design: no unknowns, expected at least one Offset, Scale or Cage that moves something")
        self.moves = frozenset(("parameters", "state")) if lift is not None else frozenset(("parameters",))
        self._last: tuple[bytes, ff.Parameters] | None = None

    @property
    def size(self) -> int:
        """How many numbers."""
        return len(self.names)

    def initial(self) -> np.ndarray:
        """The model as it is."""
        return np.zeros(self.size)

    def change(self, **fields: np.ndarray) -> None:
        """Gives other values to fields of the parameters that are not designed, such as friction."""
        for name, value in fields.items():
            if name in ("hull_vertices", "attachment", "moments"):
                raise ValueError(f"Design.change: {name} follow the design, expected another field")
            setattr(self.parameters, name, value)
        self._last = None

    def at(self, z: np.ndarray) -> ff.Parameters:
        """Parameters of a design."""
        z = np.asarray(z, dtype=float).ravel()
        if z.size != self.size:
            raise ValueError(f"Design: {z.size} numbers, expected {self.size}")
        if self._last is not None and self._last[0] == z.tobytes():
            return self._last[1].copy()
        count, moved = len(self.parameters.hull_vertices), self.directions.dot(z).reshape(-1, 3)
        parameters = self.parameters.copy()
        parameters.hull_vertices = parameters.hull_vertices + moved[:count]
        parameters.attachment = parameters.attachment + moved[count:]
        parameters.moments = ff.hull_moments(self.model, parameters, mass=self.mass, mass_total=self.mass_total)
        self._last = (z.tobytes(), parameters.copy())
        return parameters

    def decode(self, x: np.ndarray) -> RolloutInput:
        """Parameters, and with a lift the start pose."""
        parameters = self.at(x)
        if self.lift is None:
            return RolloutInput(parameters=parameters)
        return RolloutInput(parameters=parameters, state=self.lift.lifted(self.model, parameters, self.state))

    def pullback(self, x: np.ndarray, gradient: Gradient) -> np.ndarray:
        """dL/dx of the shape of x, through contact, mass and the start pose."""
        parameters, by = self.at(x), gradient.parameters
        vertices = by.hull_vertices + ff.hull_moments_vjp(
            self.model, parameters, by.moments, mass=self.mass, mass_total=self.mass_total
        )
        attachment = np.array(by.attachment)
        if self.lift is not None:
            rise = self.lift.gradient(self.model, parameters, self.state)
            vertices = vertices + gradient.q0[self.lift.dof] * rise.vertices
            attachment += gradient.q0[self.lift.dof] * rise.attachment
        return self.pull(vertices, attachment).reshape(np.shape(x))

    def pull(self, by_vertices: np.ndarray, by_attachment: np.ndarray | None = None) -> np.ndarray:
        """E^T of gradients by vertices and attachment points."""
        rest = np.zeros(self.parameters.attachment.shape) if by_attachment is None else by_attachment
        return self.directions.transpose_dot(np.vstack([by_vertices, rest]).ravel())

    def interior(self, z: np.ndarray) -> list[str]:
        """Vertices that lie inside their hull, as "shape: vertex k": contact does not feel them, so nothing pulls them back."""
        return [f"{h.shape}: vertex {k}" for h in ff.current_hulls(self.model, self.at(z)) for k in h.interior]

    def spread(self, z: np.ndarray) -> tuple[float, np.ndarray]:
        """1/2 sum of squared depths of inner vertices below the nearest face [m^2], and its gradient by z: a small weight of it brings them back."""
        from farfield.optimize.lift import depth_below_surface

        parameters = self.at(z)
        value, by_vertices = depth_below_surface(self.model, parameters)
        return value, self.pull(by_vertices)

    def report(self, z: np.ndarray) -> dict[str, int | float]:
        """What became of the hulls."""
        hulls = ff.current_hulls(self.model, self.at(z))
        return {
            "design_variables": self.size,
            "interior_vertices": sum(len(hull.interior) for hull in hulls),
            "flat_hulls": sum(hull.clamped for hull in hulls),
            "inverted_hulls": sum(hull.inverted for hull in hulls),
            "volume": float(sum(hull.volume for hull in hulls)),
        }


def lattice_weights(points: np.ndarray, nodes: tuple[int, int, int]) -> np.ndarray:
    """Trilinear weights of points in the box around them, cut into a lattice, shape (points, nodes)."""
    low, high = points.min(axis=0), points.max(axis=0)
    weights = np.ones((len(points), *nodes))
    for axis, count in enumerate(nodes):
        width = max(high[axis] - low[axis], 1e-300)
        place = (points[:, axis] - low[axis]) / width * (count - 1)
        hat = np.maximum(0.0, 1.0 - np.abs(place[:, None] - np.arange(count)))
        shape = [len(points), 1, 1, 1]
        shape[1 + axis] = count
        weights = weights * hat.reshape(shape)
    return weights.reshape(len(points), -1)


def _axis(who: str, axis: str) -> int:
    if axis not in AXES or len(axis) != 1:
        raise ValueError(f"{who}: axis '{axis}', expected x, y or z")
    return AXES.index(axis)


def _follow(space: Space, who: str, source: Names, target: Names, signs: tuple[float, ...]) -> None:
    leading, following = space.vertices(source, who), space.vertices(target, who)
    if len(leading) != len(following):
        raise ValueError(
            f"{who}: {len(following)} vertices of {target} for {len(leading)} of {source}, expected as many"
        )
    for lead, follow in zip(leading, following, strict=True):
        for axis in range(3):
            space.rows[3 * follow + axis] = {c: signs[axis] * a for c, a in space.rows[3 * lead + axis].items()}
