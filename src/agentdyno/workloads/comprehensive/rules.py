"""An agent without a model: patterns, keywords, and the sentence that shares most words with the question."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from agentdyno import Case, tool_call
from agentdyno.workloads.comprehensive.calculator import (
    CannotCalculate,
    as_text,
    calculate,
    calculate_left_to_right,
)
from agentdyno.workloads.comprehensive.search import words_of

Compute = Callable[[str], float]
UNKNOWN = "I do not know."
_EXPRESSION = re.compile(r"\(?\d[\d.]*(?:\s*[-+*/]\s*\(?\s*\d[\d.]*\s*\)?)+")
_KEYWORDS = {
    "billing": ("invoice", "charged", "bill", "pay", "price", "refund"),
    "shipping": ("parcel", "order", "courier", "delivery", "tracking"),
    "technical": ("error", "display", "sensor", "update", "lamp"),
    "account": ("password", "profile", "log in", "sign in", "user name"),
}
_FREQUENT = {
    "refund": "A refund takes 6 working days.",
    "warranty": "The warranty of the Skylark 3 lasts 4 years.",
    "shipping": "Standard shipping takes 5 days and costs 7 euros.",
}
_FIELDS = {
    "name": re.compile(r"\b([A-Z][a-z]+ [A-Z][a-z]+)\b"),
    "city": re.compile(r"\b(?:in|to|at) ([A-Z][a-z]+)\b"),
    "day": re.compile(r"\b((?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b"),
    "time": re.compile(r"\b(\d{1,2}:\d{2})\b"),
    "station": re.compile(r"[Ss]tation ([A-Z][a-z]+)"),
    "temperature": re.compile(r"\b(\d+) degrees"),
    "quantity": re.compile(r"\b(\d+) [a-z]"),
    "product": re.compile(r"\b\d+ ([a-z]+(?: [a-z]+)?)"),
}
_NUMBERS = ("temperature", "quantity")


class RulesAgent:
    """Answers what a rule covers, in microseconds; says so where none does."""

    async def run(self, case: Case) -> object:
        if case.turns:
            return quote(list(case.turns[:-1]), case.turns[-1])
        return answer(unicodedata.normalize("NFKC", str(case.input)))


class FirstRulesAgent:
    """The rules as first released: text as it comes, sums from left to right, only the last turn is heard."""

    async def run(self, case: Case) -> object:
        return answer(str(case.turns[-1] if case.turns else case.input), calculate_left_to_right)


def answer(text: str, compute: Compute = calculate) -> object:
    """The answer of the first rule that fits."""
    if not text.strip(" \n\t?"):
        return "How can I help?"
    if text.startswith("Classify"):
        return classify(text.partition("Message: ")[2])
    if found := re.match(r"Extract (.+?) as JSON\.\nText: (.*)", text, re.DOTALL):
        return extract(found[1], found[2])
    if "\n\nQuestion: " in text:
        body, _, question = text.rpartition("\n\nQuestion: ")
        return quote(body.splitlines(), question)
    if found := re.match(r"(?:Repeat this|Write the) word:? (\S+)", text):
        return found[1].upper() if "capital" in text else found[1].rstrip(".")
    if found := re.match(r"Is (\d+) greater than (\d+)\?", text):
        return "yes" if int(found[1]) > int(found[2]) else "no"
    if found := _EXPRESSION.search(text):
        return calculated(found[0], compute)
    for word, known in _FREQUENT.items():
        if word in text.lower():
            return known
    return UNKNOWN


def calculated(expression: str, compute: Compute = calculate) -> str:
    with tool_call("calculator", {"expression": expression}) as result:
        try:
            result.append(as_text(compute(expression)))
        except CannotCalculate:
            result.append(UNKNOWN)
    return str(result[0])


def classify(message: str) -> str:
    """The label with most keywords in the message, the first one where none has any."""
    lower = message.lower()
    return max(_KEYWORDS, key=lambda label: sum(word in lower for word in _KEYWORDS[label]))


def extract(wanted: str, text: str) -> dict[str, object]:
    """The fields that are asked for, ``None`` where no pattern finds one."""
    found: dict[str, object] = {}
    for name in wanted.split(" and "):
        match = _FIELDS[name].search(text) if name in _FIELDS else None
        value = match[1].rstrip("s") if match and name == "product" else match[1] if match else None
        found[name] = int(value) if value is not None and name in _NUMBERS else value
    return found


def quote(sentences: list[str], question: str) -> str:
    """The sentence that shares most words with the question, the later one of two."""
    asked = set(words_of(question))
    best = max(reversed(sentences), key=lambda sentence: len(asked & set(words_of(sentence))), default="")
    return best if asked & set(words_of(best)) else UNKNOWN
