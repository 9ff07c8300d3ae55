"""What a load run says: every scenario read, one resilience score, the limits found, and what to do about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

from agentdyno.findings.figures.histograms import merged, quantile
from agentdyno.findings.stress.judge_advice import recommendations
from agentdyno.findings.stress.judge_client import client_remedy
from agentdyno.findings.stress.judge_course import Course, Reader, Reading
from agentdyno.findings.stress.judge_levels import CONCURRENCY, SIZE, axis_of
from agentdyno.findings.stress.judge_recovery import read_faults, read_spike
from agentdyno.findings.stress.judge_searches import (
    read_concurrency,
    read_high_load,
    read_limit,
    read_memory,
    read_rate_limit,
    read_size,
)
from agentdyno.findings.stress.judge_soak import read_custom, read_soak
from agentdyno.findings.stress.judge_steps import StepOutcome, split_steps
from agentdyno.findings.stress.model import BreakingPoint, CurvePoint, ScenarioReport, StressReport, TimePoint
from agentdyno.findings.stress.words import DESCRIPTIONS, clients_words
from agentdyno.model.codec import from_plain
from agentdyno.model.form import RunWarning
from agentdyno.model.load import Histogram, Objective, SelfCheck, TokenSource, Window
from agentdyno.model.metric import Provenance
from agentdyno.model.result import ArmResult, RunResult

READERS: Mapping[str, Reader] = MappingProxyType(
    {
        "high_load": read_high_load,
        "sustained_load": read_soak,
        "spike_load": read_spike,
        "memory_pressure": read_memory,
        "concurrent_requests": read_concurrency,
        "large_inputs": read_size,
        "rate_limiting": read_rate_limit,
        "failure_recovery": read_faults,
        "find_limit": read_limit,
        "custom": read_custom,
    }
)


def stress_report(result: RunResult) -> StressReport:
    """Of a run of kind ``load``: each arm is a scenario against the target, each sample holds a window. An arm
    without a window is left out."""
    objectives = run_objectives(result)
    scenarios = [scenario_report(arm, windows, objectives) for arm in result.arms if (windows := windows_of(arm))]
    scores = [scenario.score for scenario in scenarios if scenario.score is not None]
    checks = [check for arm in result.arms if (check := self_check_of(arm)) is not None]
    return StressReport(
        next((target_of(arm) for arm in result.arms), ""),
        result.run_id,
        result.finished_at,
        tuple(scenarios),
        sum(scores) / len(scores) if scores else None,
        scaling_limits(scenarios),
        recommendations(scenarios),
        objectives,
        checks[0] if checks else None,
        any(scenario.provenance is Provenance.SIMULATED for scenario in scenarios),
        clients_words([arm.observed for arm in result.arms]),
    )


def run_objectives(result: RunResult) -> tuple[Objective, ...]:
    """The user's objectives, as the run's header keeps them."""
    given = result.spec.entries[0].params.get("slo") if result.spec.entries else None
    return tuple(from_plain(Objective, one) for one in given) if isinstance(given, (list, tuple)) else ()


def windows_of(arm: ArmResult) -> tuple[Window, ...]:
    """The windows that an arm's samples hold, in order."""
    plain = [sample.details["window"] for sample in arm.samples if "window" in sample.details]
    return tuple(sorted((from_plain(Window, one) for one in plain), key=lambda window: window.index))


def self_check_of(arm: ArmResult) -> SelfCheck | None:
    plain = arm.observed.get("self_check")
    return from_plain(SelfCheck, plain) if isinstance(plain, Mapping) and plain else None


def target_of(arm: ArmResult) -> str:
    return arm.agent or str(arm.params.get("target", arm.name))


def scenario_report(arm: ArmResult, windows: Sequence[Window], objectives: tuple[Objective, ...]) -> ScenarioReport:
    """One arm, read."""
    course = Course(arm.experiment, arm.params, split_steps(windows), objectives, self_check_of(arm))
    reading = READERS.get(arm.experiment, read_custom)(course)
    outcomes: dict[str, int] = {}
    for step in course.steps:
        for name, count in step.outcomes.items():
            outcomes[name] = outcomes.get(name, 0) + count
    return ScenarioReport(
        arm.experiment,
        target_of(arm),
        DESCRIPTIONS.get(arm.experiment, ""),
        arm.params,
        reading.broke,
        reading.point,
        reading.limited_by,
        reading.evidence,
        reading.score,
        sum(step.sent for step in course.steps),
        sum(step.asked for step in course.steps),
        sum(step.unsent for step in course.steps),
        sum(step.late for step in course.steps),
        outcomes,
        objectives=_objectives(course, reading),
        headline=headline(reading.main),
        figures=reading.figures,
        curve=tuple(_point(course, step) for step in course.steps if step.asked),
        over_time=tuple(_moment(window) for window in windows),
        phases=phases(windows),
        law=reading.law,
        distributions=distributions(windows),
        client_limited=bool(reading.client_reason),
        client_reason=reading.client_reason,
        closed_loop=any(axis_of(step) in (CONCURRENCY, SIZE) for step in course.steps),
        token_source=_weakest(windows),
        chunks_are_tokens=_one_token_a_chunk(windows),
        statuses=_statuses(windows),
        cached_tokens=_cached(windows),
        provenance=Provenance.SIMULATED if any(window.simulated for window in windows) else Provenance.MEASURED,
        warnings=(*reading.warnings, *_warnings(course, arm)),
    )


def _objectives(course: Course, reading: Reading) -> dict[str, tuple[float | None, bool | None]]:
    """What was seen of each objective in the scenario's main step, and whether it was met."""
    if reading.main is None or not reading.main.asked:
        return {}
    judgement = course.judge(reading.main)
    return {
        name: (seen, None if seen is None or judgement.client else name not in judgement.missed)
        for name, (seen, _) in judgement.values.items()
    }


def _weakest(windows: Sequence[Window]) -> str:
    """The least trustworthy source that a count of tokens comes from."""
    seen = {window.token_source for window in windows if window.token_source is not None}
    return next((source.value for source in reversed(TokenSource) if source in seen), "")


def _cached(windows: Sequence[Window]) -> int | None:
    known = [window.cached_tokens for window in windows if window.cached_tokens is not None]
    return sum(known) if known else None


def _statuses(windows: Sequence[Window]) -> dict[str, int]:
    """Failures by HTTP status, the most frequent first."""
    counts: Counter[str] = Counter()
    for window in windows:
        counts.update(window.statuses)
    return dict(counts.most_common())


def _one_token_a_chunk(windows: Sequence[Window]) -> bool | None:
    known = [window.chunks_are_tokens for window in windows if window.chunks_are_tokens is not None]
    return all(known) if known else None


def distributions(windows: Sequence[Window]) -> dict[str, Histogram]:
    """Of all successes together; what there is none of is left out."""
    found = {
        "latency": merged(window.latency for window in windows),
        "ttft": merged(window.ttft for window in windows),
        "itl": merged(window.itl for window in windows),
    }
    return {name: spread for name, spread in found.items() if spread.count}


def headline(step: StepOutcome | None) -> dict[str, float | None]:
    """The figures that a reader looks for first: rates a second, seconds, a share of 1."""
    if step is None or not step.asked:
        return {}
    return {
        "asked_per_s": step.per_s(step.asked),
        "delivered_per_s": step.per_s(step.sent),
        "throughput_per_s": step.throughput_per_s,
        "goodput_per_s": step.goodput_per_s,
        "error_rate": step.error_rate,
        "latency_p50_s": quantile(step.latency, 0.5),
        "latency_p95_s": quantile(step.latency, 0.95),
        "latency_p99_s": quantile(step.latency, 0.99),
        "ttft_p50_s": quantile(step.ttft, 0.5),
        "ttft_p95_s": quantile(step.ttft, 0.95),
        "ttft_p99_s": quantile(step.ttft, 0.99),
        **_streaming(step),
    }


def _streaming(step: StepOutcome) -> dict[str, float | None]:
    """Of answers that come in pieces; null where there were none."""
    gaps = merged(window.itl for window in step.windows)
    per_token = merged(window.tpot for window in step.windows)
    tokens = [window.output_tokens for window in step.windows if window.output_tokens is not None]
    return {
        "itl_p50_s": quantile(gaps, 0.5),
        "itl_p99_s": quantile(gaps, 0.99),
        "tpot_p50_s": quantile(per_token, 0.5),
        "tokens_per_s": step.per_s(sum(tokens)) if tokens else None,
    }


def _point(course: Course, step: StepOutcome) -> CurvePoint:
    figures, judgement = headline(step), course.judge(step)
    asked = step.per_s(step.asked)
    return CurvePoint(
        step.step,
        asked if step.level is None else step.level,
        asked,
        step.per_s(step.sent),
        step.throughput_per_s,
        figures["goodput_per_s"],
        step.error_rate or 0.0,
        figures["latency_p50_s"],
        figures["latency_p95_s"],
        figures["latency_p99_s"],
        figures["ttft_p50_s"],
        figures["ttft_p95_s"],
        judgement.met,
        bool(judgement.client),
    )


def _moment(window: Window) -> TimePoint:
    length = window.duration_s if window.duration_s > 0.0 else 1.0
    return TimePoint(
        window.starts_s,
        window.duration_s,
        window.step,
        window.stage,
        window.asked / length,
        window.completed / length,
        1.0 - window.ok / window.asked if window.asked else None,
        quantile(window.latency, 0.5),
        quantile(window.latency, 0.99),
        quantile(window.ttft, 0.5),
        window.in_flight,
        quantile(window.lag, 0.99),
        window.target_rss_bytes,
    )


def phases(windows: Sequence[Window]) -> tuple[tuple[str, float, float], ...]:
    """(label, from, to) in seconds of every stretch of windows of one stage."""
    found = []
    for (_, stage), group in groupby(windows, key=lambda window: (window.step, window.stage)):
        inside = list(group)
        found.append((stage, inside[0].starts_s, inside[-1].starts_s + inside[-1].duration_s))
    return tuple(found)


def _warnings(course: Course, arm: ArmResult) -> Iterable[RunWarning]:
    limited = [step.step for step in course.steps if course.judge(step).client]
    if limited:
        first = next(step for step in course.steps if step.step == limited[0])
        named = any(window.clients for window in first.windows)
        which = f" ({course.judge(first).client})" if named else ""
        shown = ", ".join(limited[:4]) + (f" and {len(limited) - 4} more" if len(limited) > 4 else "")
        yield RunWarning(
            "client-limited",
            f"{arm.experiment}: the client was the limit in {shown}{which}: no property of the target",
            client_remedy(first.windows),
            arm.arm_id,
        )


def scaling_limits(scenarios: Sequence[ScenarioReport]) -> dict[str, BreakingPoint]:
    """The breaking points by axis; of several on one axis the one with the narrowest interval. A rate limit, which
    is a decision and no capacity, is kept apart as ``rate_limit``."""
    found: dict[str, BreakingPoint] = {}
    for scenario in scenarios:
        point = scenario.breaking_point
        if point is None:
            continue
        axis = "rate_limit" if scenario.scenario == "rate_limiting" and not scenario.broke else point.axis
        if axis not in found or _width(point) < _width(found[axis]):
            found[axis] = point
    return found


def _width(point: BreakingPoint) -> float:
    if point.interval is None or point.value <= 0.0:
        return float("inf")
    return (point.interval[1] - point.interval[0]) / point.value
