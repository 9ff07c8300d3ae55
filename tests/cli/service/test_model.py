"""``dyno model`` as a user types it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from agentdyno.cli.main import dyno
from agentdyno.errors import DynoError

from ...servers.talking import OLLAMA, OPENAI, ask, chat, text_of

CODE = """
import sys
from agentdyno.cli.service.model import command
from agentdyno.errors import DynoError
try:
    command(sys.argv[1:], standalone_mode=False)
except DynoError as error:
    sys.exit(f"Error: {error}")
"""


@contextmanager
def running(*arguments: str, **environ: str) -> Iterator[subprocess.Popen[str]]:
    """The command in the background, ended by force if the test has not done so."""
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environ},
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def stop(process: subprocess.Popen[str], number: signal.Signals = signal.SIGINT) -> tuple[str, str]:
    """The rest of what it says after Ctrl-C."""
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out, err


def first_line(stream: Any) -> str:
    return str(stream.readline()).strip()


def test_help_shows_examples_for_every_part() -> None:
    listed = CliRunner().invoke(dyno, ["model", "--help"])
    for name in ("install", "serve", "simulate"):
        assert f"\n  {name} " in listed.output
        shown = CliRunner().invoke(dyno, ["model", name, "--help"])
        assert shown.exit_code == 0
    assert "dyno model simulate --ttft" in CliRunner().invoke(dyno, ["model", "simulate", "--help"]).output
    assert "dyno model serve --port" in CliRunner().invoke(dyno, ["model", "serve", "--help"]).output


def test_install_says_that_the_model_is_there() -> None:
    done = CliRunner().invoke(dyno, ["model", "install", "--json"])
    assert done.exit_code == 0
    assert "installed already" in done.stderr
    assert json.loads(done.stdout)["llama_cpp"] is True


def test_simulate_serves_until_stopped_and_says_what_it_served(tmp_path: Path) -> None:
    log = tmp_path / "sent.ndjson"
    arguments = ("--port", "0", "--ttft", "0.01", "--itl", "0", "--tokens", "3", "--log", str(log))
    with running("simulate", *arguments) as process:
        url = first_line(process.stdout)
        for path in (OPENAI, OLLAMA):
            assert len(text_of(ask(url, path, chat()).events).split()) == 3
        out, err = stop(process)
    assert out == ""
    assert f"-c base_url={url}/v1" in err
    assert "Served 2 requests (2 ok), 6 tokens. Send lag in ms: p50 " in err
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(entry["path"], len(entry["token_ns"])) for entry in entries] == [(OPENAI, 3), (OLLAMA, 3)]


def test_simulate_prints_one_json_document() -> None:
    with running("simulate", "--port", "0", "--ttft", "0", "--json") as process:
        url = first_line(process.stderr)
        ask(url, OPENAI, chat(dyno={"error_rate": 1}))
        out, _ = stop(process, signal.SIGTERM)
    found = json.loads(out)
    assert (found["url"], found["requests"], found["outcomes"]) == (url, 1, {"error": 1})
    assert found["simulated"] is True
    assert found["send_lag_p50_s"] is None


def test_simulate_takes_answers_and_a_key(tmp_path: Path) -> None:
    answers = tmp_path / "answers.json"
    answers.write_text('{"capital": "Paris"}')
    arguments = ("--port", "0", "--answers", str(answers), "--api-key-env", "SIM_KEY", "--itl", "0", "--ttft", "0")
    with running("simulate", *arguments, SIM_KEY="sesame") as process:
        url = first_line(process.stdout)
        assert ask(url, OPENAI, chat("the capital?")).status == 401
        answer = ask(url, OPENAI, chat("the capital?"), None, authorization="Bearer sesame")
        assert text_of(answer.events) == "Paris"
        out, err = stop(process)
    assert "sesame" not in out + err


def test_simulate_has_a_known_capacity_and_faults_in_exact_numbers() -> None:
    arguments = ("--ttft", "0", "--itl", "0", "--slots", "2", "--faults", "http_error:2,rate_limited:1")
    with running("simulate", "--port", "0", "--json", *arguments, "--fault-span", "5") as process:
        url = first_line(process.stderr)
        statuses = [ask(url, OPENAI, chat()).status for _ in range(6)]
        out, _ = stop(process)
    assert sorted(statuses) == [200, 200, 200, 429, 500, 500]
    found = json.loads(out)
    assert found["outcomes"] == {"ok": 3, "error": 2, "rate_limited": 1}
    assert (found["faults_left"], found["peak_queued"]) == (0, 0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--error-rate", "0.7", "--reset-rate", "0.7"], "add up to more than 1"),
        (["--tokens", "few"], "output_tokens cannot be 'few'"),
        (["--rate-limit", "0"], "rate_limit_per_s"),
        (["--answers", "absent.json"], "absent.json"),
        (["--api-key-env", "NO_SUCH_VARIABLE_HERE"], "NO_SUCH_VARIABLE_HERE is not set"),
        (["--log", "no/such/folder/x"], "cannot be written"),
        (["--faults", "resett:1"], "no fault 'resett'"),
        (["--faults", "reset:9", "--fault-span", "3"], "9 faults do not fit into 3 requests"),
        (["--certificate", "absent.pem"], "the certificate cannot be used"),
    ],
)
def test_simulate_refuses_what_cannot_be(arguments: list[str], words: str) -> None:
    done = CliRunner().invoke(dyno, ["model", "simulate", "--port", "0", *arguments])
    assert isinstance(done.exception, DynoError)
    assert words in str(done.exception)


def test_serve_prints_its_url_and_a_line_to_try_and_nothing_of_llama_cpp() -> None:
    with running("serve", "--port", "0", "--context", "256", "--parallel", "1", "--threads", "1") as process:
        url = first_line(process.stdout)
        body = {"messages": [{"role": "user", "content": "Say hi."}], "max_tokens": 4}
        assert ask(url, "/chat/completions", body).json["usage"]["completion_tokens"] > 0
        out, err = stop(process)
    assert out == ""
    assert f'dyno try openai:smollm2-135m-instruct "What is 2 + 2?" -c base_url={url}' in err
    assert "of CPU time" in err
    assert len(err.splitlines()) == 3


def test_serve_tells_when_the_port_is_taken() -> None:
    with running("simulate", "--port", "0") as process:
        port = first_line(process.stdout).rpartition(":")[2]
        with running("serve", "--port", port) as other:
            _, err = other.communicate(timeout=60)
            assert other.returncode == 1
            assert f"port {port} on 127.0.0.1 cannot be used" in err
        stop(process)
