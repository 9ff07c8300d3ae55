"""All clients of a run that work on other machines: started together, on one clock, and told apart by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from agentdyno.errors import RunError
from agentdyno.load.client.driver import HEAD_START_NS
from agentdyno.load.client.process import ClientHandle, ClientLost
from agentdyno.load.clients.handshake import loopback_id
from agentdyno.load.clients.remote import KeeperLink, RemoteClient, RemoteSetup
from agentdyno.load.plan.orders import ClientSettings
from agentdyno.model.load import LoadOptions, SelfCheck

MOST = 255
"""A record has one byte for the number of its client."""
OPTION = "--clients"
_WAYS = 4
"""A step is announced so many of the longest ways there and back before it starts, beside what is usual here."""


@dataclass(frozen=True, slots=True)
class Shipped:
    """What every client gets with its settings: files with their digests, and the target's key by its name."""

    contents: Mapping[str, bytes] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    key_env: str = ""
    key: str | None = None


class Fleet:
    """A ``ClientSource`` over ways that are open. It goes on with those that are left when one is lost."""

    def __init__(self, links: Sequence[KeeperLink], shipped: Shipped | None = None) -> None:
        if len(links) > MOST:
            raise RunError(f"{len(links)} clients are more than {MOST}, which a load can have", where=OPTION)
        self.links, self._shipped = list(links), shipped or Shipped()
        self._clients: list[RemoteClient] = []
        self._lost: dict[str, str] = {}

    @property
    def count(self) -> int:
        self._forget_lost()
        return len(self.links)

    def start(self, settings: Sequence[ClientSettings]) -> list[ClientHandle]:
        for client in self._clients:
            client.close()
        self._forget_lost()
        if len(self.links) < len(settings):
            raise RunError("a load client was lost while the others were made ready", where=OPTION)
        self._check_reachable(settings)
        shipped = self._shipped
        self._clients = [
            RemoteClient(
                link,
                RemoteSetup(one, shipped.contents, shipped.digests, shipped.key_env if shipped.key else ""),
                shipped.key,
            )
            for link, one in zip(self.links, settings, strict=False)
        ]
        return list(self._clients)

    def set_clocks(self) -> int:
        slowest_ns = 0
        for client in self._clients:
            if client.lost:
                continue
            try:
                slowest_ns = max(slowest_ns, client.link.read_clock().slowest_ns)
            except ClientLost as error:
                client.lost = error.message
                client.ready = client.ended = True
        if all(client.lost for client in self._clients):
            raise RunError(f"no load client is left: {self._clients[0].lost}", where=OPTION)
        return HEAD_START_NS + _WAYS * slowest_ns

    def check(self, options: LoadOptions) -> SelfCheck:
        """The clients' own errors, measured where they are, all at once: the worst of each, and the rates added."""
        alone = replace(options, processes=1, cpus=())
        for link in self.links:
            link.begin_check(alone)
        found = [link.end_check() for link in self.links]
        return SelfCheck(
            max(one.lag_p50_s for one in found),
            max(one.lag_p99_s for one in found),
            max(one.ttft_error_p50_s for one in found),
            max(one.ttft_error_p99_s for one in found),
            sum(one.rate_per_s for one in found),
            sum(one.requests for one in found),
        )

    def observed(self) -> Mapping[str, object]:
        """Each client with its machine and how exactly its clock is known: ``clock_error_s`` at the start of the last
        step, and by how much the clocks have moved against each other at most between two steps."""
        told: list[dict[str, object]] = []
        for client in self._clients:
            link, moved = client.link, {}
            if not client.lost:
                try:
                    before = link.clock
                    link.read_clock()
                    link.clock = before
                    moved = {"clock_moved_s": link.moved_ns / 1e9}
                except ClientLost as error:
                    client.lost = error.message
            error_ns = None if link.clock is None else link.clock.error_ns
            told.append(
                {
                    "client": client.number,
                    "name": link.name,
                    "host": link.host,
                    "clock_error_s": None if error_ns is None else error_ns / 1e9,
                    **moved,
                    **({"lost": client.lost} if client.lost else {}),
                }
            )
        return {"clients": told, "lost_clients": dict(self._lost)} if self._lost else {"clients": told}

    def close(self) -> None:
        for client in self._clients:
            client.close()
        for link in self.links:
            link.close()
        self._clients, self.links = [], []

    def _forget_lost(self) -> None:
        lost = {id(client.link): client for client in self._clients if client.lost}
        for client in lost.values():
            self._lost[client.link.name] = client.lost
            client.link.close()
        self.links = [link for link in self.links if id(link) not in lost]
        self._clients = [client for client in self._clients if not client.lost]

    def _check_reachable(self, settings: Sequence[ClientSettings]) -> None:
        here = all(host.startswith("127.") or host == "::1" for one in settings for host in one.hosts)
        elsewhere = [link for link in self.links if link.loopback != loopback_id()]
        if settings and here and elsewhere:
            raise RunError(
                f"the target is at {settings[0].hosts[0]}, which is another machine for {elsewhere[0].name}",
                where=OPTION,
                remedy="Give the target by an address that all clients reach, or leave out what only runs here.",
            )
