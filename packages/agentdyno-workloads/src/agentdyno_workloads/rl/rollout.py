"""Sampling and evaluating: one way for every algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from agentdyno_workloads.rl.policy import log_softmax
from agentdyno_workloads.rl.tooldesk import END, PAD, Floats, Ints, ToolDesk


class Scoring(Protocol):
    """Whatever scores the next token: a policy, or one that another process has trained."""

    def next_logits(self, tokens: Ints, slot: int) -> Floats: ...


@dataclass(frozen=True, slots=True)
class Rollout:
    """Episodes that were played: one row a sample, rows of one prompt (``group``) together.

    ``logp`` is what the policy that played gave each of its tokens, 0 where ``mask`` is.
    """

    tokens: Ints
    mask: Floats
    logp: Floats
    rewards: Floats
    group: Ints

    def rows(self, chosen: Ints) -> Rollout:
        return Rollout(
            self.tokens[chosen], self.mask[chosen], self.logp[chosen], self.rewards[chosen], self.group[chosen]
        )

    @property
    def policy_tokens(self) -> int:
        """Tokens that the policy wrote."""
        return int(self.mask.sum())


def roll_out(policy: Scoring, task: ToolDesk, prompts: Ints, samples: int, rng: np.random.Generator) -> Rollout:
    """Each prompt played ``samples`` times at temperature 1."""
    rows = np.repeat(prompts, samples, axis=0)
    group = np.repeat(np.arange(len(prompts)), samples)
    tokens = task.begin(rows)
    logp = np.zeros(tokens.shape)
    for turn in task.policy_turns:
        ended = np.zeros(len(rows), dtype=bool)
        for slot in range(turn.first, turn.end):
            scores = log_softmax(policy.next_logits(tokens, slot))
            drawn = _draw(scores, rng)
            tokens[:, slot] = np.where(ended, PAD, drawn)
            taken = np.take_along_axis(scores, drawn[:, None], axis=1)[:, 0]
            logp[:, slot] = np.where(ended, 0.0, taken)
            ended |= drawn == END
        if turn is not task.policy_turns[-1]:
            task.reveal(tokens, rows)
    return Rollout(tokens, task.mask_of(tokens), logp, task.rewards(tokens, rows), group)


def evaluate(policy: Scoring, task: ToolDesk, prompts: Ints, rng: np.random.Generator) -> Floats:
    """The four parts of the reward on prompts that no training sees, each played once: means over ``prompts``."""
    played = roll_out(policy, task, prompts, 1, rng)
    return np.asarray(task.reward_parts(played.tokens, prompts).mean(axis=0))


def _draw(scores: Floats, rng: np.random.Generator) -> Ints:
    """One token a row, by its probability."""
    cumulative = np.cumsum(np.exp(scores), axis=1)
    level = rng.random(len(scores)) * cumulative[:, -1]
    return np.asarray(np.minimum((cumulative <= level[:, None]).sum(axis=1), scores.shape[1] - 1))
