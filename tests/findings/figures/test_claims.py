"""What agents say of themselves: marked, warned of, and never part of a score."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentdyno.findings.figures.claims import Claims, differs
from agentdyno.findings.figures.suite_figures import close_suite
from agentdyno.model import Provenance, RunResult, Sample

from ..suite_builders import arm, benchmark, sample, suite_of, suite_result


def closed(*samples: Sample) -> RunResult:
    asked = benchmark("a", "b")
    bounds = {"duration_s": (0.01, 1.0), "cost_usd": (0.001, 1.0)}
    result = suite_result(suite_of(asked), arm("liar@1", "facts", list(samples)))
    return close_suite(replace(result, targets={asked.benchmark_id: bounds}))


def lying(**more: float) -> list[Sample]:
    readings = {"duration_s": 0.3, "reported.duration_s": 1e-6, **more}
    return [sample(case, 1.0, readings=readings) for case in ("a", "b")]


@pytest.mark.parametrize(
    ("name", "reported", "measured", "expected"),
    [
        ("duration_s", 1e-6, 0.3, True),
        ("duration_s", 0.3, 0.31, False),
        ("duration_s", 0.0001, 0.005, False),
        ("duration_s", 3.0, 0.3, True),
        ("duration_s", float("nan"), 0.3, True),
        ("duration_s", -1.0, 0.3, True),
        ("cost_usd", 0.0, 0.001, True),
        ("cost_usd", 0.001, 0.0015, False),
        ("total_tokens", 10.0, 100.0, True),
    ],
)
def test_figures_differ_from_twice_on_and_seconds_by_more_than_the_overhead(
    name: str, reported: float, measured: float, expected: bool
) -> None:
    assert differs(name, reported, measured) is expected


def test_a_claim_that_is_far_from_what_was_measured_is_a_warning_with_both_figures() -> None:
    (warning,) = [item for item in closed(*lying()).warnings if item.code == "reported-duration_s"]
    assert warning.message == (
        "liar@1 reports duration_s of 1 µs in case a, where 300 ms were measured; 2 of its executions differ so"
    )


def test_claims_have_the_provenance_reported_and_do_not_touch_the_score_for_speed() -> None:
    found, honest = closed(*lying(steps=7.0)).arms[0], closed(*lying()).arms[0]
    assert found.metrics["duration_s"].provenance is Provenance.MEASURED
    assert found.metrics["reported.duration_s"].provenance is Provenance.REPORTED
    assert found.metrics["steps"].provenance is Provenance.REPORTED
    assert found.metrics["duration_s"].median == 0.3
    assert found.scores["speed"] == honest.scores["speed"] == pytest.approx(0.2614, abs=1e-4)


def test_a_cost_that_only_the_agent_states_is_no_cost() -> None:
    result = closed(*lying(**{"reported.cost_usd": 0.0}))
    assert result.arms[0].scores["cost"] is None
    assert "cost_usd" not in result.arms[0].totals
    (warning,) = [item for item in result.warnings if item.code == "reported-cost"]
    assert warning.message == "only liar@1 itself says what it cost: $0 for 2 answers"


def test_dollars_of_runs_from_before_that_were_reported_have_no_score() -> None:
    told = {"cost": {"usd": 0.01, "source": "reported"}}
    samples = [replace(item, details=told) for item in lying(cost_usd=0.01)]
    found = closed(*samples).arms[0]
    assert found.metrics["cost_usd"].provenance is Provenance.REPORTED
    assert found.totals["cost_usd"] == pytest.approx(0.02)
    assert found.scores["cost"] is None


def test_a_priced_answer_keeps_its_price_beside_what_the_agent_states() -> None:
    claims = Claims.of(lying(**{"cost_usd": 0.5, "reported.cost_usd": 0.0}))
    assert claims.unpriced == 0
    assert (claims.differing["cost_usd"].reported, claims.differing["cost_usd"].measured) == (0.0, 0.5)
