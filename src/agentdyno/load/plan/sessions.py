"""Conversations of several turns: what is said in each, and how long the user thinks before it.

Both are fixed beforehand by the seed. Through the agent contract the answers in a conversation are the target's own;
requests that are encoded beforehand hold made-up answers of the length that is asked for, which cost the target as
much to read, but are not found in what it remembers. A turn is due ``think_s`` after the
answer before it has ended, and that is the time its latency counts from. A conversation ends early where a turn
fails: the user has nothing to reply to.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from agentdyno.errors import SpecError
from agentdyno.load.plan.prompts import prompt_lengths, prompt_texts
from agentdyno.load.plan.requests import RequestEncoder, RequestSet
from agentdyno.load.plan.schedule import LoadSchedule
from agentdyno.model.load import LoadOptions, LoadTarget, PromptLengths, Sessions

_NS = 1_000_000_000
_SEED_MASK = (1 << 64) - 1
_DISTINCT = 256
_ANSWER_WORDS = 32
MOST_TURNS = 1000


@dataclass(slots=True)
class HeldConversation:
    """One conversation while it is held. ``number`` is its place in the schedule."""

    number: int
    texts: tuple[str, ...]
    think_ns: tuple[int, ...]
    messages: list[Mapping[str, object]] = field(default_factory=list)
    turn: int = 0

    def ask(self) -> list[Mapping[str, object]]:
        """What the next request holds: all that was said, and the next thing the user says."""
        self.messages.append({"role": "user", "content": self.texts[self.turn]})
        self.turn += 1
        return list(self.messages)

    def answered(self, text: str, done_ns: int) -> int | None:
        """Takes the answer that ended at ``done_ns``; when the next turn is due, or ``None`` after the last."""
        self.messages.append({"role": "assistant", "content": text})
        return None if self.over else done_ns + self.think_ns[self.turn]

    @property
    def over(self) -> bool:
        return self.turn >= len(self.texts)


@dataclass(frozen=True, slots=True)
class SessionPlan:
    """What is said in so many distinct conversations; those after them begin again with the first."""

    texts: tuple[tuple[str, ...], ...]
    think_ns: NDArray[np.int64]

    def open(self, number: int) -> HeldConversation:
        """The conversation that entry ``number`` of the schedule begins."""
        which = number % len(self.texts)
        return HeldConversation(number, self.texts[which], tuple(self.think_ns[which].tolist()))


def plan_sessions(sessions: Sessions, lengths: PromptLengths, seed: int, *, count: int = _DISTINCT) -> SessionPlan:
    """``count`` conversations of ``sessions.turns`` turns, whose texts are as long as ``lengths`` draws them.

    Times to think are exponentially distributed around ``think_s``, and 0 before the first turn.
    """
    check_sessions(sessions)
    drawn = prompt_lengths(lengths, count * sessions.turns, seed)
    texts = prompt_texts(drawn, seed, shared=lengths.shared)
    turns = tuple(texts[first : first + sessions.turns] for first in range(0, len(texts), sessions.turns))
    rng = np.random.default_rng([seed & _SEED_MASK, 11])
    think_ns = np.rint(rng.exponential(1.0, (count, sessions.turns)) * sessions.think_s * _NS).astype(np.int64)
    think_ns[:, 0] = 0
    return SessionPlan(turns, think_ns)


@dataclass(frozen=True, slots=True)
class SessionRequests:
    """Conversations encoded beforehand. Request ``c * turns + t`` is turn ``t`` of conversation ``c``; it is due
    ``think_ns`` of its own after the answer to the one before has ended."""

    requests: RequestSet
    think_ns: NDArray[np.int64]
    turns: int

    def opening(self, schedule: LoadSchedule) -> LoadSchedule:
        """The schedule of a set of ``len(requests) // turns`` entries, as one of the first turns of conversations."""
        session = np.arange(len(schedule), dtype=np.int32)
        return replace(schedule, request=(schedule.request * self.turns).astype(np.int32), session=session)


def build_session_requests(
    target: LoadTarget, options: LoadOptions, seed: int, *, key: str | None = None, count: int = _DISTINCT
) -> SessionRequests:
    """The turns of ``count`` conversations for an endpoint; each holds what was said before it."""
    encoder = RequestEncoder(target, options, key=key)
    plan = plan_sessions(options.sessions, options.prompts, seed, count=count)
    turns = options.sessions.turns
    answers = prompt_texts([options.output_tokens or _ANSWER_WORDS] * (count * turns), seed + 1)
    wire: list[bytes] = []
    for number in range(count):
        talk = plan.open(number)
        while not talk.over:
            wire.append(encoder.encode_messages(talk.ask()))
            talk.answered(answers[number * turns + talk.turn - 1], 0)
    texts = tuple(text for conversation in plan.texts for text in conversation)
    words = tuple(len(text.split()) for text in texts)
    requests = RequestSet(tuple(wire), encoder.streams, target.dialect, words, texts)
    return SessionRequests(requests, plan.think_ns.reshape(-1), turns)


def check_sessions(sessions: Sessions, *, where: str = "sessions") -> None:
    """``SpecError`` where no conversation can be held like that."""
    if not 1 <= sessions.turns <= MOST_TURNS:
        raise SpecError(f"a session of {sessions.turns} turns cannot be", where=f"{where}.turns", remedy="1 to 1000.")
    if not (math.isfinite(sessions.think_s) and 0.0 <= sessions.think_s <= 3600.0):
        raise SpecError(f"nobody thinks for {sessions.think_s:g} s", where=f"{where}.think_s", remedy="0 to 3600 s.")
