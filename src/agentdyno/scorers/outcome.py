"""What a scorer returned, as a ``Score`` that can be trusted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real

from agentdyno.model.case import Score
from agentdyno.model.codec import to_plain
from agentdyno.model.suite import ScorerUse
from agentdyno.scorers.answer import shortened

LONGEST_EXPLANATION = 4_000
_ROUNDING = 1e-9


def as_score(result: object, name: str) -> Score:
    """A number in 0..1, a bool, a dict of them, a ``Score`` or ``None`` as a score.

    One number becomes ``correctness``; a text under ``explanation`` in a dict is the explanation. What is no such
    value is unknown, and ``details["problem"]`` says why.
    """
    if isinstance(result, Score):
        return _checked(result.values, name, result)
    if isinstance(result, Mapping):
        values = {str(key): value for key, value in result.items() if key != "explanation"}
        said = result.get("explanation")
        return _checked(values, name, Score({}, said if isinstance(said, str) else ""))
    if result is None:
        return Score({"correctness": None}, f"{name} did not judge")
    return _checked({"correctness": result}, name, Score({}))


def _checked(values: Mapping[str, object], name: str, given: Score) -> Score:
    checked: dict[str, float | None] = {}
    problems: list[tuple[str, str]] = []
    for key, value in values.items():
        checked[key], problem = _value(value)
        if problem:
            problems.append((problem[0], f"{key} {problem[1]}"))
    if not values:
        checked, problems = {"correctness": None}, [("wrong_type", "an empty dict")]
    details = _plain_details(given.details)
    explanation = given.explanation
    if problems:
        message = f"the scorer {name} returned {', '.join(text for _, text in problems)}"
        details["problem"] = {"code": problems[0][0], "message": message}
        explanation = f"{explanation}; {message}" if explanation else message
    return Score(checked, explanation[:LONGEST_EXPLANATION], details, given.usage, given.cost)


def _value(value: object) -> tuple[float | None, tuple[str, str] | None]:
    """The value, and the code and text of what is wrong with it."""
    if type(value).__module__ == "numpy" and hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()
    if value is None:
        return None, None
    if not isinstance(value, Real):
        return None, (
            "wrong_type",
            f"= {shortened(repr(value))} of type {type(value).__name__}, not a number in 0..1",
        )
    try:
        number = float(value)
    except OverflowError:
        return None, ("out_of_range", "= a number too large to be one in 0..1")
    if math.isnan(number):
        return None, ("not_a_number", "= NaN")
    if not -_ROUNDING <= number <= 1 + _ROUNDING:
        return None, ("out_of_range", f"= {number:g}, which is not in 0..1")
    return min(max(number, 0.0), 1.0), None


def _plain_details(details: Mapping[str, object]) -> dict[str, object]:
    """Details that JSON can hold; what it cannot is kept as text."""
    plain: dict[str, object] = {}
    for key, value in details.items():
        try:
            plain[str(key)] = to_plain(value)
        except (TypeError, RecursionError):
            plain[str(key)] = shortened(repr(value), 1000)
    return plain


def combine(scores: Sequence[tuple[ScorerUse, Score]]) -> dict[str, float | None]:
    """``score``, the mean of the scorers' main values by weight, and each dimension, by weight over who gives it.

    A scorer's main value is its ``correctness``, else its ``score``, else the mean of all it gives. What one scorer
    with a weight could not judge makes the score (or that dimension) unknown, since the rest alone would mean
    something else. Scorers of weight 0 do not count; a dimension that only they give is their plain mean.
    """
    main = _mean([(use.weight, main_value(score)) for use, score in scores if use.weight > 0])
    names = dict.fromkeys(name for _, score in scores for name in score.values if name != "score")
    combined = {"score": main}
    for name in names:
        given = [(use.weight, score.values[name]) for use, score in scores if name in score.values]
        counted = [item for item in given if item[0] > 0]
        combined[name] = _mean(counted or [(1.0, value) for _, value in given])
    return combined


def main_value(score: Score) -> float | None:
    """The one value that stands for what a scorer says."""
    for name in ("correctness", "score"):
        if name in score.values:
            return score.values[name]
    return _mean([(1.0, value) for value in score.values.values()])


def _mean(items: Sequence[tuple[float, float | None]]) -> float | None:
    known = [(weight, value) for weight, value in items if value is not None]
    if not items or len(known) < len(items):
        return None
    return math.fsum(weight * value for weight, value in known) / math.fsum(weight for weight, _ in known)
