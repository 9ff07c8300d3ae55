"""Group Sequence Policy Optimisation: Zheng et al. 2025, arXiv:2507.18071, equations 5 to 7.

    J(theta) = E[ 1/G sum_i min( s_i A_i, clip(s_i, 1 - eps, 1 + eps) A_i ) ]

    s_i = ( pi_theta(y_i | x) / pi_old(y_i | x) )^(1/|y_i|) = exp( 1/|y_i| sum_t log r_{i,t} )
    A_i = (R_i - mean(R)) / std(R)                                      over the G samples of one prompt

The loss is -J. The ratio is that of the whole answer, so that clipping takes or leaves an answer as one.
"""

from __future__ import annotations

import numpy as np

from agentdyno_workloads.rl.advantages import within_groups
from agentdyno_workloads.rl.loss import AlgorithmSettings, Batch, LossGradient, clipped
from agentdyno_workloads.rl.policy import TokenView
from agentdyno_workloads.rl.rollout import Rollout


class Gspo:
    """As GRPO, with one ratio for an answer."""

    name = "gspo"
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
        mask = batch.rollout.mask
        share = mask / np.maximum(mask.sum(axis=1, keepdims=True), 1)  # 1/|y_i|
        advantage = batch.advantages.max(axis=1) + batch.advantages.min(axis=1)  # A_i: the others of the row are 0
        ratio = np.exp(((view.logp - batch.rollout.logp) * share).sum(axis=1))  # s_i
        surrogate = clipped(ratio, advantage, settings.clip)
        loss = -float(surrogate.objective.mean())
        by_answer = surrogate.slope * ratio / len(mask)
        return LossGradient(loss, -by_answer[:, None] * share, np.zeros_like(mask))
