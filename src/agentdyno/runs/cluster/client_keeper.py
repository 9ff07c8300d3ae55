"""Keeps a load client on this machine for a run on another one, which it is reached from by a stream of bytes."""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter_ns

from agentdyno.errors import DynoError, RunError
from agentdyno.load.client.pipe import Kind, Pipe, load_value
from agentdyno.load.client.process import ClientProcess
from agentdyno.load.clients.handshake import loopback_id, send_line
from agentdyno.load.clients.remote import RemoteSetup, with_key
from agentdyno.load.plan.orders import StepOrder
from agentdyno.model.load import SelfCheck
from agentdyno.runs.cluster.files import FilesHere, ShippedFiles
from agentdyno.runs.cluster.station import versions

_POLL_MS = 500


class ClientKeeper:
    """One client at a time, in a process of its own: what that one says goes on as it is. It ends with the stream."""

    def __init__(self, end: socket.socket, environ: Mapping[str, str] = os.environ) -> None:
        send_line(end, {**versions(), "host": socket.gethostname(), "loopback": loopback_id()})
        self._far, self._environ = Pipe(end), environ
        self._client: ClientProcess | None = None
        self._files: FilesHere | None = None
        self._key: str | None = None

    def serve(self) -> None:
        """Until the other side is gone."""
        try:
            while not self._far.ended:
                self._wait()
                self._far.flush()
                for kind, data in self._far.receive():
                    self._attend(kind, data)
                self._pass_on()
        finally:
            self._end_client()
            self._far.close()

    def _wait(self) -> None:
        waiting = select.poll()
        for pipe in (self._far, self._client.pipe if self._client is not None else None):
            if pipe is not None:
                waiting.register(pipe.fileno(), select.POLLIN | (select.POLLOUT if pipe.waiting else 0))
        waiting.poll(_POLL_MS)

    def _attend(self, kind: Kind, data: bytes) -> None:
        if kind is Kind.PING:
            self._far.post(Kind.PONG, perf_counter_ns())
            return
        try:
            if kind is Kind.CHECK:
                self._far.post(Kind.CHECKED, _checked(data))
            elif kind is Kind.SETUP:
                self._set_up(load_value(data))
            elif kind is Kind.QUIT:
                self._end_client()
                self._far.post(Kind.LEFT, "")
            elif self._client is not None:
                self._client.pipe.post(kind, self._order(load_value(data)) if kind is Kind.STEP else data)
        except DynoError as error:
            self._far.post(Kind.FAILED, str(error))
        except Exception as error:  # noqa: BLE001  (whoever asked has to hear of it)
            self._far.post(Kind.FAILED, f"{type(error).__name__}: {error}")

    def _pass_on(self) -> None:
        client = self._client
        if client is None:
            return
        client.pipe.flush()
        for kind, data in client.pipe.receive():
            self._far.post(kind, data)
        if client.pipe.ended:
            self._client = None
            self._far.post(Kind.LEFT, client.gone().message)
            client.close()

    def _set_up(self, setup: RemoteSetup) -> None:
        self._end_client()
        self._key = self._environ.get(setup.key_env) if setup.key_env else None
        if setup.key_env and not self._key:
            raise RunError(
                f"{setup.key_env}, the variable with the key of the target, is not set on {socket.gethostname()}"
            )
        self._files = FilesHere(ShippedFiles(setup.contents, setup.digests))
        settings = setup.settings
        if settings.ca_file:
            settings = replace(settings, ca_file=self._files.of(settings.ca_file))
        self._client = ClientProcess(settings)

    def _order(self, order: StepOrder) -> StepOrder:
        """With this machine's key and files in the place of those there."""
        if self._key:
            order = with_key(order, self._key)
        journey, files = order.journey, self._files
        if journey is None or files is None:
            return order
        target = (
            replace(journey.target, ca_file=files.of(journey.target.ca_file))
            if journey.target.ca_file
            else journey.target
        )
        here = replace(
            journey, reference=files.text(journey.reference), base_dir=files.folder(journey.base_dir), target=target
        )
        return replace(order, journey=here)

    def _end_client(self) -> None:
        client, self._client = self._client, None
        files, self._files = self._files, None
        if client is not None:
            client.close()
        if files is not None:
            files.close()


def _checked(options: bytes) -> SelfCheck | str:
    from agentdyno.load.selfcheck import self_check

    try:
        return self_check(load_value(options))
    except DynoError as error:
        return str(error)
