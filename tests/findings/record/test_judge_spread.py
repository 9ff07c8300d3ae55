"""The spread between runs of unchanged code, and which way of normalising steadies it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agentdyno.findings.record.judge_spread import (
    FINEST,
    ComparedRuns,
    RunFigure,
    quantity_spread,
    shared_way,
    steadiest_way,
    way_value,
    within_spread,
)

WAYS = ("interpreted", "memory", "none")


def runs(version: str, values: list[float], **more: list[float]) -> list[RunFigure]:
    return [
        RunFigure(
            "a",
            "p",
            version,
            f"a{version}{place}",
            {"duration_s": value, **{name: column[place] for name, column in more.items()}},
        )
        for place, value in enumerate(values)
    ]


def duration(figure: RunFigure) -> float | None:
    return figure.values.get("duration_s")


def test_versions_differ_and_only_what_happens_within_each_is_spread() -> None:
    first, second = [1.0, 1.1, 1.2, 0.9], [5.0, 5.2, 4.9]
    log_sd, degrees = within_spread([*runs("1", first), *runs("2", second)], duration)
    squares = 3 * np.var(np.log(first), ddof=1) + 2 * np.var(np.log(second), ddof=1)
    assert degrees == 5
    assert log_sd == pytest.approx(math.sqrt(squares / 5))


def test_benchmarks_of_one_run_share_its_luck_and_count_as_one() -> None:
    one = runs("1", [1.0, 1.1, 1.2, 0.9])
    other = [RunFigure(item.subject, "q", item.version, item.run_id, {"duration_s": 2.0}) for item in one]
    log_sd, degrees = within_spread([*one, *other], duration)
    assert degrees == 3
    assert log_sd == pytest.approx(math.sqrt(np.var(np.log([1.0, 1.1, 1.2, 0.9]), ddof=1) / 2))


def test_nothing_is_known_from_single_runs() -> None:
    assert within_spread([*runs("1", [1.0]), *runs("2", [3.0])], duration) == (0.0, 0)
    assert quantity_spread(runs("1", [1.0, 1.1, 1.2, 1.3]), duration, "own") is None


def test_the_runs_of_each_side_are_counted_and_their_mean_is_meant() -> None:
    before, now = [1.0, 1.1, 1.2, 0.9, 1.05], [1.4, 1.5]
    figures = [*runs("1", before), *runs("2", now)]
    spread = quantity_spread(figures, duration, "own", (ComparedRuns("1", ("a14",)), ComparedRuns("2", ("a21",))))
    assert spread is not None
    assert (spread.baseline_runs, spread.candidate_runs, spread.degrees) == (5, 2, 5)
    means = np.mean(np.log(now)) - np.mean(np.log(before))
    assert math.log(1.5 / 1.05) - spread.offset == pytest.approx(means)


def test_a_side_whose_run_is_not_among_them_counts_as_one_run() -> None:
    spread = quantity_spread(
        runs("1", [1.0, 1.1, 1.2, 0.9, 1.05]),
        duration,
        "own",
        (ComparedRuns("1", ("other",)), ComparedRuns("2", ("new",))),
    )
    assert spread is not None
    assert (spread.baseline_runs, spread.candidate_runs, spread.offset) == (1, 1, 0.0)


def test_runs_that_agree_to_the_last_digit_are_not_taken_at_their_word() -> None:
    spread = quantity_spread(runs("1", [1.0] * 6), duration, "own")
    assert spread is not None
    assert spread.log_sd == FINEST


WANDERING = [1.0, 1.4, 0.8, 1.3, 0.9, 1.2]
STEADY = [1.0, 1.01, 0.99, 1.0, 1.02, 1.0]


def told(interpreted: list[float], memory: list[float], none: list[float], raw: list[float]) -> list[RunFigure]:
    standards = {
        "reference.interpreted_standard_s": [1e-4] * len(raw),
        "reference.memory_standard_s": [2e-4] * len(raw),
    }
    ways = {"normalised.interpreted_s": interpreted, "normalised.memory_s": memory, "normalised.none_s": none}
    return runs("1", raw, **ways, **standards)


def test_the_usual_reference_stays_where_it_steadies() -> None:
    assert steadiest_way(told(STEADY, WANDERING, WANDERING, WANDERING), WAYS) == "interpreted"
    closer = [1 + (value - 1) * 0.7 for value in STEADY]
    assert steadiest_way(told(STEADY, closer, WANDERING, WANDERING), WAYS) == "interpreted"


def test_another_reference_is_learned_where_it_leaves_half_the_spread() -> None:
    assert steadiest_way(told(WANDERING, STEADY, WANDERING, WANDERING), WAYS) == "memory"


def test_times_that_no_reference_steadies_stay_as_they_are() -> None:
    assert steadiest_way(told(WANDERING, WANDERING, WANDERING, WANDERING), WAYS) == "raw"


def test_nothing_is_learned_from_few_runs_or_a_quiet_day() -> None:
    few = told(STEADY, WANDERING, WANDERING, WANDERING)[:5]
    assert steadiest_way(few, WAYS) is None
    assert steadiest_way(told(STEADY, STEADY, STEADY, STEADY), WAYS) is None
    assert steadiest_way([], WAYS) is None


ALMOST_STEADY = [1.0, 1.05, 0.96, 1.04, 0.97, 1.03]


def test_a_day_on_which_normalised_times_are_steady_says_nothing_against_them() -> None:
    """Where others' work hardly shows, to normalise cannot halve it."""
    quiet = [1.0, 1.1, 0.95, 1.08, 0.96, 1.05]
    assert steadiest_way(told(ALMOST_STEADY, quiet, quiet, quiet), WAYS) is None
    assert steadiest_way(told(ALMOST_STEADY, WANDERING, STEADY, quiet), WAYS) is None
    assert steadiest_way(told(quiet, quiet, quiet, quiet), WAYS) == "raw"


def test_runs_with_another_standard_do_not_count_for_a_reference() -> None:
    figures = told(STEADY, STEADY, STEADY, WANDERING)
    value_of = way_value("interpreted", {"reference.interpreted_standard_s": 9e-4})
    assert within_spread(figures, value_of) == (0.0, 0)
    assert within_spread(figures, way_value("none", {}))[1] == 5


def test_the_way_of_several_runs_is_one_that_all_of_them_have() -> None:
    first = {"duration_norm_s": 1.0, "normalised.interpreted_s": 1.0, "normalised.none_s": 1.0}
    second = {"duration_norm_s": 2.0, "normalised.interpreted_s": 2.5, "normalised.none_s": 2.0}
    assert shared_way([first], WAYS) == "interpreted"
    assert shared_way([first, second], WAYS) == "none"
    assert shared_way([first, {"duration_s": 1.0}], WAYS) is None
    assert shared_way([], WAYS) is None
