"""Load clients as actors of a Ray cluster, one for each core: their bytes go through Ray, so nothing else needs to be
reachable."""

from __future__ import annotations

import logging
import select
import socket
import threading
from dataclasses import dataclass
from typing import Any

from agentdyno.errors import RunError
from agentdyno.load.client.pipe import Pipe
from agentdyno.load.clients.fleet import MOST, OPTION
from agentdyno.load.clients.handshake import receive_line
from agentdyno.load.clients.remote import KeeperLink
from agentdyno.runs.cluster.ray_cluster import RayConnection
from agentdyno.runs.cluster.ray_farm import START_S, check_versions, node_name, reason_of

PULL_S = 1.0
_AT_ONCE = 4 << 20
log = logging.getLogger("agentdyno.clients")


class ClientActor:
    """On the other machine: a keeper in a thread of its own, and the two ends of its stream of bytes."""

    def __init__(self) -> None:
        self._end, far = socket.socketpair()
        self._thread = threading.Thread(target=_keep, args=(far,), name="dyno-client", daemon=True)
        self._thread.start()

    def push(self, data: bytes) -> None:
        self._end.sendall(data)

    def pull(self, timeout_s: float) -> bytes | None:
        """What has come by now, empty when nothing does for so long; ``None`` when nothing will any more."""
        ready, _, _ = select.select([self._end], [], [], timeout_s)
        if not ready:
            return b""
        return self._end.recv(_AT_ONCE) or None

    def close(self) -> None:
        """Ends the client."""
        self._end.close()
        self._thread.join(5.0)


def _keep(end: socket.socket) -> None:
    from agentdyno.runs.cluster.client_keeper import ClientKeeper

    ClientKeeper(end).serve()


@dataclass(slots=True)
class _Bridge:
    """Between an actor and this process: two threads that carry bytes, one each way, in order."""

    ray: Any
    actor: Any
    name: str
    ours: socket.socket
    theirs: socket.socket
    link: KeeperLink | None = None
    problem: str = ""
    closing: bool = False

    def start(self) -> None:
        for carry in (self._carry_there, self._carry_back):
            threading.Thread(target=self._guarded, args=(carry,), name="dyno-bridge", daemon=True).start()

    def greeted(self) -> KeeperLink:
        self.ours.settimeout(START_S)
        told = receive_line(self.ours)
        if told is None:
            raise RunError(f"{self.name} cannot take part: {self.problem or 'it does not answer'}", where=OPTION)
        check_versions(told, self.name, OPTION)
        self.link = KeeperLink(
            self.name, Pipe(self.ours), str(told.get("host", "")), str(told.get("loopback", "")), lost=self.problem
        )
        return self.link

    def close(self) -> None:
        self.closing = True
        for end in (self.ours, self.theirs):
            end.close()

    def _guarded(self, carry: Any) -> None:
        try:
            carry()
        except Exception as error:  # noqa: BLE001  (whatever Ray says of a machine that is gone)
            if not self.closing:
                self.problem = reason_of(error)
                if self.link is not None:
                    self.link.lost = self.problem
        finally:
            try:
                self.theirs.shutdown(socket.SHUT_RDWR)
            except OSError:
                self.closing = True  # it is closed already

    def _carry_there(self) -> None:
        while data := self.theirs.recv(_AT_ONCE):
            self.ray.get(self.actor.push.remote(data))

    def _carry_back(self) -> None:
        while not self.closing:
            data = self.ray.get(self.actor.pull.remote(PULL_S))
            if data is None:
                return
            if data:
                self.theirs.sendall(data)


class RayClients:
    """``open`` gives the ways to as many keepers as the cluster has cores; ``close`` ends them."""

    def __init__(self, address: str) -> None:
        self._connection = RayConnection(address, option=OPTION)
        self._ray: Any = None
        self._bridges: list[_Bridge] = []

    def open(self) -> list[KeeperLink]:
        """Raises ``RunError`` in one sentence where a machine cannot take part."""
        self._ray = self._connection.open()
        try:
            for node in self._ray.nodes():
                if node.get("Alive"):
                    for core in range(int(node.get("Resources", {}).get("CPU", 0))):
                        self._start(node, core + 1)
            if not self._bridges:
                raise RunError(f"no machine of {self._connection.name} offers a CPU", where=OPTION)
            if len(self._bridges) > MOST:
                raise RunError(f"{self._connection.name} has more than {MOST} cores", where=OPTION)
            return [bridge.greeted() for bridge in self._bridges]
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self._ray is None:
            return
        ray, self._ray = self._ray, None
        for bridge in self._bridges:
            bridge.close()
        try:
            asked = [bridge.actor.close.remote() for bridge in self._bridges]
            ray.wait(asked, num_returns=len(asked), timeout=8.0) if asked else None
            for bridge in self._bridges:
                ray.kill(bridge.actor, no_restart=True)
        except Exception as error:  # noqa: BLE001  (the cluster may be gone, and its actors with it)
            log.debug("actors may be left: %s", error)
        finally:
            self._bridges = []
            self._connection.close()

    def _start(self, node: Any, core: int) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        where = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        kind = self._ray.remote(num_cpus=1, max_concurrency=4, max_restarts=0)(ClientActor)
        actor = kind.options(scheduling_strategy=where).remote()
        ours, theirs = socket.socketpair()
        bridge = _Bridge(self._ray, actor, f"{node_name(node)} #{core}", ours, theirs)
        bridge.start()
        self._bridges.append(bridge)
