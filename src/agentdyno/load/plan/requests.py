"""The requests of a load run, as the bytes that go over the wire: encoded before the first one is due."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from agentdyno.errors import SpecError, nearest
from agentdyno.load.plan.prompts import LONGEST, prompt_lengths, prompt_texts
from agentdyno.model.case import Message, as_messages, as_text
from agentdyno.model.load import Dialect, LoadOptions, LoadTarget
from agentdyno.wire.address import Address
from agentdyno.wire.chat import ChatDialect as ChatDialect
from agentdyno.wire.chat import ChatRequest
from agentdyno.wire.ollama import OLLAMA
from agentdyno.wire.openai import OPENAI
from agentdyno.wire.request import Request, json_request

PROMPT = "{prompt}"
"""Stands for the prompt inside the body of a plain request."""
MOST_BYTES = 64 * 1024 * 1024
_DEFAULT_COUNT = 512
_MOST_WORDS = 2_400_000
_WORD_BYTES = 7.0
"""About: with the blank after it."""
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_LIMITS = ("max_tokens", "max_completion_tokens")
_OLLAMA_TOP = frozenset({"keep_alive", "think", "format", "tools", "raw", "template"})
_CHAT: Mapping[Dialect, ChatDialect] = {Dialect.OPENAI: OPENAI, Dialect.OLLAMA: OLLAMA}


@dataclass(frozen=True, slots=True)
class RequestSet:
    """``wire`` are complete HTTP/1.1 requests; ``streams`` says whether their answers come in pieces; ``input_words``
    and ``texts`` are the prompts inside them."""

    wire: tuple[bytes, ...]
    streams: bool
    dialect: Dialect
    input_words: tuple[int, ...]
    texts: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.wire)


@dataclass(frozen=True, slots=True)
class Lengths:
    """What each request of a trace asks for: words of prompt, and tokens of answer (``None``: no limit)."""

    input_words: Sequence[int]
    output_tokens: Sequence[int | None]


def build_requests(
    target: LoadTarget,
    options: LoadOptions,
    seed: int,
    *,
    words: int | None = None,
    key: str | None = None,
    lengths: Lengths | None = None,
) -> RequestSet:
    """Requests for ``target``, no two with the same prompt unless ``options.prompt`` fixes it.

    ``words`` gives every prompt that length; ``lengths`` gives one request for each entry of a trace. ``key`` goes
    into the Authorization header. ``SpecError`` (or ``Unsendable``) where no request can be made of it.
    """
    if words is not None and not 1 <= words <= LONGEST:
        raise SpecError(f"a prompt of {words} words cannot be made", remedy=f"It has 1 to {LONGEST:,} words.")
    encoder = RequestEncoder(target, options, key=key)
    texts, limits = _texts(options, seed, words, lengths)
    wire: list[bytes] = []
    size = 0
    for text, limit in zip(texts, limits, strict=True):
        wire.append(encoder.encode(text, limit))
        size += len(wire[-1])
        if size > MOST_BYTES and lengths is None:
            break
    kept = texts[: len(wire)]
    return RequestSet(tuple(wire), encoder.streams, target.dialect, tuple(len(text.split()) for text in kept), kept)


class RequestEncoder:
    """Makes the bytes of one request after the other for one target."""

    def __init__(self, target: LoadTarget, options: LoadOptions, *, key: str | None = None) -> None:
        if target.dialect is Dialect.AGENT:
            raise SpecError("an agent is called, not sent bytes", where=target.name)
        self._target = target
        self._limit = options.output_tokens
        self._address = Address.parse(target.url)
        self._headers = _headers(target, key)
        self._chat = _CHAT.get(target.dialect)
        self._path = _path(target, self._address, self._chat)
        self.streams = self._chat is not None and target.options.get("stream", True) is not False

    @property
    def address(self) -> Address:
        return self._address

    def encode(self, text: str, limit: int | None = None) -> bytes:
        """A request with this prompt; ``limit`` are the answer's tokens at most, where not the target's own."""
        if self._chat is None:
            return self._plain(text).encode()
        return self.encode_messages([{"role": "user", "content": text}], limit)

    def encode_input(self, value: object, limit: int | None = None) -> bytes:
        """A request with the input of a case: text or messages for a chat, whose answer has ``limit`` tokens at most.
        A plain request has it where its body says ``{prompt}``; without a body, texts are sent as ``{"input": …}``
        and anything else as it is."""
        if self._chat is not None:
            return self.encode_messages(as_messages(value) or [{"role": "user", "content": as_text(value)}], limit)
        method, body = self._target.http_method, self._target.body
        if body is None:
            body = {"input": value} if isinstance(value, str) else value
        return json_request(
            self._address, self._path, _filled(body, value), method=method, headers=self._headers
        ).encode()

    def encode_call(self, method: str, path: str, content: object, headers: Mapping[str, str]) -> bytes:
        """A call of a journey: a plain request to a path below the target's address."""
        if self._chat is not None:
            raise SpecError(
                f"{method} {path} is a plain request, and the target is a model",
                remedy="Use client.ask(), or --dialect http.",
            )
        if method not in _METHODS:
            raise SpecError(f"there is no method {method!r}", remedy=nearest(method, _METHODS))
        merged = dict(self._headers) | dict(headers)
        path, _, query = path.partition("?")
        address = replace(self._address, query=query)
        if content is None:
            return Request(address, path, method, tuple(merged.items())).encode()
        return json_request(address, path, content, method=method, headers=tuple(merged.items())).encode()

    def encode_messages(self, messages: Sequence[Message], limit: int | None = None) -> bytes:
        """A request of a chat dialect with a whole conversation; a plain request has only its last message."""
        if self._chat is None:
            return self._plain(str(messages[-1].get("content", ""))).encode()
        options, extra = self._options(self._limit if limit is None else limit)
        asked = ChatRequest(self._target.model, messages, options, stream=self.streams, extra=extra)
        return json_request(self._address, self._path, self._chat.body(asked), headers=self._headers).encode()

    def _options(self, limit: int | None) -> tuple[dict[str, object], dict[str, object]]:
        """Sampling options, and further top-level fields."""
        given = {name: value for name, value in self._target.options.items() if name != "stream"}
        if self._target.dialect is Dialect.OPENAI:
            if limit is not None and not any(name in given for name in _LIMITS):
                # OpenAI's own newer models refuse the name that everything else knows.
                given["max_completion_tokens" if _is_openai(self._address) else "max_tokens"] = limit
            return given, {}
        extra = {name: given.pop(name) for name in tuple(given) if name in _OLLAMA_TOP}
        if limit is not None:
            given.setdefault("num_predict", limit)
        return given, extra

    def _plain(self, text: str) -> Request:
        method = self._target.http_method
        body = self._target.body
        if body is None:
            if method in ("GET", "HEAD", "DELETE", "OPTIONS"):
                return Request(self._address, self._path, method, self._headers)
            body = {"input": PROMPT}
        return json_request(self._address, self._path, _filled(body, text), method=method, headers=self._headers)


def _texts(
    options: LoadOptions, seed: int, words: int | None, lengths: Lengths | None
) -> tuple[tuple[str, ...], Sequence[int | None]]:
    if options.prompt and words is None and lengths is None:
        return (options.prompt,), (None,)
    if lengths is not None:
        counts: Sequence[int] = lengths.input_words
        if sum(counts) * _WORD_BYTES > 16 * MOST_BYTES:
            raise SpecError(
                f"the prompts of this trace have {sum(counts):,} words, which is more than fits into memory",
                remedy="Replay a part of it.",
            )
    else:
        prompts = options.prompts if words is None else replace(options.prompts, distribution="fixed", mean=words)
        longest = prompts.mean if prompts.distribution == "fixed" else max(prompts.high, prompts.mean)
        count = int(min(_DEFAULT_COUNT, max(4.0, _MOST_WORDS / max(longest, 1.0))))
        counts = prompt_lengths(prompts, count, seed)
    texts = prompt_texts(counts, seed, shared=options.prompts.shared)
    return texts, (None,) * len(texts) if lengths is None else lengths.output_tokens


def _headers(target: LoadTarget, key: str | None) -> tuple[tuple[str, str], ...]:
    headers = tuple(target.headers.items())
    if key and "authorization" not in {name.lower() for name in target.headers}:
        return (*headers, ("Authorization", f"Bearer {key}"))
    return headers


def _path(target: LoadTarget, address: Address, chat: ChatDialect | None) -> str:
    if chat is not None:
        return "" if address.path.endswith(chat.path) else chat.path
    # An address has no slash at its end; here it may matter to the target.
    given = urlsplit(target.url).path
    return "/" if len(given) > 1 and given.endswith("/") else ""


def _is_openai(address: Address) -> bool:
    return address.host == "openai.com" or address.host.endswith(".openai.com")


def _filled(value: object, given: object) -> object:
    """``value`` with what is given in the place of ``{prompt}``: as it is where nothing stands beside it."""
    if value == PROMPT:
        return given
    if isinstance(value, str):
        return value.replace(PROMPT, as_text(given))
    if isinstance(value, Mapping):
        return {key: _filled(item, given) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_filled(item, given) for item in value]
    return value
