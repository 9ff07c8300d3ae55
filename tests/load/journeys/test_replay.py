"""Recorded conversations held again: the turns of each in their order, with the answers of this target."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

from agentdyno.load.calls.driver import AgentDriver
from agentdyno.load.client.driver import HttpDriver
from agentdyno.load.plan.material import Materials
from agentdyno.load.plan.trace import Trace, read_trace
from agentdyno.load.windows.records import NAME, Records, read_raw
from agentdyno.model.case import Case, Response
from agentdyno.model.load import Arrivals, Dialect, LoadOptions, LoadTarget, Step
from agentdyno.servers.simulated.server import Behaviour, simulated_server

PAUSE_S = 0.02
TURNS, TALKS = 3, 4
OPTIONS = LoadOptions(window_s=0.1, timeout_s=10.0)
NS = 1_000_000_000


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    """Conversations that begin every 10 ms, a tool's pause before each further turn."""
    rows = [
        {"session_id": talk, "input_length": 10 * (turn + 1), "output_length": 3}
        | ({"pause": PAUSE_S} if turn else {"timestamp": talk * 0.01})
        for turn in range(TURNS)
        for talk in range(TALKS)
    ]
    path = tmp_path / "talks.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read_trace(path)


def step_of(trace: Trace) -> Step:
    return Step("load", trace.stages(), Arrivals.TRACE, drain_s=5.0)


def check_order(rows: Records) -> None:
    """No more turns are open than there are conversations, none is sent before it is due, and each further one is due
    its pause after an answer: so every due time but the first of each is one of the ends and a pause."""
    assert len(rows) == TURNS * TALKS
    assert (rows["sent"] >= rows["due"]).all()
    ends = np.sort(rows["done"])
    later = np.sort(rows["due"])
    starts = np.arange(TALKS) * NS // 100
    further = later[~np.isin(later, starts)]
    assert len(further) == (TURNS - 1) * TALKS
    nearest = np.abs(further[:, None] - (ends + round(PAUSE_S * NS))[None, :]).min(axis=1)
    assert nearest.max() <= 1


def test_an_endpoint_is_asked_turn_after_turn_and_the_replay_ends_with_the_last(tmp_path: Path, trace: Trace) -> None:
    with simulated_server(Behaviour(ttft_s=0.005, output_tokens=5)) as server:
        target = LoadTarget("sim", Dialect.OPENAI, server.openai_url, model="m")
        driver = HttpDriver(target, OPTIONS, Materials(target, OPTIONS, trace=trace), artifacts=tmp_path)
        driver.open()
        server.reset()
        windows = list(driver.run(step_of(trace)))
        driver.close()
        log = server.log()
    assert sum(window.ok for window in windows) == TURNS * TALKS
    check_order(read_raw(tmp_path / NAME))
    # What the server counts of a turn are words: those of the recording, and its own answers in between.
    assert sorted(entry.input_tokens for entry in log)[:TALKS] == [10] * TALKS
    assert len({entry.input_tokens for entry in log}) == TURNS
    assert sum(window.duration_s for window in windows) < trace.stages()[1].duration_s


def test_an_agent_is_given_all_that_was_said(tmp_path: Path, trace: Trace) -> None:
    agent = Listener()
    driver = AgentDriver(agent, (), OPTIONS, trace=trace, artifacts=tmp_path)
    driver.open()
    agent.asked.clear()
    windows = list(driver.run(step_of(trace)))
    driver.close()
    assert sum(window.ok for window in windows) == TURNS * TALKS
    check_order(read_raw(tmp_path / NAME))
    by_talk: dict[str, list[list[Mapping[str, str]]]] = {}
    for messages in agent.asked:
        by_talk.setdefault(messages[0]["content"], []).append(messages)
    assert len(by_talk) == TALKS
    for talk in by_talk.values():
        assert [len(messages) for messages in talk] == [1, 3, 5]
        assert talk[2][:3] == talk[1]
        assert talk[2][3]["content"] == f"you said: {talk[1][-1]['content']}"


class Listener:
    """Repeats what was said last."""

    name, version, paid = "listener", "1", False
    config: Mapping[str, object] = {}

    def __init__(self) -> None:
        self.asked: list[list[Mapping[str, str]]] = []

    async def start(self) -> None: ...

    async def run(self, case: Case) -> Response:
        assert isinstance(case.input, (list, str))
        if isinstance(case.input, str):  # the check before the load
            return Response("well")
        self.asked.append(deepcopy(case.input))
        return Response(f"you said: {case.input[-1]['content']}")

    async def close(self) -> None: ...
