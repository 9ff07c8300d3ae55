"""Where a simulated server's requests are looked at: routes, refusals, and the start of every answer."""

from __future__ import annotations

import asyncio
import math
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import asdict, dataclass
from hashlib import blake2b
from time import perf_counter_ns, time_ns

from agentdyno.errors import SpecError
from agentdyno.servers.behaviour import Behaviour, parse_settings
from agentdyno.servers.chat_request import ChatRequest, read_ollama, read_openai
from agentdyno.servers.connection import FAULT_MESSAGE, Connection, TokenStream, WholeAnswer
from agentdyno.servers.frames import (
    Frames,
    OllamaFrames,
    OpenAIFrames,
    dump,
    ollama_error,
    openai_error,
    reported_model,
)
from agentdyno.servers.http_message import HttpRequest
from agentdyno.servers.script import Fault, Script, write_script
from agentdyno.servers.send_log import RequestRecord, SendLog
from agentdyno.servers.timetable import Timetable

OPENAI_CHAT, OLLAMA_CHAT = "/v1/chat/completions", "/api/chat"
DEFAULT_MODEL = "model"
VERSION = "0.0.0-simulated"
KNOWN_REQUESTS = 1_000_000
"""Requests whose repetitions are counted; beyond it counting starts anew."""


@dataclass(eq=False)
class Refusal(Exception):
    """Why a request gets no answer from the model. ``kind`` and ``code`` are the OpenAI protocol's."""

    status: int
    outcome: str
    message: str
    kind: str = "invalid_request_error"
    code: str | None = None
    retry_after_s: float | None = None


class RateLimit:
    """Allows ``per_s`` requests a second, and as many at once as come in one second (at least one)."""

    def __init__(self, per_s: float, clock_ns: Callable[[], int] = perf_counter_ns) -> None:
        self._per_s, self._clock_ns = per_s, clock_ns
        self._most = max(1.0, per_s)
        self._left, self._at_ns = self._most, clock_ns()

    def wait_s(self) -> float:
        """0 when a request may pass (and is counted), else the seconds until one may."""
        now_ns = self._clock_ns()
        self._left = min(self._most, self._left + (now_ns - self._at_ns) / 1e9 * self._per_s)
        self._at_ns = now_ns
        if self._left >= 1:
            self._left -= 1
            return 0.0
        return (1 - self._left) / self._per_s


class Desk:
    """Answers the requests of all connections of one server."""

    def __init__(self, behaviour: Behaviour, log: SendLog, timetable: Timetable) -> None:
        self._behaviour, self._log, self._timetable = behaviour, log, timetable
        self._limit = RateLimit(behaviour.rate_limit_per_s) if behaviour.rate_limit_per_s else None
        self._before: Counter[bytes] = Counter()
        self._connections: set[Connection] = set()
        self._waiting: deque[Connection] = deque()
        self._loop = asyncio.get_running_loop()
        self._empty = asyncio.Event()
        self._empty.set()
        self._routes: dict[tuple[str, str], Callable[[], tuple[bytes, str]]] = {
            ("GET", "/v1/models"): self._openai_models,
            ("GET", "/api/tags"): self._ollama_models,
            ("GET", "/api/version"): lambda: (dump({"version": VERSION, "simulated": True}), JSON),
            ("GET", "/health"): lambda: (dump({"status": "ok", "simulated": True}), JSON),
            ("GET", "/dyno/log"): lambda: (b"".join(self._log.lines()), "application/x-ndjson"),
            ("GET", "/dyno/stats"): lambda: (dump({**asdict(self._log.stats()), "simulated": True}), JSON),
            ("DELETE", "/dyno/log"): self._reset,
        }

    def look_at(self, connection: Connection) -> None:
        """Work on requests is put off, one in each turn of the event loop: reading one takes the time in which ten
        others arrive, and each of those is to be noted when it comes."""
        self._waiting.append(connection)
        if len(self._waiting) == 1:
            self._loop.call_soon(self._take_turn)

    def joined(self, connection: Connection) -> None:
        self._connections.add(connection)
        self._empty.clear()

    def left(self, connection: Connection) -> None:
        self._connections.discard(connection)
        if not self._connections:
            self._empty.set()

    def _take_turn(self) -> None:
        connection = self._waiting[0]
        try:
            connection.proceed()
        finally:
            self._waiting.popleft()
            if self._waiting:
                self._loop.call_soon(self._take_turn)

    async def leave(self) -> None:
        """Cuts all connections and waits until they are closed."""
        for connection in list(self._connections):
            connection.abort()
        await self._empty.wait()
        await asyncio.sleep(0)  # transports close their sockets after they have told us

    def forget(self) -> None:
        """Starts counting the repetitions of requests anew."""
        self._before.clear()

    def answer(self, connection: Connection, request: HttpRequest, received_ns: int) -> None:
        if request.method == "POST" and request.path in (OPENAI_CHAT, OLLAMA_CHAT):
            self._chat(connection, request, received_ns)
            return
        route = self._routes.get((request.method, request.path))
        if route is None:
            known = {path for _, path in self._routes} | {OPENAI_CHAT, OLLAMA_CHAT}
            status = 405 if request.path in known else 404
            text = f"{request.method} {request.path} is nothing that a simulated model serves"
            connection.respond(status, openai_error(text, "invalid_request_error", None), ("content-type", JSON))
            return
        if self._behaviour.api_key is not None and request.path == "/v1/models" and not self._is_known(request):
            connection.respond(
                401, openai_error(WRONG_KEY, "invalid_request_error", "invalid_api_key"), ("content-type", JSON)
            )
            return
        body, content_type = route()
        connection.respond(200, body, ("content-type", content_type))

    def _chat(self, connection: Connection, request: HttpRequest, received_ns: int) -> None:
        record = self._log.open(request.path, received_ns)
        try:
            chat, behaviour, script = self._admit(request, record)
        except Refusal as refusal:
            self._refuse(connection, refusal, record)
            return
        created_ms = time_ns() // 1_000_000
        frames: Frames
        if request.path == OPENAI_CHAT:
            frames = OpenAIFrames(chat, script, record.request_id, created_ms)
        else:
            frames = OllamaFrames(chat, script, behaviour.load_s, created_ms)
        record.status = 200
        if chat.stream:
            stream = TokenStream(connection, frames, script, record, self._log, behaviour.truncate_clean)
            self._timetable.add(received_ns + script.first_ns, stream)
        else:
            whole = WholeAnswer(connection, frames, script, record, self._log)
            self._timetable.add(received_ns + script.last_ns, whole)

    def _admit(self, request: HttpRequest, record: RequestRecord) -> tuple[ChatRequest, Behaviour, Script]:
        behaviour = self._behaviour
        if behaviour.api_key is not None and not self._is_known(request):
            raise Refusal(401, "unauthorised", WRONG_KEY, code="invalid_api_key")
        wait_s = self._limit.wait_s() if self._limit else 0.0
        if wait_s:
            given = behaviour.retry_after_s
            raise Refusal(
                429,
                "rate_limited",
                f"rate limit reached: {behaviour.rate_limit_per_s:g} requests per second",
                kind="rate_limit_error",
                code="rate_limit_exceeded",
                retry_after_s=wait_s if given is None else given,
            )
        try:
            chat = read_openai(request.body) if request.path == OPENAI_CHAT else read_ollama(request.body)
            header = parse_settings(request.headers.get("x-dyno-behaviour", ""))
            behaviour = behaviour.overridden({**header, **chat.settings})
        except SpecError as error:
            raise Refusal(400, "refused", error.message) from None
        record.model, record.stream, record.input_tokens = reported_model(chat.model), chat.stream, chat.input_tokens
        self._check(chat, behaviour)
        digest = blake2b(request.path.encode() + request.body, digest_size=8).digest()
        if len(self._before) > KNOWN_REQUESTS:
            self._before.clear()
        script = write_script(chat, behaviour, self._before[digest])
        self._before[digest] += 1
        if script.fault is Fault.ERROR:
            outcome = "rate_limited" if behaviour.error_status == 429 else "error"
            raise Refusal(
                behaviour.error_status, outcome, FAULT_MESSAGE, "server_error", retry_after_s=behaviour.retry_after_s
            )
        return chat, behaviour, script

    def _check(self, chat: ChatRequest, behaviour: Behaviour) -> None:
        models = behaviour.models
        if models is not None and chat.model not in models and reported_model(chat.model) not in models:
            raise Refusal(404, "not_found", f"model {chat.model!r} not found", code="model_not_found")
        limit = behaviour.context_limit
        if limit is not None and chat.input_tokens > limit:
            text = f"the prompt has {chat.input_tokens} tokens; the maximum context length is {limit} tokens"
            raise Refusal(400, "context", text, code="context_length_exceeded")

    def _refuse(self, connection: Connection, refusal: Refusal, record: RequestRecord) -> None:
        record.status = refusal.status
        if record.path == OPENAI_CHAT:
            body = openai_error(refusal.message, refusal.kind, refusal.code)
        else:
            body = ollama_error(refusal.message)
        headers = [("content-type", JSON), ("x-dyno-request", record.request_id)]
        if refusal.retry_after_s is not None:
            headers.append(("retry-after", str(math.ceil(refusal.retry_after_s))))
            headers.append(("retry-after-ms", str(math.ceil(refusal.retry_after_s * 1000))))
        self._log.close(record, refusal.outcome, perf_counter_ns())
        connection.respond(refusal.status, body, *headers)

    def _is_known(self, request: HttpRequest) -> bool:
        return request.headers.get("authorization", "") == f"Bearer {self._behaviour.api_key}"

    def _model_names(self) -> list[str]:
        return [reported_model(name) for name in self._behaviour.models or (DEFAULT_MODEL,)]

    def _openai_models(self) -> tuple[bytes, str]:
        items = [
            {"id": name, "object": "model", "created": 0, "owned_by": "agentdyno"} for name in self._model_names()
        ]
        return dump({"object": "list", "data": items, "simulated": True}), JSON

    def _ollama_models(self) -> tuple[bytes, str]:
        items = [{"name": name, "model": name, "size": 0, "details": {}} for name in self._model_names()]
        return dump({"models": items, "simulated": True}), JSON

    def _reset(self) -> tuple[bytes, str]:
        self._log.reset()
        self.forget()
        return dump({"reset": True, "simulated": True}), JSON


JSON = "application/json"
WRONG_KEY = "the API key is missing or wrong"
