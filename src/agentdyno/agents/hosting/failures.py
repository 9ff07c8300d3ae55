"""From what an agent's code raised to the failure of its case, and across processes. Standard library only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentdyno.agents.hosting.answer import bounded, text_of
from agentdyno.contracts import CaseFailed
from agentdyno.errors import DynoError
from agentdyno.model.case import Response
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.model.metric import reported_name
from agentdyno.model.sample import FailureKind, Status

if TYPE_CHECKING:
    import traceback

MESSAGE_CAP = 2000
TRACEBACK_CAP = 8000
"""Characters kept of a message and of a traceback."""
_PACKAGE = str(Path(__file__).parent.parent)
_MACHINERY = ("/asyncio/", "/concurrent/futures/", "/threading.py", "<frozen runpy>")


def case_failed(error: BaseException, so_far: Response | None = None) -> CaseFailed:
    """The failure of a case whose agent raised ``error``; ``so_far`` is what had been recorded by then."""
    if isinstance(error, CaseFailed):
        error.response = _told_and_measured(error.response, so_far)
        return error
    status, kind, message, trace = Status.ERROR, FailureKind.EXCEPTION, text_of(error), None
    if isinstance(error, MemoryError):
        status, kind = Status.LIMIT, FailureKind.MEMORY
        message = f"MemoryError: {message}" if message else "the memory limit was reached"
    elif isinstance(error, SystemExit):
        kind, message = FailureKind.EXIT, f"called sys.exit({error.code!r})"
    elif not isinstance(error, DynoError):
        message = f"{type(error).__name__}: {message}" if message else type(error).__name__
        trace = own_traceback(error)
        if so_far is not None and "framework" in so_far.observed:
            from agentdyno.agents.frameworks.http_errors import model_failure

            told = model_failure(error, message[:MESSAGE_CAP], trace)
            if told is not None:
                told.response = so_far
                return told
    return CaseFailed(kind, message[:MESSAGE_CAP], status=status, response=so_far, traceback=trace)


def _told_and_measured(told: Response | None, so_far: Response | None) -> Response | None:
    """What the agent handed over with its failure; numbers in it are its own claims, the measured ones stay."""
    if told is None:
        return so_far
    measured = {} if so_far is None else so_far.readings
    claims = {reported_name(str(name)): value for name, value in told.readings.items()}
    return bounded(replace(told, readings={**claims, **measured}))


def own_traceback(error: BaseException) -> str:
    """The traceback and those of its causes, without the frames that lead into the agent's code."""
    import traceback  # slow to load, and few cases fail

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
    import traceback

    leading = 0
    while leading < len(frames) and _leads_in(frames[leading].filename):
        leading += 1
    return traceback.StackSummary.from_list(frames[leading:]) if leading < len(frames) else frames


def _leads_in(filename: str) -> bool:
    return filename.startswith(_PACKAGE) or any(part in filename for part in _MACHINERY)


def failure_to_plain(failed: CaseFailed) -> dict[str, object]:
    return {
        "kind": failed.kind.value,
        "message": failed.message,
        "status": failed.status.value,
        "retryable": failed.retryable,
        "retry_after_s": failed.retry_after_s,
        "fatal": failed.fatal,
        "remedy": failed.remedy,
        "response": to_plain(failed.response),
        "traceback": failed.traceback,
    }


def failure_from_plain(plain: dict[str, object], output_tail: str | None = None) -> CaseFailed:
    response, after, trace = plain["response"], plain["retry_after_s"], plain["traceback"]
    return CaseFailed(
        FailureKind(str(plain["kind"])),
        str(plain["message"]),
        status=Status(str(plain["status"])),
        retryable=bool(plain["retryable"]),
        retry_after_s=float(after) if isinstance(after, (int, float)) else None,
        fatal=bool(plain["fatal"]),
        remedy=str(plain["remedy"]),
        response=from_plain(Response, response) if response is not None else None,
        traceback=str(trace) if trace is not None else None,
        output_tail=output_tail,
    )
