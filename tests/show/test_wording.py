from __future__ import annotations

import math

import pytest

from agentdyno.show.wording import times_faster


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
