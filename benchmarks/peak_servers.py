"""Targets whose capacity is known, for benchmarks/breaking_point.py: endpoints, and agents of two kinds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from agentdyno.findings.stress.judge import stress_report
from agentdyno.findings.stress.model import ScenarioReport
from agentdyno.model import RunResult
from agentdyno.model.codec import from_plain
from agentdyno.servers.simulated.behaviour import Behaviour
from agentdyno.servers.simulated.server import simulated_server

_SCRIPT = "import sys; from agentdyno.cli.main import main; sys.argv[0] = 'dyno'; main()"
_AGENT = "import time\n\ndef desk(text):\n    time.sleep({seconds})\n    return 'ok'\n"


@dataclass(frozen=True)
class Target:
    """What ``dyno load`` is given, in a folder of its own, and how much it can serve a second."""

    kind: str
    arguments: tuple[str, ...]
    folder: Path
    capacity: float

    def load(self, *more: str) -> ScenarioReport:
        """One scenario, as a user runs it."""
        command = (sys.executable, "-c", _SCRIPT, "load", *self.arguments, *more, "--json")
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise SystemExit(done.stderr)
        (report,) = stress_report(from_plain(RunResult, json.loads(done.stdout))).scenarios
        return report


class _TwoAtOnce(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    gate = threading.Semaphore(2)
    seconds = 0.05

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        with self.gate:
            time.sleep(self.seconds)
        body = b'{"output": "ok"}'
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *_: object) -> None: ...


class _Server(ThreadingHTTPServer):
    request_queue_size = 512
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client that gave up while it waited is no error of this server."""


@contextmanager
def endpoint(slots: int, seconds: float) -> Iterator[Target]:
    """The simulated model."""
    behaviour = Behaviour(ttft_s=seconds, itl_s=0.0, output_tokens=1, slots=slots)
    with tempfile.TemporaryDirectory() as folder, simulated_server(behaviour) as server:
        arguments = (server.openai_url, "--model", "m")
        yield Target(f"endpoint of {slots} slots", arguments, Path(folder), slots / seconds)


@contextmanager
def http_agent() -> Iterator[Target]:
    """An agent behind an address: two at a time, 50 ms each."""
    server = _Server(("127.0.0.1", 0), _TwoAtOnce)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "dyno.yaml").write_text(
                f"agents: {{desk: {{uses: 'http://127.0.0.1:{server.server_port}/ask'}}}}\n"
            )
            yield Target("agent behind an address", ("desk",), Path(folder), 2 / _TwoAtOnce.seconds)
    finally:
        server.shutdown()


@contextmanager
def python_agent(seconds: float = 0.05) -> Iterator[Target]:
    """A Python function: as many at a time as there are CPUs."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "agent.py").write_text(_AGENT.format(seconds=seconds))
        yield Target("Python agent", ("agent.py@desk",), Path(folder), (os.cpu_count() or 1) / seconds)
