"""Rewards to advantages: within a group of samples, or by a learned value."""

from __future__ import annotations

import numpy as np

from agentdyno_workloads.rl.tooldesk import Floats, Ints

_SMALL = 1e-8


def within_groups(rewards: Floats, group: Ints) -> Floats:
    """``(r - mean of its group) / std of its group``; 0 in a group whose rewards are all the same."""
    found = np.zeros_like(rewards)
    for number in np.unique(group):
        own = group == number
        spread = rewards[own].std()
        if spread > _SMALL:
            found[own] = (rewards[own] - rewards[own].mean()) / spread
    return found


def generalised(rewards: Floats, values: Floats, mask: Floats, gae_lambda: float) -> tuple[Floats, Floats]:
    """Generalised advantage estimates (Schulman et al. 2016, gamma 1) and returns, by token.

    The reward comes with the last token that the policy wrote; tokens of the environment are passed over.
    """
    advantages = np.zeros_like(values)
    following = rewards.copy()  # what comes after the token at hand: first the reward itself
    carried = np.zeros(len(rewards))
    last = np.ones(len(rewards), dtype=bool)
    for slot in range(values.shape[1] - 1, -1, -1):
        own = mask[:, slot] > 0
        delta = following - values[:, slot]
        estimate = np.where(last, delta, delta + gae_lambda * carried)
        advantages[:, slot] = np.where(own, estimate, 0.0)
        carried = np.where(own, estimate, carried)
        following = np.where(own, values[:, slot], following)
        last &= ~own
    return advantages, (advantages + values) * mask


def whitened(values: Floats, mask: Floats) -> Floats:
    """Mean 0 and deviation 1 over the tokens that count."""
    counted = values[mask > 0]
    if not counted.size:
        return np.zeros_like(values)
    return np.asarray((values - counted.mean()) / (counted.std() + _SMALL) * mask)
