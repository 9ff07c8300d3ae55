"""Clients as the run that uses them sees them, and those that it starts itself."""

from __future__ import annotations

from collections.abc import Iterator

from agentdyno.errors import RunError
from agentdyno.load.client.pipe import Kind, Pipe, RequestBatch, decode_batch, load_value
from agentdyno.load.plan.orders import ClientSettings, StepOrder
from agentdyno.load.windows.core import CoreTimes
from agentdyno.model.load import Outcome
from agentdyno.workers.spawn import WorkerStart, spawn

STOP_S = 2.0
_TAIL_CHARACTERS = 1500

Example = tuple[int, Outcome, str]


class ClientLost(RunError):
    """A client on another machine is gone; the others may go on."""


class ClientHandle:
    """A client as the run sees it, wherever it works; ``pipe`` is the way to it. ``lost`` says why it is gone, where
    the run goes on without it."""

    def __init__(self, number: int, pipe: Pipe) -> None:
        self.number = number
        self.pipe = pipe
        self.up_to_ns = 0
        self.open_due_ns: int | None = 0
        self.open_requests = 0
        self.ended = self.ready = False
        self.ended_ns = 0
        """When a step ended, in ns since its start."""
        self.problem = self.lost = ""
        self.core = CoreTimes()

    @property
    def name(self) -> str:
        """What it is called in results and messages."""
        return f"load client {self.number}"

    @property
    def overdue(self) -> bool:
        """Whether it should have been heard of by now."""
        return False

    def begin(self, order: StepOrder) -> None:
        """Hands over the next step; ``ready`` follows."""
        self.ready = self.ended = False
        self.problem = ""
        self.up_to_ns, self.open_due_ns, self.open_requests, self.ended_ns = 0, 0, 0, 0
        self.core = CoreTimes()
        self.pipe.post(Kind.STEP, order)

    def go(self, start_ns: int) -> None:
        """The step begins at ``start_ns`` (``perf_counter_ns`` of this machine)."""
        self.pipe.post(Kind.GO, start_ns)

    def stop(self) -> None:
        """Breaks the step off."""
        self.pipe.post(Kind.STOP)

    def receive(self) -> Iterator[RequestBatch | Example]:
        """What has come; raises ``RunError`` when the client is gone or cannot go on."""
        self.pipe.flush()
        for kind, data in self.pipe.receive():
            item = self.take(kind, data)
            if item is not None:
                yield item
        if self.pipe.ended and not self.ended:
            raise self.gone()

    def take(self, kind: Kind, data: bytes) -> RequestBatch | Example | None:
        """Notes what a message says; what the run has to count is returned."""
        if kind is Kind.BATCH:
            batch = decode_batch(data)
            self.up_to_ns, self.open_due_ns = batch.up_to_ns, batch.open_due_ns
            self.open_requests = batch.open_requests
            self.core.add(batch.at_ns, batch.cpu_ns, batch.held_ns)
            return batch
        if kind is Kind.EXAMPLE:
            example: Example = load_value(data)
            return example
        if kind is Kind.READY:
            self.ready, self.problem = True, load_value(data)
        elif kind is Kind.ENDED:
            self.ended, self.ended_ns = True, load_value(data)
        elif kind is Kind.FAILED:
            raise RunError(f"{self.name} cannot go on: {load_value(data)}")
        return None

    def gone(self) -> RunError:
        """What is said of a client that does not answer any more."""
        return RunError(f"{self.name} is gone")

    def close(self) -> None:
        """Ends the client."""
        self.pipe.close()


class ClientProcess(ClientHandle):
    """Started at once, in a session of its own: Ctrl-C is for the run, which then stops it."""

    def __init__(self, settings: ClientSettings) -> None:
        self._process, end = spawn(WorkerStart("agentdyno.load.client.worker"))
        self._process.drain_in_background()
        self.pid = self._process.pid
        super().__init__(settings.process, Pipe(end))
        self.pipe.post(Kind.SETUP, settings)

    def close(self) -> None:
        """Ends the process, by force when it does not listen."""
        if self._process.returncode is None:
            self.pipe.post(Kind.QUIT)
            self._process.wait(STOP_S)
        self.pipe.close()
        self._process.close()

    def gone(self) -> RunError:
        code = self._process.wait(STOP_S)
        self._process.drain()
        tail = (self._process.tail() or "")[-_TAIL_CHARACTERS:]
        return RunError(f"{self.name} died (status {code})", remedy=f"Its last output: {tail}" if tail else None)
