"""From what measured code raised to the record of it."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentdyno.errors import DynoError
from agentdyno.model.sample import Failure, FailureKind, Status
from agentdyno.registry.adapt import InstrumentFailed
from agentdyno.runner.bench.readings import OutputUnserialisable, text_of

MESSAGE_CAP = 2000
TRACEBACK_CAP = 8000
"""Characters kept of a message and of a traceback."""


class TrialTimeout(BaseException):
    """Raised inside measured code when its time is up; not an Exception, so that it is rarely caught there."""


class StageFailed(Exception):
    """Loading, setting up or warming up failed; carries the failure for the sample that pays for it."""

    def __init__(self, status: Status, failure: Failure) -> None:
        super().__init__(failure.message)
        self.status = status
        self.failure = failure


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Whatever is raised inside, except an interrupt, leaves as ``StageFailed`` of the stage ``name``."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        status, failure = classify(error, name)
        raise StageFailed(status, failure) from error


def classify(error: BaseException, where: str) -> tuple[Status, Failure]:
    """The status and the record of an exception raised by measured code."""
    status, kind, message, trace = Status.ERROR, FailureKind.EXCEPTION, text_of(error), None
    if isinstance(error, MemoryError):
        status, kind = Status.LIMIT, FailureKind.MEMORY
        message = f"MemoryError: {message}" if message else "the memory limit was reached (memory_limit_mb)"
    elif isinstance(error, TrialTimeout):
        status, kind = Status.TIMEOUT, FailureKind.TIMEOUT
    elif isinstance(error, SystemExit):
        kind, message = FailureKind.EXIT, f"called sys.exit({text_of(error.code, repr)})"
    elif isinstance(error, OutputUnserialisable):
        kind = FailureKind.SERIALISATION
    elif not isinstance(error, (DynoError, InstrumentFailed)):
        message = f"{type(error).__name__}: {message}" if message else type(error).__name__
        trace = own_traceback(error)
    return status, Failure(kind, message[:MESSAGE_CAP], where, trace)


def own_traceback(error: BaseException) -> str:
    """The traceback and those of its causes, without the harness's frames."""
    told = traceback.TracebackException.from_exception(error)
    waiting, seen = [told], set()
    while waiting:
        part = waiting.pop()
        if id(part) not in seen:
            seen.add(id(part))
            part.stack = _own_frames(part.stack)
            waiting += [other for other in (part.__cause__, part.__context__, *(part.exceptions or ())) if other]
    return "".join(told.format())[-TRACEBACK_CAP:]


def _own_frames(frames: traceback.StackSummary) -> traceback.StackSummary:
    package = str(Path(__file__).parent.parent)
    ours = [frame.filename.startswith(package) for frame in frames]
    leading = 0
    while leading < len(frames) and (ours[leading] or "/asyncio/" in frames[leading].filename):
        leading += 1
    own = [frame for index, frame in enumerate(frames) if index >= leading and not ours[index]]
    return traceback.StackSummary.from_list(own) if own else frames
