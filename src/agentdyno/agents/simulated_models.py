"""Whether a simulated model stands behind an agent whose calls nobody here sees.

A command, or a Python agent with a client of its own, may ask one of our simulated servers and say nothing about it.
What can be known: the answer says so itself, the model that it names is a simulated one, or an address of this
machine in its configuration, arguments or environment is that of a simulated server. An answer that says the contrary
changes nothing. What stands in the agent's own code, and servers on other machines, cannot be known.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from agentdyno.model.case import SIMULATED_PREFIX, Response

SIMULATED_HEADER = b"x-dyno-simulated: 1"
MOST_ADDRESSES = 8
WAIT_S = 1.0
"""How long an address may take to answer what it is."""
_HERE = re.compile(r"(?<![\w.])(?P<host>127(?:\.\d{1,3}){3}|localhost|\[::1\]):(?P<port>\d{2,5})(?!\d)")
_NAMES_A_SERVER = re.compile(r"(_URL|_BASE|_HOST|_ENDPOINT)$")


def addresses(texts: Iterable[str], environ: Mapping[str, str]) -> tuple[tuple[str, int], ...]:
    """Hosts and ports of this machine that occur in ``texts`` and in variables that name a server."""
    named = [value for name, value in environ.items() if _NAMES_A_SERVER.search(name.upper())]
    matches = (match for text in (*texts, *named) for match in _HERE.finditer(text))
    found = dict.fromkeys((match["host"].strip("[]"), int(match["port"])) for match in matches)
    return tuple(found)[:MOST_ADDRESSES]


async def any_simulated(places: Iterable[tuple[str, int]]) -> bool:
    """Whether a simulated server of ours listens at one of these; each is asked for ``/health`` once."""
    return any(await asyncio.gather(*(_is_simulated(host, port) for host, port in places)))


def marked(response: Response, behind: bool) -> Response:
    """The response; simulated where a simulated model is known to be ``behind`` it, or is the one that it names."""
    names_one = response.model is not None and response.model.startswith(SIMULATED_PREFIX)
    return replace(response, simulated=True) if (behind or names_one) and not response.simulated else response


async def _is_simulated(host: str, port: int) -> bool:
    try:
        async with asyncio.timeout(WAIT_S):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(f"GET /health HTTP/1.1\r\nhost: {host}:{port}\r\nconnection: close\r\n\r\n".encode())
                head = await reader.readuntil(b"\r\n\r\n")
            finally:
                writer.close()
    except (OSError, OverflowError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return False
    return SIMULATED_HEADER in head.lower()
