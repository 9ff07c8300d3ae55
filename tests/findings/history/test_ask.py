"""How agents and experiments went over time, and what became worse: from real stores."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agentdyno.errors import NotComparable, SpecError, StoreError
from agentdyno.findings.baseline.ask import set_baseline
from agentdyno.findings.history.ask import Histories
from agentdyno.findings.history.model import History
from agentdyno.findings.history.model_regression import Regression, RegressionReport
from agentdyno.model import Arm, MetricSummary, RunResult, RunStatus
from agentdyno.model.identity import new_run_id
from agentdyno.specs import parse_spec
from agentdyno.store import Execution, Store

from ...experiments import measure
from ...store.suite_builders import DAY_MS, MONDAY, SUITE
from ...suites import Room
from ...workbench.answering import Answerer, cases, ids, put, run

NEXT = replace(SUITE, benchmarks=SUITE.benchmarks[:1])
"""The same suite without its second benchmark: another version of it."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "dyno.db") as opened:
        for suite in (SUITE, NEXT):
            opened.boards.add_suite(suite, now_ms=MONDAY)
        yield opened


def series(store: Store, values: list[float], **changes: object) -> None:
    """One execution a day of agent ``a`` in ``sums``; half of them are of version 1, the rest of version 2."""
    half = len(values) // 2
    rows = [
        Execution(
            "a", "1" if day < half else "2", SUITE.digest, "sums", MONDAY + day * DAY_MS, accuracy=value, form="full"
        )
        for day, value in enumerate(values)
    ]
    store.boards.add_executions(replace(row, overall=row.accuracy, **changes) for row in rows)  # type: ignore[arg-type]


def noisy(*levels: tuple[float, int], spread: float = 0.01) -> list[float]:
    rng = random.Random(4)
    return [level + rng.gauss(0, spread) for level, count in levels for _ in range(count)]


def codes(report: RegressionReport) -> set[str]:
    return {warning.code for warning in report.warnings}


def worse(report: RegressionReport) -> list[Regression]:
    """What became worse in answering; real clocks are not part of these tests."""
    return [item for item in report.regressions if item.metric not in ("speed", "efficiency")]


def test_a_drop_between_two_versions_is_found_where_it_happened(store: Store) -> None:
    series(store, noisy((0.9, 12), (0.6, 12)))
    found = Histories(store).of("a", "accuracy")
    (change,) = found.changes
    assert (change.index, change.at, change.better) == (12, MONDAY + 12 * DAY_MS, False)
    assert (change.version_before, change.version_after) == ("1", "2")
    assert change.before == pytest.approx(0.9, abs=0.02)
    assert change.after == pytest.approx(0.6, abs=0.02)
    assert (found.subject, found.suite, len(found.points)) == ("a", "daily-work", 24)
    report = Histories(store).regressions("a")
    assert [(item.metric, item.kind, item.since) for item in report.regressions][:1] == [
        ("accuracy", "step", MONDAY + 12 * DAY_MS)
    ]
    assert codes(report) == {"no-version-check"}, "no cases are stored, and that is said"
    assert "imported totals" in report.warnings[0].message
    assert report.health is not None
    assert report.health < 100


def test_a_change_of_the_suite_is_no_regression(store: Store) -> None:
    values = noisy((0.9, 12), (0.6, 12))
    series(store, values[:12])
    rows = [
        Execution("a", "1", NEXT.digest, "sums", MONDAY + (12 + day) * DAY_MS, accuracy=value, overall=value)
        for day, value in enumerate(values[12:])
    ]
    store.boards.add_executions(rows)
    found = Histories(store).of("a", "accuracy")
    (change,) = found.changes
    assert "the suite changed" in change.cause
    assert not change.comparable
    assert "cannot be put down to the subject" in found.note
    assert Histories(store).regressions("a").regressions == ()


def test_the_level_of_a_baseline_version_is_the_median_of_its_points(store: Store) -> None:
    series(store, [0.2, 0.4, 0.9, 0.6, 0.5, 0.1, 0.3, 0.7])
    asked = Histories(store)
    assert asked.of("a", "accuracy", baseline="1").baseline == pytest.approx(0.5)
    assert asked.of("a@2", "accuracy", baseline="a@1").baseline == pytest.approx(0.5)
    assert [point.version for point in asked.of("a@2", "accuracy").points] == ["2"] * 4
    with pytest.raises(StoreError, match="a has no version '3' here"):
        asked.of("a", "accuracy", baseline="3")


def test_days_and_benchmark_and_suite_narrow_a_history(store: Store) -> None:
    series(store, [0.5] * 6)
    series(store, [0.7] * 4, benchmark="talks")
    asked = Histories(store, now_ms=MONDAY + 5 * DAY_MS)
    assert _values(asked.of("a", "accuracy", benchmark="talks")) == [0.7] * 4
    assert _values(asked.of("a", "accuracy", benchmark="sums", days=2)) == [0.5] * 3
    assert _values(asked.of("a", "accuracy", suite="Daily work", benchmark="sums")) == [0.5] * 6
    with pytest.raises(SpecError, match=r"a has run no benchmark 'sumz'\n  Did you mean sums"):
        asked.of("a", "accuracy", benchmark="sumz")
    with pytest.raises(StoreError, match="Did you mean daily-work"):
        asked.of("a", "accuracy", suite="daily-wrk")


def test_too_few_points_are_said_to_be_too_few_and_how_many_are_needed(store: Store) -> None:
    series(store, [0.9, 0.1, 0.9])
    found = Histories(store).of("a", "accuracy")
    assert found.changes == ()
    assert found.note.startswith("3 points:")
    assert "more" in found.note
    assert "short-history" in codes(Histories(store).regressions("a"))


def test_equal_values_are_said_to_be_equal(store: Store) -> None:
    series(store, [0.5] * 20)
    found = Histories(store).of("a", "accuracy")
    assert (found.changes, found.note) == ((), "All values are equal.")
    report = Histories(store).regressions("a")
    assert (report.regressions, report.health) == ((), 100)


def test_an_unknown_metric_subject_or_agent_answers_with_the_nearest(store: Store) -> None:
    series(store, [0.5] * 3)
    asked = Histories(store)
    with pytest.raises(SpecError, match=r"(?s)acuracy has no history.*Did you mean accuracy"):
        asked.of("a", "acuracy")
    with pytest.raises(StoreError, match="neither an agent nor an experiment 'b' has a result here"):
        asked.of("b")
    with pytest.raises(StoreError, match="no agent 'b' has been benchmarked here"):
        asked.regressions("b")
    with pytest.raises(SpecError, match="suite and baseline goes with agents"):
        asked.of("b", suite="daily-work", baseline="1")


def test_a_version_is_held_against_the_one_before_it(room: Room) -> None:
    for version, wrong in (("1.0", ids(0, 0)), ("1.1", ids(0, 1)), ("1.2", ids(0, 12))):
        run(room, Answerer("a", version, wrong), count=24)
    report = Histories(room.store).regressions("a")
    assert (report.baseline, report.current, report.suite) == ("a@1.1", "a@1.2", "room")
    (found,) = worse(report)
    assert (found.metric, found.kind, found.relative) == ("accuracy", "drop", True)
    assert found.baseline == pytest.approx(23 / 24)
    assert found.current == 0.5
    assert found.amount == pytest.approx(11 / 23)
    assert [key.case_id for key in found.impact.cases] == ids(1, 12)
    assert "separate-runs" in codes(report), "what was not interleaved is said not to be"
    assert report.health is not None
    assert report.health < 100
    earlier = Histories(room.store).regressions("a@1.1")
    assert (earlier.baseline, earlier.current) == ("a@1.0", "a@1.1"), "a later version is not the one before"
    assert worse(earlier) == []
    first = Histories(room.store).regressions("a@1.0")
    assert (first.baseline, first.current, "no-baseline" in codes(first)) == ("", "a@1.0", True)


def test_a_named_baseline_goes_before_the_one_that_was_set(room: Room) -> None:
    for version, wrong in (("1.0", ids(0, 0)), ("1.1", ids(0, 12)), ("1.2", ids(0, 12))):
        run(room, Answerer("a", version, wrong), count=24)
    asked = Histories(room.store)
    assert worse(asked.regressions("a")) == [], "no worse than 1.1"
    set_baseline(room.store, "a@1.0")
    report = asked.regressions("a")
    assert (report.baseline, [item.metric for item in worse(report)]) == ("a@1.0", ["accuracy"])
    named = asked.regressions("a", baseline="1.1")
    assert (named.baseline, worse(named)) == ("a@1.1", [])
    itself = asked.regressions("a", baseline="a@1.2")
    assert "is-baseline" in codes(itself)
    with pytest.raises(StoreError, match=r"a has no version '1\.3' here"):
        asked.regressions("a", baseline="1.3")
    set_baseline(room.store, "a@1.2")
    assert "is-baseline" in codes(asked.regressions("a")), "what was promoted is not held against what it replaced"


def test_a_threshold_decides_what_counts(room: Room) -> None:
    for version, wrong in (("1.0", ids(0, 0)), ("1.1", ids(0, 12))):
        run(room, Answerer("a", version, wrong), count=40)
    asked = Histories(room.store)
    assert [item.metric for item in worse(asked.regressions("a", threshold=0.25))] == ["accuracy"]
    assert worse(asked.regressions("a", threshold=0.35)) == []


def test_a_version_before_without_a_common_case_leaves_the_history_to_be_looked_at(room: Room) -> None:
    run(room, Answerer("a", "1.0"))
    put(room, room.suite(dataset={"cases": cases(4, 50)}), Answerer("a", "1.1"))
    report = Histories(room.store).regressions("a")
    assert report.regressions == ()
    assert "no-version-check" in codes(report)
    with pytest.raises(NotComparable, match="no case in common"):
        Histories(room.store).regressions("a", baseline="1.0")


def experiment(room: Room, medians: list[float], metric: str = "duration_s") -> None:
    """Runs of one arm, a day apart."""
    (room.folder / "bench.py").write_text("def work(n: int = 1):\n    return {'rows': n}\n")
    document = {"name": "w", "experiment": "bench.py@work", "iterations": 3}
    spec = parse_spec(document, source="spec.yaml", base_dir=room.folder)
    made = measure(room.store, room.folder / "runs", spec)
    summary = made.arms[0].metrics[metric]
    for day, value in enumerate(medians):
        _again(room.store, made, day, {metric: replace(summary, median=value)})


def _again(store: Store, made: RunResult, day: int, metrics: dict[str, MetricSummary]) -> None:
    at = made.started_at + (1 + day) * DAY_MS
    arm = replace(made.arms[0], metrics=metrics, samples=(), artifacts=())
    header = replace(made, run_id=new_run_id(), started_at=at, finished_at=None, arms=(), status=RunStatus.RUNNING)
    store.runs.begin(header, [Arm(arm.arm_id, arm.name, arm.experiment, arm.params)], {arm.arm_id: 3})
    store.runs.finish(replace(header, status=RunStatus.COMPLETE, finished_at=at + 1_000, arms=(arm,)))


def test_an_experiment_has_a_history_over_its_runs(room: Room) -> None:
    experiment(room, noisy((1.0, 12), (1.5, 12)))
    found = Histories(room.store).of("work")
    name = found.subject
    assert (found.metric, found.unit, found.higher_is_better, len(found.points)) == ("duration_s", "s", False, 25)
    assert [(change.index, change.better) for change in found.changes if change.before > 0.5] == [(13, False)]
    assert Histories(room.store).of(name, "duration_s") == found
    with pytest.raises(SpecError, match=r"(?s)has no metric 'duraton_s'.*Did you mean duration_s"):
        Histories(room.store).of(name, "duraton_s")


def test_regressions_of_an_experiment_are_those_of_its_runs(room: Room) -> None:
    experiment(room, noisy((1.0, 12), (1.5, 12)))
    report = Histories(room.store).regressions("work")
    (found,) = report.regressions
    assert (found.metric, found.confirmed, report.has_regressions) == ("duration_s", True, True)
    assert found.amount == pytest.approx(0.5, abs=0.05)
    assert report.health is not None
    assert report.health < 100
    assert Histories(room.store).regressions(report.agent) == report
    with pytest.raises(SpecError, match="suite and baseline goes with agents"):
        Histories(room.store).regressions("work", suite="s", baseline="1")
    with pytest.raises(StoreError, match=r"(?s)neither an agent nor an experiment 'wrk'.*Did you mean work"):
        Histories(room.store).regressions("wrk")


def test_few_runs_of_an_experiment_are_not_called_healthy(room: Room) -> None:
    experiment(room, [1.0, 1.0])
    report = Histories(room.store).regressions("work")
    assert (report.health, report.has_regressions) == (None, False)


def test_an_old_store_says_once_that_the_form_of_its_runs_is_not_known(store: Store) -> None:
    told = "Whether 4 runs were whole ones is not known: recorded before that was kept, or by another tool"
    series(store, [0.9] * 4, form="unknown")
    asked = Histories(store)
    assert asked.of("a", "accuracy").note.count(told) == 1
    assert [item.message for item in asked.regressions("a").warnings if item.code == "unknown-form"] == [told]


def test_whole_runs_need_no_word_about_their_form(store: Store) -> None:
    series(store, [0.9] * 4)
    assert "not known" not in Histories(store).of("a", "accuracy").note
    assert "unknown-form" not in codes(Histories(store).regressions("a"))


def test_a_number_without_a_direction_is_shown_and_not_judged(room: Room) -> None:
    experiment(room, noisy((1.0, 12), (1.5, 12)), "result.rows")
    found = Histories(room.store).of("work", "result.rows")
    assert found.higher_is_better is None
    assert [change.better for change in found.changes] == [None] * len(found.changes)
    assert found.changes


def test_a_median_that_is_no_number_is_no_point(room: Room) -> None:
    experiment(room, [1.0, float("nan"), 1.0, float("inf")])
    found = Histories(room.store).of("work")
    assert len(found.points) == 3
    assert all(math.isfinite(point.value) for point in found.points)


def _values(found: History) -> list[float]:
    return [point.value for point in found.points]
