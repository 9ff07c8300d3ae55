from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.findings.engine.severity import RANKS
from agentdyno.findings.history.judge_health import health, recommended_action, regression_report
from agentdyno.findings.history.model_regression import Detector, Impact, Regression, Severity
from agentdyno.model.case import CaseKey

METRICS = ("accuracy", "pass_rate", "speed", "duration_s", "cost", "error_rate")


def finding(
    metric: str = "accuracy",
    severity: Severity = Severity.MEDIUM,
    *,
    detector: Detector = Detector.VERSION,
    kind: str = "drop",
    benchmark: str = "",
    confirmed: bool = True,
    since: int = 5,
) -> Regression:
    return Regression(
        detector=detector,
        kind=kind,
        metric=metric,
        baseline=0.8,
        current=0.6,
        amount=0.25,
        relative=True,
        threshold=0.1,
        severity=severity,
        explanation=f"{metric} by {detector.value}",
        benchmark=benchmark,
        confirmed=confirmed,
        since=since,
    )


def step(metric: str = "accuracy", **rest: object) -> Regression:
    return finding(metric, detector=Detector.HISTORY, kind="step", **rest)  # type: ignore[arg-type]


findings = st.builds(
    finding,
    st.sampled_from(METRICS),
    st.sampled_from(list(Severity)),
    benchmark=st.sampled_from(["", "a", "b"]),
    confirmed=st.booleans(),
)


@pytest.mark.parametrize(
    ("severity", "confirmed", "doubtful"),
    [(Severity.CRITICAL, 50, 75), (Severity.HIGH, 75, 87), (Severity.MEDIUM, 90, 95), (Severity.LOW, 96, 98)],
)
def test_one_regression_takes_what_its_severity_says_and_half_in_doubt(
    severity: Severity, confirmed: int, doubtful: int
) -> None:
    assert health([finding(severity=severity)]) == confirmed
    assert health([finding(severity=severity, confirmed=False)]) == doubtful


def test_nothing_worse_is_full_health() -> None:
    assert health([]) == 100
    assert health([replace(finding(), improvement=True), replace(finding(), undone_at=9)]) == 100


def test_findings_of_one_dimension_count_by_a_quarter_after_the_worst() -> None:
    # 25 + 10 / 4 = 27.5, and 4 for cost
    found = [finding("speed", Severity.HIGH), finding("duration_s"), finding("cost", Severity.LOW)]
    assert health(found) == 68


def test_health_never_goes_below_zero() -> None:
    assert health([finding(metric, Severity.CRITICAL) for metric in METRICS]) == 0


@given(st.lists(findings, max_size=8), findings)
def test_one_more_regression_never_raises_health(found: list[Regression], more: Regression) -> None:
    assert 0 <= health([*found, more]) <= health(found) <= 100


@given(st.lists(findings, min_size=1, max_size=8), st.data())
def test_a_worse_regression_never_raises_health(found: list[Regression], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(found) - 1))
    severity = data.draw(st.sampled_from([s for s in Severity if RANKS[s] >= RANKS[found[place].severity]]))
    worse = replace(found[place], severity=severity, confirmed=True)
    assert health([*found[:place], worse, *found[place + 1 :]]) <= health(found)


@given(st.lists(findings, max_size=8))
def test_health_does_not_depend_on_the_order(found: list[Regression]) -> None:
    assert health(found) == health(found[::-1])


def test_the_action_goes_by_the_worst_confirmed_regression_and_names_it() -> None:
    critical = finding("accuracy", Severity.CRITICAL, benchmark="code")
    critical = replace(critical, impact=Impact(cases=tuple(CaseKey("code", name) for name in "wxyz")))
    action = recommended_action([finding("cost", Severity.LOW), critical])
    assert action == "Do not release; go back to the baseline: accuracy in code, critical. Start with w, x, y."
    assert recommended_action([finding("speed", Severity.HIGH)]).startswith("Hold the release")
    assert recommended_action([finding("speed", Severity.MEDIUM)]).startswith("Look into it before the release")
    assert recommended_action([finding("speed", Severity.LOW)]).startswith("Go on, and watch it")
    assert recommended_action([]).startswith("Nothing to do")


def test_a_provisional_regression_alone_asks_for_another_run() -> None:
    doubt = finding("speed", Severity.CRITICAL, confirmed=False)
    assert recommended_action([doubt]).startswith("Run again before deciding: speed, critical")
    assert recommended_action([doubt, finding("cost", Severity.LOW)]).startswith("Go on, and watch it: cost")


def report(*found: Regression, better: tuple[Regression, ...] = ()) -> tuple[Regression, ...]:
    return regression_report("helper", "1.0", "1.1", found, better).regressions


def test_two_detectors_that_agree_are_one_finding() -> None:
    (found,) = report(finding("accuracy", confirmed=False, since=9), step("accuracy", since=4))
    assert found.detector is Detector.VERSION
    assert found.explanation == "accuracy by version. The history shows it too: accuracy by history"
    assert found.confirmed
    assert found.since == 4


def test_a_history_of_the_quantity_agrees_with_the_dimension() -> None:
    assert [item.metric for item in report(finding("speed"), step("duration_s"))] == ["speed"]
    # Of two that tell about reliability, the one with the metric's own name.
    found = report(finding("reliability"), finding("error_rate"), step("error_rate"))
    assert ["history" in item.explanation for item in found if item.metric == "error_rate"] == [True]


def test_other_benchmarks_and_metrics_stay_apart() -> None:
    assert len(report(finding("accuracy", benchmark="a"), step("accuracy", benchmark="b"), step("cost"))) == 3


def test_a_drift_takes_the_place_of_its_steps() -> None:
    line = finding("speed", detector=Detector.PATTERN, kind="drift", since=0)
    assert [item.kind for item in report(line, step("speed", since=4), step("speed", since=8))] == ["drift"]
    late = replace(line, since=6)
    assert sorted(item.kind for item in report(late, step("speed", since=4), step("speed", since=8))) == [
        "drift",
        "step",
    ]


def test_the_worst_comes_first() -> None:
    found = report(finding("cost", Severity.LOW), finding("speed", Severity.CRITICAL), finding("accuracy"))
    assert [item.metric for item in found] == ["speed", "accuracy", "cost"]


def test_what_was_taken_back_is_a_warning_and_no_regression() -> None:
    made = regression_report("helper", "", "", [replace(step("speed"), undone_at=9)], [])
    assert not made.has_regressions
    assert made.health == 100
    assert [warning.code for warning in made.warnings] == ["undone"]
    assert made.warnings[0].message == "1 earlier regression was taken back by a later change: speed"


def test_the_report_carries_health_action_and_improvements() -> None:
    better = replace(finding("cost"), improvement=True, amount=-0.3)
    made = regression_report("helper", "1.0", "1.1", [finding()], [better], suite="s")
    assert (made.agent, made.baseline, made.current, made.suite) == ("helper", "1.0", "1.1", "s")
    assert (made.health, made.improvements) == (90, (better,))
    assert made.action.startswith("Look into it")
