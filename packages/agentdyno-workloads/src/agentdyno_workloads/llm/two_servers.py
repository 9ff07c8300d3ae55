"""``python -m agentdyno_workloads.llm.two_servers [URL URL]``: two model servers, or one behind two addresses?

What several agents gain is known only where each has a server of its own. Three things are looked at: the addresses,
the processes that listen there (on this machine), and, of Ollama, whether a model that one drops stays loaded in the
other. One that says no is enough to refuse; processes or models have to say yes.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import click

from agentdyno import CaseFailed, DynoError, ServerWatch
from agentdyno_workloads.llm.serving import Serving, choose

PLACES = ("http://localhost:11434", "http://localhost:11435")
"""Where two Ollama servers usually listen, and where ``two_ollamas.sh`` starts them."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that was looked at. ``holds`` is ``None`` where it could not be seen."""

    what: str
    holds: bool | None
    seen: str


def are_two(found: Sequence[Evidence]) -> bool:
    """Whether it is shown: nothing speaks against it, and processes or models speak for it."""
    said = {item.what: item.holds for item in found}
    return False not in said.values() and (said.get("processes") is True or said.get("models") is True)


def look(first: str, second: str, model: str = "") -> list[Evidence]:
    """What is seen of the servers at two addresses; with a ``model`` of Ollama, what they have loaded."""
    found = [_addresses(first, second), _processes(first, second)]
    return [*found, _models(first, second, model)] if model else found


def _addresses(first: str, second: str) -> Evidence:
    places = [_place(url) for url in (first, second)]
    return Evidence("addresses", places[0] != places[1], " and ".join(f"{host}:{port}" for host, port in places))


def _place(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    host = parts.hostname or ""
    return "localhost" if host in _LOOPBACK else host, parts.port or (443 if parts.scheme == "https" else 80)


def _processes(first: str, second: str) -> Evidence:
    pids = [ServerWatch(url).pid for url in (first, second)]
    if None in pids:
        return Evidence("processes", None, "not on this machine, or not to be seen")
    return Evidence("processes", pids[0] != pids[1], f"{pids[0]} and {pids[1]}")


def _models(first: str, second: str, model: str) -> Evidence:
    """Loads the model in both, has the second drop it, and asks the first whether it still has it."""
    servers = [Serving(choose(f"ollama:{model}", url), max_tokens=1) for url in (first, second)]
    for server in servers:
        server.open()
        asyncio.run(_ask(server))
    servers[1].unload()
    kept = servers[0].is_loaded()
    if kept is None:
        return Evidence("models", None, "the server does not say which models it has loaded")
    seen = f"{second} dropped {model}, {first} {'still has it' if kept else 'no longer has it either'}"
    return Evidence("models", kept, seen)


async def _ask(server: Serving) -> None:
    await server.ask("Say yes.")
    await server.forget()


def main(arguments: Sequence[str] | None = None) -> int:
    """Says what was seen; 0 where they are two, 1 where that is not shown, 2 for a mistake of the user's."""
    parser = argparse.ArgumentParser(prog="python -m agentdyno_workloads.llm.two_servers")
    parser.add_argument("first", nargs="?", default=PLACES[0], help=f"{PLACES[0]} where it is left out")
    parser.add_argument("second", nargs="?", default=PLACES[1], help=f"{PLACES[1]} where it is left out")
    parser.add_argument("--model", default="", help="a model of Ollama, to see whether both have one of their own")
    given = parser.parse_args(arguments)
    try:
        found = look(given.first, given.second, given.model)
    except (DynoError, CaseFailed) as error:
        click.echo(f"error: {error}", err=True)
        return 2
    for item in found:
        click.echo(f"{item.what}: {'?' if item.holds is None else 'two' if item.holds else 'ONE'} ({item.seen})")
    shown = are_two(found)
    click.echo("Two servers." if shown else "Not shown to be two servers.")
    return 0 if shown else 1


if __name__ == "__main__":
    raise SystemExit(main())
