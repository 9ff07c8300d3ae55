"""The breaking point of a real server with a known capacity, over real connections."""

from __future__ import annotations

import pytest

from agentdyno.findings.stress import judge_client_limit as client_limit
from agentdyno.findings.stress.judge_course import Course, Reading
from agentdyno.findings.stress.judge_searches import read_limit
from agentdyno.findings.stress.judge_steps import split_steps
from agentdyno.findings.stress.model import LimitedBy
from agentdyno.load.client.driver import HttpDriver
from agentdyno.load.running import run_scenario
from agentdyno.load.scenarios import FIND_LIMIT, Settings, resolve_params
from agentdyno.model.load import Dialect, LoadOptions, LoadTarget
from agentdyno.servers.simulated.behaviour import Behaviour
from agentdyno.servers.simulated.server import simulated_server

SLOTS, ANSWER_S = 40, 0.4
CAPACITY = SLOTS / ANSWER_S


def searched(url: str) -> Reading:
    given = {"start_rate": 66.0, "max_rate": 264.0, "step_seconds": 1.5, "width": 0.10, "window_seconds": 0.5}
    values = resolve_params(FIND_LIMIT, "standard", given)
    options = FIND_LIMIT.options(LoadOptions(keep_requests=False, timeout_s=20.0), values)
    driver = HttpDriver(LoadTarget("simulated", Dialect.OPENAI, url, "m"), options)
    driver.open()
    try:
        windows = list(run_scenario(FIND_LIMIT, driver, Settings(values, options=options, seed=1)))
    finally:
        driver.close()
    return read_limit(Course("find_limit", values, split_steps(windows)))


def test_the_breaking_point_of_a_simulated_server_is_found_within_a_tenth(monkeypatch: pytest.MonkeyPatch) -> None:
    # Tests run beside others on a busy machine, where a client is held up for longer than the millisecond that a
    # measurement can stand. It is the search that is tested here, and answers take 0.4 s.
    monkeypatch.setattr(client_limit, "LEAST_LAG_S", 0.2)
    with simulated_server(Behaviour(ttft_s=ANSWER_S, output_tokens=1, slots=SLOTS)) as server:
        reading = searched(server.openai_url)
    assert reading.point is not None, reading.evidence
    assert abs(reading.point.value / CAPACITY - 1.0) <= 0.10, reading.evidence
    assert reading.limited_by is LimitedBy.THROUGHPUT, reading.evidence
