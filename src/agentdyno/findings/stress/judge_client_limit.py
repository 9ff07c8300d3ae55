"""Whether the client, not the target, set the pace: then nothing measured says anything about the target."""

from __future__ import annotations

from collections.abc import Sequence

from agentdyno.findings.figures.histograms import merged, quantile, share_above
from agentdyno.model.load import SelfCheck, Window

LEAST_DELIVERED = 0.99
LEAST_LAG_S = 0.001
LAG_SHARE = 0.01
_LATE_REQUESTS = 1.5


def client_limited(windows: Sequence[Window], self_check: SelfCheck | None = None) -> str:
    """Why the client is to blame, or an empty text where it kept its schedule.

    Two signs. It sent less than 99 % of what was due although a connection was free. Or, of the requests that did
    not wait for a connection, the 99th percentile left later than max(1 ms, 1 % of the median TTFT; of the median
    service time where there is no TTFT); a single late request is never enough. Requests that wait because every
    connection is busy are the target's doing.
    """
    asked = sum(window.asked for window in windows)
    if not asked:
        return ""
    lag = merged(window.lag for window in windows)
    sent = sum(window.sent for window in windows)
    unsent = sum(window.unsent for window in windows)
    waited = sent - lag.count
    if waited <= 0 and unsent > asked * (1.0 - LEAST_DELIVERED):
        return f"it sent {1.0 - unsent / asked:.1%} of what was asked while connections were free" + _busy(windows)
    worst = quantile(lag, 0.99)
    allowed = allowed_lag(windows)
    if worst is None or worst <= allowed or (share_above(lag, allowed) or 0.0) * lag.count < _LATE_REQUESTS:
        return ""
    known = "" if self_check is None else f"; on loopback it was {self_check.lag_p99_s * 1e3:.2f} ms"
    return (
        f"requests left up to {worst * 1e3:.2f} ms late (99th percentile), more than the {allowed * 1e3:.2f} ms that "
        f"the measurement can stand{known}" + _busy(windows)
    )


def allowed_lag(windows: Sequence[Window]) -> float:
    """Seconds of lag at the 99th percentile that do not spoil the measurement."""
    typical = quantile(merged(window.ttft for window in windows), 0.5)
    if typical is None:
        typical = quantile(merged(window.service for window in windows), 0.5)
    return max(LEAST_LAG_S, LAG_SHARE * (typical or 0.0))


def _busy(windows: Sequence[Window]) -> str:
    shares = [window.client_cpu for window in windows if window.client_cpu is not None]
    return f"; its busiest process used {max(shares):.0%} of a core" if shares else ""
