"""A call of a model as the recording proxy saw it, read from the bytes that passed by."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import pairwise

from agentdyno.model.case import SIMULATED_PREFIX, Usage
from agentdyno.servers.proxy.recorded import RecordedExchange
from agentdyno.wire import fields
from agentdyno.wire.chat import AnswerDialect, Completion, decode_now
from agentdyno.wire.errors import WireError
from agentdyno.wire.exchange import Exchange
from agentdyno.wire.head import Head
from agentdyno.wire.message import Body, MessageParser
from agentdyno.wire.openai import error_message

SECRET_HEADERS = ("authorization", "x-api-key", "api-key", "x-goog-api-key", "proxy-authorization", "cookie")
HIDDEN = "[REDACTED]"
SHORTEST_SECRET = 6
MOST_PREFIXES = 256
MOST_ERROR_CHARACTERS = 500
MOST_UNPACKED_BYTES = 256 * 1024 * 1024
"""Of one compressed answer; what unpacks to more is not read."""
SIMULATED_HEADER = "x-dyno-simulated"


@dataclass(frozen=True, slots=True)
class StreamGaps:
    """Seconds between events with content, of ``count`` gaps."""

    count: int
    median_s: float
    p95_s: float
    longest_s: float


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One request. ``api`` is the endpoint (``chat.completions``, ``responses``, ``completions``, ``embeddings``,
    ``messages``, ``ollama.chat``, ``ollama.generate``), "" for anything else.

    ``started_ns``: the request's head had come; ``connected_ns``: there was a connection to the target; ``sent_ns``:
    its last byte was sent on; ``first_byte_ns`` and ``done_ns``: first and last byte of the answer. ``ended`` as in
    ``RecordedExchange``. ``broken`` says why an answer with status 200 could not be read. ``retry`` is what the
    client says (``x-stainless-retry-count``). ``request_hash`` is the same for equal requests of one proxy;
    ``prefixes`` are (hash, bytes) of the prompt up to each of its parts. ``request`` and ``response`` are kept on
    request only.
    """

    api: str
    method: str
    path: str
    upstream: str
    started_ns: int
    connected_ns: int | None = None
    sent_ns: int | None = None
    first_byte_ns: int | None = None
    done_ns: int | None = None
    status: int | None = None
    ended: str = ""
    problem: str = ""
    streamed: bool = False
    model: str = ""
    model_asked: str = ""
    usage: Usage | None = None
    readings: Mapping[str, float] = field(default_factory=dict)
    first_content_ns: int | None = None
    gaps: StreamGaps | None = None
    finish_reason: str | None = None
    tool_calls: int = 0
    request_bytes: int = 0
    response_bytes: int = 0
    retry: int = 0
    retry_after_s: float | None = None
    request_hash: str = ""
    prefixes: tuple[tuple[str, int], ...] = ()
    simulated: bool = False
    error: str = ""
    broken: str = ""
    request: object = None
    response: object = None

    @property
    def ok(self) -> bool:
        """Whether there is a whole answer that is none of an error."""
        return self.status is not None and self.status < 400 and not (self.ended or self.broken or self.error)


@dataclass(frozen=True, slots=True)
class CallReader:
    """Turns exchanges into calls. ``salt`` keeps hashes of short texts from being guessed, ``full`` keeps bodies."""

    salt: bytes
    full: bool = False

    def read(self, exchange: RecordedExchange) -> ModelCall:
        parser = exchange.parsed()
        hide = _hiding(exchange.head.headers)
        head = parser.head
        call = ModelCall(
            api=exchange.api,
            method=hide(exchange.head.method[:20]),
            path=hide(exchange.path[:500]),
            upstream=exchange.upstream,
            started_ns=exchange.started_ns,
            connected_ns=exchange.connected_ns,
            sent_ns=exchange.sent_ns,
            first_byte_ns=parser.first_byte_ns,
            done_ns=parser.done_ns or (exchange.chunks[-1][0] if exchange.chunks else None),
            status=None if head is None else head.status,
            ended=exchange.ended,
            problem=exchange.problem,
            request_bytes=exchange.request_bytes,
            response_bytes=exchange.response_bytes,
            retry=_whole_number(exchange.head.headers.get("x-stainless-retry-count", "")),
            simulated=head is not None and head.headers.get(SIMULATED_HEADER) is not None,
        )
        if exchange.dialect is None:
            return call
        if head is not None:
            call = replace(call, retry_after_s=_seconds(head.headers.get("retry-after") or ""))
        call = self._with_request(call, b"".join(exchange.body), hide)
        if exchange.too_large:
            return replace(call, problem="too large to be read")
        if exchange.malformed:
            return replace(call, broken="its framing cannot be understood")
        return call if head is None else self._with_answer(call, exchange.dialect, parser, head, hide)

    def _with_request(self, call: ModelCall, raw: bytes, hide: Callable[[str], str]) -> ModelCall:
        value = _json(raw)
        return replace(
            call,
            model_asked=hide(fields.text(value, "model")[:200]),
            request_hash=self._hash(call.path.encode() + b"\0" + raw),
            prefixes=self._prefixes(value),
            request=_kept(raw, hide) if self.full else None,
        )

    def _with_answer(
        self, call: ModelCall, dialect: AnswerDialect, parser: MessageParser, head: Head, hide: Callable[[str], str]
    ) -> ModelCall:
        body = _decompressed(parser.body(), head.headers.get("content-encoding") or "")
        if body is None:
            return replace(call, problem=f"encoded as {head.headers.get('content-encoding')}, which is not read here")
        sent_ns = call.sent_ns or call.started_ns
        first_ns = call.first_byte_ns or sent_ns
        answer = Exchange(
            call.path, head.status, head.reason, head.headers, body, call.started_ns, sent_ns, first_ns, first_ns
        )
        if not answer.ok:
            message = error_message(_json(body.data)) or body.data[:MOST_ERROR_CHARACTERS].decode("utf-8", "replace")
            response = _kept(body.data, hide) if self.full else None
            return replace(call, error=hide(message[:MOST_ERROR_CHARACTERS]), response=response)
        broken = ""
        try:
            completion = decode_now(dialect, answer)
        except WireError as error:
            broken = "" if call.ended else hide(error.message[:MOST_ERROR_CHARACTERS])
            completion = decode_now(dialect, answer, cut_off=True)
        streamed = answer.content_type in dialect.stream_types
        found = _with_completion(call, completion, sent_ns, hide)
        response = (_said(completion, hide) if streamed else _kept(body.data, hide)) if self.full else None
        return replace(found, streamed=streamed, broken=broken, response=response)

    def _hash(self, data: bytes) -> str:
        return blake2b(data, key=self.salt, digest_size=8).hexdigest()

    def _prefixes(self, value: object) -> tuple[tuple[str, int], ...]:
        """Of what stands before the messages first, then of every message with all before it."""
        found: list[tuple[str, int]] = []
        digest, size = "", 0
        for part in _prompt_parts(value)[:MOST_PREFIXES]:
            text = part if isinstance(part, str) else json.dumps(part, sort_keys=True, ensure_ascii=False)
            raw = text.encode("utf-8", "surrogatepass")
            digest, size = self._hash(digest.encode() + raw), size + len(raw)
            found.append((digest, size))
        return tuple(found)


def _with_completion(call: ModelCall, found: Completion, sent_ns: int, hide: Callable[[str], str]) -> ModelCall:
    model = hide(found.model[:200])
    return replace(
        call,
        model=model,
        usage=found.usage,
        readings=found.readings(sent_ns),
        first_content_ns=found.content_ns[0] if found.content_ns else None,
        gaps=_gaps(found.content_ns),
        finish_reason=None if found.finish_reason is None else hide(found.finish_reason[:100]),
        tool_calls=len(found.tool_calls),
        simulated=call.simulated or model.startswith(SIMULATED_PREFIX),
        error="" if found.error is None else hide(found.error[:MOST_ERROR_CHARACTERS]),
    )


def _gaps(content_ns: tuple[int, ...]) -> StreamGaps | None:
    gaps = sorted((after - before) / 1e9 for before, after in pairwise(content_ns))
    if not gaps:
        return None
    return StreamGaps(len(gaps), gaps[len(gaps) // 2], gaps[min(len(gaps) - 1, len(gaps) * 95 // 100)], gaps[-1])


def _prompt_parts(value: object) -> list[object]:
    """What a model is told, in the order in which a cache of prefixes would see it."""
    if not isinstance(value, dict):
        return []
    around = [value[key] for key in ("tools", "system", "instructions") if value.get(key)]
    for key in ("messages", "input", "prompt"):
        said = value.get(key)
        if said:
            return [*around, *said] if isinstance(said, list) else [*around, said]
    return around


def _hiding(headers: Mapping[str, str]) -> Callable[[str], str]:
    """Takes the keys that a request carried out of a text."""
    secrets = set()
    for name in SECRET_HEADERS:
        value = headers.get(name, "")
        secrets |= {part for part in (value, *value.split()) if len(part) >= SHORTEST_SECRET}
    longest_first = sorted(secrets, key=len, reverse=True)

    def hide(text: str) -> str:
        for secret in longest_first:
            text = text.replace(secret, HIDDEN)
        return text

    return hide


def _kept(raw: bytes, hide: Callable[[str], str]) -> object:
    """A body as JSON where it is, else as text."""
    text = hide(raw.decode("utf-8", "replace"))
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


def _said(found: Completion, hide: Callable[[str], str]) -> dict[str, object]:
    """What a stream came to."""
    said: dict[str, object] = {"text": hide(found.text)}
    if found.reasoning:
        said["reasoning"] = hide(found.reasoning)
    if found.tool_calls:
        calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in found.tool_calls]
        said["tool_calls"] = json.loads(hide(json.dumps(calls)))
    return said


def _decompressed(body: Body, encoding: str) -> Body | None:
    """The body as it was before it was compressed, every piece with its time; ``None`` for an unknown encoding."""
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return body
    if name not in ("gzip", "x-gzip", "deflate"):
        return None
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 32)
    pieces: list[bytes] = []
    ends: list[int] = []
    start = 0
    try:
        for end in body.ends:
            unpacked = ends[-1] if ends else 0
            pieces.append(unpack.decompress(body.data[start:end], MOST_UNPACKED_BYTES - unpacked))
            ends.append(unpacked + len(pieces[-1]))
            start = end
            if unpack.unconsumed_tail:
                return None
    except zlib.error:
        return None
    return Body(b"".join(pieces), tuple(ends), body.stamps)


def _json(raw: bytes) -> object:
    try:
        value: object = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value


def _whole_number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 <= seconds < 1e6 else None
