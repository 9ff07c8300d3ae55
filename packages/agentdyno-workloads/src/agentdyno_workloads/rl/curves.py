"""Learning curves to figures: when the target was reached, the end, how steady it was, what samples gained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agentdyno import CensoredValue

TARGET = 0.8
"""The share of the highest possible reward that counts as solved."""
SMOOTHED_OVER = 3
"""Evaluations in the running mean that has to reach the target."""
FINAL_SHARE, STEADY_SHARE = 0.10, 0.25
"""The last evaluations that make the final reward, and those whose variation is the stability."""


@dataclass(frozen=True, slots=True)
class Curve:
    """The held-out reward of one training over its episodes; the first point is the warm start."""

    episodes: tuple[float, ...]
    samples: tuple[float, ...]
    seconds: tuple[float, ...]
    rewards: tuple[float, ...]

    @property
    def final_reward(self) -> float:
        return float(np.mean(_last(self.rewards, FINAL_SHARE)))

    @property
    def variation(self) -> float | None:
        """Coefficient of variation over the last quarter; ``None`` where the mean is 0 or there is one point."""
        last = _last(self.rewards, STEADY_SHARE)
        mean = float(np.mean(last))
        return float(np.std(last, ddof=1)) / mean if len(last) > 1 and mean > 0 else None

    @property
    def gain_per_1000_samples(self) -> float | None:
        """Mean height of the curve above its warm start (area over samples), for 1,000 samples."""
        if len(self.samples) < 2 or self.samples[-1] <= self.samples[0]:
            return None
        above = np.asarray(self.rewards) - self.rewards[0]
        area = float(np.trapezoid(above, self.samples))
        # A curve that rises evenly by g per 1,000 samples has the area g/1000 n^2/2.
        return 2000.0 * area / (self.samples[-1] - self.samples[0]) ** 2

    def to_target(self, target: float = TARGET) -> CensoredValue:
        """Episodes until the smoothed reward reached ``target``; censored at the last episode where it never did."""
        smooth = smoothed(self.rewards)
        for episodes, reward in zip(self.episodes, smooth, strict=True):
            if reward >= target:
                return CensoredValue(episodes, reached=True)
        return CensoredValue(self.episodes[-1], reached=False)


def smoothed(rewards: Sequence[float], over: int = SMOOTHED_OVER) -> list[float]:
    """Running mean of the last ``over`` values, of fewer at the beginning."""
    return [float(np.mean(rewards[max(0, i + 1 - over) : i + 1])) for i in range(len(rewards))]


def _last(values: Sequence[float], share: float) -> Sequence[float]:
    return values[-max(1, round(len(values) * share)) :]
