"""Failures sorted by what they have in common."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from agentdyno.model import Sample, Status
from agentdyno.model.record import ErrorClass

MOST_CLASSES = 50
"""Classes of one arm that are told apart; what comes after counts as ``other``."""
MOST_CASES = 5
NOT_JUDGED = "not judged"
"""The class of an answer that came and that no scorer could judge."""
_LONGEST = 200
_VARYING = re.compile(
    # A code says what happened: 404 and 503 are not alike.
    r"(?P<code>\b(?:HTTP|status|code|answered|errno|signal)\b[ :=]{1,2}-?\d{1,3}\b)"
    # An apostrophe within a word opens no quotation.
    r"|(?P<quoted>(?<!\w)'[^']*'(?!\w)|\"[^\"]*\"|`[^`]*`)"
    r"|(?P<address>0x[0-9a-fA-F]+)"
    r"|(?P<uuid>\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b)"
    r"|(?P<path>(?<!\w)(?:/[\w.+-]+){2,})"
    r"|(?P<id>(?<![^\W_])(?=[a-zA-Z]*\d)(?=\d*[a-zA-Z])(?:[0-9a-fA-F]{8,}|[0-9a-zA-Z]{16,})(?![^\W_]))"
    r"|(?P<number>\d+(?:[.,]\d+)*)"
)
_MARKS = {"quoted": "'…'", "address": "ADDRESS", "uuid": "ID", "path": "PATH", "id": "ID", "number": "N"}


@dataclass(slots=True)
class ErrorTally:
    count: int = 0
    example: str = ""
    cases: list[str] = field(default_factory=list)


Classes = dict[tuple[str, str, str], ErrorTally]
"""By status, kind and message class."""


def count_error(classes: Classes, sample: Sample) -> None:
    """Adds an execution that did not pass; wrong answers are one class, what nobody could judge is another."""
    failure = sample.failure
    kind = failure.kind.value if failure is not None else ""
    if failure is not None:
        message = message_class(failure.message)
    else:
        message = NOT_JUDGED if sample.status is Status.OK else ""
    key = (sample.status.value, kind, message)
    if key not in classes and len(classes) >= MOST_CLASSES:
        key = (sample.status.value, "", "other")
    tally = classes.setdefault(key, ErrorTally(example=failure.message[:_LONGEST] if failure is not None else ""))
    tally.count += 1
    if len(tally.cases) < MOST_CASES and sample.case_id not in tally.cases:
        tally.cases.append(sample.case_id)


def classes_of(classes: Classes) -> tuple[ErrorClass, ...]:
    """The most frequent first."""
    found = [
        ErrorClass(status, kind, message, tally.count, tally.example, tuple(tally.cases))
        for (status, kind, message), tally in classes.items()
    ]
    return tuple(sorted(found, key=lambda item: (-item.count, item.status, item.kind, item.message)))


def message_class(message: str) -> str:
    """The first line of a message (the last one of a traceback) with what varies from one to the next left out.

    That are numbers, quoted texts, addresses, ids and paths; codes of HTTP and of a process that ended stay.
    """
    lines = message.strip().splitlines() or [""]
    line = lines[-1] if lines[0].startswith("Traceback") else lines[0]
    text = _VARYING.sub(_mark, line[: 4 * _LONGEST])
    return " ".join(text.split())[:_LONGEST]


def _mark(found: re.Match[str]) -> str:
    return found[0] if found.lastgroup == "code" else _MARKS[found.lastgroup or "number"]
