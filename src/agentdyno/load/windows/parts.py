"""What each of several clients did in one window of time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from agentdyno.findings.figures.histograms import from_counts
from agentdyno.load.windows.records import UNSENT, Extras, Records
from agentdyno.model.load import ClientPart
from agentdyno.stats.histogram import LogCounts


@dataclass(slots=True)
class _Counted:
    asked: int = 0
    unsent: int = 0
    lag: LogCounts = field(default_factory=LogCounts)
    wait: LogCounts = field(default_factory=LogCounts)


class ClientCounts:
    """``names`` are those of the clients by the number that stands in their records."""

    def __init__(self, names: Mapping[int, str]) -> None:
        self._names = names
        self._counted: dict[int, _Counted] = {number: _Counted() for number in names}

    def add(self, records: Records) -> None:
        """Requests that were due in this window."""
        for number, mine in self._of_each(records["process"]):
            counted, own = self._counted[number], records[mine]
            unsent = own["outcome"] == UNSENT
            counted.asked += int(own.size)
            counted.unsent += int(unsent.sum())
            left = own[~unsent & (own["sent"] >= 0) & (own["blocked"] == 0)]
            counted.lag.add(left["sent"] - left["due"])

    def add_extras(self, processes: NDArray[np.uint8], extras: Extras) -> None:
        """What is known of the same requests beside their records."""
        for number, mine in self._of_each(processes):
            waits = extras["wait"][mine]
            self._counted[number].wait.add(waits[waits >= 0])

    def build(self) -> dict[str, ClientPart]:
        return {
            self._names[number]: ClientPart(
                counted.asked,
                counted.asked - counted.unsent,
                counted.unsent,
                from_counts(counted.lag),
                from_counts(counted.wait),
            )
            for number, counted in self._counted.items()
        }

    def _of_each(self, processes: NDArray[np.uint8]) -> list[tuple[int, NDArray[np.bool_]]]:
        return [(number, processes == number) for number in np.unique(processes).tolist() if number in self._names]
