"""What the recording proxy adds to a request, plain and streamed, beside a proxy that is written with aiohttp.

One client with one open connection to each asks the same of the simulated model: without a proxy, through ours, and
through aiohttp's, which hands on chunk by chunk and keeps what passes, as ours does. All four are processes of their
own; the three ways take turns, and the figure is the median of the differences within a turn.
"""

from __future__ import annotations

import argparse
import http.client
import json
import socket
import statistics
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.ratio_table import met, print_heading, print_table

from agentdyno.servers.proxy.recorder import RecordingProxy
from agentdyno.servers.simulated.server import Behaviour, simulated_server

BODY = {"model": "m", "messages": [{"role": "user", "content": "What is six times seven? " * 20}]}
TOKENS = 20
UNCOUNTED = 50
AIOHTTP = """
import sys
from aiohttp import ClientSession, web

OURS = ("host", "content-length")

async def relay(request):
    body = await request.read()
    headers = {name: value for name, value in request.headers.items() if name.lower() not in OURS}
    asking = request.app["client"].request(request.method, sys.argv[1] + request.path_qs, data=body, headers=headers)
    async with asking as got:
        kept = []
        answer = web.StreamResponse(status=got.status, headers={"content-type": got.headers["content-type"]})
        if "content-length" in got.headers:
            answer.content_length = int(got.headers["content-length"])
        await answer.prepare(request)
        async for chunk in got.content.iter_any():
            kept.append(chunk)
            await answer.write(chunk)
        await answer.write_eof()
        return answer

async def client(app):
    async with ClientSession(auto_decompress=False) as app["client"]:
        yield

app = web.Application(client_max_size=1 << 30)
app.router.add_route("*", "/{path:.*}", relay)
app.cleanup_ctx.append(client)
ready = lambda *_: print("ready", flush=True)
web.run_app(app, host="127.0.0.1", port=int(sys.argv[2]), print=ready, access_log=None)
"""


class Way:
    """One open connection, and how long each exchange over it took."""

    def __init__(self, base: str) -> None:
        parts = urlsplit(base)
        self.path = parts.path + "/v1/chat/completions"
        self.link = http.client.HTTPConnection(parts.hostname or "", parts.port)
        self.link.connect()
        self.link.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, body: bytes) -> float:
        started = perf_counter()
        self.link.request("POST", self.path, body, {"content-type": "application/json"})
        answer = self.link.getresponse()
        data = answer.read()
        took_s = perf_counter() - started
        assert answer.status == 200, data[:200]
        return took_s


def measure(ways: Mapping[str, Way], stream: bool, rounds: int) -> dict[str, list[float]]:
    """Seconds of every exchange, by the way that it took."""
    body = json.dumps({**BODY, "stream": stream}).encode()
    found: dict[str, list[float]] = {name: [] for name in ways}
    names = list(ways)
    for number in range(rounds + UNCOUNTED):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            took_s = ways[name].ask(body)
            if number >= UNCOUNTED:
                found[name].append(took_s)
    return found


def rows_of(found: Mapping[str, list[float]], what: str) -> list[list[str]]:
    rows = []
    direct = found["no proxy"]
    added = {
        name: [1e6 * (mine - bare) for mine, bare in zip(times, direct, strict=True)] for name, times in found.items()
    }
    peer = statistics.median(added["aiohttp"]) if "aiohttp" in added else None
    for name, times in found.items():
        if name == "no proxy":
            rows.append([f"{what}, {name}", f"{1e6 * statistics.median(times):,.0f}", "", "", ""])
            continue
        median = statistics.median(added[name])
        goal = met(median <= peer) if peer is not None and name == "agentdyno" else ""
        p95 = statistics.quantiles(added[name], n=20)[-1]
        rows.append(
            [f"{what}, {name}", f"{1e6 * statistics.median(times):,.0f}", f"{median:+,.0f}", f"{p95:+,.0f}", goal]
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    rounds = 100 if parser.parse_args().quick else 3_000
    print_heading()
    with simulated_server(Behaviour(output_tokens=TOKENS)) as server, socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
        free.close()
        proxy = RecordingProxy({"model": server.url})
        command = [sys.executable, "-c", AIOHTTP, server.url, str(port)]
        peer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            ways = {"no proxy": Way(server.url), "agentdyno": Way(proxy.url("worker/1", "model"))}
            assert peer.stdout is not None
            if peer.stdout.readline():
                ways["aiohttp"] = Way(f"http://127.0.0.1:{port}")
            rows = [
                row
                for stream, what in ((False, "plain"), (True, f"streamed, {TOKENS} tokens"))
                for row in rows_of(measure(ways, stream, rounds), what)
            ]
        finally:
            peer.terminate()
            peer.wait()
            cost = proxy.cost
            proxy.stop()
    notes = [f"Medians of {rounds:,} exchanges each. Goal: no more than aiohttp's."]
    if cost is not None:
        notes.append(
            f"What ours said of itself when it started: {1e6 * cost.plain_s:,.0f} µs plain, "
            f"{1e6 * cost.streamed_s:,.0f} µs streamed."
        )
    print_table("Microseconds of a request", ["", "median", "added", "added, p95", "goal"], rows, notes)


if __name__ == "__main__":
    main()
