"""The end of a run: figures from every sample, a result at hand that stays small, an honest status."""

from __future__ import annotations

import pytest

from agentdyno.findings.run.ask import findings_for
from agentdyno.findings.standing.model import SuiteFindings
from agentdyno.model import RunStatus
from agentdyno.runs.suite import closing as suite_close

from ...suites import Room


def test_of_many_samples_some_are_at_hand_and_all_are_counted(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite_close, "KEPT_SAMPLES", 10)
    monkeypatch.setattr(suite_close, "KEPT_TRAJECTORIES", 5)
    code = (
        "from agentdyno import tool_call\n"
        "def answer(text):\n    with tool_call('t', text):\n        return text.upper() if text != 'b' else 'no'\n"
    )
    (room.folder / "agent.py").write_text(code)
    result = room.run(room.suite(epochs=10), "agent.py@answer")
    (arm,) = result.arms
    assert (len(arm.samples), arm.samples_total) == (10, 40)
    assert dict(arm.statuses) == {"ok": 30, "failed": 10}
    assert arm.metrics["duration_s"].n == 40
    assert all("events" not in sample.details for sample in arm.samples)
    stored = list(room.store.runs.iter_samples(result.run_id, details=True))
    assert len(stored) == 40
    assert all("events" in sample.details for sample in stored)
    findings = findings_for(result, room.store)
    assert isinstance(findings, SuiteFindings)
    ((agent,),) = (standing.agents for standing in findings.standings)
    assert (agent.passed, agent.samples) == (30, 40)


def test_a_run_without_any_answer_has_failed(room: Room) -> None:
    result = room.run(room.suite(max_failure_rate=1.0), "agent.py@broken")
    assert result.status is RunStatus.FAILED


def test_wrong_answers_and_errors_are_complete_all_the_same(room: Room) -> None:
    result = room.run(room.suite(max_failure_rate=1.0), "agent.py@bad", "agent.py@broken")
    assert result.status is RunStatus.COMPLETE
    assert result.stopped_because is None


def test_a_run_that_was_stopped_is_partial(room: Room) -> None:
    result = room.run(room.suite(time_budget_s=0.000001), "agent.py@good", "agent.py@bad")
    assert "time budget" in (result.stopped_because or "")
    assert result.status in (RunStatus.PARTIAL, RunStatus.FAILED)
