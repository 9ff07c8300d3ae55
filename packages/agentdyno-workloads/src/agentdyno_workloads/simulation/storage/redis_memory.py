"""What agents remember, kept in a Redis: written, read, searched by place, and forgotten.

An entry is a text (``SET``) and a place. Places are in one sorted set whose score is the number of a square of the
world, so that a disc is a few ranges of scores, one for each row of squares that it touches, all asked for in one
round trip. The member holds the entry's number and its exact coordinates, and what lies outside the disc is sorted
out here. Redis has commands for places of its own (``GEOADD``, ``GEOSEARCH``); they are not used because they put
points on a globe and round them to 52 bits: the answers of a flat world would not be exact.
"""

from __future__ import annotations

import json
import math
import secrets
import struct
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from agentdyno import Direction, Experiment, ExperimentContext, Metric, SpecError
from agentdyno_workloads.simulation.storage.redis_server import RedisServer, open_client

if TYPE_CHECKING:
    from redis import Redis

DENSITY = 0.02
"""Entries per unit of area."""
PLACE = struct.Struct("<qdd")
SAMPLED = 200
"""Entries whose size is asked for one by one."""


class RedisMemory(Experiment):
    """Agent memory in Redis: entries written, read and found by place, one a round trip and in pipelined batches.

    Without ``url`` the experiment starts a server of its own. With it, keys are made under a prefix of the run and
    removed again; nothing else on that server is touched.
    """

    metrics: ClassVar = {
        metric.name: metric
        for metric in (
            *(
                Metric(f"{name}_per_s", "/s", Direction.HIGHER)
                for name in ("write", "write_pipelined", "read", "read_pipelined", "search", "search_pipelined")
            ),
            Metric("cleanup_per_s", "/s", Direction.HIGHER),
            Metric("bytes_per_entry", "bytes", Direction.LOWER),
            Metric("server_bytes_per_entry", "bytes", Direction.LOWER),
            Metric("found_per_search", ""),
        )
    }

    def __init__(
        self,
        agents: int = 100,
        entries: int = 20,
        searches: int = 200,
        radius: float = 10.0,
        batch: int = 100,
        url: str = "",
        seed: int = 42,
    ) -> None:
        for name, value in (("agents", agents), ("entries", entries), ("searches", searches), ("batch", batch)):
            if value < 1:
                raise SpecError(f"{name} is {value}", where=f"params.{name}", remedy="Give 1 or more.")
        if not (math.isfinite(radius) and radius > 0):
            raise SpecError(f"the radius is {radius:g}", where="params.radius", remedy="Give a number above 0.")
        super().__init__({"agents": agents, "entries": entries, "searches": searches, "radius": radius})
        self.batch, self.url, self.seed = batch, url, seed

    def setup(self, context: ExperimentContext) -> None:
        """The server, the entries, and the right answers of the searches."""
        self.server: RedisServer | None = None
        self.client: Redis | None = None
        # Known before anything that can fail, so that the end of the experiment finds the names it looks for.
        self.prefix = f"dyno:{secrets.token_hex(6)}:"
        self.texts: list[bytes] = []
        if not self.url:
            self.server = RedisServer()
        self.client = open_client(self.server.url if self.server is not None else self.url)
        count = self.params["agents"] * self.params["entries"]
        rng = np.random.default_rng(self.seed)
        self.side = math.sqrt(count / DENSITY)
        self.x, self.y = rng.uniform(0.0, self.side, (2, count))
        energy = rng.uniform(0.0, 20.0, count)
        self.texts = [self._text(number, float(energy[number])) for number in range(count)]
        self.centres = rng.uniform(0.0, self.side, (self.params["searches"], 2))
        self.right = [self._by_looking_at_all(float(x), float(y)) for x, y in self.centres]
        server = self.client.info("server")
        settings = self.client.info("persistence")
        context.observe(
            redis=server["redis_version"],
            server="own" if self.server is not None else "given",
            append_only=bool(settings["aof_enabled"]),
        )

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:  # noqa: ARG002
        """Everything once with a round trip an entry, and once in batches; all is forgotten in between."""
        numbers = range(len(self.texts))
        asked = range(len(self.right))
        before = self._used_bytes()
        figures = {"write_per_s": _rate(len(numbers), lambda: self._write(numbers, 1))}
        figures["read_per_s"] = self._timed_read(1)
        figures["search_per_s"] = self._timed_search(asked, 1)
        self._forget()
        figures["write_pipelined_per_s"] = _rate(len(numbers), lambda: self._write(numbers, self.batch))
        figures["server_bytes_per_entry"] = (self._used_bytes() - before) / len(numbers)
        figures["bytes_per_entry"] = self._bytes_per_entry()
        figures["read_pipelined_per_s"] = self._timed_read(self.batch)
        figures["search_pipelined_per_s"] = self._timed_search(asked, self.batch)
        figures["found_per_search"] = sum(map(len, self.right)) / len(self.right)
        figures["cleanup_per_s"] = _rate(len(numbers), self._forget)
        left = sum(1 for _ in self._client.scan_iter(match=f"{self.prefix}*", count=1000))
        if left:
            raise AssertionError(f"{left} keys are left after the cleanup")
        return figures

    def teardown(self, context: ExperimentContext) -> None:  # noqa: ARG002
        """Removes what an execution that failed has left, and ends the server."""
        try:
            if self.client is not None:
                if self.server is None and self.texts:
                    self._forget()
                self.client.close()
        finally:
            if self.server is not None:
                self.server.stop()

    @property
    def _client(self) -> Redis:
        assert self.client is not None
        return self.client

    def _key(self, number: int) -> str:
        return f"{self.prefix}{number}"

    @property
    def _places(self) -> str:
        return f"{self.prefix}places"

    def _text(self, number: int, energy: float) -> bytes:
        agents = self.params["agents"]
        entry = {
            "agent": number % agents,
            "step": number // agents,
            "x": round(float(self.x[number]), 3),
            "y": round(float(self.y[number]), 3),
            "energy": round(energy, 3),
        }
        return json.dumps(entry, separators=(",", ":")).encode()

    def _write(self, numbers: Sequence[int], batch: int) -> None:
        """An entry is two commands that take effect together, in one round trip or in a shared one."""
        for part in _parts(numbers, batch):
            pipe = self._client.pipeline(transaction=batch == 1)
            places = {}
            for number in part:
                pipe.set(self._key(number), self.texts[number])
                x, y = float(self.x[number]), float(self.y[number])
                places[PLACE.pack(number, x, y)] = self._square(x, y)
            pipe.zadd(self._places, places)
            pipe.execute()

    def _timed_read(self, batch: int) -> float:
        numbers = range(len(self.texts))
        began = perf_counter()
        if batch == 1:
            found = [self._client.get(self._key(number)) for number in numbers]
        else:
            found = []
            for part in _parts(numbers, batch):
                pipe = self._client.pipeline(transaction=False)
                for number in part:
                    pipe.get(self._key(number))
                found += pipe.execute()
        took_s = perf_counter() - began
        if found != self.texts:
            raise AssertionError("what is read is not what was written")
        return len(numbers) / took_s

    def _timed_search(self, asked: Sequence[int], batch: int) -> float:
        began = perf_counter()
        found: list[list[int]] = []
        for part in _parts(asked, batch):
            found += self._search([(float(x), float(y)) for x, y in self.centres[list(part)]])
        took_s = perf_counter() - began
        if found != self.right:
            raise AssertionError("a search by place finds other entries than looking at all of them")
        return len(asked) / took_s

    def _search(self, centres: Sequence[tuple[float, float]]) -> list[list[int]]:
        """The entries within the radius of each centre, by number, in one round trip."""
        radius = self.params["radius"]
        pipe = self._client.pipeline(transaction=False)
        rows = []
        for x, y in centres:
            first, last = (self._row(bound) for bound in (y - radius, y + radius))
            rows.append(last - first + 1)
            low, high = (self._row(bound) for bound in (x - radius, x + radius))
            for row in range(first, last + 1):
                pipe.zrangebyscore(self._places, row * self._columns + low, row * self._columns + high)
        answers = iter(pipe.execute())
        found = []
        for (x, y), count in zip(centres, rows, strict=True):
            members = b"".join(member for _ in range(count) for member in next(answers))
            near = [
                number
                for number, px, py in PLACE.iter_unpack(members)
                if (px - x) * (px - x) + (py - y) * (py - y) <= radius * radius
            ]
            found.append(sorted(near))
        return found

    @property
    def _columns(self) -> int:
        return int(self.side // self.params["radius"]) + 1

    def _row(self, bound: float) -> int:
        """The row or column of squares at a coordinate; squares are as wide as the radius."""
        return min(max(int(bound // self.params["radius"]), 0), self._columns - 1)

    def _square(self, x: float, y: float) -> int:
        return self._row(y) * self._columns + self._row(x)

    def _by_looking_at_all(self, x: float, y: float) -> list[int]:
        dx, dy, radius = self.x - x, self.y - y, self.params["radius"]
        return [int(number) for number in np.flatnonzero(dx * dx + dy * dy <= radius * radius)]

    def _forget(self) -> None:
        """Removes the entries and their places; a key that is not there is no fault."""
        keys = [*map(self._key, range(len(self.texts))), self._places]
        for part in _parts(range(len(keys)), 1000):
            self._client.unlink(*(keys[number] for number in part))

    def _bytes_per_entry(self) -> float:
        """As Redis counts it: the entry with its key, and its share of the places."""
        pipe = self._client.pipeline(transaction=False)
        step = max(1, len(self.texts) // SAMPLED)
        for number in range(0, len(self.texts), step):
            pipe.memory_usage(self._key(number))
        sizes = cast("list[int]", pipe.execute())
        places = cast("int", self._client.memory_usage(self._places, samples=0))
        return sum(sizes) / len(sizes) + places / len(self.texts)

    def _used_bytes(self) -> int:
        return int(self._client.info("memory")["used_memory"])


def _parts(numbers: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    for start in range(0, len(numbers), size):
        yield numbers[start : start + size]


def _rate(count: int, work: Callable[[], None]) -> float:
    """How many a second."""
    began = perf_counter()
    work()
    return count / (perf_counter() - began)
