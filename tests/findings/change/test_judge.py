"""A version against its baseline as one verdict, and many of them with the worst first."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from agentdyno.errors import NotComparable
from agentdyno.findings.change.judge import (
    alert_id,
    alerts_in_order,
    count_verdicts,
    frequent_errors,
    in_order,
    judge_change,
    p95_seconds,
    row_severity,
    since_version,
)
from agentdyno.findings.change.model import Alert, ChangeRow, ChangeVerdict
from agentdyno.findings.change.words import quiet_text
from agentdyno.findings.duel.judge import duel
from agentdyno.findings.figures.cases import ArmFigures
from agentdyno.findings.history.judge import history
from agentdyno.findings.history.model import History, HistoryPoint
from agentdyno.findings.history.model_regression import Detector, Regression, Severity
from agentdyno.model import Benchmark, Case, Phase, Sample, Status, Verdict
from agentdyno.model.case import CaseKey
from agentdyno.model.record import AgentRecord, ErrorClass
from agentdyno.stats import holm

from ..duel_builders import answered, bench, record, scored


def timed(agent: str, count: int, *, wrong: int = 0, seconds: float = 1.0, usd: float = 0.01) -> AgentRecord:
    """Cases that take and cost a little more each, of which the first are wrong."""
    return record(
        agent,
        [
            answered(
                f"c{i:02}",
                0.0 if i < wrong else 1.0,
                duration_s=seconds * (1 + i / 100),
                cost_usd=usd * (1 + i / 50),
            )
            for i in range(count)
        ],
    )


def row(
    verdict: ChangeVerdict, name: str = "a", *, severity: Severity | None = None, at: int = 0, **fields: object
) -> ChangeRow:
    made = ChangeRow(f"{name}@2", name, "2", "s", "S", f"{name}@1", verdict, "", at, "run", severity=severity)
    return replace(made, **fields)  # type: ignore[arg-type]


def test_twelve_broken_cases_of_forty_are_worse() -> None:
    found = judge_change(scored("a@1", [1.0] * 40), scored("a@2", [0.0] * 12 + [1.0] * 28))
    assert (found.verdict, found.severity, found.metric) == ("worse", Severity.HIGH, "accuracy")
    # McNemar: 2 / 2**12, and nothing else was tested.
    assert found.rows[0].adjusted_p == pytest.approx(2 / 2**12)
    assert found.rows[0].change == pytest.approx(-0.3)
    assert found.broken == tuple(CaseKey("facts", f"c{i:02}") for i in range(12))
    assert (found.fixed, found.more_cases, found.error_rate) == ((), None, None)
    assert found.steady_broken == found.broken
    seen, _, inferred = found.summary.partition(". ")
    assert seen.endswith(
        "broke (right in every try before, wrong in every one now): c00, c01, c02, c03, c04 and 7 more"
    )
    assert inferred.startswith("Worse than a@1: accuracy -30.0 points (95 %: ")
    assert inferred.endswith("p < 0.001.")


def test_the_other_way_round_it_is_better() -> None:
    found = judge_change(scored("a@1", [0.0] * 12 + [1.0] * 28), scored("a@2", [1.0] * 40))
    assert (found.verdict, found.severity) == ("better", None)
    assert found.summary.endswith("12 cases fixed.")


def test_who_is_quicker_is_not_better_while_broken_cases_leave_accuracy_open() -> None:
    """Three of forty are too few to tell whether accuracy fell, and nothing that a shorter time makes good."""
    first, second = timed("a@1", 40), timed("a@2", 40, wrong=3, seconds=0.5)
    found, theirs = judge_change(first, second), duel(first, second)
    assert (found.rows[0].verdict, found.rows[1].verdict) == (Verdict.INCONCLUSIVE, Verdict.BETTER)
    assert found.verdict == "inconclusive"
    assert "3 cases broke" in found.summary
    assert "Undecided against a@1: accuracy -7.5 points" in found.summary
    assert theirs.winner is duel(second, first).winner is None
    assert "a@2 gets 3 cases wrong in every try that a@1 gets right in every one" in theirs.why
    assert judge_change(timed("a@1", 40), timed("a@2", 40, seconds=0.5)).verdict == "better"


def test_every_row_is_the_one_of_a_duel_of_the_two() -> None:
    """Seven wrong of forty are p = 2 / 2**7, and no error stands beside them to be corrected for."""
    first, second = timed("a@1", 40), timed("a@2", 40, wrong=7, seconds=1.5, usd=0.02)
    found, theirs = judge_change(first, second), duel(first, second)
    assert found.rows == (theirs.row("accuracy"), theirs.row("speed"), theirs.row("cost"))
    assert found.rows[0].p_value == pytest.approx(2 / 2**7)
    assert found.rows[0].adjusted_p == pytest.approx(2 / 2**7)
    assert found.rows[0].family == 1
    others = [item for item in theirs.rows if item.p_value is not None and item.metric != "accuracy"]
    tested = [item.p_value for item in others if item.p_value is not None]
    assert [item.adjusted_p for item in others] == pytest.approx(holm(tested))


@pytest.mark.parametrize("wrong", [0, 5, 6, 7, 8, 12])
def test_a_metric_is_never_judged_otherwise_than_in_a_duel(wrong: int) -> None:
    """Of everything that a duel tests there is something here, so that its family is as large as it gets."""
    first, second = tried("a@1", [3] * 40), tried("a@2", [1] * wrong + [3] * (40 - wrong), usd=0.0104)
    found, theirs = judge_change(first, second), duel(first, second)
    assert sum(item.p_value is not None for item in theirs.rows) == 6
    assert found.reliability is not None
    for row in (*found.rows, found.reliability):
        assert row == theirs.row(row.metric)
    verdicts = {item.verdict for item in theirs.rows if item.metric in ("accuracy", "reliability", "speed", "cost")}
    assert (found.verdict == "worse") == (Verdict.WORSE in verdicts)


def tried(agent: str, passed: list[int], *, usd: float = 0.01) -> AgentRecord:
    """Cases that were tried three times each, in a benchmark that has a target for everything."""
    targets = {"duration_s": (0.5, 5.0), "cost_usd": (0.001, 1.0), "total_tokens": (10.0, 1_000.0)}
    cases = [
        answered(
            f"c{i:02}",
            times / 3,
            tries=3,
            passed=times,
            duration_s=1 + i / 100,
            cost_usd=usd * (1 + i / 50),
            total_tokens=100.0 + i,
        )
        for i, times in enumerate(passed)
    ]
    return record(agent, cases, [bench(targets=targets)])


def test_answers_that_vary_more_are_less_reliable() -> None:
    """Two of three tries right instead of three: accuracy falls by a third of what reliability does."""
    found = judge_change(tried("a@1", [3] * 40), tried("a@2", [2] * 9 + [3] * 31))
    assert found.reliability is not None
    assert found.reliability.change == pytest.approx(-9 / 40)
    assert found.reliability.verdict is Verdict.WORSE
    assert found.summary.startswith("Worse than a@1: reliability -22.5 points")
    assert found.metric == "reliability"


def test_a_reliability_that_nobody_can_tell_leaves_the_rest_as_it_is() -> None:
    first, second = tried("a@1", [3] * 200), tried("a@2", [3] * 199 + [2])
    found = judge_change(first, second)
    assert found.reliability is not None
    assert [row.verdict for row in found.rows] == [Verdict.SAME] * 3
    assert (found.verdict, found.more_cases) == ("same", None)


def test_slower_alone_is_worse_and_its_history_is_that_of_the_duration() -> None:
    found = judge_change(timed("a@1", 200), timed("a@2", 200, seconds=1.4))
    assert [item.verdict and item.verdict.value for item in found.rows] == ["same", "worse", "same"]
    assert (found.verdict, found.severity, found.metric) == ("worse", Severity.HIGH, "duration_s")
    assert found.rows[1].change == pytest.approx(0.4)
    assert "time per case +40.0 %" in found.summary


def test_worse_in_one_and_better_in_another_is_worse() -> None:
    found = judge_change(timed("a@1", 40), timed("a@2", 40, wrong=12, seconds=0.5))
    assert (found.verdict, found.metric) == ("worse", "accuracy")


def test_what_weighs_most_is_what_the_history_shows() -> None:
    """Half the cases wrong is 5 times the threshold; of money one step less counts."""
    found = judge_change(timed("a@1", 40), timed("a@2", 40, wrong=20, usd=0.016))
    assert (found.severity, found.metric) == (Severity.CRITICAL, "accuracy")
    assert found.summary.index("accuracy") < found.summary.index("cost per case")


def test_of_equal_gravity_wrong_answers_are_told_first_then_time_then_money() -> None:
    """All three are high: 12 of 40 wrong, +40 %, and five times the threshold of money, less one step."""
    found = judge_change(timed("a@1", 40), timed("a@2", 40, wrong=12, seconds=1.4, usd=0.015))
    assert [row_severity(row) for row in found.rows] == [Severity.HIGH] * 3
    assert found.metric == "accuracy"
    told = [found.summary.index(name) for name in ("12 cases broke", "accuracy", "time per case", "cost per case")]
    assert told == sorted(told)


def test_what_is_undecided_is_told_in_the_same_order_whatever_was_seen() -> None:
    found = judge_change(timed("a@1", 5), timed("a@2", 5, wrong=1, seconds=1.1, usd=0.5))
    assert found.verdict == "inconclusive"
    told = [found.summary.index(name) for name in ("accuracy", "time per case", "cost per case")]
    assert told == sorted(told)


def test_no_difference_in_many_cases_is_the_same() -> None:
    found = judge_change(timed("a@1", 200), timed("a@2", 200))
    assert found.verdict == "same"
    assert found.summary == "No difference from a@1 in accuracy, time per case, cost per case over 200 cases."


def test_no_difference_in_few_cases_says_how_many_more_would_settle_it() -> None:
    """Wilson's bound comes under three points at 1.96² · 0.97 / 0.03 = 124.2 cases."""
    found = judge_change(scored("a@1", [1.0] * 24), scored("a@2", [1.0] * 24))
    assert (found.verdict, found.more_cases) == ("inconclusive", 125 - 24)
    assert "about 101 more cases would settle it" in found.summary


def test_too_few_cases_are_inconclusive() -> None:
    found = judge_change(scored("a@1", [1.0] * 3), scored("a@2", [0.0] * 3))
    assert (found.verdict, found.more_cases) == ("inconclusive", 3)


def test_errors_are_judged_though_they_have_no_score() -> None:
    first = record("a@1", [answered(f"c{i:02}") for i in range(30)])
    second = record("a@2", [answered(f"c{i:02}", None if i < 15 else 1.0, errors=int(i < 15)) for i in range(30)])
    found = judge_change(first, second)
    assert found.rows[0].change == pytest.approx(0.0), "the cases with a score on both sides are all right"
    assert found.error_rate is not None
    assert (found.verdict, found.metric) == ("worse", "failure_rate")
    assert "error rate +50.0 points" in found.summary
    assert len(found.broken) == 15


def test_where_nothing_compares_it_is_inconclusive_and_says_why() -> None:
    other = scored("a@2", [0.0] * 20, benchmarks=[bench(rubric="another")])
    found = judge_change(scored("a@1", [1.0] * 20), other)
    assert (found.verdict, found.more_cases) == ("inconclusive", None)
    assert found.summary.startswith("Nothing compares with a@1: answers are judged differently")


def test_without_a_common_case_nothing_is_judged() -> None:
    with pytest.raises(NotComparable, match="a@1 and a@2 have no case in common"):
        judge_change(scored("a@1", [1.0]), record("a@2", [answered("another")]))


def test_the_worst_come_first_and_the_newest_of_equals() -> None:
    compared = judge_change(scored("a@1", [1.0] * 8), scored("a@2", [1.0] * 8)).rows[0]
    wanted = [
        row("worse", severity=Severity.CRITICAL, at=1),
        row("worse", severity=Severity.HIGH, at=1),
        row("worse", severity=Severity.LOW, at=9),
        row("worse", severity=Severity.LOW, at=8),
        row("inconclusive", at=2, accuracy=compared),
        row("inconclusive", at=9),
        row("better", at=9),
        row("better", at=5),
        row("same", "a", at=5),
        row("same", "b", at=5),
        row("no-baseline", at=99),
    ]
    for seed in range(5):
        mixed = random.Random(seed).sample(wanted, len(wanted))
        assert in_order(mixed) == wanted
    assert count_verdicts(wanted) == {"worse": 4, "inconclusive": 2, "better": 2, "same": 2, "no-baseline": 1}


def test_when_nothing_is_worse_that_is_said_and_what_would_settle_the_rest() -> None:
    first, second = row("inconclusive", more_cases=40), row("inconclusive", "b", more_cases=80)
    third = row("inconclusive", "c", more_cases=40, suite_id="t")
    assert quiet_text([first, second, third, row("same")], 90) == (
        "Nothing is worse than its baseline. 3 comparisons are inconclusive: about 120 more cases would settle them."
    )
    assert quiet_text([replace(first, more_cases=1)], 90).endswith(
        "1 comparison is inconclusive: about 1 more case would settle it."
    )
    unknown = row("inconclusive", "d")
    assert quiet_text([first, unknown], 90).endswith("about 40 more cases would settle 1 of them.")
    assert quiet_text([unknown], 90).endswith("1 comparison is inconclusive.")
    assert quiet_text([row("better"), row("no-baseline")], 90) == (
        "Nothing is worse than its baseline. 1 has no baseline."
    )
    assert "Nothing has a baseline yet" in quiet_text([row("no-baseline")], 90)
    assert quiet_text([], 90).startswith("No agent has been benchmarked in the last 90 days.")
    assert quiet_text([row("worse"), first], 90) == ""


def levels(*parts: tuple[float, str, int]) -> History:
    points: list[HistoryPoint] = []
    for level, version, count in parts:
        points += [
            HistoryPoint(1000 * (len(points) + place), level + 0.001 * (place % 3), version) for place in range(count)
        ]
    return history("a", "accuracy", points, unit="ratio", higher_is_better=True)


def test_since_is_the_version_from_which_the_level_holds() -> None:
    went = levels((0.9, "1", 12), (0.6, "2", 10), (0.6, "3", 10))
    before = scored("a@1", [1.0], finished_at=5_000)
    assert since_version(went, "worse", before, "3") == "2"
    assert since_version(went, "better", before, "3") == "3", "the level fell, which does not explain a rise"
    assert since_version(levels((0.9, "1", 4)), "worse", before, "3") == "3"


def test_a_change_before_the_baseline_does_not_explain_it() -> None:
    went = levels((0.9, "0", 12), (0.6, "0.5", 8), (0.6, "1", 4), (0.6, "2", 2))
    assert [change.version_after for change in went.changes] == ["0.5"]
    before = scored("a@1", [1.0], finished_at=21_000)
    assert since_version(went, "worse", before, "2") == "2"


def test_p95_is_over_the_executions_of_the_common_cases() -> None:
    cases = tuple(Case(f"c{i}", "?") for i in range(21))
    own = ArmFigures.of(
        Benchmark("Facts", cases),
        [
            Sample("arm", Phase.MEASURED, 0, Status.OK, 0, {"duration_s": float(i)}, case_id=f"c{i}")
            for i in range(21)
        ],
    )
    keys = [CaseKey("facts", f"c{i}") for i in range(21)]
    assert p95_seconds([own], keys) == pytest.approx(19.0)
    assert p95_seconds([own], keys[:1]) == 0.0
    assert p95_seconds([own], []) is None
    assert p95_seconds([], keys) is None


def test_the_most_frequent_errors_come_first() -> None:
    many = [ErrorClass("error", "exception", f"e{n}", n) for n in range(1, 8)]
    made = record("a@1", [], [bench("x", errors=tuple(many[:4])), bench("y", errors=tuple(many[4:]))])
    assert [item.count for item in frequent_errors(made)] == [7, 6, 5, 4, 3]


def regression(**fields: object) -> Regression:
    made = Regression(Detector.VERSION, "drop", "accuracy", 1.0, 0.5, 0.5, True, 0.1, Severity.HIGH, "why")
    return replace(made, version="2", **fields)  # type: ignore[arg-type]


def test_the_id_of_an_alert_rests_on_what_was_found_and_not_on_its_numbers() -> None:
    plain = alert_id("a", "s", regression())
    assert plain == alert_id("a", "s", regression(current=0.4, amount=0.6, explanation="new", since=7))
    others = [
        alert_id("b", "s", regression()),
        alert_id("a", "t", regression()),
        alert_id("a", "s", regression(metric="speed")),
        alert_id("a", "s", regression(benchmark="x")),
        alert_id("a", "s", regression(kind="step")),
        alert_id("a", "s", regression(detector=Detector.HISTORY)),
        alert_id("a", "s", replace(regression(), version="3")),
    ]
    assert len({plain, *others}) == 8


def test_alerts_are_listed_with_the_worst_first() -> None:
    wanted = [
        Alert("1", "a", "s", regression(severity=Severity.CRITICAL)),
        Alert("2", "a", "s", regression(since=9)),
        Alert("3", "a", "s", regression(since=5)),
        Alert("4", "a", "s", regression(confirmed=False, since=10)),
        Alert("5", "a", "s", regression(severity=Severity.LOW)),
    ]
    assert alerts_in_order(reversed(wanted)) == wanted
