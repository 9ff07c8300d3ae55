"""What rows of two languages say, in sentences."""

from __future__ import annotations

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
    name, gap = NAMES[row.metric], row.difference
    if row.verdict is None:
        return f"{name[0].upper()}{name[1:]} is not judged, for want of runs: {between(row.metric, gap)}."
    if not row.told_apart:
        return f"In {name} Python and Rust cannot be told apart ({row.verdict}): {between(row.metric, gap)}."
    ahead = "Rust" if row.verdict == "better" else "Python"
    said = f"{ahead} is ahead in {name}: {between(row.metric, gap)}."
    if row.metric in OF_THE_CLIENT:
        return f"{said} No server has a part in it."
    if row.client is None:
        return said
    return f"{said} {_whose(row, row.client)}"


def _whose(row: LanguageRow, client: Difference) -> str:
    if not client.told_apart:
        own = between(row.metric, client)
        return (
            f"On a server without latency the two cannot be told apart ({own}): the difference is not the client's."
        )
    part = client.value / row.difference.value if row.difference.value else 0.0
    of = "all of it" if part >= 1 else f"{part:.0%} of it"
    return f"Without latency it is {between(row.metric, client)}: {of} is the client's."


def between(metric: str, gap: Difference) -> str:
    """A difference with its interval, in the unit of its figure."""
    value, low, high = (_number(metric, number) for number in (gap.value, gap.low, gap.high))
    return f"Python less Rust is {value} [{low}, {high}]{unit(metric)}"


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
    return f"{value * scale:.4g}"
