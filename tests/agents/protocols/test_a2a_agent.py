"""Agents that speak A2A answer as themselves, in both versions of the protocol."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from agentdyno.agents.resolve import make_agent
from agentdyno.contracts import CaseFailed
from agentdyno.errors import RunError, SpecError
from agentdyno.model.case import Case, Response
from agentdyno.model.suite import AgentUse

Answer = Callable[[str, dict[str, Any]], dict[str, Any]]


@contextmanager
def serving(card: dict[str, Any] | None, answer: Answer) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server with a card, whose ``URL`` stands for its own address, and what it was asked."""
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(404 if card is None else 200, json.dumps(card).replace("URL", url))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(body)
            self._send(
                200, json.dumps({"jsonrpc": "2.0", "id": body["id"], **answer(body["method"], body["params"])})
            )

        def _send(self, status: int, text: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield url, asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def answered(url: str, case: Case) -> Response:
    agent = make_agent(AgentUse("other", f"a2a:{url}"))

    async def whole() -> Response:
        try:
            await agent.start()
            return await agent.run(case)
        finally:
            await agent.close()

    return asyncio.run(whole())


OLD = {"name": "echo", "version": "2", "url": "URL/rpc", "protocolVersion": "0.3.0"}
NEW = {
    "name": "echo",
    "version": "2",
    "supportedInterfaces": [
        {"url": "URL/grpc", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
        {"url": "URL/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
    ],
}


def test_version_0_3_is_asked_by_message_send_and_turns_share_a_context() -> None:
    def answer(_method: str, params: dict[str, Any]) -> dict[str, Any]:
        text = params["message"]["parts"][0]["text"]
        part = {"kind": "text", "text": f"echo {text}"}
        return {"result": {"kind": "message", "role": "agent", "parts": [part], "contextId": "c1"}}

    with serving(OLD, answer) as (url, asked):
        response = answered(url, Case("talk", "one", turns=("one", "two")))
    assert response.output == "echo two"
    assert response.observed == {"agent": "echo 2", "protocol": "0.3.0"}
    assert [item["method"] for item in asked] == ["message/send", "message/send"]
    assert "contextId" not in asked[0]["params"]["message"]
    assert asked[1]["params"]["message"]["contextId"] == "c1"
    assert [event.content for event in response.events] == ["one", "echo one", "two", "echo two"]


def test_version_1_0_is_asked_by_send_message_and_tasks_are_followed() -> None:
    def answer(method: str, _params: dict[str, Any]) -> dict[str, Any]:
        if method == "SendMessage":
            return {"result": {"task": {"id": "t1", "status": {"state": "TASK_STATE_WORKING"}}}}
        done = {"id": "t1", "status": {"state": "TASK_STATE_COMPLETED"}}
        return {"result": {**done, "artifacts": [{"parts": [{"data": {"sum": 7}}]}]}}

    with serving(NEW, answer) as (url, asked):
        response = answered(url, Case("sum", {"a": 3, "b": 4}))
    assert response.output == {"sum": 7}
    assert [item["method"] for item in asked] == ["SendMessage", "GetTask"]
    assert asked[0]["params"]["message"]["parts"] == [{"text": '{"a": 3, "b": 4}'}]


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"error": {"code": -32603, "message": "internal"}}, r"internal \(error -32603\)"),
        (
            {"result": {"id": "t", "status": {"state": "failed", "message": {"parts": [{"text": "no luck"}]}}}},
            "the task failed: no luck",
        ),
    ],
)
def test_what_goes_wrong_fails_the_case(told: dict[str, Any], message: str) -> None:
    with serving(OLD, lambda *_: told) as (url, _), pytest.raises(CaseFailed, match=message):
        answered(url, Case("1", "x"))


def test_what_is_no_agent_is_refused_before_the_run() -> None:
    with serving(None, lambda *_: {}) as (url, _), pytest.raises(RunError, match=r"no agent card at .*status 404"):
        answered(url, Case("1", "x"))
    only_grpc = {"name": "x", "supportedInterfaces": [{"url": "URL", "protocolBinding": "GRPC"}]}
    with serving(only_grpc, lambda *_: {}) as (url, _), pytest.raises(RunError, match="no address for JSON-RPC"):
        answered(url, Case("1", "x"))
    with pytest.raises(SpecError, match="unknown key 'x'"):
        make_agent(AgentUse("other", "a2a:http://127.0.0.1:9", config={"x": 1}))
