"""The one definition of time to first token, inter-token latency and rate."""

from __future__ import annotations

import pytest

from agentdyno.wire.timing import StreamTiming, measure


def test_the_first_token_counts_from_the_last_byte_sent() -> None:
    timing = measure(1_000_000_000, [1_250_000_000, 1_300_000_000, 1_450_000_000], tokens=5)
    assert timing.ttft_s == pytest.approx(0.25)
    assert timing.itl_s == pytest.approx(0.1)
    assert timing.tokens_per_s == pytest.approx(4 / 0.2)


def test_unknown_is_not_zero() -> None:
    assert measure(5, []) == StreamTiming()
    assert measure(5, [10]).readings() == {"ttft_s": 5e-9}
    assert measure(5, [10, 20]).tokens_per_s is None
    assert measure(5, [10, 10], tokens=9).tokens_per_s is None
    assert measure(5, [10, 20], tokens=1).tokens_per_s is None


def test_an_answer_that_came_before_the_request_was_complete_took_no_time() -> None:
    assert measure(20, [10]).ttft_s == 0.0
