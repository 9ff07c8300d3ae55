"""The JSON Schemas of suites and of dyno.yaml say what the loaders say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import jsonschema
import pytest
import yaml

from agentdyno.errors import SpecError
from agentdyno.specs import json_schema, parse_suite, read_workspace
from tests.specs.suite.test_load import EVERYTHING

SUITES = [
    EVERYTHING,
    "{dataset: [a, {input: 1, target: 2}], scorer: exact}",
    "{dataset: {cases: [a], size: 1}, scoring_rubric: {scorer: [a, {name: b, weight: 2, tolerance: 1}]}}",
    "{dataset: [a], scoring_rubric: exact, agents: [x, {use: y, sweep: {m: [1, 2]}}]}",
    "{dataset: [a], scoring_rubric: {targets: {duration_s: 1}, limits: {duration_s: 2}, reducer: pass@2}}",
    "{dataset: [a], quick: {limit: 1, cases: {where: {a: [1]}}}}",
    "{dataset: [a], quick: {cases: [suite-001]}, constraints: {time_limit_ms: null}}",
]
BAD_SUITES = [
    "{dataset: [a], epoch: 1}",
    "{dataset: [a], epochs: 0}",
    "{dataset: [a], benchmarks: [{name: a, dataset: [a]}]}",
    "{name: a}",
    "{dataset: 5}",
    "{dataset: [a], metrics_measured: [acuracy]}",
    "{dataset: [a], scoring_rubric: {targets: {x: 1}, limits: {x: 2}}}",
    "{dataset: [a], scoring_rubric: {targets: {cpu_s: 1}, limits: {cpu_s: 0}}}",
    "{dataset: [a], scoring_rubric: {reducer: median}}",
    "{dataset: [a], constraints: {time_limit_ms: 0}}",
    "{dataset: [a], quick: {quick: {}}}",
    "{dataset: [a], version: 1}",
    "{benchmarks: [{name: a}]}",
]
WORKSPACES = [
    "{workspace: w, agents: {a: x.py@f, b: {use: openai:m, config: {t: 0}, env: [KEY]}}, suites: [s/*.yaml]}",
    "{prices: {m: {input: 1, output: 2, cached: 0.1}}, compute_price_per_cpu_hour: 0.04, gate: {}, store: x.db}",
    "{run: {agents: a}, suites: one.yaml}",
]
BAD_WORKSPACES = ["{agent: {}}", "{prices: {m: {input: 1}}}", "{gate: []}", "{agents: {a: {use: x, env: {K: v}}}}"]
Kind = Literal["suite", "workspace"]


def validator(kind: Kind) -> jsonschema.Draft202012Validator:
    schema = json_schema(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def load(kind: Kind, text: str, folder: Path) -> object:
    if kind == "suite":
        return parse_suite(_plain(text))
    path = folder / "dyno.yaml"
    path.write_text(text)
    return read_workspace(path)


def _plain(text: str) -> dict[str, object]:
    document = yaml.safe_load(text)
    if "created_at" in document:  # YAML 1.1 makes a date of it
        document["created_at"] = "2025-01-31"
    return dict(document)


@pytest.mark.parametrize(
    ("kind", "text"), [*(("suite", text) for text in SUITES), *(("workspace", text) for text in WORKSPACES)]
)
def test_what_the_schema_accepts_loads(kind: Kind, text: str, tmp_path: Path) -> None:
    validator(kind).validate(_plain(text))
    load(kind, text, tmp_path)


@pytest.mark.parametrize(
    ("kind", "text"), [*(("suite", text) for text in BAD_SUITES), *(("workspace", text) for text in BAD_WORKSPACES)]
)
def test_what_the_schema_rejects_is_refused(kind: Kind, text: str, tmp_path: Path) -> None:
    assert not validator(kind).is_valid(_plain(text))
    with pytest.raises(SpecError):
        load(kind, text, tmp_path)


def _properties(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for table in [schema, *schema["$defs"].values()]:
        yield from table.get("properties", {}).items()


@pytest.mark.parametrize("kind", ["suite", "workspace"])
def test_every_field_has_a_description_and_valid_examples(kind: Kind) -> None:
    schema: dict[str, Any] = json_schema(kind)
    assert schema["title"] == f"agentdyno {kind}"
    for name, row in _properties(schema):
        assert row.get("description"), name
        assert row.get("examples"), name
        for example in row["examples"]:
            jsonschema.Draft202012Validator({**row, "$defs": schema["$defs"]}).validate(example)


def test_no_object_takes_unknown_keys_but_a_scorers_options() -> None:
    schema: dict[str, Any] = json_schema("suite")
    open_ones = [name for name, table in schema["$defs"].items() if table.get("additionalProperties") is not False]
    assert open_ones == ["ScorerModel"]
    assert schema["additionalProperties"] is False
