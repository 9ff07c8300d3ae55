"""Clocks of other machines: what pings say about them is never further from the truth than they say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentdyno.load.clients.clock import Ping, read_clock

TIMES = st.integers(0, 50_000_000)


@given(st.integers(-(10**15), 10**15), st.lists(st.tuples(TIMES, TIMES, TIMES), min_size=1, max_size=20))
def test_the_offset_is_right_to_half_the_quickest_way(offset_ns: int, ways: list[tuple[int, int, int]]) -> None:
    pings, now_ns = [], 10**12
    for there_ns, back_ns, pause_ns in ways:
        now_ns += pause_ns
        pings.append(Ping(now_ns, now_ns + there_ns + offset_ns, now_ns + there_ns + back_ns))
        now_ns += there_ns + back_ns
    found = read_clock(pings)
    assert abs(found.offset_ns - offset_ns) <= found.error_ns
    quickest = min(there + back for there, back, _ in ways)
    assert found.error_ns == -(-quickest // 2)
    assert found.slowest_ns == max(there + back for there, back, _ in ways)
    assert found.there(1000) == 1000 + found.offset_ns


def test_an_even_way_tells_the_offset_exactly() -> None:
    assert read_clock([Ping(100, 5_150, 200), Ping(300, 9_999, 900)]).offset_ns == 5_000
