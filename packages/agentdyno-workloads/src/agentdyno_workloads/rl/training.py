"""One training: warm start, then rollouts and updates until the episodes are used up.

Nothing here knows which algorithm or which model it is. Every draw comes from a generator of its own that is made
from the seed and the number of the update, so that a training that goes on from a checkpoint draws what it would have
drawn.
An episode is one prompt with ``samples_per_prompt`` samples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from agentdyno_workloads.rl.catalogue import algorithm_named
from agentdyno_workloads.rl.loss import AlgorithmSettings
from agentdyno_workloads.rl.policy import OptimiserSettings, Policy
from agentdyno_workloads.rl.rollout import Rollout, evaluate, roll_out
from agentdyno_workloads.rl.tooldesk import FIRST_DIGIT, PARTS, VOCABULARY, ToolDesk

_PROMPTS, _ROLLOUT, _EVALUATION, _DEMONSTRATIONS, _MINIBATCHES = range(5)
"""Purposes of draws, each with generators of its own."""


class TrainingDiverged(ArithmeticError):
    """The loss or its gradient is no longer a number: this training has ended."""


@dataclass(frozen=True, slots=True)
class WarmStart:
    """Supervised steps on ``demonstrations``, of whose tokens a share ``noise`` is wrong."""

    demonstrations: int = 300
    noise: float = 0.3
    steps: int = 120
    rows_per_step: int = 100
    learning_rate: float = 3e-3


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """Everything that is the same for all algorithms, and what is chosen for one of them."""

    algorithm: str = "grpo"
    episodes: int = 1000
    prompts_per_update: int = 8
    samples_per_prompt: int = 8
    epochs: int = 2
    minibatches: int = 2
    optimiser: OptimiserSettings = field(default_factory=OptimiserSettings)
    loss: AlgorithmSettings = field(default_factory=AlgorithmSettings)
    warm_start: WarmStart = field(default_factory=WarmStart)


@dataclass(frozen=True, slots=True)
class UpdateFigures:
    """What one update saw: mean reward of its samples, loss, norm of the gradient, tokens the policy wrote."""

    train_reward: float
    loss: float
    gradient_norm: float
    tokens: int


class Training:
    """A policy in training. ``updates`` and the policy's own state are all that a checkpoint needs."""

    def __init__(self, settings: TrainingSettings, task: ToolDesk, policy: Policy, seed: int) -> None:
        self.settings, self.task, self.policy, self.seed = settings, task, policy, seed
        self.algorithm = algorithm_named(settings.algorithm)
        self.updates = 0
        self.reference = policy.copy()
        self._prompts = task.prompts(held_out=False)
        self._held_out = task.prompts(held_out=True)

    @property
    def episodes(self) -> int:
        return self.updates * self.settings.prompts_per_update

    @property
    def done(self) -> bool:
        return self.episodes >= self.settings.episodes

    def warm_start(self) -> None:
        """Shows the policy how the task looks; what it is then is the reference of DPO and of penalties."""
        start = self.settings.warm_start
        rng = self._draws(_DEMONSTRATIONS, 0)
        chosen = self._prompts[rng.integers(0, len(self._prompts), start.demonstrations)]
        tokens = self.task.solution(chosen)
        mask = self.task.mask_of(tokens)
        wrong = (rng.random(tokens.shape) < start.noise) & (mask > 0)
        tokens = np.where(wrong, rng.integers(FIRST_DIGIT, VOCABULARY, tokens.shape), tokens)
        optimiser = OptimiserSettings(learning_rate=start.learning_rate)
        for _ in range(start.steps):
            rows = rng.choice(len(tokens), min(start.rows_per_step, len(tokens)), replace=False)
            weight = -mask[rows] / mask[rows].sum()
            self.policy.step(tokens[rows], weight, np.zeros_like(weight), optimiser)
        self.reference = self.policy.copy()

    def update(self) -> UpdateFigures:
        """One rollout and the steps on it."""
        settings = self.settings
        rng = self._draws(_PROMPTS, self.updates)
        prompts = self._prompts[rng.integers(0, len(self._prompts), settings.prompts_per_update)]
        player = self.policy if self.algorithm.on_policy else self.reference
        drawing = self._draws(_ROLLOUT, self.updates)
        rollout = roll_out(player, self.task, prompts, settings.samples_per_prompt, drawing)
        loss, norm = self._learn(rollout)
        self.updates += 1
        return UpdateFigures(float(rollout.rewards.mean()), loss, norm, rollout.policy_tokens)

    def evaluate(self) -> dict[str, float]:
        """The held-out reward and its parts; each evaluation of a seed draws the same for every algorithm."""
        parts = evaluate(self.policy, self.task, self._held_out, self._draws(_EVALUATION, self.updates))
        return {"reward": float(parts.mean()), **{name: float(parts[i]) for i, name in enumerate(PARTS)}}

    def _learn(self, rollout: Rollout) -> tuple[float, float]:
        """Mean loss and mean norm of the gradient over the steps."""
        settings, algorithm = self.settings, self.algorithm
        reference = self.reference.view(rollout.tokens)
        batch = algorithm.prepare(rollout, self.policy.view(rollout.tokens), reference, settings.loss)
        rng = self._draws(_MINIBATCHES, self.updates)
        losses, norms = [], []
        for _ in range(settings.epochs):
            order = rng.permutation(settings.prompts_per_update)
            for groups in np.array_split(order, settings.minibatches):
                part = batch.rows(np.flatnonzero(np.isin(rollout.group, groups)))
                tokens = part.rollout.tokens
                found = algorithm.loss(part, self.policy.view(tokens), settings.loss)
                norm = self.policy.step(tokens, found.dlogp, found.dvalue, settings.optimiser)
                if not (math.isfinite(found.loss) and math.isfinite(norm)):
                    raise TrainingDiverged(
                        f"{algorithm.name}: the loss is {found.loss} and the norm of its gradient {norm} "
                        f"at update {self.updates}, episode {self.episodes}"
                    )
                losses.append(found.loss)
                norms.append(norm)
        return float(np.mean(losses)), float(np.mean(norms))

    def _draws(self, purpose: int, number: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, purpose, number])
