"""The ground truth: what the log says is what a client received, and when."""

from __future__ import annotations

import asyncio
import gc
import socket
from time import perf_counter_ns

import pytest

from agentdyno.servers.simulated.send_log import LagCounts, SendLog
from agentdyno.servers.simulated.server import Behaviour, RunningServer, ServedRequest, SimulatedServer
from agentdyno.servers.simulated.timetable import LoopTimer, TimerFd, Timetable

from ..talking import OLLAMA, OPENAI, ask, chat, connect, encoded, read_until

END = b"0\r\n\r\n"


def one_by_one(link: socket.socket) -> list[tuple[int, bytes]]:
    """Every piece of a response with the time of its arrival (ns)."""
    pieces: list[tuple[int, bytes]] = []
    while not pieces or not pieces[-1][1].endswith(END):
        data = link.recv(65536)
        assert data
        pieces.append((perf_counter_ns(), data))
    return pieces


@pytest.mark.parametrize("path", [OPENAI, OLLAMA])
def test_the_log_holds_each_token_before_the_client_has_it(server: RunningServer, path: str) -> None:
    server.reset()
    with connect(server.host, server.port) as link:
        sent_ns = perf_counter_ns()
        link.sendall(encoded(chat(dyno={"ttft_s": 0.02, "itl_s": 0.01}), path))
        pieces = one_by_one(link)
    (served,) = server.log()
    token = b'"delta":{"content":' if path == OPENAI else b'"done":false'
    arrived = [at_ns for at_ns, data in pieces for _ in range(data.count(token))]
    assert len(arrived) == len(served.token_ns) == 6
    assert sent_ns <= served.received_ns
    assert all(sent < got for sent, got in zip(served.token_ns, arrived, strict=True))
    assert served.token_ns == tuple(sorted(served.token_ns))
    assert served.end_ns is not None
    assert served.token_ns[-1] <= served.end_ns <= pieces[-1][0]


def test_no_token_is_sent_before_its_time(server: RunningServer) -> None:
    server.reset()
    ask(server.url, OPENAI, chat(dyno={"ttft_s": 0.03, "itl_s": 0.004}))
    (served,) = server.log()
    assert served.ttft_s is not None
    assert served.ttft_s >= 0.03
    for number, at_ns in enumerate(served.token_ns):
        assert at_ns - served.received_ns >= 30_000_000 + number * 4_000_000


def test_the_log_is_in_the_order_of_arrival_with_the_ids_that_clients_saw(server: RunningServer) -> None:
    server.reset()
    answers = [ask(server.url, path, chat(f"number {number}")) for number, path in enumerate([OPENAI, OLLAMA] * 3)]
    served = server.log()
    assert [entry.request_id for entry in served] == [answer.headers["x-dyno-request"] for answer in answers]
    assert [entry.path for entry in served] == [OPENAI, OLLAMA] * 3
    assert [entry.received_ns for entry in served] == sorted(entry.received_ns for entry in served)
    assert {entry.model for entry in served} == {"simulated/tiny"}


def test_refused_and_failed_requests_are_logged_with_their_status(server: RunningServer) -> None:
    server.reset()
    ask(server.url, OPENAI, b"{")
    ask(server.url, OPENAI, chat(dyno={"error_rate": 1}))
    ask(server.url, OPENAI, chat(dyno={"context_limit": 1}))
    ask(server.url, OPENAI, chat(stream=False))
    assert [(entry.status, entry.outcome) for entry in server.log()] == [
        (400, "refused"),
        (500, "error"),
        (400, "context"),
        (200, "ok"),
    ]
    stats = server.stats()
    assert (stats.requests, stats.tokens, stats.open) == (4, 6, 0)
    assert stats.outcomes == {"refused": 1, "error": 1, "context": 1, "ok": 1}


def test_a_reset_empties_log_and_statistics(server: RunningServer) -> None:
    ask(server.url, OPENAI, chat())
    assert server.stats().send_lag_p50_s is not None
    server.reset()
    assert server.log() == ()
    stats = server.stats()
    assert (stats.requests, stats.tokens, stats.outcomes) == (0, 0, {})
    assert stats.send_lag_p50_s is stats.send_lag_max_s is None


def test_many_streams_at_once_are_all_complete_and_counted(server: RunningServer) -> None:
    server.reset()
    body = encoded(chat(dyno={"ttft_s": 0.5, "itl_s": 0.01, "output_tokens": 10}))
    links = [connect(server.host, server.port) for _ in range(150)]
    try:
        for link in links:
            link.sendall(body)
        received = [read_until(link, END) for link in links]
    finally:
        for link in links:
            link.close()
    assert {data.count(b'"delta":{"content":') for data in received} == {10}
    stats = server.stats()
    assert (stats.requests, stats.tokens, stats.open) == (150, 1500, 0)
    assert 1 < stats.peak_open <= 150
    assert stats.send_lag_p50_s is not None
    assert stats.send_lag_p99_s is not None
    assert stats.send_lag_max_s is not None
    assert 0 <= stats.send_lag_p50_s <= stats.send_lag_p99_s <= stats.send_lag_max_s


def test_a_server_in_the_same_loop_tells_the_same() -> None:
    async def talk() -> tuple[ServedRequest, ...]:
        async with SimulatedServer(Behaviour(output_tokens=4, itl_s=0.001)) as server:
            await asyncio.to_thread(ask, server.url, OPENAI, chat())
            lines = list(server.log_lines())
            assert len(lines) == len(server.log()) == server.stats().requests == 1
            served = server.log()
            server.reset()
            assert server.log() == ()
            return served

    (served,) = asyncio.run(talk())
    assert len(served.token_ns) == served.output_tokens == 4


def test_stopping_in_the_middle_cuts_streams_and_records_it() -> None:
    async def talk() -> tuple[ServedRequest, ...]:
        server = SimulatedServer(Behaviour(itl_s=60))
        await server.start()
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(encoded(chat()))
        await reader.readuntil(b'"delta":{"content":')
        await server.stop()
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await reader.readexactly(10**6)
        writer.close()
        return server.log()

    (served,) = asyncio.run(talk())
    assert served.outcome == "disconnected"
    gc.collect()  # an unclosed socket or transport would warn here, and a warning is an error


def test_the_oldest_requests_are_dropped_beyond_the_limit() -> None:
    log = SendLog(kept_requests=2)
    for number in range(3):
        log.close(log.open("/x", number), "ok", number + 1)
    assert [entry.received_ns for entry in log.served()] == [1, 2]
    assert (log.stats().requests, log.stats().log_dropped) == (3, 1)


def test_lags_are_exact_below_a_millisecond_and_to_a_thousandth_above() -> None:
    lags = LagCounts()
    for lag_us in range(1, 1001):
        lags.add(lag_us * 1000)
    assert (lags.quantile_s(0.5), lags.quantile_s(0.99)) == (0.0005, 0.00099)
    lags = LagCounts()
    lags.add(123_456_789)
    assert lags.quantile_s(0.5) == pytest.approx(0.123456, rel=0.002)
    assert lags.max_ns == 123_456_789
    assert LagCounts().quantile_s(0.5) is None


@pytest.mark.parametrize("alarm", [TimerFd, LoopTimer])
def test_entries_are_fired_in_the_order_of_their_times(
    alarm: type[TimerFd] | type[LoopTimer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentdyno.servers.simulated.timetable.make_alarm", alarm)

    async def run() -> list[tuple[str, int]]:
        fired: list[tuple[str, int]] = []
        done = asyncio.Event()
        table = Timetable(asyncio.get_running_loop())
        start_ns = perf_counter_ns()

        class Noted:
            def __init__(self, name: str, times: int) -> None:
                self.name, self.times = name, times

            def fire(self, due_ns: int) -> int:
                assert perf_counter_ns() >= due_ns
                fired.append((self.name, (due_ns - start_ns) // 1_000_000))
                self.times -= 1
                if self.name == "last":
                    done.set()
                return due_ns + 4_000_000 if self.times else 0

        table.add(start_ns + 30_000_000, Noted("last", 1))
        table.add(start_ns + 10_000_000, Noted("a", 3))
        table.add(start_ns + 12_000_000, Noted("b", 2))
        await done.wait()
        table.close()
        return fired

    assert asyncio.run(run()) == [("a", 10), ("b", 12), ("a", 14), ("b", 16), ("a", 18), ("last", 30)]
