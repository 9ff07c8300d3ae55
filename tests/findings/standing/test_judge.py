from __future__ import annotations

from dataclasses import replace

import pytest

from agentdyno.findings.figures.suite_figures import close_suite, figures_of
from agentdyno.findings.standing.judge import foresee, standing_of
from agentdyno.findings.standing.model import SuiteFindings, SuiteStanding
from agentdyno.model import Case, Provenance, Rubric, RunResult, Sample, Status
from agentdyno.model.codec import encode, from_plain, to_plain
from agentdyno.model.result_file import decode_result
from agentdyno.stats import wilson

from ..suite_builders import arm, benchmark, sample, suite_of, suite_result

RUBRIC = Rubric(targets={"duration_s": 1.0}, limits={"duration_s": 100.0})


def answers(bits: str, seconds: float = 10.0, cost: float | None = 0.1, **fields: object) -> list[Sample]:
    readings = {"duration_s": seconds, "total_tokens": 50.0} | ({} if cost is None else {"cost_usd": cost})
    return [sample(f"c{i}", float(bit), readings=readings, **fields) for i, bit in enumerate(bits)]  # type: ignore[arg-type]


def two_by_two() -> RunResult:
    cases = [f"c{i}" for i in range(4)]
    facts = benchmark(*cases, rubric=RUBRIC)
    sums = benchmark(*cases, name="sums", rubric=RUBRIC)
    return suite_result(
        suite_of(facts, sums),
        arm("slow@1", "facts", answers("1111", 100.0)),
        arm("slow@1", "sums", answers("1100", 10.0)),
        arm("quick@1", "facts", answers("1000", 1.0)),
        arm("quick@1", "sums", answers("0000", 1.0)),
    )


def test_an_agent_stands_with_the_mean_over_its_benchmarks() -> None:
    standing = standing_of(close_suite(two_by_two()))
    slow = next(item for item in standing.agents if item.name == "slow")
    assert slow.scores["accuracy"].value == pytest.approx(0.75)
    assert slow.scores["speed"].value == pytest.approx((0.0 + 0.5) / 2)
    assert slow.scores["overall"].value == pytest.approx((0.3 * 0.75 + 0.2 * 0.25) / 0.5)
    assert slow.missing == ("efficiency", "cost", "reliability")
    assert slow.partial
    assert (slow.passed, slow.samples, slow.pass_rate) == (6, 8, 0.75)
    assert slow.cost_usd == pytest.approx(0.8)
    assert slow.cost_per_success_usd == pytest.approx(0.8 / 6)
    assert slow.total_tokens == 400.0
    assert slow.duration_s == 55.0
    assert slow.version == "1"


def test_agents_come_in_the_order_of_their_overall_score() -> None:
    standing = standing_of(close_suite(two_by_two()))
    # quick: accuracy 0.125, speed 1: (0.3 * 0.125 + 0.2) / 0.5 = 0.475; slow: 0.55.
    assert [item.name for item in standing.agents] == ["slow", "quick"]
    assert standing.agents[1].scores["overall"].value == pytest.approx(0.475)
    assert standing.head_to_head is not None
    assert (standing.head_to_head.baseline, standing.head_to_head.candidate) == ("quick@1", "slow@1")


def test_an_agent_in_one_benchmark_has_the_interval_of_that_arm() -> None:
    facts = benchmark(*(f"c{i}" for i in range(4)))
    standing = standing_of(close_suite(suite_result(suite_of(facts), arm("x@1", "facts", answers("1110")))))
    expected = wilson(3, 4)
    assert standing.agents[0].scores["accuracy"].interval == (expected.low, expected.high)
    assert standing.arms[0].scores["accuracy"].interval == (expected.low, expected.high)


def test_intervals_over_benchmarks_hold_their_score() -> None:
    for agent in standing_of(close_suite(two_by_two())).agents:
        for name in ("accuracy", "speed", "overall"):
            estimate = agent.scores[name]
            assert estimate.value is not None
            assert estimate.interval is not None
            assert 0 <= estimate.interval[0] <= estimate.value <= estimate.interval[1] <= 1


def test_failed_cases_say_what_was_wanted_and_what_came() -> None:
    facts = benchmark(Case("a", "2+2", "4"), Case("b", "?", {"x": 1}), Case("c", "?"))
    samples = [
        sample("a", 0.0, 0, output="five"),
        sample("a", 1.0, 1, output="4"),
        sample("b", Status.TIMEOUT),
        sample("c", 1.0),
    ]
    standing = standing_of(close_suite(suite_result(suite_of(facts), arm("x@1", "facts", samples))))
    first, second = standing.failed
    assert (first.case_id, first.status, first.bad, first.tries) == ("a", "failed", 1, 2)
    assert (first.want, first.got) == ("4", "five")
    assert (second.case_id, second.status, second.want, second.got) == ("b", "timeout", '{"x":1}', "")
    assert second.why == "timeout happened"
    assert standing.failed_total == 2


def test_closing_fills_the_arm() -> None:
    closed = close_suite(two_by_two())
    made = closed.arms[1]
    assert made.statuses == {"failed": 2, "ok": 2}
    assert made.metrics["duration_s"].median == 10.0
    assert next(iter(made.metrics)) == "duration_s"
    assert made.metrics["score"].n == 4
    assert made.metrics["score"].mean == 0.5
    assert made.metrics["score"].unit == "ratio"
    assert made.case_figures is not None
    assert made.case_figures.mean == 0.5
    assert made.totals["total_tokens"] == 200.0
    assert closed.targets == {"facts": {"duration_s": (1.0, 100.0)}, "sums": {"duration_s": (1.0, 100.0)}}


def test_named_scores_are_averaged_per_case_first() -> None:
    samples = [
        sample("a", 1.0, 0, scores={"score": 1.0, "correctness": 1.0, "relevance": None}),
        sample("a", 1.0, 1, scores={"score": 1.0, "correctness": 0.0}),
        sample("b", 1.0, 0, scores={"score": 1.0, "correctness": 1.0}),
    ]
    closed = close_suite(suite_result(suite_of(benchmark("a", "b")), arm("x@1", "facts", samples)))
    assert closed.arms[0].scores["correctness"] == 0.75
    assert "relevance" not in closed.arms[0].scores
    assert closed.arms[0].metrics["correctness"].n == 2


def test_taking_samples_one_by_one_gives_the_same_as_all_at_once() -> None:
    result = two_by_two()
    figures = figures_of(result)
    bare = replace(result, arms=tuple(replace(item, samples=()) for item in result.arms))
    streamed = close_suite(bare, figures)
    whole = close_suite(result)
    assert [replace(item, samples=()) for item in whole.arms] == list(streamed.arms)
    assert streamed.warnings == whole.warnings
    assert standing_of(streamed, figures) == standing_of(whole)


def test_a_run_whose_samples_are_gone_still_has_a_board() -> None:
    closed = close_suite(two_by_two())
    bare = replace(closed, arms=tuple(replace(item, samples=()) for item in closed.arms))
    standing = standing_of(bare)
    slow = standing.agents[0]
    assert slow.scores["accuracy"].value == pytest.approx(0.75)
    assert slow.scores["speed"] == standing_of(closed).agents[0].scores["speed"], "the run keeps its intervals"
    assert standing.failed == ()
    assert standing.head_to_head is None
    assert standing.arms[1].scores["accuracy"].interval is not None


def test_cost_is_derived_where_it_was_computed_and_reported_where_only_the_agent_says_so() -> None:
    def provenance(source: str) -> Provenance:
        samples = answers("11", details={"cost": {"usd": 0.1, "source": source}})
        closed = close_suite(suite_result(suite_of(benchmark("c0", "c1")), arm("x@1", "facts", samples)))
        return closed.arms[0].metrics["cost_usd"].provenance

    assert provenance("reported") is Provenance.REPORTED
    assert provenance("priced") is Provenance.DERIVED
    assert provenance("derived") is Provenance.DERIVED


def test_repeats_of_few_cases_do_not_make_a_median_certain() -> None:
    def ci(cases: int) -> tuple[float, float] | None:
        names = [f"c{i}" for i in range(cases)]
        samples = [
            sample(name, 1.0, epoch, readings={"duration_s": 1.0 + i + epoch / 100})
            for i, name in enumerate(names)
            for epoch in range(20)
        ]
        closed = close_suite(suite_result(suite_of(benchmark(*names)), arm("x@1", "facts", samples)))
        return closed.arms[0].metrics["duration_s"].ci

    assert ci(5) is None
    found = ci(12)
    assert found is not None
    # The median lies between the sixth and the seventh case; its interval reaches over several cases.
    assert found[0] < 5.0
    assert found[1] > 8.0


def codes(result: RunResult) -> list[str]:
    return [warning.code for warning in close_suite(result).warnings]


def one(samples: list[Sample], **fields: object) -> RunResult:
    cases = dict.fromkeys(item.case_id for item in samples)
    return suite_result(suite_of(benchmark(*cases)), arm("x@1", "facts", samples, **fields))


def test_a_price_that_is_unknown_is_said_once_per_model() -> None:
    details = {"model": "new-model", "cost": {"usd": None, "source": "unknown"}}
    result = one(answers("110", cost=None, details=details))
    second = replace(result.arms[0], arm_id="other", agent="y@1")
    closed = close_suite(replace(result, arms=(*result.arms, second)))
    prices = [warning for warning in closed.warnings if warning.code == "unknown-price"]
    assert len(prices) == 1
    assert "new-model" in prices[0].message
    assert "prices:" in prices[0].remedy


def test_an_agent_without_a_model_needs_no_price() -> None:
    assert codes(one(answers("11", cost=None, details={"cost": {"usd": None, "source": "unknown"}}))) == []


def test_nothing_to_say_about_a_plain_run() -> None:
    assert codes(two_by_two()) == ["all-failed"]
    assert codes(one(answers("1101"))) == []


def test_errors_everywhere_and_an_agent_that_was_given_up_are_told_apart() -> None:
    errors = [sample(f"c{i}", Status.ERROR) for i in range(4)]
    assert codes(one(errors)) == ["all-errors"]
    given_up = close_suite(one(errors, planned=50)).warnings
    assert [warning.code for warning in given_up] == ["given-up"]
    assert "error happened" in given_up[0].message


def test_cases_without_a_score_are_counted() -> None:
    warning = close_suite(one([*answers("11"), sample("c2", Status.ERROR)])).warnings[0]
    assert warning.code == "unscored"
    assert "scored 2 of 3 cases" in warning.message


def test_simulated_and_unjudged_answers_are_mentioned() -> None:
    assert codes(one(answers("11", details={"simulated": True}))) == ["simulated"]
    assert codes(one([*answers("11"), sample("c3", None)])) == ["unscored", "not-judged"]


def test_more_than_one_model_behind_an_agent_is_mentioned() -> None:
    result = one([sample("a", 1.0, details={"model": "m-1"}), sample("b", 1.0, details={"model": "m-2"})])
    assert codes(result) == ["several-models"]


def test_agents_that_differ_in_name_only_are_flagged() -> None:
    cases = [f"c{i}" for i in range(6)]
    first = arm("x@1", "facts", answers("110101"), params={"model": "small"}, observed={"model": "served"})
    second = arm("y@1", "facts", answers("110101"), params={"model": "large"}, observed={"model": "served"})
    result = suite_result(suite_of(benchmark(*cases)), first, second)
    warnings = close_suite(result).warnings
    assert [warning.code for warning in warnings] == ["identical-arms"]
    assert "the same model (served)" in warnings[0].message
    other = replace(second, observed={"model": "really large"})
    assert codes(replace(result, arms=(first, other))) == []
    alike = replace(second, params={"model": "small"})
    assert codes(replace(result, arms=(first, alike))) == []


def test_an_agent_that_scores_nothing_comes_before_one_without_a_score() -> None:
    own = benchmark("a")
    run = suite_result(
        suite_of(own),
        arm("lost@1", "facts", [sample("a", Status.ERROR)]),
        arm("wrong@1", "facts", [sample("a", 0.0)]),
    )
    assert [item.name for item in standing_of(close_suite(run)).agents] == ["wrong", "lost"]


def test_two_versions_that_answer_alike_are_flagged() -> None:
    cases = [f"c{i}" for i in range(6)]
    first, second = arm("x@1", "facts", answers("110101")), arm("x@2", "facts", answers("110101"))
    result = suite_result(suite_of(benchmark(*cases)), first, second)
    assert codes(result) == ["identical-arms"]
    changed = arm("x@2", "facts", [*answers("11010"), sample("c5", 1.0, output="another answer")])
    assert codes(replace(result, arms=(first, changed))) == []


def test_a_warning_that_the_run_already_has_is_not_repeated() -> None:
    closed = close_suite(one([*answers("11"), sample("c2", Status.ERROR)]))
    assert close_suite(closed).warnings == closed.warnings


def test_the_standing_survives_json() -> None:
    standing = standing_of(close_suite(two_by_two()))
    assert from_plain(SuiteStanding, to_plain(standing)) == standing
    assert SuiteFindings(standings=(standing,)).comparisons == ()


def test_a_closed_run_survives_its_file() -> None:
    closed = close_suite(two_by_two())
    read = decode_result(encode(closed), "result.json")
    assert read.arms == closed.arms
    assert read.suite == closed.suite


def test_a_run_without_any_sample_can_be_closed_and_shown() -> None:
    empty = suite_result(suite_of(benchmark("a")), arm("x@1", "facts", (), planned=5))
    closed = close_suite(empty)
    assert [warning.code for warning in closed.warnings] == ["no-answers"]
    standing = standing_of(closed)
    assert standing.agents[0].scores["overall"].value is None
    assert standing.agents[0].pass_rate is None


def test_before_a_run_calls_and_the_smallest_drop_are_known() -> None:
    suite = suite_of(benchmark(*(f"c{i}" for i in range(50))), benchmark("a", "b", name="sums", epochs=2), epochs=3)
    told = foresee(suite, [3, 0])
    assert told.calls == 2 * (50 * 3 + 2 * 2)
    assert told.warmups == 3 * 2
    assert (told.cases, told.clusters, told.agents) == (52, 52, 2)
    # (t(0.975, 51) + t(0.8, 51)) * sqrt(0.2) / sqrt(52) = (2.007584 + 0.848692) * 0.062017
    assert told.detectable == pytest.approx(0.17714, abs=1e-4)
    assert "20 % of the cases" in told.assumption


def test_a_handful_of_cases_can_show_nothing() -> None:
    assert foresee(suite_of(benchmark("a", "b", "c")), [0]).detectable is None


def test_few_cases_need_six_flips_whatever_the_spread() -> None:
    told = foresee(suite_of(benchmark(*(f"c{i}" for i in range(12)))), [0], spread=0.1)
    assert told.detectable == 0.5


def test_grouped_cases_show_less() -> None:
    cases = [Case(f"c{i}", "q", group=f"g{i % 10}") for i in range(100)]
    told = foresee(suite_of(benchmark(*cases)), [0])
    assert told.clusters == 10
    assert told.detectable == 0.6
