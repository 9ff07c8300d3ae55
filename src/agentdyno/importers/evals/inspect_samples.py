"""The samples of an Inspect log: one execution of one case each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from agentdyno.importers.content import cut, shown, text_of
from agentdyno.importers.document import Node
from agentdyno.importers.evals.evaluated import answered, judged
from agentdyno.model import Case, Failure, FailureKind, Sample, Status

_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_ATTACHED = "attachment://"
_PASSED_ON = ("role", "content", "tool_calls", "tool_call_id", "function")
_TRACEBACK_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class Primary:
    """The scorer that decides, the key in its value where that is an object, and the score from which tries pass."""

    scorer: str
    key: str | None
    threshold: float


@dataclass(slots=True)
class Values:
    """What the scorers of one sample said.

    ``scores`` are those in 0..1, with ``score`` for the deciding one; ``outside`` are numbers that are not, ``plain``
    is true where the deciding value is one that Inspect itself turns into a number.
    """

    scores: dict[str, float | None] = field(default_factory=dict)
    outside: dict[str, float] = field(default_factory=dict)
    scoring: list[dict[str, object]] = field(default_factory=list)
    plain: bool = True


@dataclass(frozen=True, slots=True)
class Tried:
    """The model under test, as the log names it. ``metered``: it reports tokens, so that none are none used."""

    model: str
    metered: bool
    simulated: bool


@dataclass(frozen=True, slots=True)
class InspectExecution:
    """A case, its execution, and what its scorers said."""

    case: Case
    sample: Sample
    values: Values


def read_sample(node: Node, primary: Primary, tried: Tried) -> InspectExecution:
    """One element of ``samples``, or one file of them."""
    attachments = _attachments(node)
    case = _case(node, attachments)
    values = _values(node, primary)
    usage, other = _usage(node, tried)
    readings = _readings(node, usage)
    details: dict[str, object] = {"imported": True}
    output = _output(node, attachments)
    if output is not None:
        details["model"] = _model(node, tried.model)
    if tried.simulated:
        details["simulated"] = True
    if "cost_usd" in readings:
        details["cost"] = {"usd": readings["cost_usd"], "source": "reported"}
    if other:
        details["other_models"] = list(other)
        details["judge_cost_usd"] = _sum([use.cost_usd for use in other.values()])
    if values.scoring:
        details["scoring"] = values.scoring
    if values.outside:
        details["outside_0_to_1"] = dict(values.outside)
    limit = node.get("limit")
    if limit is not None:
        details["limit"] = text_of(limit.at("type"))
    failure = _failure(node, values)
    started = node.get("started_at")
    retries = node.get("error_retries")
    sample = answered(
        case.id,
        node.at("epoch").count(1) - 1,
        status=Status.ERROR if failure else judged(values.scores.get("score"), primary.threshold),
        at_ms=0 if started is None else started.time_ms(),
        readings=readings,
        scores={} if failure else values.scores,
    )
    sample = replace(
        sample,
        attempts=1 + (0 if retries is None else len(retries.elements())),
        usage=usage.tokens,
        output=output,
        details=details,
        failure=failure,
    )
    return InspectExecution(case, sample, values)


def value_of(node: Node) -> float | None:
    """A score as Inspect turns it into a number; ``None`` where it has no number for it."""
    value = node.value
    if isinstance(value, str):
        text = node.text()
        if text in _LETTERS:
            return _LETTERS[text]
        if text.lower() in _WORDS:
            return _WORDS[text.lower()]
        try:
            number = float(text)
        except ValueError:
            return None
        return number if math.isfinite(number) else None
    if isinstance(value, float) and not math.isfinite(value):
        return None  # how Inspect marks what could not be scored
    if isinstance(value, bool):
        return float(value)
    return node.number() if isinstance(value, int | float) else None


def _values(node: Node, primary: Primary) -> Values:
    found = Values()
    given = node.get("scores")
    for scorer, score in given.items() if given is not None else ():
        value = score.at("value")
        told: dict[str, object] = {"scorer": scorer, "value": shown(value)}
        explanation = score.get("explanation")
        if explanation is not None:
            told["explanation"] = text_of(explanation)
        found.scoring.append(told)
        if isinstance(value.value, dict):
            for key, part in value.items():
                deciding = scorer == primary.scorer and key == primary.key
                _note(found, f"{scorer}.{key}", value_of(part), deciding)
        elif isinstance(value.value, list):
            for place, part in enumerate(value.elements()):
                _note(found, f"{scorer}.{place}", value_of(part), False)
        else:
            _note(found, scorer, value_of(value), scorer == primary.scorer and primary.key is None)
    if given is not None and given.value and "score" not in found.scores:
        found.scores, found.plain = {"score": None, **found.scores}, False
    return found


def _note(found: Values, name: str, number: float | None, deciding: bool) -> None:
    inside = number is not None and 0.0 <= number <= 1.0
    if number is not None and not inside:
        found.outside[name] = number
    if deciding:
        found.scores = {"score": number if inside else None, **found.scores}
        found.plain = number is not None
    elif name != "score":
        found.scores[name] = number if inside else None


def _failure(node: Node, values: Values) -> Failure | None:
    error = node.get("error")
    if error is not None:
        trace = error.get("traceback")
        return Failure(
            FailureKind.EXCEPTION,
            text_of(error.at("message")),
            traceback=None if trace is None else cut(text_of(trace), _TRACEBACK_CHARACTERS),
        )
    limit = node.get("limit")
    if limit is not None and not values.scores:
        return Failure(FailureKind.EXCEPTION, f"ended by its {text_of(limit.at('type'))} limit before it was scored")
    return None


@dataclass(frozen=True, slots=True)
class _Use:
    tokens: dict[str, float]
    total: float | None
    cost_usd: float | None


def _usage(node: Node, tried: Tried) -> tuple[_Use, dict[str, _Use]]:
    """What the model under test used, and what others did that took part (a judge's tokens are its own)."""
    given = node.get("model_usage")
    uses = {} if given is None else {name: _use(use) for name, use in given.items()}
    nothing = _Use({}, 0.0 if tried.metered and given is not None else None, None)
    return uses.pop(tried.model, nothing), uses


def _sum(parts: list[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return math.fsum(known) if len(known) == len(parts) else None


def _use(node: Node) -> _Use:
    def amount(key: str) -> float:
        given = node.get(key)
        return 0.0 if given is None else given.amount()

    read, written = amount("input_tokens_cache_read"), amount("input_tokens_cache_write")
    # Inspect counts what came from the cache apart; here it is part of the input.
    tokens = {
        "input_tokens": node.at("input_tokens").amount() + read + written,
        "output_tokens": node.at("output_tokens").amount(),
        "cached_tokens": read,
        "reasoning_tokens": amount("reasoning_tokens"),
    }
    cost = node.get("total_cost")
    return _Use(
        {name: value for name, value in tokens.items() if value},
        node.at("total_tokens").amount(),
        None if cost is None else cost.amount(),
    )


def _readings(node: Node, usage: _Use) -> dict[str, float]:
    readings: dict[str, float] = {}
    for key, name in (("total_time", "duration_s"), ("working_time", "working_s")):
        given = node.get(key)
        if given is not None:
            readings[name] = given.amount()
    if usage.total is not None:
        readings |= {name: usage.tokens.get(name, 0.0) for name in ("input_tokens", "output_tokens")}
        readings["total_tokens"] = usage.total
    if usage.cost_usd is not None:
        readings["cost_usd"] = usage.cost_usd
    return readings


def _case(node: Node, attachments: Mapping[str, str]) -> Case:
    metadata = node.get("metadata")
    kept: dict[str, object] = {}
    for key, member in metadata.items() if metadata is not None else ():
        kept[key] = shown(member)
    choices = node.get("choices")
    if choices is not None:
        kept["choices"] = shown(choices)
    return Case(case_id(node.at("id")), _asked(node.at("input"), attachments), shown(node.get("target")), kept)


def case_id(node: Node) -> str:
    """Inspect numbers samples that have no id."""
    return node.text() if isinstance(node.value, str) else str(node.count())


def _asked(node: Node, attachments: Mapping[str, str]) -> object:
    """A text or messages, without the ids that every run gives them anew."""
    if isinstance(node.value, str):
        return _resolved(text_of(node), attachments)
    asked = []
    for message in node.elements():
        kept = {key: shown(member) for key, member in message.items() if key in _PASSED_ON}
        if isinstance(kept.get("content"), str):
            kept["content"] = _resolved(str(kept["content"]), attachments)
        asked.append(kept)
    return asked


def _output(node: Node, attachments: Mapping[str, str]) -> object:
    """The completion, which older logs hold in the first choice only."""
    output = node.get("output")
    if output is None:
        return None
    choices = output.get("choices")
    if choices is None or not choices.elements():
        return None
    given = output.get("completion")
    if given is not None:
        return _resolved(text_of(given), attachments)
    content = choices.elements()[0].at("message").get("content")
    if content is None or isinstance(content.value, str):
        return _resolved(text_of(content), attachments)
    texts = [part.get("text") for part in content.elements() if part.get("text") is not None]
    return "\n".join(_resolved(text_of(text), attachments) for text in texts)


def _model(node: Node, model: str) -> str:
    output = node.get("output")
    answered_by = None if output is None else output.get("model")
    return text_of(answered_by) or model


def _attachments(node: Node) -> dict[str, str]:
    given = node.get("attachments")
    return {} if given is None else {key: text_of(member) for key, member in given.items()}


def _resolved(text: str, attachments: Mapping[str, str]) -> str:
    return attachments.get(text[len(_ATTACHED) :], text) if text.startswith(_ATTACHED) else text
