"""Load runs as files: what they may say, what is refused, and that a printed one says the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.errors import SpecError
from agentdyno.model.load import Arrivals, Dialect, Objective, PromptLengths, Stage
from agentdyno.specs.load.build import load_document, load_load, load_of, parse_load
from agentdyno.specs.schema import json_schema


def test_a_rate_is_one_steady_stage() -> None:
    load = parse_load({"load": {"target": "http://127.0.0.1:1/v1", "rate": 50, "duration_s": 3}}).load
    assert load.stages == (Stage("steady", 3, rate=50),)
    assert load.arrivals is Arrivals.POISSON


def test_a_concurrency_is_a_closed_loop() -> None:
    load = parse_load({"load": {"target": "a", "concurrency": 4}}).load
    assert load.stages == (Stage("steady", 10.0, concurrency=4),)
    assert load.arrivals is Arrivals.CLOSED


def test_stages_objectives_and_lengths_are_read() -> None:
    load = parse_load(
        {
            "load": {
                "target": "a",
                "dialect": "ollama",
                "stages": [
                    {"duration_s": 5, "rate": 1, "rate_to": 9},
                    {"label": "spike", "duration_s": 1, "rate": 90},
                ],
                "slo": "ttft_p95<200ms, error_rate<1%",
                "prompt_words": {"distribution": "lognormal", "mean": 100, "high": 500},
            }
        }
    ).load
    assert load.stages == (Stage("steady", 5, rate=1, rate_to=9), Stage("spike", 1, rate=90))
    assert load.slo == (Objective("ttft", 0.2, 0.95), Objective("error_rate", 0.01))
    assert load.options.prompts == PromptLengths("lognormal", 100, high=500)
    assert load.dialect is Dialect.OLLAMA


def test_scenarios_may_be_one_text() -> None:
    load = parse_load({"load": {"target": "a", "scenarios": "spike_load, high_load"}}).load
    assert load.scenarios == ("spike_load", "high_load")
    assert load.stages == ()


def test_quick_and_the_command_line_change_what_the_file_says(tmp_path: Path) -> None:
    path = tmp_path / "night.yaml"
    path.write_text(
        "load: {target: a, rate: 50, params: {x: 1, y: 2}}\nquick: {load: {duration_s: 1, params: {x: 3}}}\n"
    )
    quick = load_load(path, quick=True, overrides={"seed": 7, "tags": ["t"]})
    assert quick.load.stages == (Stage("steady", 1, rate=50),)
    assert quick.load.params == {"x": 3, "y": 2}
    assert (quick.settings.seed, quick.settings.tags, quick.settings.name) == (7, ("t",), "night")
    assert load_load(path).load.stages == (Stage("steady", 10.0, rate=50),)


@pytest.mark.parametrize(
    ("load", "said"),
    [
        ({}, "expected a target"),
        ({"target": "a", "rat": 3}, "unknown key 'rat'"),
        ({"target": "a", "rate": 1, "concurrency": 2}, "a rate or a concurrency, got both"),
        ({"target": "a", "scenarios": "x", "find_limit": True}, "got both"),
        ({"target": "a", "rate": 0}, "rate"),
        ({"target": "a", "slo": "speed<3"}, "nothing here is called speed"),
        ({"target": "a", "stages": [{"duration_s": 1, "rate": 1, "concurrency": 1}]}, "got both"),
        ({"target": "a", "stages": [{"duration_s": 1, "rate": 1}, {"duration_s": 1, "concurrency": 1}]}, "got both"),
        ({"target": "a", "prompt_words": "many"}, "expected words or a mapping"),
        ({"target": "a", "prompt_words": {"low": 9, "high": 3}}, "expected at least low"),
        ({"target": "a", "method": "BREW"}, "method"),
        ({"target": "a", "shape": "ramp", "to": 5}, "expected where the ramp begins"),
        ({"target": "a", "shape": "ramp", "rate": 5}, "expected where the ramp goes"),
        ({"target": "a", "shape": "saw", "rate": 5}, "shape"),
        ({"target": "a", "rate": 5, "to": 9}, "expected a shape"),
        ({"target": "a", "timeout_s": -1}, "timeout_s"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(load: dict[str, object], said: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_load({"load": load})
    assert said in f"{caught.value.where} {caught.value}"


def test_the_stored_form_gives_the_load_back() -> None:
    loaded = parse_load({"load": {"target": "a", "rate": 5, "slo": "latency_p99<1s"}})
    assert load_of(loaded.settings) == loaded.load


loads = st.fixed_dictionaries(
    {"target": st.sampled_from(["a", "http://127.0.0.1:1/v1"])},
    optional={
        "model": st.sampled_from(["m", "gemma3:4b"]),
        "profile": st.sampled_from(["quick", "standard", "full"]),
        "slo": st.sampled_from(["ttft_p95<200ms", "error_rate<1%, latency_p99<2s"]),
        "processes": st.integers(1, 8),
        "timeout_s": st.floats(0.1, 100),
        "prompt_words": st.integers(1, 1000),
        "turns": st.integers(1, 5),
        "options": st.just({"temperature": 0}),
        "headers": st.just({"X-A": "b"}),
        "body": st.just({"q": [1, 2]}),
        "insecure": st.booleans(),
    },
)
shapes = st.one_of(
    st.just({}),
    st.fixed_dictionaries({"rate": st.floats(0.1, 1000), "duration_s": st.floats(0.1, 100)}),
    st.fixed_dictionaries({"concurrency": st.integers(1, 64)}),
    st.just({"scenarios": ["spike_load"], "params": {"a": 1}}),
    st.just({"find_limit": True, "rate": 20.0}),
    st.just({"stages": [{"label": "x", "duration_s": 2.0, "rate": 1.0, "rate_to": 3.0}]}),
    st.just({"rate": 5.0, "arrivals": "gamma", "burstiness": 0.5}),
    st.just({"shape": "step", "rate": 5.0, "to": 50.0, "count": 3, "duration_s": 9.0}),
    st.just({"shape": "ramp", "concurrency": 1, "to": 8.0}),
)


@given(loads, shapes)
def test_a_printed_file_says_the_same(load: dict[str, object], shape: dict[str, object]) -> None:
    loaded = parse_load({"load": {**load, **shape}})
    assert parse_load(load_document(loaded)).load == loaded.load


def test_the_schema_knows_every_key() -> None:
    schema = json_schema("load")
    assert schema["required"] == ["load"]
    defs = schema["$defs"]
    assert isinstance(defs, dict)
    assert {"target", "scenarios", "slo", "find_limit"} <= set(defs["LoadFields"]["properties"])
