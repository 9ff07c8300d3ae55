"""Load with cases of the user's own."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.errors import SpecError
from agentdyno.load.plan.dataset import CaseSet, build_case_requests
from agentdyno.model.case import Case
from agentdyno.model.load import Dialect, LoadOptions, LoadTarget
from agentdyno.specs.load.cases import read_weighted_cases
from tests.properties import examples

CHAT = LoadTarget("t", Dialect.OPENAI, "http://127.0.0.1:1/v1", "m")
PLAIN = LoadTarget("t", Dialect.HTTP, "http://127.0.0.1:1/ask")


def bodies(target: LoadTarget, *inputs: object) -> list[object]:
    cases = CaseSet(tuple(Case(str(n), value) for n, value in enumerate(inputs)), (1.0,) * len(inputs))
    made = build_case_requests(target, LoadOptions(), cases, 0)
    return [json.loads(wire.partition(b"\r\n\r\n")[2]) for wire in made.wire]


@examples(40)
@given(st.lists(st.floats(0.01, 1000.0), min_size=1, max_size=50), st.integers(0, 5))
def test_each_case_is_asked_in_proportion_to_its_weight_and_none_is_left_out(weights: list[float], seed: int) -> None:
    cases = CaseSet(tuple(Case(str(number), "x") for number in range(len(weights))), tuple(weights))
    dealt = cases.dealt(seed)
    counts = Counter(case.id for case in dealt)
    for number, weight in enumerate(weights):
        share = counts[str(number)] / len(dealt)
        # One place more or less, and the places of those that would have none otherwise.
        assert abs(share - weight / sum(weights)) <= (1 + len(weights)) / len(dealt) + 0.05
        assert counts[str(number)] >= 1
    assert dealt == cases.dealt(seed)


def test_weights_of_three_to_one_are_three_to_one() -> None:
    dealt = CaseSet((Case("a", "x"), Case("b", "y")), (3.0, 1.0)).dealt(7)
    assert Counter(case.id for case in dealt) == {"a": 750, "b": 250}


def test_equal_weights_keep_the_order_of_the_file() -> None:
    cases = tuple(Case(str(number), "x") for number in range(5))
    assert CaseSet(cases, (2.0,) * 5).dealt(3) == cases


def test_a_chat_is_asked_with_texts_messages_and_json() -> None:
    talk = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Hi"}]
    asked = bodies(CHAT, "What is 2+2?", talk, {"a": 1})
    messages = [body["messages"] for body in asked if isinstance(body, dict)]
    assert messages == [
        [{"role": "user", "content": "What is 2+2?"}],
        talk,
        [{"role": "user", "content": '{"a": 1}'}],
    ]


def test_a_plain_target_gets_texts_as_input_and_anything_else_as_it_is() -> None:
    assert bodies(PLAIN, "Hi", {"q": [1, 2]}) == [{"input": "Hi"}, {"q": [1, 2]}]


def test_a_body_says_where_the_input_goes() -> None:
    target = LoadTarget("t", Dialect.HTTP, PLAIN.url, body={"q": "{prompt}", "text": "Say {prompt}!"})
    assert bodies(target, "Hi", [1]) == [{"q": "Hi", "text": "Say Hi!"}, {"q": [1], "text": "Say [1]!"}]


def test_a_conversation_is_refused_for_an_endpoint() -> None:
    cases = CaseSet((Case("talk", "Hi", turns=("Hi", "Bye")),), (1.0,))
    with pytest.raises(SpecError, match="'talk' is a conversation of 2 turns"):
        build_case_requests(CHAT, LoadOptions(), cases, 0)


def test_weights_come_from_a_column_and_zero_leaves_a_case_out(tmp_path: Path) -> None:
    file = tmp_path / "cases.csv"
    file.write_text("input,weight\nfirst,2.5\nsecond,\nthird,0\n")
    cases, weights = read_weighted_cases(file)
    assert [case.input for case in cases] == ["first", "second"]
    assert weights == (2.5, 1.0)


def test_a_suite_gives_the_cases_of_all_its_benchmarks(tmp_path: Path) -> None:
    (tmp_path / "more.jsonl").write_text('{"id": "c", "input": "three", "weight": 4}\n')
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        "benchmarks:\n"
        "  - {benchmark_id: one, dataset: {cases: [{id: a, input: uno}, {id: b, input: due}]}}\n"
        "  - {benchmark_id: two, dataset: more.jsonl}\n"
    )
    cases, weights = read_weighted_cases(suite)
    assert [case.id for case in cases] == ["one/a", "one/b", "two/c"]
    assert weights == (1.0, 1.0, 4.0)


@pytest.mark.parametrize("weight", ["-1", '"much"', "true"])
def test_a_weight_that_is_none_is_refused_with_its_case(tmp_path: Path, weight: str) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(f'{{"id": "odd", "input": "x", "metadata": {{"weight": {weight}}}}}\n')
    with pytest.raises(SpecError, match="weight of case"):
        read_weighted_cases(file)


def test_weights_that_are_all_zero_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text('{"input": "x", "weight": 0}\n')
    with pytest.raises(SpecError, match="every case has weight 0"):
        read_weighted_cases(file)
