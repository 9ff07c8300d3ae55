"""Ray RLlib: its PPO with the task as an environment, one token a step."""

from __future__ import annotations

import os

from common import TrainingChannel, warm_start

channel = TrainingChannel()
job = channel.job
os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0", "RAY_AUTH_MODE": "token"}

import gymnasium as gym  # noqa: E402
import numpy as np  # noqa: E402
import ray  # noqa: E402
import torch  # noqa: E402
from ray.rllib.algorithms.ppo import PPO, PPOConfig  # noqa: E402
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig  # noqa: E402
from tooldesk import END, VOCABULARY, ToolDesk  # noqa: E402

torch.set_num_threads(1)


def seen(rows: np.ndarray, slot: int) -> np.ndarray:
    """What the policy sees before it writes ``slot``: the tokens so far and where it is, one-hot."""
    length = rows.shape[1]
    tokens = np.eye(VOCABULARY, dtype=np.float32)[rows]
    tokens[:, slot:] = 0.0
    place = np.zeros((len(rows), length), dtype=np.float32)
    place[:, slot] = 1.0
    return np.concatenate([tokens.reshape(len(rows), -1), place], axis=1)


class ToolDeskEpisodes(gym.Env):
    """An episode is one answer; an action is its next token, the reward comes at the end."""

    def __init__(self, config: dict[str, object] | None = None) -> None:
        self.task = ToolDesk(int((config or {}).get("turns", 1)))
        self.prompts = self.task.prompts(held_out=False)
        size = self.task.length * (VOCABULARY + 1)
        self.observation_space = gym.spaces.Box(0.0, 1.0, (size,), np.float32)
        self.action_space = gym.spaces.Discrete(VOCABULARY)

    def reset(self, *, seed: int | None = None, options: object = None) -> tuple[np.ndarray, dict[str, object]]:  # noqa: ARG002
        super().reset(seed=seed)
        self.prompt = self.prompts[[int(self.np_random.integers(len(self.prompts)))]]
        self.rows = self.task.begin(self.prompt)
        self.turn, self.slot = 0, self.task.policy_turns[0].first
        return seen(self.rows, self.slot)[0], {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, object]]:
        self.rows[0, self.slot] = action
        self.slot += 1
        turn = self.task.policy_turns[self.turn]
        if action == END or self.slot == turn.end:
            self.turn += 1
            if self.turn == len(self.task.policy_turns):
                reward = float(self.task.rewards(self.rows, self.prompt)[0])
                return seen(self.rows, self.task.length - 1)[0], reward, True, False, {}
            self.task.reveal(self.rows, self.prompt)
            self.slot = self.task.policy_turns[self.turn].first
        return seen(self.rows, self.slot)[0], 0.0, False, False, {}


def make(runners: int = 0, turns: int = 1) -> PPO:
    config = (
        PPOConfig()
        .environment(ToolDeskEpisodes, env_config={"turns": turns})
        .env_runners(num_env_runners=runners, num_envs_per_env_runner=8)
        .learners(num_learners=0)
        .rl_module(model_config=DefaultModelConfig(fcnet_hiddens=[256, 128], vf_share_layers=True))
        .training(
            lr=job.learning_rate,
            gamma=1.0,
            lambda_=0.95,
            clip_param=0.2,
            entropy_coeff=0.0,
            use_kl_loss=False,
            grad_clip=1.0,
            num_epochs=job.epochs,
            train_batch_size_per_learner=job.per_update * 5,
            minibatch_size=job.per_update * 5 // 2,
        )
        .debugging(seed=job.seed % 2**31, log_level="ERROR")
    )
    return config.build_algo()


def module_of(algorithm: PPO) -> torch.nn.Module:
    return algorithm.learner_group._learner.module["default_policy"]


def logits(module: torch.nn.Module, rows: np.ndarray, slot: int) -> torch.Tensor:
    return module.forward_train({"obs": torch.as_tensor(seen(rows, slot))})["action_dist_inputs"]


def warmed(**how: int) -> PPO:
    algorithm = make(**how)
    module = module_of(algorithm)
    slots = range(4, job.task.length)
    warm_start(
        job, lambda rows: torch.stack([logits(module, rows, slot) for slot in slots], dim=1), module.parameters()
    )
    algorithm.env_runner_group.sync_weights(from_worker_or_learner_group=algorithm.learner_group)
    return algorithm


ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, configure_logging=False)
algorithm = warmed()
channel.say("ready", parameters=sum(weight.numel() for weight in module_of(algorithm).parameters()))
samples = 0
while samples < job.updates * job.per_update:
    samples += int(algorithm.train()["env_runners"]["num_episodes"])
    channel.say("update", samples=samples)
channel.say("trained", samples=samples)
module = module_of(algorithm)


def next_logits(rows: np.ndarray, slot: int) -> np.ndarray:
    with torch.no_grad():
        return logits(module, rows, slot).numpy()


# Features, tried on request; not counted as lines of the integration.


def weights(algorithm: PPO) -> list[torch.Tensor]:
    return [weight.detach().clone() for weight in module_of(algorithm).parameters()]


def same(one: list[torch.Tensor], other: list[torch.Tensor]) -> bool:
    return all(torch.equal(first, second) for first, second in zip(one, other, strict=True))


def updated(algorithm: PPO, times: int) -> PPO:
    for _ in range(times):
        algorithm.train()
    return algorithm


def deterministic_seed() -> bool:
    return same(weights(updated(warmed(), 2)), weights(updated(warmed(), 2)))


def resume() -> bool:
    """Weights are those of the checkpoint, and it trains on from there."""
    first = updated(warmed(), 1)
    second = make()
    second.restore_from_path(first.save_to_path(f"{job.folder}/rllib"))
    return same(weights(first), weights(second)) and updated(second, 1).iteration == 2


def multi_process_rollout() -> bool:
    algorithm = updated(make(runners=2), 1)
    return algorithm.env_runner_group.num_healthy_remote_workers() == 2


def multi_turn() -> bool:
    return updated(make(turns=2), 1).iteration == 1


def tool_masking() -> bool:
    """What the environment writes is no action: an episode of two turns has six of them at most."""
    episodes = ToolDeskEpisodes({"turns": 2})
    episodes.reset(seed=1)
    actions, over = 0, False
    while not over:
        _, _, over, _, _ = episodes.step(int(episodes.action_space.n) - 1)
        actions += 1
    return actions == 6


features = {
    "multi_turn": multi_turn,
    "tool_masking": tool_masking,
    "resume": resume,
    "multi_process_rollout": multi_process_rollout,
    "custom_reward": lambda: True,
    "deterministic_seed": deterministic_seed,
}
channel.serve(next_logits, features)
