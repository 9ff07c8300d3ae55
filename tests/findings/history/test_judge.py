from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.findings.history.judge import history, history_regressions
from agentdyno.findings.history.model import History, HistoryLevel, HistoryPoint
from agentdyno.findings.history.model_regression import Detector, Severity

WAVE = (0.0, 0.01, -0.01, 0.02, -0.02, 0.01, 0.0, -0.01)
"""Noise without chance: its median is 0."""


def series(*levels: tuple[float, int]) -> list[float]:
    found: list[float] = []
    for level, length in levels:
        found += [level * (1 + WAVE[place % len(WAVE)]) for place in range(length)]
    return found


def points(values: Sequence[float], switch: int | None = None, **names: tuple[str, str]) -> list[HistoryPoint]:
    """``names`` gives an attribute's value before and from ``switch`` on."""
    made = []
    for place, value in enumerate(values):
        late = switch is not None and place >= switch
        own = {name: pair[late] for name, pair in names.items()}
        point = HistoryPoint(1_000 * place, value, own.get("version", ""), f"run {place}")
        made.append(replace(point, suite=own.get("suite", ""), machine_id=own.get("machine_id", "")))
    return made


def of(found: Sequence[HistoryPoint], metric: str = "duration_s", better: bool | None = False) -> History:
    unit = "s" if metric == "duration_s" else "ratio"
    return history("helper", metric, found, unit=unit, higher_is_better=better)


def test_a_step_is_found_with_its_levels_time_and_direction() -> None:
    (change,) = of(points(series((1.0, 24), (1.5, 24)))).changes
    assert (change.index, change.at) == (24, 24_000)
    assert [change.before, change.after] == pytest.approx([1.0, 1.5])
    assert change.relative == pytest.approx(0.5)
    assert change.confirmed
    assert change.better is False
    assert change.comparable


def test_more_is_better_where_the_metric_says_so() -> None:
    values = series((1.0, 24), (1.5, 24))
    assert of(points(values), "accuracy", True).changes[0].better is True
    assert of(points(values), "made_up", None).changes[0].better is None
    assert history_regressions([of(points(values), "made_up", None)]) == ([], [])


def test_points_are_put_in_the_order_of_time() -> None:
    made = points(series((1.0, 24), (1.5, 24)))
    assert of(made[::-1]) == of(made)


def test_a_step_for_the_worse_is_a_regression_and_one_for_the_better_an_improvement() -> None:
    worse, better = history_regressions([of(points(series((1.0, 24), (1.5, 24), (0.9, 24))))])
    assert [(item.detector, item.kind, item.since) for item in worse] == [(Detector.HISTORY, "step", 24_000)]
    assert worse[0].amount == pytest.approx(0.5)
    assert worse[0].severity is Severity.CRITICAL
    assert worse[0].undone_at == 48_000
    assert [item.amount for item in better] == pytest.approx([-0.4])
    assert better[0].improvement


def test_what_is_only_partly_taken_back_still_stands() -> None:
    worse, _ = history_regressions([of(points(series((1.0, 24), (1.6, 24), (1.3, 24))))])
    assert [item.undone_at for item in worse] == [None]


def test_what_returns_is_not_taken_back() -> None:
    worse, _ = history_regressions([of(points(series((1.0, 24), (1.5, 24), (1.0, 24), (1.5, 24))))])
    assert [item.undone_at for item in worse] == [None, None]


def test_a_provisional_return_leaves_what_was_taken_back_so() -> None:
    found = of(points(series((1.0, 24), (1.5, 24), (1.0, 24), (1.5, 3))))
    assert [change.confirmed for change in found.changes] == [True, True, False]
    assert [item.undone_at for item in history_regressions([found])[0]] == [48_000, None]


def test_a_change_below_the_threshold_stays_in_the_history_and_is_no_regression() -> None:
    found = of(points(series((1.0, 40), (1.08, 40))))
    assert len(found.changes) == 1
    assert history_regressions([found]) == ([], [])
    assert len(history_regressions([found], threshold=0.05)[0]) == 1


def test_a_level_of_zero_is_left_by_a_plain_difference() -> None:
    values = [0.0] * 20 + series((0.2, 20))
    (found,), _ = history_regressions([of(points(values), "failure_rate", False)])
    assert (found.baseline, found.relative) == (0.0, False)
    assert found.amount == pytest.approx(0.2)
    assert found.severity is Severity.MEDIUM


def test_a_provisional_step_is_confirmed_by_later_points() -> None:
    early = of(points(series((1.0, 30), (1.5, 3))))
    assert [(change.index, change.confirmed) for change in early.changes] == [(30, False)]
    (found,), _ = history_regressions([early])
    assert not found.confirmed
    assert "provisional, seen in 3 points" in found.explanation
    later = of(points(series((1.0, 30), (1.5, 12))))
    assert [(change.index, change.confirmed) for change in later.changes] == [(30, True)]


def test_a_provisional_step_is_withdrawn_by_later_points() -> None:
    values = series((1.0, 30), (1.5, 2))
    assert [change.confirmed for change in of(points(values)).changes] == [False]
    for later in (1, 4, 20):
        assert of(points([*values, *series((1.0, later))])).changes == ()


def test_a_step_at_a_change_of_the_suite_is_not_put_down_to_the_subject() -> None:
    made = points(series((1.0, 24), (1.5, 24)), 24, suite=("s1", "s2"), version=("1", "2"))
    found = of(made, "accuracy", False)
    (change,) = found.changes
    assert not change.comparable
    assert change.cause == "the suite changed, version 1 → 2"
    assert history_regressions([found]) == ([], [])
    assert "another suite, machine or recording" in found.note


def test_another_machine_excuses_only_what_depends_on_it() -> None:
    made = points(series((1.0, 24), (1.5, 24)), 24, machine_id=("m1", "m2"))
    assert not of(made).changes[0].comparable
    accuracy = of(made, "accuracy", False).changes[0]
    assert accuracy.comparable
    assert accuracy.cause == "the machine changed"


def test_calls_that_are_recorded_from_some_run_on_excuse_only_what_the_proxy_can_slow_down() -> None:
    for before, cause in (
        (False, "model calls were recorded from here on"),
        (True, "model calls were recorded until here"),
    ):
        made = [
            replace(point, proxied=before if place < 24 else not before)
            for place, point in enumerate(points(series((1.0, 24), (1.5, 24))))
        ]
        slower = of(made)
        assert not slower.changes[0].comparable
        assert slower.changes[0].cause == cause
        assert history_regressions([slower]) == ([], [])
        assert of(made, "accuracy", False).changes[0].comparable


def test_a_machine_that_is_not_known_excuses_nothing() -> None:
    assert of(points(series((1.0, 24), (1.5, 24)), 24, machine_id=("", "m2"))).changes[0].comparable


def test_a_suite_that_changed_long_before_excuses_nothing() -> None:
    assert of(points(series((1.0, 24), (1.5, 24)), 12, suite=("s1", "s2"))).changes[0].comparable


def test_runs_that_alternate_between_machines_excuse_nothing() -> None:
    made = [
        HistoryPoint(place, value, machine_id="ab"[place % 2])
        for place, value in enumerate(series((1.0, 24), (1.5, 24)))
    ]
    assert of(made).changes[0].comparable


def test_the_version_that_brought_a_step_is_named_also_one_point_off() -> None:
    for switch in (23, 24, 25):
        found = of(points(series((1.0, 24), (1.5, 24)), switch, version=("1.3", "1.4")))
        (change,) = found.changes
        assert (change.version_before, change.version_after) == ("1.3", "1.4")
        assert change.cause == "version 1.3 → 1.4"
        assert history_regressions([found])[0][0].version == "1.4"


def test_a_step_within_a_version_names_that_version() -> None:
    (change,) = of(points(series((1.0, 24), (1.5, 24)), 10, version=("1.3", "1.4"))).changes
    assert (change.version_before, change.version_after, change.cause) == ("1.4", "1.4", "")


@pytest.mark.parametrize(
    ("values", "note"),
    [
        ([], "No point: 6 are needed to tell a change, 6 more."),
        ([1.0], "1 point: 6 are needed to tell a change, 5 more."),
        ([1.0, 2.0, 9.0], "3 points: 6 are needed to tell a change, 3 more."),
        ([1.0] * 20, "All values are equal."),
        ([1.0, math.nan], "1 point without a finite value left out. 1 point: 6 are needed to tell a change, 5 more."),
    ],
)
def test_too_little_to_tell_says_how_much_is_needed(values: list[float], note: str) -> None:
    found = of(points(values))
    assert found.changes == ()
    assert found.note == note


def test_points_without_a_finite_value_are_left_out() -> None:
    values = series((1.0, 24), (1.5, 24))
    values[5] = math.nan
    values[40] = math.inf
    found = of(points(values))
    assert len(found.points) == 46
    assert [change.at for change in found.changes] == [24_000]
    assert found.points[found.changes[0].index].at == 24_000
    assert found.note == "2 points without a finite value left out."


def test_a_baseline_that_is_no_number_is_none() -> None:
    found = history("a", "duration_s", [], unit="s", higher_is_better=False, baseline=math.nan)
    assert found.baseline is None


def test_a_step_of_a_score_says_what_it_takes_from_the_overall_one() -> None:
    (found,), _ = history_regressions([of(points(series((0.8, 24), (0.6, 24))), "accuracy", True)])
    assert found.impact.overall == pytest.approx(0.30 * 0.2)


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=30))
def test_any_numbers_give_a_history_of_finite_numbers(values: list[float]) -> None:
    found = of(points(values))
    worse, better = history_regressions([found])
    for change in found.changes:
        assert all(map(math.isfinite, (change.before, change.after, change.p_value)))
    for item in (*worse, *better):
        assert math.isfinite(item.amount)


def test_now_is_the_level_of_the_last_regime_never_of_everything() -> None:
    found = of(points(series((1.0, 24), (1.5, 24))))
    assert found.now is not None
    assert (found.now.value, found.now.points, found.now.confirmed) == (1.5, 24, True)
    assert (found.now.low, found.now.high) == pytest.approx((1.485, 1.515))
    early = of(points(series((1.0, 10), (1.5, 2)))).now
    assert early is not None
    assert early.value == pytest.approx(1.5075)
    assert (early.points, early.confirmed) == (2, False)
    assert of([]).now is None


def test_one_point_stands_where_it_is_without_an_interval() -> None:
    assert of(points([2.0])).now == HistoryLevel(2.0, None, None, 1)


def test_a_first_run_with_cold_caches_is_no_regime_and_not_where_the_series_stands() -> None:
    found = of(points([1.9, *series((1.0, 9))]))
    assert found.changes == ()
    assert found.now is not None
    assert found.now.value == pytest.approx(1.0)
    assert (found.now.high or 2.0) < 1.1


def test_a_growing_series_has_a_drift_and_stands_at_its_end() -> None:
    found = of(points([1.05**place for place in range(20)]))
    assert found.changes == ()
    assert found.drift is not None
    assert (found.drift.index, found.drift.at) == (0, 0)
    assert [found.drift.before, found.drift.after] == pytest.approx([1.0, 1.05**19])
    assert found.now is not None
    assert found.now.value == pytest.approx(1.05**19, rel=0.01)


def test_a_steady_series_has_no_drift() -> None:
    assert of(points(series((1.0, 20)))).drift is None
    assert of(points(series((1.0, 12), (1.5, 12)))).drift is None


def test_six_points_are_enough_for_a_step_and_for_a_slope() -> None:
    assert [change.index for change in of(points([1.0, 1.01, 0.99, 2.0, 2.01, 1.99])).changes] == [3]
    assert of(points([1.0, 1.1, 1.2, 1.3, 1.4, 1.5])).drift is not None
    assert of(points([1.0, 1.1, 1.2, 1.3, 1.4])).drift is None
