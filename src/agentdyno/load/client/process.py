"""A client process as the run that started it sees it."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from os import read

from agentdyno.errors import RunError
from agentdyno.load.client.pipe import Batch, Kind, decode_batch, load_value, pipe_pair
from agentdyno.load.plan.orders import ClientSettings, StepOrder
from agentdyno.model.load import Outcome

STOP_S = 2.0
_TAIL_BYTES = 8 * 1024

Example = tuple[int, Outcome, str]


class ClientProcess:
    """Started at once, in a session of its own: Ctrl-C is for the run, which then stops it."""

    def __init__(self, settings: ClientSettings) -> None:
        self.number = settings.process
        self.up_to_ns = 0
        self.open_due_ns: int | None = 0
        self.open_requests = 0
        self.ended = self.ready = False
        self.problem = ""
        self.cpu: list[tuple[int, int]] = []
        self._tail = b""
        self.pipe, theirs = pipe_pair()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "agentdyno.load.client.worker", str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
        theirs.close()
        self.pid = self._process.pid
        self._drain = threading.Thread(target=self._drain_output, name="output of a load client", daemon=True)
        self._drain.start()
        self.pipe.post(Kind.SETUP, settings)

    def begin(self, order: StepOrder) -> None:
        """Hands over the next step; ``ready`` follows."""
        self.ready = self.ended = False
        self.problem = ""
        self.up_to_ns, self.open_due_ns, self.open_requests = 0, 0, 0
        self.cpu = []
        self.pipe.post(Kind.STEP, order)

    def go(self, start_ns: int) -> None:
        self.pipe.post(Kind.GO, start_ns)

    def stop(self) -> None:
        """Breaks the step off."""
        self.pipe.post(Kind.STOP)

    def receive(self) -> Iterator[Batch | Example]:
        """What has come; raises ``RunError`` when the process is gone or cannot go on."""
        self.pipe.flush()
        for kind, data in self.pipe.receive():
            if kind is Kind.BATCH:
                batch = decode_batch(data)
                self.up_to_ns, self.open_due_ns = batch.up_to_ns, batch.open_due_ns
                self.open_requests = batch.open_requests
                self.cpu.append((batch.at_ns, batch.cpu_ns))
                yield batch
            elif kind is Kind.EXAMPLE:
                example: Example = load_value(data)
                yield example
            elif kind is Kind.READY:
                self.ready, self.problem = True, load_value(data)
            elif kind is Kind.ENDED:
                self.ended = True
            elif kind is Kind.FAILED:
                raise RunError(f"load client {self.number} cannot go on: {load_value(data)}")
        if self.pipe.ended and not self.ended:
            raise self._dead()

    def close(self) -> None:
        """Ends the process, by force when it does not listen."""
        if self._process.poll() is None:
            self.pipe.post(Kind.QUIT)
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self.pipe.close()
        self._process.wait()
        self._drain.join(STOP_S)
        if self._process.stdout is not None:
            with suppress(OSError):
                self._process.stdout.close()

    def _dead(self) -> RunError:
        code: int | None = None
        with suppress(subprocess.TimeoutExpired):
            code = self._process.wait(STOP_S)
        self._drain.join(0.5)
        tail = self._tail.decode("utf-8", "replace").strip()[-1500:]
        return RunError(
            f"load client {self.number} died (status {code})", remedy=f"Its last output: {tail}" if tail else None
        )

    def _drain_output(self) -> None:
        assert self._process.stdout is not None
        fd = self._process.stdout.fileno()
        with suppress(OSError):
            while chunk := read(fd, 65536):
                self._tail = (self._tail + chunk)[-_TAIL_BYTES:]
