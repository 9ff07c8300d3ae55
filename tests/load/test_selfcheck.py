from __future__ import annotations

from agentdyno.load.selfcheck import self_check
from agentdyno.model.load import LoadOptions


def test_the_self_check_measures_lag_error_and_rate_on_loopback() -> None:
    found = self_check(LoadOptions())
    assert found.requests == 100
    assert 0 <= found.lag_p50_s <= found.lag_p99_s
    assert 0 <= found.ttft_error_p50_s <= found.ttft_error_p99_s
    assert found.rate_per_s > 0
