from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from agentdyno.findings.figures.cases import ArmFigures, accuracy_interval
from agentdyno.findings.figures.traces import wanted_text, workflow_text
from agentdyno.model import Case, Failure, FailureKind, Phase, Reducer, Rubric, Sample, Status
from agentdyno.stats import wilson

from ..suite_builders import benchmark, case, sample


def figures(*samples: Sample, cases: Sequence[Case | str] = ("a", "b"), **fields: object) -> ArmFigures:
    return ArmFigures.of(benchmark(*cases, **fields), samples)


def test_repeats_are_averaged_before_cases_are() -> None:
    taken = figures(
        sample("a", 1.0, 0), sample("a", 0.0, 1), sample("a", 0.0, 2), sample("a", 1.0, 3), sample("b", 1.0, 0)
    )
    assert taken.case_scores() == {"a": 0.5, "b": 1.0}
    counted = taken.figures()
    assert counted.mean == 0.75
    assert counted.variance == pytest.approx(0.125)
    assert (counted.cases, counted.scored, counted.passed, counted.samples) == (2, 2, 3, 5)


@pytest.mark.parametrize(
    ("reducer", "k", "expected"),
    [
        (Reducer.MEAN, 1, 0.4),
        (Reducer.MAX, 1, 1.0),
        (Reducer.PASS_AT_K, 2, 0.7),  # 1 - C(3,2)/C(5,2) = 1 - 3/10
        (Reducer.PASS_HAT_K, 2, 0.1),  # C(2,2)/C(5,2)
        (Reducer.PASS_AT_K, 6, None),
        (Reducer.PASS_HAT_K, 6, None),
    ],
)
def test_each_reducer_makes_one_score_of_the_epochs(reducer: Reducer, k: int, expected: float | None) -> None:
    taken = figures(
        *(sample("a", float(score), epoch) for epoch, score in enumerate((1, 0, 1, 0, 0))),
        rubric=Rubric(reducer=reducer, k=k),
    )
    assert taken.case_scores()["a"] == (None if expected is None else pytest.approx(expected))


def test_a_timeout_and_a_limit_score_zero_and_an_error_scores_nothing() -> None:
    taken = figures(
        *(sample("a", Status.TIMEOUT), sample("b", Status.LIMIT), sample("c", Status.ERROR), sample("d", 1.0)),
        cases=("a", "b", "c", "d", "never reached"),
    )
    assert taken.case_scores() == {"a": 0.0, "b": 0.0, "c": None, "d": 1.0}
    counted = taken.figures()
    assert (counted.scored, counted.cases) == (3, 5)
    assert counted.mean == pytest.approx(1 / 3)


def test_an_error_counts_as_a_try_that_did_not_succeed_for_pass_hat_k_only() -> None:
    epochs = (sample("a", 1.0, 0), sample("a", 1.0, 1), sample("a", Status.ERROR, 2))
    assert figures(*epochs, rubric=Rubric(reducer=Reducer.PASS_HAT_K, k=2)).case_scores()["a"] == pytest.approx(1 / 3)
    assert figures(*epochs, rubric=Rubric(reducer=Reducer.PASS_AT_K, k=3)).case_scores()["a"] is None
    assert figures(*epochs).case_scores()["a"] == 1.0


def test_cancelled_samples_and_warm_ups_do_not_count() -> None:
    taken = figures(
        *(sample("a", 1.0), sample("a", Status.CANCELLED, 1), sample("b", 0.0, phase=Phase.WARMUP)),
    )
    assert taken.figures().samples == 1
    assert dict(taken.statuses) == {"ok": 1, "cancelled": 1}
    assert taken.totals()["duration_s"] == 1.0


def test_an_answer_that_nobody_could_judge_is_neither_right_nor_wrong() -> None:
    taken = figures(sample("a", None), sample("b", 1.0))
    assert taken.case_scores() == {"a": None, "b": 1.0}
    assert taken.figures().passed == 1


def test_without_any_scorer_an_answer_is_a_success() -> None:
    taken = figures(sample("a", 1.0, scores={}))
    assert taken.figures().passed == 1
    assert taken.figures().mean is None


def test_totals_add_up_everything_that_was_spent() -> None:
    spent = {"total_tokens": 10.0, "api_calls": 2.0, "cost_usd": 0.25, "duration_s": 1.5}
    taken = figures(
        sample("a", 1.0, readings=spent),
        sample("b", 0.0, readings=spent),
        sample("b", Status.TIMEOUT, 1, readings=spent),
    )
    assert taken.totals() == {
        "duration_s": 4.5,
        "total_tokens": 30.0,
        "api_calls": 6.0,
        "cost_usd": 0.75,
        "judge_cost_usd": 0.0,
    }


def test_a_total_is_unknown_where_one_execution_is() -> None:
    taken = figures(sample("a", 1.0, readings={"cost_usd": 0.25}), sample("b", 1.0, readings={}))
    assert "cost_usd" not in taken.totals()
    assert taken.totals()["duration_s"] == 2.0


def test_what_the_other_side_refused_cost_nothing() -> None:
    refused = sample("b", Status.ERROR, failure=Failure(FailureKind.RATE_LIMITED, "429"))
    taken = figures(sample("a", 1.0, readings={"cost_usd": 0.25, "total_tokens": 8}), refused)
    assert taken.totals()["cost_usd"] == 0.25
    assert taken.totals()["total_tokens"] == 8
    broken_off = sample("b", Status.ERROR, 1, failure=Failure(FailureKind.RESET, "reset"))
    taken.add(broken_off)
    assert "cost_usd" not in taken.totals()


def test_judging_is_paid_for_apart() -> None:
    def judged(cost: object) -> ArmFigures:
        return figures(
            sample("a", 1.0, readings={"cost_usd": 1.0}, details={"judge_cost_usd": 0.5}),
            sample("b", 1.0, readings={"cost_usd": 1.0}, details={"judge_cost_usd": cost}),
        )

    assert judged(0.25).totals()["judge_cost_usd"] == 0.75
    assert judged(0.25).totals()["cost_usd"] == 2.0
    assert "judge_cost_usd" not in judged(None).totals()


def test_an_answer_from_the_cache_is_scored_and_not_measured() -> None:
    taken = figures(sample("a", 1.0, readings={"ttft_s": 9.0}, details={"cached": True}), sample("b", 1.0))
    assert taken.figures().mean == 1.0
    assert list(taken.values["duration_s"]) == [1.0]
    assert "ttft_s" not in taken.values
    assert taken.totals()["duration_s"] == 1.0


def test_the_order_of_samples_does_not_matter() -> None:
    samples = [sample(case_id, float(epoch % 2), epoch) for case_id in "abcd" for epoch in range(5)]
    shuffled = random.Random(4).sample(samples, len(samples))
    one, other = figures(*samples), figures(*shuffled)
    assert one.figures() == other.figures()
    assert one.remarks.answers == other.remarks.answers


def test_memory_does_not_hold_the_answers() -> None:
    taken = ArmFigures(benchmark("a"))
    for epoch in range(300):
        taken.add(sample("a", 0.0, epoch, output="x" * 10_000))
    assert len(taken.remarks.failed) == 1
    assert len(taken.remarks.failed["a"].got) == 400
    assert taken.remarks.failed["a"].bad == 300


def test_right_or_wrong_cases_have_wilsons_interval() -> None:
    scores = {str(i): float(i < 8) for i in range(10)}
    own = {name: name for name in scores}
    expected = wilson(8, 10)
    assert accuracy_interval(scores, own) == (expected.low, expected.high)
    assert accuracy_interval(scores, own) == pytest.approx((0.4902, 0.9433), abs=1e-4)


def test_unscored_cases_are_outside_the_interval() -> None:
    scores: dict[str, float | None] = {"a": 1.0, "b": None, "c": 1.0}
    expected = wilson(2, 2)
    assert accuracy_interval(scores, {name: name for name in scores}) == (expected.low, 1.0)


def test_graded_cases_have_a_bootstrap_interval_around_their_mean() -> None:
    scores = {str(i): i / 10 for i in range(11)}
    found = accuracy_interval(scores, {name: name for name in scores})
    assert found is not None
    assert 0.2 < found[0] < 0.5 < found[1] < 0.8
    assert found == accuracy_interval(scores, {name: name for name in scores})


def test_cases_that_share_a_group_count_as_one_cluster() -> None:
    cases = [case(f"{group}{i}", group) for group in "pqrs" for i in range(5)]
    taken = figures(*(sample(item.id, float(item.group in ("p", "q"))) for item in cases), cases=cases)
    found = accuracy_interval(taken.case_scores(), taken.clusters())
    # Four clusters of mean 1, 1, 0, 0: SE = sqrt(4/3 * 4 * (5/2)^2) / 20 = 0.288675; t(0.975, 3) = 3.182446.
    assert found == pytest.approx((0.0, 1.0))
    alone = accuracy_interval(taken.case_scores(), {item.id: item.id for item in cases})
    assert alone is not None
    assert alone[1] - alone[0] < 0.45


def test_one_cluster_has_no_interval() -> None:
    cases = [case(str(i), "only") for i in range(5)]
    taken = figures(*(sample(item.id, 1.0) for item in cases), cases=cases)
    assert accuracy_interval(taken.case_scores(), taken.clusters()) is None


def test_clusters_that_are_all_right_are_not_certain() -> None:
    cases = [case(f"{group}{i}", group) for group in "pqr" for i in range(4)]
    taken = figures(*(sample(item.id, 1.0) for item in cases), cases=cases)
    expected = wilson(3, 3)
    assert accuracy_interval(taken.case_scores(), taken.clusters()) == (expected.low, 1.0)


def test_nothing_scored_has_no_interval() -> None:
    assert accuracy_interval({}, {}) is None
    assert accuracy_interval({"a": None}, {"a": "a"}) is None
    assert accuracy_interval({"a": 0.5}, {"a": "a"}) is None


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ({"outcome": "done", "reason": "", "folder": "/x", "steps": {"done": ["a", "b"]}}, "done: a, b"),
        (
            {
                "outcome": "failed",
                "reason": "b: exit status 1",
                "steps": {"done": ["a"], "failed": ["b"], "not_run": ["c"]},
            },
            "failed: b: exit status 1 · done: a · not run: c",
        ),
        ({"outcome": "plan_refused", "reason": "the answer holds no JSON"}, "plan refused: the answer holds no JSON"),
    ],
)
def test_of_a_workflow_that_fell_short_its_steps_are_told(output: dict[str, object], told: str) -> None:
    assert workflow_text(output) == told


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ([{"name": "add", "arguments": {"a": 1}}, {"name": "say"}, "stop"], 'add({"a": 1}), say, stop'),
        ([], "no call of a tool"),
        ("search", "search"),
        ({"name": "search"}, "search"),
        (None, ""),
        (5, "5"),
    ],
)
def test_calls_that_were_wanted_read_as_those_that_were_made(target: object, told: str) -> None:
    assert wanted_text(target, ["tool_calls"]) == told
    assert wanted_text([{"name": "add"}], ["exact"]) == '[{"name":"add"}]'
