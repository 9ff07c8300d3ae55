"""How true a client's token times are: ours, httpx and aiohttp against the log of the simulated server itself.

Each client holds 50 streams at once over connections that are open already, on the same event loop, and reports the
time to first token and every gap between tokens as code written with it would: when it is given the token. The server
runs in another process and notes when it received each request and when it sent each token, with the same clock.
An error is the difference between the two, whatever its sign.

The second part shows that the server is fit to be the judge: 2,000 streams at 20 tokens a second each, and by how
much it sent their tokens late.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from time import perf_counter, perf_counter_ns

import aiohttp
import httpx
import uvloop

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.ratio_table import met, print_heading, print_table

from agentdyno.servers.simulated.server import Behaviour, RunningServer, ServedRequest, simulated_server
from agentdyno.wire.address import Address
from agentdyno.wire.chat import ChatRequest, decode_now
from agentdyno.wire.exchange import exchange
from agentdyno.wire.openai import OPENAI
from agentdyno.wire.pool import Pool
from agentdyno.wire.request import json_request

OURS = "agentdyno.wire"
P50_GOAL_MS, P99_GOAL_MS = 1.0, 5.0
WARM_UP = {"x-dyno-behaviour": "ttft_s=0.1;ttft_jitter_s=0;output_tokens=1"}
"""Every stream opens its connection before it is timed."""


@dataclass(frozen=True, slots=True)
class Load:
    """Streams at once, tokens of each, and how often each client has its turn."""

    streams: int
    tokens: int
    rounds: int


@dataclass(frozen=True, slots=True)
class Heard:
    """What a client reports of one stream: sent, and each token with content, in ns."""

    request_id: str
    sent_ns: int
    token_ns: tuple[int, ...]


@dataclass(slots=True)
class Errors:
    """Differences to the server's log, in ms."""

    ttft_ms: list[float] = field(default_factory=list)
    itl_ms: list[float] = field(default_factory=list)
    cpu_s: float = 0.0

    def add(self, heard: Heard, served: ServedRequest) -> None:
        if len(heard.token_ns) != len(served.token_ns):
            raise RuntimeError(f"{len(served.token_ns)} tokens were sent, {len(heard.token_ns)} reported")
        reported, true = heard.token_ns[0] - heard.sent_ns, served.token_ns[0] - served.received_ns
        self.ttft_ms.append(abs(reported - true) / 1e6)
        gaps = zip(pairwise(heard.token_ns), pairwise(served.token_ns), strict=True)
        self.itl_ms.extend(abs((b - a) - (d - c)) / 1e6 for (a, b), (c, d) in gaps)


Client = Callable[[str, Load], Awaitable[list[Heard]]]


def body() -> ChatRequest:
    return ChatRequest("judge", [{"role": "user", "content": "go"}])


async def ours(url: str, load: Load) -> list[Heard]:
    address, pool = Address.parse(url), Pool()
    asked = OPENAI.body(body())
    warm = json_request(address, OPENAI.path, asked, headers=tuple(WARM_UP.items()))
    timed = json_request(address, OPENAI.path, asked)
    await asyncio.gather(*(exchange(warm, pool) for _ in range(load.streams)))
    answers = await asyncio.gather(*(exchange(timed, pool) for _ in range(load.streams)))
    await pool.close()
    return [
        Heard(answer.headers.get("x-dyno-request") or "", answer.sent_ns, decode_now(OPENAI, answer).content_ns)
        for answer in answers
    ]


async def with_httpx(url: str, load: Load) -> list[Heard]:
    asked = OPENAI.body(body())
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(limits=limits, timeout=60) as client:

        async def stream(headers: dict[str, str]) -> Heard:
            tokens: list[int] = []
            sent_ns = perf_counter_ns()
            async with client.stream("POST", f"{url}{OPENAI.path}", json=asked, headers=headers) as answer:
                async for line in answer.aiter_lines():
                    if has_content(line):
                        tokens.append(perf_counter_ns())
            return Heard(answer.headers["x-dyno-request"], sent_ns, tuple(tokens))

        await asyncio.gather(*(stream(WARM_UP) for _ in range(load.streams)))
        return await asyncio.gather(*(stream({}) for _ in range(load.streams)))


async def with_aiohttp(url: str, load: Load) -> list[Heard]:
    asked = OPENAI.body(body())
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def stream(headers: dict[str, str]) -> Heard:
            tokens: list[int] = []
            sent_ns = perf_counter_ns()
            async with session.post(f"{url}{OPENAI.path}", json=asked, headers=headers) as answer:
                async for line in answer.content:
                    if has_content(line.decode().strip()):
                        tokens.append(perf_counter_ns())
            return Heard(answer.headers["x-dyno-request"], sent_ns, tuple(tokens))

        await asyncio.gather(*(stream(WARM_UP) for _ in range(load.streams)))
        return await asyncio.gather(*(stream({}) for _ in range(load.streams)))


def has_content(line: str) -> bool:
    """Whether a line of the stream brings a token."""
    text = line.removeprefix("data:").strip()
    if not text or text == "[DONE]":
        return False
    choices = json.loads(text)["choices"]
    return bool(choices) and bool(choices[0]["delta"].get("content"))


CLIENTS: dict[str, Client] = {OURS: ours, "httpx": with_httpx, "aiohttp": with_aiohttp}


def measure(load: Load) -> dict[str, Errors]:
    """Every client in turn, in an order that changes from round to round, against the same server."""
    found = {name: Errors() for name in CLIENTS}
    behaviour = Behaviour(
        ttft_s=0.3, ttft_jitter_s=0.1, itl_s=0.02, itl_jitter_s=0.01, output_tokens=load.tokens, seed=1
    )
    names = list(CLIENTS)
    with simulated_server(behaviour) as server:
        for number in range(load.rounds):
            shift = number % len(names)
            for name in (*names[shift:], *names[:shift]):
                server.reset()
                before = os.times()
                heard = uvloop.run(_run(CLIENTS[name], server.openai_url, load))
                after = os.times()
                found[name].cpu_s += after.user + after.system - before.user - before.system
                log = {entry.request_id: entry for entry in server.log()}
                for stream in heard:
                    found[name].add(stream, log[stream.request_id])
    return found


async def _run(client: Client, url: str, load: Load) -> list[Heard]:
    return await client(url, load)


def print_errors(found: dict[str, Errors], load: Load) -> None:
    for title, values in (
        ("time to first token", {name: errors.ttft_ms for name, errors in found.items()}),
        ("gaps between tokens", {name: errors.itl_ms for name, errors in found.items()}),
    ):
        base50, base99, _ = summary(values[OURS])
        rows = []
        for name, errors in values.items():
            p50, p99, most = summary(errors)
            reached = f"{met(p50 <= P50_GOAL_MS and p99 <= P99_GOAL_MS)}" if name == OURS else ""
            figures = (f"{p50:.3f}", f"{p99:.3f}", f"{most:.3f}")
            rows.append((name, f"{len(errors):,}", *figures, f"{p50 / base50:.1f}x", f"{p99 / base99:.1f}x", reached))
        goal = f"p50 <= {P50_GOAL_MS:g}, p99 <= {P99_GOAL_MS:g}"
        header = ("client", "n", "p50 ms", "p99 ms", "max ms", "p50 ratio", "p99 ratio", goal)
        print_table(f"{title}: error against the server's log, {load.streams} streams at once", header, rows)
    cpu = ", ".join(f"{name} {errors.cpu_s / load.rounds:.2f}" for name, errors in found.items())
    print(f"CPU seconds of a round, warm-up and decoding included: {cpu}")


def summary(values: Sequence[float]) -> tuple[float, float, float]:
    """Median, 99th percentile and maximum."""
    ordered = sorted(values)
    return statistics.median(ordered), ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))], ordered[-1]


class Sink(asyncio.Protocol):
    """Reads a stream and keeps nothing of it."""

    def __init__(self, done: asyncio.Future[None]) -> None:
        self._done = done

    def data_received(self, data: bytes) -> None:
        if data.endswith(b"0\r\n\r\n") and not self._done.done():
            self._done.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._done.done():
            self._done.set_exception(exc or ConnectionError("the server closed a stream"))


async def drink(server: RunningServer, streams: int) -> float:
    """Holds that many streams at once, begun over one second; returns the seconds from the first to the end."""
    loop = asyncio.get_running_loop()
    data = json.dumps(OPENAI.body(body())).encode()
    request = f"POST /v1/chat/completions HTTP/1.1\r\nhost: {server.host}\r\ncontent-length: {len(data)}\r\n\r\n"
    links, ends = [], []
    for _ in range(streams):
        end: asyncio.Future[None] = loop.create_future()
        ends.append(end)
        link, _ = await loop.create_connection(lambda end=end: Sink(end), server.host, server.port)  # type: ignore[misc]
        links.append(link)
    start = perf_counter()
    for number, link in enumerate(links):
        link.write(request.encode() + data)
        if number % 20 == 19:
            await asyncio.sleep(20 / streams)
    await asyncio.gather(*ends)
    taken_s = perf_counter() - start
    for link in links:
        link.close()
    return taken_s


def print_capacity(streams: int, tokens: int) -> None:
    with simulated_server(Behaviour(ttft_s=1.0, itl_s=0.05, output_tokens=tokens)) as server:
        before_s = cpu_s(server.pid)
        taken_s = uvloop.run(drink(server, streams))
        used_s = cpu_s(server.pid) - before_s
        stats = server.stats()
    lags = (stats.send_lag_p50_s, stats.send_lag_p99_s, stats.send_lag_max_s)
    figures = (
        f"{stats.peak_open:,}",
        f"{stats.tokens:,}",
        f"{stats.tokens / taken_s:,.0f}",
        *(f"{(lag_s or 0) * 1e3:.3f}" for lag_s in lags),
        f"{used_s / taken_s:.2f}",
    )
    header = (
        "streams at 20 tokens/s",
        "at once",
        "tokens",
        "tokens/s",
        "p50 ms",
        "p99 ms",
        "max ms",
        "server's cores",
    )
    complete = stats.outcomes == {"ok": streams} and stats.tokens == streams * tokens
    note = f"Every token of every stream sent: {met(complete)}. The client that reads them runs on the same machine."
    print_table("send lag of the simulated server: sent later than due", header, [(f"{streams:,}", *figures)], [note])


def cpu_s(pid: int) -> float:
    """User and system time of a process."""
    values = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(values[11]) + int(values[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="10 streams once, 200 for the server: shows that it works"
    )
    quick = parser.parse_args().quick
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    load = Load(10, 20, 1) if quick else Load(50, 100, 4)
    print_heading()
    print_errors(measure(load), load)
    print_capacity(*((200, 30) if quick else (2000, 150)))


if __name__ == "__main__":
    main()
