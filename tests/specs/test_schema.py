"""The JSON Schema says what the loader says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import pytest
import yaml

from agentdyno.model import Spec
from agentdyno.specs import json_schema

Load = Callable[..., Spec]

ACCEPTED = [
    "{experiment: a, params: {param1: 100, parameters: {x: true}}, iterations: {warmup: 1, measured: 3},"
    " instrumentation: [timing, psutil], output_dir: out, tags: [custom], notes: n, seed: 42}",
    "{experiment: a, params: {param1: [50, 100], param2: [x, y]}, iterations: {warmup: 1, measured: 2}}",
    "{experiments: [{experiment: a, iterations: auto}, {experiment: b, sweep: {n: [1]}}], gc: off, inner_loops: 3}",
    "{experiment: a, iterations: {auto: {precision: 0.1}}, instrumentation: [{name: psutil, interval_s: 1}]}",
    "{experiment: a, timeout_s: null, quick: {iterations: 3}, metrics: {r: {unit: /s, direction: higher}}}",
]
REJECTED = [
    "{experiment: a, sed: 1}",
    "{experiment: a, iterations: {mesured: 1}}",
    "{experiment: a, iterations: 0}",
    "{experiment: a, quick: {quick: {}}}",
    "{experiment: a, experiments: [{experiment: b}]}",
    "{params: {}}",
    "{experiment: a, sweep: {n: []}}",
    "{experiment: a, order: shuffled}",
    "[]",
]


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("text", ACCEPTED)
def test_valid_specs_pass_the_schema_and_load(
    validator: jsonschema.Draft202012Validator, load: Load, text: str
) -> None:
    validator.validate(yaml.safe_load(text))
    load(text)


@pytest.mark.parametrize("text", REJECTED)
def test_invalid_specs_fail_the_schema(validator: jsonschema.Draft202012Validator, refused: Load, text: str) -> None:
    assert not validator.is_valid(yaml.safe_load(text))
    refused(text)


def _properties(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for table in [schema, *schema["$defs"].values()]:
        yield from table.get("properties", {}).items()


def test_every_field_has_a_description_and_examples_that_are_valid() -> None:
    schema: dict[str, Any] = json_schema()
    for name, row in _properties(schema):
        assert row.get("description"), name
        assert row.get("examples"), name
        alone = {**row, "$defs": schema["$defs"]}
        for example in row["examples"]:
            jsonschema.Draft202012Validator(alone).validate(example)


def test_no_object_takes_unknown_keys_but_an_instruments_options() -> None:
    schema: dict[str, Any] = json_schema()
    open_ones = [name for name, table in schema["$defs"].items() if table.get("additionalProperties") is not False]
    assert open_ones == ["InstrumentModel"]
    assert schema["additionalProperties"] is False
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
