from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.scorers.text import LONGEST_EDITED, EditSimilarity, Exact, Includes, TokenF1, edit_distance
from tests.scorers.building import complaint, correctness, judged


def slow_distance(first: str, second: str) -> int:
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        above, row[0] = row[0], i
        for j, b in enumerate(second, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (a != b))
    return row[-1]


@pytest.mark.parametrize(
    ("output", "target", "value"),
    [
        ("Paris", "Paris", 1.0),
        ("  Paris\n", "Paris", 1.0),
        ("paris", "Paris", 0.0),
        ("Paris", ["Lyon", "Paris"], 1.0),
        ("Nice", ["Lyon", "Paris"], 0.0),
        (391, 391, 1.0),
        ("391", 391, 1.0),
        (None, "Paris", 0.0),
        ("", "", 1.0),
        ({"a": 1}, '{"a": 1}', 1.0),
    ],
)
def test_exact_compares_texts(output: object, target: object, value: float) -> None:
    assert correctness(Exact(), output, target) == value


def test_exact_can_overlook_case_and_space() -> None:
    assert correctness(Exact(ignore_case=True), "STRASSE", "straße") == 1.0
    assert correctness(Exact(normalise_space=True), "a  b\nc", "a b c") == 1.0
    assert correctness(Exact(strip=False), "a ", "a") == 0.0
    assert correctness(Exact(any_of=False), ["a", "b"], ["a", "b"]) == 1.0
    assert correctness(Exact(any_of=False), "a", ["a", "b"]) == 0.0


def test_exact_says_what_it_wanted_and_got() -> None:
    assert judged(Exact(), "Lyon", "Paris").explanation == "want 'Paris', got 'Lyon'"


def test_targets_that_are_no_texts_are_refused_beforehand() -> None:
    for scorer in (Exact(), Includes(), TokenF1(), EditSimilarity()):
        assert complaint(scorer) == "it has no target"
        assert complaint(scorer, []) == "its target is an empty list"
        assert "dict" in (complaint(scorer, {"a": 1}) or "")
        assert "list" in (complaint(scorer, [{"a": 1}]) or "")
        assert complaint(scorer, "x") is None
        assert complaint(scorer, 4) is None
    assert "empty" in (complaint(Includes(), " ") or "")


def test_includes_counts_what_it_finds() -> None:
    score = judged(Includes(), "The refund takes 14 days, by card.", ["14 days", "CARD", "form B", "email"])
    assert score.values == {"correctness": 0.0, "completeness": 0.5}
    assert score.explanation == "missing: 'form B', 'email'"
    assert judged(Includes(), "14  days", "14 days").values == {"correctness": 1.0, "completeness": 1.0}
    assert correctness(Includes(ignore_case=False), "paris", "Paris") == 0.0
    assert correctness(Includes(any_of=True), "paris", ["Paris", "Lyon"]) == 1.0
    assert correctness(Includes(any_of=True), "Nice", ["Paris", "Lyon"]) == 0.0


def test_includes_can_ask_for_whole_words() -> None:
    assert correctness(Includes(), "1420", "42") == 1.0
    assert correctness(Includes(whole_words=True), "1420", "42") == 0.0
    assert correctness(Includes(whole_words=True), "It is (42).", "42") == 1.0


def test_token_f1_shares_words() -> None:
    # 3 of 4 wanted words are there, among 6: recall 3/4, precision 3/6
    score = judged(TokenF1(), "It was Marie Curie from Warsaw, yes", "Marie Curie born Warsaw")
    assert score.values["completeness"] == 0.75
    assert score.values["relevance"] == pytest.approx(3 / 7)
    assert score.values["correctness"] == pytest.approx(2 * 0.75 * (3 / 7) / (0.75 + 3 / 7))


def test_token_f1_overlooks_case_punctuation_and_articles() -> None:
    assert correctness(TokenF1(), "The Eiffel-Tower!", "eiffeltower") == 1.0
    assert correctness(TokenF1(drop_articles=False), "the tower", "tower") == pytest.approx(2 / 3)
    assert correctness(TokenF1(), "", "tower") == 0.0
    assert correctness(TokenF1(), "the", "") == 1.0
    assert correctness(TokenF1(), "blue", ["green", "dark blue", "blue"]) == 1.0
    assert correctness(TokenF1(), "yes yes yes", "yes") == 0.5


def test_edit_similarity_counts_edits_per_character_of_the_longer_text() -> None:
    assert correctness(EditSimilarity(), "kitten", "sitting") == pytest.approx(1 - 3 / 7)
    assert correctness(EditSimilarity(), "", "abc") == 0.0
    assert correctness(EditSimilarity(), "", "") == 1.0
    assert correctness(EditSimilarity(ignore_case=True), "ABC", "abc") == 1.0
    assert correctness(EditSimilarity(), "abcd", ["x", "abce"]) == 0.75
    assert correctness(EditSimilarity(), "a" * 3000 + "b", "a" * 3000) == pytest.approx(1 - 1 / 3001)


def test_texts_too_long_to_compare_are_unknown_and_not_wrong() -> None:
    score = judged(EditSimilarity(), "a" * (LONGEST_EDITED + 1), "b")
    assert score.values == {"correctness": None}
    assert "too long" in score.explanation


@given(st.text("abc", max_size=40), st.text("abc", max_size=40))
def test_edit_distance_agrees_with_the_table(first: str, second: str) -> None:
    assert edit_distance(first, second) == slow_distance(first, second)


def test_edit_distance_agrees_beyond_a_machine_word() -> None:
    first, second = "abcdefghij" * 17, "abdefghijc" * 15 + "xyz"
    assert edit_distance(first, second) == slow_distance(first, second)
