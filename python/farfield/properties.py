# SPDX-License-Identifier: Apache-2.0
"""Measures what a contact model promises, on seeded random pairs of bodies.

barrier         energy times gap stays away from zero as the gap closes, and the energy is infinite when bodies touch
smooth          C2: Hessians on both sides of a switch differ by an amount that falls linearly with their distance
non_prehensile  no single term pulls: between bodies of one triangle the force never attracts along the line of centres
non_vanishing   the force is never zero, up to 1e6 m

Every measuring function takes ``evaluate(model, parameters, q)`` that returns energy, wrench and blocks, so that it can be tried on a broken model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import farfield as ff
from farfield.gradcheck import moved_to_gap

Evaluate = Callable[[ff.Model, ff.Parameters, np.ndarray], Any]

PROPERTIES = ("barrier", "smooth", "non_prehensile", "non_vanishing")
BLEND = 0.5
BARRIER_GAPS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
LINEAR_SLACK = 2.0  # a jump that falls linearly may be this much larger than proportional
ROUNDING = 1e-9  # relative to the force or Hessian


@dataclass
class Settings:
    """How much is measured."""

    pairs: int = 24  #: random pairs per property
    scan: int = 100  #: places along an approach line
    halvings: int = 12  #: of every interval between them
    seed: int = 0


QUICK = Settings(pairs=5, scan=60, halvings=12)


@dataclass
class Finding:
    """The verdict on one property."""

    passed: bool
    worst: str  #: the worst figure found, for people
    figures: dict[str, float] = field(default_factory=dict)


def triangle(random: np.random.Generator) -> ff.TriangleMesh:
    """A random triangle with its centroid at the origin."""
    while True:
        vertices = random.normal(size=(3, 3)) * 0.3 * 10.0 ** random.uniform(-1, 0)
        vertices -= vertices.mean(axis=0)
        sides = np.linalg.norm(vertices - np.roll(vertices, 1, axis=0), axis=1)
        if np.linalg.norm(np.cross(vertices[1] - vertices[0], vertices[2] - vertices[0])) > 0.05 * sides.max() ** 2:
            return ff.TriangleMesh(name="triangle", vertices=vertices, triangles=np.array([[0, 1, 2]], dtype=np.int32))


def pair_model(shapes: list[dict], meshes: list[ff.TriangleMesh]) -> tuple[ff.Model, ff.Parameters]:
    """Two free bodies, one shape each, contact weight 1 J."""
    moments = ff.Moments(mass=1.0, first=np.zeros(3), second=0.01 * np.eye(3))
    bodies = [
        ff.Body(
            name=f"body {k}",
            position=[0.0, 0.0, 10.0 * k],
            joints=[ff.Joint(name=f"joint {k}", type=ff.JointType.Free)],
            moments=moments,
        )
        for k in range(2)
    ]
    own = [ff.Shape(name=f"shape {k}", body=k + 1, **shape) for k, shape in enumerate(shapes)]
    scene = ff.Scene(gravity=np.zeros(3), bodies=[*ff.Scene().bodies, *bodies], shapes=own, meshes=meshes)
    model = ff.build_model(scene)
    parameters = model.default_parameters()
    parameters.weight = 1.0
    return model, parameters


def random_shape(random: np.random.Generator) -> dict:
    """A solid primitive of random proportions."""
    kind = random.integers(3)
    if kind == 0:
        return {"type": ff.ShapeType.Box, "size": random.uniform(0.05, 0.4, 3)}
    if kind == 1:
        return {"type": ff.ShapeType.Ellipsoid, "size": random.uniform(0.1, 0.4, 3)}
    return {"type": ff.ShapeType.Capsule, "size": [random.uniform(0.05, 0.2), random.uniform(0.1, 0.4), 0.0]}


def solids(random: np.random.Generator) -> tuple[ff.Model, ff.Parameters]:
    return pair_model([random_shape(random), random_shape(random)], [])


def triangles(random: np.random.Generator) -> tuple[ff.Model, ff.Parameters, float]:
    """Two bodies of one triangle each, and the sum of their radii about the centroids."""
    meshes = [triangle(random), triangle(random)]
    shapes = [{"type": ff.ShapeType.Mesh, "mesh": k} for k in range(2)]
    radius = sum(float(np.linalg.norm(mesh.vertices, axis=1).max()) for mesh in meshes)
    return *pair_model(shapes, meshes), radius


def unit(random: np.random.Generator, size: int = 3) -> np.ndarray:
    direction = random.normal(size=size)
    return direction / np.linalg.norm(direction)


def placed(random: np.random.Generator, distance: float) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates of both bodies, randomly turned, the second ``distance`` away, and the direction to it."""
    direction = unit(random)
    return np.concatenate([np.zeros(3), unit(random, 4), distance * direction, unit(random, 4)]), direction


def hessian(evaluate: Evaluate, model: ff.Model, parameters: ff.Parameters, q: np.ndarray) -> np.ndarray:
    return np.asarray(evaluate(model, parameters, q).blocks[0].hessian)


def moved(q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """The second body moved."""
    out = q.copy()
    out[7:10] += step
    return out


def measure_barrier(evaluate: Evaluate, settings: Settings) -> Finding:
    random = np.random.default_rng(settings.seed)
    lowest, finite_touching, fall = np.inf, 0, np.inf
    for _ in range(settings.pairs):
        model, parameters = solids(random)
        q, _ = placed(random, 3.0)
        products = []
        for gap in BARRIER_GAPS:
            q = moved_to_gap(model, parameters, q, 2, gap)
            products.append(evaluate(model, parameters, q).energy * gap)
        lowest = min(lowest, *products)
        fall = min(fall, products[-1] / products[0])
        nearest = ff.closest_points(model, parameters, q)[0]
        toward = (np.array(nearest.point_a) - np.array(nearest.point_b)) / nearest.distance
        for depth in (1e-6, 1e-3):
            finite_touching += bool(
                np.isfinite(evaluate(model, parameters, moved(q, (nearest.distance + depth) * toward)).energy)
            )
    passed = bool(lowest > 0.0 and fall > 0.1 and not finite_touching)
    figures = {
        "barrier_min_energy_times_gap": lowest,
        "barrier_fall": fall,
        "barrier_finite_when_touching": finite_touching,
    }
    return Finding(passed, f"least energy x gap / weight {lowest:.3g} m down to gap {BARRIER_GAPS[-1]:g} m", figures)


def one_sided(
    evaluate: Evaluate,
    model: ff.Model,
    parameters: ff.Parameters,
    q: np.ndarray,
    direction: np.ndarray,
    steps: tuple[float, float],
) -> float:
    """How the difference of the Hessians on both sides of q falls with the step, over what is proportional: 1 for a smooth function."""
    jumps = []
    for h in steps:
        before, after = (hessian(evaluate, model, parameters, moved(q, s * h * direction)) for s in (-1.0, 1.0))
        jumps.append(float(np.linalg.norm(after - before)))
    return (jumps[1] / jumps[0]) / (steps[1] / steps[0])


def scan(
    evaluate: Evaluate,
    model: ff.Model,
    parameters: ff.Parameters,
    q: np.ndarray,
    direction: np.ndarray,
    distances: np.ndarray,
    halvings: int,
) -> float:
    """Largest ratio of Hessian jumps to what is proportional to the step, over all intervals of a line: 1 for a smooth function.

    Every interval is halved again and again, following the half with the larger jump: where there is a discontinuity, the jump stays.
    """

    def at(distance: float) -> np.ndarray:
        return hessian(evaluate, model, parameters, moved(q, distance * direction))

    def jump(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.linalg.norm(b - a) / (np.linalg.norm(a) + np.linalg.norm(b)))

    worst = 0.0
    values = [at(d) for d in distances]
    for k in range(len(distances) - 1):
        a, b, left, right = distances[k], distances[k + 1], values[k], values[k + 1]
        jumps = []
        for _ in range(halvings):
            middle = 0.5 * (a + b)
            value = at(middle)
            if jump(left, value) > jump(value, right):
                b, right = middle, value
            else:
                a, left = middle, value
            jumps.append(jump(left, right))
        worst = max(worst, 16.0 * jumps[-1] / max(jumps[-5], ROUNDING))
    return worst


def measure_smooth(evaluate: Evaluate, settings: Settings) -> Finding:
    random = np.random.default_rng(settings.seed + 1)
    worst_switch = worst_scan = 0.0
    for _ in range(settings.pairs):
        model, parameters, d1 = triangles(random)
        for switch in (d1, (1.0 + BLEND) * d1):
            q, direction = placed(random, switch)
            worst_switch = max(
                worst_switch, one_sided(evaluate, model, parameters, q, direction, (1e-3 * d1, 1e-5 * d1))
            )
    for _ in range(max(2, settings.pairs // 4)):
        model, parameters = solids(random)
        q, direction = placed(random, 3.0)
        near = moved_to_gap(model, parameters, q, 2, 0.05)
        direction = unit(random) * 0.3 + (near[7:10] - near[:3])
        distances = np.geomspace(1e-3, 4.0, settings.scan)
        line = direction / np.linalg.norm(direction)
        worst_scan = max(worst_scan, scan(evaluate, model, parameters, near, line, distances, settings.halvings))
    figures = {"smooth_jump_at_switches_over_linear": worst_switch, "smooth_jump_along_lines_over_linear": worst_scan}
    passed = bool(worst_switch < LINEAR_SLACK and worst_scan < LINEAR_SLACK)
    return Finding(passed, f"Hessian jumps fall like the step, times {max(worst_switch, worst_scan):.3g}", figures)


def repulsion(evaluate: Evaluate, model: ff.Model, parameters: ff.Parameters, q: np.ndarray) -> float:
    """Share of the force on the first body that points away from the second."""
    force = -np.asarray(evaluate(model, parameters, q).wrench)[1, :3]
    away = q[:3] - q[7:10]
    return float(force @ away / (np.linalg.norm(force) * np.linalg.norm(away)))


def measure_non_prehensile(evaluate: Evaluate, settings: Settings) -> Finding:
    random = np.random.default_rng(settings.seed + 2)
    terms, nets = [], []
    for _ in range(settings.pairs):
        model, parameters, d1 = triangles(random)
        for factor in (*random.uniform(0.1, 1.0, 3), *random.uniform(1.0, 1.0 + BLEND, 4), random.uniform(1.6, 10.0)):
            q, _ = placed(random, factor * d1)
            if ff.closest_points(model, parameters, q)[0].distance > 1e-6 * d1:
                terms.append(repulsion(evaluate, model, parameters, q))
        model, parameters = solids(random)
        q, _ = placed(random, 3.0)
        for gap in (1.0, 0.1, 0.01):
            q = moved_to_gap(model, parameters, q, 2, gap)
            nets.append(repulsion(evaluate, model, parameters, q))
    figures = {
        "non_prehensile_min_term": min(terms),
        "non_prehensile_min_net": min(nets),
        "non_prehensile_terms": len(terms),
    }
    return Finding(
        bool(min(terms) > -ROUNDING),
        f"least repelling term {min(terms):.3g} of its force; least net force of meshes {min(nets):.3g}",
        figures,
    )


def measure_non_vanishing(evaluate: Evaluate, settings: Settings, law: Callable[[float], float] | None) -> Finding:
    random = np.random.default_rng(settings.seed + 3)
    least, error = np.inf, 0.0
    for _ in range(settings.pairs):
        model, parameters = solids(random)
        for r in 10.0 ** np.arange(0.5, 6.01, 0.5):
            q, _ = placed(random, r)
            force = float(np.linalg.norm(np.asarray(evaluate(model, parameters, q).wrench)[1, :3]))
            least = min(least, force)
            if law is not None and r > 1e3:
                error = max(error, abs(force / law(r) - 1.0))
    figures = {"non_vanishing_min_force": least} | ({"non_vanishing_law_error": error} if law is not None else {})
    return Finding(
        bool(least > 0.0 and error < 0.01), f"least force {least:.3g} N per J of weight up to 1e6 m", figures
    )


def longrange_law(r: float) -> float:
    """Force of one pair of bodies far apart, per J of weight."""
    return 12.0 * (1.0 + r**-0.5) * r**-1.5


@dataclass
class Row:
    """A contact model and what it promises."""

    make: Callable[[], Any]  #: a contact model with ``blend`` BLEND, where it has one
    expected: tuple[str, ...] = PROPERTIES
    law: Callable[[float], float] | None = None


MODELS = {"longrange": Row(lambda: ff.LongRange(blend=[BLEND]), law=longrange_law)}


def measure(row: Row, settings: Settings) -> dict[str, Finding]:
    """All four properties of one model."""
    evaluate = row.make().evaluate
    return {
        "barrier": measure_barrier(evaluate, settings),
        "smooth": measure_smooth(evaluate, settings),
        "non_prehensile": measure_non_prehensile(evaluate, settings),
        "non_vanishing": measure_non_vanishing(evaluate, settings, row.law),
    }


def to_dict(findings: dict[str, dict[str, Finding]]) -> dict:
    """Per model one truth value per property, and all figures."""
    models = {}
    for name, found in findings.items():
        figures = {key: value for finding in found.values() for key, value in finding.figures.items()}
        models[name] = {key: finding.passed for key, finding in found.items()} | {"figures": figures}
    return {"models": models}
