"""ToolDesk: a request becomes a tool call, the desk reveals a status, the status is the answer.

A prompt is an intent and a two-digit id. In two turns the policy writes ``tool digit digit END``; the environment
then reveals one status digit if the call is right, and ``ERROR`` if it is not; the policy writes ``digit END``. In
one turn the status stands in the prompt and the policy writes ``tool digit digit digit END``. Every token has a slot
of its own; what follows an ``END`` within a turn is padding. Tokens of the prompt and of the environment are never
trained on (``mask`` is 0 there). The reward is the mean of four parts: tool, arguments, form, answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

INTENTS = ("refund", "track", "cancel", "invoice", "address", "support")
PAD, END, HIDDEN, ERROR = range(4)
FIRST_DIGIT = 4
FIRST_INTENT = FIRST_DIGIT + 10
FIRST_TOOL = FIRST_INTENT + len(INTENTS)
VOCABULARY = FIRST_TOOL + len(INTENTS)
WORDS = (
    *("_", ".", "?", "!"),
    *(str(digit) for digit in range(10)),
    *(f"{intent}?" for intent in INTENTS),
    *(f"{intent}(" for intent in INTENTS),
)
"""How the tokens read, by number."""
PROMPT_SLOTS = 4
PARTS = ("tool", "arguments", "form", "answer")
_HELD_OUT_EVERY = 5


@dataclass(frozen=True, slots=True)
class Turn:
    """The slots that the policy writes in one turn, from ``first`` to before ``end``."""

    first: int
    end: int


@dataclass(frozen=True)
class ToolDesk:
    """The task, with one turn or two. The same for every seed: which status an id has is fixed."""

    turns: int = 2

    @property
    def policy_turns(self) -> tuple[Turn, ...]:
        return (Turn(4, 8), Turn(9, 11)) if self.turns == 2 else (Turn(4, 9),)

    @property
    def length(self) -> int:
        """Slots of an episode."""
        return self.policy_turns[-1].end

    @cached_property
    def statuses(self) -> Ints:
        """The status digit of each intent and id."""
        return np.random.default_rng(20).integers(0, 10, (len(INTENTS), 10, 10))

    def prompts(self, *, held_out: bool) -> Ints:
        """Rows of intent, first and second digit. Every fifth pair of digits is held out for evaluation."""
        rows = np.array(
            [(i, a, b) for i in range(len(INTENTS)) for a in range(10) for b in range(10)], dtype=np.int64
        )
        apart = (rows[:, 0] + 3 * rows[:, 1] + rows[:, 2]) % _HELD_OUT_EVERY == 0
        return np.asarray(rows[apart if held_out else ~apart])

    def begin(self, prompts: Ints) -> Ints:
        """Token rows with nothing but the prompt in them."""
        tokens = np.full((len(prompts), self.length), PAD, dtype=np.int64)
        tokens[:, 0] = FIRST_INTENT + prompts[:, 0]
        tokens[:, 1:3] = FIRST_DIGIT + prompts[:, 1:]
        tokens[:, 3] = HIDDEN if self.turns == 2 else self._status_tokens(prompts)
        return tokens

    def reveal(self, tokens: Ints, prompts: Ints) -> None:
        """What the environment writes after the first of two turns."""
        tool, arguments, form = self._call_parts(tokens, prompts)
        right = tool & arguments & form
        tokens[:, 8] = np.where(right, self._status_tokens(prompts), ERROR)

    def reward_parts(self, tokens: Ints, prompts: Ints) -> Floats:
        """One column for each of ``PARTS``, 0 or 1; the reward is their mean."""
        tool, arguments, form = self._call_parts(tokens, prompts)
        answer = self.policy_turns[-1].end - 2
        form &= _is_digit(tokens[:, answer]) & (tokens[:, answer + 1] == END)
        right = tokens[:, answer] == self._status_tokens(prompts)
        return np.stack([tool, arguments, form, right], axis=1).astype(np.float64)

    def rewards(self, tokens: Ints, prompts: Ints) -> Floats:
        """0 to 1 for each row."""
        return np.asarray(self.reward_parts(tokens, prompts).mean(axis=1), dtype=np.float64)

    def solution(self, prompts: Ints) -> Ints:
        """Episodes in which everything is right."""
        tokens = self.begin(prompts)
        tokens[:, 4] = FIRST_TOOL + prompts[:, 0]
        tokens[:, 5:7] = FIRST_DIGIT + prompts[:, 1:]
        if self.turns == 2:
            tokens[:, 7] = END
            tokens[:, 8] = self._status_tokens(prompts)
        answer = self.policy_turns[-1].end - 2
        tokens[:, answer] = self._status_tokens(prompts)
        tokens[:, answer + 1] = END
        return tokens

    def mask_of(self, tokens: Ints) -> Floats:
        """1 for what the policy wrote: its slots up to and with the first ``END`` of each turn."""
        mask = np.zeros(tokens.shape)
        for turn in self.policy_turns:
            ended = np.zeros(len(tokens), dtype=bool)
            for slot in range(turn.first, turn.end):
                mask[:, slot] = ~ended
                ended |= tokens[:, slot] == END
        return mask

    def _call_parts(self, tokens: Ints, prompts: Ints) -> tuple[NDArray[np.bool_], ...]:
        call = tokens[:, 4:7]
        tool = call[:, 0] == FIRST_TOOL + prompts[:, 0]
        arguments = (call[:, 1:] == FIRST_DIGIT + prompts[:, 1:]).all(axis=1)
        form = (call[:, 0] >= FIRST_TOOL) & _is_digit(call[:, 1]) & _is_digit(call[:, 2])
        if self.turns == 2:
            form &= tokens[:, 7] == END
        return tool, arguments, form

    def _status_tokens(self, prompts: Ints) -> Ints:
        return np.asarray(FIRST_DIGIT + self.statuses[prompts[:, 0], prompts[:, 1], prompts[:, 2]])


def _is_digit(tokens: Ints) -> NDArray[np.bool_]:
    return (tokens >= FIRST_DIGIT) & (tokens < FIRST_INTENT)
