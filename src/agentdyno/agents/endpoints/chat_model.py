"""A client for chat models, for agents of your own: each call is timed, counted and recorded for the case at hand."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agentdyno.agents.endpoints.failures import EndpointCaller, is_about_model, status_failure, wire_failure
from agentdyno.agents.hosting.recorder import current
from agentdyno.contracts import CaseFailed
from agentdyno.errors import SpecError, nearest
from agentdyno.model.case import Response, Usage
from agentdyno.model.sample import FailureKind
from agentdyno.wire.address import Address
from agentdyno.wire.chat import ChatDialect, ChatRequest, Completion, ToolCall, decode
from agentdyno.wire.errors import WireError
from agentdyno.wire.exchange import Exchange, ExchangeLimits, exchange, partial_answer
from agentdyno.wire.ndjson import parse_json
from agentdyno.wire.openai import OPENAI
from agentdyno.wire.pool import Pool
from agentdyno.wire.request import Request, json_request

__all__ = ["ChatModel", "ChatReply", "ToolCall"]

SIMULATED_HEADER = "x-dyno-simulated"
_MODEL_LIST_TIMEOUT_S = 3.0

Messages = str | Sequence[Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What the model answered. ``readings`` are seconds and rates (``ttft_s``, ``itl_s``, ``server.*``…).

    ``finish_reason`` is the server's word (``stop``, ``length``, ``tool_calls``…). ``model`` and ``observed`` are
    what the server reports of itself.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    model: str = ""
    finish_reason: str | None = None
    readings: Mapping[str, float] = field(default_factory=dict)
    simulated: bool = False
    observed: Mapping[str, object] = field(default_factory=dict)
    reasoning: str = ""


class ChatModel:
    """One model at one endpoint. Calls may overlap; connections are kept between them.

    ``base_url`` includes the version (``http://localhost:8080/v1``). ``api_key_env`` names the environment variable
    with the key. ``dialect`` is ``openai`` or ``ollama`` (whose ``base_url`` has no version). ``options``
    (temperature, max_tokens…) go with every call, ``extra`` are further fields of the request. Failures are raised as
    ``CaseFailed``: let it pass, and the case is retried or recorded as it should be.
    """

    def __init__(
        self,
        base_url: str,
        model: str = "",
        *,
        api_key_env: str | None = None,
        options: Mapping[str, object] | None = None,
        environ: Mapping[str, str] | None = None,
        dialect: ChatDialect | str = OPENAI,
        include_usage: bool = True,
        extra: Mapping[str, object] | None = None,
        limits: ExchangeLimits | None = None,
    ) -> None:
        self.address = Address.parse(base_url)
        self.model = model
        self._api_key_env = api_key_env
        self._options = dict(options or {})
        self._environ = os.environ if environ is None else environ
        self._dialect = dialect if isinstance(dialect, ChatDialect) else _dialect_named(dialect)
        self._include_usage = include_usage
        self._extra = dict(extra or {})
        self._limits = limits or ExchangeLimits()
        self._pool = Pool()
        self._reached = False

    @property
    def missing_key(self) -> str | None:
        """The environment variable that should hold a key and does not; own machines and networks need none."""
        if self._api_key_env is None or self._key or self.address.private:
            return None
        return self._api_key_env

    async def chat(
        self,
        messages: Messages,
        *,
        tools: Sequence[Mapping[str, object]] | None = None,
        schema: Mapping[str, object] | None = None,
        options: Mapping[str, object] | None = None,
        stream: bool = True,
    ) -> ChatReply:
        """One answer. ``schema`` is a JSON Schema that it must satisfy; ``options`` override the model's own.

        Raises ``CaseFailed``, whose ``response`` holds what had arrived.
        """
        asked = ChatRequest(
            self.model,
            [{"role": "user", "content": messages}] if isinstance(messages, str) else messages,
            {**self._options, **(options or {})},
            tools,
            schema,
            stream,
            self._include_usage,
            self._extra,
        )
        self._require_key()
        try:
            request = json_request(
                self.address, self._dialect.path, self._dialect.body(asked), headers=self._headers()
            )
            answer = await exchange(request, self._pool, self._limits)
            if not answer.ok:
                current().simulated = current().simulated or is_simulated(answer)
                raise await self._refusal(answer)
            completion = await decode(self._dialect, answer)
        except WireError as error:
            raise wire_failure(error, self._caller(), await self._partial(error)) from error
        return self._reply(answer, completion)

    def ask(
        self,
        messages: Messages,
        *,
        tools: Sequence[Mapping[str, object]] | None = None,
        schema: Mapping[str, object] | None = None,
        options: Mapping[str, object] | None = None,
        stream: bool = True,
    ) -> ChatReply:
        """``chat`` for functions that are not ``async``."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.chat(messages, tools=tools, schema=schema, options=options, stream=stream))
        raise RuntimeError("ask() was called inside an event loop; use `await model.chat(…)` there")

    async def close(self) -> None:
        """Closes the connections that are kept; the model may be used again."""
        await self._pool.close()

    async def models(self) -> tuple[str, ...]:
        """The names of the models that the endpoint offers; empty where it does not say."""
        request = Request(self.address, self._dialect.models_path, "GET", self._headers())
        try:
            async with asyncio.timeout(_MODEL_LIST_TIMEOUT_S):
                answer = await exchange(request, self._pool, self._limits)
            return self._dialect.list_models(parse_json(answer.body.data, answer.endpoint)) if answer.ok else ()
        except (WireError, TimeoutError):
            return ()

    @property
    def _key(self) -> str:
        return self._environ.get(self._api_key_env, "").strip() if self._api_key_env else ""

    def _headers(self) -> tuple[tuple[str, str], ...]:
        return (("Authorization", f"Bearer {self._key}"),) if self._key else ()

    def _caller(self) -> EndpointCaller:
        return EndpointCaller(self.model, self._api_key_env, self._key, self._reached)

    def _require_key(self) -> None:
        if self.missing_key is not None:
            raise CaseFailed(
                FailureKind.HTTP_ERROR,
                f"{self.address.endpoint()} needs a key, and {self.missing_key} is not set",
                fatal=True,
                remedy=f"Set the environment variable {self.missing_key}.",
            )

    async def _refusal(self, answer: Exchange) -> CaseFailed:
        caller = self._caller()
        if not is_about_model(answer):
            return status_failure(answer, caller)
        remedy = f"Run `ollama pull {self.model}`." if self._dialect.name == "ollama" else ""
        return status_failure(answer, caller, known_models=await self.models(), remedy=remedy)

    async def _partial(self, error: WireError) -> Response | None:
        """What had arrived of an answer that broke off; it counts as a call."""
        answer = partial_answer(error)
        if answer is None or not answer.ok:
            return None
        completion = await decode(self._dialect, answer, cut_off=True)
        return self._record_broken(answer, completion)

    def _record_broken(self, answer: Exchange, completion: Completion) -> Response:
        recorder = current()
        recorder.observed.update(completion.observed)
        recorder.model_call(
            completion.model or None,
            completion.usage,
            duration_s=_duration_s(answer),
            simulated=is_simulated(answer),
        )
        return recorder.response(completion.text)

    def _reply(self, answer: Exchange, completion: Completion) -> ChatReply:
        where = answer.endpoint
        if completion.error is not None:
            said = self._caller().hide(completion.error)
            arrived = self._record_broken(answer, completion)
            raise CaseFailed(FailureKind.STREAM_ERROR, f"{where} reported: {said}", retryable=True, response=arrived)
        if not completion.finished:
            arrived = self._record_broken(answer, completion)
            message = f"{where}: the stream ended without a finish reason"
            raise CaseFailed(FailureKind.TRUNCATED, message, retryable=True, response=arrived)
        self._reached = True
        reply = ChatReply(
            text=completion.text,
            tool_calls=completion.tool_calls,
            usage=completion.usage,
            model=completion.model,
            finish_reason=completion.finish_reason,
            readings=completion.readings(answer.sent_ns),
            simulated=is_simulated(answer),
            observed=dict(completion.observed),
            reasoning=completion.reasoning,
        )
        _record(reply, _duration_s(answer))
        return reply


def _dialect_named(name: str) -> ChatDialect:
    from agentdyno.wire.ollama import OLLAMA

    known = {"openai": OPENAI, "ollama": OLLAMA}
    if name not in known:
        raise SpecError(f"no dialect {name!r}", remedy=nearest(name, known))
    return known[name]


def _record(reply: ChatReply, duration_s: float) -> None:
    recorder = current()
    recorder.observed.update(reply.observed)
    recorder.model_call(
        reply.model or None,
        reply.usage,
        duration_s=duration_s,
        readings=reply.readings,
        simulated=reply.simulated,
    )
    details: dict[str, object] = {"finish_reason": reply.finish_reason}
    if reply.reasoning:
        details["reasoning"] = reply.reasoning
    recorder.event("message", "assistant", reply.text, details=details)


def is_simulated(answer: Exchange) -> bool:
    """Whether the answer comes from a simulated server, which says so."""
    return answer.headers.get(SIMULATED_HEADER) == "1"


def _duration_s(answer: Exchange) -> float:
    return (answer.done_ns - answer.started_ns) / 1e9
