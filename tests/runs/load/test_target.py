"""How a plain URL is asked, and what the command line tells of scenarios."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agentdyno.load.scenarios import SCENARIOS, planned_seconds, resolve_params
from agentdyno.model import Workspace
from agentdyno.model.load import LoadOptions, LoadSpec
from agentdyno.runs.load.target import find_subject
from agentdyno.settings.load import SCENARIOS as SCENARIO_SETTING

URL = "http://127.0.0.1:9/health"
PLAIN = LoadSpec(URL)


@pytest.mark.parametrize(
    ("spec", "method"),
    [
        (PLAIN, "GET"),
        (replace(PLAIN, body={"question": "Hi"}), "POST"),
        (replace(PLAIN, options=LoadOptions(prompt="Hi")), "POST"),
        (replace(PLAIN, method="DELETE"), "DELETE"),
        (replace(PLAIN, method="POST"), "POST"),
        (replace(PLAIN, target="http://127.0.0.1:9/v1"), "POST"),
    ],
)
def test_a_plain_url_without_anything_to_send_is_asked_with_get(spec: LoadSpec, method: str) -> None:
    target = find_subject(spec, Workspace(), Path()).target
    assert target is not None
    assert target.http_method == method


def test_the_help_names_every_scenario() -> None:
    assert all(name in SCENARIO_SETTING.help for name in SCENARIOS)


def test_how_long_a_scenario_takes_is_known_unless_it_searches() -> None:
    seconds = {
        name: planned_seconds(scenario, resolve_params(scenario, "quick", {})) for name, scenario in SCENARIOS.items()
    }
    assert seconds["sustained_load"] == 4.0
    assert seconds["spike_load"] == 5.0
    assert seconds["failure_recovery"] == 0.75 + 4 * 1.25
    assert seconds["high_load"] is None
    assert seconds["concurrent_requests"] is None
