"""Load on an endpoint: client processes that keep one schedule between them, and the windows of what they saw."""

from __future__ import annotations

import select
import socket
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter_ns
from typing import Protocol

from agentdyno.errors import RunError, SpecError
from agentdyno.load.client.pipe import RequestBatch
from agentdyno.load.client.process import ClientHandle, ClientLost, ClientProcess, Example
from agentdyno.load.client.stamped import has_kernel_stamps
from agentdyno.load.client.stream_reader import decoder_name
from agentdyno.load.plan.material import Materials
from agentdyno.load.plan.orders import ClientSettings, StepOrder
from agentdyno.load.probe import ProbeReply, probe
from agentdyno.load.windows.collect import WindowBuilder
from agentdyno.load.windows.core import with_core
from agentdyno.load.windows.records import RawFile
from agentdyno.model.load import Dialect, LoadOptions, LoadTarget, Objective, Step, Window
from agentdyno.wire.address import Address

HEAD_START_NS = 100_000_000
"""From the last client being ready to the common start."""
READY_S = 60.0
_POLL_MS = 100
_NS = 1_000_000_000


class ClientSource(Protocol):
    """Clients that somebody else keeps, on other machines; those that were lost are not counted any more."""

    @property
    def count(self) -> int: ...

    def start(self, settings: Sequence[ClientSettings]) -> list[ClientHandle]:
        """As many clients as there are settings, which get ready."""

    def set_clocks(self) -> int:
        """Compares their clocks with ours; returns how long before its start a step has to be announced, in ns."""

    def observed(self) -> Mapping[str, object]: ...


class HttpDriver:
    """Drives plain HTTP, OpenAI-compatible and Ollama endpoints. ``materials`` make the requests: made-up ones
    without them. ``artifacts`` is the folder that the raw requests are written to (none where it is ``None``).
    Conversations (``options.sessions``) are held in open loop. Without ``kernel_stamps`` all times are taken when
    bytes are read, as they are where the kernel does not stamp them. ``source`` gives the clients where they are not
    processes of this machine: when one of them is lost, the others go on, and the windows say so."""

    def __init__(
        self,
        target: LoadTarget,
        options: LoadOptions,
        materials: Materials | None = None,
        *,
        objectives: Sequence[Objective] = (),
        artifacts: Path | None = None,
        kernel_stamps: bool = True,
        source: ClientSource | None = None,
    ) -> None:
        if options.processes < 1 or options.connections < 1:
            raise SpecError("a load needs at least one process and one connection")
        self.name = target.name
        self.simulated = False
        self.began_ns: int | None = None
        self._target, self._options, self._objectives = target, options, tuple(objectives)
        self._artifacts = artifacts if options.keep_requests else None
        self._address = Address.parse(target.url)
        self._kernel_stamps = kernel_stamps and has_kernel_stamps(tls=self._address.scheme == "https")
        self._materials = materials or Materials(target, options)
        self._sent_set: str | None = None
        self._source = source
        self._clients: list[ClientHandle] = []
        self._hosts: tuple[str, ...] = ()
        self._found = ProbeReply()
        self._raw: RawFile | None = None
        self._index = 0
        self._starts_s = self._loaded_s = 0.0
        self._requests = 0

    @property
    def pids(self) -> tuple[int, ...]:
        """Of the client processes on this machine."""
        return tuple(client.pid for client in self._clients if isinstance(client, ClientProcess))

    def open(self) -> None:
        # What a journey asks of a plain address only the journey knows.
        if self._materials.journey is None or self._target.dialect is not Dialect.HTTP:
            self._found = probe(
                self._target,
                self._address,
                self._materials.first(),
                timeout_s=self._options.timeout_s,
                max_bytes=self._options.max_bytes,
            )
        self.simulated = self._found.simulated
        if self._artifacts is not None:
            self._raw = RawFile(self._artifacts)
        self._hosts = _resolve(self._address)
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        settings = [self._settings(number, self._hosts) for number in range(self._processes)]
        if self._source is not None:
            self._clients = self._source.start(settings)
        else:
            for one in settings:
                self._clients.append(ClientProcess(one))
        self._wait_for(lambda client: client.ready)

    def run(self, step: Step) -> Generator[Window, None, None]:
        """The windows of a step. What was measured when it is interrupted (KeyboardInterrupt) still comes out."""
        if not self._clients:
            raise RunError("the driver is not open")
        if self._loaded_s + step.duration_s > self._options.max_s:
            raise RunError(f"the load would go beyond its ceiling of {self._options.max_s:g} s", where=step.name)
        if any(client.lost for client in self._clients):
            self._sent_set = None
            self._start()
        self._begin(step)
        self._wait_for(lambda client: client.ready)
        ahead_ns = 0 if self._source is None else self._source.set_clocks()
        start_ns = perf_counter_ns() + max(HEAD_START_NS, ahead_ns)
        if self.began_ns is None:
            self.began_ns = start_ns
        self._starts_s = (start_ns - self.began_ns) / _NS
        builder = WindowBuilder(step, self._options.window_s, self._index, self._starts_s, self._objectives)
        builder.simulated = self.simulated
        if self._source is not None:
            builder.clients = {client.number: client.name for client in self._clients}
        for client in self._clients:
            client.go(start_ns)
        interrupted: KeyboardInterrupt | None = None
        stopped_ns: int | None = None
        complete = False
        try:
            try:
                while not all(client.ended for client in self._clients):
                    self._collect(builder, _POLL_MS)
                    for window in builder.pop_finished(*self._settled()):
                        yield self._with_cpu(window)
            except KeyboardInterrupt as error:
                interrupted = error
                stopped_ns = perf_counter_ns() - start_ns
                self._stop(builder)
            if stopped_ns is None:  # replayed conversations may have ended before their time was over
                ended_ns = max(client.ended_ns for client in self._clients)
                stopped_ns = ended_ns if 0 < ended_ns < builder.ends_ns else None
            for window in builder.finish(stopped_ns):
                yield self._with_cpu(window)
            complete = True
        finally:
            if not complete and interrupted is None:
                self._stop(builder)
            self._index = builder.next_index
            self._loaded_s += step.duration_s if stopped_ns is None else stopped_ns / _NS
        if interrupted is not None:
            raise interrupted

    def observed(self) -> Mapping[str, object]:
        found: dict[str, object] = {
            "processes": self._processes,
            "connections": self._options.connections,
            "simulated": self.simulated,
            "stamps": "kernel" if self._kernel_stamps else "reading",
        }
        if self._source is None:  # clients on other machines have their own
            found["decoder"] = decoder_name()
        if self._found.answers:
            found["answers"] = self._found.answers
        if self._found.model:
            found["model"] = self._found.model
        if self._found.server:
            found["server"] = self._found.server
        if self._found.token_source is not None:
            found["token_source"] = self._found.token_source.value
        return found if self._source is None else {**found, **self._source.observed()}

    def close(self) -> None:
        clients, self._clients = self._clients, []
        for client in clients:
            client.close()
        if self._raw is not None:
            self._raw.close()
        self._sent_set = None

    @property
    def _processes(self) -> int:
        wanted = self._options.processes if self._source is None else self._source.count
        return min(wanted, self._options.connections)

    def _settings(self, number: int, hosts: tuple[str, ...]) -> ClientSettings:
        options, target, processes = self._options, self._target, self._processes
        share = options.connections // processes + (1 if number < options.connections % processes else 0)
        return ClientSettings(
            process=number,
            processes=processes,
            hosts=hosts,
            port=self._address.port,
            dialect=target.dialect,
            method=target.http_method,
            tls=self._address.scheme == "https",
            server_name=self._address.host.partition("%")[0],
            ca_file=target.ca_file,
            insecure=target.insecure,
            connections=share,
            timeout_s=options.timeout_s,
            max_bytes=options.max_bytes,
            cpu=options.cpus[number % len(options.cpus)] if options.cpus else None,
            kernel_stamps=self._kernel_stamps,
            answers=self._found.answers,
        )

    def _begin(self, step: Step) -> None:
        material = self._materials.of(step)
        left = self._options.max_requests - self._requests
        if len(material.schedule) > left:
            raise RunError(
                f"the step would go beyond the ceiling of {self._options.max_requests:,} requests", where=step.name
            )
        wire = material.wire if self._sent_set != material.name else None
        self._sent_set = material.name
        for client in self._clients:
            part = material.schedule.part(client.number, len(self._clients))
            order = StepOrder(step, part.due_ns, part.stage, part.request, wire, left // len(self._clients))
            client.begin(replace(order, turns=material.turns, think_ns=material.think_ns, journey=material.journey))

    def _wait_for(self, condition: Callable[[ClientHandle], bool]) -> None:
        deadline = perf_counter_ns() + round(READY_S * _NS)
        while not all(condition(client) for client in self._clients):
            for client in self._readable(_POLL_MS):
                for _ in self._heard(client):
                    pass
            if perf_counter_ns() > deadline:
                raise RunError(f"the load clients did not get ready within {READY_S:g} s")

    def _readable(self, timeout_ms: int) -> list[ClientHandle]:
        poller = select.poll()
        by_fd = {client.pipe.fileno(): client for client in self._clients if not client.lost}
        for fd, client in by_fd.items():
            poller.register(fd, select.POLLIN | (select.POLLOUT if client.pipe.waiting else 0))
        readable = [by_fd[fd] for fd, _ in poller.poll(timeout_ms)]
        return readable + [client for client in by_fd.values() if client.overdue and client not in readable]

    def _collect(self, builder: WindowBuilder, timeout_ms: int) -> None:
        for client in self._readable(timeout_ms):
            for item in self._heard(client):
                if isinstance(item, RequestBatch):
                    builder.add(item.records, item.gaps, item.extras)
                    self._requests += len(item.records)
                    if self._raw is not None:
                        self._raw.add(item.records)
                else:
                    builder.example(*item)

    def _heard(self, client: ClientHandle) -> Iterator[RequestBatch | Example]:
        """What a client has sent. One that is lost has ended with it, unless it was the last."""
        try:
            yield from client.receive()
        except ClientLost as error:
            client.lost = error.message
            client.ready = client.ended = True
            if all(one.lost for one in self._clients):
                raise RunError(f"no load client is left: {error.message}", remedy=error.remedy) from None

    def _settled(self) -> tuple[int, int | None]:
        left = [client for client in self._clients if not client.lost]
        opened = [client.open_due_ns for client in left if client.open_due_ns is not None]
        return min(client.up_to_ns for client in left), min(opened, default=None)

    def _stop(self, builder: WindowBuilder) -> None:
        """Breaks the step off in every client and takes what they have."""
        for client in self._clients:
            client.stop()
        deadline = perf_counter_ns() + _NS
        while perf_counter_ns() < deadline and not all(client.ended for client in self._clients):
            self._collect(builder, _POLL_MS)

    def _with_cpu(self, window: Window) -> Window:
        """The share of a core of each client in the window, and of the busiest; and who was gone before its end."""
        begin_ns = (window.starts_s - self._starts_s) * _NS
        end_ns = begin_ns + window.duration_s * _NS
        shares = {client.name: client.core.between(begin_ns, end_ns) for client in self._clients}
        if window.clients is not None:
            lost = {client.name: client.lost for client in self._clients if client.lost and client.up_to_ns < end_ns}
            parts = dict(window.clients)
            for name, part in window.clients.items():
                share = shares.get(name)
                known = part if share is None else replace(part, cpu=share.used, held=share.held)
                parts[name] = replace(known, lost=lost.get(name, ""))
            window = replace(window, clients=parts)
        return with_core(window, shares.values())


def _resolve(address: Address) -> tuple[str, ...]:
    """The addresses of the host that can be connected to come first."""
    found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    hosts = list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))
    for host in hosts:
        try:
            socket.create_connection((host, address.port), 2.0).close()
        except OSError:
            continue
        return (host, *(other for other in hosts if other != host))
    return tuple(hosts)
