"""A service as a team has it after a month: three agents, a version that broke something, a baseline, history."""

from __future__ import annotations

import json
import random
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentdyno.model.job import Scope
from agentdyno.store import Execution, Store

from .command import DYNO, Bench
from .waiting import wait_until

GIVEN = Path(__file__).with_name("given")
DAY_MS = 86_400_000
CASES = 24
EPOCHS = 3
BROKEN = 10
"""So many cases of ``orders`` does version 2.1 of ``helper`` lose, from ``order-00`` on."""

AGENT = '''
"""Answers questions about orders."""

from agentdyno import Case, Response, Usage, tool_call


def answer(case: Case, misses: int = 0, model: str = "clerk-1", pause: float = 0.003) -> Response:
    """Looks the order up, then its price; the first `misses` orders go without the second step.

    `pause` is how long it is said to take: how busy the machine is changes nothing on any page.
    """
    number = int(case.id.partition("-")[2])
    with tool_call("find_order", {"order": number}) as result:
        result.append({"order": number, "items": number + 1})
    said = 0
    if number >= misses or case.id.startswith("quote"):
        with tool_call("price_of", {"items": number + 1}) as result:
            result.append(3 * (number + 1))
        said = 3 * (number + 1)
    return Response(str(said), usage=Usage(input_tokens=40 + number, output_tokens=8), model=model)
'''
EXPERIMENT = '''
"""Sorting."""


def sorting(size: int = 200) -> float:
    """Sort numbers that are the wrong way round."""
    return float(sorted(range(size, 0, -1))[0])
'''


RUBRIC = """    scoring_rubric:
      scorer: exact
      targets: {duration_s: 0.002, cost_usd: 0.0002, total_tokens: 40}
      limits: {duration_s: 0.05, cost_usd: 0.03, total_tokens: 400}
"""


def _benchmark(name: str, category: str, count: int) -> str:
    cases = "".join(
        f'      - {{id: {name[:-1]}-{i:02d}, input: "What does order {i} cost?", target: "{3 * (i + 1)}"}}\n'
        for i in range(count)
    )
    return f"  - name: {name}\n    category: {category}\n{RUBRIC}    dataset:\n{cases}"


SUITE = (
    f"name: Support desk\nsuite_id: support\ndescription: Questions about orders.\nepochs: {EPOCHS}\nwarmup: 1\n"
    "quick: {limit: 4, epochs: 1}\nbenchmarks:\n"
    + _benchmark("orders", "accuracy", CASES)
    + _benchmark("quotes", "speed", 6)
)


def _workspace(version: str, misses: int) -> str:
    return (
        "agents:\n"
        f'  helper: {{use: "agent.py@answer", version: "{version}", config: {{misses: {misses}, pause: 0.004}}}}\n'
        '  scout: {use: "agent.py@answer", version: "1.1", config: {misses: 7, model: clerk-mini, pause: 0.003}}\n'
        '  sage: {use: "agent.py@answer", version: "3", config: {model: clerk-max, pause: 0.01}}\n'
        "suites: [support.yaml]\n"
        "prices:\n"
        "  clerk-1: {input: 0, output: 0, request: 0.001}\n"
        "  clerk-mini: {input: 0, output: 0, request: 0.0002}\n"
        "  clerk-max: {input: 0, output: 0, request: 0.02}\n"
    )


@dataclass
class Service:
    """``dyno serve`` in a folder. ``address`` is where it listens, ``secret`` a key of scope run, "" without keys."""

    bench: Bench
    secret: str = ""
    address: str = ""
    _process: subprocess.Popen[str] | None = field(default=None, repr=False)

    def start(self) -> None:
        """Again at the same port, where it has listened before."""
        port = self.address.rpartition(":")[2] or "0"
        arguments = [DYNO, "serve", "--port", port, "--workers", "1"]
        with (self.bench.folder / "serve.log").open("a") as log:
            process = subprocess.Popen(
                arguments,
                cwd=self.bench.folder,
                env=self.bench.environ,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self._process = process
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        if not address:
            self.stop()
            raise AssertionError((self.bench.folder / "serve.log").read_text())
        self.address = address
        self._until_ready()

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()

    def get(self, path: str) -> Any:
        """The JSON at a path of the API."""
        headers = {"Authorization": f"Bearer {self.secret}"} if self.secret else {}
        with urllib.request.urlopen(
            urllib.request.Request(self.address + path, headers=headers), timeout=30
        ) as response:
            return json.load(response)

    def ask(self, path: str, body: object) -> Any:
        """What the API answers to a body."""
        headers = {"Authorization": f"Bearer {self.secret}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.address + path, json.dumps(body).encode(), headers, method="POST")
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)

    def _until_ready(self) -> None:
        wait_until(self._is_ready, (self.bench.folder / "serve.log").read_text)

    def _is_ready(self) -> bool:
        try:
            self.get("/ready")
        except (urllib.error.URLError, ConnectionError):
            return False
        return True


@contextmanager
def serving(bench: Bench, secret: str = "") -> Iterator[Service]:
    service = Service(bench, secret)
    service.start()
    try:
        yield service
    finally:
        service.stop()


def seed(bench: Bench) -> str:
    """Fills the folder; the secret of a key of scope run. Whatever runs in it records given figures."""
    bench.environ["PYTHONPATH"] = str(GIVEN)
    bench.write("agent.py", AGENT)
    bench.write("support.yaml", SUITE)
    bench.write("sorting.py", EXPERIMENT)
    bench.write("dyno.yaml", _workspace("2.0", 0))
    _dyno(bench, "run", "support.yaml", "--agent", "helper")
    with _store(bench) as store:
        _add_history(store)
    _dyno(bench, "baseline", "set", "helper@2.0", "--suite", "support", "--note", "as released")
    bench.write("dyno.yaml", _workspace("2.1", BROKEN))
    _dyno(bench, "run", "support.yaml", "--agent", "helper", "--agent", "scout", "--agent", "sage")
    _dyno(bench, "run", "sorting.py@sorting", "-p", "size=[100,400]", "--iterations", "5", "--warmup", "0")
    return _key(bench, "desk", Scope.RUN)


def make_key(service: Service, name: str, scope: Scope) -> str:
    """The secret of another key."""
    return _key(service.bench, name, scope)


def _key(bench: Bench, name: str, scope: Scope) -> str:
    with _store(bench) as store:
        return store.service.add_key(name, scope, time.time_ns() // 1_000_000)[1]


def _store(bench: Bench) -> Store:
    return Store.open(f"sqlite:///{bench.folder / '.dyno' / 'dyno.db'}")


def _dyno(bench: Bench, *arguments: str) -> str:
    done = bench.dyno(*arguments)
    assert done.code in (0, 1), f"{arguments}: {done.err}"
    return done.out


def _add_history(store: Store) -> None:
    """A month of daily totals: ``scout`` drops where its version changes, ``helper`` stays where it is."""
    rng, today = random.Random(7), time.time_ns() // 1_000_000
    result = store.runs.load(store.runs.newest(1)[0].run_id, samples=False)
    assert result.suite is not None
    store.boards.add_executions(
        _day(result.suite.digest, today - ago * DAY_MS, name, version, level + rng.gauss(0, 0.012))
        for ago in range(28, 0, -1)
        for name, version, level in (
            ("helper", "1.9", 0.95),
            ("scout", "1.0" if ago > 12 else "1.1", 0.93 if ago > 12 else 0.72),
        )
    )


def _day(suite: str, at: int, name: str, version: str, accuracy: float) -> Execution:
    return Execution(
        name,
        version,
        suite,
        "orders",
        at,
        started_at=at - 60_000,
        finished_at=at,
        accuracy=accuracy,
        speed=0.9,
        efficiency=0.8,
        cost=0.95,
        reliability=1.0,
        overall=0.2 + 0.6 * accuracy,
        duration_s=30.0,
        cases=CASES,
        samples=CASES,
        cost_usd=0.03,
        category="accuracy",
    )
