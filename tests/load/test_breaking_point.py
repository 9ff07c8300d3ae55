"""The breaking point of a real server, over real connections.

That a known rate is found within a tenth is shown with given times, in ``test_limit.py``. Here the limit is a number
of requests, which no busy machine moves: the server takes so many at once and refuses one more.
"""

from __future__ import annotations

import pytest

from agentdyno.findings.stress import judge_client
from agentdyno.findings.stress.judge_course import Course, Reading
from agentdyno.findings.stress.judge_searches import read_limit
from agentdyno.findings.stress.judge_steps import split_steps
from agentdyno.findings.stress.model import LimitedBy
from agentdyno.load.client.driver import HttpDriver
from agentdyno.load.running import run_scenario
from agentdyno.load.scenarios import FIND_LIMIT, ScenarioSettings, resolve_params
from agentdyno.model.load import Dialect, LoadOptions, LoadTarget, Objective
from agentdyno.servers.simulated.behaviour import Behaviour
from agentdyno.servers.simulated.server import simulated_server

SLOTS = 6
FEW_ERRORS = (Objective("error_rate", 0.01),)


def searched(url: str) -> Reading:
    given = {"axis": "concurrency", "max_concurrency": 64, "step_seconds": 0.4, "window_seconds": 0.2}
    values = resolve_params(FIND_LIMIT, "quick", given)
    options = FIND_LIMIT.options(LoadOptions(keep_requests=False, timeout_s=60.0), values)
    driver = HttpDriver(LoadTarget("simulated", Dialect.OPENAI, url, "m"), options)
    driver.open()
    try:
        windows = list(run_scenario(FIND_LIMIT, driver, ScenarioSettings(values, FEW_ERRORS, options, seed=1)))
    finally:
        driver.close()
    return read_limit(Course("find_limit", values, split_steps(windows), FEW_ERRORS))


def test_how_many_a_real_server_takes_at_once_is_found_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    # A busy machine holds a client up for longer than a measurement of time can stand. Here nothing is timed.
    monkeypatch.setattr(judge_client, "OWN_SHARE", 1e9)
    monkeypatch.setattr(judge_client, "SATURATED", 1e9)
    with simulated_server(Behaviour(ttft_s=0.02, output_tokens=1, slots=SLOTS, queue_limit=0)) as server:
        reading = searched(server.openai_url)
    assert reading.point is not None, reading.evidence
    assert (reading.point.axis, reading.point.held, reading.point.broke) == ("concurrency", SLOTS, SLOTS + 1)
    assert reading.limited_by is LimitedBy.RATE_LIMIT, reading.evidence
