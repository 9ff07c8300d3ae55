"""The choice that an answer makes among several."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from string import ascii_uppercase

from agentdyno.model.case import Case, Response, Score
from agentdyno.scorers.answer import as_text, shortened

_OPENING = r"[\s(\[{*_`\"'“‘]*+"
_ANNOUNCED = re.compile(
    r"\b(?i:answer|choice|option|choose|chose|pick|selected|select)\b"
    rf"(?i:\s++(?:is|was|would be|should be))*+\s*+[:=]?+{_OPENING}(?:(?i:option|choice)\b)?+{_OPENING}"
    r"(?:([A-Z])(?![\w'’])|([a-z])(?=[)\]}*_`\"'”’.,;:!?]|\s*+$))"
)
"""Possessive throughout: an answer of spaces without end must not take time without end."""
_BRACKETED = re.compile(r"[(\[]\s*+([A-Za-z])\s*+[)\]]")
_LISTED = re.compile(r"^[^\w\n]*+([A-Za-z])[ \t]*+[.):](?=\s|$)", re.M)
_ALONE = re.compile(r"(?<![\w'’])([A-Z])(?![\w'’])")
_WHOLE = re.compile(r"\W*+([A-Za-z])\W*+")
_WORD = re.compile(r"[-+]?\w(?:[\w.+-]*\w)?")


@dataclass(frozen=True, slots=True)
class MultipleChoice:
    """The answer picks the target's letter; choices are in the case's metadata as ``choices``."""

    def check(self, case: Case) -> str | None:
        choices = _choices(case)
        if isinstance(choices, str):
            return choices
        if _wanted(case.target, choices) is None:
            listed = ", ".join(choices) or "a single letter"
            return f"its target {case.target!r} is none of the choices ({listed})"
        return None

    async def score(self, case: Case, response: Response) -> Score:
        choices = _choices(case)
        if isinstance(choices, str):
            return Score({"correctness": None}, choices)
        want = _wanted(case.target, choices)
        if want is None:
            return Score({"correctness": None}, f"the target {case.target!r} is no choice")
        text = as_text(response.output)
        got = find_choice(text, choices or dict.fromkeys(ascii_uppercase, ""))
        if got == want:
            return Score({"correctness": 1.0}, details={"choice": got})
        said = f"got {got}" if got else f"no choice found in {shortened(text)!r}"
        return Score({"correctness": 0.0}, f"want {want}, {said}", {"choice": got})


def _choices(case: Case) -> dict[str, str] | str:
    """Texts by letter, empty where the case has none; or what is wrong with them."""
    given = case.metadata.get("choices")
    if given is None:
        return {}
    if isinstance(given, Mapping):
        if all(isinstance(key, str) and len(key) == 1 and key.isalpha() for key in given):
            return {key.upper(): as_text(text) for key, text in given.items()}
        return "its choices must be named by single letters"
    if isinstance(given, (list, tuple)) and 0 < len(given) <= len(ascii_uppercase):
        return {letter: as_text(text) for letter, text in zip(ascii_uppercase, given, strict=False)}
    return "its choices must be a list of 1 to 26 texts, or texts by letter"


def _wanted(target: object, choices: Mapping[str, str]) -> str | None:
    """The target as a letter; it may also be a position from 0 or the text of a choice."""
    if isinstance(target, int) and not isinstance(target, bool):
        letters = list(choices) or list(ascii_uppercase)
        return letters[target] if 0 <= target < len(letters) else None
    if not isinstance(target, str):
        return None
    letter = target.strip().strip("().").upper()
    if len(letter) == 1 and letter in (choices or ascii_uppercase):
        return letter
    same = [letter for letter, text in choices.items() if _plain(text) == _plain(target)]
    return same[0] if len(same) == 1 else None


def find_choice(text: str, choices: Mapping[str, str]) -> str | None:
    """The letter that a free text settles on, from the surest sign to the weakest; ``None`` where it is unclear.

    What is announced last counts ("the answer is B"); a sign that points at several letters says nothing.
    """
    whole = _WHOLE.fullmatch(text)
    if whole and whole[1].upper() in choices:
        return whole[1].upper()
    announced = [(found[1] or found[2]).upper() for found in _ANNOUNCED.finditer(text)]
    announced = [letter for letter in announced if letter in choices]
    if announced:
        return announced[-1]
    named = [letter for letter, content in choices.items() if content and _plain(content) == _plain(text)]
    if len(named) == 1:
        return named[0]
    for sign in (_BRACKETED, _LISTED, _ALONE):
        found: set[str] = {letter.upper() for letter in sign.findall(text)} & set(choices)
        if sign is _ALONE:
            found -= {letter for letter in ("A", "I") if _is_word(text, letter)}
        if len(found) == 1:
            return found.pop()
    return _mentioned(text, choices)


def _is_word(text: str, letter: str) -> bool:
    """Whether the letter begins a phrase, as in "A dog" or "I think"."""
    return re.search(rf"(?<![\w'’]){letter}\s+(?!(?:or|and|is|because)\b)[a-z]", text) is not None


def _mentioned(text: str, choices: Mapping[str, str]) -> str | None:
    """The only choice whose text occurs, one that is part of a longer one left out."""
    plain = f" {_plain(text)} "
    found = {letter: _plain(content) for letter, content in choices.items()}
    found = {letter: content for letter, content in found.items() if content and f" {content} " in plain}
    outer = [
        letter
        for letter, content in found.items()
        if not any(content != other and f" {content} " in f" {other} " for other in found.values())
    ]
    return outer[0] if len(outer) == 1 else None


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))
