# SPDX-License-Identifier: Apache-2.0
"""Book stacking [LongRange2026, Sec. 6, Table 2]: planks with harmonic overhang that are about to fall.

The static equilibrium: every centre of mass keeps its harmonic place, only heights and pitches are free, and there is no friction. `margin`
and `margins` are read there. From there the stack is left alone for a minute, all six freedoms free, under friction as the paper
prints it [App. A.3]: the normal force that friction is proportional to lacks the contact weight mu, so that a coefficient of 0.5
acts as 0.5 / mu. That reproduces the paper's verdicts.

`coulomb` is the same minute under Coulomb friction of 0.5. Its force acts on the faces, below the centres of mass, so the stack first
has to find another equilibrium, the places along the overhang alone kept while it settles. Where there is none, the
minute starts at the static equilibrium.
"""

from __future__ import annotations

import dataclasses

import numpy as np

import farfield as ff
from farfield.benchmarks.measure import Check, result_hash

LENGTH, WIDTH, HEIGHT, MASS = 2.0, 0.4, 0.2, 0.16  # of a plank [m, kg]
GRAVITY, FRICTION, SLIP_SPEED, DT = 9.81, 0.5, 1e-5, 0.04
PULL_IN = 1e-3  # of the length
WEIGHTS = (1e-5, 1e-6, 1e-7, 1e-8, 1e-10)  # contact weight: mu of the paper [J]
STANDS_UP_TO = 1e-6
PAPER = {  # mu: margin [m], error of the contact force [N], success
    1e-5: (1.82e-2, 6.38e-3, False),
    1e-6: (5.67e-3, 6.40e-4, True),
    1e-7: (1.47e-3, 6.42e-5, True),
    1e-8: (4.12e-4, 6.42e-6, True),
    1e-10: (3.13e-5, 6.42e-8, True),
}
DROP, DRIFT = 0.05, 1e-3  # a plank that stands falls and slides less than this [m]
CHUNK = 25  # steps between two looks


@dataclasses.dataclass(frozen=True)
class Stack:
    """What is stacked."""

    planks: int = 20
    pull_in: float = PULL_IN

    def centres(self) -> np.ndarray:
        """Places along the overhang: the k uppermost planks reach LENGTH/(2 k) over the next one, less what is pulled in."""
        steps = [LENGTH / (2.0 * k) - self.pull_in * LENGTH for k in range(self.planks - 1, 0, -1)]
        return np.concatenate([[0.0], np.cumsum(steps)])

    def model(self, gap: float, joints: tuple[tuple[str, list[float]], ...]) -> ff.Model:
        """The lowest plank belongs to the world, the others move on the given joints."""
        scene = ff.Scene(name=f"{self.planks} planks", gravity=[0.0, 0.0, -GRAVITY])
        size = np.array([LENGTH, WIDTH, HEIGHT])
        inertia = MASS / 12.0 * np.diag(size @ size - size**2)
        moments = ff.Moments.from_inertia(mass=MASS, center=np.zeros(3), inertia=inertia)
        for k, x in enumerate(self.centres()):
            body = 0
            if k > 0:
                body = scene.add_body(name=f"plank {k}", position=[x, 0.0, k * (HEIGHT + gap)], moments=moments)
            for number, (kind, axis) in enumerate(joints if k > 0 else ()):
                scene.add_joint(body, name=f"joint {k}.{number}", type=kind, axis=axis)
            scene.add_shape(body, name=f"plank {k}", type="Box", size=0.5 * size, friction=FRICTION)
        return ff.build_model(scene)


HELD = (("Slide", [0.0, 0.0, 1.0]), ("Hinge", [0.0, 1.0, 0.0]))
PLANAR = (("Slide", [1.0, 0.0, 0.0]), ("Slide", [0.0, 0.0, 1.0]), ("Hinge", [0.0, 1.0, 0.0]))
FREE = (("Free", [0.0, 0.0, 1.0]),)
PLANAR_GAP = 0.05  # of the reference pose [m]: bodies that touch there would not be pushed apart
PLANAR_STEPS = (*(0.1,) * 4, *(0.2,) * 32, *(0.5,) * 8)  # [s], small enough that no step falls past the equilibrium
FREE_STEPS = (*(DT,) * 6, *(0.1,) * 6, *(0.2,) * 10, *(0.5,) * 6, *(1.0,) * 6, *(2.0,) * 4, *(5.0,) * 3)
RESTING = 1e-3  # a stack that settles slower than this counts as come to rest [m/s, rad/s]


def contact(weight: float, form: str = "projected") -> ff.LongRange:
    return ff.LongRange(weight_in_joules=weight, leaf_weights="paper", slip_speed=SLIP_SPEED, friction_form=form)


def with_friction(model: ff.Model, friction: float) -> ff.Parameters:
    """Every body that can touch another has this coefficient."""
    parameters = model.default_parameters()
    names = {name for pair in model.contact_pairs for name in pair}
    parameters.friction[[body.name in names for body in model.scene.bodies]] = friction
    return parameters


def one_step(model, parameters, q, dt: float, rub: ff.LongRange):
    """The state after one step from rest, None when it could not be taken."""
    start = ff.State(q=q, v=np.zeros(model.num_dofs))
    try:
        taken = ff.rollout(model, parameters, start, np.zeros((1, 0)), dt=dt, contact=rub)
    except ValueError:  # it fell, and putting the planks back to their places made them meet
        return None
    return taken.state(-1).q if taken.converged else None


def held_equilibrium(stack: Stack, weight: float):
    """Model and coordinates where forces on heights and pitches vanish; None when the planks fall."""
    # gap of flat planks under the weight of one: 12 N_eff weight / gap^2 with N_eff about 27
    gap = 0.6 * np.sqrt(12.0 * 27.0 * weight / (MASS * GRAVITY))
    model = stack.model(gap, HELD)
    parameters, rub = with_friction(model, 0.0), contact(weight)
    q = np.array(model.default_state().q)
    for dt in (*(0.1,) * 6, *(0.3,) * 6, *(1.0,) * 6, *(10.0,) * 6):  # from rest each time: a descent that cannot swing
        after = one_step(model, parameters, q, dt, rub)
        if after is None or np.abs(after[1::2]).max() > 1.0:
            return model, None
        moved, q = np.abs(after - q).max(), after
        if dt >= 1.0 and moved < 1e-12:
            return model, q
    return model, None


def settle(model, weight: float, q: np.ndarray, place: slice, steps, tick) -> np.ndarray | None:
    """Steps from rest with friction, after each of which q[place] is put back; None when the planks fall or do not come to rest."""
    parameters, rub = with_friction(model, FRICTION), contact(weight)
    start, rate = q, np.inf
    for dt in steps:
        after = one_step(model, parameters, q, dt, rub)
        tick()
        if after is None or np.abs(after - start).max() > 0.5:
            return None
        after = after.copy()
        after[place] = start[place]
        rate, q = np.abs(after - q).max() / dt, after
    return q if rate < RESTING else None


def rubbing_equilibrium(stack: Stack, weight: float, held: np.ndarray, tick) -> np.ndarray | None:
    """Coordinates of free planks that only creep: settled first in the plane of the overhang, then with all freedoms."""
    planar = stack.model(PLANAR_GAP, PLANAR)
    q = np.zeros(planar.num_dofs)
    poses = held.reshape(-1, 7)
    q[1::3] = poses[:, 2] - np.arange(1, stack.planks) * (HEIGHT + PLANAR_GAP)
    q[2::3] = 2.0 * np.arctan2(poses[:, 5], poses[:, 3])
    q = settle(planar, weight, q, np.s_[0::3], PLANAR_STEPS, tick)
    if q is None:
        return None
    return settle(stack.model(0.0, FREE), weight, free_coordinates(planar, q), np.s_[0::7], FREE_STEPS, tick)


def free_coordinates(model: ff.Model, q: np.ndarray) -> np.ndarray:
    """Position and quaternion of every plank."""
    return np.asarray(ff.forward_kinematics(model, model.default_parameters(), q))[1:].ravel()


def neighbour_gaps(stack: Stack, free: np.ndarray) -> np.ndarray:
    model = stack.model(0.0, FREE)
    found = ff.closest_points(model, model.default_parameters(), free)
    return np.array([pair.distance for pair in found if pair.b == pair.a + 1])


def overlap_centre_gaps(stack: Stack, free: np.ndarray) -> np.ndarray:
    """Vertical gaps in the middle of each overlap, y = 0."""
    poses = np.concatenate([[[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]], free.reshape(-1, 7)])
    pitch = 2.0 * np.arctan2(poses[:, 5], poses[:, 3])
    gaps = []
    for below, above in zip(range(stack.planks - 1), range(1, stack.planks), strict=True):
        middle = 0.5 * (poses[above, 0] + poses[below, 0])
        faces = [
            poses[k, 2] + side * 0.5 * HEIGHT / np.cos(pitch[k]) - np.tan(pitch[k]) * (middle - poses[k, 0])
            for k, side in ((below, 1.0), (above, -1.0))
        ]
        gaps.append(faces[1] - faces[0])
    return np.array(gaps)


def force_error(stack: Stack, weight: float, free: np.ndarray) -> float:
    """How much the vertical force on the top plank from its neighbour differs from its weight [N]."""
    pair = stack.model(0.0, FREE)
    scene = pair.scene
    top = stack.planks - 1
    for other in range(top - 1):
        scene.exclude(top, other)
    alone = ff.build_model(scene)
    wrench = contact(weight).evaluate(alone, with_friction(alone, 0.0), free).wrench
    return float(abs(-np.asarray(wrench)[top, 2] - MASS * GRAVITY))


def stand(
    model: ff.Model, parameters: ff.Parameters, rub: ff.LongRange, free: np.ndarray, seconds: float, tick
) -> dict:
    """Leaves the planks alone; stops when one has fallen or slid."""
    state = ff.State(q=free, v=np.zeros(model.num_dofs))
    steps, done, drop, drift = max(1, round(seconds / DT)), 0, 0.0, 0.0
    converged = True
    while done < steps and drop <= DROP and drift <= DRIFT and converged:
        count = min(CHUNK, steps - done)
        run = ff.rollout(model, parameters, state, np.zeros((count, 0)), dt=DT, contact=rub, tolerance=1e-7)
        moved = (np.asarray(run.q) - free).reshape(len(run.q), -1, 7)
        drop = max(drop, float(-moved[:, :, 2].min()))
        drift = max(drift, float(np.linalg.norm(moved[:, :, :2], axis=2).max()))
        converged, state = run.converged, run.state(-1)
        done += run.num_steps
        tick()
    stands = converged and drop <= DROP and drift <= DRIFT
    return {"stands": stands, "drop": drop, "drift": drift, "seconds": done * DT}


def measure(weight: float, stack: Stack, seconds: float, progress) -> dict:
    """One column of the paper's table."""
    chunks = -(-max(1, round(seconds / DT)) // CHUNK)
    tick = progress(f"mu {weight:g}", 2 * chunks + len(PLANAR_STEPS) + len(FREE_STEPS))
    held_model, held = held_equilibrium(stack, weight)
    row = {"mu": weight, "stands": False, "margin": None, "margins": {}, "force_error": None, "coulomb": None}
    if held is None:
        return row
    free = free_coordinates(held_model, held)
    fulcrums, middles = neighbour_gaps(stack, free), overlap_centre_gaps(stack, free)
    row["margins"] = {
        "mean_fulcrum": float(fulcrums.mean()),
        "smallest_fulcrum": float(fulcrums.min()),
        "top_fulcrum": float(fulcrums[-1]),
        "mean_overlap_centre": float(middles.mean()),
    }
    row["margin"] = row["margins"]["mean_fulcrum"]
    row["force_error"] = force_error(stack, weight, free)
    row["top_pitch"] = float(held[-1])
    model = stack.model(0.0, FREE)
    as_printed = with_friction(model, FRICTION / weight)
    row.update(stand(model, as_printed, contact(weight, "paper"), free, seconds, tick))
    rubbing = rubbing_equilibrium(stack, weight, free, tick)
    start = free if rubbing is None else rubbing
    row["coulomb"] = {
        "start": "static" if rubbing is None else "settled",
        "margin": float(neighbour_gaps(stack, start).mean()),
        **stand(model, with_friction(model, FRICTION), contact(weight), start, seconds, tick),
    }
    return row


def coulomb_verdict(found: dict | None) -> str:
    if found is None:
        return "no equilibrium"
    if found["stands"]:
        return f"under Coulomb friction it stands, drift {found['drift']:.2g} m"
    what = "falls" if found["drop"] > DROP else f"drifts {found['drift']:.2g} m"
    return f"under Coulomb friction it {what} in {found['seconds']:.3g} s"


def run(progress, *, weights=WEIGHTS, stack: Stack | None = None, seconds: float = 60.0) -> dict:
    """All columns; the paper's figures stand beside ours."""
    stack = stack or Stack()
    rows = [measure(weight, stack, seconds, progress) for weight in weights]
    for row in rows:
        margin, error, success = PAPER.get(row["mu"], (None, None, None))
        row.update({"paper_margin": margin, "paper_force_error": error, "paper_stands": success})
    checks = []
    for row in rows:
        if row["mu"] > STANDS_UP_TO:
            continue
        note = f"as the paper prints friction; {coulomb_verdict(row['coulomb'])}"
        checks.append(Check(f"mu {row['mu']:g}: stands", float(row["stands"]), ">=", 1.0, note))
        if row["paper_margin"] is not None:
            ratio = None if row["margin"] is None else row["margin"] / row["paper_margin"]
            worst = np.inf if ratio is None else max(ratio, 1.0 / ratio)
            checks.append(Check(f"mu {row['mu']:g}: margin, factor from the paper's", worst, "<=", 2.0))
    hashes = {"margins": result_hash([row["margin"] or 0.0 for row in rows])}
    return {"timings": {}, "checks": checks, "hashes": hashes, "rows": rows}
