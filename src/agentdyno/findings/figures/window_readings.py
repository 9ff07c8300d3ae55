"""A window of load as readings: named numbers like those of any other sample."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from agentdyno.findings.figures.histograms import quantile
from agentdyno.model.load import Histogram, Window
from agentdyno.model.metric import Direction, Metric, Provenance

_QUANTILES: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("latency", (50, 95, 99)),
    ("service", (50, 99)),
    ("ttft", (50, 95, 99)),
    ("queued_ttft", (50, 99)),
    ("itl", (50, 99)),
    ("tpot", (50,)),
    ("lag", (99,)),
    ("unread", (99,)),
)
_OWN = ("lag", "unread")


def window_readings(window: Window) -> dict[str, float]:
    """The readings of one window: seconds, requests or tokens a second, shares of 1, bytes. Unknown is left out.

    Rates are per second of the window; ``delivered_per_s`` counts what was sent, ``throughput_per_s`` the successes
    that ended in it, ``goodput_per_s`` those due in it that met every objective. ``error_rate`` is of what was asked:
    what failed, and what was never sent.
    """
    readings: dict[str, float] = {}
    if window.duration_s > 0.0:
        readings["asked_per_s"] = window.asked / window.duration_s
        readings["delivered_per_s"] = window.sent / window.duration_s
        readings["throughput_per_s"] = window.completed / window.duration_s
        if window.slo_met is not None:
            readings["goodput_per_s"] = window.slo_met / window.duration_s
        if window.output_tokens is not None:
            readings["tokens_per_s"] = window.output_tokens / window.duration_s
    if window.asked:
        readings["error_rate"] = (window.failed + window.unsent) / window.asked
    for name, percents in _QUANTILES:
        times: Histogram = getattr(window, name)
        for percent in percents:
            value = quantile(times, percent / 100.0)
            if value is not None:
                readings[f"{name}_p{percent}_s"] = value
    readings |= {"late": window.late, "unsent": window.unsent, "in_flight": window.in_flight}
    for name in ("client_cpu", "target_cpu", "target_rss_bytes"):
        seen: float | None = getattr(window, name)
        if seen is not None:
            readings[name] = seen
    return readings


def _metrics() -> tuple[Metric, ...]:
    times = tuple(
        Metric(f"{name}_p{percent}_s", "s", Direction.UNKNOWN if name in _OWN else Direction.LOWER)
        for name, percents in _QUANTILES
        for percent in percents
    )
    return (
        Metric("asked_per_s", "/s", machine_dependent=False),
        Metric("delivered_per_s", "/s", Direction.UNKNOWN, Provenance.DERIVED),
        Metric("throughput_per_s", "/s", Direction.HIGHER, Provenance.DERIVED),
        Metric("goodput_per_s", "/s", Direction.HIGHER, Provenance.DERIVED),
        Metric("tokens_per_s", "/s", Direction.HIGHER),
        Metric("error_rate", "ratio", Direction.LOWER),
        *times,
        Metric("late"),
        Metric("unsent", "", Direction.LOWER),
        Metric("in_flight"),
        Metric("client_cpu", "ratio"),
        Metric("target_cpu", "ratio"),
        Metric("target_rss_bytes", "bytes"),
    )


LOAD_METRICS: Mapping[str, Metric] = MappingProxyType({metric.name: metric for metric in _metrics()})
"""Unit and direction of every reading. The client's own part (``lag``, ``unread``, ``late``, ``client_cpu``) and what
was asked are never judged: they are no properties of the target."""
