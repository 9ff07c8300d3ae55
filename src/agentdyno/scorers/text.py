"""Scorers that compare texts."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

from agentdyno.model.case import Case, Response, Score
from agentdyno.scorers.answer import as_text, shortened, texts

LONGEST_EDITED = 50_000
"""Characters of a text up to which edits are counted; the work grows with the product of both lengths."""
_LONG = 2_000
_ARTICLES = frozenset(("a", "an", "the"))


def no_text_target(case: Case) -> str | None:
    """Why a target is neither a text (or number) nor a list of them."""
    target = case.target
    if target is None:
        return "it has no target"
    if isinstance(target, (list, tuple)):
        if not target:
            return "its target is an empty list"
        if all(isinstance(item, (str, int, float)) for item in target):
            return None
        return "its target is a list of something else than texts"
    return None if isinstance(target, (str, int, float)) else f"its target is {type(target).__name__}, not a text"


@dataclass(frozen=True, slots=True)
class Exact:
    """The answer is the target, or one of a list of targets."""

    ignore_case: bool = False
    strip: bool = True
    normalise_space: bool = False
    any_of: bool = True

    def check(self, case: Case) -> str | None:
        if isinstance(case.target, (list, tuple)) and not self.any_of:
            return None
        return no_text_target(case)

    async def score(self, case: Case, response: Response) -> Score:
        got = self._form(as_text(response.output))
        wanted = texts(case.target) if self.any_of else [as_text(case.target)]
        if got in [self._form(item) for item in wanted]:
            return Score({"correctness": 1.0})
        want = " or ".join(repr(shortened(item)) for item in wanted[:5])
        return Score({"correctness": 0.0}, f"want {want}, got {shortened(got)!r}")

    def _form(self, text: str) -> str:
        if self.normalise_space:
            text = " ".join(text.split())
        if self.strip:
            text = text.strip()
        return text.casefold() if self.ignore_case else text


@dataclass(frozen=True, slots=True)
class Includes:
    """The answer contains the target, or every text of a list (any of them with ``any_of``)."""

    ignore_case: bool = True
    normalise_space: bool = True
    whole_words: bool = False
    any_of: bool = False

    def check(self, case: Case) -> str | None:
        problem = no_text_target(case)
        if problem is None and not all(item.strip() for item in texts(case.target)):
            return "its target is empty: every answer contains that"
        return problem

    async def score(self, case: Case, response: Response) -> Score:
        got = self._form(as_text(response.output))
        wanted = texts(case.target)
        missing = [item for item in wanted if not self._has(got, self._form(item))]
        share = 1 - len(missing) / len(wanted)
        if self.any_of:
            found = len(missing) < len(wanted)
            return Score({"correctness": float(found)}, "" if found else _missing(missing))
        values = {"correctness": float(not missing), "completeness": share}
        return Score(values, _missing(missing) if missing else "")

    def _has(self, text: str, part: str) -> bool:
        if part not in text or not self.whole_words:
            return part in text
        return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None

    def _form(self, text: str) -> str:
        if self.normalise_space:
            text = " ".join(text.split())
        return text.casefold() if self.ignore_case else text


def _missing(items: list[str]) -> str:
    return "missing: " + ", ".join(repr(shortened(item)) for item in items[:10])


@dataclass(frozen=True, slots=True)
class TokenF1:
    """Words shared with the target: F1, with recall as completeness and precision as relevance."""

    drop_articles: bool = True

    def check(self, case: Case) -> str | None:
        return no_text_target(case)

    async def score(self, case: Case, response: Response) -> Score:
        got = self._words(as_text(response.output))
        f1, recall, precision = max(_overlap(got, self._words(item)) for item in texts(case.target))
        values = {"correctness": f1, "completeness": recall, "relevance": precision}
        return Score(values, f"F1 {f1:.2f}: recall {recall:.2f}, precision {precision:.2f}")

    def _words(self, text: str) -> Counter[str]:
        bare = "".join(sign for sign in text.casefold() if unicodedata.category(sign)[0] not in "PS")
        return Counter(word for word in bare.split() if not (self.drop_articles and word in _ARTICLES))


def _overlap(got: Counter[str], wanted: Counter[str]) -> tuple[float, float, float]:
    """F1, recall, precision. Two texts without words agree."""
    if not got or not wanted:
        same = float(got == wanted)
        return same, same, same
    shared = (got & wanted).total()
    recall, precision = shared / wanted.total(), shared / got.total()
    return (2 * recall * precision / (recall + precision) if shared else 0.0), recall, precision


@dataclass(frozen=True, slots=True)
class EditSimilarity:
    """1 less the edits between answer and target per character of the longer one."""

    ignore_case: bool = False
    strip: bool = True

    def check(self, case: Case) -> str | None:
        return no_text_target(case)

    async def score(self, case: Case, response: Response) -> Score:
        got = self._form(as_text(response.output))
        wanted = [self._form(item) for item in texts(case.target)]
        if got in wanted:
            return Score({"correctness": 1.0}, "no edits")
        longest = max(len(got), *map(len, wanted))
        if longest > LONGEST_EDITED:
            return Score(
                {"correctness": None}, f"{longest:,} characters are too long to compare; at most {LONGEST_EDITED:,}"
            )
        if longest > _LONG:
            best, edits = await asyncio.to_thread(_closest, got, wanted)
        else:
            best, edits = _closest(got, wanted)
        return Score({"correctness": best}, f"{edits:,} edits")

    def _form(self, text: str) -> str:
        if self.strip:
            text = text.strip()
        return text.casefold() if self.ignore_case else text


def _closest(got: str, wanted: list[str]) -> tuple[float, int]:
    """The highest similarity to any of the texts, and its edits."""
    found = [(edit_distance(got, item), max(len(got), len(item))) for item in wanted]
    return max(((1 - edits / length) if length else 1.0, edits) for edits, length in found)


def edit_distance(first: str, second: str) -> int:
    """Insertions, deletions and substitutions between two texts.

    A column of the table of distances is kept as two bit vectors, of its steps up and its steps down, so that a
    character of ``second`` costs a handful of operations on integers as long as ``first``.
    """
    if not first or not second:
        return len(first) or len(second)
    places: dict[str, int] = {}
    for index, sign in enumerate(first):
        places[sign] = places.get(sign, 0) | 1 << index
    full, last = (1 << len(first)) - 1, 1 << (len(first) - 1)
    up, down, distance = full, 0, len(first)
    for sign in second:
        equal = places.get(sign, 0)
        vertical = equal | down
        horizontal = (((equal & up) + up) ^ up) | equal
        right_up = (down | ~(horizontal | up)) & full
        right_down = up & horizontal
        distance += bool(right_up & last) - bool(right_down & last)
        right_up = (right_up << 1 | 1) & full
        right_down = (right_down << 1) & full
        up = (right_down | ~(vertical | right_up)) & full
        down = right_up & vertical
    return distance
