"""How far the clock of another machine is from ours, by pings: the quickest of them says it best."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

PINGS = 16


@dataclass(frozen=True, slots=True)
class Ping:
    """Sent at ``sent_ns`` and answered at ``back_ns`` of our clock, when the other showed ``there_ns``."""

    sent_ns: int
    there_ns: int
    back_ns: int

    @property
    def way_ns(self) -> int:
        """There and back."""
        return self.back_ns - self.sent_ns


@dataclass(frozen=True, slots=True)
class ClockOffset:
    """``offset_ns`` is to be added to our clock to get the other's. It is wrong by ``error_ns`` at most: half the way
    there and back of the quickest ping. ``slowest_ns`` is the longest way that was seen."""

    offset_ns: int
    error_ns: int
    slowest_ns: int

    def there(self, ours_ns: int) -> int:
        """What the other clock shows at a moment of ours."""
        return ours_ns + self.offset_ns


def read_clock(pings: Iterable[Ping]) -> ClockOffset:
    """The other clock was read somewhere between sending a ping and its return: in the middle, give or take half."""
    taken = list(pings)
    best = min(taken, key=lambda ping: ping.way_ns)
    middle_ns = best.sent_ns + best.way_ns // 2
    return ClockOffset(best.there_ns - middle_ns, -(-best.way_ns // 2), max(ping.way_ns for ping in taken))
