"""Agents that speak A2A over JSON-RPC, versions 0.3 and 1.0: found by their card, asked by messages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from agentdyno.agents.endpoints.failures import EndpointCaller, wire_failure
from agentdyno.agents.hosting.recorder import Recorder, recording
from agentdyno.agents.protocols.json_rpc import HttpRpc, RpcError, RpcLost
from agentdyno.contracts import CaseFailed
from agentdyno.errors import RunError
from agentdyno.model.case import Case, Response, as_text
from agentdyno.model.identity import digest
from agentdyno.model.sample import FailureKind
from agentdyno.wire.address import Address
from agentdyno.wire.errors import WireError
from agentdyno.wire.exchange import exchange
from agentdyno.wire.pool import Pool
from agentdyno.wire.request import Request

CARDS = ("/.well-known/agent-card.json", "/.well-known/agent.json")
"""Where an agent says what it is; the second is that of older versions."""
POLL_S = 0.1
_GOES_ON = ("submitted", "working")
_FAILED = ("failed", "rejected", "canceled", "cancelled", "auth_required")


class A2aAgent:
    """``url`` is where the agent's card lies, or the address of its card itself.

    The turns of a case share a context. A task is followed until it ends or wants something; its answer are its
    artifacts, else what it said last: data where there is data, else text.
    """

    def __init__(self, name: str, *, url: str, version: str = "") -> None:
        address = Address.parse(url)
        self.name, self.paid = name, not address.private
        self.config: Mapping[str, object] = {"url": address.endpoint("")}
        self.version = version or digest(self.config, 12)
        self._url = url.rstrip("/")
        self._pool = Pool()
        self._rpc: HttpRpc | None = None
        self._is_new = False
        self._about: dict[str, object] = {}

    async def start(self) -> None:
        """Reads the card; raises ``RunError`` where there is none or it offers no JSON-RPC."""
        card = await self._card()
        interfaces = [item for item in card.get("supportedInterfaces") or () if isinstance(item, dict)]
        rpc = next((item for item in interfaces if item.get("protocolBinding") == "JSONRPC"), None)
        self._is_new = rpc is not None and not str(rpc.get("protocolVersion", "1")).startswith("0.")
        url = rpc["url"] if rpc else card.get("url")
        if not isinstance(url, str) or str(card.get("preferredTransport", "JSONRPC")) != "JSONRPC":
            raise RunError(
                "the agent's card names no address for JSON-RPC",
                where=f"agent {self.name}",
                remedy="Only the JSON-RPC binding of A2A is spoken here.",
            )
        self._rpc = HttpRpc(url, {"A2A-Version": "1.0"} if self._is_new else {})
        self._about = {
            "agent": f"{card.get('name', '')} {card.get('version', '')}".strip(),
            "protocol": "1.0" if self._is_new else str(card.get("protocolVersion") or "0.3"),
        }

    async def run(self, case: Case) -> Response:
        with recording() as recorder:
            recorder.observed.update(self._about)
            output: object = None
            context: str | None = None
            for turn in case.turns or (case.input,):
                recorder.event("message", "user", turn)
                try:
                    output, context = await self._ask(turn, context)
                except WireError as error:
                    raise wire_failure(error, EndpointCaller(reached=True), recorder.response(None)) from None
                except (RpcError, RpcLost) as error:
                    raise _failed(recorder, str(error)) from None
                except CaseFailed as failed:
                    failed.response = recorder.response(None)
                    raise
                recorder.event("message", "assistant", output)
            return recorder.response(output)

    async def close(self) -> None:
        await self._pool.close()
        if self._rpc is not None:
            await self._rpc.close()

    async def _card(self) -> dict[str, Any]:
        tried = [self._url] if urlsplit(self._url).path.endswith(".json") else [self._url + path for path in CARDS]
        why = ""
        for url in tried:
            try:
                answer = await exchange(Request(Address.parse(url), "", "GET"), self._pool)
                card = json.loads(answer.body.data) if answer.ok else None
            except WireError as error:
                why = error.message
                continue
            except ValueError:
                card = None
            if isinstance(card, dict):
                return card
            why = f"status {answer.status}" if not answer.ok else "it is no JSON object"
        raise RunError(
            f"no agent card at {tried[0]}: {why}",
            where=f"agent {self.name}",
            remedy="Give the address below which /.well-known/agent-card.json lies, or that of the card.",
        )

    async def _ask(self, given: object, context: str | None) -> tuple[object, str | None]:
        assert self._rpc is not None, "its start comes first"
        message: dict[str, object] = {"messageId": uuid4().hex, "role": "ROLE_USER" if self._is_new else "user"}
        part: dict[str, object] = {"text": as_text(given)}
        message["parts"] = [part if self._is_new else {"kind": "text", **part}]
        if not self._is_new:
            message["kind"] = "message"
        if context is not None:
            message["contextId"] = context
        told = await self._rpc.call("SendMessage" if self._is_new else "message/send", {"message": message})
        told = told.get("task") or told.get("message") or told
        while _state(told) in _GOES_ON:
            await asyncio.sleep(POLL_S)
            told = await self._rpc.call("GetTask" if self._is_new else "tasks/get", {"id": told["id"]})
            told = told.get("task") or told
        if _state(told) in _FAILED:
            said = _content(_parts((told.get("status") or {}).get("message") or {}))
            raise CaseFailed(FailureKind.EXCEPTION, f"the task {_state(told)}: {as_text(said or '')}".rstrip(": "))
        return _answer(told), told.get("contextId") or context


def _failed(recorder: Recorder, message: str) -> CaseFailed:
    return CaseFailed(FailureKind.EXCEPTION, message, response=recorder.response(None))


def _state(told: Mapping[str, Any]) -> str:
    """``completed`` of both ``completed`` and ``TASK_STATE_COMPLETED``; "" of a message."""
    return str((told.get("status") or {}).get("state", "")).removeprefix("TASK_STATE_").lower().replace("-", "_")


def _answer(told: Mapping[str, Any]) -> object:
    if "status" not in told:
        return _content(_parts(told))
    made = [part for artifact in told.get("artifacts") or () for part in _parts(artifact)]
    return _content(made or list(_parts((told.get("status") or {}).get("message") or {})))


def _parts(holder: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from (part for part in holder.get("parts") or () if isinstance(part, Mapping))


def _content(parts: Iterator[Mapping[str, Any]] | list[Mapping[str, Any]]) -> object:
    found = list(parts)
    data = [part["data"] for part in found if part.get("data") is not None]
    if data:
        return data[0] if len(data) == 1 else data
    return "\n".join(str(part["text"]) for part in found if part.get("text") is not None)
