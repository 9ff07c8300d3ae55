"""What the simulated model will do with one request: its tokens, their times, and the fault if there is one."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from agentdyno.servers.simulated.behaviour import Behaviour
from agentdyno.servers.simulated.chat_request import ReceivedChat, Tool
from agentdyno.servers.simulated.fault_plan import ANSWERED, Fault

TEXT = (
    "the bench turns slowly while each wheel keeps its own time and every gauge reports what it sees before "
    "a patient clerk writes numbers into columns that nobody has asked for yet so that later readers may check "
    "how much force was left when morning came and the long belt finally ran still"
)
WORDS = TEXT.split()
PIECE = re.compile(r"\s*\S+|\s+$")
NANOSECONDS = 1_000_000_000
FINAL_ANSWER = "final_answer"


@dataclass(frozen=True, slots=True)
class ScriptedToolCall:
    """A call that the model wants made; ``arguments`` is a JSON object."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Script:
    """``tokens`` are sent ``first_ns`` after the request and then ``gaps_ns`` apart (one value: all alike).

    With a fault that strikes in the middle, only ``fault_at`` of them are sent before it. ``finish`` is ``stop``,
    ``length``, ``tool_calls``, or "" where the end is not told; the tokens of a tool call are the pieces of its
    arguments.
    """

    tokens: tuple[str, ...]
    tool_call: ScriptedToolCall | None
    finish: str
    first_ns: int
    gaps_ns: tuple[int, ...]
    fault: Fault | None
    fault_at: int

    @property
    def last_ns(self) -> int:
        """When the last token is due, after the request was complete."""
        count = max(0, len(self.tokens) - 1)
        return self.first_ns + (self.gaps_ns[0] * count if len(self.gaps_ns) == 1 else sum(self.gaps_ns[:count]))


def write_script(
    request: ReceivedChat, behaviour: Behaviour, occurrence: int, planned: Fault | None = None
) -> Script:
    """The same request, behaviour and occurrence (how often the request came before) give the same script.

    A ``planned`` fault takes the place of one by rate. Faults of what is said (``ANSWERED``) change the answer; the
    exchange is none that failed.
    """
    draw = random.Random(_number(behaviour.seed, request.model, request.text, occurrence))
    by_rate = _fault(behaviour, draw.random(), request.stream)  # drawn in any case: the rest depends on it
    fault = planned or by_rate
    call = _tool_call(request, behaviour)
    if call and fault is Fault.WRONG_ARGUMENTS:
        call = replace(call, arguments={name: _of_another_type(value) for name, value in call.arguments.items()})
    text = json.dumps(call.arguments) if call else _answer(request, behaviour, draw)
    if call and fault is Fault.MALFORMED_ARGUMENTS:
        text = text[: -(-len(text) // 2)]
    tokens = tuple(PIECE.findall(text))
    if fault is Fault.BIG_CHUNK:
        call, tokens = None, ("x" * behaviour.big_chunk_bytes,)
    finish = "" if fault is Fault.NO_FINISH else "tool_calls" if call else "stop"
    if fault in ANSWERED:
        fault = None
    if request.max_tokens is not None and len(tokens) > request.max_tokens and call is None:
        tokens, finish = tokens[: request.max_tokens], "length"
    ttft_s = behaviour.ttft_s + _jitter(draw, behaviour.ttft_jitter_s)
    first_s = max(behaviour.load_s, behaviour.head_delay_s, ttft_s)
    return Script(
        tokens=tokens,
        tool_call=call,
        finish=finish,
        first_ns=round(max(0.0, first_s) * NANOSECONDS),
        gaps_ns=_gaps(behaviour, draw, len(tokens)),
        fault=fault,
        fault_at=draw.randint(min(1, len(tokens)), max(min(1, len(tokens)), len(tokens) - 1)),
    )


def write_plain_script(behaviour: Behaviour, planned: Fault | None = None) -> Script:
    """What a request that is no chat gets: nothing but time passes. Faults by rate are for chats."""
    service_s = max(behaviour.service_s, behaviour.head_delay_s)
    fault = None if planned in ANSWERED else planned
    return Script((), None, "stop", round(service_s * NANOSECONDS), (0,), fault, 0)


def example_of(schema: Mapping[str, Any], prompt: str) -> Any:
    """A value that fits the simple part of JSON Schema: numbers and texts are taken from the prompt."""
    numbers = iter([float(found) for found in re.findall(r"-?\d+(?:\.\d+)?", prompt)])
    return _example(schema, prompt, numbers, 0)


def _example(schema: Mapping[str, Any], prompt: str, numbers: Any, depth: int) -> Any:
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return next((item for item in schema["enum"] if str(item) in prompt), schema["enum"][0])
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind in ("integer", "number"):
        number = next(numbers, 1.0)
        return round(number) if kind == "integer" or number.is_integer() else number
    if kind == "boolean":
        return True
    if kind == "array":
        return [_example(schema.get("items") or {}, prompt, numbers, depth + 1)] if depth < 8 else []
    if kind == "object" or "properties" in schema:
        properties = schema.get("properties") or {}
        wanted = schema.get("required") or list(properties)
        return {
            name: _example(properties.get(name) or {}, prompt, numbers, depth + 1) for name in wanted if depth < 8
        }
    return None if kind == "null" else prompt


def _answer(request: ReceivedChat, behaviour: Behaviour, draw: random.Random) -> str:
    for part, answer in behaviour.answers.items():
        if part in request.prompt:
            luck = _number(behaviour.seed, request.prompt, "right") / 2**64
            return answer if luck < behaviour.right_rate else behaviour.wrong_answer
    if request.tool_result is not None:
        return request.tool_result
    if request.schema is not None:
        return json.dumps(example_of(request.schema, request.prompt))
    if behaviour.echo:
        return request.prompt
    low, high = behaviour.token_range
    return " ".join(draw.choices(WORDS, k=draw.randint(low, high)))


def _tool_call(request: ReceivedChat, behaviour: Behaviour) -> ScriptedToolCall | None:
    if not request.tools:
        return None
    if request.tool_result is not None:
        return _final_answer(request, request.tool_result)
    tool = _chosen_tool(request, behaviour.tool_calls)
    if tool is None:
        return None
    if behaviour.tool_arguments is not None:
        return ScriptedToolCall(tool.name, behaviour.tool_arguments)
    made_up = example_of({**tool.parameters, "type": "object"}, request.prompt)
    return ScriptedToolCall(tool.name, made_up)


def _final_answer(request: ReceivedChat, result: str) -> ScriptedToolCall | None:
    """A call of the tool by which smolagents is given its answer, where that is offered."""
    tool = next((tool for tool in request.tools if tool.name == FINAL_ANSWER), None)
    if tool is None:
        return None
    name = next(iter(tool.parameters.get("properties") or ("answer",)))
    return ScriptedToolCall(tool.name, {name: result})


def _of_another_type(value: object) -> object:
    return [value] if isinstance(value, str) else "no number"


def _chosen_tool(request: ReceivedChat, mode: str) -> Tool | None:
    if request.forced_tool:
        return next((tool for tool in request.tools if tool.name == request.forced_tool), request.tools[0])
    if request.forced_tool is None and mode == "always":
        return request.tools[0]
    if request.forced_tool is None and mode == "never":
        return None
    named = _named_tool(request)
    return request.tools[0] if named is None and request.forced_tool is not None else named


def _named_tool(request: ReceivedChat) -> Tool | None:
    prompt = request.prompt.lower()
    return next((tool for tool in request.tools if tool.name.lower().replace("_", " ") in prompt), None) or next(
        (tool for tool in request.tools if tool.name.lower() in prompt), None
    )


def _fault(behaviour: Behaviour, luck: float, stream: bool) -> Fault | None:
    for fault, rate in (
        (Fault.ERROR, behaviour.error_rate),
        (Fault.RESET, behaviour.reset_rate),
        (Fault.TRUNCATED, behaviour.truncate_rate),
        (Fault.STREAM_ERROR, behaviour.stream_error_rate if stream else 0.0),
    ):
        if luck < rate:
            return fault
        luck -= rate
    return None


def _gaps(behaviour: Behaviour, draw: random.Random, tokens: int) -> tuple[int, ...]:
    if not behaviour.itl_jitter_s:
        return (round(behaviour.itl_s * NANOSECONDS),)
    gaps = (behaviour.itl_s + _jitter(draw, behaviour.itl_jitter_s) for _ in range(max(2, tokens)))
    return tuple(round(max(0.0, gap) * NANOSECONDS) for gap in gaps)


def _jitter(draw: random.Random, jitter_s: float) -> float:
    return draw.uniform(-jitter_s, jitter_s) if jitter_s else 0.0


def _number(*parts: object) -> int:
    """64 bits that depend on every part."""
    return int.from_bytes(blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
