"""What a history says of the newest version, and which line is drawn."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agentdyno.findings.change.judge import choose_spark, history_finding, judged_by_history, spark_of
from agentdyno.findings.change.model import ChangeRow
from agentdyno.findings.history.judge import history
from agentdyno.findings.history.judge_series import series_metric
from agentdyno.findings.history.judge_watched import judge_series
from agentdyno.findings.history.model import History, HistoryPoint
from agentdyno.findings.history.model_regression import Severity

ALONE = ChangeRow("a@2", "a", "2", "s", "S", "", "no-baseline", "a@2 is alone.", 0, "run")


def levels(*parts: tuple[float, str, int], metric: str = "accuracy") -> History:
    """Points a second apart, of each part so many about its level, in the version it names."""
    points: list[HistoryPoint] = []
    for level, version, count in parts:
        points += [
            HistoryPoint(1000 * (len(points) + place), level * (1 + 0.001 * (place % 3)), version)
            for place in range(count)
        ]
    kind = series_metric(metric)
    return history("a", metric, points, unit=kind.unit, higher_is_better=kind.higher_is_better)


def test_a_level_that_fell_makes_a_row_worse_since_the_version_that_it_fell_with() -> None:
    finding = history_finding(judge_series([levels((0.9, "1", 12), (0.6, "2", 10), (0.6, "3", 4))]))
    assert finding is not None
    row = judged_by_history(ALONE, finding)
    assert (row.verdict, row.severity, row.since, row.evidence) == ("worse", Severity.HIGH, "2", "history")
    assert row.finding is finding
    assert row.summary.startswith("Worse by its history: accuracy in the whole series: 0.9")
    assert row.summary.endswith(" a@2 is alone.")


def test_a_level_that_rose_makes_it_better_unless_something_fell() -> None:
    rose, fell = levels((0.6, "1", 12), (0.9, "2", 12)), levels((0.9, "1", 12), (0.7, "2", 12), metric="speed")
    found = history_finding(judge_series([rose]))
    assert found is not None
    better = judged_by_history(ALONE, found)
    assert (better.verdict, better.severity) == ("better", None)
    both = history_finding(judge_series([rose, fell]))
    assert both is not None
    assert (both.metric, both.improvement) == ("speed", False)


def test_of_equally_grave_ones_wrong_answers_come_first() -> None:
    """All fall by 22 %; of cost one step less counts, so that it falls by more."""
    falls = [levels((0.9, "1", 12), (0.7, "2", 12), metric=name) for name in ("speed", "reliability", "accuracy")]
    dear = levels((0.9, "1", 12), (0.5, "2", 12), metric="cost")
    found = history_finding(judge_series([dear, *falls]))
    assert found is not None
    assert (found.metric, found.severity) == ("accuracy", Severity.MEDIUM)


@pytest.mark.parametrize(
    "parts",
    [
        ((0.9, "1", 12), (0.6, "2", 12), (0.9, "3", 12)),
        ((0.9, "1", 24),),
        ((0.9, "1", 1), (0.6, "2", 1)),
        (),
    ],
    ids=["taken back", "level", "two points", "nothing"],
)
def test_what_was_taken_back_or_never_changed_is_no_finding(parts: tuple[tuple[float, str, int], ...]) -> None:
    assert history_finding(judge_series([levels(*parts)])) is None


def test_what_began_before_does_not_count() -> None:
    went = [levels((0.9, "1", 12), (0.6, "2", 12))]
    assert history_finding(judge_series(went), after=11_999) is not None
    assert history_finding(judge_series(went), after=12_000) is None


def test_a_spark_has_the_last_thirty_points_and_their_changes() -> None:
    went = levels((0.9, "1", 25), (0.6, "2", 20))
    (change,) = went.changes
    spark = spark_of(went)
    assert (len(spark.points), spark.points[-1]) == (30, went.points[-1])
    assert [item.index for item in spark.changes] == [change.index - 15] == [10]
    assert spark_of(levels((0.9, "1", 12), (0.6, "2", 40))).changes == ()
    short = levels((0.9, "1", 5))
    assert spark_of(short) is short


def drawing(**counts: int) -> Callable[[str], History]:
    """Histories with so many points by metric."""
    return lambda metric: levels((0.5, "1", counts.get(metric, 0)), metric=metric)


@pytest.mark.parametrize(
    ("counts", "metric", "drawn", "points"),
    [
        ({"cost_usd": 2, "accuracy": 28}, "cost_usd", "accuracy", 28),
        ({"cost_usd": 4, "accuracy": 28}, "cost_usd", "cost_usd", 4),
        ({"cost_usd": 2, "accuracy": 2}, "cost_usd", "accuracy", 2),
        ({"cost_usd": 3, "accuracy": 1}, "cost_usd", "accuracy", 1),
        ({"cost_usd": 3, "accuracy": 1, "duration_s": 3}, "cost_usd", "duration_s", 3),
        ({"accuracy": 1, "overall": 31}, "accuracy", "overall", 30),
        ({"accuracy": 40}, "accuracy", "accuracy", 30),
        ({"cost_usd": 1}, "cost_usd", "cost_usd", 1),
    ],
)
def test_the_line_is_of_the_verdict_where_that_has_points_enough(
    counts: dict[str, int], metric: str, drawn: str, points: int
) -> None:
    found = choose_spark(metric, drawing(**counts))
    assert found is not None
    assert (found.metric, len(found.points)) == (drawn, points)


def test_without_a_point_there_is_no_line() -> None:
    assert choose_spark("cost_usd", drawing()) is None
