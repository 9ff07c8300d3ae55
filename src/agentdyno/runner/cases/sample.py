"""A finished call, judged and priced, as a sample."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from agentdyno.model.case import Event, Response
from agentdyno.model.codec import to_plain
from agentdyno.model.metric import reported_name
from agentdyno.model.sample import Failure, FailureKind, Sample, Status
from agentdyno.runner.cases.call import CaseCall, CaseJob, CaseJudgement, Conduct, Priced

_BARE = frozenset({"scorer", "weight", "values"})
"""What a scorer says that has no words for it: numbers, and its name."""
_TOKENS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")


def priced(call: CaseCall, job: CaseJob) -> Priced:
    """What the call cost, from what it used, and what the agent says of it."""
    if call.response is None:
        return Priced(None, "unknown")
    own_cpu = call.response.readings.get("cpu_s")
    cpu_s = None if own_cpu is None and call.server_cpu_s is None else (own_cpu or 0.0) + (call.server_cpu_s or 0.0)
    return job.price(call.response, cpu_s)


def past_a_limit(call: CaseCall, price: Priced, job: CaseJob) -> None:
    """Turns an answer that used more than its case may into a sample with status ``limit``."""
    if call.status is not Status.OK or call.response is None:
        return
    limits, usage = job.constraints, call.response.usage
    if limits.token_limit is not None and usage is not None and usage.total_tokens > limits.token_limit:
        message = f"used {usage.total_tokens:,} tokens, the limit of a case is {limits.token_limit:,}"
        call.status, call.failure = Status.LIMIT, Failure(FailureKind.TOKENS, message)
    elif limits.cost_limit_usd is not None and (price.spent_usd or 0.0) > limits.cost_limit_usd:
        message = f"cost ${price.spent_usd:.4g}, the limit of a case is ${limits.cost_limit_usd:.4g}"
        call.status, call.failure = Status.LIMIT, Failure(FailureKind.COST, message)


def make_case_sample(
    call: CaseCall, price: Priced, judgement: CaseJudgement | None, job: CaseJob, conduct: Conduct
) -> Sample:
    """Readings of answers from the cache are left out: nothing was measured."""
    trial, response = call.trial, call.response
    status = call.status
    scores: Mapping[str, float | None] = {}
    if judgement is not None:
        scores = judgement.scores
        if status is Status.OK:
            status = judgement.status(job.pass_threshold)
    elif status in (Status.TIMEOUT, Status.LIMIT):
        scores = {"score": 0.0}
    usage = {} if response is None or response.usage is None else _usage(response)
    failure = call.failure
    redact = conduct.redact
    if failure is not None:
        failure = replace(
            failure,
            message=str(redact(failure.message)),
            traceback=None if failure.traceback is None else str(redact(failure.traceback)),
            output_tail=None if failure.output_tail is None else str(redact(failure.output_tail)),
        )
    return Sample(
        arm_id=trial.arm_id,
        phase=trial.phase,
        iteration=trial.iteration,
        status=status,
        started_at_ms=call.started_at_ms,
        readings={} if call.cached else _readings(call, price),
        case_id=trial.case_id,
        instrument=trial.instrument,
        seed=trial.seed,
        attempts=len(call.attempts) + 1,
        scores=scores,
        usage=usage,
        output=None if response is None else redact(cut(response.output, OUTPUT_CHARACTERS)),
        details=_details(call, price, judgement, conduct),
        failure=failure,
    )


def _usage(response: Response) -> dict[str, float]:
    usage = response.usage
    return {} if usage is None else {name: float(getattr(usage, name)) for name in _TOKENS if getattr(usage, name)}


def _readings(call: CaseCall, price: Priced) -> dict[str, float]:
    readings: dict[str, float] = {}
    response = call.response
    if call.duration_s is not None:
        readings["duration_s"] = call.duration_s
    if response is not None:
        readings |= {name: float(value) for name, value in response.readings.items()}
        if response.usage is not None:
            readings["input_tokens"] = float(response.usage.input_tokens)
            readings["output_tokens"] = float(response.usage.output_tokens)
            readings["total_tokens"] = float(response.usage.total_tokens)
        if response.api_calls is not None:
            readings["api_calls"] = float(response.api_calls)
    if call.server_cpu_s is not None:
        readings["cpu_s"] = readings.get("cpu_s", 0.0) + call.server_cpu_s
        readings["server.cpu_s"] = call.server_cpu_s
    if price.usd is not None:
        readings["cost_usd"] = price.usd
    if price.reported_usd is not None:
        readings[reported_name("cost_usd")] = price.reported_usd
    return readings


def _details(call: CaseCall, price: Priced, judgement: CaseJudgement | None, conduct: Conduct) -> dict[str, object]:
    """What is worth keeping beside the figures; texts from outside are cut to size and rid of secrets."""
    details: dict[str, object] = {"cost": {"usd": price.usd, "source": price.source}}
    response, redact = call.response, conduct.redact
    if response is not None:
        if response.events:
            details["events"] = redact(keep_events(response.events))
        if response.observed:
            details["observed"] = redact(cut(dict(response.observed)))
        if response.model is not None:
            details["model"] = redact(response.model)
        if response.simulated:
            details["simulated"] = True
    if judgement is not None and judgement.scoring:
        details["scoring"] = [
            item if item.keys() <= _BARE else redact(cut(item, 20_000)) for item in judgement.scoring
        ]
        if judgement.cost_usd != 0.0:
            details["judge_cost_usd"] = judgement.cost_usd
    if call.attempts:
        details["attempts"] = redact(list(call.attempts))
    if call.cached:
        details["cached"] = True
    if call.dropped:
        details["dropped"] = redact(list(call.dropped))
    return details


TEXT_CHARACTERS = 8_000
"""What is kept of one text in a trajectory."""
TRAJECTORY_CHARACTERS = 200_000
"""What is kept of a whole trajectory: events from its beginning and its end."""
OUTPUT_CHARACTERS = 1_000_000


def cut_text(text: str, most: int) -> str:
    """The beginning and the end, with the number of characters between them."""
    if len(text) <= most:
        return text
    head, tail = most * 3 // 4, most // 4
    return f"{text[:head]} […{len(text) - head - tail:,} characters…] {text[-tail:]}"


def cut(value: object, most: int = TEXT_CHARACTERS) -> object:
    """A JSON value whose text forms hold at most ``most`` characters each; larger structures become cut text."""
    if isinstance(value, str):
        return cut_text(value, most)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    try:
        text = json.dumps(to_plain(value), ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return cut_text(repr(value), most)
    return to_plain(value) if len(text) <= most else cut_text(text, most)


def keep_events(events: Sequence[Event]) -> list[object]:
    """Events as plain values, each text cut; of a long trajectory the middle is left out and counted."""
    plain = [to_plain(replace(event, content=cut(event.content))) for event in events]
    sizes = [len(json.dumps(event, ensure_ascii=False, default=str)) for event in plain]
    if sum(sizes) <= TRAJECTORY_CHARACTERS:
        return plain
    head, used = 0, 0
    while head < len(plain) and used + sizes[head] <= TRAJECTORY_CHARACTERS // 2:
        used += sizes[head]
        head += 1
    tail = len(plain)
    while tail > head and used + sizes[tail - 1] <= TRAJECTORY_CHARACTERS:
        used += sizes[tail - 1]
        tail -= 1
    gap = to_plain(Event("note", events[head].at_s, content=f"{tail - head:,} events left out"))
    return [*plain[:head], gap, *plain[tail:]]
