"""One lagging client among many: the step is the client's, and it is named, however few of the requests are its."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agentdyno.findings.figures.histograms import histogram, merged, quantile
from agentdyno.findings.stress.judge import stress_report
from agentdyno.findings.stress.judge_client import client_limited
from agentdyno.model.load import ClientPart, Objective, Window

from ..stress_runs import arm_of, result_of

EACH = 100


def window(lags_s: list[float], parts: dict[str, ClientPart] | None = None) -> Window:
    """Every client sends 100 requests, each so late as its entry says, and the target answers alike to all."""
    clients = {}
    for number, lag in enumerate(lags_s):
        own = histogram(np.full(EACH, round(lag * 1e9), np.int64))
        clients[f"client {number} (host{number})"] = ClientPart(EACH, EACH, 0, own, cpu=0.1)
    clients |= parts or {}
    latencies = np.repeat([round((0.05 + lag) * 1e9) for lag in lags_s], EACH).astype(np.int64)
    asked = EACH * len(lags_s)
    return Window(
        0,
        "load",
        "steady",
        0.0,
        1.0,
        asked=asked,
        sent=asked,
        completed=asked,
        outcomes={"ok": asked},
        latency=histogram(latencies),
        lag=merged(part.lag for part in clients.values()),
        clients=clients,
    )


def test_clients_that_keep_pace_are_not_to_blame() -> None:
    assert client_limited([window([0.0001] * 8)]) == ""


@pytest.mark.parametrize("clients", [4, 200])
def test_one_that_lags_is_named_although_the_quantiles_of_all_hide_it(clients: int) -> None:
    lags = [0.0001] * clients
    lags[2] = 0.04
    seen = window(lags)
    said = client_limited([seen])
    assert said.startswith("client 2 (host2): 40.")
    assert "ms at the median were its own" in said
    if clients == 200:
        assert (quantile(seen.lag, 0.99) or 0.0) < 0.005, "together they look punctual"


def test_the_worst_of_several_is_named() -> None:
    assert client_limited([window([0.02, 0.0001, 0.06, 0.01])]).startswith("client 2 (host2): ")


def test_lateness_that_an_objective_leaves_room_for_is_no_reason() -> None:
    assert client_limited([window([0.0001, 0.04])], None, [Objective("latency", 2.0, 0.95)]) == ""


def test_one_that_used_up_its_core_in_a_closed_loop_is_named() -> None:
    busy = window([0.0, 0.0], {"client 7 (slow)": ClientPart(EACH, EACH, cpu=0.97)})
    assert client_limited([busy], closed=True).startswith("client 7 (slow): it used 97% of a core")


def test_one_that_did_not_send_what_it_was_asked_is_named() -> None:
    lazy = window([0.0, 0.0], {"client 3 (x)": ClientPart(EACH, 50, 50, histogram(np.full(50, 1000, np.int64)))})
    assert client_limited([lazy]).startswith("client 3 (x): it sent 50.0% of what was asked")


def test_the_report_and_its_warning_name_the_client() -> None:
    arm = arm_of("custom", [replace(window([0.0001, 0.04]), index=number) for number in range(3)], {})
    (scenario,) = stress_report(result_of([arm])).scenarios
    assert scenario.client_limited
    assert scenario.client_reason.startswith("client 1 (host1): ")
    assert any("client 1 (host1)" in warning.message for warning in scenario.warnings)
