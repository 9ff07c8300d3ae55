"""The real model: llama.cpp with SmolLM2 in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentdyno import extras
from agentdyno.errors import RunError
from agentdyno.servers import local_model
from agentdyno.servers.local_model import MODEL_NAME, LocalModel, find_model

from .talking import ask, text_of
from .test_processes import wait_until_gone

CHAT = "/chat/completions"


@pytest.fixture(scope="module")
def model() -> Iterator[LocalModel]:
    with LocalModel(threads=1, context=512) as running:
        yield running


def question(text: str, **more: object) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": text}], "max_tokens": 12, "temperature": 0, **more}


def test_the_installed_weights_are_found_without_importing_their_package() -> None:
    path = find_model()
    assert path is not None
    assert path.suffix == ".gguf"
    assert path.stat().st_size > 50_000_000


def test_it_answers_under_its_name_and_counts_tokens(model: LocalModel) -> None:
    whole = ask(model.url, CHAT, question("What is the capital of France?")).json
    assert whole["model"] == model.model == MODEL_NAME
    assert whole["choices"][0]["message"]["content"].strip()
    assert 0 < whole["usage"]["completion_tokens"] <= 12
    assert whole["usage"]["prompt_tokens"] > 5
    assert [item["id"] for item in ask(model.url, "/models").json["data"]] == [MODEL_NAME]


def test_it_streams_with_usage_at_the_end(model: LocalModel) -> None:
    body = question("Say hello.", stream=True, stream_options={"include_usage": True})
    answer = ask(model.url, CHAT, body)
    *_, last, done = answer.events
    assert done == "[DONE]"
    assert last["usage"]["completion_tokens"] > 0
    assert text_of(answer.events)
    assert "x-dyno-simulated" not in answer.headers


def test_its_answers_can_be_bound_to_a_schema(model: LocalModel) -> None:
    schema = {"type": "object", "properties": {"colour": {"enum": ["red", "blue"]}}, "required": ["colour"]}
    wanted = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    body = question("The sky is blue. Which colour?", response_format=wanted, max_tokens=40)
    found = json.loads(ask(model.url, CHAT, body).json["choices"][0]["message"]["content"])
    assert set(found) == {"colour"}
    assert found["colour"] in ("red", "blue")


def test_its_cpu_time_is_read_by_pid_and_grows_with_work(model: LocalModel) -> None:
    before_s = model.cpu_s()
    ask(model.url, CHAT, question("Count to ten."))
    assert model.alive
    assert model.cpu_s() > before_s > 0


def test_each_slot_has_the_whole_context(model: LocalModel) -> None:
    slot = ask(model.url.removesuffix("/v1"), "/props").json["default_generation_settings"]
    assert slot["n_ctx"] == 512
    assert ask(model.url, CHAT, question("word " * 600)).status == 400


def test_a_port_in_use_is_told_before_the_model_is_loaded(model: LocalModel) -> None:
    port = int(model.url.split(":")[2].split("/")[0])
    with pytest.raises(RunError, match=f"port {port} .* cannot be used") as caught:
        LocalModel(port=port).start()
    assert "another port" in str(caught.value)


def test_a_killed_server_is_noticed_and_nothing_is_left() -> None:
    with LocalModel(threads=1, context=128, parallel=1) as model:
        pidfd = os.pidfd_open(model.pid)
        url = model.url
        os.kill(model.pid, signal.SIGKILL)
        try:
            assert wait_until_gone(pidfd)
        finally:
            os.close(pidfd)
        assert not model.alive
        with pytest.raises(RunError, match=r"llama\.cpp has ended"):
            model.cpu_s()
    host, port = url.removeprefix("http://").removesuffix("/v1").split(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)))


def test_a_file_that_is_no_model_is_told(tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"nonsense" * 100)
    with pytest.raises(RunError, match="cannot load the model") as caught:
        LocalModel(path).start()
    assert str(path) in str(caught.value)
    assert "b'nons', not b'GGUF'" in str(caught.value)
    path.write_bytes(b"GGUF" + b"nonsense" * 100)
    with pytest.raises(RunError, match=r"llama\.cpp cannot load the model: ."):
        LocalModel(path).start()
    with pytest.raises(RunError, match="no such model file"):
        LocalModel(tmp_path / "absent.gguf").start()


def test_what_is_missing_is_told_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(local_model, "find_model", lambda: None)
        with pytest.raises(RunError, match="weights are not installed") as caught:
            LocalModel().start()
        assert "dyno model install" in str(caught.value)
    monkeypatch.setitem(extras.EXTRAS, "local", ("no_such_server",))
    with pytest.raises(RunError, match="the local model needs no-such-server, which is not installed") as caught:
        LocalModel().start()
    assert "pip install 'agentdyno[local]'" in str(caught.value)
