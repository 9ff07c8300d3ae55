from __future__ import annotations

import math
from dataclasses import replace

import pytest

from agentdyno.findings.figures.cases import ArmFigures
from agentdyno.findings.figures.dimensions import (
    Quantities,
    dimension_scores,
    missing_dimensions,
    overall,
    score_between,
    targets_for,
    used_by,
)
from agentdyno.findings.figures.resampling import RESAMPLES, interval_of, overall_draws, score_draws
from agentdyno.findings.figures.suite_figures import close_arm
from agentdyno.findings.standing.judge import standing_of
from agentdyno.model import ArmResult, Case, Rubric, Sample, Status

from ..suite_builders import arm, benchmark, sample, suite_of, suite_result

FULL = Rubric(
    targets={"duration_s": 1.0, "cost_usd": 0.01, "total_tokens": 100, "cpu_s": 1.0, "peak_rss_bytes": 1e6},
    limits={"duration_s": 100.0, "cost_usd": 1.0, "total_tokens": 10_000, "cpu_s": 100.0, "peak_rss_bytes": 1e8},
)


def closed(*samples: Sample, cases: tuple[str, ...] = ("a", "b"), rubric: Rubric = FULL) -> ArmResult:
    own = benchmark(*cases, rubric=rubric)
    return close_arm(arm("x@1", "facts", samples), ArmFigures.of(own, samples), targets_for(own))


@pytest.mark.parametrize(
    ("value", "score"),
    [(0.5, 1.0), (1.0, 1.0), (10.0, 0.5), (math.sqrt(10), 0.75), (100.0, 0.0), (1e9, 0.0), (0.0, 1.0)],
)
def test_a_quantity_scores_linearly_in_its_logarithm(value: float, score: float) -> None:
    assert score_between(value, (1.0, 100.0)) == pytest.approx(score)


def test_without_value_or_sensible_bounds_there_is_no_score() -> None:
    assert score_between(None, (1.0, 2.0)) is None
    assert score_between(1.0, None) is None
    assert score_between(1.0, (0.0, 2.0)) is None
    assert score_between(1.0, (2.0, 2.0)) is None
    assert score_between(math.nan, (1.0, 2.0)) is None


def test_every_dimension_by_hand() -> None:
    used = {"duration_s": 10.0, "cost_usd": 0.1, "total_tokens": 1000.0, "cpu_s": 1.0, "peak_rss_bytes": 1e8}
    scores = dimension_scores(
        Quantities(0.8, used, error_rate=0.1, reliable=0.5),
        {name: (FULL.targets[name], FULL.limits[name]) for name in used},
    )
    assert scores["accuracy"] == 0.8
    assert scores["speed"] == pytest.approx(0.5)
    assert scores["cost"] == pytest.approx(0.5)
    assert scores["efficiency"] == pytest.approx((0.5 + 1.0 + 0.0) / 3)
    assert scores["reliability"] == pytest.approx(0.45)
    # 0.30*0.8 + 0.20*0.5 + 0.20*0.5 + 0.15*0.5 + 0.15*0.45
    assert scores["overall"] == pytest.approx(0.5825)
    assert missing_dimensions(scores) == ()


def test_overall_rests_on_the_dimensions_that_are_known() -> None:
    scores = {"accuracy": 0.9, "speed": None, "efficiency": None, "cost": 0.3, "reliability": None}
    assert overall(scores) == pytest.approx((0.30 * 0.9 + 0.15 * 0.3) / 0.45)
    assert missing_dimensions(scores) == ("speed", "efficiency", "reliability")
    assert overall({}) is None


def test_an_arm_is_scored_by_what_a_success_takes() -> None:
    readings = {"duration_s": 10.0, "cost_usd": 0.05, "total_tokens": 500.0, "cpu_s": 5.0, "peak_rss_bytes": 1e6}
    made = closed(*(sample(case_id, score, readings=readings) for case_id, score in (("a", 1.0), ("b", 0.0))))
    # One success of two executions: everything counts twice.
    assert used_by(made) == pytest.approx(
        {"duration_s": 10.0, "cost_usd": 0.1, "total_tokens": 1000.0, "cpu_s": 10.0, "peak_rss_bytes": 2e6}
    )
    assert made.scores["accuracy"] == 0.5
    assert made.scores["speed"] == pytest.approx(0.5)
    assert made.scores["cost"] == pytest.approx(0.5)
    memory = (math.log(1e8) - math.log(2e6)) / math.log(100)
    assert made.scores["efficiency"] == pytest.approx((0.5 + 0.5 + memory) / 3)


def test_reliability_is_that_three_tries_all_succeed_times_the_share_without_errors() -> None:
    first = [sample("a", 1.0, epoch) for epoch in range(4)]
    second = [*(sample("b", 1.0, epoch) for epoch in range(3)), sample("b", Status.ERROR, 3)]
    # pass^3: 1 and C(3,3)/C(4,3) = 1/4, mean 0.625; one error in eight executions.
    assert closed(*first, *second).scores["reliability"] == pytest.approx(0.625 * 7 / 8)


def test_reliability_needs_three_epochs() -> None:
    assert closed(sample("a", 1.0, 0), sample("a", 1.0, 1)).scores["reliability"] is None


def test_an_agent_that_never_succeeds_has_no_cost_per_success() -> None:
    made = closed(sample("a", 0.0, readings={"cost_usd": 1.0, "total_tokens": 5.0}), sample("b", Status.ERROR))
    assert made.scores["cost"] is None
    assert made.scores["efficiency"] is None
    assert made.scores["accuracy"] == 0.0
    assert made.scores["speed"] == 1.0


def test_an_agent_that_costs_nothing_scores_full_marks() -> None:
    assert closed(sample("a", 1.0, readings={"cost_usd": 0.0})).scores["cost"] == 1.0


def test_an_unknown_cost_is_no_score() -> None:
    made = closed(sample("a", 1.0, readings={"cost_usd": 0.1}), sample("b", 1.0))
    assert made.scores["cost"] is None


def test_targets_come_from_the_rubric_and_else_from_the_baseline_agent() -> None:
    readings = {"duration_s": 4.0, "cost_usd": 0.2, "total_tokens": 300.0}
    before = closed(sample("a", 1.0, readings=readings), sample("b", 0.0, readings=readings), rubric=Rubric())
    own = benchmark("a", rubric=Rubric(targets={"duration_s": 0.5}, limits={"duration_s": 9.0}))
    assert targets_for(own, before) == {
        "duration_s": (0.5, 9.0),
        "cost_usd": (0.2, 2.0),
        "total_tokens": (300.0, 3000.0),
    }
    assert targets_for(own) == {"duration_s": (0.5, 9.0)}
    assert targets_for(benchmark("a"), before)["duration_s"] == (2.0, 20.0)
    assert targets_for(benchmark("a")) == {}


def test_a_baseline_that_used_nothing_gives_no_target() -> None:
    before = closed(sample("a", 1.0, readings={"cost_usd": 0.0}), rubric=Rubric())
    assert "cost_usd" not in targets_for(benchmark("a"), before)


def test_without_targets_only_accuracy_and_reliability_are_scored() -> None:
    made = closed(*(sample("a", 1.0, epoch) for epoch in range(3)), rubric=Rubric())
    assert missing_dimensions(made.scores) == ("speed", "efficiency", "cost")
    assert made.scores["overall"] == 1.0


def spread(cases: int = 40, *, groups: int | None = None, rubric: Rubric = FULL) -> ArmFigures:
    made = [Case(f"c{i}", "q", "yes", group=None if groups is None else f"g{i % groups}") for i in range(cases)]
    readings = [{"duration_s": 2.0 + i % 7, "cost_usd": 0.02, "total_tokens": 200.0 + i} for i in range(cases)]
    samples = [
        sample(f"c{i}", float((i + epoch) % 4 != 0), epoch, readings=readings[i])
        for i in range(cases)
        for epoch in range(3)
    ]
    return ArmFigures.of(benchmark(*made, rubric=rubric), samples)


def test_intervals_hold_the_scores_and_repeat_with_the_seed() -> None:
    figures = spread()
    made = close_arm(arm("x@1", "facts", ()), figures, targets_for(figures.benchmark))
    draws = score_draws(figures, targets_for(figures.benchmark), seed=3)
    assert set(draws) == {"accuracy", "speed", "efficiency", "cost", "reliability"}
    again = score_draws(figures, targets_for(figures.benchmark), seed=3)
    for name, drawn in draws.items():
        assert len(drawn) == RESAMPLES
        assert (drawn == again[name]).all()
        value = made.scores[name]
        interval = interval_of(drawn, value)
        assert value is not None
        assert interval is not None
        assert 0 <= interval[0] <= value <= interval[1] <= 1
        assert interval[1] - interval[0] < 0.35
    whole = interval_of(overall_draws(draws), made.scores["overall"])
    assert whole is not None
    assert 0 < whole[1] - whole[0] < 0.2


def test_more_cases_narrow_the_interval() -> None:
    def width(cases: int) -> float:
        figures = spread(cases)
        found = interval_of(score_draws(figures, targets_for(figures.benchmark))["cost"], 0.8)
        assert found is not None
        return found[1] - found[0]

    assert width(400) < width(25)


def test_one_group_of_cases_has_no_intervals() -> None:
    figures = spread(groups=1)
    assert score_draws(figures, targets_for(figures.benchmark)) == {}


def test_a_perfect_record_over_few_cases_is_not_certain() -> None:
    samples = [sample(case_id, 1.0, epoch) for case_id in "abcdef" for epoch in range(3)]
    figures = ArmFigures.of(benchmark(*"abcdef"), samples)
    draws = score_draws(figures, {})
    found = interval_of(draws["reliability"], 1.0)
    assert found is not None
    assert 0.5 < found[0] < 0.9
    assert found[1] == 1.0


def test_simulated_answers_stay_simulated_up_to_the_board() -> None:
    own = benchmark("a", "b")
    simulated = [sample(case_id, 1.0, details={"simulated": True}) for case_id in "ab"]
    made = close_arm(arm("x@1", "facts", simulated), ArmFigures.of(own, simulated), {})
    assert {metric.provenance.value for metric in made.metrics.values()} == {"simulated"}
    standing = standing_of(suite_result(suite_of(own), replace(made, samples=tuple(simulated))))
    assert standing.agents[0].simulated
