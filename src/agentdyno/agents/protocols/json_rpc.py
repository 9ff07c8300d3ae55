"""JSON-RPC 2.0 with a child process, line by line, or with a server over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import subprocess
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Protocol

from agentdyno.agents.endpoints.failures import EndpointCaller, status_failure
from agentdyno.errors import RunError
from agentdyno.wire import sse
from agentdyno.wire.address import Address
from agentdyno.wire.exchange import exchange
from agentdyno.wire.pool import Pool
from agentdyno.wire.request import json_request

LONGEST_LINE = 64 * 1024 * 1024
NO_SUCH_METHOD = -32601
CLOSE_S = 5.0
"""Seconds that a process has to end by itself after its input has ended."""
_SESSION = "mcp-session-id"


class RpcError(Exception):
    """An error that the other side answered with; ``code`` is one of JSON-RPC or its own."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{message} (error {code})")
        self.code = code


class RpcLost(Exception):
    """The other side has gone, or does not speak JSON-RPC."""


class RpcConnection(Protocol):
    """``call`` waits for the result of a method; ``notify`` expects none."""

    async def open(self) -> None: ...

    async def call(self, method: str, params: Mapping[str, object]) -> dict[str, Any]: ...

    async def notify(self, method: str, params: Mapping[str, object]) -> None: ...

    async def close(self) -> None: ...


class ProcessRpc:
    """A command that reads requests from its standard input and writes answers to its standard output."""

    def __init__(self, argv: Sequence[str], cwd: str, environ: Mapping[str, str]) -> None:
        self._argv, self._cwd, self._environ = list(argv), cwd, dict(environ)
        self._ids = count(1)
        self._waiting: dict[object, asyncio.Future[dict[str, Any]]] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._reading: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Starts the process. Raises ``RunError`` where that cannot be done."""
        ours, theirs = socket.socketpair()
        try:
            self._process = subprocess.Popen(
                self._argv,
                cwd=self._cwd,
                env=self._environ,
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            ours.close()
            raise RunError(f"cannot start {self._argv[0]}: {error.strerror}", where=self._cwd) from None
        finally:
            theirs.close()
        self._reader, self._writer = await asyncio.open_connection(sock=ours, limit=LONGEST_LINE)
        self._reading = asyncio.create_task(self._read())

    async def call(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        if self._reading is None or self._reading.done():
            raise RpcLost(self._how_it_ended())
        number = next(self._ids)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            await self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)})
            return result_of(await answer)
        finally:
            self._waiting.pop(number, None)

    async def notify(self, method: str, params: Mapping[str, object]) -> None:
        await self._send({"jsonrpc": "2.0", "method": method, "params": dict(params)})

    async def close(self) -> None:
        if self._process is None:
            return
        if self._reading is not None:
            self._writer.close()
            self._reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._reading
        try:
            await asyncio.to_thread(self._process.wait, CLOSE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)

    async def _send(self, message: Mapping[str, object]) -> None:
        try:
            self._writer.write(json.dumps(message).encode() + b"\n")
            await self._writer.drain()
        except OSError:
            raise RpcLost(self._how_it_ended()) from None

    async def _read(self) -> None:
        why = ""
        try:
            while line := await self._reader.readline():
                with contextlib.suppress(ValueError):  # what it prints beside the protocol is not for us
                    await self._take(json.loads(line))
        except (OSError, ValueError, RpcLost) as error:
            why = str(error)
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(RpcLost(why or self._how_it_ended()))

    async def _take(self, message: object) -> None:
        if not isinstance(message, dict):
            return
        answer = self._waiting.get(message.get("id"))
        if "method" not in message and answer is not None and not answer.done():
            answer.set_result(message)
        elif "method" in message and "id" in message:  # it asks us something
            told: dict[str, object] = {"result": {}}
            if message["method"] != "ping":
                told = {"error": {"code": NO_SUCH_METHOD, "message": "not offered here"}}
            await self._send({"jsonrpc": "2.0", "id": message["id"], **told})

    def _how_it_ended(self) -> str:
        status = self._process.poll() if self._process is not None else None
        return "the process closed its output" if status is None else f"the process ended with status {status}"


class HttpRpc:
    """A server that takes one request a POST and answers with JSON or with one stream of events."""

    def __init__(self, url: str, headers: Mapping[str, str] | None = None) -> None:
        self._address = Address.parse(url)
        self._headers = tuple((headers or {}).items())
        self._pool = Pool()
        self._ids = count(1)
        self._session: str | None = None

    async def open(self) -> None:
        """Nothing: connections are made when they are needed."""

    async def call(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        number = next(self._ids)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)}
        for found in await self._post(message):
            if found.get("id") == number and "method" not in found:
                return result_of(found)
        raise RpcLost("the server's answer holds no answer to the request")

    async def notify(self, method: str, params: Mapping[str, object]) -> None:
        await self._post({"jsonrpc": "2.0", "method": method, "params": dict(params)})

    async def close(self) -> None:
        await self._pool.close()

    async def _post(self, message: Mapping[str, object]) -> list[dict[str, Any]]:
        session = ((_SESSION, self._session),) if self._session else ()
        answer = await exchange(
            json_request(self._address, "", message, headers=(*self._headers, *session)), self._pool
        )
        if not answer.ok:
            raise status_failure(answer, EndpointCaller())
        self._session = answer.headers.get(_SESSION) or self._session
        if not answer.body.data.strip():
            return []
        try:
            if answer.content_type == "text/event-stream":
                found = [json.loads(piece.data) for piece in sse.events(answer.body.data) if piece.data.strip()]
            else:
                found = [json.loads(answer.body.data)]
        except ValueError:
            raise RpcLost("the server's answer is no JSON") from None
        return [item for item in found if isinstance(item, dict)]


def result_of(message: Mapping[str, Any]) -> dict[str, Any]:
    """The result in an answer; raises ``RpcError`` for an error in it."""
    error = message.get("error")
    if isinstance(error, Mapping):
        raise RpcError(int(error.get("code") or 0), str(error.get("message", "")))
    result = message.get("result")
    return result if isinstance(result, dict) else {"value": result}
