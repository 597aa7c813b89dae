# SPDX-License-Identifier: Apache-2.0
"""Gymnasium environments: the rules, the same numbers one by one and together, failures, rewards that are differentiated."""

from __future__ import annotations

import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env

import farfield as ff
from farfield.environments import SETTINGS, make, make_vector
from farfield.interop.gym import FarfieldEnv, FarfieldVectorEnv, FileSetting
from farfield.interop.torch import rollout

SCENES = Path(__file__).parents[2] / "scenes"
NAMES = ("Push", "AntPush", "Reach", "TPush")


def forward(q, v, poses, goal, action):
    return v[..., 0]


def environment(name: str) -> FarfieldEnv:
    return make(name) if name != "File" else make("File", file=SCENES / "ant.xml", reward=forward, noise=0.01)


@pytest.mark.parametrize("name", SETTINGS)
def test_it_keeps_the_rules(name):
    env = environment(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*Box observation space m(in|ax)imum value is.*")
        warnings.filterwarnings("ignore", message=".*not having any env spec.*|.*environment spec.*|.*env.spec.*")
        check_env(env, skip_render_check=True)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_made_by_name(name):
    env = gymnasium.make(f"Farfield/{name}-v0")
    env.reset(seed=1)
    for _ in range(3):
        observation, reward, *_ = env.step(env.action_space.sample())
    assert np.isfinite(observation).all()
    assert np.isfinite(reward)
    assert isinstance(env.unwrapped.simulation, ff.Simulation)
    many = gymnasium.make_vec(f"Farfield/{name}-v0", num_envs=2)
    assert many.reset(seed=0)[0].shape == (2, *env.observation_space.shape)


@pytest.mark.parametrize("name", NAMES)
def test_together_is_one_by_one(name):
    """To what cold starts of steps leave of the tolerance, in single precision."""
    many, count = make_vector(name, 3), 3
    seen, _ = many.reset(seed=5)
    ones = [make(name) for _ in range(count)]
    for k, one in enumerate(ones):
        assert np.array_equal(one.reset(seed=5 + k)[0], seen[k])
    random = np.random.default_rng(0)
    for _ in range(5):
        actions = random.uniform(-1.0, 1.0, (count, many.setting.action_size))
        seen, rewards, *_ = many.step(actions)
        for k, one in enumerate(ones):
            observation, reward, *_ = one.step(actions[k])
            assert np.allclose(observation, seen[k], atol=2e-4)
            assert np.isclose(reward, rewards[k], atol=2e-4)


def test_same_bits_for_any_number_of_threads():
    ends = []
    for threads in (1, 2):
        many = make_vector("Push", 4, threads=threads)
        many.reset(seed=0)
        for _ in range(3):
            many.step(np.ones((4, 3)))
        ends.append(many.q.copy())
    assert np.array_equal(*ends)


def test_an_episode_ends_and_begins_anew():
    setting = SETTINGS["Reach"]()
    setting.max_steps = 3
    many = FarfieldVectorEnv(setting, 2)
    first, _ = many.reset(seed=0)
    flags = []
    for _ in range(5):
        seen, _, terminated, truncated, _ = many.step(np.zeros((2, 4)))
        flags.append((terminated | truncated).tolist())
    assert flags == [[False] * 2, [False] * 2, [True] * 2, [False] * 2, [False] * 2]
    assert not np.array_equal(first, seen)


def test_success_ends_an_episode():
    env = make("Reach")
    env.reset(seed=0)
    state = env.simulation.state
    goal = env.setting.tip(ff.forward_kinematics(env.simulation.model, env.simulation.parameters, state.q))
    env.reset(options={"state": state, "goal": goal})
    _, _, terminated, truncated, info = env.step(np.zeros(4))
    assert terminated
    assert not truncated
    assert info["success"]


def test_a_step_that_does_not_arrive_ends_the_episode():
    setting = FileSetting(SCENES / "ant.xml", forward, max_iterations=1, tolerance=1e-14, noise=0.1)
    env = FarfieldEnv(setting)
    env.reset(seed=0)
    many = FarfieldVectorEnv(setting, 2)
    many.reset(seed=0)
    outcomes = []
    for _ in range(60):
        _, _, _, truncated, info = env.step(env.action_space.sample())
        if truncated:
            outcomes.append(info["failed"])
            break
    assert outcomes and outcomes[0] != "converged"
    for _ in range(60):
        seen, _, _, truncated, info = many.step(np.ones((2, setting.action_size)))
        assert np.isfinite(seen).all()
        if truncated.any():
            break
    assert np.array_equal(truncated, info["failed"])
    assert truncated.any()


@pytest.mark.parametrize("name", NAMES)
def test_the_reward_that_is_paid_is_the_one_that_is_differentiated(name):
    env = make(name)
    env.reset(seed=3)
    setting, simulation = env.setting, env.simulation
    state, random = simulation.state, np.random.default_rng(0)
    action = torch.from_numpy(random.uniform(-0.5, 0.5, setting.action_size)).requires_grad_()
    q0, v0 = torch.from_numpy(np.array(state.q)), torch.from_numpy(np.array(state.v))
    goal = torch.from_numpy(env.goal)

    def run(action):
        controls = setting.control(action, q0).expand(setting.frame_skip, -1)
        q, v, poses = (part[-1] for part in rollout(setting.simulation, q0, v0, controls))
        return setting.reward(q, v, poses, goal, action), setting.observe(q, v, poses, goal)

    reward, seen = run(action)
    observation, paid, *_ = env.step(action.detach().numpy())
    assert np.isclose(reward.item(), paid, atol=1e-6)
    assert np.allclose(seen.detach().numpy(), observation, atol=1e-5)
    (gradient,) = torch.autograd.grad(reward, action)
    assert gradient.abs().max() > 0.0
    direction = torch.from_numpy(random.standard_normal(setting.action_size))
    h = 1e-4
    with torch.no_grad():
        measured = (run(action + h * direction)[0] - run(action - h * direction)[0]) / (2 * h)
    assert np.isclose((gradient * direction).sum().item(), measured.item(), rtol=2e-2, atol=1e-7)


def test_pictures():
    env = make("Push", render_mode="rgb_array")
    env.reset(seed=0)
    picture = env.render()
    assert picture.dtype == np.uint8
    assert picture.shape[2] == 3
    assert picture.std() > 1.0
    with pytest.raises(ValueError, match="render_mode 'human', expected None or 'rgb_array'"):
        make("Push", render_mode="human")


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="num_envs 0, expected 1 or more"):
        make_vector("Push", 0)
    many = make_vector("Reach", 2)
    many.reset(seed=0)
    with pytest.raises(ValueError, match=r"actions of shape \(4,\), expected \(2, 4\)"):
        many.step(np.zeros(4))
    with pytest.raises(ValueError, match="key 'home', expected one of"):
        FileSetting(SCENES / "ant.xml", forward, key="home")
