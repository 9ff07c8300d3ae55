"""All eight scenarios on one agent, in short: each is known to have done what it is there for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentdyno.findings.stress.judge import stress_report
from agentdyno.findings.stress.model import ScenarioReport
from agentdyno.load.scenarios import SCENARIOS
from agentdyno.model import RunResult, RunStatus
from agentdyno.model.codec import from_plain
from agentdyno.model.load import LoadOptions, SelfCheck, Window
from agentdyno.runs.kind import RunRequest, Tools
from agentdyno.runs.load.kind import LoadKind
from agentdyno.runs.pipeline import start
from agentdyno.specs import load_workspace
from agentdyno.specs.load.build import parse_load
from agentdyno.store import Store

AGENT = """
import time

def desk(text):
    time.sleep(0.005)
    return str(len(text.split()))
"""
PROCESSES = 8.0
"""More than the agent has: the limit of each is rounded up to a byte."""
SHORT: dict[str, object] = {
    "high_load.normal_seconds": 0.5,
    "high_load.duration_seconds": 0.5,
    "high_load.request_rate": 60,
    "high_load.find_breaking_point": False,
    "sustained_load.duration_seconds": 1.0,
    "spike_load.before_seconds": 0.5,
    "spike_load.spike_seconds": 0.5,
    "spike_load.spike_rate": 60,
    "spike_load.recovery_seconds": 0.5,
    "memory_pressure.step_seconds": 0.4,
    "memory_pressure.shares": [1.5, 1.1],
    "concurrent_requests.step_seconds": 0.3,
    "concurrent_requests.max_concurrency": 2,
    "large_inputs.max_words": 256,
    "large_inputs.step_seconds": 0.3,
    "rate_limiting.step_seconds": 0.3,
    "rate_limiting.max_rate": 20,
    "failure_recovery.before_seconds": 0.5,
    "failure_recovery.fault_seconds": 0.5,
    "failure_recovery.recovery_seconds": 0.5,
}


def checked(_options: LoadOptions) -> SelfCheck:
    return SelfCheck(1e-5, 1e-4, 1e-5, 1e-4, 5000.0, 100)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunResult]:
    folder = tmp_path_factory.mktemp("desk")
    (folder / "agent.py").write_text(AGENT)
    load = {"target": "agent.py@desk", "scenarios": "all", "profile": "quick", "params": SHORT}
    loaded = parse_load({"load": load}, base_dir=folder)
    kind = LoadKind(checked)
    with Store.open(f"sqlite:///{folder}/dyno.db") as store:
        tools = Tools(store, folder / "runs", load_workspace(folder))
        with kind.prepare(RunRequest("load", loaded.settings, loaded.load), tools) as prepared:
            yield start(kind, prepared, tools)


@pytest.fixture(scope="module")
def windows(result: RunResult) -> dict[str, list[Window]]:
    return {arm.name: [from_plain(Window, sample.details["window"]) for sample in arm.samples] for arm in result.arms}


@pytest.fixture(scope="module")
def reports(result: RunResult) -> dict[str, ScenarioReport]:
    return {item.scenario: item for item in stress_report(result).scenarios}


def asked_of(windows: list[Window], **note: object) -> int:
    """How much was asked in the windows that say so of themselves."""
    return sum(window.asked for window in windows if note.items() <= window.note.items())


def test_an_agent_stands_all_eight_and_none_is_left_out(result: RunResult) -> None:
    assert result.status is RunStatus.COMPLETE
    assert sorted(arm.name for arm in result.arms) == sorted(SCENARIOS)
    assert "scenario-left-out" not in {warning.code for warning in result.warnings}


def test_loads_are_the_usual_then_high_long_or_a_spike(windows: dict[str, list[Window]]) -> None:
    high = windows["high_load"]
    assert asked_of(high, role="high", level=60.0) > asked_of(high, role="normal", level=20.0) > 0
    assert {window.stage for window in windows["sustained_load"]} == {"soak"}
    spike = windows["spike_load"]
    assert [window.stage for window in spike] == ["steady"] * 2 + ["spike"] * 2 + ["recovery"] * 2
    assert sum(window.asked for window in spike[2:4]) > sum(window.asked for window in spike[:2])


def test_the_memory_of_its_process_is_watched_and_limited_by_a_mechanism_that_is_named(
    windows: dict[str, list[Window]], reports: dict[str, ScenarioReport]
) -> None:
    assert any(window.target_rss_bytes for window in windows["sustained_load"])
    limited = [window.note for window in windows["memory_pressure"] if window.note["role"] == "search"]
    assert {note["share"] for note in limited} == {1.5, 1.1}
    for note in limited:
        assert float(note["level"]) == pytest.approx(float(note["share"]) * float(note["in_use"]), abs=PROCESSES)
    assert all(str(note["means"]).startswith(("control group", "resource limit")) for note in limited)
    assert (reports["memory_pressure"].figures["memory_in_use_bytes"] or 0.0) > 1e6


def test_levels_rise_in_what_they_name(windows: dict[str, list[Window]], reports: dict[str, ScenarioReport]) -> None:
    assert {window.note["level"] for window in windows["concurrent_requests"]} == {1.0, 2.0}
    assert reports["concurrent_requests"].closed_loop
    assert (reports["concurrent_requests"].figures["peak_throughput_per_s"] or 0.0) > 0.0
    assert reports["large_inputs"].figures["longest_answered_words"] == 256.0
    assert asked_of(windows["rate_limiting"], axis="rate_limit") > 0


def test_each_fault_struck_its_process(reports: dict[str, ScenarioReport]) -> None:
    figures = reports["failure_recovery"].figures
    for fault in ("kill", "freeze"):
        assert (figures[f"struck_{fault}"] or 0.0) >= 1.0  # whether a call was under way just then is chance
