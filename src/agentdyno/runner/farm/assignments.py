"""Which station does which trial. Pure bookkeeping: no clock, no messages.

A station is one process on one machine that performs trials. Trials of one group always go to the same station, for
as long as it is there: that is how a machine measures whole blocks. What a lost station had not finished goes to
others, and what it might still say about that counts no more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from agentdyno.model.plan import Trial

AHEAD_S = 0.2
"""Seconds of work that a station has waiting beside what it does, so that it need not wait for the next message."""
MOST_AHEAD = 512
MOST_LOSSES = 10
"""So many machines may be lost with a trial before it counts as what kills them."""


@dataclass(slots=True)
class _Station:
    slots: int
    ahead_s: float
    ahead: int = 1
    waiting: deque[Trial] = field(default_factory=deque)
    doing: dict[str, Trial] = field(default_factory=dict)

    @property
    def capacity(self) -> int:
        return self.slots + self.ahead


class Assignments:
    """``group_of`` says which trials belong together; a station does ``slots`` at once."""

    def __init__(self, group_of: Callable[[Trial], str], slots: int) -> None:
        self._group_of, self._slots = group_of, slots
        self._stations: dict[str, _Station] = {}
        self._homes: dict[str, str] = {}
        self._unplaced: dict[str, deque[Trial]] = {}
        self._losses: dict[str, int] = {}

    @property
    def stations(self) -> tuple[str, ...]:
        return tuple(self._stations)

    @property
    def window(self) -> int:
        """How many trials are worth having here at once; what a rule decides later comes too late for those."""
        return max(1, sum(station.capacity for station in self._stations.values()))

    def join(self, name: str, ahead_s: float = AHEAD_S) -> None:
        """A new station; it has one trial waiting beside those that it does, until more is known."""
        self._stations[name] = _Station(self._slots, ahead_s)

    def lose(self, name: str) -> list[Trial]:
        """The station is gone: its trials go to others, before all that wait. Those that were lost too often are
        returned, and are nobody's any more."""
        station = self._stations.pop(name, None)
        if station is None:
            return []
        self._homes = {group: home for group, home in self._homes.items() if home != name}
        given_up: list[Trial] = []
        back: dict[str, deque[Trial]] = {}
        for trial in [*station.doing.values(), *station.waiting]:
            if trial.key in station.doing:
                self._losses[trial.key] = self._losses.get(trial.key, 0) + 1
            if self._losses.get(trial.key, 0) >= MOST_LOSSES:
                given_up.append(trial)
            else:
                back.setdefault(self._group_of(trial), deque()).append(trial)
        for group, trials in self._unplaced.items():
            back.setdefault(group, deque()).extend(trials)
        self._unplaced = back
        return given_up

    def submit(self, trial: Trial) -> None:
        group = self._group_of(trial)
        home = self._homes.get(group)
        if home is not None:
            self._stations[home].waiting.append(trial)
        else:
            self._unplaced.setdefault(group, deque()).append(trial)

    def take(self, name: str, *, ahead: bool = True) -> list[Trial]:
        """What the station is to do next, as far as it has room: its own groups first, then groups that are nobody's.

        It is the station's from now on. Without ``ahead`` only what it does at once: so that no group waits at one
        station while another has nothing to do.
        """
        station = self._stations[name]
        taken: list[Trial] = []
        most = station.capacity if ahead else station.slots
        while len(station.doing) < most:
            if not station.waiting:
                group = next(iter(self._unplaced), None)
                if group is None:
                    break
                self._homes[group] = name
                station.waiting = self._unplaced.pop(group)
            trial = station.waiting.popleft()
            station.doing[trial.key] = trial
            taken.append(trial)
        return taken

    def has(self, name: str, key: str) -> Trial | None:
        """The trial with that key where the station has it, ``None`` where it is not the station's (any more)."""
        station = self._stations.get(name)
        return None if station is None else station.doing.get(key)

    def ended(self, name: str, key: str, duration_s: float | None) -> None:
        """The station has done a trial, which took ``duration_s``: so it is known how many fill its time ahead."""
        station = self._stations[name]
        del station.doing[key]
        if duration_s is not None:
            worth = station.slots * min(MOST_AHEAD, station.ahead_s / max(duration_s, 1e-9))
            station.ahead = min(MOST_AHEAD, max(1, round((station.ahead + worth) / 2)))
