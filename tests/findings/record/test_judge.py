from __future__ import annotations

from dataclasses import replace

import pytest

from agentdyno.errors import NotComparable
from agentdyno.findings.figures.suite_figures import close_suite, figures_of
from agentdyno.findings.record.judge import case_digest, combined, record_of
from agentdyno.model import Benchmark, Case, Failure, FailureKind, Rubric, RunResult, Sample, Status, Suite
from agentdyno.model.record import AgentRecord, CaseRecord

from ..builders import ENVIRONMENT
from ..suite_builders import arm, benchmark, case, sample, suite_of, suite_result

RUBRIC = Rubric(targets={"duration_s": 1.0}, limits={"duration_s": 16.0})
COST = {"cost_usd": 0.02, "total_tokens": 100.0}


def closed(suite: Suite, *arms: object, **fields: object) -> RunResult:
    return close_suite(suite_result(suite, *arms, **fields))  # type: ignore[arg-type]


def recorded(own: Benchmark, samples_: list[Sample], agent: str = "solver@1.0", **fields: object) -> AgentRecord:
    run = closed(suite_of(own), arm(agent, own.benchmark_id, samples_, **fields))
    return record_of(run, figures_of(run), agent)


def one(record: AgentRecord, case_id: str) -> CaseRecord:
    return next(item for item in record.cases if item.case_id == case_id)


def test_a_case_is_recorded_with_its_tries_score_group_and_what_an_execution_used() -> None:
    own = benchmark(case("a", group="g"), case("b"), rubric=RUBRIC)
    record = recorded(
        own,
        [
            sample("a", 1.0, 0, readings={"duration_s": 1.0, **COST}),
            sample("a", 0.0, 1, readings={"duration_s": 2.0, "cost_usd": 0.04, "total_tokens": 200.0}),
            sample("a", 1.0, 2, readings={"duration_s": 6.0, **COST, "total_tokens": 300.0}),
            sample("b", 0.25, 0, readings={"duration_s": 3.0, **COST}),
        ],
    )
    first, second = one(record, "a"), one(record, "b")
    assert (first.tries, first.scored, first.passed) == (3, 3, 2)
    assert first.score == pytest.approx(2 / 3)
    assert first.statuses == {"failed": 1, "ok": 2}
    assert first.group == "g"
    assert first.cluster == "facts group g"
    assert second.cluster == "facts case b"
    assert first.used["duration_s"] == 2.0  # the median
    assert first.used["cost_usd"] == pytest.approx(0.08 / 3)
    assert first.used["total_tokens"] == pytest.approx(200.0)
    assert first.spread["total_tokens"] == pytest.approx(100.0)
    assert first.spread["duration_s"] == pytest.approx(7.0**0.5)  # of 1, 2, 6: mean 3, squares 4 + 1 + 9 over 2
    assert second.spread == {}
    assert (second.score, second.passed) == (0.25, 0)


def test_the_head_of_a_record_says_who_where_and_on_what() -> None:
    own = benchmark("a", rubric=RUBRIC)
    record = recorded(own, [sample("a")], params={"model": "small"}, observed={"commit": "abc"})
    assert (record.agent, record.name, record.version) == ("solver@1.0", "solver", "1.0")
    assert (record.suite_id, record.suite_name) == ("first-suite", "first suite")
    assert record.suite == suite_of(own).digest
    assert record.machine_id == ENVIRONMENT.machine_id
    assert record.configuration == {"model": "small"}
    assert record.commit == "abc"
    assert record.finished_at == 1_772_374_072_000
    part = record.benchmark("facts")
    assert (part.cases, part.planned, part.pass_threshold) == (1, 1, 0.5)
    assert part.scores["accuracy"] == 1.0
    assert part.scores["speed"] == 1.0
    assert part.targets == {"duration_s": (1.0, 16.0)}
    assert record.run_ids == (part.run_id,)
    with pytest.raises(KeyError):
        record.benchmark("other")


def test_an_agent_name_may_hold_an_at_sign_and_a_version_may_be_missing() -> None:
    own = benchmark("a")
    assert recorded(own, [sample("a")], "team@solver@2").name == "team@solver"
    bare = recorded(own, [sample("a")], "solver")
    assert (bare.name, bare.version) == ("solver", "")


def test_cost_and_tokens_count_failed_executions_too() -> None:
    lost = replace(
        sample("a", Status.TIMEOUT, 1), readings={"duration_s": 30.0, "cost_usd": 0.10, "total_tokens": 7.0}
    )
    used = one(recorded(benchmark("a"), [sample("a", readings=COST), lost]), "a").used
    assert used["cost_usd"] == pytest.approx(0.06)
    assert used["total_tokens"] == pytest.approx(53.5)
    assert used["duration_s"] == 1.0  # of answers only


def test_a_cost_that_is_unknown_once_is_unknown_in_every_case_of_the_benchmark() -> None:
    record = recorded(benchmark("a", "b"), [sample("a", readings=COST), sample("b")])
    assert all("cost_usd" not in item.used for item in record.cases)
    assert all("total_tokens" not in item.used for item in record.cases)
    assert one(record, "a").used["duration_s"] == 1.0


def test_what_the_other_side_refused_cost_nothing_and_that_is_known() -> None:
    refused = replace(
        sample("a", Status.ERROR), readings={"duration_s": 0.1}, failure=Failure(FailureKind.RATE_LIMITED, "busy")
    )
    record = recorded(benchmark("a"), [refused])
    assert one(record, "a").used == {"cost_usd": 0.0, "total_tokens": 0.0, "api_calls": 0.0}
    assert one(record, "a").score is None
    assert one(record, "a").errors == 1


def test_cancelled_executions_and_cases_that_were_not_reached_are_left_out() -> None:
    record = recorded(benchmark("a", "b", "c"), [sample("a"), sample("b", Status.CANCELLED)])
    assert [item.case_id for item in record.cases] == ["a"]
    assert record.benchmark("facts").cases == 3


def test_a_case_that_asks_another_in_other_words_names_it() -> None:
    form = Case("a2", "other words", "yes", metadata={"perturbs": "a"})
    record = recorded(
        benchmark("a", form, Case("a3", "x", "y", metadata={"perturbs": 5})),
        [sample("a"), sample("a2"), sample("a3")],
    )
    assert one(record, "a2").perturbs == "a"
    assert one(record, "a").perturbs is None
    assert one(record, "a3").perturbs is None


def test_the_digest_of_a_case_is_of_what_is_asked_and_not_of_its_id_or_group() -> None:
    asked = Case("a", "q", "t", group="g")
    assert case_digest(asked) == case_digest(Case("b", "q", "t", metadata={"x": 1}))
    assert case_digest(asked) != case_digest(Case("a", "q", "u"))
    assert case_digest(asked) != case_digest(Case("a", "q", "t", turns=("q", "more")))
    assert case_digest(None) == ""


def test_another_way_of_judging_is_another_rubric_and_other_targets_are_not() -> None:
    def rubric(**fields: object) -> str:
        made = replace(RUBRIC, **fields)  # type: ignore[arg-type]
        return recorded(benchmark("a", rubric=made), [sample("a")]).benchmark("facts").rubric

    assert rubric() == rubric(targets={"duration_s": 2.0})
    assert rubric() != rubric(pass_threshold=0.8)


def test_errors_are_recorded_by_class() -> None:
    record = recorded(benchmark("a"), [sample("a", Status.ERROR), sample("a", Status.ERROR, 1), sample("a", 0.0, 2)])
    assert [(item.status, item.count) for item in record.benchmark("facts").errors] == [("error", 2), ("failed", 1)]


def test_benchmarks_of_several_runs_are_combined_the_first_run_first() -> None:
    facts, maths = benchmark("a"), benchmark("m", name="maths")
    suite = suite_of(facts, maths)
    first = closed(suite, arm("solver@1.0", "facts", [sample("a", 0.0)]), run_id="run-1")
    second = closed(
        suite,
        arm("solver@1.0", "facts", [sample("a", 1.0)]),
        arm("solver@1.0", "maths", [sample("m", 1.0)]),
        run_id="run-2",
        finished_at=1_772_400_000_000,
    )
    record = combined([(first, figures_of(first)), (second, figures_of(second))], "solver@1.0")
    assert record.run_ids == ("run-1", "run-2")
    assert one(record, "a").score == 0.0
    assert one(record, "m").score == 1.0
    assert record.finished_at == 1_772_400_000_000
    assert record.machine_id == "machine-1"
    elsewhere = replace(second, environment=replace(ENVIRONMENT, machine_id="machine-2"))
    mixed = combined([(first, figures_of(first)), (elsewhere, figures_of(elsewhere))], "solver@1.0")
    assert mixed.machine_id == ""


def test_runs_of_different_suite_versions_are_refused_and_so_is_an_agent_that_never_ran() -> None:
    old, new = (
        closed(suite_of(benchmark(name)), arm("solver@1.0", "facts", [sample(name)]), run_id=name) for name in "ab"
    )
    maths = closed(
        suite_of(benchmark("m", name="maths")), arm("solver@1.0", "maths", [sample("m")]), run_id="another"
    )
    parts = [(run, figures_of(run)) for run in (old, new, maths)]
    with pytest.raises(NotComparable, match="different versions"):
        combined(parts, "solver@1.0")
    with pytest.raises(NotComparable, match="nobody@1 has no recorded sample"):
        combined(parts, "nobody@1")
    with pytest.raises(NotComparable, match="of no suite"):
        combined([(replace(old, suite=None), figures_of(old))], "solver@1.0")


def test_simulated_answers_mark_the_record_even_of_a_run_that_was_never_closed() -> None:
    made = sample("a", details={"simulated": True})
    run = suite_result(suite_of(benchmark("a")), arm("solver@1.0", "facts", [made]))
    assert record_of(run, figures_of(run), "solver@1.0").simulated
    done = close_suite(run)
    assert record_of(done, figures_of(done), "solver@1.0").simulated
    assert not recorded(benchmark("a"), [sample("a")]).simulated


def test_an_imported_run_says_where_it_comes_from() -> None:
    run = closed(
        suite_of(benchmark("a")),
        arm("solver@1.0", "facts", [sample("a")]),
        origin={"tool": "inspect", "file": "log.eval"},
    )
    assert record_of(run, figures_of(run), "solver@1.0").origin == "inspect, log.eval"
