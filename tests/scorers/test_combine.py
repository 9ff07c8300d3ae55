from __future__ import annotations

from agentdyno.model.case import Score
from agentdyno.model.suite import ScorerUse
from agentdyno.scorers.outcome import combine


def said(weight: float = 1.0, **values: float | None) -> tuple[ScorerUse, Score]:
    return ScorerUse("s", weight), Score(values)


def test_one_scorer_is_its_own_score() -> None:
    assert combine([said(correctness=0.25)]) == {"score": 0.25, "correctness": 0.25}


def test_main_values_are_averaged_by_weight() -> None:
    combined = combine([said(3, correctness=1.0, completeness=0.5), said(1, correctness=0.0, relevance=0.75)])
    assert combined == {"score": 0.75, "correctness": 0.75, "completeness": 0.5, "relevance": 0.75}


def test_dimensions_are_averaged_over_the_scorers_that_give_them() -> None:
    combined = combine(
        [said(1, correctness=1.0, completeness=1.0), said(3, completeness=0.0), said(4, correctness=0.5)]
    )
    # Main values 1, 0 and 0.5 with weights 1, 3 and 4.
    assert combined == {"score": 0.375, "correctness": 0.6, "completeness": 0.25}


def test_without_correctness_the_score_or_the_mean_stands_for_a_scorer() -> None:
    assert combine([said(tone=0.5, length=1.0)]) == {"score": 0.75, "tone": 0.5, "length": 1.0}
    assert combine([said(score=0.25, tone=1.0)]) == {"score": 0.25, "tone": 1.0}


def test_what_could_not_be_judged_makes_the_score_unknown() -> None:
    assert combine([said(correctness=1.0), said(correctness=None)]) == {"score": None, "correctness": None}
    assert combine([said(tone=0.5, length=None)])["score"] is None
    assert combine([said(correctness=None, tone=1.0)]) == {"score": None, "correctness": None, "tone": 1.0}


def test_scorers_without_weight_are_shown_and_do_not_count() -> None:
    combined = combine([said(correctness=1.0), said(0, correctness=None, tone=0.5), said(0, tone=None)])
    assert combined == {"score": 1.0, "correctness": 1.0, "tone": None}
    assert combine([said(0, tone=0.25), said(0, tone=0.75)]) == {"score": None, "tone": 0.5}


def test_nobody_judging_is_unknown() -> None:
    assert combine([]) == {"score": None}
