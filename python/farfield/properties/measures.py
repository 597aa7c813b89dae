# SPDX-License-Identifier: Apache-2.0
"""The four measurements. Each takes a Subject, so that it can be tried on a broken model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import farfield as ff
from farfield.properties.pairs import KINDS, Pair, grounded, solids, triangles, unit

Evaluate = Callable[[ff.Model, ff.Parameters, np.ndarray], Any]

BLEND = 0.5
BARRIER_GAPS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
LEAST_GAIN = 0.5  # of the energy's gain in the last tenfold approach, over that in the one before
LINEAR_SLACK = 2.0  # a jump that falls linearly may be this much larger than proportional
ROUNDING = 1e-9  # relative to the force or Hessian
NOTHING = 1e-4  # a relative jump this small has gone to zero
FAINT = 1e-4  # Hessians so much smaller than the largest of an interval count as zero: a force may begin there
STAYS = 10.0  # a jump that falls so much less than linearly is a discontinuity: no need to look further
WINDOW = 4  # halvings over which the fall of a jump is judged
OVERLAPS = (1e-6, 1e-3)


@dataclass
class Subject:
    """A contact model to measure. ``evaluate(model, parameters, q)`` returns energy, wrench and blocks."""

    evaluate: Evaluate
    range: float | None = None  #: beyond it nothing is expected to act [m]; None: acts everywhere
    law: Callable[[float], float] | None = None  #: what the force far away is proportional to, if the model promises it
    single_term: bool = True  #: two triangles make one term; otherwise two solids stand for it
    kinds: tuple[str, ...] = KINDS
    begins_at: float = 2e-3  #: gap where approach lines end [m]; negative for models that act on overlap
    finest: float = 0.0  #: smallest motion that its Hessian resolves [m]

    def solids(self, random: np.random.Generator) -> Pair:
        return solids(random, kinds=self.kinds)

    def grounded(self, random: np.random.Generator) -> Pair:
        return grounded(random, kinds=self.kinds)

    def term(self, random: np.random.Generator) -> Pair:
        return triangles(random) if self.single_term else self.solids(random)

    def energy(self, pair: Pair, q: np.ndarray) -> float:
        return float(self.evaluate(pair.model, pair.parameters, q).energy)

    def force(self, pair: Pair, q: np.ndarray) -> np.ndarray:
        """On the moving body."""
        return -np.asarray(self.evaluate(pair.model, pair.parameters, q).wrench)[pair.body, :3]

    def hessian(self, pair: Pair, q: np.ndarray) -> np.ndarray | None:
        """None where bodies cross."""
        found = self.evaluate(pair.model, pair.parameters, q)
        return np.asarray(found.blocks[0].hessian) if np.isfinite(found.energy) else None


@dataclass
class Settings:
    """How much is measured."""

    pairs: int = 24  #: random pairs per property
    scan: int = 32  #: places along a line
    halvings: int = 24  #: of every interval between them
    seed: int = 0


QUICK = Settings(pairs=5, scan=20)


@dataclass
class Finding:
    """The verdict on one property."""

    passed: bool
    worst: str  #: the worst figure found, for people
    figures: dict[str, float] = field(default_factory=dict)


def _both(subject: Subject, settings: Settings, seed: int) -> Iterator[tuple[Pair, np.random.Generator]]:
    """Pairs of solids, then solids above a half-space."""
    random = np.random.default_rng(settings.seed + seed)
    for _ in range(settings.pairs):
        yield subject.solids(random), random
    for _ in range(settings.pairs):
        yield subject.grounded(random), random


def measure_barrier(subject: Subject, settings: Settings) -> Finding:
    """Whenever the gap falls tenfold the energy gains at least a fixed amount, without end; it is infinite where bodies touch."""
    gain, power, finite, rising = np.inf, np.inf, 0, np.inf
    for pair, random in _both(subject, settings, 0):
        q = pair.placed(random, 3.0)
        energies = []
        for gap in BARRIER_GAPS:
            q = pair.to_gap(q, gap)
            energies.append(subject.energy(pair, q))
        gains = np.diff(energies)
        rising = min(rising, float(gains.min()))
        if gains.min() > 0.0:
            gain = min(gain, float((gains[1:] / gains[:-1]).min()))
            power = min(power, float(np.log10(gains[-1] / gains[-2])))  # 0 for a logarithm
        out, distance = pair.outward(q)
        finite += sum(bool(np.isfinite(subject.energy(pair, pair.moved(q, -(distance + d) * out)))) for d in OVERLAPS)
    grows = rising > 0.0 and gain > LEAST_GAIN
    figures = {
        "barrier_least_gain": rising,
        "barrier_gain_over_gain_before": gain if rising > 0.0 else 0.0,
        "barrier_power": power if rising > 0.0 else 0.0,
        "barrier_finite_when_touching": finite,
    }
    if grows:
        worst = f"energy grows like gap^-{power:.2f}" if power > 0.1 else "energy grows like -log(gap)"
        worst += f", {gain:.3g} of the gain before" if power <= 0.1 else ""
    else:
        worst = f"energy gains {rising:.3g} J when the gap falls tenfold"
    worst += f"; finite in {finite} of {2 * len(OVERLAPS) * settings.pairs} overlaps"
    return Finding(bool(grows and not finite), worst, figures)


def one_sided(subject: Subject, pair: Pair, q: np.ndarray, twist: np.ndarray, steps: tuple[float, float]) -> float:
    """How the difference of the Hessians on both sides of q falls with the step, over what is proportional: 1 for a smooth function."""
    jumps = []
    for h in steps:
        before, after = (subject.hessian(pair, pair.moved(q, s * h * twist)) for s in (-1.0, 1.0))
        jumps.append(float(np.linalg.norm(after - before)))
    return (jumps[1] / jumps[0]) / (steps[1] / steps[0])


def _fall(jumps: list[float]) -> float:
    """Fall of the last jumps over that proportional to the step: 1 when it is linear, 2^WINDOW when they do not fall."""
    return 0.0 if jumps[-1] < NOTHING else float(2.0**WINDOW * jumps[-1] / max(jumps[-1 - WINDOW], ROUNDING))


@dataclass
class Jumps:
    """What is left of the differences of Hessians when intervals of a line are halved."""

    fall: float = 0.0  #: over what is proportional to the step: about 1 for a smooth function, 2^WINDOW where it jumps
    left: float = 0.0  #: largest difference in the end, relative to the Hessian

    def add(self, jumps: list[float]) -> None:
        if len(jumps) > WINDOW:
            self.fall = max(self.fall, _fall(jumps))
            self.left = max(self.left, jumps[-1])

    @property
    def stay(self) -> bool:
        return self.fall > STAYS


def scan(
    subject: Subject, pair: Pair, q: np.ndarray, twist: np.ndarray, places: np.ndarray, halvings: int, found: Jumps
) -> None:
    """Adds the Hessian jumps of all intervals of a line, up to the first that stays.

    Every interval is halved again and again, following the half with the larger jump, until the jump is gone: where there is a
    discontinuity, it stays.
    """

    def at(place: float) -> np.ndarray | None:
        return subject.hessian(pair, pair.moved(q, place * twist))

    def jump(a: np.ndarray, b: np.ndarray, scale: float) -> float:
        return float(np.linalg.norm(b - a) / (np.linalg.norm(a) + np.linalg.norm(b) + FAINT * scale))

    values = [at(place) for place in places]
    for k in range(len(places) - 1):
        a, b, left, right = places[k], places[k + 1], values[k], values[k + 1]
        if left is None or right is None:
            continue
        scale = float(max(np.linalg.norm(left), np.linalg.norm(right)))
        jumps: list[float] = []
        while scale > 0.0 and len(jumps) < halvings and b - a > subject.finest:
            middle = 0.5 * (a + b)
            value = at(middle)
            if value is None:
                break
            if jump(left, value, scale) > jump(value, right, scale):
                b, right = middle, value
            else:
                a, left = middle, value
            jumps.append(jump(left, right, scale))
            if jumps[-1] < NOTHING:
                break
        found.add(jumps)
        if found.stay:
            return


def _lines(
    subject: Subject, settings: Settings, seed: int
) -> Iterator[tuple[Pair, np.ndarray, np.ndarray, np.ndarray]]:
    """Ways out of contact and ways past each other, turning: pair, start, twist per unit of way, places."""
    reach = subject.range or 0.3
    for pair, random in _both(subject, Settings(pairs=max(2, settings.pairs // 8), seed=settings.seed), seed):
        q = pair.placed(random, 3.0)
        if subject.begins_at > 0.0:
            start = pair.to_gap(q, subject.begins_at)
            out, _ = pair.outward(start)
        else:
            q = pair.to_gap(q, 1e-4)
            out, _ = pair.outward(q)
            start = pair.moved(q, (subject.begins_at - 1e-4) * out)
        turn = 0.3 * random.normal(size=3) / pair.radius
        last = 4.0 if subject.range is None else 3.0 * reach
        yield (
            pair,
            start,
            np.concatenate([out + 0.2 * unit(random), 0.3 * turn]),
            np.geomspace(1e-3, last, settings.scan),
        )
        start = pair.to_gap(q, 0.3 * reach) if subject.begins_at > 0.0 else start
        side = np.cross(out, unit(random))
        side /= np.linalg.norm(side)
        yield pair, start, np.concatenate([side, turn]), np.linspace(-0.3, 0.3, settings.scan)


def measure_smooth(subject: Subject, settings: Settings) -> Finding:
    """C2: the Hessians on both sides of a place differ by an amount that falls linearly with their distance."""
    random = np.random.default_rng(settings.seed + 1)
    worst_switch = 0.0
    for _ in range(settings.pairs if subject.single_term else 0):
        pair = subject.term(random)
        switches = [pair.radius, (1.0 + BLEND) * pair.radius] if subject.range is None else []
        for switch in switches:
            q = pair.placed(random, switch)
            twist = np.concatenate([pair.away(q), np.zeros(3)])
            steps = (1e-3 * pair.radius, 1e-5 * pair.radius)
            worst_switch = max(worst_switch, one_sided(subject, pair, q, twist, steps))
    between, above = Jumps(), Jumps()
    for pair, q, twist, places in _lines(subject, settings, 4):
        found = above if pair.ground else between
        if not found.stay:
            scan(subject, pair, q, twist, places, settings.halvings, found)
    passed = max(worst_switch, between.fall, above.fall) < LINEAR_SLACK
    figures = {
        "smooth_jump_at_switches_over_linear": worst_switch,
        "smooth_jump_along_lines_over_linear": between.fall,
        "smooth_jump_above_half_space_over_linear": above.fall,
        "smooth_jump_left_along_lines": between.left,
        "smooth_jump_left_above_half_space": above.left,
    }
    if passed:
        text = f"jumps of the Hessian fall like the step, to {max(between.left, above.left):.2g} of it"
    else:
        worst, where = (between, "between solids") if between.fall >= above.fall else (above, "above a half-space")
        text = f"a jump of {worst.left:.2g} of the Hessian stays, however small the step, {where}"
    return Finding(bool(passed), text, figures)


def measure_non_prehensile(subject: Subject, settings: Settings) -> Finding:
    """No term pulls: the force of one convex pair on another parts them along the line of their closest points."""
    random = np.random.default_rng(settings.seed + 2)
    terms, centres, nets, grounds = [], [], [], []

    def repulsion(pair: Pair, q: np.ndarray, line: np.ndarray, into: list[float]) -> None:
        force = subject.force(pair, q)
        size = np.linalg.norm(force)
        if size > 0.0:
            into.append(float(force @ line / size))

    def gaps() -> list[float]:
        if subject.begins_at < 0.0:
            return list(random.uniform(subject.begins_at, 0.0, 4))
        if subject.range is not None:
            return list(subject.range * random.uniform(0.02, 0.9, 4))
        return list(10.0 ** random.uniform(-4.0, 1.0, 4))

    def approach(pair: Pair, gap: float) -> tuple[np.ndarray, np.ndarray] | None:
        try:
            q = pair.to_gap(pair.placed(random, 3.0), max(gap, 1e-4))
        except RuntimeError:  # slid off on the way
            return None
        out, distance = pair.outward(q)
        return (q if gap > 0.0 else pair.moved(q, (gap - distance) * out)), out

    for _ in range(settings.pairs):
        for make, into in ((subject.term, terms), (subject.solids, nets), (subject.grounded, grounds)):
            pair = make(random)
            for gap in gaps():
                found = approach(pair, gap)
                if found is None:
                    continue
                q, out = found
                repulsion(pair, q, out, into)
                if into is terms:
                    repulsion(pair, q, pair.away(q), centres)
    figures = {
        "non_prehensile_min_term": min(terms),
        "non_prehensile_min_term_along_centres": min(centres),
        "non_prehensile_min_net": min(nets),
        "non_prehensile_min_half_space": min(grounds),
        "non_prehensile_terms": len(terms),
    }
    return Finding(
        bool(min(terms) > -ROUNDING and min(grounds) > -ROUNDING),
        f"least repelling term {min(terms):.3g} of its force, half-space {min(grounds):.3g}; net of solids {min(nets):.3g}",
        figures,
    )


def measure_non_vanishing(subject: Subject, settings: Settings) -> Finding:
    """The force is never zero, up to 1e6 m."""
    least, error, ends = np.inf, 0.0, np.inf
    for pair, random in _both(subject, settings, 3):
        ratios = []
        for r in 10.0 ** np.arange(0.0, 6.01, 0.5):
            force = float(np.linalg.norm(subject.force(pair, pair.placed(random, r))))
            least = min(least, force)
            if force == 0.0:
                ends = min(ends, r)
            if subject.law is not None and r > 1e3:
                ratios.append(force / subject.law(r))
        if ratios:
            error = max(error, max(ratios) / min(ratios) - 1.0)
    figures = {"non_vanishing_min_force": least}
    if subject.law is not None:
        figures["non_vanishing_law_error"] = error
    text = f"least force {least:.3g} N up to 1e6 m" if least > 0.0 else f"no force at {ends:.3g} m"
    return Finding(bool(least > 0.0 and error < 0.01), text, figures)
