# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of `farfield bench NAME`: ratios against a peer measured in the same run."""

# Name, module and one line of help. A module has run(progress) -> dict with the keys "timings", "checks" and "hashes".
BENCHMARKS = (
    (
        "step",
        "farfield.benchmarks.step",
        "a contact-free step and its vjp against MuJoCo's finite differences; threads; assembly",
    ),
)
