from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from scipy.stats import binomtest

from agentdyno.errors import SpecError
from agentdyno.findings.history.judge_series import (
    SERIES_METRICS,
    depends_on_machine,
    points_from,
    series_metric,
    watched_points,
)


@dataclass(frozen=True)
class Row:
    at: int = 0
    version: str = "1"
    suite: str = "s"
    benchmark: str = "a"
    run_id: str = "r"
    machine_id: str = "m"
    commit: str = "c"
    status: str = "success"
    form: str = "full"
    proxied: bool = False
    accuracy: float | None = 0.5
    speed: float | None = None
    efficiency: float | None = None
    cost: float | None = None
    reliability: float | None = None
    overall: float | None = 0.5
    duration_s: float | None = 20.0
    cost_usd: float | None = 1.0
    tokens_used: int | None = 1_000
    cpu_s: float | None = None
    passed: int | None = 5
    samples: int | None = 10
    cases: int | None = 10
    scored: int | None = 9
    case_variance: float | None = None


def values(rows: list[Row], metric: str, benchmark: str = "") -> list[float]:
    return [point.value for point in points_from(rows, metric, benchmark=benchmark)]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("accuracy", 0.5),
        ("overall", 0.5),
        ("duration_s", 2.0),
        ("cost_usd", 0.1),
        ("total_tokens", 100.0),
        ("pass_rate", 0.5),
        ("failure_rate", 0.5),
    ],
)
def test_a_run_gives_one_value(metric: str, expected: float) -> None:
    assert values([Row()], metric) == [expected]


def test_a_run_of_several_benchmarks_is_one_point() -> None:
    rows = [Row(at=5, accuracy=0.5), Row(at=9, benchmark="b", accuracy=0.9, duration_s=30.0, samples=40, passed=10)]
    assert values(rows, "accuracy") == [pytest.approx(0.7)]
    assert values(rows, "duration_s") == [pytest.approx(50 / 50)]
    assert values(rows, "pass_rate") == [pytest.approx(15 / 50)]
    (point,) = points_from(rows, "accuracy")
    assert (point.at, point.n, point.run_id, point.machine_id) == (9, 50, "r", "m")
    assert values(rows, "accuracy", "b") == [0.9]


def test_overall_is_of_the_means_as_on_the_board() -> None:
    rows = [Row(accuracy=1.0, speed=0.5), Row(benchmark="b", accuracy=0.0, speed=None)]
    # accuracy 0.5 and speed 0.5, weights 0.3 and 0.2
    assert values(rows, "overall") == [pytest.approx(0.5)]


def test_only_runs_with_the_usual_benchmarks_are_points() -> None:
    full = [Row(at=at, run_id=str(at), benchmark=name) for at in (1, 2, 3) for name in "ab"]
    part = Row(at=4, run_id="4", benchmark="a", accuracy=0.9)
    more = [Row(at=5, run_id="5", benchmark=name, accuracy=0.0 if name == "c" else 0.5) for name in "abc"]
    assert values([*full, part, *more], "accuracy") == [0.5] * 4


def test_what_is_usual_goes_by_the_version_of_the_suite() -> None:
    first = [Row(at=at, run_id=str(at), benchmark=name) for at in (1, 2) for name in "ab"]
    second = [Row(at=at, run_id=str(at), suite="t", benchmark="a", accuracy=0.7) for at in (3, 4)]
    points = points_from([*second, *first], "accuracy")
    assert [(point.at, point.suite, point.value) for point in points] == [
        (1, "s", 0.5),
        (2, "s", 0.5),
        (3, "t", 0.7),
        (4, "t", 0.7),
    ]


def test_cost_is_of_all_executions_whether_they_passed_or_not() -> None:
    assert values([Row(passed=0)], "cost_usd") == [0.1]
    assert values([Row(samples=4), Row(benchmark="b", samples=1)], "cost_usd") == [0.4]
    assert values([Row(cost_usd=None)], "cost_usd") == []
    assert values([Row(samples=None)], "cost_usd") == []


def test_failed_executions_count_for_reliability_and_nowhere_else() -> None:
    failed = Row(at=1, run_id="x", status="failed", passed=0, accuracy=None, reliability=0.0)
    good = Row(at=2, reliability=0.9)
    assert values([failed, good], "duration_s") == [2.0]
    assert values([failed, good], "failure_rate") == [1.0, 0.5]
    assert values([failed, good], "reliability") == [0.0, 0.9]
    assert values([replace(failed, status="partial")], "failure_rate") == []


def test_unknown_values_and_empty_executions_are_no_points() -> None:
    assert values([Row(accuracy=None)], "accuracy") == []
    assert values([Row(accuracy=float("nan"))], "accuracy") == []
    assert values([Row(samples=0)], "duration_s") == []
    assert values([], "accuracy") == []


def test_a_benchmark_that_never_knows_the_metric_keeps_no_run_out() -> None:
    rows = [
        Row(at=at, run_id=str(at), benchmark=name, cost_usd=1.0 if name == "a" else None)
        for at in (1, 2)
        for name in "ab"
    ]
    assert values(rows, "cost_usd") == [0.1, 0.1]


def test_two_versions_in_one_run_are_two_points() -> None:
    assert [point.version for point in points_from([Row(version="1"), Row(at=1, version="2")], "accuracy")] == [
        "1",
        "2",
    ]


def test_rows_without_a_run_belong_together_by_their_time() -> None:
    rows = [Row(at=at, run_id="", benchmark=name) for at in (1, 2) for name in "ab"]
    assert len(points_from(rows, "accuracy")) == 2


def test_an_unknown_metric_names_the_nearest() -> None:
    with pytest.raises(SpecError, match="accuracy"):
        series_metric("acuracy")


def test_direction_and_machine_are_known_of_every_metric() -> None:
    higher = {name for name, metric in SERIES_METRICS.items() if metric.higher_is_better}
    assert higher == {"accuracy", "speed", "efficiency", "cost", "reliability", "overall", "pass_rate"}
    assert {name for name in SERIES_METRICS if depends_on_machine(name)} == {
        "speed",
        "efficiency",
        "overall",
        "duration_s",
        "cpu_s",
    }
    assert depends_on_machine("ttft_s")
    assert not depends_on_machine("input_tokens")


def test_benchmarks_that_ran_each_by_itself_are_taken_together_by_the_day() -> None:
    day = 86_400_000
    rows = [
        replace(Row(), at=day * number + offset, run_id=f"{number}-{name}", benchmark=name, accuracy=value)
        for number in range(3)
        for offset, (name, value) in enumerate((("sums", 0.2 * number), ("words", 1.0)))
    ]
    assert [point.value for point in points_from(rows, "accuracy")] == pytest.approx([0.5, 0.6, 0.7])
    assert [point.value for point in points_from(rows, "accuracy", benchmark="sums")] == pytest.approx(
        [0.0, 0.2, 0.4]
    )


def test_seconds_are_watched_where_no_target_makes_a_score_of_them() -> None:
    rows = [Row(at=day, run_id=str(day), duration_s=20.0 + day) for day in range(3)]
    name, found = watched_points(rows, "speed")
    assert (name, [point.value for point in found]) == ("duration_s", [2.0, 2.1, 2.2])
    assert watched_points(rows, "accuracy")[0] == "accuracy"


def test_dollars_are_watched_where_the_score_stands_at_its_end() -> None:
    rows = [Row(at=day, run_id=str(day), cost=1.0, cost_usd=1.0 + day) for day in range(3)]
    assert watched_points(rows, "cost")[0] == "cost_usd"
    moving = [replace(row, cost=0.9 - 0.1 * row.at) for row in rows]
    name, found = watched_points(moving, "cost")
    assert (name, len(found)) == ("cost", 3)


def test_a_score_without_its_quantity_is_watched_itself() -> None:
    rows = [Row(at=day, run_id=str(day), speed=1.0, duration_s=None) for day in range(3)]
    assert watched_points(rows, "speed")[0] == "speed"


def test_a_share_of_cases_has_an_interval_that_stays_within_its_ends() -> None:
    (known,) = points_from([Row(accuracy=0.5, scored=16, case_variance=0.125)], "accuracy")
    # An error of sqrt(0.125 / 16) is that of 32 trials at one half.
    assert (known.low, known.high) == pytest.approx(scipy_wilson(16, 32))
    (all_right,) = points_from([Row(accuracy=1.0, scored=6, case_variance=0.0)], "accuracy")
    assert (all_right.low, all_right.high) == pytest.approx(scipy_wilson(6, 6))
    (rate,) = points_from([Row(passed=10, samples=20, cases=10)], "pass_rate")
    assert (rate.low, rate.high) == pytest.approx(scipy_wilson(5, 10)), "tries of one case are one trial"
    (seconds,) = points_from([Row()], "duration_s")
    assert (seconds.low, seconds.high) == (None, None)


def scipy_wilson(successes: int, trials: int) -> tuple[float, float]:
    found = binomtest(successes, trials).proportion_ci(0.95, method="wilson")
    return found.low, found.high
