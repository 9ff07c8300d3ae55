"""Where a simulated server's requests are looked at: routes, refusals, and the start of every answer."""

from __future__ import annotations

import asyncio
import math
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import asdict, replace
from hashlib import blake2b
from time import perf_counter_ns, time_ns

from agentdyno.errors import SpecError
from agentdyno.servers.http_message import HttpRequest
from agentdyno.servers.simulated.admission import WRONG_KEY, Admission, Refusal, refuse_by_fault
from agentdyno.servers.simulated.answer_bytes import (
    Frames,
    OllamaFrames,
    OpenAIFrames,
    PlainFrames,
    dump,
    ollama_error,
    openai_error,
    reported_model,
)
from agentdyno.servers.simulated.behaviour import Behaviour
from agentdyno.servers.simulated.chat_request import ReceivedChat, read_load, read_ollama, read_openai
from agentdyno.servers.simulated.connection import ServerConnection
from agentdyno.servers.simulated.fault_plan import Fault
from agentdyno.servers.simulated.loaded_models import LoadedModels
from agentdyno.servers.simulated.replies import (
    PAGE,
    LateHead,
    Silence,
    SimulatedExchange,
    TokenStream,
    Trickle,
    WholeAnswer,
)
from agentdyno.servers.simulated.script import Script, write_plain_script, write_script
from agentdyno.servers.simulated.send_log import RequestRecord, SendLog, ServerStats
from agentdyno.servers.simulated.timetable import Timetable

OPENAI_CHAT, OLLAMA_CHAT = "/v1/chat/completions", "/api/chat"
OLLAMA_LOAD = "/api/generate"
PLAIN = "/plain"
"""Answers any GET, POST or PUT after ``service_s``."""
DEFAULT_MODEL = "model"
VERSION = "0.0.0-simulated"
KNOWN_REQUESTS = 1_000_000
"""Requests whose repetitions are counted; beyond it counting starts anew."""


class RequestRouter:
    """Answers the requests of all connections of one server."""

    def __init__(self, behaviour: Behaviour, log: SendLog, timetable: Timetable) -> None:
        self._behaviour, self._log, self._timetable = behaviour, log, timetable
        self._admission = Admission(behaviour)
        self._loaded = LoadedModels(behaviour.models)
        self._before: Counter[bytes] = Counter()
        self._connections: set[ServerConnection] = set()
        self._waiting: deque[ServerConnection] = deque()
        self._loop = asyncio.get_running_loop()
        self._empty = asyncio.Event()
        self._empty.set()
        self._routes: dict[tuple[str, str], Callable[[], tuple[bytes, str]]] = {
            ("GET", "/v1/models"): self._openai_models,
            ("GET", "/api/tags"): self._ollama_models,
            ("GET", "/api/ps"): lambda: (dump({"models": self._loaded.rows(), "simulated": True}), JSON),
            ("GET", "/api/version"): lambda: (dump({"version": VERSION, "simulated": True}), JSON),
            ("GET", "/health"): lambda: (dump({"status": "ok", "simulated": True}), JSON),
            ("GET", "/dyno/log"): lambda: (b"".join(self._log.lines()), "application/x-ndjson"),
            ("GET", "/dyno/stats"): lambda: (dump({**asdict(self.stats()), "simulated": True}), JSON),
            ("DELETE", "/dyno/log"): self._reset,
        }

    def look_at(self, connection: ServerConnection) -> None:
        """Work on requests is put off, one in each turn of the event loop: reading one takes the time in which ten
        others arrive, and each of those is to be noted when it comes."""
        self._waiting.append(connection)
        if len(self._waiting) == 1:
            self._loop.call_soon(self._take_turn)

    def joined(self, connection: ServerConnection) -> None:
        self._connections.add(connection)
        self._empty.clear()

    def left(self, connection: ServerConnection) -> None:
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
        """Starts counting the repetitions of requests anew, and the plan of faults."""
        self._before.clear()
        self._admission.forget()
        self._loaded.forget()

    def stats(self) -> ServerStats:
        slots = self._admission.slots
        queued, peak = (slots.queued, slots.peak_queued) if slots else (0, 0)
        return replace(self._log.stats(), queued=queued, peak_queued=peak, faults_left=self._admission.faults_left)

    def answer(self, connection: ServerConnection, request: HttpRequest, received_ns: int) -> None:
        if request.method == "POST" and request.path in (OPENAI_CHAT, OLLAMA_CHAT):
            self._chat(connection, request, received_ns)
            return
        if request.method == "POST" and request.path == OLLAMA_LOAD:
            self._load(connection, request)
            return
        if request.path == PLAIN and request.method in ("GET", "POST", "PUT"):
            self._plain(connection, request, received_ns)
            return
        route = self._routes.get((request.method, request.path))
        if route is None:
            known = {path for _, path in self._routes} | {OPENAI_CHAT, OLLAMA_CHAT, OLLAMA_LOAD, PLAIN}
            status = 405 if request.path in known else 404
            text = f"{request.method} {request.path} is nothing that a simulated model serves"
            connection.respond(status, openai_error(text, "invalid_request_error", None), ("content-type", JSON))
            return
        if (
            self._behaviour.api_key is not None
            and request.path == "/v1/models"
            and not self._admission.is_known(request)
        ):
            connection.respond(
                401, openai_error(WRONG_KEY, "invalid_request_error", "invalid_api_key"), ("content-type", JSON)
            )
            return
        body, content_type = route()
        connection.respond(200, body, ("content-type", content_type))

    def _chat(self, connection: ServerConnection, request: HttpRequest, received_ns: int) -> None:
        record = self._log.open(request.path, received_ns)
        record.input_bytes = len(request.body)
        try:
            self._admission.let_in(request)
            chat, behaviour = self._read(request, record)
            if request.path == OLLAMA_CHAT and not self._loaded.serve(chat):
                behaviour = replace(behaviour, load_s=0.0)
            script = self._script(request, chat, behaviour)
            refuse_by_fault(script.fault, behaviour)
        except Refusal as refusal:
            self._refuse(connection, refusal, record)
            return
        created_ms = time_ns() // 1_000_000
        frames: Frames
        if request.path == OPENAI_CHAT:
            frames = OpenAIFrames(chat, script, record.request_id, created_ms)
        else:
            frames = OllamaFrames(chat, script, behaviour.load_s, created_ms)
        exchange = SimulatedExchange(connection, frames, script, record, self._log, behaviour.truncate_clean)
        self._begin(exchange, chat.stream, round(behaviour.head_delay_s * 1e9))

    def _load(self, connection: ServerConnection, request: HttpRequest) -> None:
        """Loads or unloads a model, at once: how long that takes is told by the next answer."""
        kind = ("content-type", JSON)
        try:
            load = read_load(request.body)
        except SpecError as error:
            connection.respond(400, ollama_error(error.message), kind)
            return
        try:
            reason = self._loaded.obey(load)
        except SpecError as error:
            connection.respond(404, ollama_error(error.message), kind)
            return
        told = {"model": reported_model(load.model), "response": "", "done": True, "done_reason": reason}
        connection.respond(200, dump({**told, "simulated": True}), kind)

    def _plain(self, connection: ServerConnection, request: HttpRequest, received_ns: int) -> None:
        record = self._log.open(request.path, received_ns)
        try:
            self._admission.let_in(request)
            behaviour = self._admission.overridden(request, {})
            script = write_plain_script(behaviour, self._admission.planned(behaviour))
            refuse_by_fault(script.fault, behaviour)
        except Refusal as refusal:
            self._refuse(connection, refusal, record)
            return
        self._begin(SimulatedExchange(connection, PlainFrames(), script, record, self._log), False, 0)

    def _begin(self, exchange: SimulatedExchange, stream: bool, head_delay_ns: int) -> None:
        """Starts the answer: at once, or when a slot is free."""
        record, script = exchange.record, exchange.script
        received_ns = record.received_ns
        record.status = 200
        if script.fault is Fault.TIMEOUT:
            Silence(exchange)
        elif script.fault is Fault.HTML:
            self._log.close(record, script.fault.value, perf_counter_ns())
            exchange.connection.respond(200, PAGE, ("content-type", "text/html"))
        elif script.fault is Fault.ENDLESS:
            if not stream:
                exchange.frames = PlainFrames()  # white space goes on for ever
            self._timetable.add(received_ns + script.first_ns, Trickle(exchange))
        elif not stream:
            self._serve(exchange, WholeAnswer(exchange), script.last_ns)
        else:
            reply = TokenStream(exchange)
            if head_delay_ns:
                self._timetable.add(received_ns + head_delay_ns, LateHead(exchange))
            else:
                exchange.send_head()
            self._serve(exchange, reply, script.first_ns)

    def _serve(self, exchange: SimulatedExchange, reply: TokenStream | WholeAnswer, after_ns: int) -> None:
        """``reply`` is due ``after_ns`` from when the request is served."""
        if self._admission.slots is None:
            self._timetable.add(exchange.record.received_ns + after_ns, reply)
            return

        def begin(at_ns: int) -> None:
            exchange.record.started_ns = at_ns
            self._timetable.add(at_ns + after_ns, reply)

        exchange.ticket = self._admission.slots.enter(begin, exchange.record.received_ns)

    def _read(self, request: HttpRequest, record: RequestRecord) -> tuple[ReceivedChat, Behaviour]:
        try:
            chat = read_openai(request.body) if request.path == OPENAI_CHAT else read_ollama(request.body)
        except SpecError as error:
            raise Refusal(400, "refused", error.message) from None
        behaviour = self._admission.overridden(request, chat.settings)
        record.model, record.stream, record.input_tokens = reported_model(chat.model), chat.stream, chat.input_tokens
        self._admission.check(chat, behaviour)
        return chat, behaviour

    def _script(self, request: HttpRequest, chat: ReceivedChat, behaviour: Behaviour) -> Script:
        digest = blake2b(request.path.encode() + request.body, digest_size=8).digest()
        if len(self._before) > KNOWN_REQUESTS:
            self._before.clear()
        script = write_script(chat, behaviour, self._before[digest], self._admission.planned(behaviour))
        self._before[digest] += 1
        return script

    def _refuse(self, connection: ServerConnection, refusal: Refusal, record: RequestRecord) -> None:
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
