"""Journeys under load: several calls, time to think and checks, against an endpoint and against an agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path

import pytest

from agentdyno.contracts import CaseFailed
from agentdyno.errors import PluginError
from agentdyno.load.calls.driver import AgentDriver
from agentdyno.load.client.driver import HttpDriver
from agentdyno.load.journeys.runner import load_journey
from agentdyno.load.plan.material import Materials
from agentdyno.load.plan.orders import JourneyOrder
from agentdyno.model.case import Case, Response
from agentdyno.model.load import Arrivals, Dialect, LoadOptions, LoadTarget, Stage, Step, Window
from agentdyno.model.sample import FailureKind
from agentdyno.servers.simulated.server import Behaviour, RunningServer, simulated_server

OPTIONS = LoadOptions(window_s=0.1, timeout_s=10.0)
JOURNEYS = """
async def talk(client):
    said = [{"role": "user", "content": "first"}]
    answer = await client.ask(said)
    assert answer.text, "silence"
    await client.think(0.05)
    said += [{"role": "assistant", "content": answer.text}, {"role": "user", "content": "second"}]
    await client.ask(said)

async def checked(client):
    await client.ask("one")
    client.check(client.number % 2 == 0, "an odd one")
    await client.ask("two")

async def raising(client):
    await client.ask("one")
    raise ValueError("not as it should be")

async def leaving(client):
    await client.ask("one")
    raise SystemExit("enough")

async def empty(client):
    raise LookupError("nothing to do")

async def persistent(client):
    try:
        await client.ask("one")
    except Exception as error:
        assert str(error), "without a reason"
    await client.ask("two")

async def paths(client):
    await client.request("GET", "/one?x=1")

def plain(client):
    pass
"""


class Echo:
    """Says what it was asked, and fails where it is asked for ``bad``."""

    name, version, paid = "echo", "1", False
    config: Mapping[str, object] = {}

    def __init__(self, fails: frozenset[str] = frozenset()) -> None:
        self.asked: list[object] = []
        self._fails = fails

    async def start(self) -> None: ...

    async def run(self, case: Case) -> Response:
        self.asked.append(deepcopy(case.input))
        if str(case.input) in self._fails:
            raise CaseFailed(FailureKind.EXCEPTION, "it is bad")
        return Response(f"answer {len(self.asked)}")

    async def close(self) -> None: ...


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with simulated_server(Behaviour(output_tokens=3)) as running:
        yield running


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("journeys") / "users.py"
    path.write_text(JOURNEYS)
    return path


def rate(per_s: float, seconds: float) -> Step:
    return Step("load", (Stage("steady", seconds, rate=per_s),), Arrivals.CONSTANT)


def at_once(number: int, seconds: float) -> Step:
    return Step("load", (Stage("steady", seconds, concurrency=number),), Arrivals.CLOSED)


def on_agent(agent: Echo, file: Path, name: str, step: Step) -> list[Window]:
    driver = AgentDriver(agent, (), OPTIONS, journey=load_journey(f"{file}@{name}", file.parent))
    driver.open()
    try:
        return list(driver.run(step))
    finally:
        driver.close()


def on_endpoint(
    server: RunningServer, file: Path, name: str, step: Step, processes: int = 1, behaviour: str = ""
) -> list[Window]:
    headers = {"x-dyno-behaviour": behaviour} if behaviour else {}
    target = LoadTarget("sim", Dialect.OPENAI, server.openai_url, "m", headers=headers)
    options = LoadOptions(window_s=0.1, timeout_s=10.0, processes=processes)
    order = JourneyOrder(f"{file}@{name}", str(file.parent), target, options)
    driver = HttpDriver(target, options, Materials(target, options, journey=order))
    driver.open()
    server.reset()
    try:
        return list(driver.run(step))
    finally:
        driver.close()


def counted(windows: Sequence[Window]) -> Counter[str]:
    return sum((Counter(dict(window.outcomes)) for window in windows), Counter())


def test_each_call_of_a_journey_is_a_request_and_the_server_counts_the_same(
    server: RunningServer, file: Path
) -> None:
    windows = on_endpoint(server, file, "talk", rate(20, 0.4), processes=2)
    found = counted(windows)
    assert set(found) == {"ok"}
    assert found["ok"] == server.stats().requests
    # Eight begin; those of the last moments may have no time left for their second call.
    assert 8 <= found["ok"] <= 16
    assert sum(window.output_tokens or 0 for window in windows) == 3 * found["ok"]


def test_so_many_journeys_are_on_their_way_in_a_closed_loop(file: Path) -> None:
    agent = Echo()
    windows = on_agent(agent, file, "talk", at_once(3, 0.5))
    firsts = [asked for asked in agent.asked if isinstance(asked, list) and len(asked) == 1]
    # Each takes at least the 50 ms that it thinks.
    assert 3 <= len(firsts) <= 3 * 11
    assert counted(windows) == {"ok": len(agent.asked)}


def test_a_turn_holds_the_answer_before_it(file: Path) -> None:
    agent = Echo()
    on_agent(agent, file, "talk", rate(1, 1.0))
    assert agent.asked[:2] == [
        [{"role": "user", "content": "first"}],
        [
            {"role": "user", "content": "first"},
            {"role": "assistant", "content": "answer 1"},
            {"role": "user", "content": "second"},
        ],
    ]


def test_time_to_think_is_in_no_latency(file: Path) -> None:
    windows = on_agent(Echo(), file, "talk", rate(10, 0.3))
    for window in windows:
        assert window.latency.total <= window.service.total + window.lag.total + 1e-6
    assert sum(window.ok for window in windows) >= 3


@pytest.mark.parametrize("where", ["endpoint", "agent"])
def test_a_check_that_fails_spoils_the_call_before_it_and_no_other(
    server: RunningServer, file: Path, where: str
) -> None:
    step = rate(20, 0.3)
    windows = (
        on_endpoint(server, file, "checked", step) if where == "endpoint" else on_agent(Echo(), file, "checked", step)
    )
    # Six journeys of two calls; three of them are odd.
    assert counted(windows) == {"ok": 9, "check_failed": 3}
    assert {text for window in windows for text in window.examples.values()} == {"an odd one"}


@pytest.mark.parametrize("where", ["endpoint", "agent"])
@pytest.mark.parametrize(
    ("name", "said"), [("raising", "ValueError: not as it should be"), ("leaving", "SystemExit: enough")]
)
def test_an_exception_spoils_the_last_call_and_ends_the_journey(
    server: RunningServer, file: Path, where: str, name: str, said: str
) -> None:
    step = rate(20, 0.2)
    windows = on_endpoint(server, file, name, step) if where == "endpoint" else on_agent(Echo(), file, name, step)
    assert counted(windows) == {"check_failed": 4}
    assert {text for window in windows for text in window.examples.values()} == {said}


@pytest.mark.parametrize("where", ["endpoint", "agent"])
def test_a_journey_that_fails_before_its_first_call_is_counted(server: RunningServer, file: Path, where: str) -> None:
    step = rate(20, 0.2)
    windows = (
        on_endpoint(server, file, "empty", step) if where == "endpoint" else on_agent(Echo(), file, "empty", step)
    )
    assert counted(windows) == {"check_failed": 4}
    assert {text for window in windows for text in window.examples.values()} == {"LookupError: nothing to do"}


def test_one_that_asks_nobody_is_not_begun_without_end(file: Path) -> None:
    windows = on_agent(Echo(), file, "empty", at_once(2, 0.2))
    assert 2 <= counted(windows)["check_failed"] <= 2 * 21


def test_a_call_that_fails_is_counted_as_what_it_was_and_may_be_caught(file: Path) -> None:
    agent = Echo(frozenset({"one"}))
    windows = on_agent(agent, file, "persistent", rate(20, 0.2))
    assert counted(windows) == {"stream_error": 4, "ok": 4}


def test_a_journey_without_a_catch_ends_with_the_call_that_fails(server: RunningServer, file: Path) -> None:
    windows = on_endpoint(server, file, "talk", rate(20, 0.2), behaviour="error_rate=1")
    assert counted(windows) == {"http_error": 4}


def test_an_agent_has_no_paths(file: Path) -> None:
    windows = on_agent(Echo(), file, "paths", rate(10, 0.1))
    (text,) = {text for window in windows for text in window.examples.values()}
    assert text == "ValueError: an agent is asked with client.ask(); it has no paths"


def test_a_plain_request_goes_below_the_address_of_the_target(server: RunningServer, file: Path) -> None:
    target = LoadTarget("sim", Dialect.HTTP, server.url + "/plain", method="POST")
    order = JourneyOrder(f"{file}@paths", str(file.parent), target, OPTIONS)
    made = Materials(target, OPTIONS, journey=order)
    driver = HttpDriver(target, OPTIONS, made)
    driver.open()
    try:
        found = counted(list(driver.run(rate(20, 0.2))))
    finally:
        driver.close()
    assert sum(found.values()) == 4


def test_breaking_off_ends_journeys_that_think(file: Path) -> None:
    driver = AgentDriver(Echo(), (), OPTIONS, journey=load_journey(f"{file}@talk", file.parent))
    driver.open()
    try:
        running = driver.run(at_once(3, 30.0))
        assert next(running).asked >= 3
        running.close()  # type: ignore[attr-defined]
    finally:
        driver.close()


@pytest.mark.parametrize(
    ("reference", "message"),
    [("plain", "plain is no async function"), ("tlak", "no journey called 'tlak'"), ("", "neither")],
)
def test_what_is_no_journey_is_refused(file: Path, reference: str, message: str) -> None:
    with pytest.raises(PluginError, match=message):
        load_journey(f"{file}@{reference}" if reference else "users", file.parent)
