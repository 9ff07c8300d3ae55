"""Proximal Policy Optimisation: Schulman et al. 2017, arXiv:1707.06347, equations 7 and 9, with a value head.

    L(theta) = E_t[ min( r_t A_t, clip(r_t, 1 - eps, 1 + eps) A_t ) - c_1 ( V_theta(s_t) - V_t^targ )^2 ]

    r_t = pi_theta(a_t | s_t) / pi_old(a_t | s_t)
    A_t = sum_l (gamma lambda)^l delta_{t+l},  delta_t = r_t + gamma V(s_{t+1}) - V(s_t)       (gamma 1)

The loss is -L. A step is a token of the policy; the reward comes with the last one. There is no entropy bonus.
"""

from __future__ import annotations

import numpy as np

from agentdyno_workloads.rl.advantages import generalised, whitened
from agentdyno_workloads.rl.loss import AlgorithmSettings, Batch, LossGradient, clipped
from agentdyno_workloads.rl.policy import TokenView
from agentdyno_workloads.rl.rollout import Rollout


class Ppo:
    """A token is held against what the value head expected of it."""

    name = "ppo"
    on_policy = True

    def prepare(
        self, rollout: Rollout, played: TokenView, reference: TokenView, settings: AlgorithmSettings
    ) -> Batch:
        estimates, returns = generalised(
            rollout.rewards, played.value * rollout.mask, rollout.mask, settings.gae_lambda
        )
        return Batch(rollout, whitened(estimates, rollout.mask), reference.logp * rollout.mask, returns)

    def loss(self, batch: Batch, view: TokenView, settings: AlgorithmSettings) -> LossGradient:
        mask = batch.rollout.mask
        weight = mask / max(mask.sum(), 1)  # E_t
        ratio = np.exp((view.logp - batch.rollout.logp) * mask)
        surrogate = clipped(ratio, batch.advantages, settings.clip)
        missed = (view.value - batch.returns) * mask
        loss = -float((weight * (surrogate.objective - settings.value_weight * missed**2)).sum())
        by_value = 2 * settings.value_weight * weight * missed
        return LossGradient(loss, -weight * surrogate.slope * ratio, by_value)
