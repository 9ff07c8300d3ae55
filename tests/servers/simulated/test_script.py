"""What will happen to a request is decided by the seed, the request and how often it came before."""

from __future__ import annotations

import json

from agentdyno.servers.simulated.behaviour import Behaviour
from agentdyno.servers.simulated.chat_request import ReceivedChat, read_ollama, read_openai
from agentdyno.servers.simulated.fault_plan import Fault
from agentdyno.servers.simulated.script import example_of, write_script

from ..talking import chat


def request(prompt: str = "hello there", *, stream: bool = True) -> ReceivedChat:
    return read_openai(json.dumps(chat(prompt, stream=stream)).encode())


def test_the_same_draws_give_the_same_script_and_others_another() -> None:
    behaviour = Behaviour(
        itl_s=0.02, itl_jitter_s=0.01, ttft_s=0.1, ttft_jitter_s=0.05, output_tokens=(5, 50), seed=3
    )
    first = write_script(request(), behaviour, 0)
    assert write_script(request(), behaviour, 0) == first
    assert write_script(request(), behaviour, 1) != first
    assert write_script(request("other"), behaviour, 0) != first
    assert write_script(request(), behaviour.overridden({"seed": 4}), 0) != first


def test_jitter_stays_within_its_bounds_and_times_are_exact_without() -> None:
    behaviour = Behaviour(itl_s=0.02, itl_jitter_s=0.01, ttft_s=0.1, ttft_jitter_s=0.05, output_tokens=40)
    script = write_script(request(), behaviour, 0)
    assert 50_000_000 <= script.first_ns <= 150_000_000
    assert len(set(script.gaps_ns)) > 30
    assert all(10_000_000 <= gap <= 30_000_000 for gap in script.gaps_ns)
    exact = write_script(request(), Behaviour(itl_s=0.02, ttft_s=0.1, output_tokens=3), 0)
    assert (exact.first_ns, exact.gaps_ns, exact.last_ns) == (100_000_000, (20_000_000,), 140_000_000)


def test_loading_may_take_longer_than_the_first_token_would() -> None:
    assert write_script(request(), Behaviour(ttft_s=0.1, load_s=0.3), 0).first_ns == 300_000_000


def test_faults_share_the_requests_as_their_rates_say() -> None:
    behaviour = Behaviour(error_rate=0.2, reset_rate=0.2, truncate_rate=0.2, stream_error_rate=0.2)
    faults = [write_script(request(f"prompt {number}"), behaviour, 0).fault for number in range(1000)]
    for fault in (Fault.ERROR, Fault.RESET, Fault.TRUNCATED, Fault.STREAM_ERROR, None):
        assert 150 <= faults.count(fault) <= 250
    whole = [write_script(request(f"prompt {n}", stream=False), behaviour, 0).fault for n in range(200)]
    assert Fault.STREAM_ERROR not in whole


def test_a_fault_in_the_middle_leaves_at_least_one_token_out_and_sends_at_least_one() -> None:
    for number in range(50):
        script = write_script(request(f"prompt {number}"), Behaviour(reset_rate=1, output_tokens=(2, 9)), 0)
        assert 1 <= script.fault_at < len(script.tokens)


def test_an_answer_may_be_empty() -> None:
    script = write_script(request(), Behaviour(output_tokens=0, reset_rate=1), 0)
    assert (script.tokens, script.fault_at) == ((), 0)


def test_ollama_s_negative_limit_means_none() -> None:
    body = {**chat(), "options": {"num_predict": -1}}
    assert read_ollama(json.dumps(body).encode()).max_tokens is None


def test_examples_fit_their_schema() -> None:
    schema = {
        "type": "object",
        "properties": {
            "list": {"type": "array", "items": {"type": "number"}},
            "flag": {"type": "boolean"},
            "fixed": {"const": 7},
            "maybe": {"type": ["string", "null"]},
            "nothing": {"type": "null"},
            "inner": {"properties": {"n": {"type": "integer"}}},
        },
    }
    assert example_of(schema, "2.5 then 3") == {
        "list": [2.5],
        "flag": True,
        "fixed": 7,
        "maybe": "2.5 then 3",
        "nothing": None,
        "inner": {"n": 3},
    }


def test_an_endless_schema_comes_to_an_end() -> None:
    schema: dict[str, object] = {"type": "array"}
    schema["items"] = schema
    assert json.dumps(example_of(schema, "")).count("[") == 9
