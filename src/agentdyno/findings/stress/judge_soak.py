"""Reading load that does not search: a soak, with its leak and drift, and load of the user's own shape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from agentdyno.findings.figures.histograms import quantile
from agentdyno.findings.stress.judge_course import Course, Reading, blame, client_reading, served, weighted
from agentdyno.findings.stress.judge_levels import Bracket, breaking_point, judge_step
from agentdyno.findings.stress.judge_steps import StepOutcome, merge_windows
from agentdyno.findings.stress.model import LimitedBy
from agentdyno.findings.stress.words import level_words, missed_words
from agentdyno.model.form import RunWarning
from agentdyno.model.load import Window
from agentdyno.model.metric import format_value
from agentdyno.stats.series.trend import Trend, theil_sen

WARM_SHARE = 0.2
"""The first fifth of a soak is not part of its trends: caches fill, pools grow."""
SIGNIFICANT = 0.01
LEAK_SHARE, LEAK_BYTES = 0.01, 1024.0**2
DRIFT_SHARE = 0.10
SLICES = 10


def read_soak(course: Course) -> Reading:
    """Score: 0.4 what succeeded, 0.3 the share of ten slices of time that met the objectives, 0.15 no drift of
    latency, 0.15 no leak (left out where the memory is not known)."""
    step = next(iter(course.role("soak")), None)
    if step is None or not step.asked:
        return Reading(False, LimitedBy.NOTHING, "Nothing was measured.", None, step)
    slices = _slices(step.windows)
    whole = judge_step(step, course.objectives, slices[0], course.self_check)
    figures, leak, drift = trends(step.windows)
    if whole.client:
        return client_reading(step, whole.client, **figures)
    told = [judge_step(one, course.objectives, slices[0], course.self_check).met for one in slices]
    good = [met for met in told if met is not None]
    score = weighted(
        [
            (0.4, served(step)),
            (0.3, sum(good) / len(good) if good else None),
            (0.15, 1.0 - drift),
            (0.15, None if leak is None else 1.0 - leak),
        ]
    )
    broke = whole.met is False
    point = None
    held = f"{level_words('rate', step.level or 0.0)} for {step.duration_s:g} s"
    evidence = f"{held}: {missed_words(whole)}." if broke else f"It stood {held}."
    if broke:
        point = breaking_point("rate", Bracket(None, step.level, None, whole))
    if leak:
        slope = figures["rss_slope_bytes_per_s"]
        evidence += f" Its memory grows by {format_value(None if slope is None else slope * 3600, 'bytes')} an hour."
    if drift:
        evidence += f" Its latency p50 grew by {figures['latency_drift_share'] or 0.0:.0%}."
    limited = blame(course, step, whole) if broke else LimitedBy.NOTHING
    return Reading(broke, limited, evidence, score, step, point, figures, warnings=_warnings(step.windows))


def trends(windows: Sequence[Window]) -> tuple[dict[str, float | None], float | None, float]:
    """Figures of memory and latency over time; the leak and the drift as shares of where they began (0 where there is
    none that is significant). The leak is ``None`` where the memory is not known."""
    kept = windows[math.ceil(len(windows) * WARM_SHARE) :]
    figures: dict[str, float | None] = {}
    leak: float | None = None
    memory = [(window.starts_s, window.target_rss_bytes) for window in kept if window.target_rss_bytes is not None]
    found = _trend(memory)
    if found is not None:
        passed = memory[-1][0] - memory[0][0]
        figures |= _figures("rss_slope", "_bytes_per_s", found)
        figures["rss_growth_bytes"] = found.slope * passed
        start = max(memory[0][1], 1.0)
        is_leak = _rises(found) and found.slope * passed > max(LEAK_SHARE * start, LEAK_BYTES)
        leak = min(found.slope * passed / start, 1.0) if is_leak else 0.0
        figures["leak"] = float(bool(leak))
    drift = 0.0
    for name, q in (("latency", 0.5), ("latency_p99", 0.99)):
        seen = [(one.starts_s, value) for one in kept if (value := quantile(one.latency, q)) is not None]
        line = _trend(seen)
        if line is None:
            continue
        passed = seen[-1][0] - seen[0][0]
        start = line.intercept + line.slope * seen[0][0]
        growth = line.slope * passed / start if start > 0.0 else None
        figures |= _figures(f"{name}_slope", "_s_per_s", line)
        figures |= {f"{name}_drift_share": growth, f"{name}_drift_p": line.p_value}
        if q == 0.5 and growth is not None and growth > DRIFT_SHARE and _rises(line):
            drift = min(growth, 1.0)
    figures["drift"] = float(drift > 0.0)
    return figures, leak, drift


def _trend(points: Sequence[tuple[float, float]]) -> Trend | None:
    return theil_sen([value for _, value in points], [at for at, _ in points]) if len(points) > 1 else None


def _rises(line: Trend) -> bool:
    return line.is_growing and line.p_value < SIGNIFICANT


def _figures(name: str, unit: str, line: Trend) -> dict[str, float | None]:
    ends = [value if math.isfinite(value) else None for value in (line.interval.low, line.interval.high)]
    return {f"{name}{unit}": line.slope, f"{name}_low{unit}": ends[0], f"{name}_high{unit}": ends[1]}


def _slices(windows: Sequence[Window]) -> list[StepOutcome]:
    """Up to ten stretches of equally many windows, one after the other."""
    count = min(SLICES, len(windows))
    edges = [len(windows) * number // count for number in range(count + 1)]
    return [merge_windows(windows[low:high]) for low, high in pairwise(edges)]


def _warnings(windows: Sequence[Window]) -> tuple[RunWarning, ...]:
    if any(window.target_rss_bytes is not None for window in windows):
        return ()
    return (
        RunWarning(
            "memory-unknown",
            "the target's memory is not known, so that nothing is said about a leak",
            "Run the target on this machine, as an agent or behind an address whose process can be seen.",
        ),
    )


def read_custom(course: Course) -> Reading:
    """Load of the user's own shape is judged as a whole; it has no score."""
    step = next(iter(course.steps), None)
    if step is None or not step.asked:
        return Reading(False, LimitedBy.NOTHING, "Nothing was measured.", None, step)
    judgement = judge_step(step, course.objectives, None, course.self_check)
    if judgement.client:
        return client_reading(step, judgement.client)
    broke = judgement.met is False
    point = None
    if broke and len({window.stage for window in step.windows}) == 1 and step.level is not None:
        point = breaking_point("rate", Bracket(None, step.level, None, judgement))
    evidence = f"{missed_words(judgement)}." if broke else "It met the objectives."
    limited = blame(course, step, judgement) if broke else LimitedBy.NOTHING
    return Reading(broke, limited, evidence, None, step, point)
