"""A part of a suite is the part that was asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.errors import SpecError
from agentdyno.specs import parse_suite, suite_changes
from agentdyno.specs.suite.select import spread

SUITE: dict[str, object] = {
    "benchmarks": [
        {
            "name": "a",
            "dataset": [
                {"id": "a1", "input": 1, "metadata": {"level": "easy", "n": 1}},
                {"id": "a2", "input": 2, "metadata": {"level": "hard", "n": 2}},
                {"id": "a3", "input": 3, "metadata": {"level": "hard", "n": 3}},
            ],
        },
        {"name": "b", "dataset": [{"id": "b1", "input": 1}]},
        {"name": "c", "dataset": [{"id": f"c{i}", "input": i, "metadata": {"level": "easy"}} for i in range(1, 6)]},
    ]
}


def chosen(**quick: object) -> list[str]:
    suite = parse_suite({**SUITE, "quick": quick}, quick=True).suite
    return [case.id for item in suite.benchmarks for case in item.cases]


def test_a_limit_is_spread_evenly_and_takes_the_first_cases() -> None:
    assert chosen(limit=6) == ["a1", "a2", "a3", "b1", "c1", "c2"]
    assert chosen(limit=3) == ["a1", "b1", "c1"]
    assert chosen(limit=2) == ["a1", "b1"]
    assert len(chosen(limit=1000)) == 9


def test_cases_are_chosen_by_id_and_by_wildcard() -> None:
    assert chosen(cases=["c2", "a*"]) == ["a1", "a2", "a3", "c2"]
    assert chosen(cases="b1") == ["b1"]


def test_cases_are_chosen_by_metadata() -> None:
    assert chosen(cases={"where": {"level": "hard"}}) == ["a2", "a3"]
    assert chosen(cases={"where": {"level": ["hard", "easy"], "n": 1}}) == ["a1"]
    assert chosen(cases={"where": {"n": "2"}}) == ["a2"]  # a CSV file has no numbers
    assert chosen(cases={"ids": ["c*"], "where": {"level": "easy"}}, limit=2) == ["c1", "c2"]


def test_choices_of_the_command_line_replace_those_of_quick() -> None:
    document = {**SUITE, "quick": {"cases": ["a1"], "limit": 1}}
    suite = parse_suite(document, quick=True, overrides=suite_changes(cases=("c1", "c2"), limit=5)).suite
    assert [case.id for item in suite.benchmarks for case in item.cases] == ["c1", "c2"]


@pytest.mark.parametrize(
    ("quick", "where", "remedy"),
    [
        ({"cases": ["a9"]}, "suite: cases", "Did you mean a3 or a2 or a1?"),
        ({"cases": {"where": {"levl": "easy"}}}, "suite: cases.where", "Did you mean level?"),
        ({"cases": {"where": {"level": "odd"}}}, "suite: cases.where", "Select other values"),
        ({"benchmarks": ["d"]}, "suite: benchmarks", "Known: a, b, c."),
    ],
)
def test_what_matches_nothing_is_refused(quick: dict[str, object], where: str, remedy: str) -> None:
    with pytest.raises(SpecError) as caught:
        chosen(**quick)
    assert caught.value.where == where
    assert remedy in (caught.value.remedy or "")


@given(st.integers(1, 300), st.lists(st.integers(0, 50), max_size=12))
def test_spreading_is_even_and_complete(limit: int, sizes: list[int]) -> None:
    counts = spread(limit, sizes)
    assert sum(counts) == min(limit, sum(sizes))
    assert all(count <= size for count, size in zip(counts, sizes, strict=True))
    cut = [count for count, size in zip(counts, sizes, strict=True) if count < size]
    assert all(count <= min(cut, default=0) + 1 for count in counts if cut)
