from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from agentdyno.findings.figures import resampling
from agentdyno.findings.figures.cases import ArmFigures
from agentdyno.findings.figures.dimensions import Targets
from agentdyno.findings.figures.resampling import (
    MOST_CLUSTERS,
    MOST_VALUES,
    overall_draws,
    sampled_draws,
    score_draws,
    score_errors,
)
from agentdyno.findings.figures.suite_figures import close_arm, close_suite
from agentdyno.model import Sample, Status

from ..suite_builders import arm, benchmark, case, sample, suite_of, suite_result

TARGETS = {"duration_s": (0.5, 5.0), "cost_usd": (0.1, 10.0), "total_tokens": (5.0, 100.0)}
KNOWN = dict.fromkeys(("accuracy", "speed", "efficiency", "cost", "reliability"), 0.5)


def errors_of(
    figures: ArmFigures, targets: Targets, scores: Mapping[str, float | None], seed: int
) -> dict[str, float]:
    draws, share = sampled_draws(figures, targets, scores, seed)
    return score_errors(draws, share, scores)


def answers(cases: int, epochs: int, seed: int = 1) -> list[Sample]:
    draw = Random(seed)
    return [
        sample(
            f"c{number}",
            float(draw.random() < 0.7),
            epoch,
            readings={
                "duration_s": draw.lognormvariate(0.0, 0.7),
                "cost_usd": draw.random(),
                "total_tokens": 10.0 + draw.random(),
            },
        )
        for number in range(cases)
        for epoch in range(epochs)
    ]


def figures_of(cases: int, epochs: int, seed: int = 1) -> ArmFigures:
    return ArmFigures.of(benchmark(*(f"c{number}" for number in range(cases))), answers(cases, epochs, seed))


def test_errors_are_the_spread_of_the_draws_behind_the_intervals() -> None:
    figures = figures_of(30, 3)
    draws = score_draws(figures, TARGETS, 7)
    whole = overall_draws(draws)
    assert whole is not None
    expected = {name: pytest.approx(float(np.std(found, ddof=1))) for name, found in draws.items()}
    errors = errors_of(figures, TARGETS, KNOWN, 7)
    assert errors == {**expected, "overall": pytest.approx(float(np.std(whole, ddof=1)))}
    assert list(errors) == ["accuracy", "speed", "efficiency", "cost", "reliability", "overall"]


def test_the_error_of_accuracy_is_near_that_of_a_mean() -> None:
    figures = figures_of(200, 1)
    counted = figures.figures()
    assert counted.variance is not None
    error = errors_of(figures, {}, {"accuracy": 0.5}, 7)["accuracy"]
    assert error == pytest.approx(math.sqrt(counted.variance / 200), rel=0.1)


def test_what_has_no_score_has_no_error() -> None:
    figures = figures_of(30, 3)
    errors = errors_of(figures, TARGETS, {**KNOWN, "cost": None, "reliability": None}, 7)
    assert set(errors) == {"accuracy", "speed", "efficiency", "overall"}


def test_a_score_without_draws_leaves_the_overall_error_unknown() -> None:
    figures = figures_of(30, 1)
    assert set(errors_of(figures, {}, {"accuracy": 0.5, "speed": 0.5}, 7)) == {"accuracy"}


def test_one_case_or_one_group_tells_no_error() -> None:
    assert errors_of(figures_of(1, 5), TARGETS, KNOWN, 7) == {}
    grouped = benchmark(case("c0", "g"), case("c1", "g"))
    assert errors_of(ArmFigures.of(grouped, answers(2, 3)), TARGETS, KNOWN, 7) == {}
    assert errors_of(ArmFigures(grouped), TARGETS, KNOWN, 7) == {}


def test_many_cases_are_drawn_from_in_part_and_give_nearly_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    figures = figures_of(4 * MOST_CLUSTERS, 3)
    part = errors_of(figures, TARGETS, KNOWN, 7)
    monkeypatch.setattr(resampling, "MOST_CLUSTERS", 10**9)
    monkeypatch.setattr(resampling, "MOST_VALUES", 10**9)
    whole = errors_of(figures, TARGETS, KNOWN, 7)
    assert part.keys() == whole.keys()
    for name, error in whole.items():
        assert part[name] == pytest.approx(error, rel=0.25), name


def test_many_durations_of_few_cases_are_thinned_within_each_case(monkeypatch: pytest.MonkeyPatch) -> None:
    figures = figures_of(8, 2 * MOST_VALUES // 8)
    thinned = errors_of(figures, TARGETS, KNOWN, 7)
    monkeypatch.setattr(resampling, "MOST_VALUES", 10**9)
    whole = errors_of(figures, TARGETS, KNOWN, 7)
    assert thinned["speed"] == pytest.approx(whole["speed"], rel=0.25)
    assert (thinned["accuracy"], thinned["cost"]) == (whole["accuracy"], whole["cost"])


def test_groups_are_kept_together_when_only_a_part_is_drawn_from() -> None:
    number = 2 * (MOST_CLUSTERS + 100)
    grouped = benchmark(*(case(f"c{place}", f"g{place // 2}") for place in range(number)))
    figures = ArmFigures.of(grouped, answers(number, 1))
    part, share = resampling._part(figures, 7)
    assert share == MOST_CLUSTERS / (MOST_CLUSTERS + 100)
    assert len(part.tallies) == 2 * MOST_CLUSTERS
    assert len(set(part.clusters().values())) == MOST_CLUSTERS
    durations = dict(zip(figures.tallies, figures.values["duration_s"], strict=True))
    kept = [durations[list(part.tallies)[owner]] for owner in part.owners["duration_s"]]
    assert kept == list(part.values["duration_s"])


def test_closing_a_run_fills_the_errors_of_every_arm_whatever_its_seed() -> None:
    own = benchmark(*(f"c{number}" for number in range(12)))
    made = suite_result(suite_of(own), arm("x@1", "facts", answers(12, 3)), arm("y@1", "facts", answers(12, 3, 2)))
    closed = close_suite(made)
    for one in closed.arms:
        expected = close_arm(replace(one, samples=()), ArmFigures.of(own, one.samples), {})
        assert one.score_errors == expected.score_errors
        assert set(one.score_errors) == {"accuracy", "reliability", "overall"}
    assert close_suite(made) == closed
    # All runs of a benchmark draw the same cases, so that their draws can be set side by side.
    assert close_suite(replace(made, seed=8)).arms[0].score_errors == closed.arms[0].score_errors


def test_an_arm_that_only_failed_has_no_errors_of_what_it_did_not_achieve() -> None:
    own = benchmark("c0", "c1", "c2")
    failed = [sample(f"c{number}", Status.ERROR, epoch) for number in range(3) for epoch in range(3)]
    closed = close_arm(arm("x@1", "facts", failed), ArmFigures.of(own, failed), TARGETS)
    assert closed.scores["accuracy"] is None
    assert "accuracy" not in closed.score_errors
    assert all(math.isfinite(error) for error in closed.score_errors.values())
