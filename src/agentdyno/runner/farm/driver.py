"""The driver's end: trials go out, what comes back is handed on, lost stations cost nothing but time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from agentdyno.errors import RunError
from agentdyno.model.plan import Trial
from agentdyno.model.result import Environment
from agentdyno.runner.farm.assignments import AHEAD_S, Assignments

WAIT_S = 0.05
"""How long is waited for news before it is looked whether there is something to send."""
ALONE_S = 60.0
"""Seconds without any station after which a run ends."""

Say = Callable[[str], None]
"""Tells a person one line."""
Item = Mapping[str, object]
"""What a station says about a trial: its ``key``, whether it ``ended``, and the kind's own part."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A station is ready. ``host_id`` is that of its machine; it wants ``ahead_s`` seconds of work beside what it
    does, as long as a message to it may take."""

    station: str
    host_id: str
    ahead_s: float = AHEAD_S


@dataclass(frozen=True, slots=True)
class Lost:
    """A station is gone, with all that it had not told."""

    station: str
    reason: str


@dataclass(frozen=True, slots=True)
class Told:
    """What a station has done since it was heard of last."""

    station: str
    items: Sequence[Item]


News = Joined | Lost | Told


class Farm(Protocol):
    """Stations on other machines, and the way to them. ``environment`` is that of the first, once it is open."""

    @property
    def environment(self) -> Environment | None: ...

    def open(self) -> list[Joined]:
        """Connects and starts a station a machine. Raises a ``DynoError`` where that cannot work; nothing has to be
        closed then."""
        ...

    def send(self, station: str, trials: Sequence[Trial]) -> None:
        """Never raises for a station that is gone: that is news."""
        ...

    def receive(self, timeout_s: float) -> list[News]:
        """What is new; waits for it at most ``timeout_s`` seconds."""
        ...

    def close(self) -> None:
        """Ends all stations with what they do; more than once is fine."""
        ...


@dataclass(frozen=True, slots=True)
class Hearing:
    """Who hears of it, in the driver's own thread: an item of a trial with the host that it comes from, a trial that
    was lost too often, what ends the run, and that a machine has joined."""

    item: Callable[[Trial, str, Item], None]
    given_up: Callable[[Trial], None]
    broken: Callable[[BaseException], None]
    joined: Callable[[], None] = lambda: None
    say: Say = lambda _: None


class MoreRoom(Exception):
    """Says in a queue of samples that a machine has joined: more trials may be submitted."""


class FarmDriver:
    """Hands trials to the stations of a farm from a thread of its own."""

    def __init__(
        self, farm: Farm, assignments: Assignments, hearing: Hearing, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._farm, self._assigned, self._hearing, self._clock = farm, assignments, hearing, clock
        self._hosts: dict[str, str] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="dyno-farm", daemon=True)
        self._alone_since: float | None = None

    @property
    def window(self) -> int:
        with self._lock:
            return self._assigned.window

    def open(self) -> None:
        """Raises what ``Farm.open`` raises."""
        for joined in self._farm.open():
            self._join(joined)
        self._thread.start()

    def submit(self, trial: Trial) -> None:
        with self._lock:
            self._assigned.submit(trial)

    def close(self) -> None:
        """Nothing is heard of afterwards."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self._farm.close()

    # In the driver's thread.

    def _work(self) -> None:
        try:
            while not self._stop.is_set():
                self._send()
                for news in self._farm.receive(WAIT_S):
                    self._take(news)
                self._check_alone()
        except BaseException as error:  # noqa: BLE001  (whoever waits has to hear of it)
            self._hearing.broken(error)

    def _send(self) -> None:
        with self._lock:
            orders = {name: self._assigned.take(name, ahead=False) for name in self._assigned.stations}
            for name, trials in orders.items():
                trials += self._assigned.take(name)
        for name, trials in orders.items():
            if trials:
                self._farm.send(name, trials)

    def _take(self, news: News) -> None:
        if isinstance(news, Joined):
            self._join(news)
            self._hearing.joined()
            self._hearing.say(f"{news.station} joins")
        elif isinstance(news, Lost):
            with self._lock:
                given_up = self._assigned.lose(news.station)
            self._hosts.pop(news.station, None)
            self._hearing.say(f"{news.station} is lost ({news.reason}); what it had not finished goes to others")
            for trial in given_up:
                self._hearing.given_up(trial)
        else:
            for item in news.items:
                self._hand_on(news.station, item)

    def _hand_on(self, station: str, item: Item) -> None:
        """What a station says about a trial that is not its own any more does not count."""
        key, took = str(item["key"]), item.get("took_s")
        with self._lock:
            trial = self._assigned.has(station, key)
            if trial is not None and item.get("ended", True):
                self._assigned.ended(station, key, took if isinstance(took, float) else None)
        if trial is not None:
            self._hearing.item(trial, str(item.get("host_id") or self._hosts[station]), item)

    def _join(self, joined: Joined) -> None:
        self._hosts[joined.station] = joined.host_id
        with self._lock:
            self._assigned.join(joined.station, joined.ahead_s)

    def _check_alone(self) -> None:
        with self._lock:
            alone = not self._assigned.stations
        if not alone:
            self._alone_since = None
            return
        now = self._clock()
        self._alone_since = now if self._alone_since is None else self._alone_since
        if now - self._alone_since > ALONE_S:
            raise RunError(
                f"no machine of the cluster has been left for {ALONE_S:g} s",
                remedy="What was measured is kept: `dyno resume last` goes on, also with `--executor local`.",
            )
