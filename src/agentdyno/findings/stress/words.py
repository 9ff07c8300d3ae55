"""The scenarios in words, and figures as a reader meets them in a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentdyno.findings.stress.judge_steps import SHORTFALL, StepJudgement
from agentdyno.findings.stress.model import ScenarioReport
from agentdyno.model.load import Objective
from agentdyno.model.metric import format_value

DESCRIPTIONS = {
    "high_load": "Ten times the usual load. Where that is too much, the rate at which it breaks is looked for.",
    "sustained_load": "The usual load for a long time. Memory that grows and latency that drifts are tested for.",
    "spike_load": "Ten times the usual load at once, for a short time; then the time until latency is back.",
    "memory_pressure": "The usual load while the target's process is left less and less memory.",
    "concurrent_requests": "1, 2, 4, 8… requests in flight (closed loop) until the objectives are missed.",
    "large_inputs": "Inputs of twice the length in every step (closed loop) until one fails, then bisection.",
    "rate_limiting": "The rate at which the target begins to refuse, then twice that, without and with Retry-After.",
    "failure_recovery": "Each fault for some seconds under the usual load, and the time until all is well after it.",
    "find_limit": "The highest rate (or number in flight) that still meets the objectives.",
    "custom": "Load of one's own shape.",
}


def clients_words(observed: Sequence[Mapping[str, object]]) -> str:
    """``4 clients on 2 machines (a, b); their clocks are known to 52 µs``, from what was seen of each scenario."""
    told = [one for seen in observed for one in _rows(seen.get("clients"))]
    if not told:
        return ""
    count = len({str(one.get("client")) for one in told})
    hosts = list(dict.fromkeys(str(one.get("host")) for one in told))
    errors_s = [one.get("clock_error_s") for one in told]
    known_s = [error_s for error_s in errors_s if isinstance(error_s, float)]
    clocks = f"known to {format_value(max(known_s), 's')}" if len(known_s) == len(errors_s) else "not all known"
    machines = "1 machine" if len(hosts) == 1 else f"{len(hosts)} machines"
    return f"{count} client{'' if count == 1 else 's'} on {machines} ({', '.join(hosts)}); their clocks are {clocks}"


def _rows(plain: object) -> list[Mapping[str, object]]:
    return [one for one in plain if isinstance(one, Mapping)] if isinstance(plain, Sequence) else []


def level_words(axis: str, level: float) -> str:
    """``240 requests/s``, ``32 requests in flight``, ``4096 words``, ``512 MiB``."""
    if axis == "memory":
        return format_value(level, "bytes")
    units = {"rate": "requests/s", "rate_limit": "requests/s", "concurrency": "requests in flight", "size": "words"}
    return f"{level:,.4g} {units.get(axis, '')}".rstrip() if level < 10_000 else f"{level:,.0f} {units.get(axis, '')}"


def missed_words(judgement: StepJudgement) -> str:
    """What was missed, with its figures: ``latency_p99 was 1.2 s (limit 250 ms)``."""
    parts = []
    for name in judgement.missed:
        seen, limit = judgement.values.get(name, (None, 0.0))
        if name == SHORTFALL and "error_rate" in judgement.missed:
            continue
        if name == SHORTFALL:
            parts.append(f"{share_words(seen)} of the asked rate was not kept up with (limit {limit:.0%})")
        elif name == "rate_limited":
            parts.append(f"{share_words(seen)} were refused by a rate limit")
        elif name == "error_rate":
            parts.append(f"{share_words(seen)} failed (limit {limit:.3g})")
        else:
            parts.append(f"{name} was {format_value(seen, 's')} (limit {format_value(limit, 's')})")
    return "; ".join(parts)


def objectives_words(item: ScenarioReport, objectives: Sequence[Objective]) -> str:
    """Whether the objectives were met, by how much, and what limited it: one line; empty where nothing tells."""
    parts = []
    for objective in objectives:
        seen, met = item.objectives.get(objective.name, (None, None))
        if seen is None:
            continue
        shown, room = (_amount(objective, value) for value in (seen, abs(objective.limit - seen)))
        how = "not judged" if met is None else f"met with {room} to spare" if met else f"missed by {room}"
        parts.append(f"{objective.name} {how} ({shown})")
    if not parts:
        return ""
    limited = item.limited_by.value.replace("_", " ")
    return f"{item.scenario}: {'; '.join(parts)}; limited by {limited}."


def _amount(objective: Objective, value: float) -> str:
    return share_words(value) if objective.metric == "error_rate" else format_value(value, "s")


def share_words(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"
