"""What is remembered of an arm's samples beyond numbers: first failures, models, and a print of the answers."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agentdyno.findings.figures.claims import Claims
from agentdyno.model import Sample, Status
from agentdyno.model.identity import canonical_json
from agentdyno.model.record import ErrorClass
from agentdyno.model.sample import raised_reasons, scoring_items

MOST_REMEMBERED = 50
"""Failed cases of an arm that are remembered with what was answered."""
TOOL_CALLS, CALLS = "tool_calls", "calls"
"""The scorer that judges calls, and where it keeps those that were made."""
FINAL_STATE = "final_state"
"""The scorer that judges the files that a workflow left."""
SHORT = 400
"""Characters kept of an answer or a message."""
PROXY_CALLS = "proxy.calls"
FAULTS = (
    "proxy.truncated",
    "proxy.no_finish_reason",
    "proxy.broken",
    "proxy.token_limit",
    "proxy.rate_limited",
    "proxy.retries",
)
"""Readings that tell of something that an agent, or its framework, may have hidden."""
WAITED = "proxy.waited_s"


@dataclass(slots=True)
class CallFault:
    """How often something was seen, in how many executions of which cases, the first one named."""

    times: int = 0
    executions: int = 0
    case_id: str = ""
    answered: int = 0


@dataclass(slots=True)
class RecordedCalls:
    """What the recording proxy saw of an arm's executions, counted as they pass by.

    ``faults`` by the name of their reading; ``waited_s`` is what agents waited before another try, in all.
    """

    calls: int = 0
    unknown: int = 0
    waited_s: float = 0.0
    faults: dict[str, CallFault] = field(default_factory=dict)

    def add(self, sample: Sample) -> None:
        readings = sample.readings
        if PROXY_CALLS not in readings:
            return
        self.calls += round(readings[PROXY_CALLS])
        self.unknown += round(readings.get("proxy.unknown", 0.0))
        self.waited_s += readings.get(WAITED, 0.0)
        for name in FAULTS:
            times = round(readings.get(name, 0.0))
            if not times:
                continue
            fault = self.faults.setdefault(name, CallFault(case_id=sample.case_id))
            fault.times += times
            fault.executions += 1
            fault.answered += sample.usable


@dataclass(slots=True)
class Remark:
    """A failed case: how its first failed execution ended and how many did."""

    status: str
    got: str
    why: str
    bad: int = 1


@dataclass(slots=True)
class Remarks:
    """Bounded, whatever the size of the answers; ``answers`` is the same for two arms that answered all alike.

    ``models`` counts executions by the model that answered, ``unpriced`` those whose cost is not known, ``priced_by``
    where costs come from, ``claims`` what the agent says of itself, ``recorded`` what a proxy saw of its model calls.
    ``observed`` is the configuration that the first answer reported. Without ``prints`` there is no print of the
    answers, which takes as long as everything else.
    """

    failed: dict[str, Remark] = field(default_factory=dict)
    failed_cases: set[str] = field(default_factory=set)
    simulated: int = 0
    models: Counter[str] = field(default_factory=Counter)
    unpriced: Counter[str] = field(default_factory=Counter)
    priced_by: Counter[str] = field(default_factory=Counter)
    observed: Mapping[str, object] = field(default_factory=dict)
    first_failure: str = ""
    answers: int = 0
    answered: int = 0
    unscored: int = 0
    classes: Classes = field(default_factory=dict)
    prints: bool = True
    most_remembered: int = MOST_REMEMBERED
    claims: Claims = field(default_factory=Claims)
    recorded: RecordedCalls = field(default_factory=RecordedCalls)

    def add(self, sample: Sample, passed: bool, score: float | None) -> None:
        details = sample.details
        self.simulated += bool(details.get("simulated"))
        self.claims.add(sample)
        if PROXY_CALLS in sample.readings:
            self.recorded.add(sample)
        model = details.get("model")
        named = model if isinstance(model, str) and model else ""
        if named:
            self.models[named] += 1
        cost = details.get("cost")
        source = str(cost.get("source", "")) if type(cost) is dict or isinstance(cost, Mapping) else ""
        if source:
            self.priced_by[source] += 1
        if source == "unknown" and named:
            self.unpriced[named] += 1
        observed = details.get("observed")
        if observed is not None and not self.observed and isinstance(observed, Mapping):
            self.observed = observed
        if sample.usable:
            if self.prints:
                self._print(sample)
            self.unscored += score is None and "score" in sample.scores
        if not passed:
            self._remember(sample, score)

    def _print(self, sample: Sample) -> None:
        """A sum of digests: the order in which samples come does not matter."""
        text = canonical_json([sample.case_id, sample.iteration, sample.output])
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        self.answers = (self.answers + int.from_bytes(digest, "big")) % (1 << 64)
        self.answered += 1

    def _remember(self, sample: Sample, score: float | None) -> None:
        self.failed_cases.add(sample.case_id)
        count_error(self.classes, sample)
        if sample.failure is not None and not self.first_failure:
            self.first_failure = shorten(sample.failure.message)
        known = self.failed.get(sample.case_id)
        if known is not None:
            known.bad += 1
        elif len(self.failed) < self.most_remembered:
            status = "not judged" if sample.status is Status.OK and score is None else sample.status.value
            self.failed[sample.case_id] = Remark(status, shorten(answer_text(sample)), why_text(sample))


def why_text(sample: Sample) -> str:
    """Why it did not pass, in the scorer's words or the failure's; "" where nobody says."""
    if sample.failure is not None:
        return shorten(sample.failure.message)
    told = [str(item["explanation"]) for _, item in scoring_items(sample.details) if item.get("explanation")]
    return shorten(next(iter([*raised_reasons(sample.details), *told]), ""))


def answer_text(sample: Sample) -> str:
    """What the agent answered; where the tools that it called were judged, the calls; where the files that a
    workflow left, what became of its steps. "" where nothing came."""
    for _, item in scoring_items(sample.details):
        details = item.get("details")
        calls = details.get(CALLS) if isinstance(details, Mapping) else None
        if item.get("scorer") == TOOL_CALLS and isinstance(calls, (list, tuple)):
            return ", ".join(map(str, calls)) or "no tool was called"
        if item.get("scorer") == FINAL_STATE and isinstance(sample.output, Mapping):
            return workflow_text(sample.output)
    return "" if sample.output is None else as_text(sample.output)


def wanted_text(target: object, scorers: Sequence[str]) -> str:
    """What was asked for; calls of tools as ``answer_text`` has those that were made. "" where nothing was."""
    calls = target if isinstance(target, (list, tuple)) else [target]
    if TOOL_CALLS in scorers and all(isinstance(call, (str, Mapping)) for call in calls):
        return ", ".join(map(_call_text, calls)) or "no call of a tool"
    return "" if target is None else as_text(target)


def _call_text(call: object) -> str:
    if not isinstance(call, Mapping) or "name" not in call:
        return as_text(call)
    given = call.get("arguments")
    return f"{call['name']}" + ("" if given is None else f"({json.dumps(given, ensure_ascii=False, default=str)})")


def workflow_text(output: Mapping[str, object]) -> str:
    """``failed: index: exit status 1 · done: reads · not run: count`` of the answer of a workflow agent."""
    steps = output.get("steps")
    states = steps.items() if isinstance(steps, Mapping) else ()
    parts = [f"{str(state).replace('_', ' ')}: {', '.join(map(str, names))}" for state, names in states]
    reason = output.get("reason")
    if reason:
        # The reason names the steps that failed.
        outcome = str(output.get("outcome", "")).replace("_", " ")
        parts = [f"{outcome}: {reason}", *(part for part in parts if not part.startswith("failed: "))]
    return " · ".join(parts) or as_text(output)


def as_text(value: object) -> str:
    """A text as it is, any other JSON value as JSON."""
    return value if isinstance(value, str) else canonical_json(value)


def shorten(text: str, most: int = SHORT) -> str:
    """On one line, with a mark where it is cut."""
    # Only so much of a long text is looked at: an answer may have a million characters.
    joined = " ".join(text[: most * 4].split())
    return joined if len(joined) <= most and len(text) <= most * 4 else joined[: most - 1].rstrip() + "…"


MOST_CLASSES = 50
"""Classes of one arm that are told apart; what comes after counts as ``other``."""
MOST_CASES = 5
NOT_JUDGED = "not judged"
"""The class of an answer that came and that no scorer could judge."""
SCORER = "scorer"
"""The kind of the classes of answers on which a scorer raised; their messages name it."""
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
    """Adds an execution that did not pass.

    Wrong answers are one class, what nobody could judge is another, and so is each way in which a scorer raised.
    """
    failure = sample.failure
    raised = raised_reasons(sample.details) if failure is None and sample.status is Status.FAILED else []
    if failure is not None:
        kind, example = failure.kind.value, failure.message[:_LONGEST]
        message = message_class(failure.message)
    elif raised:
        kind, example, message = SCORER, shorten(raised[0]), message_class(raised[0])
    else:
        kind, example, message = "", "", NOT_JUDGED if sample.status is Status.OK else ""
    key = (sample.status.value, kind, message)
    if key not in classes and len(classes) >= MOST_CLASSES:
        key = (sample.status.value, "", "other")
    tally = classes.setdefault(key, ErrorTally(example=example))
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
