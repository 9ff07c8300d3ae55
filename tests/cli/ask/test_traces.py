"""``dyno export``, ``dyno import --format otlp`` and ``dyno case add``, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ...command import Bench
from ...loaded_commands import Commands, LoadedBench
from ...servers.otlp.traces import request, span

AGENT = """
def answer(text):
    usage = {"input_tokens": 100, "output_tokens": 20, "cached_tokens": 40}
    return {
        "output": text if text == "x" else "no",
        "events": [
            {"kind": "step", "at_s": 0.0, "name": "plan", "duration_s": 0.06, "details": {"span": "a"}},
            {"kind": "model_call", "at_s": 0.01, "name": "gpt-x", "duration_s": 0.05,
             "details": {"span": "b", "parent": "a", "usage": usage, "finish_reason": "stop"}},
            {"kind": "tool_call", "at_s": 0.06, "name": "search", "content": {"q": 1}, "duration_s": 0.03},
        ],
    }
"""
SUITE = """
suite_id: tiny
epochs: 1
benchmarks:
  - benchmark_id: echo
    scoring_rubric: exact
    dataset: {cases: [{id: one, input: x, target: x}, {id: two, input: "key sk-abcdefghijklmnop1234", target: y}]}
"""

SEVERAL = """
suite_id: several  # two of them
benchmarks:
  - benchmark_id: b1
    dataset:
      # what people asked last week
      - id: known
        input: |
          first line
          second line
      # nothing after this
  - benchmark_id: b2
    dataset: cases.csv
"""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, loaded_commands: Commands) -> Bench:
    made = LoadedBench(tmp_path_factory.mktemp("traced"), loaded_commands)
    made.write("agent.py", AGENT)
    made.write("suite.yaml", SUITE)
    made.write("several.yaml", SEVERAL)
    done = made.dyno("run", "suite.yaml", "--agent", "agent.py@answer")
    assert done.code == 0, done.err
    return made


def test_a_run_is_exported_as_traces_with_scores_and_comes_back_as_the_same_trajectories(bench: Bench) -> None:
    done = bench.dyno("export", "last", "--output", "out.jsonl")
    assert (done.code, "Wrote 2 traces to out.jsonl" in done.err) == (0, True), done.err
    documents = [json.loads(line) for line in (bench.folder / "out.jsonl").read_text().splitlines()]
    spans = [document["resourceSpans"][0]["scopeSpans"][0]["spans"] for document in documents]
    roots = [own[0] for own in spans]
    scores = {}
    for root in roots:
        attributes = {item["key"]: item["value"] for item in root["attributes"]}
        (event,) = [item for item in root["events"] if item["attributes"][0]["value"] == {"stringValue": "score"}]
        assert event["name"] == "gen_ai.evaluation.result"
        told = {item["key"]: item["value"] for item in event["attributes"]}
        scores[attributes["dyno.case"]["stringValue"]] = told["gen_ai.evaluation.score.value"]["doubleValue"]
    assert scores == {"one": 1.0, "two": 0.0}
    plan, call, tool = spans[0][1:]
    assert call["parentSpanId"] == plan["spanId"]
    assert plan["parentSpanId"] == tool["parentSpanId"] == roots[0]["spanId"]
    imported = bench.dyno("import", "out.jsonl", "--format", "otlp", "--json", "--store", "other.db")
    assert imported.code == 0, imported.err
    (profile,) = bench.dyno("profile", imported.json[0]["run_id"], "--json", "--store", "other.db").json["profiles"]
    phases = {item["phase_name"]: round(item["duration_ms"]) for item in profile["profile_data"]["execution_phases"]}
    assert (phases["model"], phases["tool"]) == (50, 30)
    tokens = profile["profile_data"]["token_analysis"]
    assert (tokens["input_tokens"], tokens["cached_tokens"]) == (200, 80)


def test_a_case_of_a_run_is_added_to_a_suite_with_its_provenance_and_without_secrets(bench: Bench) -> None:
    first = bench.dyno("case", "add", "last", "--case", "one", "--to", "new.yaml")
    assert first.code == 0, first.err
    second = bench.dyno("case", "add", "last", "--case", "echo/two", "--to", "new.yaml")
    assert second.code == 0, second.err
    rows = [json.loads(line) for line in (bench.folder / "new-cases.jsonl").read_text().splitlines()]
    assert [(row["id"], row["target"]) for row in rows] == [("one", "x"), ("two", "y")]
    assert rows[1]["input"] == "key [REDACTED]"
    assert rows[0]["metadata"]["provenance"]["benchmark"] == "echo"
    again = bench.dyno("case", "add", "last", "--case", "one", "--to", "new.yaml")
    assert again.code == 2
    assert "there is a case 'one' already" in again.err
    assert (
        bench.dyno("run", "new.yaml", "--agent", "agent.py@answer", "--epochs", "1", "--store", "other.db").code == 0
    )


def test_a_case_goes_into_the_list_of_a_suite_whose_comments_stay(bench: Bench) -> None:
    done = bench.dyno("case", "add", "last", "--case", "one", "--to", "several.yaml", "--benchmark", "b1")
    assert done.code == 0, done.err
    text = (bench.folder / "several.yaml").read_text()
    before, _, after = text.partition('      - id: "one"\n        input: "x"\n        target: "x"\n')
    assert before == SEVERAL.partition("      # nothing after")[0]
    assert '{"provenance": {"run": ' in after
    assert after.endswith(SEVERAL.rpartition("second line\n")[2])
    again = bench.dyno("case", "add", "last", "--case", "one", "--to", "several.yaml", "--benchmark", "b1")
    assert "there is a case 'one' already" in again.err
    bench.write("several.yaml", SEVERAL)


def test_a_trace_of_production_becomes_a_case(bench: Bench) -> None:
    secret = "ghp_" + "a1" * 18
    document = request(span("1", 1, 2, trace="beef", input__value=f"deploy with {secret}", output__value="done"))
    bench.write("traces.jsonl", json.dumps(document))
    done = bench.dyno("case", "add", "traces.jsonl", "--case", "beef", "--to", "from-traces.yaml", "--as", "deploy")
    assert done.code == 0, done.err
    assert "It has no target yet" in done.err
    (row,) = [json.loads(line) for line in (bench.folder / "from-traces-cases.jsonl").read_text().splitlines()]
    assert (row["id"], row["input"]) == ("deploy", "deploy with [REDACTED]")
    assert row["metadata"]["provenance"]["trace"] == "beef".rjust(32, "0")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("last", "--case", "three", "--to", "x.yaml"), "there is no case 'three' here"),
        (("last", "--case", "one", "--to", "suite.yaml"), "there is a case 'one' already"),
        (
            ("last", "--case", "one", "--to", "several.yaml"),
            "it has 2 benchmarks Say which with --benchmark: b1, b2.",
        ),
        (("last", "--case", "one", "--to", "several.yaml", "--benchmark", "b3"), "there is no benchmark 'b3'"),
        (("last", "--case", "one", "--to", "several.yaml", "--benchmark", "b2"), "neither a list in the suite nor"),
        (("agent.py", "--case", "one", "--to", "x.yaml"), "no OTLP traces"),
    ],
)
def test_what_cannot_be_added_is_said_with_the_remedy(bench: Bench, arguments: tuple[str, ...], said: str) -> None:
    done = bench.dyno("case", "add", *arguments)
    assert done.code == 2
    assert said in " ".join(done.err.split())
    assert not Path(bench.folder / "x.yaml").exists()
