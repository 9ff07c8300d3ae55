"""What changed against its baseline, from real stores."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agentdyno.errors import NotComparable
from agentdyno.findings.baseline.ask import set_baseline
from agentdyno.findings.change import ask_rows
from agentdyno.findings.change.ask import Answer, Changing
from agentdyno.findings.change.ask_rows import ChangeMemo, finished
from agentdyno.findings.change.model import ChangeRow, Changes
from agentdyno.findings.duel.ask import compare_agents
from agentdyno.findings.history.ask import Histories
from agentdyno.findings.history.judge_series import Executed
from agentdyno.findings.history.judge_watched import OverTime
from agentdyno.findings.history.judge_watched import over_time as watched_over_time
from agentdyno.findings.history.model_regression import Detector, Severity
from agentdyno.findings.record.ask import Result
from agentdyno.model import Case, Sample, Status
from agentdyno.model.case import Response
from agentdyno.runs.suite.closing import close_run
from agentdyno.store import Execution, Store
from agentdyno.store.answers import Answers

from ...store.suite_builders import DAY_MS, MONDAY, SUITE
from ...suites import Room
from ...workbench.answering import Answerer, cases, ids, put, run

NOW = MONDAY + 10 * DAY_MS


class Simulated(Answerer):
    """Answers like a simulated model."""

    def run(self, case: Case) -> object:
        return Response(super().run(case), simulated=True)


def changes(room: Room) -> Changes:
    return Changing(room.store).changes()


def only(room: Room) -> ChangeRow:
    (row,) = changes(room).rows
    return row


@pytest.fixture
def totals(tmp_path: Path) -> Store:
    store = Store.open(tmp_path / "totals.db")
    store.boards.add_suite(SUITE, now_ms=MONDAY)
    return store


def imported(store: Store, *rows: Execution) -> None:
    store.boards.add_executions(rows)


def one(name: str, version: str, at: int, **fields: object) -> Execution:
    return replace(Execution(name, version, SUITE.digest, "sums", at, accuracy=0.5), **fields)  # type: ignore[arg-type]


def test_the_worst_agent_is_the_first_and_everything_needed_is_in_its_row(room: Room) -> None:
    before = run(room, Answerer("a", "1.0"), Answerer("b", "1.0"), Answerer("c", "1.0", wrong=ids(0, 12)), count=24)
    first = run(room, Answerer("lone"), count=24)
    second = run(room, Answerer("a", "1.1", wrong=ids(0, 12)), Answerer("b", "1.1"), Answerer("c", "1.1"), count=24)
    assert second.finished_at is not None
    found = Changing(room.store, now_ms=second.finished_at).changes()
    assert [(row.agent, row.verdict) for row in found.rows] == [
        ("a@1.1", "worse"),
        ("b@1.1", "inconclusive"),
        ("c@1.1", "better"),
        ("lone@1.0", "no-baseline"),
    ]
    assert found.counts == {"worse": 1, "inconclusive": 1, "better": 1, "same": 0, "no-baseline": 1}
    today = [item for item in (before, first, second) if item.started_at // DAY_MS == second.finished_at // DAY_MS]
    assert (found.quiet, found.runs_today) == ("", len(today)), "all three, unless it is midnight just now"
    worst = found.rows[0]
    assert (worst.baseline, worst.since, worst.severity) == ("a@1.0", "1.1", Severity.CRITICAL)
    assert (worst.suite_id, worst.suite_name, worst.run_id) == ("room", "room", second.run_id)
    assert worst.accuracy is not None
    assert worst.accuracy.change == pytest.approx(-0.5)
    assert [key.case_id for key in worst.broken] == ids(0, 12)
    assert worst.latency_p95[0] is not None
    assert worst.latency_p95[1] is not None
    assert [(item.status, item.count) for item in worst.errors] == [("failed", 12)]
    assert worst.spark is not None
    assert [point.value for point in worst.spark.points] == [1.0, 0.5]
    assert worst.command == "dyno compare a@1.0 a@1.1 --suite room"
    assert found.rows[1].more_cases == 101
    lone = found.rows[3]
    assert (lone.run_id, lone.baseline, lone.accuracy) == (first.run_id, "", None)
    assert lone.command == "dyno history lone --metric accuracy --suite room"


def test_the_rows_are_those_of_a_comparison_of_the_two(room: Room) -> None:
    run(room, Answerer("a", "1.0"), Answerer("a", "1.1", wrong=ids(0, 9)), count=24)
    row, duel = only(room), compare_agents(room.store, ["a@1.0", "a@1.1"], "room").duels[0]
    assert row.accuracy is not None
    assert row.accuracy.p_value == pytest.approx(2 / 2**9)
    assert (row.accuracy, row.latency, row.cost) == (duel.row("accuracy"), duel.row("speed"), duel.row("cost"))
    assert (row.evidence, row.finding) == ("cases", None)
    assert row.broken == duel.flips.broken
    assert row.run_id == row.baseline_run_id, "the run that holds both is taken"


def test_a_baseline_that_was_set_is_what_counts(room: Room) -> None:
    kept = run(room, Answerer("a", "1.0"), count=24)
    set_baseline(room.store, "a@1.0", suite="room", workspace="here")
    run(room, Answerer("a", "1.1", wrong=ids(0, 12)), count=24)
    run(room, Answerer("a", "1.2", wrong=ids(0, 12)), count=24)
    assert (only(room).baseline, only(room).verdict) == ("a@1.1", "inconclusive")
    (row,) = Changing(room.store, workspace="here").changes().rows
    assert (row.agent, row.baseline, row.verdict) == ("a@1.2", "a@1.0", "worse")
    assert row.baseline_run_id == kept.run_id
    assert row.command == "dyno compare a@1.0 a@1.2 --suite room"


def test_the_run_that_a_baseline_was_set_to_is_taken_though_there_is_a_newer_one(room: Room) -> None:
    kept = run(room, Answerer("a", "1.0"), count=24)
    set_baseline(room.store, "a@1.0")
    run(room, Answerer("a", "1.0", wrong=ids(0, 12)), count=24)
    last = run(room, Answerer("a", "1.1", wrong=ids(0, 12)), count=24)
    row = only(room)
    assert (row.verdict, row.baseline_run_id) == ("worse", kept.run_id)
    assert row.command == f"dyno compare {kept.run_id[:13]} {last.run_id[:13]}"


def test_the_newest_version_that_is_the_baseline_is_the_same(room: Room) -> None:
    run(room, Answerer("a", "1.0"), count=4)
    set_baseline(room.store, "a@1.0")
    assert (only(room).verdict, only(room).summary) == ("same", "a@1.0 is the baseline itself.")


def test_a_version_that_never_answers_is_as_bad_as_can_be(room: Room) -> None:
    run(room, Answerer("a", "1.0"), count=6)
    broken = run(room, Answerer("a", "1.1", fails=ids(0, 6)), count=6)
    row = only(room)
    assert (row.verdict, row.severity, row.since, row.run_id) == ("worse", Severity.CRITICAL, "1.1", broken.run_id)
    assert row.summary == "Worse than a@1.0: a@1.1 gave no usable answer."


def test_errors_make_a_version_worse(room: Room) -> None:
    run(room, Answerer("a", "1.0"), count=24)
    run(room, Answerer("a", "1.1", fails=ids(0, 24)[::3]), count=24)
    row = only(room)
    assert row.verdict == "worse"
    assert row.error_rate is not None
    assert row.error_rate.change == pytest.approx(1 / 3)
    assert [key.case_id for key in row.broken] == ids(0, 24)[::3]
    assert (row.errors[0].status, row.errors[0].count) == ("error", 8)


def test_versions_go_by_their_number_and_not_by_when_they_ran(room: Room) -> None:
    run(room, Answerer("a", "1.9"), Answerer("a", "1.10", wrong=ids(0, 12)), count=24)
    assert (only(room).agent, only(room).baseline) == ("a@1.10", "a@1.9")


def test_what_is_simulated_is_never_in_it(room: Room) -> None:
    run(room, Simulated("made-up", "1.0"), count=12)
    run(room, Simulated("made-up", "1.1", wrong=ids(0, 12)), count=12)
    asked = Changing(room.store)
    assert asked.changes().rows == ()
    assert asked.changes().quiet.startswith("No agent has been benchmarked in the last 90 days.")
    assert (asked.changes().runs_today, asked.alerts()) == (0, ())
    run(room, Answerer("made-up", "1.0"), count=12)
    run(room, Simulated("made-up", "1.0", wrong=ids(0, 12)), count=12)
    row = only(room)
    assert (row.agent, row.verdict) == ("made-up@1.0", "no-baseline")
    run(room, Answerer("made-up", "1.1"), count=12)
    row = only(room)
    assert (row.baseline, row.verdict, row.broken, row.fixed) == ("made-up@1.0", "inconclusive", (), ())
    assert Changing(room.store).alerts() == ()


def test_versions_without_a_common_case_are_inconclusive_and_say_why(room: Room) -> None:
    run(room, Answerer("a", "1.0"), count=6)
    put(room, room.suite(dataset={"cases": cases(6, start=10)}), Answerer("a", "1.1"))
    row = only(room)
    assert (row.verdict, row.more_cases) == ("inconclusive", None)
    assert row.summary == "a@1.0 and a@1.1 have no case in common."


def test_totals_alone_cannot_be_compared(totals: Store) -> None:
    imported(totals, one("a", "1", NOW - DAY_MS), one("a", "2", NOW), one("b", "1", NOW))
    found = Changing(totals, now_ms=NOW).changes()
    assert [(row.agent, row.baseline, row.verdict) for row in found.rows] == [
        ("a@2", "a@1", "inconclusive"),
        ("b@1", "", "no-baseline"),
    ]
    assert "Only totals of a@2 are stored" in found.rows[0].summary
    assert found.quiet == ("Nothing is worse than its baseline. 1 comparison is inconclusive. 1 has no baseline.")


def test_whoever_was_not_benchmarked_for_ninety_days_is_not_on_the_list(totals: Store) -> None:
    imported(totals, one("old", "1", NOW - 91 * DAY_MS), one("new", "1", NOW - 89 * DAY_MS))
    assert [row.agent for row in Changing(totals, now_ms=NOW).changes().rows] == ["new@1"]


def test_today_begins_at_midnight_and_counts_what_is_known(totals: Store) -> None:
    midnight = NOW // DAY_MS * DAY_MS
    imported(
        totals,
        one("a", "1", midnight - 1, cost_usd=100.0),
        one("a", "1", midnight, cost_usd=0.25),
        one("a", "1", NOW, cost_usd=0.5, benchmark="talks"),
        one("b", "1", NOW),
        one("c", "1", NOW, cost_usd=9.0, simulated=True),
    )
    found = Changing(totals, now_ms=NOW).changes()
    assert (found.spent_today_usd, found.unpriced_today, found.runs_today) == (0.75, 1, 0)
    later = Changing(totals, now_ms=NOW + DAY_MS).changes()
    assert (later.spent_today_usd, later.unpriced_today) == (None, 0)


def test_more_executions_of_today_than_a_row_reads_are_all_counted(totals: Store) -> None:
    imported(totals, *(one("a", "1", NOW - number, cost_usd=0.5) for number in range(1_000)))
    assert Changing(totals, now_ms=NOW).changes().spent_today_usd == 500.0


def test_an_earlier_version_is_found_however_much_was_run_since(totals: Store) -> None:
    imported(totals, one("a", "1", NOW - DAY_MS))
    imported(totals, *(one("a", "2", NOW - number) for number in range(1_000)))
    (row,) = Changing(totals, now_ms=NOW).changes().rows
    assert row.baseline == "a@1"


def test_the_answer_is_kept_until_an_execution_or_a_baseline_changes(room: Room) -> None:
    run(room, Answerer("a", "1.0"), count=4)
    run(room, Answerer("a", "1.1"), count=4)
    shared: Answers[Answer] = Answers()
    first = Changing(room.store, cache=shared).changes()
    assert Changing(room.store, cache=shared).changes() is first
    set_baseline(room.store, "a@1.1")
    second = Changing(room.store, cache=shared).changes()
    assert [row.verdict for row in second.rows] == ["same"]
    run(room, Answerer("a", "1.2"), count=4)
    assert [row.agent for row in Changing(room.store, cache=shared).changes().rows] == ["a@1.2"]
    tomorrow = Changing(room.store, cache=shared, now_ms=time.time_ns() // 1_000_000 + DAY_MS).changes()
    assert tomorrow.runs_today == 0


def test_a_row_and_its_alerts_look_at_the_history_once(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    run(room, Answerer("a", "1.0"), Answerer("b", "1.0"))
    run(room, Answerer("a", "1.1"), Answerer("b", "1.1"))
    looked: list[str] = []

    def over_time(agent: str, rows: Sequence[Executed], threshold: Mapping[str, float]) -> OverTime:
        looked.append(agent)
        return watched_over_time(agent, rows, threshold)

    monkeypatch.setattr(ask_rows, "over_time", over_time)
    asked = Changing(room.store)
    asked.changes()
    asked.alerts()
    assert sorted(looked) == ["a", "b"]


def test_only_what_has_run_again_is_compared_anew(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    run(room, Answerer("a", "1.0"), Answerer("b", "1.0"), count=8)
    run(room, Answerer("a", "1.1", wrong=ids(0, 8)), count=8)
    run(room, Answerer("b", "1.1"), count=8)
    memo = ChangeMemo()
    first = Changing(room.store, memo=memo).changes()
    alerts = Changing(room.store, memo=memo).alerts()
    assert (len(memo.compared), len(memo.watched)) == (2, 2)
    last = run(room, Answerer("b", "1.2"), count=8)
    read, kept = [], room.store.runs.iter_samples

    def spying(run_id: str, *, arm_id: str | None = None, **wanted: bool) -> Iterator[Sample]:
        read.append(run_id)
        return kept(run_id, arm_id=arm_id, **wanted)

    monkeypatch.setattr(room.store.runs, "iter_samples", spying)
    second = Changing(room.store, memo=memo).changes()
    assert second.rows[0] == first.rows[0]
    assert second.rows[1].agent == "b@1.2"
    assert sorted(read) == sorted([second.rows[1].baseline_run_id, last.run_id])
    assert second == Changing(room.store).changes(), "what is kept says the same as what is made"
    read.clear()
    assert Changing(room.store, memo=memo).alerts() == alerts == Changing(room.store, memo=ChangeMemo()).alerts()
    assert (alerts[0].run_id, alerts[0].baseline_run_id) == (first.rows[0].run_id, first.rows[0].baseline_run_id)


def test_a_run_that_was_judged_anew_is_compared_anew(room: Room) -> None:
    run(room, Answerer("a", "1.0"), count=8)
    last = run(room, Answerer("a", "1.1"), count=8)
    memo = ChangeMemo()
    assert Changing(room.store, memo=memo).changes().rows[0].verdict == "inconclusive"
    samples = [
        replace(item, status=Status.FAILED, scores={"score": 0.0})
        for item in room.store.runs.iter_samples(last.run_id)
    ]
    room.store.runs.update_scores(last.run_id, samples)
    header = room.store.runs.load(last.run_id, samples=False)
    later = replace(header, finished_at=(header.finished_at or 0) + 1)
    room.store.runs.finish(close_run(room.store, later, observed={}))
    assert Changing(room.store, memo=memo).changes().rows[0].verdict == "worse"


def test_comparisons_are_kept_as_long_as_their_runs_are_finished() -> None:
    done: list[Result] = [("d", "arm", 1), ("e", "arm", 2)]
    assert finished(done) == finished(list(done))
    assert finished(done) != finished([("d", "arm", 1), ("e", "arm", 3)]), "a run that was judged anew"
    assert finished([("d", "arm", 1), ("e", "arm", None)]) is None
    assert finished([]) is None


def test_a_regression_is_an_alert_until_somebody_acknowledges_it(room: Room) -> None:
    old = run(room, Answerer("a", "1.0"), count=24)
    new = run(room, Answerer("a", "1.1", wrong=ids(0, 12)), count=24)
    asked = Changing(room.store)
    alert = next(item for item in asked.alerts() if item.regression.metric == "accuracy")
    assert (alert.agent, alert.suite_id, alert.regression.version) == ("a", "room", "1.1")
    assert alert.regression.detector is Detector.VERSION
    assert (alert.run_id, alert.baseline_run_id) == (new.run_id, old.run_id)
    assert alert.acknowledged_at is None
    room.store.service.acknowledge(alert.alert_id, "ada", "known", NOW)
    assert alert.alert_id not in {item.alert_id for item in asked.alerts()}
    told = next(item for item in asked.alerts(all=True) if item.alert_id == alert.alert_id)
    assert (told.acknowledged_by, told.acknowledged_at, told.note) == ("ada", NOW, "known")
    room.store.service.unacknowledge(alert.alert_id)
    assert alert in asked.alerts()
    run(room, Answerer("b"), count=4)
    assert alert.alert_id in {item.alert_id for item in Changing(room.store).alerts()}, "it stays the same"


def test_a_level_that_fell_is_an_alert_with_the_run_since_which_it_is_so(totals: Store) -> None:
    draw = random.Random(4)
    rows = [
        one("a", "1" if day < 12 else "2", NOW + (day - 24) * DAY_MS, accuracy=level + draw.gauss(0, 0.01))
        for day, level in enumerate([0.9] * 12 + [0.6] * 12)
    ]
    imported(totals, *rows)
    asked = Changing(totals, now_ms=NOW)
    (alert,) = asked.alerts()
    assert (alert.regression.detector, alert.regression.version) == (Detector.HISTORY, "2")
    assert alert.regression.since == NOW - 12 * DAY_MS
    assert (alert.run_id, alert.baseline_run_id) == ("", ""), "what came from outside has no run"
    (row,) = asked.changes().rows
    assert row.spark is not None
    assert [change.index for change in row.spark.changes] == [12]

    assert (row.verdict, row.severity, row.since, row.evidence) == ("worse", Severity.HIGH, "2", "history")
    assert row.finding == alert.regression
    assert row.summary.endswith("Only totals of a@2 are stored: nothing can be compared case by case.")
    assert row.command == f"dyno history a --regressions --suite {SUITE.suite_id}"


def test_dollars_are_watched_where_no_target_makes_a_score_of_them(totals: Store) -> None:
    draw = random.Random(4)
    rows = [
        one("a", "1", NOW + (day - 24) * DAY_MS, samples=1, cost_usd=level * (1 + draw.gauss(0, 0.01)))
        for day, level in enumerate([0.01] * 12 + [0.03] * 12)
    ]
    imported(totals, *rows)
    (row,) = Changing(totals, now_ms=NOW).changes().rows
    assert (row.verdict, row.evidence) == ("worse", "history")
    assert row.finding is not None
    assert (row.finding.metric, row.finding.since) == ("cost_usd", NOW - 12 * DAY_MS)


def went(room: Room, name: str, *levels: tuple[str, float, int], last: int = 12) -> None:
    """A month of daily totals, so many days at each level, that came from outside."""
    (suite,) = room.store.boards.suites()
    draw, today = random.Random(4), time.time_ns() // 1_000_000 - last * DAY_MS
    days = [(version, level) for version, level, count in levels for _ in range(count)]
    room.store.boards.add_executions(
        [
            Execution(name, version, suite.digest, "room", today - ago * DAY_MS, accuracy=level + draw.gauss(0, 0.01))
            for ago, (version, level) in zip(range(len(days), 0, -1), days, strict=True)
        ]
    )


def test_a_fall_that_two_versions_do_not_show_is_told_beside_them(room: Room) -> None:
    run(room, Answerer("a", "2", wrong=ids(0, 2)), Answerer("b", "1"), count=4)
    run(room, Answerer("a", "3", wrong=ids(0, 2)), Answerer("b", "2"), count=4)
    went(room, "a", ("1", 0.93, 16), ("2", 0.5, 10), last=1)
    asked = Changing(room.store)
    rows = {row.name: row for row in asked.changes().rows}
    row = rows["a"]
    assert (row.verdict, row.evidence, row.baseline, row.severity) == ("inconclusive", "cases", "a@2", None)
    assert row.finding is not None
    assert (row.finding.metric, row.finding.version) == ("accuracy", "2")
    assert f"Its history is worse all the same (see alerts): {row.finding.explanation}" in row.summary
    assert row.summary.endswith(": `dyno history a --regressions --suite room`.")
    assert row.command.startswith("dyno compare a@2 a@3")
    assert row.finding.explanation in [alert.regression.explanation for alert in asked.alerts()]
    assert rows["b"].finding is None
    assert rows["b"].verdict == "inconclusive"


def test_a_fall_that_two_versions_show_is_told_once(room: Room) -> None:
    run(room, Answerer("a", "2"), count=24)
    run(room, Answerer("a", "3", wrong=ids(0, 12)), count=24)
    went(room, "a", ("1", 0.93, 16), ("2", 0.5, 10), last=1)
    assert (only(room).verdict, only(room).finding) == ("worse", None)


def test_a_fall_from_an_imported_version_is_worse_though_there_is_no_baseline(room: Room) -> None:
    run(room, Answerer("a", "2", wrong=ids(0, 2)), Answerer("b", "1"), Answerer("c", "1"), count=4)
    went(room, "a", ("1", 0.93, 16), ("2", 0.5, 10), last=1)
    went(room, "c", ("0", 0.5, 16), ("1", 0.93, 10), last=1)
    found = changes(room)
    assert [(row.name, row.verdict, row.evidence) for row in found.rows] == [
        ("a", "worse", "history"),
        ("c", "better", "history"),
        ("b", "no-baseline", ""),
    ]
    assert found.quiet == ""
    row = found.rows[0]
    (reported, *_) = Histories(room.store).regressions("a", suite="room").regressions
    assert row.finding == reported
    assert (row.severity, row.since, row.baseline) == (reported.severity, "2", "")
    assert row.summary.endswith("Of the versions before a@2 only totals are stored.")
    assert row.spark is not None
    assert (row.spark.metric, len(row.spark.points)) == ("accuracy", 27)
    assert [change.version_after for change in row.spark.changes] == ["2"]


def test_what_history_shows_is_ordered_by_how_grave_it_is(room: Room) -> None:
    run(room, Answerer("cases", "1.0"), Answerer("fell", "2"), count=24)
    run(room, Answerer("cases", "1.1", wrong=ids(0, 6)), count=24)
    went(room, "fell", ("1", 0.93, 16), ("2", 0.3, 10), last=1)
    assert [(row.name, row.severity, row.evidence) for row in changes(room).rows] == [
        ("fell", Severity.CRITICAL, "history"),
        ("cases", Severity.MEDIUM, "cases"),
    ]


def test_a_long_history_is_looked_at_as_far_back_as_its_report_does(totals: Store) -> None:
    """The row itself reads 120 executions of the two benchmarks."""
    draw = random.Random(4)
    imported(
        totals,
        *(
            one("a", "1", NOW - ago * 3_600_000, accuracy=(0.9 if ago > 150 else 0.6) + draw.gauss(0, 0.01))
            for ago in range(300, 0, -1)
        ),
    )
    (row,) = Changing(totals, now_ms=NOW).changes().rows
    assert (row.verdict, row.evidence) == ("worse", "history")
    assert row.spark is not None
    assert len(row.spark.points) == 30


def test_a_baseline_that_fell_since_it_was_set_is_worse_than_it_was(room: Room) -> None:
    run(room, Answerer("a", "1.0"), Answerer("b", "1.0"), count=4)
    set_baseline(room.store, "a@1.0")
    set_baseline(room.store, "b@1.0")
    went(room, "a", ("1.0", 0.9, 9), ("1.0", 0.3, 9), last=-20)
    went(room, "b", ("1.0", 0.9, 9), ("1.0", 0.3, 9), last=1)
    row, same = changes(room).rows
    assert (row.name, row.verdict, row.evidence, row.since) == ("a", "worse", "history", "1.0")
    assert row.summary.endswith("a@1.0 is the baseline itself.")
    assert (same.name, same.verdict, same.evidence) == ("b", "same", ""), "it fell before"


def test_since_is_the_version_in_which_the_level_fell(room: Room) -> None:
    for number in range(6):
        run(room, Answerer("a", "1.0"), count=12)
        if not number:
            set_baseline(room.store, "a@1.0")
    for version in ("1.1", "1.1", "1.1", "1.1", "1.2", "1.2"):
        run(room, Answerer("a", version, wrong=ids(0, 9)), count=12)
    row = only(room)
    assert (row.agent, row.baseline, row.verdict, row.since) == ("a@1.2", "a@1.0", "worse", "1.1")


def test_one_agent_in_two_suites_has_two_rows(room: Room) -> None:
    run(room, Answerer("a", "1.0"), count=4)
    run(room, Answerer("a", "1.0"), count=4, name="other")
    assert sorted(row.suite_id for row in changes(room).rows) == ["other", "room"]


def test_a_baseline_whose_run_no_longer_holds_it_is_named(room: Room) -> None:
    row = set_baseline_of_nothing(room)
    assert row.verdict == "inconclusive"
    assert "a@1.0 is not in run 00000000-0000 any more" in row.summary


def set_baseline_of_nothing(room: Room) -> ChangeRow:
    run(room, Answerer("a", "1.0"), count=4)
    kept, _ = set_baseline(room.store, "a@1.0")
    room.store.boards.set_baseline(replace(kept, run_id="00000000-0000-7000-8000-000000000000"))
    run(room, Answerer("a", "1.1"), count=4)
    return only(room)


def test_an_empty_store_is_quiet(room: Room) -> None:
    found = changes(room)
    assert (found.rows, found.spent_today_usd, found.runs_today) == ((), None, 0)
    assert set(found.counts.values()) == {0}
    with pytest.raises(NotComparable):
        compare_agents(room.store, ["a"], None)
