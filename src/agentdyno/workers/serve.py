"""The worker's end: answers one message after the other until its owner is gone. Standard library only.

A reply is ``{"ok": content}``, ``{"error": {type, message, where, remedy}}`` for a ``DynoError`` that the operation
raised, or ``{"failed": details}`` for ``OperationFailed``. What an operation says meanwhile goes out as it is.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import sys
from collections.abc import Callable, Mapping

from agentdyno.errors import DynoError, RunError
from agentdyno.workers.frames import Message, receive, send

Say = Callable[[Message], None]
Handler = Callable[[Message, Say], object]
"""What an operation does: from its message to the content of the reply, which must have a JSON form."""

_PR_SET_PDEATHSIG = 1


class OperationFailed(Exception):
    """What was asked for was tried and did not work out; ``details`` tell the owner how."""

    def __init__(self, details: Mapping[str, object]) -> None:
        super().__init__("the operation failed")
        self.details = details


def serve(fd: int, operations: Mapping[str, Handler], *, close: Callable[[], object], out_of_memory: Handler) -> None:
    """Serves the owner at the other end of socket ``fd`` until it says ``close``, closes its end, or is gone.

    A message names its operation in ``op``; the reply to one with a ``number`` has that number too. ``out_of_memory``
    answers in place of an operation that ran out of memory, after everything that it held has been freed. ``close``
    is called at the end, however it comes about: its content is the reply to ``close`` and to SIGINT, which breaks
    off what is being done.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.set_inheritable(fd, False)
    end = socket.socket(fileno=fd)
    die_with(end, watching=False)
    server = _Server(end, operations, close, out_of_memory)
    try:
        while server.answer():
            pass
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        server.leave()
    except OSError:  # nobody listens any more
        server.close()
    except BaseException:
        server.leave()
        raise


class _Server:
    def __init__(
        self,
        end: socket.socket,
        operations: Mapping[str, Handler],
        close: Callable[[], object],
        out_of_memory: Handler,
    ) -> None:
        self._end, self._operations = end, operations
        self._close, self._out_of_memory = close, out_of_memory
        self._pid = os.getpid()

    def answer(self) -> bool:
        """Answers one message; false when there are no more."""
        message = receive(self._end)
        if message is None:
            self.close()
            return False
        if message["op"] == "close":
            self.leave()
            return False
        with contextlib.suppress(MemoryError):
            self._reply(self._operations[message["op"]], message)
            return True
        self._reply(self._out_of_memory, message)  # only here the frames are gone that held the memory
        return True

    def close(self) -> object:
        self._only_in_own_process()
        return self._close()

    def leave(self) -> None:
        """Closes and says so, if somebody listens."""
        closed = self.close()
        with contextlib.suppress(OSError):
            self._say({"ok": closed})

    def _reply(self, handler: Handler, message: Message) -> None:
        try:
            reply: Message = {"ok": handler(message, self._say)}
        except OperationFailed as failed:
            reply = {"failed": dict(failed.details)}
        except DynoError as error:
            reply = {"error": error_to_plain(error)}
        number = {"number": message["number"]} if "number" in message else {}
        try:
            self._say({**reply, **number})
        except ValueError as error:
            self._say({**number, "error": error_to_plain(RunError(f"cannot be told to its owner: {error}"))})

    def _say(self, message: Message) -> None:
        self._only_in_own_process()
        for name in ("stdout", "stderr"):
            with contextlib.suppress(Exception):  # the code in here may have closed or replaced them
                getattr(sys, name).flush()
        send(self._end, message)

    def _only_in_own_process(self) -> None:
        """A child that the code in here forked and let go on must not answer or close in its parent's place."""
        if os.getpid() != self._pid:
            os._exit(0)


def error_to_plain(error: DynoError) -> dict[str, str | None]:
    """The form in which an error of ours crosses processes."""
    return {"type": type(error).__name__, "message": error.message, "where": error.where, "remedy": error.remedy}


def die_with(end: socket.socket, *, watching: bool) -> None:
    """Ends this process as soon as the one that made the connection is gone (Linux). ``end`` is this process's end.

    With ``watching`` a thread waits for that, whichever thread of the owner started this process. Without it the
    kernel sends a signal when the thread that started this process ends: for processes that run other people's code,
    in which a thread of ours would take some of their memory and stand in the way of ``fork``.
    """
    owner: int = struct.unpack("3i", end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
    if watching:
        try:
            pidfd = os.pidfd_open(owner)
        except ProcessLookupError:
            os._exit(1)
        except (AttributeError, OSError):  # no pidfd here: the signal has to do
            pass
        else:
            if os.getppid() != owner:  # it was gone before, and the number may be somebody else's by now
                os._exit(1)
            _watch(pidfd)
            return
    with contextlib.suppress(OSError, ImportError, AttributeError):
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == 1 and owner != 1:  # it was gone before the line above
            os._exit(1)


def _watch(pidfd: int) -> None:
    import select
    import threading

    def watch() -> None:
        poller = select.poll()
        poller.register(pidfd, select.POLLIN)
        poller.poll()
        os._exit(1)

    threading.Thread(target=watch, name="owner watch", daemon=True).start()
