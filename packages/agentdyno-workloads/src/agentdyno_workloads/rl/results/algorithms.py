"""Algorithms side by side: the document, the page and the pictures of one run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from agentdyno import CensoredValue, RunResult
from agentdyno_workloads.rl.curves import TARGET
from agentdyno_workloads.rl.results import charts, rankings
from agentdyno_workloads.rl.results.figures import SeedEstimate, TrainedArm, compare_times, show_times, trained_arms

_MIB = 2**20
COLUMNS: tuple[tuple[str, str, Callable[[SeedEstimate], str]], ...] = (
    ("final_reward", "final reward", lambda item: item.show()),
    ("variation", "CV, last quarter", lambda item: item.show(2)),
    ("gain_per_1000_samples", "gain per 1,000 samples", lambda item: item.show()),
    ("peak_rss_bytes", "peak memory (MiB)", lambda item: f"{item.mean / _MIB:.0f}"),
    ("gpu_memory_bytes", "GPU memory (MiB)", lambda item: f"{item.mean / _MIB:.0f}"),
    ("gpu_utilisation", "GPU utilisation", lambda item: f"{item.mean:.0%}"),
    ("training_cpu_s", "CPU (s)", lambda item: item.show()),
    ("training_s", "wall (s)", lambda item: item.show()),
    ("tokens_per_s", "tokens/s", lambda item: f"{item.mean:,.0f}"),
)


def document(result: RunResult, only: str = "") -> dict[str, object]:
    """Everything as JSON; ``only`` one algorithm where it is named."""
    arms = [arm for arm in trained_arms(result) if only in ("", arm.algorithm)]
    return {
        "run_id": result.run_id,
        "name": result.name,
        "status": str(result.status),
        "seed": result.seed,
        "machine_id": result.environment.machine_id,
        "target_reward": TARGET,
        "algorithms": [_arm(arm) for arm in arms],
        "episodes_to_target_compared": [
            {
                "first": pair.first,
                "second": pair.second,
                "log_rank_p": pair.log_rank_p,
                "gehan_wilcoxon_p": pair.gehan_p,
                "adjusted_p": pair.adjusted_p,
                "verdict": pair.verdict,
            }
            for pair in compare_times(arms)
        ],
    }


def page(result: RunResult) -> str:
    """The same in words and tables."""
    arms = trained_arms(result)
    models = ", ".join(dict.fromkeys(str(arm.observed.get("model", "unknown")) for arm in arms))
    seeds = max((len(arm.seeds) for arm in arms), default=0)
    lines = [
        f"# {result.name}",
        "",
        f"Run {result.run_id}, {len(arms)} arms, {seeds} seeds each. Model: {models}.",
        "",
    ]
    lines += table(arms)
    lines += [
        "",
        f"Episodes to {TARGET:.0%} of the highest reward (smoothed, on held-out prompts) are Kaplan-Meier medians "
        "with 95 % intervals; `>` marks what was not reached, and in brackets is how many seeds got there. All other "
        "figures are means over seeds with 95 % intervals (Student's t).",
        "",
        *_pairs(arms),
        *_problems(arms),
        *rankings.lines(arms),
        "",
        "Rankings depend on the clip range, the learning rate and the task: these figures are about ToolDesk with "
        "the settings above, and about nothing else.",
    ]
    return "\n".join(lines).rstrip() + "\n"


def table(arms: Sequence[TrainedArm]) -> list[str]:
    """One row an arm; columns that no arm has are left out."""
    found = [(arm, arm.estimates()) for arm in arms]
    shown = [column for column in COLUMNS if any(estimates[column[0]] is not None for _, estimates in found)]
    titles = ["algorithm", "learning rate", "clip", "episodes to target", *(title for _, title, _ in shown)]
    lines = [f"| {' | '.join([*titles, 'CV across seeds'])} |", f"|{'---|' * (len(titles) + 1)}"]
    for arm, estimates in found:
        across = arm.variation_across_seeds
        cells = [
            arm.name,
            *(f"{arm.observed[name]:g}" if name in arm.observed else "-" for name in ("learning_rate", "clip")),
            show_times(arm.to_target()),
            *(write(item) if (item := estimates[name]) is not None else "-" for name, _, write in shown),
            "-" if across is None else f"{across:.1%}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def pictures(result: RunResult, folder: Path) -> list[Path]:
    """Learning curves over episodes, samples and seconds; the ranking over settings where several were run."""
    arms = [arm for arm in trained_arms(result) if arm.seeds]
    written = []
    if arms and len(arms) <= charts.MOST_CURVES:
        written += [
            charts.learning_curves(arms, "episodes", folder / "learning_curves.png"),
            charts.learning_curves(arms, "samples", folder / "reward_by_samples.png"),
            charts.learning_curves(arms, "seconds", folder / "reward_by_seconds.png"),
        ]
    grid = rankings.grid_of(arms)
    if grid is not None:
        written.append(charts.ranking_map(grid, folder / "ranking_by_settings.png"))
    return written


def _arm(arm: TrainedArm) -> dict[str, object]:
    return {
        "name": arm.name,
        "algorithm": arm.algorithm,
        "params": dict(arm.params),
        "observed": dict(arm.observed),
        "episodes_to_target": [_waited(value) for value in arm.to_target()],
        "episodes_to_target_shown": show_times(arm.to_target()),
        "variation_across_seeds": arm.variation_across_seeds,
        "figures": {name: item.plain() for name, item in arm.estimates().items() if item is not None},
        "seeds": [
            {
                "iteration": seed.iteration,
                "problem": seed.problem or None,
                "episodes": list(seed.curve.episodes),
                "samples": list(seed.curve.samples),
                "training_s": list(seed.curve.seconds),
                "reward": list(seed.curve.rewards),
            }
            for seed in arm.seeds
        ],
    }


def _waited(value: CensoredValue) -> dict[str, object]:
    return {"value": value.value, "reached": value.reached, "shown": str(value)}


def _pairs(arms: Sequence[TrainedArm]) -> list[str]:
    pairs = compare_times(arms) if len(arms) <= charts.MOST_CURVES else []
    if not pairs:
        return []
    lines = ["## Episodes to the target, compared", "", "| | | log-rank p | Gehan-Wilcoxon p | corrected (Holm) | |"]
    lines.append("|---|---|---|---|---|---|")
    for pair in pairs:
        numbers = (_p(pair.log_rank_p), _p(pair.gehan_p), _p(pair.adjusted_p))
        lines.append(f"| {pair.first} | {pair.second} | {' | '.join(numbers)} | {pair.verdict} |")
    return [*lines, ""]


def _problems(arms: Sequence[TrainedArm]) -> list[str]:
    found = [(arm.name, seed) for arm in arms for seed in arm.seeds if not seed.complete]
    if not found:
        return []
    lines = ["## Trainings that did not come to their end", ""]
    lines += [f"- {name}, seed {seed.iteration}: {seed.problem}" for name, seed in found]
    return [*lines, ""]


def _p(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
