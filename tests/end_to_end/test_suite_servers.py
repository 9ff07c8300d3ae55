"""Agents of both protocols against servers that are really there: the simulated model and llama.cpp."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentdyno import AgentUse, Benchmark, Case, Constraints, Rubric, RunResult, ScorerUse, Suite, evaluate
from agentdyno.model import ArmResult, Provenance, Sample
from agentdyno.servers.local_model import LocalModel
from agentdyno.servers.simulated.server import Behaviour, simulated_server
from agentdyno.store import Store

SCHEMA = {
    "type": "object",
    "properties": {"day": {"enum": ["Monday", "Friday"]}},
    "required": ["day"],
    "additionalProperties": False,
}
TOOLS = [
    {
        "type": "function",
        "function": {"name": "search", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}},
    }
]


@pytest.fixture(scope="module")
def model() -> Iterator[LocalModel]:
    with LocalModel(context=1024, parallel=1) as server:
        yield server


def suite(*cases: Case, scorer: str = "includes", **changes: object) -> Suite:
    benchmark = Benchmark("b", cases, rubric=Rubric((ScorerUse(scorer),)), **changes)  # type: ignore[arg-type]
    return Suite("servers", (benchmark,), epochs=1, warmup=0)


def run(asked: Suite, folder: Path, *uses: AgentUse, **options: object) -> RunResult:
    store = str(folder / "dyno.db")
    return evaluate(asked, list(uses), store=store, **options)  # type: ignore[arg-type]


def only(result: RunResult) -> tuple[ArmResult, Sample]:
    (arm,) = result.arms
    return arm, arm.samples[0]


@pytest.mark.parametrize("scheme", ["openai", "ollama"])
def test_a_simulated_answer_has_its_times_and_tokens_and_is_labelled_everywhere(scheme: str, tmp_path: Path) -> None:
    with simulated_server(
        Behaviour(ttft_s=0.05, itl_s=0.01, output_tokens=6, answers={"capital": "Paris"})
    ) as server:
        url = server.openai_url if scheme == "openai" else server.url
        use = AgentUse("sim", f"{scheme}:any", config={"base_url": url})
        result = run(suite(Case("a", "The capital of France?", "Paris")), tmp_path, use)
        (truth,) = server.log()
    arm, sample = only(result)
    assert (sample.status, sample.output) == ("ok", "Paris")
    assert 0 < sample.readings["ttft_s"] < sample.readings["duration_s"]
    assert sample.readings["output_tokens"] == truth.output_tokens
    assert sample.readings["api_calls"] == 1
    assert sample.details["model"] == "simulated/any"
    assert sample.details["simulated"] is True
    assert arm.observed["simulated"] is True
    assert arm.metrics["duration_s"].provenance is Provenance.SIMULATED
    assert "simulated" in {warning.code for warning in result.warnings}
    with Store.open(tmp_path / "dyno.db") as store:
        assert [item.simulated for item in store.boards.executions()] == [True]
        assert store.boards.matrix_rows() == []


@pytest.mark.parametrize("scheme", ["openai", "ollama"])
def test_tool_calls_of_both_protocols_can_be_judged(scheme: str, tmp_path: Path) -> None:
    behaviour = Behaviour(tool_calls="always", tool_arguments={"query": "weather"})
    with simulated_server(behaviour) as server:
        url = server.openai_url if scheme == "openai" else server.url
        use = AgentUse("sim", f"{scheme}:any", config={"base_url": url, "tools": TOOLS})
        target = [{"name": "search", "arguments": {"query": "weather"}}]
        _, sample = only(run(suite(Case("a", "weather?", target), scorer="tool_calls"), tmp_path, use))
    assert sample.status == "ok", sample
    events = sample.details["events"]
    assert isinstance(events, list)
    assert [event["name"] for event in events if event["kind"] == "tool_call"] == ["search"]


@pytest.mark.parametrize(
    ("behaviour", "kind", "attempts"),
    [
        (Behaviour(error_rate=1.0), "http_error", 2),
        (Behaviour(reset_rate=1.0), "reset", 2),
        (Behaviour(truncate_rate=1.0), "truncated", 2),
        (Behaviour(stream_error_rate=1.0), "stream_error", 2),
        (Behaviour(error_rate=1.0, error_status=429, retry_after_s=86400), "rate_limited", 1),
        (Behaviour(context_limit=3), "tokens", 1),
    ],
    ids=["error", "reset", "truncated", "in stream", "rate limit", "context"],
)
def test_each_fault_of_a_server_has_its_own_kind(
    behaviour: Behaviour, kind: str, attempts: int, tmp_path: Path
) -> None:
    with simulated_server(behaviour) as server:
        use = AgentUse("sim", "openai:any", config={"base_url": server.openai_url})
        asked = suite(Case("a", "one two three four five six", "x"))
        _, sample = only(run(asked, tmp_path, use, retries=1))
    assert sample.failure is not None
    assert (sample.failure.kind, sample.attempts) == (kind, attempts)
    assert sample.status == ("limit" if kind == "tokens" else "error")


def test_the_real_model_answers_in_the_form_that_the_case_asks_for(model: LocalModel, tmp_path: Path) -> None:
    config: dict[str, object] = {"base_url": model.url, "schema": "from_case", "max_tokens": 24, "temperature": 0}
    use = AgentUse("real", "openai:smollm2", config=config)
    case = Case("a", "Which day comes after Thursday? Answer as JSON.", None, {"schema": SCHEMA})
    arm, sample = only(run(suite(case, scorer="json_schema"), tmp_path, use))
    assert sample.status == "ok", sample
    assert sample.readings["ttft_s"] > 0
    assert sample.readings["server.eval_s"] > 0
    assert sample.usage["output_tokens"] > 0
    assert arm.observed["model"] == "smollm2-135m-instruct"
    assert arm.metrics["duration_s"].provenance is Provenance.MEASURED


def test_a_case_that_uses_more_tokens_than_it_may_is_past_its_limit(model: LocalModel, tmp_path: Path) -> None:
    use = AgentUse("real", "openai:smollm2", config={"base_url": model.url, "max_tokens": 8})
    asked = suite(Case("a", "Tell me a story.", "once"), constraints=Constraints(token_limit=10))
    _, sample = only(run(asked, tmp_path, use))
    assert sample.failure is not None
    assert (sample.status, sample.failure.kind) == ("limit", "tokens")
