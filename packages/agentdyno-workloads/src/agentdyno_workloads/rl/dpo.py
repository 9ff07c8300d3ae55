"""Direct Preference Optimisation: Rafailov et al. 2023, arXiv:2305.18290, equation 7.

    L(theta) = -E_(x, y_w, y_l)[ log sigma( beta log pi_theta(y_w|x)/pi_ref(y_w|x)
                                          - beta log pi_theta(y_l|x)/pi_ref(y_l|x) ) ]

``y_w`` and ``y_l`` are the best and the worst sample of a prompt by their reward; a prompt whose samples are all
alike gives no pair. Offline, as in the paper, samples come from the warm start, which is ``pi_ref``. Online (Guo et
al. 2024, arXiv:2402.04792) they come from the policy that is trained; ``pi_ref`` stays the warm start.
"""

from __future__ import annotations

import numpy as np

from agentdyno_workloads.rl.loss import AlgorithmSettings, Batch, LossGradient
from agentdyno_workloads.rl.policy import TokenView
from agentdyno_workloads.rl.rollout import Rollout
from agentdyno_workloads.rl.tooldesk import Floats, Ints


class Dpo:
    """Offline: it learns from answers of the warm start alone."""

    name = "dpo"
    on_policy = False

    def prepare(
        self,
        rollout: Rollout,
        played: TokenView,  # noqa: ARG002
        reference: TokenView,
        settings: AlgorithmSettings,  # noqa: ARG002
    ) -> Batch:
        empty = np.zeros_like(rollout.mask)
        return Batch(rollout, empty, reference.logp * rollout.mask, empty)

    def loss(self, batch: Batch, view: TokenView, settings: AlgorithmSettings) -> LossGradient:
        mask = batch.rollout.mask
        dlogp = np.zeros_like(mask)
        better, worse = preferred(batch.rollout.rewards, batch.rollout.group)
        if not len(better):
            return LossGradient(0.0, dlogp, dlogp.copy())
        implicit = implicit_rewards(batch, view, settings.beta)
        margin = implicit[better] - implicit[worse]
        loss = float(np.logaddexp(0.0, -margin).mean())
        pull = settings.beta / (1 + np.exp(margin)) / len(better)  # beta sigma(-margin) / pairs
        dlogp[better] = -pull[:, None] * mask[better]
        dlogp[worse] = pull[:, None] * mask[worse]
        return LossGradient(loss, dlogp, np.zeros_like(mask))


class OnlineDpo(Dpo):
    """The same loss on answers of the policy as it is."""

    name = "online_dpo"
    on_policy = True


def implicit_rewards(batch: Batch, view: TokenView, beta: float) -> Floats:
    """``beta log pi_theta(y|x)/pi_ref(y|x)`` of every sample: what the policy holds an answer to be worth."""
    return np.asarray(beta * ((view.logp - batch.reference) * batch.rollout.mask).sum(axis=1))


def preferred(rewards: Floats, group: Ints) -> tuple[Ints, Ints]:
    """Rows of the best and the worst sample of each prompt, the first of several alike."""
    better, worse = [], []
    for number in np.unique(group):
        rows = np.flatnonzero(group == number)
        best, worst = rows[rewards[rows].argmax()], rows[rewards[rows].argmin()]
        if rewards[best] > rewards[worst]:
            better.append(best)
            worse.append(worst)
    return np.array(better, dtype=np.int64), np.array(worse, dtype=np.int64)
