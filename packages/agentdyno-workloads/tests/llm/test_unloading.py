"""Whether a cold start is one: a server that cannot say so is an error."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from agentdyno import RunError
from agentdyno.servers.simulated.server import simulated_server
from agentdyno_workloads.llm.serving import ServerChoice, Serving

UNLOADED = {"model": "gemma3", "response": "", "done": True, "done_reason": "unload"}


@contextmanager
def server(answers: Mapping[str, object]) -> Iterator[str]:
    """Serves these values by path, and 404 for every other one."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = answers.get(self.path)
            body = json.dumps(found if found is not None else {"error": "not found"}).encode()
            self.send_response(200 if found is not None else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:
            pass

    serving = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{serving.server_port}"
    finally:
        serving.shutdown()
        thread.join()
        serving.server_close()


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({}, "does not answer to being told to unload"),
        ({"/api/generate": {"response": "Hello"}}, "does not answer to being told to unload"),
        ({"/api/generate": UNLOADED}, "does not say which models it has loaded"),
        ({"/api/generate": UNLOADED, "/api/ps": {}}, "does not say which models it has loaded"),
    ],
)
def test_a_server_that_does_not_confirm_it_is_no_cold_start(answers: Mapping[str, object], said: str) -> None:
    with server(answers) as url, pytest.raises(RunError) as error:
        Serving(ServerChoice("ollama", url, "gemma3")).unload()
    assert said in error.value.message
    assert error.value.where == url
    assert "Leave cold out" in (error.value.remedy or "")


def test_a_server_that_keeps_the_model_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentdyno_workloads.llm.serving._WAIT_S", 0.05)
    kept = {"/api/generate": UNLOADED, "/api/ps": {"models": [{"name": "gemma3:latest"}]}}
    with server(kept) as url, pytest.raises(RunError, match="keeps gemma3 loaded"):
        Serving(ServerChoice("ollama", url, "gemma3")).unload()


def test_a_server_that_confirms_it_is_believed() -> None:
    with server({"/api/generate": UNLOADED, "/api/ps": {"models": []}}) as url:
        Serving(ServerChoice("ollama", url, "gemma3")).unload()
    with simulated_server() as simulated:
        Serving(ServerChoice("ollama", simulated.url, "gemma3")).unload()
