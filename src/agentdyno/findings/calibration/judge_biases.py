"""What moves a judge's grade although people say the same of the answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from agentdyno.findings.calibration.model import GradedAnswer, JudgeBias
from agentdyno.settings.judging import LEVEL
from agentdyno.stats.raters.bias import BiasSlope, GradedItems, slope_given

PER_TOKENS = 100.0
LONGEST = 0.9
"""The share of answers whose lengths count as they are; longer ones count as the longest of these. A grade has no
room beyond 0 and 1, and lengths have long tails: a few very long answers would decide the slope, and hide it."""
ORDERS = ("reference first", "answer first")
_FEW = "too few labelled answers, or nothing differs among them"


def find_biases(answers: Sequence[GradedAnswer]) -> tuple[JudgeBias, ...]:
    """Length and self-preference with people's verdict held equal; the place by asking both ways."""
    return (
        _slope("length", "per 100 tokens", answers, _length(answers)),
        _self_preference(answers),
        _position(answers),
    )


def _length(answers: Sequence[GradedAnswer]) -> Callable[[GradedAnswer], float]:
    """How long an answer counts for, in hundreds of tokens."""
    longest = float(np.quantile([answer.length_tokens for answer in answers], LONGEST)) if answers else 0.0
    return lambda answer: min(answer.length_tokens, longest) / PER_TOKENS


def _self_preference(answers: Sequence[GradedAnswer]) -> JudgeBias:
    known = [answer for answer in answers if answer.own is not None]
    labelled = [answer for answer in known if answer.labels]
    unit = "where its own model answered"
    if not any(answer.own for answer in labelled):
        return JudgeBias("self-preference", unit, reason="no labelled answer is by the judge's own model")
    if all(answer.own for answer in labelled):
        return JudgeBias("self-preference", unit, reason="no labelled answer is by another model")
    return _slope("self-preference", unit, known, lambda answer: float(bool(answer.own)))


def _position(answers: Sequence[GradedAnswer]) -> JudgeBias:
    """The same answers read both ways: no label is needed."""
    both = [answer for answer in answers if all(order in answer.by_order for order in ORDERS)]
    unit = "where it reads the answer first"
    if not both:
        return JudgeBias("position", unit, reason="the judge read in one order only: `repeats: 3` reads both ways")
    grades = [answer.by_order[order] for answer in both for order in ORDERS]
    places = [float(order == ORDERS[1]) for _ in both for order in ORDERS]
    questions = [answer.question for answer in both for _ in ORDERS]
    return _told("position", unit, slope_given(GradedItems(grades, places, questions)))


def _slope(
    name: str, unit: str, answers: Sequence[GradedAnswer], cause: Callable[[GradedAnswer], float]
) -> JudgeBias:
    labelled = [answer for answer in answers if answer.labels]
    others = [answer for answer in answers if not answer.labels]
    if not labelled:
        return JudgeBias(name, unit, reason=_FEW)
    questions = [answer.question for answer in answers]
    shared = len(set(questions)) < len(questions)

    def items(chosen: Sequence[GradedAnswer]) -> GradedItems:
        clusters = [answer.question for answer in chosen] if shared else None
        return GradedItems([answer.grade for answer in chosen], [cause(answer) for answer in chosen], clusters)

    truth = [math.fsum(answer.labels.values()) / len(answer.labels) for answer in labelled]
    return _told(name, unit, slope_given(items(labelled), truth, items(others)))


def _told(name: str, unit: str, found: BiasSlope | None) -> JudgeBias:
    if found is None:
        return JudgeBias(name, unit, reason=_FEW)
    interval = (found.interval.low, found.interval.high)
    return JudgeBias(name, unit, found.value, interval, found.p_value, found.p_value < LEVEL)
