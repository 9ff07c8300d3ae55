"""How much of what a load run reports was the client's own doing, and when that is too much.

The client's own part of a latency is how late its requests left, plus how long answers waited until it read them.
What matters is not how many milliseconds that is, but what share of the reported figure, or of the room below an
objective.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentdyno.findings.figures.histograms import mean, merged, quantile, share_above
from agentdyno.model.load import Histogram, Objective, Outcome, SelfCheck, Window

LEAST_DELIVERED = 0.99
OWN_SHARE = 0.10
SATURATED = 0.90
BUSY = 0.50
"""A client that used less of its core than this was not late by its own work."""
QUANTILES = (0.5, 0.99)
_LATE_REQUESTS = 1.5
_TOLD = 0.01
_TIMES = ("latency", "service", "ttft", "queued_ttft")
_Figure = tuple[float | None, float, float | None]
"""A quantile (``None``: the mean), what is reported there, and the objective's limit."""


def own_part(windows: Sequence[Window], at: float | None) -> float:
    """Seconds of a latency at a quantile (``None``: of the mean) that were the client's: lateness, and waiting to be
    read. Requests that waited because every connection was busy are not counted: that is the target's doing."""
    lag, wait = merged(window.lag for window in windows), merged(window.wait for window in windows)
    return _at(lag, at) + _at(wait, at)


def client_limited(
    windows: Sequence[Window],
    self_check: SelfCheck | None = None,
    objectives: Sequence[Objective] = (),
    *,
    closed: bool = False,
    error_limit: float | None = None,
) -> str:
    """Why the client is to blame, or an empty text where it is not.

    It sent less than 99 % of what was due although a connection was free. Or its own part of a latency is above
    10 % of the latency that is reported, and above 10 % of the room below the objective on that latency. Or it had
    work for over 90 % of the time in a closed loop (see ``saturated``). An objective that is missed without the
    client's part as well is the target's; a single late request is never enough. So are failures above
    ``error_limit``: no lateness makes a target refuse, reset, cut off or answer wrongly.

    Of several clients on other machines each is held to that by itself, and named: among many, the lateness of one
    would hide in the quantiles of all. One that was lost spoils the step, since nobody asked what it should have.
    """
    if not any(window.asked for window in windows):
        return ""
    lost = next((part.lost for window in windows for part in (window.clients or {}).values() if part.lost), "")
    if lost:
        return f"{lost}; from then on its part of the load is missing"
    if error_limit is not None and failed_share(windows) >= error_limit:
        return ""
    figures = _figures(windows, [objective for objective in objectives if objective.metric in _TIMES])
    check = "" if self_check is None else f"; on loopback requests left {self_check.lag_p99_s * 1e3:.2f} ms late"
    alone = {
        name: _part_of(windows, name) for name in sorted({name for one in windows for name in one.clients or ()})
    }
    for name, own in sorted(alone.items(), key=lambda item: -own_part(item[1], QUANTILES[-1])):
        reason = _limited(own, figures, check, closed)
        if reason:
            return f"{name}: {reason}"
    return _limited(windows, figures, check, closed)


def _part_of(windows: Sequence[Window], name: str) -> list[Window]:
    """The windows as if one client had been alone: what it was asked, and its own times."""
    found = []
    for window in windows:
        part = (window.clients or {}).get(name)
        if part is not None:
            asked = replace(window, asked=part.asked, sent=part.sent, unsent=part.unsent, client_cpu=part.cpu)
            found.append(replace(asked, lag=part.lag, wait=part.wait, client_held=part.held))
    return found


def _limited(windows: Sequence[Window], figures: Sequence[_Figure], check: str, closed: bool) -> str:
    asked = sum(window.asked for window in windows)
    sent = sum(window.sent for window in windows)
    unsent = sum(window.unsent for window in windows)
    waited = sent - sum(window.lag.count for window in windows)
    if waited <= 0 and unsent > asked * (1.0 - LEAST_DELIVERED):
        return f"it sent {1.0 - unsent / asked:.1%} of what was asked while connections were free" + _busy(windows)
    if closed and saturated(windows):
        return f"{_worked(windows)}: the pace is its own"
    for at, reported, limit in figures:
        reason = _too_much(windows, at, reported, limit)
        if reason:
            return reason + check + _busy(windows)
    return ""


def client_remedy(windows: Sequence[Window]) -> str:
    """What helps: more processes where one had enough to do, else a machine that lets it work when it has to."""
    busiest = max((window.client_cpu or 0.0 for window in windows), default=0.0)
    if busiest >= BUSY and (_share(windows, "client_held") or 0.0) < OWN_SHARE:
        return "Use more processes, or a machine with more free cores."
    return "Measure on a machine with free cores: the client waited for one, and more processes would not help."


def failed_share(windows: Sequence[Window]) -> float:
    """The share of what was asked that the target failed by itself: neither unsent, nor out of time."""
    failed = sum(window.failed - window.outcomes.get(Outcome.TIMEOUT, 0) for window in windows)
    return failed / max(sum(window.asked for window in windows), 1)


def saturated(windows: Sequence[Window]) -> bool:
    """Whether the client's busiest process always had work: on its core, or waiting for one.

    It is spared where the target is known to have used a core as well, and answers did not wait for the client: a
    target with many threads may use a core long before it is at its limit.
    """
    wanted = (_share(windows, "client_cpu") or 0.0) + (_share(windows, "client_held") or 0.0)
    target = _share(windows, "target_cpu")
    spared = target is not None and target > SATURATED and unread_share(windows) <= OWN_SHARE
    return wanted > SATURATED and not spared


def unread_share(windows: Sequence[Window]) -> float:
    """The part of the time that requests of a closed loop were in flight in which answers waited to be read."""
    unread = mean(merged(window.unread for window in windows)) or 0.0
    answering = mean(merged(window.service for window in windows)) or 0.0
    return unread / (unread + answering) if unread else 0.0


def _figures(windows: Sequence[Window], timed: Sequence[Objective]) -> list[_Figure]:
    """The figures that the client's part is held to: those of the objectives on time, else the median and the 99th
    percentile of the first sign of an answer."""
    found: list[_Figure] = []
    for objective in timed:
        seen = merged(getattr(window, objective.metric) for window in windows)
        if seen.count:
            found.append((objective.quantile, _at(seen, objective.quantile), objective.limit))
    if found:
        return found
    spread = merged(window.queued_ttft for window in windows)
    spread = spread if spread.count else merged(window.latency for window in windows)
    return [(at, _at(spread, at), None) for at in QUANTILES] if spread.count else []


def _too_much(windows: Sequence[Window], at: float | None, reported: float, limit: float | None) -> str:
    own = own_part(windows, at)
    room = max(limit - reported, 0.0) if limit is not None else 0.0
    allowed = OWN_SHARE * max(reported, room)
    if own <= allowed or (limit is not None and reported - own >= limit):
        return ""
    late = merged([merged(window.lag for window in windows), merged(window.wait for window in windows)])
    if (share_above(late, allowed / 2.0) or 0.0) * late.count < _LATE_REQUESTS:
        return ""
    where = "on average" if at is None else "at the median" if at == 0.5 else f"at the {at * 100:g}th percentile"
    rest = f"the {reported * 1e3:.2f} ms that it reports"
    if room > reported:
        rest = f"the {room * 1e3:.2f} ms of room below the objective"
    return f"{own * 1e3:.2f} ms {where} were its own (leaving late, reading late), above {OWN_SHARE:.0%} of {rest}"


def _at(histogram: Histogram, at: float | None) -> float:
    return (mean(histogram) if at is None else quantile(histogram, at)) or 0.0


def _share(windows: Sequence[Window], name: str) -> float | None:
    """The share of a core, averaged over the windows in which it is known."""
    known = [float(value) for window in windows if (value := getattr(window, name)) is not None]
    return sum(known) / len(known) if known else None


def _busy(windows: Sequence[Window]) -> str:
    shares = [window.client_cpu for window in windows if window.client_cpu is not None]
    held = _share(windows, "client_held") or 0.0
    waited = f", and waited for one {held:.0%} of the time" if held >= _TOLD else ""
    return f"; its busiest process used {max(shares):.0%} of a core{waited}" if shares else ""


def _worked(windows: Sequence[Window]) -> str:
    used, held = _share(windows, "client_cpu") or 0.0, _share(windows, "client_held") or 0.0
    return f"it used {used:.0%} of a core" + (f", and waited for one {held:.0%} of the time" if held >= _TOLD else "")
