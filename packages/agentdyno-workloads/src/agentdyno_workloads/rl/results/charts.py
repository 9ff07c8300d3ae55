"""Pictures: learning curves with bands over seeds, and the ranking over settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from agentdyno_workloads.rl.curves import TARGET
from agentdyno_workloads.rl.results.figures import TrainedArm
from agentdyno_workloads.rl.results.rankings import RankingGrid

MOST_CURVES = 8
"""More arms than this are no picture that can be read."""
Axis = Literal["episodes", "samples", "seconds"]
_LABELS = {"episodes": "episodes", "samples": "samples", "seconds": "seconds of training"}


def learning_curves(arms: Sequence[TrainedArm], axis: Axis, path: Path) -> Path:
    """The mean over seeds, with a band from the lowest tenth to the highest."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    axes = figure.subplots()
    for arm in arms:
        at, rewards = _on_one_axis(arm, axis)
        line = axes.plot(at, rewards.mean(axis=0), label=f"{arm.name} ({len(rewards)})")[0]
        low, high = np.quantile(rewards, [0.1, 0.9], axis=0)
        axes.fill_between(at, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
    axes.axhline(TARGET, color="0.5", linestyle=":", linewidth=1)
    axes.set_xlabel(_LABELS[axis])
    axes.set_ylabel("held-out reward")
    axes.set_ylim(0, 1.02)
    axes.legend(frameon=False, fontsize=8, title="mean and 10-90 % of seeds", title_fontsize=8)
    figure.savefig(path, dpi=120)
    return path


def _on_one_axis(arm: TrainedArm, axis: Axis) -> tuple[np.ndarray, np.ndarray]:
    """Rewards of all seeds at the same places, as far as the shortest of them goes."""
    columns = [getattr(seed.curve, axis) for seed in arm.seeds]
    at = np.linspace(0, min(column[-1] for column in columns), 60)
    rewards = [np.interp(at, column, seed.curve.rewards) for column, seed in zip(columns, arm.seeds, strict=True)]
    return at, np.array(rewards)


def ranking_map(grid: RankingGrid, path: Path) -> Path:
    """One map of final rewards for each algorithm; a cross marks places where the order is another one."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2.6 * len(grid.algorithms) + 1.0, 3.4), layout="constrained")
    panels = np.atleast_1d(figure.subplots(1, len(grid.algorithms), sharey=True))
    drawn: Any = None
    for axes, name in zip(panels, grid.algorithms, strict=True):
        values = [[grid.rewards[name, rate, clip] for clip in grid.clips] for rate in grid.learning_rates]
        drawn = axes.imshow(values, vmin=0, vmax=1, cmap="viridis", aspect="auto", origin="lower")
        for row, rate in enumerate(grid.learning_rates):
            for column, clip in enumerate(grid.clips):
                place = grid.ranking(rate, clip).index(name) + 1
                mark = "×" if grid.changed(rate, clip) else ""
                text = f"{values[row][column]:.2f}\n{place}.{mark}"
                axes.text(column, row, text, ha="center", va="center", color="w", fontsize=7)
        axes.set_title(name, fontsize=9)
        axes.set_xticks(range(len(grid.clips)), [f"{clip:g}" for clip in grid.clips], fontsize=7)
        axes.set_xlabel("clip", fontsize=8)
    panels[0].set_yticks(range(len(grid.learning_rates)), [f"{rate:g}" for rate in grid.learning_rates], fontsize=7)
    panels[0].set_ylabel("learning rate", fontsize=8)
    figure.colorbar(drawn, ax=list(panels), label="final reward; place (× order changed)")
    figure.savefig(path, dpi=120)
    return path
