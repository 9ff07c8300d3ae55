"""Python against Rust: the bench's own verdicts, and what part of each difference is the client's.

A model's server is slower than any client. So a difference that is measured on a model may be the model's own noise;
one that is measured on a server without latency is the client's. Both are taken in the same run and programs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from agentdyno import NotComparable, RunResult, Verdict, compare
from agentdyno_workloads.polyglot.programs import PYTHON, RUST
from agentdyno_workloads.polyglot.stand import ZERO

COMPARED = (
    "start_s",
    "ttft_s",
    "case_s",
    "tokens_per_s",
    "cpu_per_token_s",
    "peak_rss_bytes",
    "speedup",
    "efficiency",
)
"""Figures of the table, where a run has them."""
ADDITIVE = ("start_s", "ttft_s", "case_s", "cpu_per_token_s", "peak_rss_bytes")
"""Those of which a difference on a server without latency is a part of the difference on a model."""
OF_THE_CLIENT = ("start_s", "cpu_per_token_s", "peak_rss_bytes")
"""What the client's process alone uses, whatever its server does."""
DRAWN = 2000
LEVEL = 0.95
PREFIX = "result."


@dataclass(frozen=True, slots=True)
class Difference:
    """Python's median less Rust's, with its 95 % bootstrap interval."""

    value: float
    low: float
    high: float

    @property
    def told_apart(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class LanguageRow:
    """One figure in one setting: medians of both, Rust over Python with the judge's interval and verdict (of Rust),
    the difference, and the same difference on a server without latency."""

    phase: str
    setting: str
    metric: str
    python: float
    rust: float
    ratio: float | None
    interval: tuple[float, float] | None
    verdict: Verdict | None
    difference: Difference
    client: Difference | None

    @property
    def told_apart(self) -> bool:
        return self.verdict in (Verdict.BETTER, Verdict.WORSE)


@dataclass(frozen=True, slots=True)
class LanguageValues:
    """One arm as far as languages are compared: everything but the language makes its setting."""

    arm: int
    language: str
    phase: str
    setting: Mapping[str, object]
    values: Mapping[str, tuple[float, ...]]

    @property
    def endpoints(self) -> str:
        return str(self.setting.get("endpoints") or self.setting.get("endpoint") or "")

    @property
    def is_zero(self) -> bool:
        return set(self.endpoints.split(",")) == {ZERO}

    @property
    def label(self) -> str:
        hidden = ("programs", "documents", "cases", "slots")
        shown = {
            name: value for name, value in self.setting.items() if value not in (None, "") and name not in hidden
        }
        return ", ".join(f"{name}={value}" for name, value in shown.items())


def arm_values(result: RunResult) -> list[LanguageValues]:
    """The arms of a run with the figures of their usable samples."""
    found = []
    for number, arm in enumerate(result.arms):
        values: dict[str, list[float]] = {}
        for sample in arm.samples:
            if sample.usable:
                for name, value in sample.readings.items():
                    if name.startswith(PREFIX):
                        values.setdefault(name.removeprefix(PREFIX), []).append(value)
        setting = {name: value for name, value in arm.params.items() if name != "language"}
        kept = {name: tuple(items) for name, items in values.items()}
        found.append(LanguageValues(number, str(arm.params.get("language", "")), arm.entry, setting, kept))
    return found


def language_rows(result: RunResult) -> list[LanguageRow]:
    """Every pair of arms that differ in their language alone, figure by figure."""
    arms = arm_values(result)
    rows = []
    for python in arms:
        rust = _twin(python, arms)
        if python.language != PYTHON or rust is None:
            continue
        judged = _judged(result, python.arm, rust.arm)
        zero = _zero_pair(python, arms)
        rows += [
            _row(metric, (python, rust), zero, judged)
            for metric in COMPARED
            if python.values.get(metric) and rust.values.get(metric)
        ]
    return rows


def difference(python: Sequence[float], rust: Sequence[float]) -> Difference:
    """Of the medians; drawn anew with a fixed seed, so that one file always says the same."""
    rng = np.random.default_rng(42)
    own, other = np.asarray(python, dtype=float), np.asarray(rust, dtype=float)
    drawn = np.median(rng.choice(own, (DRAWN, len(own))), axis=1)
    drawn = drawn - np.median(rng.choice(other, (DRAWN, len(other))), axis=1)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Difference(float(np.median(own) - np.median(other)), float(low), float(high))


def _row(
    metric: str,
    pair: tuple[LanguageValues, LanguageValues],
    zero: tuple[LanguageValues, LanguageValues] | None,
    judged: Mapping[str, tuple[float | None, tuple[float, float] | None, Verdict | None]],
) -> LanguageRow:
    python, rust = pair
    own, other = python.values[metric], rust.values[metric]
    client = None
    if zero is not None and metric in ADDITIVE and zero[0].values.get(metric) and zero[1].values.get(metric):
        client = difference(zero[0].values[metric], zero[1].values[metric])
    ratio, interval, verdict = judged.get(metric, (None, None, None))
    medians = float(np.median(own)), float(np.median(other))
    return LanguageRow(
        python.phase, python.label, metric, *medians, ratio, interval, verdict, difference(own, other), client
    )


def _twin(python: LanguageValues, arms: Sequence[LanguageValues]) -> LanguageValues | None:
    """The same in Rust; runtimes are those of their language, so they are no part of the comparison."""
    wanted = _without_runtime(python)
    return next((arm for arm in arms if arm.language == RUST and _without_runtime(arm) == wanted), None)


def _zero_pair(
    python: LanguageValues, arms: Sequence[LanguageValues]
) -> tuple[LanguageValues, LanguageValues] | None:
    """Both languages on a server without latency, everything else alike; ``None`` where the arm is such a one."""
    if python.is_zero:
        return None
    wanted = _elsewhere(python)
    for arm in arms:
        twin = _twin(arm, arms)
        if arm.language == PYTHON and arm.is_zero and _elsewhere(arm) == wanted and twin is not None:
            return arm, twin
    return None


def _without_runtime(arm: LanguageValues) -> tuple[str, str]:
    return arm.phase, repr(sorted((name, value) for name, value in arm.setting.items() if name != "runtime"))


def _elsewhere(arm: LanguageValues) -> str:
    left_out = ("runtime", "endpoint", "endpoints")
    return repr(sorted((name, value) for name, value in arm.setting.items() if name not in left_out))


def _judged(
    result: RunResult, python: int, rust: int
) -> dict[str, tuple[float | None, tuple[float, float] | None, Verdict | None]]:
    """What the bench's judge says of Rust against Python."""
    sides = [replace(result, arms=(result.arms[number],)) for number in (python, rust)]
    try:
        found = compare(*sides)
    except NotComparable:
        return {}
    rows = [row for arm in found.arms for row in arm.metrics if row.metric.name.startswith(PREFIX)]
    return {row.metric.name.removeprefix(PREFIX): (row.ratio, _finite(row.interval), row.verdict) for row in rows}


def _finite(interval: tuple[float, float] | None) -> tuple[float, float] | None:
    """An interval without an end says nothing that can be shown."""
    return interval if interval is not None and all(map(math.isfinite, interval)) else None
