"""Stored trainings to figures per arm: censored times, final rewards, steadiness, with intervals over seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from agentdyno import CensoredValue, RunResult, Sample, log_rank, median_time
from agentdyno_workloads.rl.curves import Curve

EXPERIMENT = "rl_algorithm"
_PREFIX = "result."
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class SeedEstimate:
    """A mean over seeds with its 95 % interval by Student's t; no interval from a single seed."""

    mean: float
    low: float | None
    high: float | None
    seeds: int

    def show(self, digits: int = 3) -> str:
        if self.low is None or self.high is None:
            return f"{self.mean:.{digits}g}"
        return f"{self.mean:.{digits}g} [{self.low:.{digits}g}, {self.high:.{digits}g}]"

    def plain(self) -> dict[str, object]:
        return {"mean": self.mean, "ci95": None if self.low is None else [self.low, self.high], "seeds": self.seeds}


def over_seeds(
    values: Sequence[float | None], lowest: float = -math.inf, highest: float = math.inf
) -> SeedEstimate | None:
    """The mean of what is known; ``None`` where nothing is. An interval ends where the quantity itself does."""
    known = np.array([value for value in values if value is not None and math.isfinite(value)])
    if not known.size:
        return None
    mean, n = float(known.mean()), len(known)
    if n < 2:
        return SeedEstimate(mean, None, None, n)
    from scipy import stats

    half = float(stats.t.ppf(0.975, n - 1)) * float(known.std(ddof=1)) / math.sqrt(n)
    return SeedEstimate(mean, max(mean - half, lowest), min(mean + half, highest), n)


@dataclass(frozen=True, slots=True)
class TrainedSeed:
    """One training: its curve, what it used, and how it ended where it did not end well."""

    iteration: int
    curve: Curve
    last: Mapping[str, float]
    peak_rss_bytes: float | None
    problem: str = ""

    @property
    def complete(self) -> bool:
        return not self.problem


@dataclass(frozen=True, slots=True)
class TrainedArm:
    """One algorithm in one configuration, over seeds."""

    name: str
    params: Mapping[str, object]
    observed: Mapping[str, object]
    seeds: tuple[TrainedSeed, ...]

    @property
    def algorithm(self) -> str:
        return str(self.params.get("algorithm", self.name))

    @property
    def finished(self) -> list[TrainedSeed]:
        return [seed for seed in self.seeds if seed.complete]

    def to_target(self) -> list[CensoredValue]:
        """Episodes to the target; a training that broke off is censored where it did."""
        return [seed.curve.to_target() for seed in self.seeds]

    def estimates(self) -> dict[str, SeedEstimate | None]:
        """Figures with intervals over the seeds that came to their end."""
        done = self.finished
        rewards = [seed.curve.final_reward for seed in done]
        return {
            "final_reward": over_seeds(rewards, 0.0, 1.0),
            "variation": over_seeds([seed.curve.variation for seed in done], 0.0),
            "gain_per_1000_samples": over_seeds([seed.curve.gain_per_1000_samples for seed in done]),
            "peak_rss_bytes": over_seeds([seed.peak_rss_bytes for seed in done]),
            "training_s": over_seeds([seed.last.get("training_s") for seed in done]),
            "training_cpu_s": over_seeds([seed.last.get("training_cpu_s") for seed in done]),
            "tokens_per_s": over_seeds([seed.last.get("tokens_per_s") for seed in done]),
            "gpu_memory_bytes": over_seeds([seed.last.get("gpu_memory_bytes") for seed in done]),
            "gpu_utilisation": over_seeds([seed.last.get("gpu_utilisation") for seed in done]),
        }

    @property
    def variation_across_seeds(self) -> float | None:
        """Coefficient of variation of the final reward from seed to seed."""
        rewards = [seed.curve.final_reward for seed in self.finished]
        if len(rewards) < 2 or not np.mean(rewards):
            return None
        return float(np.std(rewards, ddof=1) / np.mean(rewards))


def trained_arms(result: RunResult) -> list[TrainedArm]:
    """The arms of a run of trainings, in its order; those without a single evaluation are left out."""
    found = []
    for arm in result.arms:
        if arm.experiment != EXPERIMENT:
            continue
        trials: dict[int, list[Sample]] = {}
        for sample in arm.samples:
            if sample.phase == "measured":
                trials.setdefault(sample.iteration, []).append(sample)
        seeds = [_seed(i, sorted(parts, key=lambda s: s.part)) for i, parts in sorted(trials.items())]
        label = arm.name.removeprefix(f"{EXPERIMENT} ").removeprefix("algorithm=")
        found.append(TrainedArm(label, arm.params, arm.observed, tuple(seed for seed in seeds if seed is not None)))
    return found


def _seed(iteration: int, parts: Sequence[Sample]) -> TrainedSeed | None:
    records = [
        {name.removeprefix(_PREFIX): value for name, value in sample.readings.items() if name.startswith(_PREFIX)}
        for sample in parts
        if sample.usable
    ]
    if not records:
        return None
    columns = ([record[name] for record in records] for name in ("episodes", "samples", "training_s", "reward"))
    peaks = [sample.readings["peak_rss_bytes"] for sample in parts if "peak_rss_bytes" in sample.readings]
    failure = parts[-1].failure
    problem = f"{parts[-1].status}: {failure.message}" if failure is not None else ""
    if not problem and "final_reward" not in records[-1]:
        problem = "not finished"
    curve = Curve(*(tuple(column) for column in columns))
    return TrainedSeed(iteration, curve, records[-1], max(peaks, default=None), problem)


@dataclass(frozen=True, slots=True)
class PairOfArms:
    """Two algorithms by their episodes to the target. ``p_value`` is corrected for the number of pairs (Holm)."""

    first: str
    second: str
    log_rank_p: float | None
    gehan_p: float | None
    adjusted_p: float | None

    @property
    def verdict(self) -> str:
        if self.adjusted_p is None:
            return "nobody reached the target"
        return "different" if self.adjusted_p < ALPHA else "not told apart"


def compare_times(arms: Sequence[TrainedArm]) -> list[PairOfArms]:
    """Every pair by the log-rank test, with Gehan's beside it: censored times are never averaged."""
    rows: list[tuple[str, str, float | None, float | None]] = []
    for one, other in combinations(arms, 2):
        if not one.seeds or not other.seeds:
            continue
        plain = log_rank(one.to_target(), other.to_target())
        gehan = log_rank(one.to_target(), other.to_target(), weight="gehan")
        rows.append(
            (one.name, other.name, None if plain is None else plain.p_value, None if gehan is None else gehan.p_value)
        )
    adjusted = _holm([row[2] for row in rows])
    return [PairOfArms(*row, adjusted_p=p) for row, p in zip(rows, adjusted, strict=True)]


def _holm(p_values: Sequence[float | None]) -> list[float | None]:
    known = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, i) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - rank) * p))
        corrected[i] = highest
    return corrected


def show_times(values: Sequence[CensoredValue]) -> str:
    """The median with its interval, ``> N`` where half of the seeds never got there; and how many did."""
    if not values:
        return "-"
    found = median_time(values)
    reached = sum(value.reached for value in values)
    watched = max(value.value for value in values)
    median = f"> {watched:g}" if found.median is None else f"{found.median:g}"
    low = f"> {watched:g}" if found.low is None else f"{found.low:g}"
    high = f"> {watched:g}" if found.high is None else f"{found.high:g}"
    interval = "" if found.median is None and found.low is None else f" [{low}, {high}]"
    return f"{median}{interval} ({reached} of {len(values)})"
