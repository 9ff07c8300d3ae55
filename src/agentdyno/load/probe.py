"""One request before the load: whether the target is there, and what it is."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass

from agentdyno.errors import DynoError, RunError
from agentdyno.load.client.decode import CHAT
from agentdyno.model.load import LoadTarget, TokenSource
from agentdyno.wire.address import Address
from agentdyno.wire.chat import Completion, decode
from agentdyno.wire.errors import ConnectError, ConnectTimeout, ProtocolError, Reset, TooLarge, Truncated, WireError
from agentdyno.wire.exchange import Exchange, ExchangeLimits, exchange, partial_answer
from agentdyno.wire.ndjson import parse_json
from agentdyno.wire.openai import error_message
from agentdyno.wire.pool import Pool
from agentdyno.wire.request import Request

TRIES = 3
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class ProbeReply:
    """What the target said of itself; empty and ``None`` where it did not."""

    simulated: bool = False
    server: str = ""
    model: str = ""
    token_source: TokenSource | None = None
    status: int | None = None


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
    pool = Pool(ssl_context=tls_context(target) if request.address.scheme == "https" else None)
    found = ProbeReply()
    try:
        async with asyncio.timeout(timeout_s):
            for _ in range(TRIES):
                try:
                    answer = await exchange(request, pool, ExchangeLimits(min(10.0, timeout_s / 2), max_bytes))
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
    chat = CHAT.get(target.dialect)
    if chat is None or not answer.ok:
        return found
    kind = answer.content_type
    if kind not in chat.stream_types and "json" not in kind:
        raise RunError(
            f"the answer is {kind or 'of no named type'}, not JSON or a stream: {_beginning(answer)!r}",
            where=answer.endpoint,
            remedy=f"Is this the base URL of an endpoint that speaks {chat.name}?",
        )
    completion: Completion = await decode(chat, answer)
    source = None
    if completion.usage is not None:
        source = TokenSource.OLLAMA if chat.name == "ollama" else TokenSource.USAGE
    elif completion.content_ns:
        source = TokenSource.CHUNKS
    return ProbeReply(found.simulated, found.server, completion.model, source, answer.status)


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
        remedy = f"Is the key in {target.key_env} right?" if target.key_env else "It wants a key: give --key-env."
    elif answer.status == 404 and target.model:
        remedy = f"Is there a model {target.model!r}, and is this the base URL?"
    else:
        remedy = "Send one such request by hand to see what it wants."
    return RunError(f"every request is refused: status {answer.status}: {said}", where=answer.endpoint, remedy=remedy)


def _explained(error: WireError, address: Address) -> DynoError:
    remedy = error.remedy
    if remedy is None and isinstance(error, ProtocolError) and address.scheme == "http":
        remedy = "Does it want https, or is it no HTTP server at all?"
    elif remedy is None and isinstance(error, ConnectTimeout) and address.scheme == "https":
        remedy = "Does it speak TLS at all?"
    return RunError(error.message, where=error.where or address.endpoint(), remedy=remedy)


def _beginning(answer: Exchange) -> str:
    return answer.body.data[:80].decode("utf-8", "replace")
