"""The receiver's side of the pass with tracing: whose a span is, and what becomes of those of nobody."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from agentdyno.model import Arm, Plan
from agentdyno.model.plan import Phase, Trial
from agentdyno.runs.suite import tracing
from agentdyno.runs.suite.tracing import TracingPass, with_tracing
from agentdyno.servers.otlp.receiver import JSON

from ...servers.otlp.traces import request, span

OURS = "ab" * 16


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "FIRST_SPAN_S", 0.0)
    monkeypatch.setattr(tracing, "QUIET_S", 0.0)


def receive(made: TracingPass, *spans: dict[str, object], **resource: object) -> None:
    body = json.dumps(request(*spans, resource={key.replace("__", "."): value for key, value in resource.items()}))
    made.receiver().receive("/v1/traces", JSON, "", body.encode())


def collected(made: TracingPass, agent: str = "a@1", execution: str = OURS) -> list[str]:
    window = (10_000_000_000, 20_000_000_000)
    return [item.span_id[-1] for item in asyncio.run(made.collect(agent, execution, window))]


def test_a_span_belongs_to_the_execution_it_names_else_to_its_trace_else_to_the_time_it_began(tmp_path: Path) -> None:
    made = TracingPass(lambda _: None, lambda value: value)
    made.folder = tmp_path
    (tmp_path / "artifacts").mkdir()
    receive(made, span("1", 1, 2), dyno__execution=OURS)
    receive(made, span("2", 1, 2, trace=OURS))
    receive(made, span("3", 12, 13))
    receive(made, span("4", 12, 13), dyno__execution="cd" * 16)
    receive(made, span("5", 21, 22))
    assert collected(made) == ["1", "2", "3"]
    receive(made, span("6", 12, 13, trace=OURS), secret="kept")
    made.close()
    made.close()
    told = {warning.code: warning.message for warning in made.warnings()}
    assert told == {
        "otel-late": "1 spans arrived after their case had ended",
        "otel-unassigned": "2 spans belong to no case",
    }
    assert len(json.loads((tmp_path / tracing.UNASSIGNED).read_text())["resourceSpans"]) == 3


def test_what_is_kept_of_spans_without_a_case_is_redacted(tmp_path: Path) -> None:
    made = TracingPass(lambda _: None, lambda _: {"resourceSpans": []})
    made.folder = tmp_path
    (tmp_path / "artifacts").mkdir()
    receive(made, span("1", 1, 2, secret="s3cret-value"))
    made.close()
    assert "s3cret" not in (tmp_path / tracing.UNASSIGNED).read_text()


def test_silence_is_said_once() -> None:
    said: list[str] = []
    made = TracingPass(said.append, lambda value: value)
    for agent in ("a@1", "b@1"):
        for _ in range(5):
            assert collected(made, agent) == []
    assert len(said) == 1
    assert "a@1 has exported no span in 3 cases. The likely cause" in said[0]
    made.close()
    assert [warning.code for warning in made.warnings()] == ["otel-no-spans"] * 2


def test_each_case_is_traced_once_after_everything_that_is_timed() -> None:
    trials = tuple(
        Trial(arm, Phase.MEASURED, epoch, case, seed=7) for epoch in (0, 1) for case in "xy" for arm in ("a", "b")
    )
    plan = Plan((Arm("a", "a", "e"), Arm("b", "b", "e")), trials)
    planned = with_tracing(plan, frozenset({"a"})).trials
    assert planned[:8] == trials
    assert [(one.arm_id, one.phase, one.case_id, one.instrument) for one in planned[8:]] == [
        ("a", Phase.INSTRUMENTED, case, "otel") for case in "xy"
    ]
