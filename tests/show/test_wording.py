from __future__ import annotations

import math

import pytest

from agentdyno.show.wording import price_scale, side_by_side, times_faster


@pytest.mark.parametrize(
    ("ratio", "interval", "expected"),
    [
        (0.5, (0.4, 0.8), "2.00× [1.25, 2.50] faster"),
        (1.5, (1.2, 2.0), "1.50× [1.20, 2.00] slower"),
        (1.5, (1.2, math.inf), "1.50× slower"),
        (1.004, (0.95, 1.05), "1.00× [0.95, 1.05]"),
        (0.998, None, "1.00×"),
        (None, None, ""),
        (math.nan, None, ""),
        (0.0, None, ""),
    ],
)
def test_a_ratio_of_times_says_which_is_faster_unless_it_reads_one(
    ratio: float | None, interval: tuple[float, float] | None, expected: str
) -> None:
    assert times_faster(ratio, interval) == expected


@pytest.mark.parametrize(
    ("prices", "tasks", "shown"),
    [
        ([0.02, 1.5], 1, ["$0.02", "$1.50"]),
        ([0.002, 0.05], 1_000, ["$2.00", "$50.00"]),
        ([2e-9, 3e-9], 1_000_000, ["$0.002", "$0.003"]),
        ([2e-11, 3e-9], 1_000_000, ["under $0.0001", "$0.003"]),
        ([0.002, 500.0], 1, ["$2.00 per 1,000", "$500.00"]),  # nobody reads $500,000.00 per 1,000
        ([None, 0.0, 0.002], 1_000, ["-", "$0", "$2.00"]),
        ([None, 0.0], 1, ["-", "$0"]),
        ([math.inf, math.nan, 0.02], 1, ["-", "-", "$0.02"]),
        ([], 1, []),
    ],
)
def test_prices_of_a_column_are_told_for_as_many_tasks_as_make_all_of_them_readable(
    prices: list[float | None], tasks: int, shown: list[str]
) -> None:
    scale = price_scale(prices)
    assert scale.tasks == tasks
    assert [scale.show(price) for price in prices] == shown


def test_a_scale_says_for_how_many_it_is() -> None:
    assert (price_scale([1.0]).heading("task"), price_scale([1.0]).heading("success")) == ("per task", "per success")
    assert price_scale([0.002]).heading("success") == "per 1,000 successes"
    assert price_scale([2e-9]).heading("task") == "per 1,000,000 tasks"


def test_an_interval_stands_in_brackets_in_the_unit_of_its_price() -> None:
    assert price_scale([0.002]).show(0.002, (0.0015, 0.0031)) == "$2.00 [$1.50, $3.10]"
    assert price_scale([0.002]).show(0.002, (0.0015, math.inf)) == "$2.00"


def test_what_stands_side_by_side_says_for_how_many_tasks_it_is() -> None:
    assert side_by_side("cost", [0.002, 0.003], "usd") == ("cost per 1,000", ["$2.00", "$3.00"])
    assert side_by_side("cost", [2e-9, None], "usd") == ("cost per 1,000,000", ["$0.002", "-"])
    assert side_by_side("cost", [0.02, None], "usd") == ("cost", ["$0.02", "-"])
    assert side_by_side("time", [0.002, 0.003], "s") == ("time", ["2 ms", "3 ms"])
