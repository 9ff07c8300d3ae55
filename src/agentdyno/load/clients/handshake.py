"""Both ends of a connection show each other that they know one token, before either believes the other anything.

Lines of JSON: the one who listens sends a challenge; the one who came answers it and sends one of his own; that is
answered, or refused. Neither sends the token itself. What follows is not encrypted.
"""

from __future__ import annotations

import hmac
import json
import secrets
import socket
from collections.abc import Mapping
from pathlib import Path

from agentdyno.errors import RunError

TOKEN = "DYNO_CLIENTS_TOKEN"
FEWEST_CHARACTERS = 16
ANSWER_S = 5.0
"""How long the other end may take for each line."""
PROTOCOL = "agentdyno-clients/1"
_LONGEST_LINE = 4096
_IDLE_S, _PROBES = 4, 3


def clients_token(environ: Mapping[str, str], where: str) -> str:
    """The token that all machines share. Raises ``RunError`` where there is none, or it could be guessed."""
    token = environ.get(TOKEN, "").strip()
    if len(token) >= FEWEST_CHARACTERS:
        return token
    said = f"the token in {TOKEN} has {len(token)} characters" if token else f"there is no token in {TOKEN}"
    raise RunError(
        f"{said}: whoever reaches a worker that listens could run code on it",
        where=where,
        remedy=f"Set {TOKEN} to the same secret of at least {FEWEST_CHARACTERS} characters on all machines, for "
        "example to what `openssl rand -hex 32` prints.",
    )


def keep_alive(end: socket.socket) -> None:
    """Sends at once what is sent, and notices within some seconds when the other machine is gone."""
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, _IDLE_S)
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 2)
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, _PROBES)
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * (_IDLE_S + 2 * _PROBES))


def connect(address: str, token: str, where: str) -> socket.socket:
    """A connection to a worker that listens at HOST:PORT and knows the token. Raises ``RunError``."""
    host, _, port = address.rpartition(":")
    try:
        end = socket.create_connection((host.strip("[]"), int(port)), ANSWER_S)
    except OSError as error:
        raise RunError(
            f"nothing answers at {address}: {error.strerror or error}",
            where=where,
            remedy="Check the address and whether `dyno worker --listen` runs there.",
        ) from None
    try:
        keep_alive(end)
        end.settimeout(ANSWER_S)
        _introduce(end, token, address, where)
    except BaseException:
        end.close()
        raise
    return end


def _introduce(end: socket.socket, token: str, address: str, where: str) -> None:
    stranger = RunError(
        f"what answers at {address} is no worker that listens",
        where=where,
        remedy="Start one there with `dyno worker --listen`, of the same version of agentdyno.",
    )
    hello = receive_line(end)
    if hello is None or hello.get("protocol") != PROTOCOL:
        raise stranger
    challenge = secrets.token_hex(32)
    send_line(end, {"answer": _answer(token, "came", str(hello.get("challenge"))), "challenge": challenge})
    reply = receive_line(end)
    if reply is None:
        raise stranger
    if not hmac.compare_digest(str(reply.get("answer", "")), _answer(token, "listens", challenge)):
        raise RunError(
            f"{address} does not let us in: its token is another",
            where=where,
            remedy=f"Set {TOKEN} to the same secret here and there.",
        )


def admit(end: socket.socket, token: str) -> bool:
    """Whether the one who came knows the token."""
    keep_alive(end)
    end.settimeout(ANSWER_S)
    challenge = secrets.token_hex(32)
    send_line(end, {"protocol": PROTOCOL, "challenge": challenge})
    reply = receive_line(end) or {}
    if not hmac.compare_digest(str(reply.get("answer", "")), _answer(token, "came", challenge)):
        send_line(end, {"refused": "another token"})
        return False
    send_line(end, {"answer": _answer(token, "listens", str(reply.get("challenge")))})
    return True


def send_line(end: socket.socket, values: Mapping[str, object]) -> None:
    end.sendall(json.dumps(values).encode() + b"\n")


def receive_line(end: socket.socket) -> dict[str, object] | None:
    """The next line; ``None`` where none comes, or what comes is no such line. Takes nothing of what follows it."""
    line = bytearray()
    try:
        while not line.endswith(b"\n"):
            piece = end.recv(1)
            if not piece or len(line) > _LONGEST_LINE:
                return None
            line += piece
        values = json.loads(line)
    except (OSError, ValueError):
        return None
    return values if isinstance(values, dict) else None


def loopback_id() -> str:
    """What two processes have in common for which 127.0.0.1 is the same."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/net').readlink()}"
    except OSError:
        return socket.gethostname()


def _answer(token: str, role: str, challenge: str) -> str:
    return hmac.new(token.encode(), f"{role} {challenge}".encode(), "sha256").hexdigest()
