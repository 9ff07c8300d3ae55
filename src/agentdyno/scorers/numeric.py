"""Numbers in a text."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

from agentdyno.model.case import Case, Response, Score
from agentdyno.scorers.answer import as_text, shortened

_SPACES = "\u00a0\u2009\u202f"  # no-break, thin, narrow: they group digits, an ordinary space separates numbers
_PLAIN = rf"(?:[0-9]{{1,3}}(?:[,_'’{_SPACES}][0-9]{{3}}(?![0-9]))++|[0-9]++)(?:\.[0-9]++)?|\.[0-9]++"
_COMMA = rf"(?:[0-9]{{1,3}}(?:[.'’{_SPACES}][0-9]{{3}}(?![0-9]))++|[0-9]++)(?:,[0-9]++)?"
_REST = (
    r"(?:(?P<exponent>[eE][+−-]?[0-9]++)"
    r"|\s?+(?:[x×*·]|\\times|\\cdot)\s?+10\s?+(?:\^|\*\*)\s?+\{?(?P<power>[+−-]?[0-9]++)\}?"
    r"|(?P<mixed>[ ][0-9]++)?\s?+[/⁄]\s?+(?P<below>[0-9]++(?:\.[0-9]++)?)(?![/⁄0-9]))?"
    r"(?P<percent>\s?+\\?%|\s++percent\b)?"
)
_START = r"(?<![\w.^/⁄])(?P<sign>(?<![)\]])[+−-])?(?:[$€£¥]\s?+)?"
_FRACTION = re.compile(r"\\[dt]?frac\s*+\{([^{}]*+)\}\s*+\{([^{}]*+)\}")
_NUMBER = re.compile(f"{_START}(?P<body>{_PLAIN}){_REST}")
_NUMBER_WITH_COMMA = re.compile(f"{_START}(?P<body>{_COMMA}){_REST}")


@dataclass(frozen=True, slots=True)
class NumberFound:
    """A number in a text; ``percent`` where a percent sign follows it."""

    value: float
    percent: bool = False


@dataclass(frozen=True, slots=True)
class Numeric:
    """The answer's number (its last, unless told otherwise) is the target within a tolerance."""

    absolute: float = 0.0
    relative: float = 1e-9
    which: Literal["last", "first", "any"] = "last"
    decimal_comma: bool = False

    def __post_init__(self) -> None:
        if not (self.absolute >= 0 and self.relative >= 0):
            raise ValueError("absolute and relative tolerances must not be negative")

    def check(self, case: Case) -> str | None:
        if case.target is None:
            return "it has no target"
        if len(self._numbers(case.target)) != 1:
            return f"its target {shortened(as_text(case.target))!r} is not one number"
        return None

    async def score(self, case: Case, response: Response) -> Score:
        wanted = self._numbers(case.target)
        if not wanted:
            return Score({"correctness": None}, "the target is no number")
        found = self._numbers(response.output)
        if not found:
            return Score({"correctness": 0.0}, f"no number in {shortened(as_text(response.output))!r}")
        looked_at = found if self.which == "any" else [found[0 if self.which == "first" else -1]]
        if any(self._close(item, wanted[-1]) for item in looked_at):
            return Score({"correctness": 1.0})
        return Score({"correctness": 0.0}, f"want {wanted[-1].value:.12g}, got {looked_at[-1].value:.12g}")

    def _numbers(self, value: object) -> list[NumberFound]:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            try:
                return [NumberFound(float(value))] if math.isfinite(value) else []
            except OverflowError:
                return []
        return find_numbers(as_text(value), decimal_comma=self.decimal_comma)

    def _close(self, got: NumberFound, want: NumberFound) -> bool:
        """A percentage is equal to its number and to its fraction, as 45 % is to 45 and to 0.45."""
        pairs = [(got.value, want.value)]
        if got.percent and not want.percent:
            pairs.append((got.value / 100, want.value))
        elif want.percent and not got.percent:
            pairs.append((got.value, want.value / 100))
        return any(math.isclose(a, b, rel_tol=self.relative, abs_tol=self.absolute) for a, b in pairs)


def find_numbers(text: str, *, decimal_comma: bool = False) -> list[NumberFound]:
    """The numbers of a text in order: ``1,234.5``, ``-3``, ``1e3``, ``2 × 10^5``, ``3/4``, ``1 3/4``, ``45 %``.

    Digits inside a word or an exponent of a unit (``m^2``) are none, nor is what is too large for a float.
    """
    pattern = _NUMBER_WITH_COMMA if decimal_comma else _NUMBER
    found = []
    for match in pattern.finditer(_FRACTION.sub(r" \1/\2 ", text)):
        value = _value(match, decimal_comma)
        if value is not None and math.isfinite(value):
            found.append(NumberFound(value, match["percent"] is not None))
    return found


def _value(match: re.Match[str], decimal_comma: bool) -> float | None:
    body = re.sub(rf"[{'.' if decimal_comma else ','}_'’{_SPACES}]", "", match["body"]).replace(",", ".")
    power = (match["exponent"] or match["power"] or "0").lstrip("eE").replace("−", "-")
    value = float(f"{body}e{power}")
    if match["below"]:
        below = float(match["below"])
        if below == 0:
            return None
        value = value + float(match["mixed"]) / below if match["mixed"] else value / below
    return -value if match["sign"] in ("-", "−") else value
