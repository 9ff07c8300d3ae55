"""Answers that came before, byte for byte but for their id: what they are is known.

A fixed prompt at temperature 0 has the same answer again and again. Comparing bytes costs a tenth of decoding them.
"""

from __future__ import annotations

from dataclasses import dataclass

from agentdyno.load.client.decode import Result

MOST_KEPT = 1024
MOST_BYTES = 32 * 1024
"""Longer answers are not kept."""
PATIENCE = 64
"""So often it may turn out in vain that an answer was kept, before no more are."""
_START, _BARE = b'"id":"', b'"":""'
_OF_IDS = b"-._0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def is_id(field: bytes) -> bool:
    """Whether this is a field ``"id":"…"`` with an id that has no meaning to JSON."""
    return field[:6] == _START and field.translate(None, _OF_IDS) == _BARE


@dataclass(slots=True)
class _Kept:
    """The last answer of its length. ``parts`` are what is between its ids, where it has come twice."""

    tokens: list[bytes]
    result: Result
    id_at: int = 0
    id_to: int = 0
    parts: list[bytes] | None = None


class Repeats:
    """By length; for answers that came in one piece, whose stamps are all the same."""

    def __init__(self) -> None:
        self._kept: dict[int, _Kept] = {}
        self._patience = PATIENCE

    def find(self, raw: bytes, stamp: int) -> Result | None:
        """What the answer is, if it is like the last one of its length."""
        kept = self._kept.get(len(raw))
        if kept is None or kept.parts is None:
            return None
        named = raw[kept.id_at : kept.id_to]
        if not is_id(named) or named.join(kept.parts) != raw:
            self._patience -= 1
            return None
        self._patience = PATIENCE
        outcome, status, _, _, count, gaps, entered, left, source, text = kept.result
        return (outcome, status, stamp, stamp, count, gaps, entered, left, source, text)

    def learn(self, raw: bytes, named: bytes, tokens: list[bytes], result: Result) -> None:
        """Keeps an answer; one that has the same tokens as the last of its length is taken apart at its ids."""
        if self._patience <= 0 or len(raw) > MOST_BYTES:
            self._kept.clear()
            return
        size = len(raw)
        before = self._kept.get(size)
        if len(self._kept) >= MOST_KEPT:
            self._kept.clear()
        kept = self._kept[size] = _Kept(tokens, result)
        if before is not None and before.tokens == tokens and is_id(named):
            kept.id_at = raw.find(named)
            kept.id_to = kept.id_at + len(named)
            kept.parts = raw.split(named)
