"""What rows of two languages say, in sentences."""

from __future__ import annotations

from agentdyno import Verdict
from agentdyno_workloads.polyglot.judging import OF_THE_CLIENT, Difference, LanguageRow

NAMES = {
    "start_s": "start-up",
    "ttft_s": "time to first token",
    "case_s": "time of a case",
    "tokens_per_s": "tokens a second",
    "cpu_per_token_s": "CPU a token",
    "peak_rss_bytes": "peak memory",
    "speedup": "speed-up",
    "efficiency": "efficiency",
}


def sentence(row: LanguageRow) -> str:
    """Whether the languages can be told apart in this figure, and whose the difference is."""
    name, gap = NAMES[row.metric], f"Python less Rust is {between(row.metric, row.difference)}"
    if row.verdict is None:
        said = f"{name[0].upper()}{name[1:]} is not judged, for want of runs: {gap}."
    elif row.verdict is Verdict.INCONCLUSIVE and row.difference.told_apart:
        said = f"{name[0].upper()}{name[1:]} is undecided after so few runs: {gap}."
    elif not row.told_apart:
        said = f"In {name} Python and Rust cannot be told apart ({row.verdict}): {gap}."
    else:
        said = f"{'Rust' if row.verdict is Verdict.BETTER else 'Python'} is ahead in {name}: {gap}."
    return f"{said} {_whose(row)}".rstrip()


def _whose(row: LanguageRow) -> str:
    """What part of the difference is the client's, as a server without latency shows it."""
    if row.metric == "cpu_per_token_s" and row.client is not None:
        own = between(row.metric, row.client)
        return f"All of it is the client's. Where tokens come without latency, many at a time, it is {own}."
    if row.metric in OF_THE_CLIENT:
        return "All of it is the client's."
    if row.client is None:
        return ""
    own = between(row.metric, row.client)
    if not row.client.told_apart:
        return f"Without latency it is {own}: none of it can be shown to be the client's."
    if not row.told_apart:
        return (
            f"The client's part, measured without latency, is {own}: {row.client.value / row.python:.1%} of the time."
        )
    part = row.client.value / row.difference.value if row.difference.value else 0.0
    of = "all of it" if part >= 1 else f"{part:.0%} of it"
    return f"Without latency it is {own}: {of} is the client's."


def between(metric: str, gap: Difference) -> str:
    """A difference with its interval, in the unit of its figure."""
    value, low, high = (_number(metric, number) for number in (gap.value, gap.low, gap.high))
    return f"{value} [{low}, {high}]{unit(metric)}"


def shown(metric: str, value: float) -> str:
    """A figure with its unit."""
    return _number(metric, value) + unit(metric)


def unit(metric: str) -> str:
    if metric == "cpu_per_token_s":
        return " µs"
    if metric.endswith("_per_s"):
        return " /s"
    return " ms" if metric.endswith("_s") else " MiB" if metric.endswith("_bytes") else ""


def _number(metric: str, value: float) -> str:
    scale = {" µs": 1e6, " ms": 1e3, " MiB": 2.0**-20}.get(unit(metric), 1.0)
    return f"{value * scale:,.0f}" if abs(value * scale) >= 10_000 else f"{value * scale:.4g}"
