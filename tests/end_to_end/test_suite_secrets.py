"""A key of the environment stays there: it reaches no file and no log, whatever the other side echoes."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from ..chat_server import Asked, Reply, serving
from ..command import Bench

KEY = "sk-very/secret+key=0123456789"
SUITE = """
name: secrets
scorer: includes
epochs: 1
warmup: 0
max_failure_rate: 1.0
dataset:
  cases: [{id: plain, input: p, target: "x"}, {id: coded, input: c, target: "x"}, {id: error, input: e, target: "x"},
          {id: raised, input: r, target: "x"}]
"""
WORKSPACE = """
agents:
  echo: {use: "openai:small", config: {base_url: "%s", api_key_env: MY_SERVICE}}
  hosted: {use: agent.py@answer, env: [MY_SERVICE]}
  command: {use: "cmd:sh -c 'echo $MY_SERVICE; echo $MY_SERVICE >&2; exit 3'", env: [MY_SERVICE]}
"""
AGENT = """
import os, sys
from agentdyno import tool_call

def answer(text):
    key = os.environ["MY_SERVICE"]
    print(key)
    with tool_call("look", {"key": key}) as result:
        result.append(key)
    if text == "r":
        raise RuntimeError("refused " + key)
    return {"output": [key, {key: key}], "observed": {"authorization": "Bearer " + key}}
"""


@pytest.fixture
def bench(loaded_bench: Bench) -> Bench:
    """Commands of these tests are run often and do little."""
    return loaded_bench


def echo(asked: Asked) -> Reply:
    header = asked.headers["authorization"]
    if asked.text == "c":
        return Reply(base64.b64encode(header.encode()).decode())
    if asked.text in ("e", "r"):
        return Reply(f"do not like {header}", 400)
    return Reply(f"x {header}", headers={"X-Echo": header})


def forms() -> list[bytes]:
    return [KEY.encode(), base64.b64encode(f"Bearer {KEY}".encode())[12:-4], KEY.replace("/", "\\/").encode()]


def assert_clean(folder: Path, said: str) -> None:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 5
    for path in files:
        data = path.read_bytes()
        assert not any(form in data for form in forms()), f"{path} holds the key"
    assert not any(form in said.encode() for form in forms()), "the log holds the key"


def test_a_key_reaches_neither_store_nor_files_nor_logs(bench: Bench) -> None:
    bench.write("agent.py", AGENT)
    bench.write("suite.yaml", SUITE)
    bench.environ["MY_SERVICE"] = KEY
    with serving(echo) as server:
        bench.write("dyno.yaml", WORKSPACE % server.url)
        agents = ("--agent", "echo", "--agent", "hosted", "--agent", "command")
        formats = ("--format", "md,html,csv,json,junit")
        run = bench.dyno("-vv", "run", "suite.yaml", "--yes", "--cache", *agents, *formats)
        tried = bench.dyno("-vv", "try", "echo", "p")
    assert run.code == 5, run.err
    assert any(KEY in asked.headers["authorization"] for asked in server.asked), "the agent itself has the key"
    shown = bench.dyno("show", "last", "--case", "plain")
    as_json = bench.dyno("show", "last", "--json")
    rescored = bench.dyno("-vv", "rescore", "last")
    assert "[MY_SERVICE]" in shown.out
    assert (tried.code, rescored.code) == (0, 5), rescored.err
    said = [stream for done in (run, tried, shown, as_json, rescored) for stream in (done.out, done.err)]
    assert_clean(bench.folder, "\n".join(said))


def test_a_key_that_is_written_into_a_file_is_refused(bench: Bench) -> None:
    bench.write("suite.yaml", SUITE)
    config = '{base_url: "http://127.0.0.1:9/v1", api_key: sk-abcdefghij0123456789}'
    bench.write("dyno.yaml", f'agents: {{m: {{use: "openai:small", config: {config}}}}}')
    done = bench.dyno("run", "suite.yaml", "--agent", "m")
    assert done.code == 2
    assert "sk-abcdefghij0123456789" not in done.out + done.err
    assert "Traceback" not in done.err
