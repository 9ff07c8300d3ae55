"""What every algorithm is: a way to turn a rollout into a batch, and a loss with its gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agentdyno_workloads.rl.policy import TokenView
from agentdyno_workloads.rl.rollout import Rollout
from agentdyno_workloads.rl.tooldesk import Floats


@dataclass(frozen=True, slots=True)
class LossGradient:
    """A loss, and its gradient by the log-probability and by the value of each token."""

    loss: float
    dlogp: Floats
    dvalue: Floats


@dataclass(frozen=True, slots=True)
class AlgorithmSettings:
    """What the losses take. ``clip`` is the paper's epsilon; ``beta`` the weight of the reference policy.

    A value that a loss has no use for changes nothing in it.
    """

    clip: float = 0.2
    beta: float = 0.0
    gae_lambda: float = 0.95
    value_weight: float = 0.5


@dataclass(frozen=True, slots=True)
class Batch:
    """A rollout with what the loss needs of it. ``advantages`` are per token; ``reference`` is what the warm start
    gave each token, ``returns`` what the value of each token should have been."""

    rollout: Rollout
    advantages: Floats
    reference: Floats
    returns: Floats

    def rows(self, chosen: NDArray[np.int64]) -> Batch:
        return Batch(self.rollout.rows(chosen), self.advantages[chosen], self.reference[chosen], self.returns[chosen])


class Algorithm(Protocol):
    """One algorithm. ``on_policy``: samples are drawn from the policy that is trained, else from the warm start."""

    @property
    def name(self) -> str: ...

    @property
    def on_policy(self) -> bool: ...

    def prepare(
        self, rollout: Rollout, played: TokenView, reference: TokenView, settings: AlgorithmSettings
    ) -> Batch:
        """``played`` is what the policy that is trained says before its first step on this rollout."""
        ...

    def loss(self, batch: Batch, view: TokenView, settings: AlgorithmSettings) -> LossGradient:
        """Over whole groups; ``view`` is what the policy says now."""
        ...


@dataclass(frozen=True, slots=True)
class Clipped:
    """``min(ratio A, clip(ratio, 1 - eps, 1 + eps) A)`` and its derivative by the ratio."""

    objective: Floats
    slope: Floats


def clipped(ratio: Floats, advantage: Floats, clip: float) -> Clipped:
    """The surrogate that PPO, GRPO and GSPO share; where the clipped side is the smaller one the slope is 0."""
    free, bound = ratio * advantage, np.clip(ratio, 1 - clip, 1 + clip) * advantage
    return Clipped(np.minimum(free, bound), np.where(free <= bound, advantage, 0.0))
