"""What several scorers say of one answer, as one score and its dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence

from agentdyno.model.case import Score
from agentdyno.model.suite import ScorerUse


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
