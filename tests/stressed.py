"""What a load run says, made up: a target that breaks between 850 and 950 requests a second, and a tired client."""

from __future__ import annotations

import json
from typing import Any

from agentdyno.findings.stress.model import (
    BreakingPoint,
    CurvePoint,
    FittedLaw,
    LimitedBy,
    Recommendation,
    ScenarioReport,
    StressReport,
    TimePoint,
)
from agentdyno.model.codec import encode
from agentdyno.model.load import Objective

BREAKS = BreakingPoint("rate", 900.0, 850.0, 950.0, (850.0, 950.0), "1/s", "latency_p99")
LEVELS = ((200.0, 200.0), (400.0, 400.0), (800.0, 798.0), (1200.0, 910.0), (950.0, 905.0), (850.0, 848.0))
"""Requests a second, asked and delivered, in the order of a search."""


def _level(asked: float, delivered: float) -> CurvePoint:
    late = max(0.0, asked - delivered) / asked
    p50 = 0.02 + late
    return CurvePoint(
        step=f"level {asked:g}",
        level=asked,
        asked_per_s=asked,
        delivered_per_s=delivered,
        throughput_per_s=delivered,
        goodput_per_s=delivered * (1 - late),
        error_rate=late / 4,
        latency_p50_s=p50,
        latency_p95_s=p50 * 2,
        latency_p99_s=p50 * 4,
        ttft_p50_s=p50 / 2,
        ttft_p95_s=p50,
        met=asked < 900,
    )


def _window(second: int) -> TimePoint:
    spike = 10 <= second < 20
    return TimePoint(
        at_s=float(second),
        duration_s=1.0,
        step="spike",
        stage="spike" if spike else "steady",
        asked_per_s=1200.0 if spike else 200.0,
        throughput_per_s=910.0 if spike else 200.0,
        error_rate=None if second == 29 else 0.06 if spike else 0.0,
        latency_p50_s=None if second == 29 else 0.3 if spike else 0.02,
        latency_p99_s=None if second == 29 else 1.1 if spike else 0.05,
        ttft_p50_s=0.01,
        in_flight=40 if spike else 4,
        lag_p99_s=0.0002,
    )


def _scenario(name: str, **fields: object) -> ScenarioReport:
    known: dict[str, object] = {
        "scenario": name,
        "target": "sage",
        "description": "",
        "parameters": {"connections": 100},
        "broke": False,
        "breaking_point": None,
        "limited_by": LimitedBy.NOTHING,
        "evidence": "",
        "score": 97.0,
        "requests": 6000,
        "asked": 6000,
        "unsent": 0,
        "late": 0,
        "outcomes": {"ok": 6000},
        **fields,
    }
    return ScenarioReport(**known)  # type: ignore[arg-type]  # the fields are those of the class, with other defaults


def stressed(run_id: str) -> Any:
    """The answer of ``/api/stress`` with one report."""
    return {"items": [json.loads(encode(stress_report(run_id)))]}


def stress_report(run_id: str) -> StressReport:
    """Of the agent ``sage`` in that run."""
    rising = _scenario(
        "high_load",
        description="A rate that rises until an objective is missed.",
        broke=True,
        breaking_point=BREAKS,
        limited_by=LimitedBy.LATENCY,
        evidence="latency_p99 is 1.05 s at 950 requests a second",
        score=62.0,
        asked=6400,
        unsent=12,
        late=410,
        outcomes={"ok": 5900, "timeout": 80, "rate_limited": 8},
        objectives={"latency_p99": (1.05, False), "error_rate": (0.004, True)},
        headline={"throughput_per_s": 910.0, "latency_p99_s": 1.05},
        curve=tuple(_level(*level) for level in LEVELS),
        law=FittedLaw("usl", 25.0, 0.03, (0.02, 0.04), 0.0001, None, 98.0, 0.99),
    )
    spike = _scenario(
        "spike_load",
        description="Six times the rate for ten seconds.",
        figures={"recovery_half_life_s": 1.4},
        over_time=tuple(_window(second) for second in range(30)),
        phases=(("before", 0.0, 10.0), ("spike", 10.0, 20.0), ("after", 20.0, 30.0)),
    )
    tired = _scenario(
        "concurrent_requests",
        limited_by=LimitedBy.CLIENT,
        score=None,
        client_limited=True,
        client_reason="93 % of what was asked was sent",
        closed_loop=True,
    )
    return StressReport(
        agent_id="sage",
        run_id=run_id,
        finished_at=1_794_761_585_131,
        scenarios=(rising, spike, tired),
        resilience_score=79.0,
        scaling_limits={"rate": BREAKS},
        recommendations=(
            Recommendation("Keep the rate below 850 a second", "held at 850, missed at 950", "high_load", "high"),
        ),
        objectives=(Objective("latency", 1.0, 0.99), Objective("error_rate", 0.01)),
        simulated=True,
    )
