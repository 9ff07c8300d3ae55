"""Regular expressions, which must not be able to hang a run."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from agentdyno.model.case import Case, Response, Score
from agentdyno.scorers.answer import as_text, shortened
from agentdyno.scorers.limited import ProcessLimits, run_limited

LONGEST = 1_000_000
"""Characters of an answer that are searched."""
_CHEAP = 100_000_000
"""Steps of a search that are taken without a process of their own: some tenths of a second at worst."""
_MEMORY_BYTES = 512 * 1024 * 1024
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_SINGLE = ("LITERAL", "NOT_LITERAL", "IN", "ANY")
_FOUND, _ABSENT = 10, 11
_CHILD = f"""
import json, re, sys
job = json.load(open("job", encoding="utf-8", errors="surrogatepass"))
pattern = re.compile(job["pattern"], job["flags"])
found = (pattern.fullmatch if job["fullmatch"] else pattern.search)(job["text"])
sys.exit({_ABSENT} if found is None else {_FOUND})
"""


@dataclass(frozen=True, slots=True)
class Regex:
    """A regular expression, the option ``pattern`` or else the target, matches the answer."""

    pattern: str | None = None
    fullmatch: bool = False
    ignore_case: bool = False
    time_limit_s: float = 5.0

    def __post_init__(self) -> None:
        if self.time_limit_s <= 0:
            raise ValueError("time_limit_s must be above 0")
        if self.pattern is not None and (problem := _problem(self.pattern)):
            raise ValueError(problem)

    def check(self, case: Case) -> str | None:
        if self.pattern is not None:
            return None
        if not isinstance(case.target, str):
            return "it needs a pattern as target, or the option pattern"
        return _problem(case.target)

    async def score(self, case: Case, response: Response) -> Score:
        pattern = self.pattern if self.pattern is not None else as_text(case.target)
        text = as_text(response.output)
        if len(text) > LONGEST:
            return Score(
                {"correctness": None}, f"{len(text):,} characters are too long to search; at most {LONGEST:,}"
            )
        flags = re.IGNORECASE if self.ignore_case else re.NOFLAG
        if work(pattern, len(text)) <= _CHEAP:
            compiled = re.compile(pattern, flags)
            found: bool | None = (compiled.fullmatch if self.fullmatch else compiled.search)(text) is not None
        else:
            found = await self._search_apart(pattern, flags, text)
        if found is None:
            why = f"the pattern {shortened(pattern)!r} did not finish in {self.time_limit_s:g} s"
            return Score({"correctness": None}, why, {"problem": {"code": "pattern_too_slow", "message": why}})
        if found:
            return Score({"correctness": 1.0})
        return Score({"correctness": 0.0}, f"{shortened(pattern)!r} does not match {shortened(text)!r}")

    async def _search_apart(self, pattern: str, flags: re.RegexFlag, text: str) -> bool | None:
        """In a process that can be ended; ``None`` where it had to be."""
        job = {"pattern": pattern, "flags": int(flags), "fullmatch": self.fullmatch, "text": text}
        ended = await run_limited(
            [sys.executable, "-I", "-S", "-c", _CHILD],
            {"job": json.dumps(job)},
            ProcessLimits(self.time_limit_s, _MEMORY_BYTES),
        )
        if ended.code in (_FOUND, _ABSENT):
            return ended.code == _FOUND
        if ended.past == "time":
            return None
        raise RuntimeError(f"the search ended with status {ended.code}: {shortened(ended.tail, 300)}")


def _problem(pattern: str) -> str | None:
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"the pattern {shortened(pattern)!r} is not valid: {error}"
    return None


def work(pattern: str, length: int) -> float:
    """An upper bound of the ways in which a search may try a text of that length; infinite where none is known.

    Only what takes one character is repeated in a bounded number of ways; a repetition of anything else, and what
    looks back at an earlier group, may take for ever.
    """
    try:
        parser = import_module("re._parser")
        return (length + 1) * _ways(parser.parse(pattern), length)
    except (ImportError, re.error, RecursionError, OverflowError):
        return math.inf


def _ways(items: Iterable[Any], length: int) -> float:
    ways = 1.0
    for sign, value in items:
        kind = str(sign)
        if kind in _REPEATS:
            least, most, inner = value
            if _is_single(inner):
                ways *= min(int(most), length) - min(int(least), length) + 1
            else:
                ways *= 1 + _ways(inner, length) if most == 1 else math.inf
        elif kind == "SUBPATTERN":
            ways *= _ways(value[-1], length)
        elif kind == "BRANCH":
            ways *= sum(_ways(branch, length) for branch in value[1])
        elif kind not in _SINGLE and kind != "AT":
            return math.inf
    return ways


def _is_single(items: Iterable[Any]) -> bool:
    """Whether the repeated part always takes one character."""
    listed = list(items)
    return len(listed) == 1 and str(listed[0][0]) in _SINGLE
