"""Agents that yield their answer: stamped piece by piece, joined, and bounded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest

from agentdyno.agents.hosting.callable_agent import CallableAgent
from agentdyno.agents.hosting.pieces import AnswerPieces
from agentdyno.agents.hosting.recorder import Recorder
from agentdyno.contracts import CaseFailed
from agentdyno.model.case import Case, Response, Usage
from agentdyno.model.sample import FailureKind, Status

CASE = Case("c1", "hello")
TALK = Case("c2", "one", turns=("one", "two"))


def ask(function: object, case: Case = CASE) -> Response:
    return asyncio.run(CallableAgent(function, name="subject").run(case))


def words(text: str) -> Iterator[str]:
    yield ""  # a sign of life is no content
    yield from ("he", "ll", "o")


async def words_later(text: str) -> AsyncIterator[str]:
    for piece in words(text):
        await asyncio.sleep(0)
        yield piece


async def makes_words(text: str) -> AsyncIterator[str]:
    return words_later(text)


class Speaker:
    async def run(self, text: str, history: list[dict[str, str]]) -> AsyncIterator[str]:
        for piece in (text, " after ", str(len(history))):
            yield piece


@pytest.mark.parametrize("function", [words, words_later, makes_words, lambda text: words_later(text)])
def test_the_pieces_of_an_answer_are_joined_and_the_first_one_is_timed(function: Callable[[str], object]) -> None:
    response = ask(function)
    assert response.output == "hello"
    assert set(response.readings) == {"ttft_s", "itl_s"}


def clock_of(*seconds: float) -> Callable[[], int]:
    stamps = iter(round(item * 1e9) for item in seconds)
    return lambda: next(stamps)


def test_the_first_content_counts_and_not_a_sign_of_life() -> None:
    recorder = Recorder()
    pieces = AnswerPieces(recorder, 10_000_000_000, clock_of(10.5, 11.0, 11.25, 12.0))
    assert pieces.all_of(words("")) == "hello"  # type: ignore[arg-type]
    assert recorder.measured == {"ttft_s": 1.0, "itl_s": 0.5}


def test_a_last_piece_that_is_a_response_is_the_answer_and_no_content() -> None:
    def answer(text: str) -> Iterator[object]:
        yield "hel"
        yield Response(output="hello", usage=Usage(5, 2))

    response = ask(answer)
    assert (response.output, response.usage) == ("hello", Usage(5, 2))
    assert set(response.readings) == {"ttft_s"}


def test_pieces_that_are_no_text_are_a_list_and_bytes_are_text() -> None:
    assert ask(lambda text: (item for item in ({"a": 1}, {"b": 2}))).output == [{"a": 1}, {"b": 2}]
    assert ask(lambda text: (item for item in (b"he", b"llo"))).output == "hello"
    assert ask(lambda text: (item for item in "")).output == ""


def test_each_turn_is_answered_in_pieces_and_the_first_turn_has_the_first_token() -> None:
    response = ask(Speaker(), TALK)
    assert response.output == "two after 2"
    said = [event.content for event in response.events if event.name == "assistant"]
    assert said == ["one after 0", "two after 2"]
    assert "ttft_s" in response.readings


def test_what_came_before_a_failure_was_timed_and_the_generator_is_closed() -> None:
    closed = []

    def breaks(text: str) -> Iterator[str]:
        try:
            yield "he"
            raise ValueError("gone")
        finally:
            closed.append(text)

    with pytest.raises(CaseFailed, match="gone") as caught:
        ask(breaks)
    assert closed == ["hello"]
    assert caught.value.response is not None
    assert set(caught.value.response.readings) == {"ttft_s"}


@pytest.mark.parametrize("piece", ["x" * 1_000_000, {"a": 1}])
def test_an_answer_without_an_end_hits_the_limit(piece: object) -> None:
    closed = []

    def endless(text: str) -> Iterator[object]:
        try:
            while True:
                yield piece
        finally:
            closed.append(True)

    with pytest.raises(CaseFailed) as caught:
        ask(endless)
    assert (caught.value.kind, caught.value.status) == (FailureKind.OUTPUT, Status.LIMIT)
    assert closed == [True]


def test_an_agent_cannot_move_the_clock_of_its_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    def forges(text: str) -> Iterator[str]:
        monkeypatch.setattr("time.perf_counter_ns", lambda: 0)
        yield "hello"

    assert ask(forges).readings["ttft_s"] > 0


def test_only_what_is_a_generator_is_read_piece_by_piece() -> None:
    response = ask(lambda text: ["he", "llo"])
    assert (response.output, dict(response.readings)) == (["he", "llo"], {})


def test_waiting_for_pieces_can_be_cancelled() -> None:
    async def cancelled() -> bool:
        begun = asyncio.Event()

        async def stuck(text: str) -> AsyncIterator[str]:
            begun.set()
            await asyncio.Event().wait()
            yield text

        task = asyncio.create_task(_run(CallableAgent(stuck, name="stuck").run(CASE)))
        await begun.wait()
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(cancelled())


async def _run(waiting: Awaitable[Response]) -> Response:
    return await waiting
