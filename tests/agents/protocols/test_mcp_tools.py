"""Tools of an MCP server, one of the protocol's own SDK, are listed, called and held against their schemas."""

from __future__ import annotations

import asyncio
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentdyno.agents.resolve import make_agent
from agentdyno.agents.versioning import version_of
from agentdyno.contracts import Agent, CaseFailed
from agentdyno.errors import RunError, SpecError
from agentdyno.model.case import Case, Response
from agentdyno.model.suite import AgentUse

from ...waiting import wait_until
from ..frameworks.given import interpreter

SERVER = '''
import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("adder")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def shout(text: str) -> str:
    """Makes it loud."""
    print("not for the protocol", file=sys.stderr)
    return text.upper()


@server.tool()
def fail() -> str:
    """Fails."""
    raise ValueError("it cannot")


if len(sys.argv) > 1:
    server.run(transport="streamable-http", port=int(sys.argv[1]))
else:
    server.run()
'''
ODD_SERVER = """
import json
import sys

TOOLS = {
    "first": {"name": "lies", "inputSchema": {"type": "object"}, "outputSchema": {"required": ["n"]}},
    "second": {"name": "broken", "inputSchema": {"type": "nothing"}},
}
print("hello, this is no JSON")
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, params = asked["method"], asked["params"]
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "odd", "version": "9"}}
    elif method == "tools/list":
        page = "second" if params.get("cursor") else "first"
        result = {"tools": [TOOLS[page]], **({"nextCursor": "more"} if page == "first" else {})}
    elif params["name"] == "lies":
        result = {"content": [], "structuredContent": {"m": 1}}
    else:
        sys.exit(3)
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def asked(agent: Agent, *inputs: object) -> list[Response | CaseFailed]:
    """What comes of each input, on one connection."""

    async def answers() -> list[Response | CaseFailed]:
        found: list[Response | CaseFailed] = []
        await agent.start()
        try:
            for number, given in enumerate(inputs):
                try:
                    found.append(await agent.run(Case(str(number), given)))
                except CaseFailed as failed:
                    found.append(failed)
        finally:
            await agent.close()
        return found

    return asyncio.run(answers())


def made(folder: Path, source: str = SERVER, config: Mapping[str, object] | None = None) -> Agent:
    (folder / "server.py").write_text(source)
    uses = f"mcp:{interpreter('core')} server.py"
    return make_agent(AgentUse("adder", uses, config=config or {}, base_dir=str(folder)))


def test_a_tool_is_called_with_arguments_and_answers_structured_content(tmp_path: Path) -> None:
    (response,) = asked(made(tmp_path), {"tool": "add", "arguments": {"a": 3, "b": 4}})
    assert isinstance(response, Response)
    assert response.output == {"result": 7}
    assert response.readings["schema_problems"] == 0
    assert str(response.observed["server"]).startswith("adder")
    call, result = response.events
    assert (call.kind, call.name, call.content) == ("tool_call", "add", {"a": 3, "b": 4})
    assert result.kind == "tool_result"
    assert result.duration_s is not None


def test_tools_are_listed_with_their_schemas(tmp_path: Path) -> None:
    (response,) = asked(made(tmp_path), "tools/list")
    assert isinstance(response, Response)
    assert isinstance(response.output, list)
    assert [tool["name"] for tool in response.output] == ["add", "shout", "fail"]
    assert response.readings["schema_problems"] == 0


def test_what_goes_wrong_in_a_tool_fails_its_case_and_no_other(tmp_path: Path) -> None:
    failed, wrong, unknown, last = asked(
        made(tmp_path),
        {"tool": "fail"},
        {"tool": "add", "arguments": {"a": "x", "b": 4}},
        {"tool": "ad"},
        {"tool": "add", "arguments": {"a": 1, "b": 1}},
    )
    assert isinstance(failed, CaseFailed)
    assert failed.message == "Error executing tool fail"  # the SDK keeps to itself why
    assert isinstance(wrong, CaseFailed)
    assert wrong.response is not None
    assert wrong.response.readings["schema_problems"] == 1
    assert "arguments.a: 'x' is not of type 'integer'" in [event.content for event in wrong.response.events]
    assert isinstance(unknown, CaseFailed)
    assert "add" in unknown.remedy
    assert isinstance(last, Response)
    assert last.output == {"result": 2}


def test_errors_can_be_what_a_case_asks_for(tmp_path: Path) -> None:
    (response,) = asked(made(tmp_path, config={"errors": "answer"}), {"tool": "fail"})
    assert isinstance(response, Response)
    assert isinstance(response.output, dict)
    assert response.output == {"error": "Error executing tool fail"}


def test_with_a_tool_named_the_input_is_its_arguments(tmp_path: Path) -> None:
    one, other = asked(made(tmp_path, config={"tool": "shout"}), "hear", {"text": "me"})
    assert isinstance(one, Response)
    assert isinstance(other, Response)
    assert (one.output, other.output) == ({"result": "HEAR"}, {"result": "ME"})


def test_a_server_that_breaks_its_own_schemas_is_told_so(tmp_path: Path) -> None:
    lies, listed, gone = asked(made(tmp_path, ODD_SERVER), {"tool": "lies"}, "tools/list", {"tool": "broken"})
    assert isinstance(lies, Response)
    assert lies.readings["schema_problems"] == 1
    assert lies.events[-1].content == "answer: 'n' is a required property"
    assert isinstance(listed, Response)
    assert listed.readings["schema_problems"] == 1
    assert str(listed.events[-1].content).startswith("broken.inputSchema: ")
    assert isinstance(gone, CaseFailed)
    assert "ended with status 3" in gone.message or "closed its output" in gone.message


@contextmanager
def served(folder: Path) -> Iterator[str]:
    (folder / "server.py").write_text(SERVER)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [interpreter("core"), "server.py", str(port)],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def listens() -> bool:
        with socket.socket() as tried:
            return tried.connect_ex(("127.0.0.1", port)) == 0

    try:
        wait_until(listens)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait()


def test_a_server_over_http_answers_the_same(tmp_path: Path) -> None:
    with served(tmp_path) as url:
        agent = make_agent(AgentUse("adder", f"mcp:{url}"))
        response, failed = asked(agent, {"tool": "add", "arguments": {"a": 3, "b": 4}}, {"tool": "fail"})
    assert isinstance(response, Response)
    assert response.output == {"result": 7}
    assert isinstance(failed, CaseFailed)


def test_what_is_no_server_is_refused_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no MCP server answers"):
        asked(make_agent(AgentUse("none", "mcp:true", base_dir=str(tmp_path))))
    with pytest.raises(RunError, match="cannot start nosuchcommand"):
        asked(make_agent(AgentUse("none", "mcp:nosuchcommand", base_dir=str(tmp_path))))
    with pytest.raises(RunError, match="there is no tool 'ad'"):
        asked(made(tmp_path, config={"tool": "ad"}))
    with pytest.raises(SpecError, match="there is no errors: 'hide'"):
        made(tmp_path, config={"errors": "hide"})
    with pytest.raises(SpecError, match="unknown key 'tols'"):
        made(tmp_path, config={"tols": "add"})


def test_its_version_follows_its_file(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    use = AgentUse("adder", "mcp:python3 server.py", base_dir=str(tmp_path))
    before = version_of(use, git=False)
    (tmp_path / "server.py").write_text(SERVER + "\n")
    assert version_of(use, git=False) != before
