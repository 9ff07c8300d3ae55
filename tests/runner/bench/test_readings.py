from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from agentdyno.runner.bench.readings import (
    MAX_DEPTH,
    NUMBERS_CAP,
    OUTPUT_CAP,
    OutputUnserialisable,
    memory_use,
    plain_or_text,
    split_output,
)


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("returned", "readings", "output"),
    [
        (None, {}, None),
        ({}, {}, None),
        (3, {"result.value": 3.0}, None),
        (True, {}, True),
        ("text", {}, "text"),
        ([1, 2], {}, [1, 2]),
        ({"a": 1, "b": 2.5, "c": "x", "d": True}, {"result.a": 1.0, "result.b": 2.5}, {"c": "x", "d": True}),
        ({1: 2, (3, 4): "x"}, {"result.1": 2.0}, {"(3, 4)": "x"}),
        ({"s": {3}, "t": (1, 2)}, {}, {"s": [3], "t": [1, 2]}),
        (float("nan"), {}, None),
        ({"a": math.nan, "b": [math.inf, 1.0]}, {}, {"a": None, "b": [None, 1.0]}),
        ({"big": 10**400}, {}, {"big": 10**400}),
        (np.float64(1.5), {"result.value": 1.5}, None),
        (np.float32(np.nan), {}, None),
        (
            {"i": np.int64(3), "f": np.float32(0.5), "b": np.bool_(True)},
            {"result.i": 3.0, "result.f": 0.5},
            {"b": True},
        ),
        ({"zero": np.array(7), "one": np.array([7])}, {"result.zero": 7.0}, {"one": [7]}),
        (np.arange(4).reshape(2, 2), {}, [[0, 1], [2, 3]]),
        ({"mixed": {"deep": np.array([1.0, np.nan])}}, {}, {"mixed": {"deep": [1.0, None]}}),
    ],
)
def test_numbers_become_readings_and_the_rest_plain_output(
    returned: object, readings: dict[str, float], output: object
) -> None:
    assert split_output(returned) == (readings, output)


class Order:
    item = "a book"
    ndim = 0


class Raising:
    def tolist(self) -> list[int]:
        raise OSError("the disk is gone")


def circle() -> list[Any]:
    items: list[Any] = []
    items.append(items)
    return items


@pytest.mark.parametrize(
    "returned", [object(), {"x": b"bytes"}, {"x": {("a", "b"): 1}}, [Order()], {"x": Order()}, Raising(), circle()]
)
def test_what_json_cannot_hold_is_refused_in_words(returned: object) -> None:
    with pytest.raises(OutputUnserialisable, match=r"the returned value cannot be stored: .+; return numbers"):
        split_output(returned)


@pytest.mark.parametrize("levels", [MAX_DEPTH, 300, 700, 5_000, 100_000])
def test_output_that_is_nested_too_deeply_for_its_readers_is_refused(levels: int) -> None:
    with pytest.raises(OutputUnserialisable):
        split_output({"deep": nested(levels)})


def test_output_may_be_nested_as_deeply_as_stated() -> None:
    assert split_output(nested(MAX_DEPTH)) == ({}, nested(MAX_DEPTH))


def test_huge_output_is_cut_and_says_how_long_it_was() -> None:
    numbers, output = split_output({"text": "x" * 1_000_000, "n": 1})
    assert numbers == {"result.n": 1.0}
    assert output["truncated"] == '{"text": "' + "x" * (OUTPUT_CAP - 10)
    assert output["characters"] == 1_000_012


def test_a_thousand_numbers_become_readings_and_more_are_kept_as_output() -> None:
    numbers, output = split_output({f"n{i}": i for i in range(NUMBERS_CAP + 2)})
    assert len(numbers) == NUMBERS_CAP
    assert output == {f"n{NUMBERS_CAP}": NUMBERS_CAP, f"n{NUMBERS_CAP + 1}": NUMBERS_CAP + 1}


def test_half_a_surrogate_pair_survives() -> None:
    assert split_output({"name": "caf\udce9"}) == ({}, {"name": "caf\udce9"})


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ("wal", "wal"),
        (float("nan"), None),
        ({"b", "a"}, ["a", "b"]),
        (np.int64(4), 4),
        (np.array([1, 2]), [1, 2]),
        (b"x", "b'x'"),
        ({"a": (1, 2)}, {"a": [1, 2]}),
    ],
)
def test_what_is_observed_is_kept_plain_or_as_text(value: object, plain: object) -> None:
    assert plain_or_text(value) == plain


def test_what_cannot_even_be_printed_is_named_by_its_type() -> None:
    class Mute:
        def __str__(self) -> str:
            raise ValueError("no")

    assert plain_or_text(Mute()) == "<Mute that cannot be printed: ValueError>"
    assert isinstance(plain_or_text(circle()), str)
    assert len(str(plain_or_text("x" * 10**6))) < 2 * OUTPUT_CAP


def test_memory_is_read_in_bytes() -> None:
    use = memory_use()
    assert use is not None
    assert 2**20 < use.rss_bytes < 2**40
    assert use.peak_rss_bytes >= use.rss_bytes // 2
