"""What a policy is to the algorithms: log-probabilities and values of episodes, and a step along a gradient.

Algorithms compute their loss and its gradient with respect to the log-probability of each token (and to each value)
by hand; the policy carries it on to its weights, by hand in numpy or by autograd in torch. So every algorithm is
written once, and every model takes the same step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from agentdyno_workloads.rl.tooldesk import Floats, Ints


@dataclass(frozen=True, slots=True)
class TokenView:
    """What a policy says of token rows: the log-probability of each token it would have written, and its value."""

    logp: Floats
    value: Floats


@dataclass(frozen=True, slots=True)
class OptimiserSettings:
    """Adam with a limit on the norm of the gradient; the same for every algorithm."""

    learning_rate: float = 3e-3
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    max_norm: float = 1.0


class Policy(Protocol):
    """A language model over the task's tokens with a value head."""

    @property
    def parameters(self) -> int:
        """How many weights it has."""
        ...

    def next_logits(self, tokens: Ints, slot: int) -> Floats:
        """Scores of every token for ``slot``, given the slots before it."""
        ...

    def view(self, tokens: Ints) -> TokenView:
        """Of every slot behind the prompt, whoever wrote it; 0 within the prompt."""
        ...

    def step(self, tokens: Ints, dlogp: Floats, dvalue: Floats, settings: OptimiserSettings) -> float:
        """Takes one step down the gradient of a loss; its norm before it was limited."""
        ...

    def state(self) -> Mapping[str, np.ndarray]:
        """Weights and the optimiser's memory, to be kept in a checkpoint."""
        ...

    def restore(self, state: Mapping[str, np.ndarray]) -> None: ...

    def copy(self) -> Policy:
        """The same weights, apart from this one; a reference for DPO and for penalties."""
        ...


def log_softmax(logits: Floats) -> Floats:
    """Along the last axis."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))
