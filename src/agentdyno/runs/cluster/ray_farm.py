"""Stations as actors of a Ray cluster, one a machine."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentdyno.errors import DynoError, PluginError, RunError, SpecError
from agentdyno.model import Environment, Trial
from agentdyno.model.codec import encode, from_plain, to_plain
from agentdyno.runner.farm.driver import Joined, Lost, News, Told
from agentdyno.runs.cluster.files import ShippedFiles
from agentdyno.runs.cluster.order import WorkOrder
from agentdyno.runs.cluster.ray_cluster import RayConnection
from agentdyno.runs.cluster.station import Station, versions

LOOK_S = 1.0
"""How often it is looked whether machines have joined the cluster."""
START_S = 120.0
"""How long a machine may take to start a station and to make everything ready."""
PULL_S = 1.0
"""How long a station waits for something to tell before it says that there is nothing."""
_ERRORS: dict[str, type[DynoError]] = {kind.__name__: kind for kind in (PluginError, RunError, SpecError)}


@dataclass(slots=True)
class _Actor:
    """A station. ``pending`` is what it was asked last: hello, load or pull."""

    name: str
    node: str
    handle: Any
    pending: Any = None
    stage: str = "hello"
    since: float = 0.0


class RayFarm:
    """One station for each machine that offers a CPU, those that join later too. A machine that cannot work with us
    when the run begins is an error of the run; one that joins later and cannot is left alone, and said to be."""

    def __init__(
        self,
        executor: str,
        order: WorkOrder,
        files: ShippedFiles,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._connection, self._say = RayConnection(executor), say
        self._order = encode({"order": to_plain(order), "digests": dict(files.digests)}).encode()
        self._contents = dict(files.contents)
        self._ray: Any = None
        self._shipped: tuple[Any, Any] = (None, None)
        self._actors: dict[str, _Actor] = {}
        self._known: set[str] = set()
        self._looked_at = 0.0
        self._closed = False
        self.environment: Environment | None = None
        self._environments: dict[str, Environment] = {}

    def open(self) -> list[Joined]:
        """Connects, and waits until every machine that is there is ready."""
        self._ray = self._connection.open()
        try:
            self._shipped = self._ray.put(self._order), self._ray.put(self._contents)
            self._look()
            if not self._actors:
                raise RunError(f"no machine of {self._connection.name} offers a CPU", where="--executor")
            joined: list[Joined] = []
            deadline = time.monotonic() + START_S
            while len(joined) < len(self._actors):
                for news in self._news(0.5):
                    if isinstance(news, Lost):
                        problem = f"{news.station} cannot take part: {news.reason}"
                        if not self._actors:
                            raise RunError(problem, where="--executor")
                        self._say(problem)
                        joined = [item for item in joined if item.station != news.station]
                    if isinstance(news, Joined):
                        joined.append(news)
                if time.monotonic() > deadline:
                    late = sorted(self._actors.keys() - {item.station for item in joined})
                    raise RunError(f"{late[0]} is not ready after {START_S:g} s", where="--executor")
        except BaseException:
            self.close()
            raise
        joined.sort(key=lambda item: item.host_id)
        self.environment = self._environments[joined[0].station]
        return joined

    def send(self, station: str, trials: Sequence[Trial]) -> None:
        actor = self._actors.get(station)
        if actor is not None:
            actor.handle.push.remote(json.dumps([to_plain(trial) for trial in trials]).encode())

    def receive(self, timeout_s: float) -> list[News]:
        if time.monotonic() - self._looked_at > LOOK_S:
            self._look()
        return self._news(timeout_s)

    def close(self) -> None:
        """Stations get a moment to end their agents; then they are ended, with whatever they do."""
        if self._closed or self._ray is None:
            return
        self._closed = True
        try:
            asked = [actor.handle.close.remote() for actor in self._actors.values()]
            self._ray.wait(asked, num_returns=len(asked), timeout=8.0) if asked else None
            for actor in self._actors.values():
                self._ray.kill(actor.handle, no_restart=True)
        except Exception as error:  # noqa: BLE001  (the cluster may be gone)
            self._say(f"stations may be left on the cluster: {error}")
        finally:
            self._connection.close()

    def _look(self) -> None:
        self._looked_at = time.monotonic()
        nodes = [
            node for node in self._ray.nodes() if node.get("Alive") and node.get("Resources", {}).get("CPU", 0) >= 1
        ]
        for node in nodes:
            if node["NodeID"] not in self._known:
                self._known.add(node["NodeID"])
                self._start(node)

    def _start(self, node: Mapping[str, Any]) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        where = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        kind = self._ray.remote(num_cpus=1, max_concurrency=4, max_restarts=0)(Station)
        handle = kind.options(scheduling_strategy=where).remote()
        name = node_name(node)
        actor = _Actor(name, node["NodeID"], handle, since=time.monotonic())
        actor.pending = handle.hello.remote()
        self._actors[name] = actor

    def _news(self, timeout_s: float) -> list[News]:
        pending = {actor.pending: actor for actor in self._actors.values()}
        if not pending:
            time.sleep(timeout_s)
            return []
        ready, _ = self._ray.wait(list(pending), num_returns=1, timeout=timeout_s)
        if ready:  # what else is there by now costs no further wait
            ready, _ = self._ray.wait(list(pending), num_returns=len(pending), timeout=0)
        found: list[News] = []
        for reference in ready:
            actor = pending[reference]
            try:
                news = self._take(actor, self._ray.get(reference))
            except DynoError as error:
                if not self._environments or self.environment is None:
                    raise
                news = self._drop(actor, str(error))
            except Exception as error:  # noqa: BLE001  (whatever Ray says of a machine that is gone)
                news = self._drop(actor, reason_of(error))
            if news is not None:
                found.append(news)
        return found

    def _take(self, actor: _Actor, reply: bytes) -> News | None:
        told = json.loads(reply)
        if actor.stage == "pull":
            actor.pending = actor.handle.pull.remote(PULL_S)
            broken = next((item["broken"] for item in told if "broken" in item), None)
            if broken is not None:
                return self._drop(actor, str(broken))
            return Told(actor.name, told) if told else None
        if "error" in told:
            raise _error(told["error"], actor.name)
        if actor.stage == "hello":
            check_versions(told["ok"], actor.name)
            self._environments[actor.name] = from_plain(Environment, told["ok"]["environment"])
            actor.stage, actor.pending = "load", actor.handle.load.remote(*self._shipped)
            return None
        actor.stage, actor.pending = "pull", actor.handle.pull.remote(PULL_S)
        return Joined(actor.name, self._environments[actor.name].host_id)

    def _drop(self, actor: _Actor, reason: str) -> Lost:
        del self._actors[actor.name]
        try:
            self._ray.kill(actor.handle, no_restart=True)
        except Exception as error:  # noqa: BLE001  (it is gone already)
            reason = reason or str(error)
        return Lost(actor.name, reason)


def reason_of(error: Exception) -> str:
    """What Ray says of a machine that does not do what it was asked, in short."""
    text = " ".join(str(getattr(error, "cause", None) or error).split())
    if "ModuleNotFoundError" in text or "No module named" in text:
        return "agentdyno is not installed there: " + text[-200:]
    return f"{type(error).__name__}: {text[:200]}"


def node_name(node: Mapping[str, Any]) -> str:
    return f"{node.get('NodeManagerHostname') or node.get('NodeName')}-{node['NodeID'][:6]}"


def check_versions(theirs: Mapping[str, Any], station: str, option: str = "--executor") -> None:
    """Raises ``RunError`` where another machine has other versions than this one."""
    ours = versions()
    for name, shown in (("python", "Python"), ("agentdyno", "agentdyno")):
        if theirs.get(name) != ours[name]:
            raise RunError(
                f"{station} has {shown} {theirs.get(name)}, and this machine has {ours[name]}",
                where=option,
                remedy="Use the same versions of Python, ray and agentdyno on all machines.",
            )


def _error(told: Mapping[str, Any], station: str) -> DynoError:
    kind = _ERRORS.get(str(told.get("type")), RunError)
    where = f"{station}: {told['where']}" if told.get("where") else station
    return kind(str(told["message"]), where=where, remedy=told.get("remedy"))
