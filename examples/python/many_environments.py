# SPDX-License-Identifier: Apache-2.0
"""Many environments at once, and one of Gymnasium's: python examples/python/many_environments.py [ENVIRONMENTS]"""

import sys
import time

import gymnasium
import numpy as np

import farfield.environments

count = int(sys.argv[1]) if len(sys.argv) > 1 else 256
envs = gymnasium.make_vec("Farfield/TPush-v0", num_envs=count)
envs.reset(seed=0)
began, random = time.perf_counter(), np.random.default_rng(0)
total = np.zeros(count)
for _ in range(5):
    observations, rewards, terminated, truncated, info = envs.step(random.uniform(-1.0, 1.0, envs.action_space.shape))
    total += rewards
steps = 5 * count * envs.setting.frame_skip
print(f"{count} environments, {steps} time steps, {steps / (time.perf_counter() - began):,.0f} a second")
print(
    f"mean return {total.mean():.3f}; {int(info['failed'].sum())} failed; settings: {', '.join(farfield.environments.SETTINGS)}"
)
assert np.isfinite(observations).all()
assert not info["failed"].any()
