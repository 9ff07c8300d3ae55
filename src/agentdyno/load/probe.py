"""One request before the load: whether the target is there, and what it is."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass, replace

from agentdyno.errors import DynoError, RunError
from agentdyno.load.client.decode import CHAT, token_source
from agentdyno.load.windows.records import TOKEN_SOURCES
from agentdyno.model.load import Dialect, LoadTarget, TokenSource
from agentdyno.wire.address import Address
from agentdyno.wire.chat import AnswerDialect, Completion, decode
from agentdyno.wire.errors import (
    CertificateRefused,
    ConnectError,
    ConnectTimeout,
    ProtocolError,
    Reset,
    TlsFailed,
    TooLarge,
    Truncated,
    WireError,
)
from agentdyno.wire.exchange import Exchange, ExchangeLimits, exchange, partial_answer
from agentdyno.wire.ndjson import parse_json
from agentdyno.wire.openai import error_message
from agentdyno.wire.pool import Pool
from agentdyno.wire.request import Request

TRIES = 3
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class ProbeReply:
    """What the target said of itself; empty and ``None`` where it did not. ``answers`` names how they are read, where
    a plain address turned out to be a model's endpoint (``wire.endpoints.ANSWERS``)."""

    simulated: bool = False
    server: str = ""
    model: str = ""
    token_source: TokenSource | None = None
    status: int | None = None
    answers: str = ""


@dataclass(frozen=True, slots=True)
class _Encoded(Request):
    data: bytes = b""

    def encode(self) -> bytes:
        return self.data


def probe(target: LoadTarget, address: Address, data: bytes, *, timeout_s: float, max_bytes: int) -> ProbeReply:
    """Asks the target up to three times and returns at the first answer that makes sense.

    Raises ``DynoError`` where load would be pointless: nobody listens, TLS fails, it is not HTTP, the request is
    refused (a missing model, a missing key), or the answer is of another kind. A target that merely fails (5xx, 429,
    a broken stream) is none of those: how often it does is what a load run counts.
    """
    request = _Encoded(address=address, method=target.http_method, data=data)
    try:
        return asyncio.run(_probe(target, request, timeout_s, max_bytes))
    except TimeoutError:
        raise RunError(
            f"no complete answer within {timeout_s:g} s", where=address.endpoint(), remedy="Allow a longer timeout."
        ) from None


async def _probe(target: LoadTarget, request: Request, timeout_s: float, max_bytes: int) -> ProbeReply:
    limits = ExchangeLimits(min(10.0, timeout_s / 2), max_bytes, any_encoding=target.dialect is Dialect.HTTP)
    pool = Pool(ssl_context=tls_context(target) if request.address.scheme == "https" else None)
    found = ProbeReply()
    try:
        async with asyncio.timeout(timeout_s):
            for _ in range(TRIES):
                try:
                    answer = await exchange(request, pool, limits)
                except (Reset, Truncated) as error:
                    arrived = partial_answer(error)
                    found = _of(arrived) if arrived is not None else found
                    continue
                except TooLarge as error:
                    raise RunError(error.message, where=error.where) from None
                found = await _judge(target, answer)
                if found.status is None or found.status < 400:
                    return found
    except (ConnectError, ProtocolError) as error:
        raise _explained(error, request.address) from None
    finally:
        await pool.close()
    return found


async def _judge(target: LoadTarget, answer: Exchange) -> ProbeReply:
    found = _of(answer)
    if 300 <= answer.status < 500 and answer.status not in (408, 425, 429):
        raise _refused(target, answer)
    if not answer.ok:
        return found
    chat = CHAT.get(target.dialect)
    if chat is None:
        return await _recognised(target, answer, found)
    kind = answer.content_type
    if kind not in chat.stream_types and "json" not in kind:
        raise RunError(
            f"the answer is {kind or 'of no named type'}, not JSON or a stream: {_beginning(answer)!r}",
            where=answer.endpoint,
            remedy=f"Is this the base URL of an endpoint that speaks {chat.name}?",
        )
    return _with_model(found, chat, await decode(chat, answer))


async def _recognised(target: LoadTarget, answer: Exchange, found: ProbeReply) -> ProbeReply:
    """An address that is asked with a body of the user's own may be a model's endpoint: it is where it ends like one
    and its answer is one."""
    from agentdyno.wire.endpoints import endpoint_of

    known = endpoint_of(target.http_method, Address.parse(target.url).path)
    if known is None:
        return found
    _, answers = known
    try:
        completion = await decode(answers, answer)
    except ProtocolError:
        return found
    if not completion.finished and not completion.content_ns:  # one that breaks off in the middle is one, too
        return found
    return replace(_with_model(found, answers, completion), answers=answers.name)


def _with_model(found: ProbeReply, answers: AnswerDialect, completion: Completion) -> ProbeReply:
    source = None
    if completion.usage is not None:
        source = TOKEN_SOURCES[token_source(answers)]
    elif completion.content_ns:
        source = TokenSource.CHUNKS
    return replace(found, model=completion.model, token_source=source)


def tls_context(target: LoadTarget) -> ssl.SSLContext:
    """As the target wants it; a file of certificates that cannot be read is a ``RunError``."""
    try:
        context = ssl.create_default_context(cafile=target.ca_file or None)
    except (OSError, ssl.SSLError) as error:
        raise RunError(f"the certificates cannot be read: {error}", where=target.ca_file) from None
    if target.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _of(answer: Exchange) -> ProbeReply:
    headers = answer.headers
    return ProbeReply(headers.get("x-dyno-simulated") == "1", headers.get("server") or "", status=answer.status)


def _refused(target: LoadTarget, answer: Exchange) -> DynoError:
    try:
        said = error_message(parse_json(answer.body.data, answer.endpoint))
    except ProtocolError:
        said = ""
    said = (said or _beginning(answer)).strip()[:_SHOWN]
    if answer.status in (401, 403):
        remedy = "It wants a key: name the variable that holds it with --api-key-env."
        if target.key_env:
            remedy = f"Is the key in {target.key_env} right?"
    elif answer.status == 405 and target.dialect is Dialect.HTTP:
        remedy = f"It was asked with {target.http_method}: say another with --method, or what to send with --body."
    elif answer.status == 404 and target.model:
        remedy = f"Is there a model {target.model!r}, and is this the base URL?"
    else:
        remedy = "Send one such request by hand to see what it wants."
    refused = f"every request is refused: status {answer.status}{': ' if said else ''}{said}"
    return RunError(refused, where=answer.endpoint, remedy=remedy)


def _explained(error: WireError, address: Address) -> DynoError:
    remedy = error.remedy
    if remedy is None and isinstance(error, ProtocolError) and address.scheme == "http":
        remedy = "Does it want https, or is it no HTTP server at all?"
    elif remedy is None and isinstance(error, CertificateRefused):
        remedy = "Name the certificates to trust with --ca-file, or trust any with --insecure."
    elif remedy is None and isinstance(error, (ConnectTimeout, TlsFailed)) and address.scheme == "https":
        remedy = "Does it speak TLS at all? If not, its address begins with http://."
    return RunError(error.message, where=error.where or address.endpoint(), remedy=remedy)


def _beginning(answer: Exchange) -> str:
    return answer.body.data[:80].decode("utf-8", "replace")
