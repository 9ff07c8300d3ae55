"""What one writes by hand where no framework is wanted: REINFORCE with a group's mean as baseline, in numpy."""

from __future__ import annotations

from common import TrainingChannel, TrainingJob, demonstrations

channel = TrainingChannel()

import numpy as np  # noqa: E402
from tooldesk import END, PAD, VOCABULARY  # noqa: E402

HIDDEN = 128


class Network:
    """Scores of the next token from all tokens before it, by one hidden layer, with Adam."""

    def __init__(self, length: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        shapes = {"seen": (length, VOCABULARY, HIDDEN), "slot": (length, HIDDEN), "out": (HIDDEN, VOCABULARY)}
        self.weights = {name: rng.normal(0, 0.3 if name != "out" else 0.1, shape) for name, shape in shapes.items()}
        self.memory = {name: [np.zeros(shape), np.zeros(shape)] for name, shape in shapes.items()}
        self.steps = 0

    def hidden(self, rows: np.ndarray, slot: int) -> np.ndarray:
        seen = self.weights["seen"][np.arange(slot), rows[:, :slot]].sum(axis=1)
        return np.tanh(self.weights["slot"][slot] + seen)

    def logits(self, rows: np.ndarray, slot: int) -> np.ndarray:
        return self.hidden(rows, slot) @ self.weights["out"]

    def learn(self, rows: np.ndarray, weight: np.ndarray, rate: float) -> None:
        """One step that makes tokens likelier by ``weight``."""
        change = {name: np.zeros_like(value) for name, value in self.weights.items()}
        for slot in range(4, rows.shape[1]):
            hidden = self.hidden(rows, slot)
            push = -softmax(hidden @ self.weights["out"])
            push[np.arange(len(rows)), rows[:, slot]] += 1
            push *= weight[:, slot, None]
            change["out"] += hidden.T @ push
            below = (push @ self.weights["out"].T) * (1 - hidden**2)
            change["slot"][slot] += below.sum(axis=0)
            for before in range(slot):
                np.add.at(change["seen"][before], rows[:, before], below)
        self.steps += 1
        for name, gradient in change.items():
            first, second = self.memory[name]
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient**2 - second)
            scale = np.sqrt(second / (1 - 0.999**self.steps)) + 1e-8
            self.weights[name] += rate * first / (1 - 0.9**self.steps) / scale


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def play(network: Network, job: TrainingJob, prompts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    rows = job.task.begin(prompts)
    ended = np.zeros(len(rows), dtype=bool)
    for slot in range(4, rows.shape[1]):
        levels = softmax(network.logits(rows, slot)).cumsum(axis=1)
        drawn = np.minimum((levels < rng.random((len(rows), 1))).sum(axis=1), VOCABULARY - 1)
        rows[:, slot] = np.where(ended, PAD, drawn)
        ended |= drawn == END
    return rows


def train(job: TrainingJob, updates: int, told: bool = True) -> Network:
    network = Network(job.task.length, job.seed)
    tokens, mask, rng = demonstrations(job)
    for _ in range(120):
        rows = rng.choice(len(tokens), 100, replace=False)
        network.learn(tokens[rows], mask[rows] / mask[rows].sum(), 3e-3)
    every = job.task.prompts(held_out=False)
    if told:
        channel.say("ready", parameters=sum(value.size for value in network.weights.values()))
    for update in range(updates):
        prompts = np.repeat(
            every[rng.integers(0, len(every), job.prompts_per_update)], job.samples_per_prompt, axis=0
        )
        rows = play(network, job, prompts, rng)
        rewards = job.task.rewards(rows, prompts).reshape(job.prompts_per_update, -1)
        gain = ((rewards - rewards.mean(axis=1, keepdims=True)) / (rewards.std() + 1e-8)).ravel()
        network.learn(rows, job.task.mask_of(rows) * gain[:, None] / len(rows), job.learning_rate)
        if told:
            channel.say("update", samples=(update + 1) * job.per_update)
    return network


network = train(channel.job, channel.job.updates)
channel.say("trained", samples=channel.job.updates * channel.job.per_update)


# Features, tried on request; not counted as lines of the integration.


def deterministic_seed() -> bool:
    one, other = (train(channel.job, 2, told=False) for _ in range(2))
    return all((one.weights[name] == other.weights[name]).all() for name in one.weights)


channel.serve(network.logits, {"custom_reward": lambda: True, "deterministic_seed": deterministic_seed})
