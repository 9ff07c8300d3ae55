"""Group Relative Policy Optimisation: Shao et al. 2024, "DeepSeekMath", arXiv:2402.03300, equations 3 and 4.

    J(theta) = E[ 1/G sum_i 1/|o_i| sum_t { min( r_{i,t} A_i, clip(r_{i,t}, 1 - eps, 1 + eps) A_i ) - beta D_KL } ]

    r_{i,t} = pi_theta(o_{i,t} | q, o_{i,<t}) / pi_old(o_{i,t} | q, o_{i,<t})
    A_i     = (R_i - mean(R)) / std(R)                                  over the G samples of one prompt
    D_KL    = pi_ref/pi_theta - log(pi_ref/pi_theta) - 1                 per token

The loss is -J.
"""

from __future__ import annotations

import numpy as np

from agentdyno_workloads.rl.advantages import within_groups
from agentdyno_workloads.rl.loss import AlgorithmSettings, Batch, LossGradient, clipped
from agentdyno_workloads.rl.policy import TokenView
from agentdyno_workloads.rl.rollout import Rollout


class Grpo:
    """No value model: a sample is held against the others of its prompt, token by token."""

    name = "grpo"
    on_policy = True

    def prepare(
        self,
        rollout: Rollout,
        played: TokenView,  # noqa: ARG002
        reference: TokenView,
        settings: AlgorithmSettings,  # noqa: ARG002
    ) -> Batch:
        advantages = within_groups(rollout.rewards, rollout.group)[:, None] * rollout.mask
        return Batch(rollout, advantages, reference.logp * rollout.mask, np.zeros_like(rollout.mask))

    def loss(self, batch: Batch, view: TokenView, settings: AlgorithmSettings) -> LossGradient:
        mask, advantage = batch.rollout.mask, batch.advantages
        weight = mask / np.maximum(mask.sum(axis=1, keepdims=True), 1) / len(mask)  # 1/G 1/|o_i|
        ratio = np.exp((view.logp - batch.rollout.logp) * mask)
        surrogate = clipped(ratio, advantage, settings.clip)
        log_reference = (batch.reference - view.logp) * mask  # log(pi_ref / pi_theta)
        penalty = np.exp(log_reference) - log_reference - 1
        loss = -float((weight * (surrogate.objective - settings.beta * penalty)).sum())
        by_logp = surrogate.slope * ratio - settings.beta * (1 - np.exp(log_reference))
        return LossGradient(loss, -weight * by_logp, np.zeros_like(mask))
