# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of `farfield bench NAME`: ratios against a peer measured in the same run."""

from typing import NamedTuple


class Benchmark(NamedTuple):
    """A module has run(progress) -> dict with the keys "timings", "checks" and "hashes", and maybe "rows", a list of dicts with equal
    keys, and further numbers. Where ``options`` says so it has a dataclass Options, and run(progress, options=...)."""

    name: str
    module: str
    help: str
    options: bool = False


BENCHMARKS = (
    Benchmark(
        "step",
        "farfield.benchmarks.step",
        "a contact-free step and its vjp against MuJoCo's finite differences; threads; assembly",
    ),
    Benchmark(
        "contact", "farfield.benchmarks.contact", "a step with contact, per contact model, beside mj_step of MuJoCo"
    ),
    Benchmark(
        "batch", "farfield.benchmarks.batch", "many rollouts at once, and their gradients, beside mujoco.rollout"
    ),
    Benchmark(
        "evaluations",
        "farfield.benchmarks.evaluations",
        "contact evaluations and CPU time of a step in rest, hits, pushes, piles and heaps, per contact model",
        options=True,
    ),
    Benchmark(
        "feedback",
        "farfield.benchmarks.feedback",
        "plans of iLQR repeated with disturbances, in open and in closed loop",
        options=True,
    ),
    Benchmark(
        "books", "farfield.benchmarks.books", "twenty planks about to fall, beside the paper's table (takes long)"
    ),
    Benchmark(
        "billiards",
        "farfield.benchmarks.billiards",
        "contact of sixteen balls against brute force and the IPC Toolkit; a whole step and its vjp",
    ),
    Benchmark(
        "bunnies",
        "farfield.benchmarks.bunnies",
        "a frame of gather-bunny with the long-range model, all pairs of triangles, and IPC, beside the paper's",
        options=True,
    ),
    Benchmark(
        "grains",
        "farfield.benchmarks.grains",
        "cost of a contact of two-dimensional grains against the exact polygon query; growth; the full silo; Box2D",
    ),
    Benchmark(
        "silo", "farfield.benchmarks.silo", "steps per second of the silo with 11,311 grains, settled and opened"
    ),
    Benchmark(
        "chains",
        "farfield.benchmarks.chains",
        "four rotating chains of convex links: cost of a step against their number, per contact model",
    ),
    Benchmark(
        "codesign",
        "farfield.benchmarks.codesign",
        "cost of a design iteration and of 156 changed hulls; resolution of feet; lumped against exact mass",
        options=True,
    ),
    Benchmark(
        "polyhedra",
        "farfield.benchmarks.polyhedra",
        "convex polyhedra against what is known: twenty planks, two blocks at a wall beside MuJoCo, Coulomb friction",
    ),
    Benchmark(
        "scm",
        "farfield.benchmarks.scm",
        "soft-minimum contact: pushing a T beside MuJoCo and the paper's table, a tripod, times of a step",
    ),
    Benchmark(
        "grids",
        "farfield.benchmarks.grids",
        "contact of two parallel square grids: growth with the number of triangles",
    ),
    Benchmark(
        "filter",
        "farfield.benchmarks.filter",
        "the collision filter against the IPC Toolkit's AdditiveCCD on racks of balls",
    ),
    Benchmark(
        "sensitivity",
        "farfield.benchmarks.sensitivity",
        "push under other time steps, weights and without smoothness, beside the paper's tables (takes long)",
        options=True,
    ),
)
