"""Who leads where: the ranking of algorithms over clip range and learning rate, and where it changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentdyno_workloads.rl.results.figures import TrainedArm


@dataclass(frozen=True, slots=True)
class RankingGrid:
    """Final rewards by algorithm and by (learning rate, clip); a place where nothing was run has none."""

    algorithms: tuple[str, ...]
    learning_rates: tuple[float, ...]
    clips: tuple[float, ...]
    rewards: dict[tuple[str, float, float], float]

    def ranking(self, learning_rate: float, clip: float) -> tuple[str, ...]:
        """Best first."""
        there = [name for name in self.algorithms if (name, learning_rate, clip) in self.rewards]
        return tuple(sorted(there, key=lambda name: -self.rewards[name, learning_rate, clip]))

    @property
    def most_common(self) -> tuple[str, ...]:
        """The ranking that most places have, the first of several."""
        rankings = [self.ranking(rate, clip) for rate in self.learning_rates for clip in self.clips]
        return max(rankings, key=rankings.count)

    def changed(self, learning_rate: float, clip: float) -> bool:
        """Whether the order is another one there than at most places."""
        return self.ranking(learning_rate, clip) != self.most_common


def grid_of(arms: Sequence[TrainedArm]) -> RankingGrid | None:
    """Algorithms that were run everywhere (DPO, which clips nothing, is not); ``None`` where there is no choice."""
    rewards: dict[tuple[str, float, float], float] = {}
    for arm in arms:
        rate, clip = arm.observed.get("learning_rate"), arm.observed.get("clip")
        final = arm.estimates()["final_reward"]
        if isinstance(rate, (int, float)) and isinstance(clip, (int, float)) and final is not None:
            rewards[arm.algorithm, float(rate), float(clip)] = final.mean
    rates = tuple(sorted({rate for _, rate, _ in rewards}))
    clips = tuple(sorted({clip for _, _, clip in rewards}))
    places = [(rate, clip) for rate in rates for clip in clips]
    everywhere = {name for name, _, _ in rewards if all((name, *place) in rewards for place in places)}
    names = tuple(dict.fromkeys(name for name, _, _ in rewards if name in everywhere))
    if len(names) < 2 or len(places) < 2:
        return None
    return RankingGrid(names, rates, clips, {key: value for key, value in rewards.items() if key[0] in everywhere})


def lines(arms: Sequence[TrainedArm]) -> list[str]:
    """The grid as a table; places whose order is another one than at most places are marked."""
    grid = grid_of(arms)
    if grid is None:
        return []
    titles = " | ".join(f"clip {clip:g}" for clip in grid.clips)
    rows = ["## Who leads where", "", f"| learning rate | {titles} |", f"|---|{'---|' * len(grid.clips)}"]
    for rate in grid.learning_rates:
        cells = [
            ("**changed:** " if grid.changed(rate, clip) else "")
            + ", ".join(f"{name} {grid.rewards[name, rate, clip]:.2f}" for name in grid.ranking(rate, clip))
            for clip in grid.clips
        ]
        rows.append(f"| {rate:g} | {' | '.join(cells)} |")
    places = [(rate, clip) for rate in grid.learning_rates for clip in grid.clips]
    changed = sum(grid.changed(*place) for place in places)
    rows += ["", f"The order of final rewards differs from the most common one at {changed} of {len(places)} places."]
    return [*rows, ""]
