"""``metrics_measured`` says in which dimensions a benchmark is scored."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentdyno.findings.duel.judge import duel
from agentdyno.findings.figures.dimensions import DIMENSIONS, measured_dimensions, missing_dimensions, scores_with
from agentdyno.findings.figures.suite_figures import close_suite, figures_of
from agentdyno.findings.record.judge import record_of
from agentdyno.findings.standing.judge import standing_of
from agentdyno.findings.standing.tables import agents
from agentdyno.model import Rubric, RunResult, Sample

from ..suite_builders import arm, benchmark, sample, suite_of, suite_result

RUBRIC = Rubric(targets={"duration_s": 1.0, "cost_usd": 0.01}, limits={"duration_s": 100.0, "cost_usd": 1.0})
CASES = tuple("abcdefgh")


def answers(score: float, duration_s: float) -> list[Sample]:
    used = {"duration_s": duration_s, "cost_usd": 0.1}
    return [sample(name, score if name != "a" else 0.0, epoch, readings=used) for name in CASES for epoch in range(3)]


def closed(*measured: str) -> RunResult:
    own = benchmark(*CASES, rubric=RUBRIC, metrics_measured=measured)
    runs = (arm("old@1", "facts", answers(1.0, 10.0)), arm("new@1", "facts", answers(1.0, 1.0)))
    return close_suite(suite_result(suite_of(own), *runs))


@pytest.mark.parametrize(
    ("named", "dimensions"),
    [
        ((), DIMENSIONS),
        (("accuracy",), ("accuracy",)),
        (("duration_s", "score"), ("accuracy", "speed")),
        (("total_tokens", "peak_rss_bytes", "cost_usd"), ("efficiency", "cost")),
        (("reliability", "ttft_s", "api_calls"), ("speed", "reliability")),
        (("api_calls",), ()),
    ],
)
def test_metrics_stand_for_the_dimension_that_they_tell_about(
    named: tuple[str, ...], dimensions: tuple[str, ...]
) -> None:
    assert measured_dimensions(named) == dimensions


def test_a_benchmark_is_scored_in_what_it_measures_and_in_nothing_else() -> None:
    every, some = closed().arms[0].scores, closed("accuracy", "duration_s").arms[0].scores
    assert [name for name in DIMENSIONS if every[name] is not None] == ["accuracy", "speed", "cost", "reliability"]
    assert some == {"accuracy": 0.875, "speed": pytest.approx(0.5), "overall": pytest.approx(0.725)}
    assert every["overall"] != pytest.approx(some["overall"])


def test_what_is_not_measured_is_neither_missing_nor_a_reason_to_call_a_score_partial() -> None:
    assert missing_dimensions(closed().arms[0].scores) == ("efficiency",)
    assert missing_dimensions(closed("accuracy", "speed").arms[0].scores) == ()
    standing = standing_of(closed("accuracy", "speed"))
    (first, _) = standing.agents
    assert (first.missing, first.partial, first.not_measured) == ((), False, ("efficiency", "cost", "reliability"))
    assert first.scores["overall"].interval is not None
    assert first.scores["cost"].value is None
    told = " ".join(agents(standing).notes)
    assert "metrics_measured of the suite leaves it out: efficiency, cost, reliability." in told


def test_targets_that_come_later_score_only_what_is_measured() -> None:
    targets = {"duration_s": (1.0, 100.0), "cost_usd": (0.01, 1.0)}
    assert scores_with(closed("accuracy").arms[0], targets) == {
        **dict.fromkeys(DIMENSIONS),
        "accuracy": 0.875,
        "overall": pytest.approx(0.875),
    }
    assert scores_with(closed().arms[0], targets)["speed"] == pytest.approx(0.5)


def test_two_agents_are_scored_side_by_side_in_what_is_measured_and_compared_in_everything() -> None:
    result = closed("accuracy", "speed")
    figures = figures_of(result)
    found = duel(*(record_of(result, figures, agent) for agent in ("old@1", "new@1")))
    assert found.row("speed").candidate_score == pytest.approx(1.0)
    assert found.row("overall").baseline_score == pytest.approx(0.725)
    assert found.row("overall").candidate_score == pytest.approx(0.925)
    assert found.row("cost").candidate_score is None
    assert found.row("cost").candidate == pytest.approx(found.row("cost").baseline)


def test_results_from_before_have_an_entry_for_every_dimension_and_stay_as_they_are() -> None:
    old = closed("accuracy", "speed")
    whole = replace(old, arms=tuple(replace(item, scores=closed().arms[0].scores) for item in old.arms))
    assert missing_dimensions(whole.arms[0].scores) == ("efficiency",)
