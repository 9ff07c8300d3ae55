"""What to do about what a load run found. Every piece of advice rests on figures that it names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentdyno.findings.stress.model import LimitedBy, Recommendation, ScenarioReport
from agentdyno.findings.stress.words import level_words, share_words
from agentdyno.model.metric import format_value

_LIMITS = {
    LimitedBy.LATENCY: "Add capacity or shorten the work of a request: latency, not failure, ends the rise.",
    LimitedBy.ERRORS: "Find out why requests fail under load before anything else.",
    LimitedBy.THROUGHPUT: "Add capacity, or refuse early what is above it: a queue that only grows serves nobody.",
    LimitedBy.RATE_LIMIT: "Ask for a higher rate limit, or keep the clients below it.",
    LimitedBy.CONNECTIONS: "Allow more connections: all were busy while answers took no longer than usual.",
    LimitedBy.MEMORY: "Give the process more memory, or bound what it keeps per request.",
    LimitedBy.SIZE: "Cut or refuse inputs above this length before they are sent.",
}
_FAULTS = {
    "half_open": "give every call a timeout, and drop the connection when it strikes",
    "refuse": "connect again with a growing pause",
    "kill": "start a new process as soon as one is gone, and repeat what was in it",
    "freeze": "give every call a timeout, and replace a process that does not answer",
    "reset": "drop broken connections from the pool",
}
_WELL = 90.0
_CONTENDED = 0.05
_FALLEN = 0.9


def recommendations(scenarios: Sequence[ScenarioReport]) -> tuple[Recommendation, ...]:
    """The most urgent first."""
    order = {"high": 0, "medium": 1, "low": 2}
    found = [*_client(scenarios), *(advice for scenario in scenarios for advice in _of(scenario))]
    return tuple(sorted(found, key=lambda advice: order.get(advice.priority, 1)))


def _client(scenarios: Sequence[ScenarioReport]) -> Iterator[Recommendation]:
    """One piece of advice, however many scenarios the client spoilt."""
    limited = [scenario for scenario in scenarios if scenario.client_limited]
    if not limited:
        return
    first, others = limited[0], ", ".join(scenario.scenario for scenario in limited[1:])
    told = (warning.remedy for warning in first.warnings if warning.code == "client-limited")
    yield Recommendation(
        next(told, None) or "Measure again on a machine with free cores.",
        f"{first.scenario}: the client was the limit: {first.client_reason}."
        + (f" So it was in {others}." if others else ""),
        first.scenario,
        "high",
    )


def _of(scenario: ScenarioReport) -> Iterator[Recommendation]:
    name = scenario.scenario
    if scenario.broke and scenario.limited_by in _LIMITS and name != "failure_recovery":
        priority = "high" if scenario.score is None or scenario.score < _WELL else "medium"
        yield Recommendation(_LIMITS[scenario.limited_by], f"{name}: {scenario.evidence}", name, priority)
    yield from _soak(scenario)
    yield from _recovery(scenario)
    yield from _scaling(scenario)
    yield from _refusals(scenario)


def _soak(scenario: ScenarioReport) -> Iterator[Recommendation]:
    figures, name = scenario.figures, scenario.scenario
    slope, low = figures.get("rss_slope_bytes_per_s"), figures.get("rss_slope_low_bytes_per_s")
    if figures.get("leak") and slope is not None:
        at_least = "" if low is None else f" (at least {format_value(low * 3600.0, 'bytes')})"
        yield Recommendation(
            "Look for a memory leak: what is kept after a request has been answered?",
            f"{name}: memory grows by {format_value(slope * 3600.0, 'bytes')} an hour{at_least}.",
            name,
            "high",
        )
    growth = figures.get("latency_drift_share")
    if figures.get("drift") and growth is not None:
        yield Recommendation(
            "Look for work that grows with time: caches without bound, logs, fragmented memory.",
            f"{name}: latency p50 grew by {share_words(growth)} over the run (p = {figures['latency_drift_p']:.2g}).",
            name,
            "medium",
        )


def _recovery(scenario: ScenarioReport) -> Iterator[Recommendation]:
    figures, name = scenario.figures, scenario.scenario
    if name == "spike_load" and not scenario.client_limited:
        took, life = figures.get("recovery_time_s"), figures.get("recovery_half_life_s")
        if scenario.score is not None and scenario.score < _WELL:
            back = "it is not back to usual" if took is None else f"it takes {format_value(took, 's')} to be back"
            yield Recommendation(
                "Bound the queue, so that a spike is refused in part instead of delaying all that comes after it.",
                f"{name}: {back}; half-way back after {format_value(life, 's')}.",
                name,
                "high" if took is None else "medium",
            )
    if name == "failure_recovery" and not scenario.client_limited:
        for fault, took in figures.items():
            if not fault.startswith("recovery_") or fault == "recovery_time_s" or took is not None:
                continue
            kind = fault.removeprefix("recovery_").removesuffix("_s")
            how = _FAULTS.get(kind, "see what is still broken once the fault is gone")
            yield Recommendation(
                f"Make it recover from {kind}: {how}.",
                f"{name}: errors or latency were not back to usual after the fault {kind}.",
                name,
                "high",
            )


def _scaling(scenario: ScenarioReport) -> Iterator[Recommendation]:
    law, name = scenario.law, scenario.scenario
    if law is None:
        return
    if law.peak is not None and _falls(scenario):
        yield Recommendation(
            f"Keep at most {max(round(law.peak), 1)} requests in flight: beyond that throughput falls.",
            f"{name}: coherency {law.coherency:.3g}, contention {law.contention:.3g}; "
            f"the peak is at {level_words('concurrency', law.peak)}.",
            name,
        )
    elif law.contention > _CONTENDED:
        yield Recommendation(
            "Find what requests wait for one after the other (a lock, one worker, one connection).",
            f"{name}: {share_words(law.contention)} of the work is serial, so that concurrency gains at most "
            f"{1.0 / law.contention:.1f} times.",
            name,
            "low",
        )


def _falls(scenario: ScenarioReport) -> bool:
    """Whether the throughput was seen to fall at the highest level: the law may say so where it only stays."""
    if not scenario.curve:
        return False
    highest = max(scenario.curve, key=lambda point: point.level)
    return highest.throughput_per_s < _FALLEN * max(point.throughput_per_s for point in scenario.curve)


def _refusals(scenario: ScenarioReport) -> Iterator[Recommendation]:
    kept = scenario.figures.get("retry_after_kept_rate")
    limit = scenario.figures.get("limit_per_s")
    if scenario.scenario != "rate_limiting" or limit is None:
        return
    if kept is not None and kept < 0.9:
        yield Recommendation(
            "Send a Retry-After that holds: who waits as told must be served.",
            f"rate_limiting: waiting as told avoids only {share_words(kept)} of the refusals.",
            scenario.scenario,
        )
    yield Recommendation(
        f"Keep clients below {level_words('rate_limit', limit)}, or let them wait as Retry-After says.",
        f"rate_limiting: {scenario.evidence}",
        scenario.scenario,
        "low",
    )
