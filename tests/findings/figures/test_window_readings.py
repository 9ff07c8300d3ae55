"""Windows as readings."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agentdyno.findings.figures.histograms import histogram
from agentdyno.findings.figures.window_readings import LOAD_METRICS, window_readings
from agentdyno.model.load import Window
from agentdyno.model.metric import Direction

MS = 10**6


def full() -> Window:
    times = histogram(np.arange(1, 101) * MS)
    return Window(
        index=0,
        step="s",
        stage="steady",
        starts_s=0.0,
        duration_s=2.0,
        asked=110,
        sent=104,
        late=3,
        unsent=6,
        completed=90,
        in_flight=5,
        outcomes={"ok": 100, "reset": 4},
        slo_met=80,
        latency=times,
        service=times,
        ttft=times,
        queued_ttft=times,
        itl=times,
        tpot=times,
        lag=times,
        unread=times,
        output_tokens=500,
        client_cpu=0.25,
        target_cpu=0.5,
        target_rss_bytes=1024.0,
    )


def test_rates_are_per_second_of_the_window() -> None:
    readings = window_readings(full())
    expected = {
        "asked_per_s": 55.0,
        "delivered_per_s": 52.0,
        "throughput_per_s": 45.0,
        "goodput_per_s": 40.0,
        "tokens_per_s": 250.0,
        "error_rate": 10 / 110,
        "late": 3,
        "unsent": 6,
        "in_flight": 5,
        "client_cpu": 0.25,
        "target_cpu": 0.5,
        "target_rss_bytes": 1024.0,
    }
    assert {name: readings[name] for name in expected} == expected


def test_quantiles_are_those_of_the_values() -> None:
    readings = window_readings(full())
    for name in ("latency", "service", "ttft", "itl", "queued_ttft"):
        assert readings[f"{name}_p50_s"] == pytest.approx(0.0505, rel=0.005)
        assert readings[f"{name}_p99_s"] == pytest.approx(0.09901, rel=0.005)
    assert readings["ttft_p95_s"] == pytest.approx(0.09505, rel=0.005)


def test_unknown_is_left_out() -> None:
    empty = Window(index=0, step="s", stage="steady", starts_s=0.0, duration_s=1.0)
    assert window_readings(empty) == {
        "asked_per_s": 0.0,
        "delivered_per_s": 0.0,
        "throughput_per_s": 0.0,
        "late": 0,
        "unsent": 0,
        "in_flight": 0,
    }
    never = Window(index=0, step="s", stage="steady", starts_s=0.0, duration_s=0.0)
    assert window_readings(never) == {"late": 0, "unsent": 0, "in_flight": 0}


def test_every_reading_has_a_unit_and_a_direction_and_none_is_nan() -> None:
    readings = window_readings(full())
    assert set(readings) == set(LOAD_METRICS)
    assert all(math.isfinite(value) for value in readings.values())
    assert {name for name, metric in LOAD_METRICS.items() if metric.direction is Direction.HIGHER} == {
        "throughput_per_s",
        "goodput_per_s",
        "tokens_per_s",
    }
    assert LOAD_METRICS["lag_p99_s"].direction is Direction.UNKNOWN
    assert LOAD_METRICS["latency_p99_s"].unit == "s"
