"""Traces of production as trajectories, without the secrets in them."""

from __future__ import annotations

import json
import random
import string
from pathlib import Path
from typing import Any

import pytest

from agentdyno.errors import ImportFailed
from agentdyno.importers.evals.otlp import OtlpImporter
from agentdyno.model.codec import encode
from agentdyno.servers.otlp.secrets import hide_secrets

from ..servers.otlp.traces import request, span


def trace(number: int, **attributes: Any) -> dict[str, object]:
    name = f"{number:02x}"
    root = span(
        f"{number}1", number, number + 0.5, trace=name, gen_ai__agent__name="helper", input__value="hi", **attributes
    )
    call = span(
        f"{number}2",
        number,
        number + 0.2,
        parent=f"{number}1",
        trace=name,
        gen_ai__operation__name="chat",
        gen_ai__usage__input_tokens=10,
        gen_ai__usage__output_tokens=5,
    )
    return request(root, call, resource={"service.name": "shop"})


def test_each_trace_is_a_case_with_its_trajectory(tmp_path: Path) -> None:
    file = tmp_path / "traces.jsonl"
    file.write_text("\n".join(json.dumps(trace(number, output__value="yes")) for number in (1, 2)))
    importer = OtlpImporter()
    assert importer.recognises(file, file.read_bytes())
    (run,) = importer.read(file)
    assert [arm.agent.partition("@")[0] for arm in run.arms if arm.agent] == ["helper"]
    samples = run.arms[0].samples
    assert [sample.output for sample in samples] == ["yes", "yes"]
    assert [sample.readings["duration_s"] for sample in samples] == pytest.approx([0.5, 0.5])
    assert samples[0].usage == {"input_tokens": 10, "output_tokens": 5}
    events = samples[0].details["events"]
    assert isinstance(events, list)
    assert [event["kind"] for event in events] == ["span", "model_call"]
    assert run.suite is not None
    case = run.suite.benchmarks[0].cases[0]
    assert case.input == "hi"
    provenance = case.metadata["provenance"]
    assert isinstance(provenance, dict)
    assert (provenance["file"], provenance["trace"]) == ("traces.jsonl", "0" * 30 + "01")
    assert importer.read(file)[0].run_id == run.run_id


@pytest.mark.parametrize("text", ["", "{", '{"resourceSpans": 1}', '{"resourceSpans": []}', "[]"])
def test_what_is_no_trace_is_refused_by_name(tmp_path: Path, text: str) -> None:
    file = tmp_path / "bad.json"
    file.write_text(text)
    with pytest.raises(ImportFailed, match=r"bad\.json"):
        OtlpImporter().read(file)


def planted() -> list[tuple[str, str]]:
    """A hundred secrets, each with the text around it."""
    rng = random.Random(7)

    def letters(count: int, among: str = string.ascii_letters + string.digits) -> str:
        return "".join(rng.choice(among) for _ in range(count))

    forms = (
        ("sk-{}", 32, "key is {}, use it"),
        ("sk-ant-api03-{}", 40, "{}"),
        ("ghp_{}", 36, "git clone with {}."),
        ("github_pat_{}", 40, "{}"),
        ("glpat-{}", 20, "PRIVATE: {}"),
        ("xoxb-{}", 24, "slack {}"),
        ("hf_{}", 34, "hub {}"),
        ("gsk_{}", 40, "groq={}"),
        ("AIza{}", 35, "maps {}"),
        ("npm_{}", 36, "//registry/:_authToken={}"),
        ("sk_live_{}", 24, "stripe {}"),
        ("{}", 24, "Authorization: Bearer {}1="),
        ("{}", 16, "postgres://shop:{}@db/orders"),
        ("{}", 12, "password={}"),
        ("{}", 12, "'api_key': '{}'"),
        ("{}", 20, "AWS_SECRET_ACCESS_KEY={}"),
        ("{}", 12, "my password is {}"),
        ("eyJ{0}.{0}.{0}", 20, "jwt {}"),
        ("-----BEGIN RSA PRIVATE KEY-----{}-----END RSA PRIVATE KEY-----", 60, "{}"),
        ("{}", 18, "curl 'https://x/?access_token={}&a=1'"),
    )
    found = []
    for round_ in range(5):
        for form, count, around in forms:
            body = letters(count) + str(round_)
            secret = form.format(body)
            found.append((body, around.format(secret)))
    return found


def test_of_a_hundred_planted_secrets_none_is_stored(tmp_path: Path) -> None:
    secrets = planted()
    assert len(secrets) == 100
    documents = []
    for number, (_, text) in enumerate(secrets, start=1):
        where = ("output__value", "gen_ai__tool__call__arguments", "gen_ai__tool__call__result")[number % 3]
        tool = {} if where == "output__value" else {"gen_ai__operation__name": "execute_tool"}
        documents.append(trace(number, **{where: text}, **tool))
        documents.append(
            request(span(f"{number}9", 1, 2, trace=f"{number:x}f", input__value=json.dumps({"ask": text})))
        )
    file = tmp_path / "traces.jsonl"
    file.write_text("\n".join(map(json.dumps, documents)))
    stored = encode(OtlpImporter().read(file)[0])
    assert [body for body, _ in secrets if body in stored] == []
    assert stored.count("[REDACTED]") >= 150


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ({"api_key": "short", "name": "x"}, {"api_key": "[REDACTED]", "name": "x"}),
        ({"input_tokens": 5, "token_count": "12 tokens"}, {"input_tokens": 5, "token_count": "12 tokens"}),
        ("What does order 12 cost?", "What does order 12 cost?"),
        ("the secretary is Basic", "the secretary is Basic"),
        ({"headers": {"Authorization": "abc"}}, {"headers": {"Authorization": "[REDACTED]"}}),
    ],
)
def test_what_is_no_secret_stays(value: object, kept: object) -> None:
    assert hide_secrets(value) == kept
