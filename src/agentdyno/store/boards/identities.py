"""Names that stay the same in every store: the UUIDs by which other tools know a row."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agentdyno.model.identity import canonical_json, digest

if TYPE_CHECKING:
    from agentdyno.model import AgentUse

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:agentdyno")


def derived_uid(kind: str, *parts: str) -> bytes:
    """The 16 bytes of a UUIDv5 that depends on ``kind`` and ``parts`` alone."""
    text = canonical_json([kind, *parts]).encode("utf-8", "backslashreplace").decode()
    return uuid.uuid5(_NAMESPACE, text).bytes


def timed_uid(now_ms: int) -> bytes:
    """The 16 bytes of a new UUIDv7 at that time."""
    value = bytearray((now_ms & ((1 << 48) - 1)).to_bytes(6, "big") + os.urandom(10))
    value[6] = value[6] & 0x0F | 0x70
    value[8] = value[8] & 0x3F | 0x80
    return bytes(value)


def uid_text(uid: bytes) -> str:
    """The usual text of a UUID, by hand: a board has thousands of them."""
    text = uid.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def split_agent(agent: str, uses: Sequence[AgentUse]) -> tuple[str, str, AgentUse | None]:
    """Name, version and definition of what an arm calls ``name@version``; a name may hold an ``@`` itself."""
    for use in uses:
        if use.at_version and agent == f"{use.name}@{use.at_version}":
            return use.name, use.at_version, use
    for use in uses:
        if agent == f"{use.name}@{use.version}":
            return use.name, use.version or "", use
    undeclared = [use for use in uses if use.version is None]
    for use in sorted(undeclared, key=lambda use: len(use.name), reverse=True):
        if agent == use.name or agent.startswith(use.name + "@"):
            return use.name, agent[len(use.name) + 1 :], use
    name, at, version = agent.rpartition("@")
    return (name, version, None) if at and name else (agent, "", None)


def agent_digest(use: AgentUse | None) -> str:
    """Of where an agent is and how it is configured; its code is what its version stands for."""
    return digest(["", {}, []] if use is None else [use.uses, dict(use.config), list(use.env)])
