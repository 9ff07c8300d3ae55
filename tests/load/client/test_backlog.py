"""Answers that wait to be decoded become rows, whatever their servers say."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from agentdyno.load.client.backlog import MOST_TOKENS, Backlog
from agentdyno.load.client.hot import COMPLETE
from agentdyno.load.client.stream_decode import StreamDecoder
from agentdyno.load.windows.records import RECORD, UNKNOWN, UNKNOWN_SOURCE
from agentdyno.wire.openai import OPENAI
from tests.load.streams import chat, chunked, event


@pytest.mark.parametrize("which", ["prompt_tokens", "completion_tokens", "cached_tokens"])
@pytest.mark.parametrize("number", [MOST_TOKENS, MOST_TOKENS + 1, 2**70])
def test_counts_that_no_answer_can_have_are_unknown_and_stop_nothing(which: str, number: int) -> None:
    counts = {"prompt_tokens": 8, "completion_tokens": 2, "cached_tokens": 6} | {which: number}
    usage = {**counts, "prompt_tokens_details": {"cached_tokens": counts.pop("cached_tokens")}}
    events = chat("a", "b")
    raw = chunked([*events[:-1], event({"choices": [], "usage": usage}), events[-1]])
    with asyncio.Runner() as runner:
        backlog = Backlog(runner.get_loop(), StreamDecoder(OPENAI), 0)
        for _ in range(2):
            backlog.add((1, 2, 900, 3, 0, 0, COMPLETE, [(5, raw)], "", 0, 0))
        backlog.decode_all()
    rows = np.frombuffer(backlog.take_rows()[0], RECORD)
    assert len(rows) == 2
    known = number <= MOST_TOKENS
    assert ({*rows["token_source"]} == {UNKNOWN_SOURCE}) is not known
    assert {*rows["input_tokens"]} == {(counts["prompt_tokens"] if known else UNKNOWN)}
    assert {*rows["output_tokens"]} == {(counts["completion_tokens"] if known else UNKNOWN)}
