# SPDX-License-Identifier: Apache-2.0
"""FARFIELD_SIMD: the core dispatches to what is asked for, and motions differ by rounding only."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from farfield import _core
from farfield.simd import NAMES

TARGETS = {"sse4": "SSE4", "avx2": "AVX2", "avx512": "AVX3"}
FALL = """
import json
import numpy as np
import farfield as ff
from farfield.experiments.rigid_scenes import SCENES
hard = SCENES["spike-in-hole"]()
model = hard.model()
motion = ff.rollout(model, model.default_parameters(), hard.state(model), np.zeros((60, 0)), dt=hard.dt, tolerance=1e-10)
print(json.dumps({"simd": ff._core._build_info()["simd"], "q": motion.q[-1].tolist(), "converged": motion.converged}))
"""


def run(name: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "FARFIELD_SIMD": name}
    return subprocess.run([sys.executable, "-c", FALL], capture_output=True, text=True, env=environment, check=False)


def test_motions_agree_over_instruction_sets():
    found = {}
    for name in NAMES:
        done = run(name)
        if "this machine lacks it" in done.stderr:
            continue
        answer = json.loads(done.stdout)
        assert answer["simd"].startswith(TARGETS[name]) and answer["converged"]
        found[name] = np.array(answer["q"])
    assert found
    for other in found.values():
        np.testing.assert_allclose(other, next(iter(found.values())), rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("name", ["avx1024", "AVX2", "\x1b[31m"])
def test_what_cannot_be_followed_is_one_line(name):
    done = run(name)
    assert done.returncode == 2 and done.stdout == ""
    said = f"farfield: error: environment variable FARFIELD_SIMD is {name!a}, expected one of: sse4, avx2, avx512\n"
    assert done.stderr == said


def test_the_core_says_what_it_does_not_know():
    assert _core._limit_simd("mmx") is False
