from __future__ import annotations

import asyncio
import enum
import functools
import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from agentdyno.agents.hosting.answer import EVENT_BYTES_CAP, EVENTS_CAP
from agentdyno.agents.hosting.callable_agent import CallableAgent
from agentdyno.agents.hosting.recorder import current, tool_call
from agentdyno.contracts import CaseFailed
from agentdyno.errors import PluginError, RunError, SpecError
from agentdyno.model.case import Case, Event, Response, Usage
from agentdyno.model.codec import encode
from agentdyno.model.sample import FailureKind, Status

CASE = Case("c1", "hello", target="HELLO")
TALK = Case("c2", "one", turns=("one", "two", "three"))


def ask(function: object, case: Case = CASE, **config: object) -> Response:
    agent = CallableAgent(function, name="subject", config=config)

    async def whole() -> Response:
        await agent.start()
        try:
            return await agent.run(case)
        finally:
            await agent.close()

    return asyncio.run(whole())


def failure(function: object, case: Case = CASE) -> CaseFailed:
    with pytest.raises(CaseFailed) as caught:
        ask(function, case)
    return caught.value


def shout(text: str) -> str:
    return text.upper()


async def shout_later(text: str) -> str:
    await asyncio.sleep(0)
    return text.upper()


def by_case(case: Case) -> object:
    return case.target


class Shouter:
    def __init__(self, mark: str = "!") -> None:
        self.mark = mark
        self.log: list[str] = []

    async def run(self, case: Case) -> str:
        return f"{case.input}{self.mark}"


class Polite:
    def __call__(self, text: str) -> str:
        return f"please {text}"


@pytest.mark.parametrize(
    ("function", "output"),
    [
        (shout, "HELLO"),
        (shout_later, "HELLO"),
        (by_case, "HELLO"),
        (lambda item: item[::-1], "olleh"),
        (Shouter, "hello!"),
        (Shouter("?"), "hello?"),
        (Polite(), "please hello"),
        (functools.partial(shout_later), "HELLO"),
        (str.upper, "HELLO"),
        (len, 5),
    ],
)
def test_anything_that_can_be_called_answers(function: object, output: object) -> None:
    assert ask(function).output == output


def test_configuration_becomes_keyword_arguments() -> None:
    def answer(text: str, temperature: float = 0.2, *, suffix: str) -> str:
        return f"{text} {temperature}{suffix}"

    assert ask(answer, suffix="!").output == "hello 0.2!"
    assert ask(answer, suffix="!", temperature=1).output == "hello 1!"
    assert ask(Shouter, mark="…").output == "hello…"


@pytest.mark.parametrize(
    ("function", "config", "message"),
    [
        (shout, {"temperature": 1}, "takes no configuration"),
        (lambda text, temperature=0.1: text, {"temprature": 1}, "Did you mean temperature?"),
        (Shouter, {"marks": "!"}, "Did you mean mark?"),
        (lambda text, model: text, {}, "needs 'model'"),
    ],
)
def test_a_configuration_that_does_not_fit_is_refused(
    function: object, config: dict[str, object], message: str
) -> None:
    with pytest.raises(SpecError) as caught:
        CallableAgent(function, name="subject", config=config)
    assert message in str(caught.value)


@pytest.mark.parametrize(("target", "message"), [(lambda: 1, "takes no input"), (42, "cannot answer a case")])
def test_what_cannot_answer_is_refused(target: object, message: str) -> None:
    with pytest.raises(PluginError, match=message):
        CallableAgent(target, name="subject")


def test_a_class_that_cannot_be_built_says_why() -> None:
    class Broken:
        def __init__(self) -> None:
            raise OSError("no disk")

    with pytest.raises(PluginError, match="OSError: no disk"):
        CallableAgent(Broken, name="subject")


def test_functions_that_block_run_at_the_same_time_and_leave_the_loop_free() -> None:
    barrier = threading.Barrier(12, timeout=60)

    def together(text: str) -> int:
        return barrier.wait()

    agent = CallableAgent(together, name="subject")

    async def whole() -> list[Response]:
        try:
            return await asyncio.gather(*(agent.run(CASE) for _ in range(12)))
        finally:
            await agent.close()

    assert sorted(int(str(response.output)) for response in asyncio.run(whole())) == list(range(12))


def test_threads_are_used_again() -> None:
    agent = CallableAgent(lambda text: threading.get_ident(), name="subject")

    async def whole() -> set[object]:
        try:
            return {(await agent.run(CASE)).output for _ in range(20)}
        finally:
            await agent.close()

    assert len(asyncio.run(whole())) == 1


def test_a_function_that_never_returns_can_be_given_up() -> None:
    release = threading.Event()
    agent = CallableAgent(lambda text: release.wait(60), name="subject")

    async def whole() -> None:
        try:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(agent.run(CASE), 0.01)
        finally:
            await agent.close()

    try:
        asyncio.run(whole())  # must not wait for the thread
    finally:
        release.set()


class TestConversations:
    def test_a_function_is_called_once_per_turn_with_the_history(self) -> None:
        calls: list[tuple[str, list[dict[str, str]]]] = []

        def answer(text: str, history: list[dict[str, str]]) -> str:
            calls.append((text, history))
            return text * 2

        response = ask(answer, TALK)
        assert response.output == "threethree"
        assert [text for text, _ in calls] == ["one", "two", "three"]
        assert calls[0][1] == []
        assert calls[2][1] == [
            {"role": "user", "content": "one"},
            {"role": "assistant", "content": "oneone"},
            {"role": "user", "content": "two"},
            {"role": "assistant", "content": "twotwo"},
        ]
        told = [(event.name, event.content) for event in response.events if event.kind == "message"]
        assert told[:2] == [("user", "one"), ("assistant", "oneone")]
        assert len(told) == 6

    def test_a_function_that_takes_the_case_gets_all_turns_at_once(self) -> None:
        assert ask(lambda case: "|".join(case.turns), TALK).output == "one|two|three"

    def test_one_without_history_is_called_per_turn_too(self) -> None:
        assert ask(shout, TALK).output == "THREE"

    def test_a_single_input_has_an_empty_history(self) -> None:
        assert ask(lambda text, history: len(history)).output == 0

    def test_tokens_and_costs_of_the_turns_add_up(self) -> None:
        def answer(text: str) -> Response:
            return Response(text, Usage(2, 3), cost=0.5, api_calls=1)

        response = ask(answer, TALK)
        assert (response.usage, response.cost, response.api_calls) == (Usage(6, 9), 1.5, 3)


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    y: float


class Model:
    def model_dump(self) -> dict[str, int]:
        return {"a": 1}


@pytest.mark.parametrize(
    ("value", "output"),
    [
        (3, 3),
        (0.5, 0.5),
        (None, None),
        (True, True),
        ({"a": [1, (2, 3)]}, {"a": [1, [2, 3]]}),
        ({1: {"x"}}, {"1": ["x"]}),
        (math.nan, "NaN"),
        ([math.inf, -math.inf], ["Infinity", "-Infinity"]),
        (Colour.RED, "red"),
        (Point(1, 2.5), {"x": 1, "y": 2.5}),
        (Model(), {"a": 1}),
        (b"bytes", "bytes"),
        ({"output": 1, "other": 2}, {"output": 1, "other": 2}),
    ],
)
def test_answers_become_plain_json(value: object, output: object) -> None:
    assert ask(lambda text: value).output == output


@pytest.mark.parametrize("value", [b"caf\xe9", "caf\udce9", {"deep": ["caf\ud800"]}])
def test_text_that_utf8_cannot_hold_is_repaired_and_noted(value: object) -> None:
    response = ask(lambda text: value)
    assert "\ufffd" in encode(response.output)
    assert response.observed == {"invalid_utf8": True}


class Huge:
    def tolist(self) -> int:
        return 10**5000


def _ring() -> list[object]:
    ring: list[object] = []
    ring.append(ring)
    return ring


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (object(), "object has no JSON form"),
        ({"a": threading.Lock()}, "lock has no JSON form"),
        (_ring(), "nested deeper than 50"),
        (Huge(), "cannot be stored"),
        ({"output": "x", "usage": "many"}, "expected an object, got str"),
        ({"output": "x", "usage": {"input_tokens": "3"}}, "input_tokens: expected int"),
        ({"output": "x", "cost": -1.0}, "no amount of dollars"),
        ({"output": "x", "events": "none"}, "events: expected a list"),
    ],
)
def test_answers_without_a_json_form_are_serialisation_errors(value: object, message: str) -> None:
    failed = failure(lambda text: value)
    assert (failed.kind, failed.status) == (FailureKind.SERIALISATION, Status.ERROR)
    assert message in failed.message


def test_a_function_that_answers_with_a_function_is_told_to_be_configured() -> None:
    def maker(prefix):  # type: ignore[no-untyped-def]
        return lambda text: prefix + text

    failed = failure(maker)
    assert failed.message == "asked a question, it made a function instead of an answer"
    assert failed.remedy.startswith("Give `prefix:` in the agent's config")
    assert failed.fatal


@pytest.mark.parametrize("value", ["x" * (17 << 20), ["x" * (9 << 20)] * 2, "€" * (6 << 20)])
def test_an_answer_that_is_too_large_hits_the_limit(value: object) -> None:
    failed = failure(lambda text: value)
    assert (failed.kind, failed.status) == (FailureKind.OUTPUT, Status.LIMIT)
    assert "larger than 16 MiB" in failed.message


class TestWhatIsRecorded:
    def test_events_and_tokens_of_the_case_are_in_its_response(self) -> None:
        def answer(text: str) -> str:
            with tool_call("search", {"q": text}) as found:
                found.append(["a"])
            current().model_call("m-1", Usage(5, 6), duration_s=0.1, readings={"ttft_s": 0.01})
            current().observed["temperature"] = 0
            return "done"

        response = ask(answer)
        assert [event.kind for event in response.events] == ["tool_call", "tool_result", "model_call"]
        assert (response.usage, response.api_calls, response.model) == (Usage(5, 6), 1, "m-1")
        assert response.readings == {"ttft_s": 0.01}
        assert response.observed == {"temperature": 0}

    def test_what_the_agent_says_itself_wins(self) -> None:
        def answer(text: str) -> Response:
            current().model_call("m-1", Usage(5, 6), duration_s=0.1)
            return Response("x", Usage(1, 1), cost=0.25, api_calls=7, model="m-2", events=(Event("note"),))

        response = ask(answer)
        assert (response.usage, response.cost, response.api_calls, response.model) == (Usage(1, 1), 0.25, 7, "m-2")
        assert [event.kind for event in response.events] == ["note"]

    def test_a_dict_that_spells_a_response_is_one(self) -> None:
        def answer(text: str) -> dict[str, object]:
            return {
                "output": "x",
                "usage": {"prompt_tokens": 3, "completion_tokens": 4.0, "total_tokens": 7},
                "cost": 1,
                "model": None,
                "events": [{"kind": "tool_call", "name": "f", "content": {"a": 1}}],
            }

        response = ask(answer)
        assert (response.output, response.usage, response.cost) == ("x", Usage(3, 4), 1.0)
        assert response.events == (Event("tool_call", name="f", content={"a": 1}),)

    def test_cases_at_the_same_time_do_not_mix(self) -> None:
        async def answer(text: str) -> str:
            await asyncio.sleep(0)
            current().event("note", text)
            return text

        agent = CallableAgent(answer, name="subject")

        async def whole() -> list[Response]:
            return await asyncio.gather(*(agent.run(Case(str(i), str(i))) for i in range(10)))

        responses = asyncio.run(whole())
        assert [[event.name for event in response.events] for response in responses] == [[str(i)] for i in range(10)]

    def test_large_and_odd_events_are_cut_and_told_as_text(self) -> None:
        def answer(text: str) -> str:
            current().event("tool_result", "read", "x" * (1 << 20))
            current().event("tool_result", "handle", threading.Lock())
            for _ in range(EVENTS_CAP):
                current().event("note")
            return "done"

        response = ask(answer)
        assert len(str(response.events[0].content)) < EVENT_BYTES_CAP
        assert str(response.events[0].content).endswith("… (1048576 characters)")
        assert "lock" in str(response.events[1].content)
        assert response.events[-1].content == "2 more events were not kept"
        assert len(encode(response)) < 4 << 20


def _raise(error: BaseException) -> Callable[[str], Any]:
    def answer(text: str) -> str:
        current().event("note", "before")
        raise error

    return answer


@pytest.mark.parametrize(
    ("error", "kind", "status", "message"),
    [
        (ValueError("no"), FailureKind.EXCEPTION, Status.ERROR, "ValueError: no"),
        (MemoryError(), FailureKind.MEMORY, Status.LIMIT, "memory limit"),
        (SystemExit(3), FailureKind.EXIT, Status.ERROR, "sys.exit(3)"),
        (RunError("no key", remedy="Set it."), FailureKind.EXCEPTION, Status.ERROR, "no key"),
        (StopIteration(), FailureKind.EXCEPTION, Status.ERROR, "StopIteration"),
        (asyncio.CancelledError(), FailureKind.EXCEPTION, Status.ERROR, "CancelledError"),
    ],
)
def test_what_an_agent_raises_is_the_failure_of_its_case(
    error: BaseException, kind: FailureKind, status: Status, message: str
) -> None:
    failed = failure(_raise(error))
    assert (failed.kind, failed.status) == (kind, status)
    assert message in failed.message
    assert failed.response is not None
    assert [event.name for event in failed.response.events] == ["before"]


def test_a_traceback_shows_the_agents_own_frames_only() -> None:
    def inner() -> None:
        raise KeyError("inside")

    async def answer(text: str) -> str:
        inner()
        return text

    trace = failure(answer).traceback
    assert trace is not None
    assert "in inner" in trace
    assert "/agentdyno/agents/" not in trace
    assert trace.count("File ") == 2


def test_a_named_failure_keeps_its_name() -> None:
    failed = failure(_raise(CaseFailed(FailureKind.RATE_LIMITED, "slow down", retryable=True, retry_after_s=2.0)))
    assert (failed.kind, failed.retryable, failed.retry_after_s) == (FailureKind.RATE_LIMITED, True, 2.0)
    assert failed.response is not None


def test_start_and_close_of_an_object_are_called() -> None:
    log: list[str] = []

    class Agent:
        async def start(self) -> None:
            log.append("start")

        def run(self, case: Case) -> str:
            log.append(case.id)
            return ""

        def close(self) -> None:
            log.append("close")

    ask(Agent)
    assert log == ["start", "c1", "close"]
