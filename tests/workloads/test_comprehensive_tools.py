"""The tools of the bundled agents, and the agent without a model."""

from __future__ import annotations

import asyncio

import pytest

from agentdyno.agents.hosting.callable_agent import CallableAgent
from agentdyno.model.case import Case, Response
from agentdyno.workloads.comprehensive.calculator import (
    CannotCalculate,
    as_text,
    calculate,
    calculate_left_to_right,
)
from agentdyno.workloads.comprehensive.rules import UNKNOWN, RulesAgent
from agentdyno.workloads.comprehensive.search import Bm25, excerpt, load_documents, paragraphs_of


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("3 + 4 * 5", 23),
        ("(12 - 4) * 6", 48),
        ("60 - 20 / 4", 55),
        ("-3 + 8", 5),
        ("2 ** 10", 1024),
        ("7 % 4", 3),
        ("2.5 * 8", 20),
        (" 1 ", 1),
    ],
)
def test_the_calculator_knows_precedence(expression: str, value: float) -> None:
    assert calculate(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        *("", "5 / 0", "1 +", "x", "[1]", "True", "1j * 2", "'a' * 3", "1 if 1 else 2"),
        *("abs(-1)", "__import__('os')", "9 ** 9 ** 9", "(-8) ** 0.5", "1+" * 500 + "1"),
    ],
)
def test_the_calculator_refuses_what_is_no_arithmetic(expression: str) -> None:
    with pytest.raises(CannotCalculate):
        calculate(expression)


def test_the_first_calculator_reads_from_left_to_right() -> None:
    assert calculate_left_to_right("3 + 4 * 5") == 35
    assert calculate_left_to_right("100 - 8 * 9") == 828
    assert calculate_left_to_right("17 * 23") == calculate("17 * 23")


@pytest.mark.parametrize("expression", ["", "5 / 0", "+ 3", "3 + +"])
def test_the_first_calculator_refuses_what_it_cannot_read(expression: str) -> None:
    with pytest.raises(CannotCalculate):
        calculate_left_to_right(expression)


def test_numbers_are_written_as_people_do() -> None:
    assert [as_text(value) for value in (391.0, 2.5, 1 / 3, -5.0)] == ["391", "2.5", "0.333333", "-5"]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("How many days after delivery can a Halvorn product be returned?", "returns"),
        ("What does error E27 mean?", "error-codes"),
        ("How long does an update of the firmware take?", "firmware"),
        ("HOW HIGH IS THE MAST OF THE SKYLARK 3?", "skylark-3"),
    ],
)
def test_the_search_finds_the_document_that_answers(question: str, name: str) -> None:
    index = Bm25(load_documents())
    assert index.search(question)[0].document.name == name
    assert index.coverage(question) > 0.5


def test_the_search_finds_nothing_for_words_that_no_document_has() -> None:
    index = Bm25(load_documents())
    assert index.search("What is the capital of France?") == []
    assert index.coverage("What is the capital of France?") == 0
    assert index.coverage("") == 0


def test_rare_words_count_more_than_common_ones() -> None:
    index = Bm25(paragraphs_of("sun sun sun sun\nsun rain\nsun\nsun"))
    assert index.search("sun rain")[0].document.text == "sun rain"
    assert len(index.search("sun", limit=3)) == 3


def test_an_excerpt_keeps_the_sentences_that_fit() -> None:
    text = "The kite is red. It was built in Oslo. The string is long. It costs 12 euros."
    assert excerpt(text, "Where was it built?") == "It was built in Oslo."
    assert excerpt(text, "What does the red kite cost?", 2) == "The kite is red. It costs 12 euros."
    assert excerpt(text, "Who?") == text


def test_an_index_of_nothing_finds_nothing() -> None:
    assert Bm25([]).search("anything") == []


def ask_rules(text: str = "", turns: tuple[str, ...] = ()) -> Response:
    agent = CallableAgent(RulesAgent, name="rules")
    return asyncio.run(agent.run(Case("c", turns[0] if turns else text, turns=turns)))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("", "How can I help?"),
        ("What is 3 + 4 * 5? Answer with the number only.", "23"),
        ("What is (12 - 4) * 6?", "48"),
        ("What is 5 / 0?", UNKNOWN),
        ("Is 9 greater than 4? Answer yes or no.", "yes"),
        ("Write the word rain in capital letters.", "RAIN"),
        ("Classify the message as billing or account.\nMessage: I forgot my password.", "account"),
        (
            "Extract day and time as JSON.\nText: On Tuesday at 14:30.",
            {"day": "Tuesday", "time": "14:30"},
        ),
        ("Extract name and city as JSON.\nText: Nothing here.", {"name": None, "city": None}),
        ("Extract colour as JSON.\nText: It is red.", {"colour": None}),
        ("Extract everything you can.", UNKNOWN),
        ("The key is red.\nThe boat is blue.\n\nQuestion: Which boat?", "The boat is blue."),
        ("Who are you?", UNKNOWN),
    ],
)
def test_rules_answer_what_a_rule_covers(text: str, answer: object) -> None:
    assert ask_rules(text).output == answer


def test_rules_quote_what_was_said_before() -> None:
    assert ask_rules(turns=("My dog is called Biscuit.", "I like tea.", "What is my dog called?")).output == (
        "My dog is called Biscuit."
    )


def test_rules_record_the_calculator_they_call() -> None:
    events = [(event.kind, event.name, event.content) for event in ask_rules("What is 17 * 23?").events]
    assert events == [
        ("tool_call", "calculator", {"expression": "17 * 23"}),
        ("tool_result", "calculator", "391"),
    ]
