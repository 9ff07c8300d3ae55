"""Samples are decoded by a quicker decoder than the standard one; nobody must be able to tell."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as some

from agentdyno.store.runs.codec import dumps, loads, loads_quickly

NUMBERS = some.one_of(
    some.integers(),
    some.integers(min_value=-(10**40), max_value=10**40),
    some.floats(allow_nan=False, allow_infinity=False),
)
TEXTS = some.text(some.characters(codec=None, exclude_categories=()), max_size=20)
VALUES = some.recursive(
    some.one_of(some.none(), some.booleans(), NUMBERS, TEXTS),
    lambda inner: some.one_of(some.lists(inner, max_size=4), some.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)


@given(VALUES)
def test_what_was_stored_comes_back_as_the_standard_decoder_gives_it(value: object) -> None:
    stored = dumps(value)
    assert repr(loads_quickly(stored)) == repr(json.loads(stored))


@pytest.mark.parametrize(
    "text",
    [
        "1e400",
        "-1e400",
        "NaN",
        "-Infinity",
        '"\\ud800"',
        '{"a": 1, "a": 2}',
        "-0",
        "-0.0",
        "5e-324",
        " [1] ",
        "1" * 400,
    ],
)
def test_what_others_wrote_comes_back_as_the_standard_decoder_gives_it(text: str) -> None:
    assert repr(loads_quickly(text)) == repr(json.loads(text))


@pytest.mark.parametrize("text", ["", "{", "[1,]", '"a', "nul", "[1] 2", '"\x01"'])
def test_what_is_damaged_is_refused_by_both(text: str) -> None:
    for decode in (loads, loads_quickly):
        with pytest.raises(ValueError):  # noqa: PT011 - whichever kind of it
            decode(text)
