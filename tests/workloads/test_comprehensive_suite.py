"""The bundled suite: its cases, its quick subset, and that every target can be reached."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import agentdyno.workloads.comprehensive as workload
from agentdyno.contracts import Scorer
from agentdyno.model.case import Case, Event, Response
from agentdyno.model.metric import Category
from agentdyno.model.suite import Benchmark, Suite
from agentdyno.scorers.json_scorers import JsonEqual
from agentdyno.scorers.numeric import Numeric
from agentdyno.scorers.pattern import Regex, work
from agentdyno.scorers.text import Exact, Includes
from agentdyno.scorers.tools import ToolCalls
from agentdyno.specs.suite.load import load_suite

PATH = Path(workload.__file__).parent / "suites" / "comprehensive.yaml"
SCORERS: dict[str, Callable[..., Scorer]] = {
    "exact": Exact,
    "includes": Includes,
    "json_equal": JsonEqual,
    "numeric": Numeric,
    "regex": Regex,
    "tool_calls": ToolCalls,
}
GOOD_ANSWERS = {
    "edge-01": "How can I help?",
    "edge-02": "Please ask a question.",
    "edge-03": "Could you repeat that?",
    "edge-04": "smörgåsbord",
    "edge-05": "Ελλάδα",
    "edge-06": "12",
    "edge-07": "Yes.",
    "edge-08": "billing",
    "edge-09": "shipping",
    "edge-10": "The box is blue.",
    "edge-11": "It is undefined.",
    "edge-12": "-5",
    "edge-13": "0",
    "edge-14": "9 + 4 = 13",
    "edge-15": {"name": None, "city": ""},
}
BAD_ANSWERS = {
    "edge-06": "75",
    "edge-07": "xxxx",
    "edge-08": "hacked",
    "edge-09": "account",
    "edge-10": "The box is red, and also blue.",
    "edge-11": "5",
    "edge-12": "5",
    "edge-13": "987654321",
    "edge-14": "94",
    "edge-15": {"name": "No name", "city": "No place"},
    "short-02": "I do not know.",
}


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite(PATH).suite


def scorer_of(benchmark: Benchmark) -> Scorer:
    (use,) = benchmark.rubric.scorers
    return SCORERS[use.name](**use.options)


def perfect(benchmark: Benchmark, case: Case) -> Response:
    if case.id in GOOD_ANSWERS:
        return Response(GOOD_ANSWERS[case.id])
    target = case.target
    if benchmark.benchmark_id == "tool-use":
        assert isinstance(target, (list, tuple))
        return Response("done", events=tuple(Event("tool_call", name=call["name"]) for call in target))
    return Response(target.replace(r"\b", "") if isinstance(target, str) else target)


def correctness(benchmark: Benchmark, case: Case, response: Response) -> float | None:
    return asyncio.run(scorer_of(benchmark).score(case, response)).values["correctness"]


def pairs(suite: Suite) -> list[tuple[Benchmark, Case]]:
    return [(benchmark, case) for benchmark in suite.benchmarks for case in benchmark.cases]


def test_it_has_at_least_120_cases_and_no_id_twice(suite: Suite) -> None:
    ids = [case.id for _, case in pairs(suite)]
    assert len(ids) >= 120
    assert len(set(ids)) == len(ids)


def test_all_five_dimensions_have_a_benchmark(suite: Suite) -> None:
    asked = {benchmark.category for benchmark in suite.benchmarks}
    assert asked == set(Category) - {Category.COMPREHENSIVE}


def test_every_case_says_how_hard_it_is(suite: Suite) -> None:
    assert {case.metadata.get("difficulty") for _, case in pairs(suite)} == {"easy", "medium", "hard"}


def test_the_quick_subset_is_small_and_has_two_independent_cases_of_each_benchmark_in_it(suite: Suite) -> None:
    quick = load_suite(PATH, quick=True).suite
    left_out = {item.benchmark_id for item in suite.benchmarks} - {item.benchmark_id for item in quick.benchmarks}
    assert left_out == {"large-inputs"}, "four seconds a case"
    assert len(pairs(quick)) == 18
    for item in quick.benchmarks:  # a single case has no interval
        assert len({case.group or case.id for case in item.cases}) == 2


def test_a_perfect_answer_to_every_case_scores_one(suite: Suite) -> None:
    for benchmark, case in pairs(suite):
        assert scorer_of(benchmark).check(case) is None, case.id
        assert correctness(benchmark, case, perfect(benchmark, case)) == 1.0, case.id


def test_answers_that_only_look_right_score_zero(suite: Suite) -> None:
    found = {case.id: (benchmark, case) for benchmark, case in pairs(suite)}
    for case_id, answer in BAD_ANSWERS.items():
        assert correctness(*found[case_id], Response(answer)) == 0.0, case_id


def test_silence_is_right_nowhere_but_where_no_tool_is_needed(suite: Suite) -> None:
    right = [case.id for benchmark, case in pairs(suite) if correctness(benchmark, case, Response("")) != 0.0]
    assert right == ["tool-12", "tool-13"]


def test_no_pattern_needs_a_process_of_its_own(suite: Suite) -> None:
    patterns = [str(case.target) for item in suite.benchmarks for case in item.cases if _by_pattern(item)]
    assert len(patterns) > 20
    assert all(work(pattern, 200) < 1e6 for pattern in patterns)


def _by_pattern(benchmark: Benchmark) -> bool:
    return benchmark.rubric.scorers[0].name == "regex"


def test_paraphrases_share_a_group_and_a_target(suite: Suite) -> None:
    cases = suite.benchmark("paraphrases").cases
    assert Counter(case.group for case in cases) == dict.fromkeys(("refund", "sum", "late", "capital", "mast"), 4)
    assert len({(case.group, case.target) for case in cases}) == 5


def test_large_inputs_have_two_to_six_kilobytes_and_hold_the_answer(suite: Suite) -> None:
    for case in suite.benchmark("large-inputs").cases:
        text = str(case.input)
        assert 1900 <= len(text) <= 6300
        assert str(case.target) in text


def test_limits_lie_above_targets(suite: Suite) -> None:
    for benchmark in suite.benchmarks:
        rubric = benchmark.rubric
        assert rubric.targets.keys() == rubric.limits.keys()
        assert all(rubric.targets[name] < rubric.limits[name] for name in rubric.targets)
