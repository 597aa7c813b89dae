# SPDX-License-Identifier: Apache-2.0
"""Short-horizon actor-critic through contact, beside PPO of stable-baselines3 with as many samples, on Reach, Push or AntPush.

    python examples/python/shac.py [NAME] [UPDATES] [--ppo]

A policy is unrolled for a few actions in many environments at once; the gradient of their rewards, and of a critic's value at the end, goes
back through the simulation into its weights. An environment that ends begins anew between two horizons.
"""

import sys

import numpy as np
import torch
from torch import nn

from farfield.environments import make, make_vector
from farfield.interop.torch import rollout

HORIZON, ENVS, DISCOUNT, TRACE = 8, 16, 0.99, 0.95


def network(inputs: int, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Linear(inputs, 64), nn.ELU(), nn.Linear(64, 64), nn.ELU(), nn.Linear(64, outputs)).double()


class Agent:
    """Actor and critic with their optimisers."""

    def __init__(self, env) -> None:
        size = env.single_observation_space.shape[0]
        self.env, self.actor, self.critic = env, network(size, env.setting.action_size), network(size, 1)
        self.spread = nn.Parameter(torch.full((env.setting.action_size,), -1.0, dtype=torch.float64))
        self.actor_steps = torch.optim.Adam([*self.actor.parameters(), self.spread], lr=2e-3, betas=(0.7, 0.95))
        self.critic_steps = torch.optim.Adam(self.critic.parameters(), lr=2e-3, betas=(0.7, 0.95))

    def act(self, seen: torch.Tensor, noise: bool = True) -> torch.Tensor:
        mean = self.actor(seen)
        return torch.tanh(mean + self.spread.exp() * torch.randn_like(mean) if noise else mean)

    def unroll(self):
        """Rewards, observations and the last one, differentiable, from where the environments are."""
        setting, env = self.env.setting, self.env
        q, v, goal = (torch.from_numpy(part.copy()) for part in (env.q, env.v, env.goal))
        poses = torch.from_numpy(env.poses.copy())
        rewards, seen = [], []
        for _ in range(HORIZON):
            seen.append(setting.observe(q, v, poses, goal))
            action = self.act(seen[-1])
            controls = setting.control(action, q).unsqueeze(1).expand(-1, setting.frame_skip, -1)
            states = rollout(setting.simulation, q, v, controls, failed="nan")
            ok = states[0].isfinite().all(-1).all(-1)  # an environment that failed stays where it was
            q, v = (
                torch.where(ok[:, None], part[:, -1], old.detach())
                for part, old in zip(states[:2], (q, v), strict=True)
            )
            poses = torch.where(ok[:, None, None], states[2][:, -1], poses.detach())
            rewards.append(torch.where(ok, setting.reward(q, v, poses, goal, action), 0.0))
        self.settle(q, v, poses)
        return torch.stack(rewards), torch.stack(seen), setting.observe(q, v, poses, goal)

    def settle(self, q, v, poses) -> None:
        """Puts the environments where the horizon ended; those that are over begin anew."""
        env = self.env
        env.q[:], env.v[:], env.poses[:] = (part.detach().numpy() for part in (q, v, poses))
        env._taken += HORIZON
        over = env.setting.success(env.q, env.v, env.poses, env.goal) | (env._taken >= env.setting.max_steps)
        for row in np.flatnonzero(over):
            env._begin(row)

    def update(self) -> float:
        rewards, seen, last = self.unroll()
        discounts = DISCOUNT ** torch.arange(HORIZON, dtype=torch.float64)
        returns = (discounts[:, None] * rewards).sum(0) + DISCOUNT**HORIZON * self.critic(last)[:, 0]
        self.actor_steps.zero_grad()
        (-returns.mean()).backward()
        nn.utils.clip_grad_norm_([*self.actor.parameters(), self.spread], 1.0)
        self.actor_steps.step()
        self.fit(rewards.detach(), seen.detach(), last.detach())
        return rewards.mean().item()

    def fit(self, rewards, seen, last) -> None:
        """The critic towards lambda-returns."""
        with torch.no_grad():
            values = torch.cat([self.critic(seen)[..., 0], self.critic(last)[None, :, 0]])
            target, targets = values[-1], []
            for step in reversed(range(HORIZON)):
                target = rewards[step] + DISCOUNT * ((1 - TRACE) * values[step + 1] + TRACE * target)
                targets.insert(0, target)
        for _ in range(8):
            self.critic_steps.zero_grad()
            (self.critic(seen)[..., 0] - torch.stack(targets)).square().mean().backward()
            self.critic_steps.step()


def evaluate(name: str, act, episodes: int) -> tuple[float, float]:
    """Mean reward per action and share of successes, without noise."""
    env, rewards, solved = make(name), [], 0
    for seed in range(1000, 1000 + episodes):
        observation, over = env.reset(seed=seed)[0], False
        while not over:
            observation, reward, success, truncated, _ = env.step(act(observation))
            rewards.append(reward)
            solved, over = solved + success, success or truncated
    return float(np.mean(rewards)), solved / episodes


def main(name: str = "Reach", updates: int = 60, ppo: bool = False) -> None:
    torch.manual_seed(0)
    agent = Agent(make_vector(name, ENVS))
    agent.env.reset(seed=0)
    calm = lambda seen: agent.act(torch.from_numpy(seen).double(), noise=False).detach().numpy()  # noqa: E731
    episodes = 3 if updates < 20 else 10
    before = evaluate(name, calm, episodes)
    curve = [agent.update() for _ in range(updates)]
    after = evaluate(name, calm, episodes)
    samples = updates * HORIZON * ENVS
    print(
        f"{name}, {samples} actions: reward {before[0]:.4f} -> {after[0]:.4f}, solved {before[1]:.0%} -> {after[1]:.0%}"
    )
    if ppo:
        from stable_baselines3 import PPO

        rival = PPO("MlpPolicy", make(name), n_steps=512, seed=0, device="cpu").learn(samples)
        print(
            "PPO, as many: reward {:.4f}, solved {:.0%}".format(
                *evaluate(name, lambda seen: rival.predict(seen, deterministic=True)[0], episodes)
            )
        )
    assert np.isfinite(curve).all()
    assert after[0] > before[0]


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--ppo"]
    main(*words[:1], *map(int, words[1:2]), ppo="--ppo" in sys.argv)
