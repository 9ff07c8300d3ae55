"""Any endpoint that answers JSON, as an agent: a template says what is sent, paths say where the answer is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from urllib.parse import quote, urlsplit

from agentdyno.agents.endpoints.chat_model import is_simulated
from agentdyno.agents.endpoints.conversation import PLACEHOLDER
from agentdyno.agents.endpoints.failures import EndpointCaller, status_failure, wire_failure
from agentdyno.agents.hosting.recorder import Recorder, recording
from agentdyno.contracts import CaseFailed
from agentdyno.errors import RunError, SpecError, nearest
from agentdyno.model.case import MISSING_USAGE, Case, Message, Response, Usage, as_messages, as_text
from agentdyno.model.identity import digest
from agentdyno.model.sample import FailureKind
from agentdyno.wire import fields, ndjson, sse
from agentdyno.wire.address import Address
from agentdyno.wire.errors import WireError
from agentdyno.wire.exchange import Exchange, consume, exchange, partial_answer
from agentdyno.wire.pool import Pool
from agentdyno.wire.request import Request, json_request
from agentdyno.wire.sse import Piece
from agentdyno.wire.timing import measure

RAW = "$input"
MESSAGES = "$messages"
ENV = "env:"
STREAMS = {"sse": sse.events, "ndjson": ndjson.lines}
_MOST_PATHS = 8
"""Numbers of an answer that are named where a count of tokens was not found."""
_TOKENS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")


@dataclass(slots=True)
class _Answer:
    """What has been read: the last document, the text of the deltas, and when those arrived, in ns."""

    value: object = None
    text: list[str] = field(default_factory=list)
    content_ns: list[int] = field(default_factory=list)
    tokens: dict[str, int] = field(default_factory=dict)
    cost: float | None = None
    model: str = ""


class HttpJson:
    """Sends ``body`` with the case's input in it and reads the answer at ``output``.

    In ``body`` a text ``$input`` becomes the input itself, ``$messages`` the conversation so far, and ``{input}``
    inside a text the input as text; in ``url`` ``{input}`` is escaped. Values of ``headers`` may be ``env:NAME``.
    Paths look like ``choices.0.text``; ``usage`` has one for ``input_tokens`` and ``output_tokens`` each.
    ``stream`` is ``sse`` or ``ndjson``: the texts at ``delta`` of every event make the answer.
    """

    def __init__(
        self,
        name: str,
        *,
        url: str,
        method: str = "POST",
        headers: Mapping[str, str] | None = None,
        body: object = None,
        output: str = "",
        usage: Mapping[str, str] | None = None,
        cost: str = "",
        model: str = "",
        stream: str | None = None,
        delta: str = "",
        version: str = "",
        environ: Mapping[str, str] | None = None,
    ) -> None:
        if stream is not None and stream not in STREAMS:
            raise SpecError(f"there is no stream {stream!r}", where="stream", remedy=nearest(stream, STREAMS))
        for key in usage or {}:
            if key not in _TOKENS:
                raise SpecError(f"there is no usage {key!r}", where=f"usage.{key}", remedy=nearest(key, _TOKENS))
        self.name = name
        self._url = url
        self._method = method.upper()
        self._headers = {str(key): str(value) for key, value in (headers or {}).items()}
        self._body = {"input": RAW} if body is None else body
        self._output, self._cost, self._model, self._delta = output, cost, model, delta
        self._usage = dict(usage or {})
        self._stream = stream
        self._environ = os.environ if environ is None else environ
        self._pool = Pool()
        self._reached = False
        address, path = _target(url, "")
        self.paid = not address.private
        shown = {
            "url": address.endpoint(path),
            "method": self._method,
            "headers": {key: value if value.startswith(ENV) else "…" for key, value in self._headers.items()},
            "body": self._body,
            "output": output,
            "usage": self._usage,
            "cost": cost,
            "model": model,
            "stream": stream,
            "delta": delta,
        }
        self.config: Mapping[str, object] = {
            key: value for key, value in shown.items() if value not in (None, "", {})
        }
        self.version = version or digest(self.config, 12)

    async def start(self) -> None:
        """Raises ``RunError`` where a header's environment variable is not set."""
        for missing in self._missing():
            raise RunError(
                f"{missing} is not set", where=f"agent {self.name}", remedy=f"Set the environment variable {missing}."
            )

    async def run(self, case: Case) -> Response:
        for missing in self._missing():
            raise CaseFailed(
                FailureKind.HTTP_ERROR,
                f"{missing} is not set",
                fatal=True,
                remedy=f"Set the environment variable {missing}.",
            )
        with recording() as recorder:
            history: list[Message] = []
            output: object = None
            for turn in case.turns or (case.input,):
                history += as_messages(turn) or [{"role": "user", "content": turn}]
                recorder.event("message", "user", turn)
                output = await self._ask(turn, history, recorder)
                history.append({"role": "assistant", "content": as_text(output)})
                recorder.event("message", "assistant", output)
            return recorder.response(output)

    async def close(self) -> None:
        await self._pool.close()

    async def _ask(self, value: object, history: list[Message], recorder: Recorder) -> object:
        try:
            answer = await exchange(self._request(value, history), self._pool)
            recorder.simulated = recorder.simulated or is_simulated(answer)
            if not answer.ok:
                failed = status_failure(answer, self._caller())
                failed.response = recorder.response(None)
                raise failed
            read = await self._read(answer)
        except WireError as error:
            arrived = partial_answer(error)
            partial = arrived.body.data[:10_000].decode("utf-8", "replace") if arrived else None
            raise wire_failure(error, self._caller(), recorder.response(partial)) from error
        missing = [path for key, path in self._usage.items() if key not in read.tokens]
        # Of tokens that are known in part nothing is known: the rest would count as 0.
        usage = Usage(**read.tokens) if read.tokens and not missing else None
        if missing:
            recorder.observed[MISSING_USAGE] = (
                f"nothing at {' and '.join(missing)}; the answer has {_numbers_in(read.value)}"
            )
        timing = measure(answer.sent_ns, read.content_ns, usage.output_tokens if usage else None)
        recorder.model_call(
            read.model or None,
            usage,
            duration_s=(answer.done_ns - answer.started_ns) / 1e9,
            readings=timing.readings(),
        )
        if read.model:
            recorder.observed["model"] = read.model
        if read.cost is not None:
            recorder.cost = (recorder.cost or 0.0) + read.cost
        output = self._output_of(read, answer, recorder)
        self._reached = True
        return output

    def _request(self, value: object, history: list[Message]) -> Request:
        address, path = _target(self._url, as_text(value))
        headers = tuple((key, self._resolved(text)) for key, text in self._headers.items())
        if self._method in ("GET", "HEAD"):
            return Request(address, path, self._method, headers)
        return json_request(address, path, _fill(self._body, value, history), method=self._method, headers=headers)

    async def _read(self, answer: Exchange) -> _Answer:
        read = _Answer()

        def take(piece: Piece) -> None:
            if piece.data.strip() == "[DONE]":
                return
            value = ndjson.parse_json(piece.data, answer.endpoint) if self._delta or self._output else piece.data
            self._note(read, value)
            delta = pick_or_none(value, self._delta) if self._delta else value if not self._output else None
            if isinstance(delta, str) and delta:
                read.text.append(delta)
                read.content_ns.append(answer.body.arrival_ns(piece.end - 1))

        if self._stream is not None:
            await consume(STREAMS[self._stream](answer.body.data), take)
        elif self._output or "json" in answer.content_type:
            self._note(read, ndjson.parse_json(answer.body.data, answer.endpoint))
        else:
            self._note(read, answer.body.data.decode("utf-8", "replace"))
        return read

    def _note(self, read: _Answer, value: object) -> None:
        read.value = value
        for key, path in self._usage.items():
            tokens = fields.count({"found": pick_or_none(value, path)}, "found")
            if tokens is not None:
                read.tokens[key] = tokens
        cost = fields.number({"found": pick_or_none(value, self._cost)}, "found")
        read.cost = read.cost if cost is None else cost
        model = pick_or_none(value, self._model)
        read.model = model if isinstance(model, str) else read.model

    def _output_of(self, read: _Answer, answer: Exchange, recorder: Recorder) -> object:
        if self._stream is not None and (self._delta or not self._output):
            return "".join(read.text)
        try:
            return pick(read.value, self._output)
        except NotThere as error:
            raise CaseFailed(
                FailureKind.HTTP_ERROR,
                f"{answer.endpoint}: nothing at {self._output}: {error}",
                fatal=not self._reached,
                remedy="Is the path given as output right?",
                response=recorder.response(read.value),
            ) from None

    def _missing(self) -> list[str]:
        names = [text.removeprefix(ENV) for text in self._headers.values() if text.startswith(ENV)]
        return [name for name in names if not self._environ.get(name)]

    def _resolved(self, text: str) -> str:
        return self._environ.get(text.removeprefix(ENV), "").strip() if text.startswith(ENV) else text

    def _caller(self) -> EndpointCaller:
        named = [text.removeprefix(ENV) for text in self._headers.values() if text.startswith(ENV)]
        key = self._environ.get(named[0], "").strip() if named else ""
        return EndpointCaller(key_env=named[0] if named else None, key=key, reached=self._reached)


def _numbers_in(value: object) -> str:
    """The paths of the numbers in an answer, where a count of tokens may be looked for."""
    found = list(islice(_number_paths(value, ""), _MOST_PATHS + 1))
    more = ", …" if len(found) > _MOST_PATHS else ""
    return ", ".join(found[:_MOST_PATHS]) + more if found else "no number"


def _number_paths(value: object, path: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _number_paths(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and path:
        yield path


def _target(url: str, text: str) -> tuple[Address, str]:
    filled = url.replace(PLACEHOLDER, quote(text, safe=""))
    slash = "/" if urlsplit(filled).path.endswith("/") else ""
    return Address.parse(filled), slash


def _fill(template: object, value: object, history: list[Message]) -> object:
    if template == RAW:
        return value
    if template == MESSAGES:
        return [dict(message) for message in history]
    if isinstance(template, str):
        return template.replace(PLACEHOLDER, as_text(value))
    if isinstance(template, Mapping):
        return {str(key): _fill(item, value, history) for key, item in template.items()}
    if isinstance(template, (list, tuple)):
        return [_fill(item, value, history) for item in template]
    return template


_INDEX = re.compile(r"\[(-?[0-9]+)\]")


class NotThere(LookupError):
    """The path leads nowhere; the message says how far it went."""


def pick(value: object, path: str) -> object:
    """What is at ``path``; the whole value for an empty one. A number picks from a list, negative from its end."""
    found, walked = value, ""
    for part in _INDEX.sub(r".\1", path).strip(".").split(".") if path else ():
        if isinstance(found, dict) and part in found:
            found = found[part]
        elif isinstance(found, list) and _is_index(part, len(found)):
            found = found[int(part)]
        else:
            raise NotThere(f"there is no {part!r} in {walked or 'the answer'}, which is {_shape(found)}")
        walked = f"{walked}.{part}" if walked else part
    return found


def pick_or_none(value: object, path: str) -> object:
    """``None`` where the path is empty or leads nowhere."""
    try:
        return pick(value, path) if path else None
    except NotThere:
        return None


def _is_index(part: str, length: int) -> bool:
    return re.fullmatch(r"-?[0-9]{1,9}", part) is not None and -length <= int(part) < length


def _shape(value: object) -> str:
    if isinstance(value, dict):
        names = ", ".join(sorted(map(str, value))[:8])
        return f"an object with {names}" if names else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return "null" if value is None else repr(value)[:40]
