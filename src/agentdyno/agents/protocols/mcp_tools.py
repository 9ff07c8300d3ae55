"""The tools of an MCP server as what a suite asks: listed, called, timed, and checked against their schemas."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from agentdyno.agents.commands.command_line import split_command
from agentdyno.agents.hosting.recorder import Recorder, recording
from agentdyno.agents.protocols.json_rpc import HttpRpc, ProcessRpc, RpcConnection, RpcError, RpcLost
from agentdyno.contracts import CaseFailed
from agentdyno.errors import RunError, SpecError, nearest
from agentdyno.model.case import Case, Response
from agentdyno.model.identity import digest
from agentdyno.model.sample import FailureKind
from agentdyno.version import __version__
from agentdyno.wire.errors import WireError

PROTOCOL = "2025-06-18"
LIST = "tools/list"
"""The input of a case that asks which tools there are."""
ERRORS = ("fail", "answer")
MOST_PAGES = 1000
MOST_PROBLEMS = 20


class McpTools:
    """``target`` is a command or an address. A case's input is ``{"tool": NAME, "arguments": {…}}`` or
    ``tools/list``; with ``tool`` it is the arguments alone, a text for a tool that takes one.

    The answer is the structured content, else the text. A tool's error fails its case; with ``errors: answer`` it is
    the answer, as ``{"error": TEXT}``. ``schema_problems`` counts what does not fit: arguments the tool's input
    schema, structured content its output schema, a listed tool JSON Schema itself.
    """

    def __init__(
        self,
        name: str,
        *,
        target: str,
        cwd: str = ".",
        tool: str = "",
        errors: str = "fail",
        version: str = "",
        environ: Mapping[str, str] | None = None,
    ) -> None:
        if errors not in ERRORS:
            raise SpecError(f"there is no errors: {errors!r}", where="errors", remedy=nearest(errors, ERRORS))
        self.name, self.paid = name, False
        shown = {"target": target, "tool": tool, "errors": errors}
        self.config: Mapping[str, object] = shown
        self.version = version or digest(shown, 12)
        self._tool, self._errors = tool, errors
        self._target, self._cwd = target, cwd
        self._environ = dict(os.environ if environ is None else environ)
        self._connection: RpcConnection | None = None
        self._tools: dict[str, dict[str, Any]] = {}
        self._about: dict[str, object] = {}

    async def start(self) -> None:
        """Connects and lists the tools; raises ``RunError`` where the server does not answer as one of MCP."""
        where = f"agent {self.name}"
        try:
            await self._connect()
        except (RpcLost, RpcError, WireError, CaseFailed) as error:
            await self.close()
            remedy = "Is it an MCP server? `mcp:COMMAND` speaks by standard input, `mcp:http://…` by HTTP."
            raise RunError(f"no MCP server answers: {error}", where=where, remedy=remedy) from None
        if self._tool and self._tool not in self._tools:
            await self.close()
            raise RunError(f"there is no tool {self._tool!r}", where=where, remedy=nearest(self._tool, self._tools))

    async def run(self, case: Case) -> Response:
        with recording() as recorder:
            recorder.observed.update(self._about)
            try:
                output = await self._answer(case.input, recorder)
            except CaseFailed as failed:
                failed.response = recorder.response(None)
                raise
            except (RpcLost, WireError) as error:
                raise CaseFailed(FailureKind.RESET, str(error), response=recorder.response(None)) from None
            return recorder.response(output)

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()

    async def _connect(self) -> None:
        if self._target.startswith(("http://", "https://")):
            self._connection = HttpRpc(self._target)
        else:
            argv = split_command(self._target, self.name)
            self._connection = ProcessRpc(argv, self._cwd, self._environ)
        await self._connection.open()
        client = {"name": "agentdyno", "version": __version__}
        params = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client}
        told = await self._connection.call("initialize", params)
        await self._connection.notify("notifications/initialized", {})
        server = told.get("serverInfo") or {}
        self._about = {
            "server": f"{server.get('name', '')} {server.get('version', '')}".strip(),
            "protocol": told.get("protocolVersion"),
        }
        self._tools = {str(tool.get("name")): tool for tool in await self._listed()}

    async def _listed(self) -> list[dict[str, Any]]:
        assert self._connection is not None
        found: list[dict[str, Any]] = []
        params: dict[str, object] = {}
        for _ in range(MOST_PAGES):
            page = await self._connection.call(LIST, params)
            found += [tool for tool in page.get("tools") or () if isinstance(tool, dict)]
            if not page.get("nextCursor"):
                break
            params = {"cursor": page["nextCursor"]}
        return found

    async def _answer(self, given: object, recorder: Recorder) -> object:
        if given == LIST:
            tools = await self._listed()
            _note(recorder, [problem for tool in tools for problem in _invalid_schemas(tool)])
            return tools
        name, arguments = self._asked(given)
        tool = self._tools.get(name)
        problems = _problems(arguments, (tool or {}).get("inputSchema"), "arguments")
        began = recorder.clock()
        recorder.event("tool_call", name, arguments)
        assert self._connection is not None
        failed: str | None = None
        result: dict[str, Any] = {}
        try:
            result = await self._connection.call("tools/call", {"name": name, "arguments": arguments})
            failed = _text(result) or "the tool failed" if result.get("isError") else None
        except RpcError as error:
            failed = str(error)
        took_s = recorder.clock() - began
        recorder.event("tool_result", name, failed or _content(result), duration_s=took_s)
        if failed is None:
            problems += _output_problems(result, tool)
        _note(recorder, problems)
        if failed is None:
            return _content(result)
        if self._errors == "answer":
            return {"error": failed}
        remedy = nearest(name, self._tools) if tool is None else ""
        raise CaseFailed(FailureKind.EXCEPTION, failed, remedy=remedy)

    def _asked(self, given: object) -> tuple[str, dict[str, object]]:
        if isinstance(given, dict) and not self._tool and isinstance(given.get("tool"), str):
            arguments = given.get("arguments") or {}
            return str(given["tool"]), arguments if isinstance(arguments, dict) else {"value": arguments}
        if not self._tool:
            raise CaseFailed(
                FailureKind.SERIALISATION,
                "the case's input names no tool",
                remedy=f'Write input: {{"tool": NAME, "arguments": {{…}}}} or {LIST}, or give config `tool:`.',
            )
        if isinstance(given, dict):
            return self._tool, given
        schema = self._tools[self._tool].get("inputSchema") or {}
        names = schema.get("required") or list(schema.get("properties") or {}) or ["input"]
        return self._tool, {str(names[0]): given}


def _content(result: Mapping[str, Any]) -> object:
    if result.get("structuredContent") is not None:
        return result["structuredContent"]
    parts = result.get("content") or []
    return _text(result) if all(part.get("type") == "text" for part in parts) else parts


def _text(result: Mapping[str, Any]) -> str:
    return "\n".join(str(part.get("text", "")) for part in result.get("content") or () if part.get("type") == "text")


def _output_problems(result: Mapping[str, Any], tool: Mapping[str, Any] | None) -> list[str]:
    schema = (tool or {}).get("outputSchema")
    if schema is None:
        return []
    if result.get("structuredContent") is None:
        return ["the tool declares an output schema and answers without structured content"]
    return _problems(result["structuredContent"], schema, "answer")


def _problems(value: Any, schema: object, what: str) -> list[str]:
    """Where a value does not fit a schema; one that is itself wrong is told when tools are listed."""
    if not isinstance(schema, Mapping) or _schema_error(schema) is not None:
        return []
    from jsonschema.validators import validator_for

    checker = validator_for(schema)(dict(schema))
    found = [
        f"{what}{error.json_path.removeprefix('$')}: {error.message}"[:500] for error in checker.iter_errors(value)
    ]
    return found[:MOST_PROBLEMS]


def _invalid_schemas(tool: Mapping[str, Any]) -> list[str]:
    if not isinstance(tool.get("inputSchema"), Mapping):
        return [f"{tool.get('name')} has no input schema"]
    schemas = {name: tool[name] for name in ("inputSchema", "outputSchema") if isinstance(tool.get(name), Mapping)}
    wrong = {name: _schema_error(schema) for name, schema in schemas.items()}
    return [f"{tool.get('name')}.{name}: {error}" for name, error in wrong.items() if error]


def _schema_error(schema: Mapping[str, Any]) -> str | None:
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for

    try:
        validator_for(schema).check_schema(dict(schema))
    except SchemaError as error:
        return error.message[:500]
    return None


def _note(recorder: Recorder, problems: list[str]) -> None:
    recorder.measured["schema_problems"] = float(len(problems))
    for problem in problems:
        recorder.event("note", "schema", problem)
