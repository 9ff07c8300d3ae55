"""The machines that ``--clients`` names, and what is sent to them."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from agentdyno.agents.versioning import with_imports
from agentdyno.errors import SpecError
from agentdyno.load.client.pipe import Pipe
from agentdyno.load.clients.fleet import OPTION, Fleet, Shipped
from agentdyno.load.clients.handshake import ANSWER_S, clients_token, connect, receive_line
from agentdyno.load.clients.remote import KeeperLink
from agentdyno.runs.cluster.files import ShippedFiles
from agentdyno.runs.cluster.listening import split_address
from agentdyno.runs.cluster.order import is_local
from agentdyno.runs.cluster.ray_farm import check_versions
from agentdyno.runs.kind import RAY, RAY_SCHEME
from agentdyno.settings.load import CLIENT_PROCESSES

if TYPE_CHECKING:
    from agentdyno.runs.load.prepare import PreparedLoad


def open_fleet(prepared: PreparedLoad, stack: ExitStack) -> Fleet:
    """All clients, ready to be told whom to ask. What was opened for them ends with ``stack``.

    Raises ``DynoError`` where one of them does not answer, has another version, or does not let us in.
    """
    clients, processes = prepared.load.clients, prepared.load.options.processes
    if prepared.subject.target is None:
        raise SpecError(
            f"{prepared.subject.label} is called from this process, which other machines cannot do",
            where=OPTION,
            remedy="Give the address of an endpoint, or leave out --clients.",
        )
    if is_ray(clients):
        from agentdyno.runs.cluster.ray_clients import RayClients

        if processes != CLIENT_PROCESSES.default:
            raise SpecError(
                "a cluster has a client for each of its cores", where=OPTION, remedy="Leave out --processes."
            )
        ray = RayClients(clients)
        stack.callback(ray.close)
        links = ray.open()
    else:
        links = _workers(clients, processes, prepared.environ, stack)
    fleet = Fleet(links, _shipped(prepared))
    stack.callback(fleet.close)
    return fleet


def is_ray(clients: str) -> bool:
    return clients == RAY or clients.startswith(RAY_SCHEME)


def _workers(clients: str, processes: int, environ: Mapping[str, str], stack: ExitStack) -> list[KeeperLink]:
    addresses = [part.strip() for part in clients.split(",") if part.strip()]
    wanted = [":".join(map(str, split_address(one, OPTION))) for one in addresses]
    double = [one for one in wanted if wanted.count(one) > 1]
    if double:
        raise SpecError(
            f"{double[0]} is named twice", where=OPTION, remedy="More clients on each machine are --processes."
        )
    token = clients_token(environ, OPTION)
    links = []
    for address in wanted:
        for number in range(processes):
            end = connect(address, token, OPTION)
            stack.callback(end.close)
            links.append(greeted(end, address if processes == 1 else f"{address} #{number + 1}"))
    return links


def greeted(end: socket.socket, name: str) -> KeeperLink:
    """The way to a keeper that has said who it is. Raises ``RunError`` where its versions are others."""
    end.settimeout(ANSWER_S)
    told = receive_line(end) or {}
    check_versions(told, name, OPTION)
    return KeeperLink(name, Pipe(end), str(told.get("host", "")), str(told.get("loopback", "")))


def _shipped(prepared: PreparedLoad) -> Shipped:
    spec, target = prepared.load, prepared.subject.target
    assert target is not None, "asked before"
    files: list[Path] = [Path(target.ca_file)] if target.ca_file else []
    file, at, _ = spec.journey.rpartition("@")
    if at:
        files += [path for path in with_imports(Path(file)) if is_local(path)]
    shipped = ShippedFiles.of(files)
    return Shipped(shipped.contents, shipped.digests, target.key_env, prepared.key)
