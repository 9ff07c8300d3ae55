"""Recorded conversations, ready to be held again: what is said in each turn, and when it is due."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agentdyno.errors import SpecError
from agentdyno.load.plan.prompts import prompt_texts
from agentdyno.load.plan.trace import Trace

MOST_WORDS = 100_000_000
"""Of all turns together: what fits into memory."""


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """``text`` is what is new in it. It is due ``pause_ns`` after the answer before it has come; where that is not
    known (-1) at ``at_ns`` after the conversation began, or when it has that answer."""

    text: str
    output_tokens: int | None
    pause_ns: int
    at_ns: int


@dataclass(frozen=True, slots=True)
class RecordedConversations:
    """In the order in which they begin, ``starts_ns`` after the first."""

    starts_ns: NDArray[np.int64]
    turns: tuple[tuple[RecordedTurn, ...], ...]


def recorded_conversations(trace: Trace, seed: int) -> RecordedConversations:
    """Those of a trace. Recorded inputs hold all that was said before, so that what is new in a turn is by how much
    its input is longer than the input and the answer before it, and at least one word. ``SpecError`` where that is
    more than fits into memory."""
    assert trace.session is not None
    assert trace.pause_ns is not None
    entered, left = trace.input_words.tolist(), trace.output_tokens.tolist()
    rows: dict[int, list[int]] = {}
    words: list[int] = []
    for row, session in enumerate(trace.session.tolist()):
        before = rows.setdefault(session, [])
        said = entered[before[-1]] + max(left[before[-1]], 0) if before else 0
        words.append(max(entered[row] - said, 1))
        before.append(row)
    if sum(words) > MOST_WORDS:
        raise SpecError(
            f"the conversations of this trace have {sum(words):,} words, which is more than fits into memory",
            remedy="Replay a part of it.",
        )
    texts, dues, pauses = prompt_texts(words, seed), trace.due_ns.tolist(), trace.pause_ns.tolist()
    talks = tuple(
        tuple(
            RecordedTurn(texts[row], None if left[row] < 0 else left[row], pauses[row], dues[row] - dues[of_one[0]])
            for row in of_one
        )
        for of_one in rows.values()
    )
    return RecordedConversations(np.array([dues[of_one[0]] for of_one in rows.values()], dtype=np.int64), talks)
