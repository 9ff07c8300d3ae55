"""A server in a process of its own: started with settings, asked where it listens, and gone when its owner is."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable, Mapping
from typing import Any

from agentdyno.errors import DynoError, RunError
from agentdyno.workers.frames import Message, receive, send
from agentdyno.workers.link import Link
from agentdyno.workers.serve import die_with, error_to_plain

STOP_S = 5.0
"""How long a server may take to stop before it is killed."""
_TAIL_CHARACTERS = 1500

Ready = Callable[[Mapping[str, object]], None]


class ChildServer:
    """Starts ``main`` of a module of ours, hands it ``settings`` and waits until it says that it serves (``ready``).

    ``what`` names it in messages. Its output is drained and only the end of it kept.
    """

    def __init__(self, module: str, settings: Mapping[str, object], *, what: str, wait_s: float) -> None:
        from agentdyno.workers.spawn import (  # the server's process, which loads this too, needs it not
            WorkerStart,
            spawn,
        )

        self._what = what
        self._process, end = spawn(WorkerStart(module))
        self._process.drain_in_background()
        self.pid = self._process.pid
        end.settimeout(wait_s)
        link = Link(end)
        try:
            self.ready = self._start(link, settings, wait_s)
        except BaseException:
            self.stop()
            raise
        finally:
            link.close()

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    @property
    def exit_status(self) -> int | None:
        """How its process ended, negative for a signal; ``None`` while it runs."""
        return self._process.returncode

    def tail(self) -> str:
        """The end of what the server has printed."""
        return self._process.tail() or ""

    def stop(self) -> None:
        """Asks it to stop, kills it when it does not, and waits until it is gone."""
        if self.alive:
            self._process.terminate()
            self._process.wait(STOP_S)
        self._process.close()

    def _start(self, link: Link, settings: Mapping[str, object], wait_s: float) -> dict[str, Any]:
        with contextlib.suppress(OSError):  # it died at once; the answer that does not come says so
            link.send(dict(settings))
        self._process.wait(wait_s, link.fileno())
        if not link.readable() and self.alive:
            raise RunError(f"{self._what} did not start within {wait_s:g} s", remedy=self._last_words())
        answer = link.receive() if link.readable() else None
        if answer is None:
            code = self._process.wait(STOP_S)
            raise RunError(f"{self._what} did not start (status {code})", remedy=self._last_words())
        if "error" in answer:
            self._process.wait(STOP_S)
            error = answer["error"]
            raise RunError(error["message"], where=error["where"], remedy=error["remedy"] or self._last_words())
        ready: dict[str, Any] = answer["ok"]
        return ready

    def _last_words(self) -> str | None:
        self._process.drain()
        tail = self.tail()
        return f"Its last output: {tail[-_TAIL_CHARACTERS:]}" if tail else None


def run_child(fd: int, serve: Callable[[Mapping[str, Any], Ready], None]) -> None:
    """The other end: reads the settings, serves, and reports an error of ours instead of a traceback."""
    os.set_inheritable(fd, False)
    end = socket.socket(fileno=fd)
    die_with(end, watching=True)
    settings = receive(end)
    if settings is None:
        return

    def say(answer: Message) -> None:
        send(end, answer)
        end.close()

    try:
        serve(settings, lambda ready: say({"ok": dict(ready)}))
    except DynoError as error:
        say({"error": error_to_plain(error)})
