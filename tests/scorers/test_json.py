from __future__ import annotations

import socket

import pytest

from agentdyno.scorers.answer import fenced_blocks, find_json
from agentdyno.scorers.json_scorers import JsonEqual, JsonSchema
from tests.scorers.building import complaint, correctness, judged

INVOICE = {"number": "R-7", "total": 12.5, "lines": [{"item": "pen", "n": 2}, {"item": "ink", "n": 1}]}
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name", "age"],
}


@pytest.mark.parametrize(
    ("output", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('Sure!\n```json\n{"a": 1}\n```\nAnything else?', {"a": 1}),
        ('```\n{"a": 1}\n```', {"a": 1}),
        ('~~~~json\n{"a": 1}\n~~~~', {"a": 1}),
        ('```json\n{"a": 1}', {"a": 1}),
        ('See [1]: {"a": {"b": [1, 2]}} is what I found.', {"a": {"b": [1, 2]}}),
        ('{broken {"a": 1}', {"a": 1}),
        ("[1, 2]", [1, 2]),
        ({"a": 1}, {"a": 1}),
        (5, 5),
        ("5", 5),
        ("true", True),
    ],
)
def test_json_is_found_in_prose_and_fences(output: object, value: object) -> None:
    assert find_json(output) == (True, value)


@pytest.mark.parametrize("output", ["", "hello", "{a: 1}", None, "NaN", '{"a": NaN}', "[" * 200_000])
def test_what_holds_no_json_says_so(output: object) -> None:
    assert find_json(output) == (False, None)


@pytest.mark.parametrize("text", ["`" * 100_000, "```" + " " * 100_000, "```x\n" * 20_000, "{" * 100_000])
def test_hostile_texts_come_to_an_end(text: str) -> None:
    assert find_json(text) == (False, None)
    assert len(fenced_blocks(text)) <= 20_000


def test_equal_values_are_equal_in_every_order_of_fields_and_within_the_tolerance() -> None:
    answer = (
        '{"total": 12.5000000001, "lines": [{"n": 2, "item": "pen"}, {"item": "ink", "n": 1.0}], "number": "R-7"}'
    )
    assert judged(JsonEqual(), answer, INVOICE).values == {"correctness": 1.0, "completeness": 1.0, "fields": 1.0}
    assert correctness(JsonEqual(), '{"a": 1}', '{"a": 1}') == 1.0
    assert correctness(JsonEqual(tolerance=0.1), "10.5", 10) == 1.0
    assert correctness(JsonEqual(), 10**400, 1.5) == 0.0


def test_missing_and_wrong_fields_are_counted_apart() -> None:
    answer = {"number": "R-8", "lines": [{"item": "pen", "n": 2}]}
    score = judged(JsonEqual(), answer, INVOICE)
    # Of six leaves, number (wrong), item and n of the first line are there.
    assert score.values == {"correctness": 0.0, "completeness": 0.5, "fields": pytest.approx(2 / 6)}
    assert score.explanation == (
        'number: want \'R-7\', got \'R-8\'; total: missing; lines[1]: {"item": "ink", "n": 1} is missing'
    )
    assert correctness(JsonEqual(partial=True), answer, INVOICE) == pytest.approx(2 / 6)


def test_fields_that_nobody_asked_for_are_wrong_unless_allowed() -> None:
    assert correctness(JsonEqual(), {"a": 1, "b": 2}, {"a": 1}) == 0.0
    assert correctness(JsonEqual(ignore_extra=True), {"a": 1, "b": 2}, {"a": 1}) == 1.0
    assert correctness(JsonEqual(ignore_extra=True), [1, 2], [1]) == 0.0
    assert judged(JsonEqual(), {"a": 1, "b": 2}, {"a": 1}).explanation == "b: not expected"


def test_lists_may_be_unordered() -> None:
    target = {"tags": ["x", "y", "z"]}
    assert correctness(JsonEqual(), {"tags": ["z", "x", "y"]}, target) == 0.0
    assert correctness(JsonEqual(unordered=True), {"tags": ["z", "x", "y"]}, target) == 1.0
    score = judged(JsonEqual(unordered=True), {"tags": ["z", "y"]}, target)
    assert score.values["fields"] == pytest.approx(2 / 3)
    assert score.explanation == "tags[2]: 'x' is missing"
    assert correctness(JsonEqual(unordered=True), [1, 1, 2], [1, 2, 2]) == 0.0


@pytest.mark.parametrize(
    ("got", "want"),
    [(True, 1), (1, True), ("1", 1), (None, 0), ({}, []), ([], None), ({}, {"a": 1}), ([1], {"a": 1})],
)
def test_values_of_another_type_are_different(got: object, want: object) -> None:
    assert correctness(JsonEqual(), {"v": got}, {"v": want}) == 0.0


def test_another_kind_of_value_has_none_of_the_fields() -> None:
    assert judged(JsonEqual(), {"v": 5}, {"v": {"a": 1, "b": 2}}).values["completeness"] == 0.0
    assert judged(JsonEqual(), "no json", {"a": 1}).explanation == "no JSON in 'no json'"


def test_targets_that_are_no_json_are_refused_beforehand() -> None:
    assert complaint(JsonEqual()) == "it has no target"
    assert "no JSON" in (complaint(JsonEqual(), "{") or "")
    assert complaint(JsonEqual(), '{"a": 1}') is None
    assert complaint(JsonEqual(), {"a": 1}) is None


def test_a_schema_comes_from_the_option_or_the_case() -> None:
    good = '```json\n{"name": "Ada", "age": 36}\n```'
    assert judged(JsonSchema(SCHEMA), good).values == {"correctness": 1.0, "completeness": 1.0}
    assert correctness(JsonSchema(), good, schema=SCHEMA) == 1.0
    score = judged(JsonSchema(SCHEMA), '{"name": 5}')
    assert score.values == {"correctness": 0.0, "completeness": 0.5}
    assert "name: 5 is not of type 'string'" in score.explanation
    assert "'age' is a required property" in score.explanation
    assert correctness(JsonSchema(SCHEMA), "no") == 0.0


def test_bad_schemas_are_refused_beforehand() -> None:
    assert "needs the option schema" in (complaint(JsonSchema()) or "")
    assert "not valid" in (complaint(JsonSchema({"type": "nonsense"})) or "")
    assert complaint(JsonSchema(SCHEMA)) is None


def test_references_out_of_the_schema_are_not_fetched() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        schema = {"$ref": f"http://127.0.0.1:{server.getsockname()[1]}/other.json"}
        with pytest.raises(Exception, match="Unresolvable"):
            judged(JsonSchema(schema), "{}")
        with pytest.raises(BlockingIOError):
            server.accept()
