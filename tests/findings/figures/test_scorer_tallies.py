"""Scorers that raise or have no verdict: what is counted, and what the means of named values become."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentdyno.findings.figures.cases import ArmFigures
from agentdyno.findings.figures.scorer_tallies import BrokenScorer, broken_scorers
from agentdyno.findings.figures.suite_figures import close_suite, figures_of
from agentdyno.findings.run.judge_cautions import suite_cautions
from agentdyno.findings.standing.judge import standing_of
from agentdyno.findings.standing.tables_cases import scorers
from agentdyno.model import Benchmark, Rubric, Sample, ScorerUse
from agentdyno.show.table import Table

from ..suite_builders import arm, benchmark, sample, suite_of, suite_result

WHY = "scorer valid raised KeyError: 'x' (s.py:4)"


def judged(scorer: str = "valid", /, **values: float | None) -> dict[str, object]:
    return {"scorer": scorer, "weight": 1.0, "values": values}


def raised(scorer: str = "valid") -> dict[str, object]:
    why = WHY.replace("valid", scorer)
    problem = {"code": "scorer_raised", "message": why, "error": "KeyError", "where": "s.py:4"}
    said = {"explanation": why, "details": {"problem": problem}}
    return {"scorer": scorer, "weight": 1.0, "values": {"correctness": 0.0}, **said}


def silent(why: str = "no reference") -> dict[str, object]:
    details = {"problem": {"code": "unscorable", "message": why}}
    return {
        "scorer": "valid",
        "weight": 1.0,
        "values": {"correctness": None},
        "explanation": why,
        "details": details,
    }


def said(case_id: str, *items: dict[str, object], score: float | None, epoch: int = 0, **named: float) -> Sample:
    made = sample(case_id, score, epoch)
    return replace(made, scores={"score": score, **named}, details={"scoring": list(items)})


def of(*samples: Sample, name: str = "facts", scorer: str = "valid") -> tuple[Benchmark, ArmFigures]:
    own = benchmark("a", "b", "c", name=name, rubric=Rubric((ScorerUse(scorer),)))
    return own, ArmFigures.of(own, samples)


def test_answers_on_which_a_scorer_raised_are_counted_with_their_cases_and_the_first_reason() -> None:
    _, figures = of(
        said("a", judged(correctness=1.0), score=1.0, correctness=1.0),
        said("b", raised(), score=0.0, correctness=0.0),
        said("b", raised(), score=0.0, correctness=0.0, epoch=1),
        said("c", silent(), score=None),
    )
    tally = figures.scorers[0]
    assert (tally.scorer, tally.answers, tally.raised, tally.silent) == ("valid", 4, 2, 1)
    assert (dict(tally.raised_on), dict(tally.silent_on)) == ({"b": 2}, {"c": 1})
    assert (tally.why_raised, tally.why_silent) == (WHY, "no reference")
    assert figures.named_means() == {"correctness": [1.0, 0.0]}


def test_what_a_scorer_gives_elsewhere_is_0_where_it_raised() -> None:
    _, figures = of(
        said("a", judged(correctness=1.0, tone=0.5), score=1.0, correctness=1.0, tone=0.5),
        said("b", raised(), score=0.0, correctness=0.0),
    )
    assert figures.named_means() == {"correctness": [1.0, 0.0], "tone": [0.5, 0.0]}


def test_a_name_that_no_scorer_gives_does_not_appear_because_one_raised() -> None:
    _, figures = of(
        said("a", judged(form=1.0, facts=0.5), score=0.75, form=1.0, facts=0.5),
        said("b", raised(), score=0.0, correctness=0.0),
    )
    assert figures.named_means() == {"facts": [0.5, 0.0], "form": [1.0, 0.0]}


def test_a_dict_without_one_of_its_names_is_a_verdict_all_the_same() -> None:
    _, figures = of(
        said("a", judged(correctness=1.0, tone=0.5), score=1.0, correctness=1.0, tone=0.5),
        said("b", judged(correctness=1.0), score=1.0, correctness=1.0),
        said("c", judged(correctness=1.0, tone=None), score=1.0, correctness=1.0),
    )
    assert (figures.scorers[0].raised, figures.scorers[0].silent) == (0, 0)
    assert figures.named_means() == {"correctness": [1.0, 1.0, 1.0], "tone": [0.5]}


def test_of_two_scorers_the_one_that_raised_is_told_from_the_other() -> None:
    own = benchmark("a", rubric=Rubric((ScorerUse("exact"), ScorerUse("valid"))))
    both = said("a", judged("exact", correctness=1.0), raised(), score=0.5, correctness=0.5)
    figures = ArmFigures.of(own, [both])
    assert [(tally.scorer, tally.raised) for tally in figures.scorers.values()] == [("exact", 0), ("valid", 1)]


def test_a_scorer_is_broken_that_raised_on_every_answer_of_every_agent() -> None:
    first = of(said("a", raised(), score=0.0), said("b", raised(), score=0.0))
    second = of(said("a", raised(), score=0.0), name="sums")
    fine = of(said("a", judged(correctness=1.0), score=1.0), name="sums")
    other = of(said("a", judged("exact", correctness=1.0), score=1.0), scorer="exact")
    both = [(own, figures.scorers) for own, figures in (first, second, other)]
    assert broken_scorers(both) == [BrokenScorer("valid", ("facts", "sums"), 3, WHY)]
    assert broken_scorers([*both, (fine[0], fine[1].scorers)]) == [], "it can judge: the answers are to blame"
    assert broken_scorers([]) == []


def test_a_scorer_without_a_verdict_about_anything_is_not_broken() -> None:
    own, figures = of(said("a", silent(), score=None))
    assert broken_scorers([(own, figures.scorers)]) == []


@pytest.fixture
def table() -> Table:
    own = benchmark("a", "b", "c")
    good = [said(name, judged(correctness=1.0), score=1.0) for name in "abc"]
    bad = [said("a", raised(), score=0.0), said("b", raised(), score=0.0), said("c", silent(), score=None)]
    run = close_suite(suite_result(suite_of(own), arm("x@1", "facts", good), arm("y@1", "facts", bad)))
    codes = {warning.code: warning.message for warning in run.warnings}
    assert codes["scorer-raised"] == f"{WHY} on 2 of 3 answers, each of which counts as 0: cases a, b"
    assert codes["not-judged"] == "1 answer could not be judged: valid 1 (no reference)"
    made = scorers(standing_of(run, figures_of(run)))
    assert made is not None
    return made


def test_the_table_names_scorer_agent_cases_and_reason(table: Table) -> None:
    (row,) = table.rows
    assert [cell.text for cell in row] == ["valid", "y", "2", "1", "3", "a, b, c", WHY]
    assert any("has 0 from it" in note for note in table.notes)


def test_without_such_scorers_there_is_no_table() -> None:
    run = close_suite(suite_result(suite_of(benchmark("a")), arm("x@1", "facts", [sample("a")])))
    assert scorers(standing_of(run)) is None


def test_a_scorer_whose_values_differ_from_answer_to_answer_is_told_with_what_it_gave() -> None:
    _, uneven = of(
        said("a", judged(style=1.0, facts=0.0), score=0.5),
        said("b", judged(style=1.0, facts=0.0), score=0.5),
        said("c", judged(style=1.0), score=1.0),
    )
    assert uneven.scorers[0].uneven == "facts, style in 2; style in 1"
    _, even = of(
        said("a", judged(correctness=1.0, style=1.0), score=1.0),
        said("b", judged(correctness=1.0), score=1.0),
        said("c", raised(), score=0.0),
    )
    assert even.scorers[0].uneven == "", "its score is correctness alone, and where it raises it is 0"
    many = [said("a", judged(**{f"n{number}": 1.0}), score=1.0, epoch=number) for number in range(100)]
    assert len(of(*many)[1].scorers[0].made_of) == 20, "a scorer that gives others every time fills no memory"


def test_a_run_warns_of_a_scorer_whose_values_differ() -> None:
    own = benchmark("a", "b", rubric=Rubric((ScorerUse("valid"),)))
    samples = [said("a", judged(style=1.0, facts=0.0), score=0.5), said("b", judged(style=1.0), score=1.0)]
    figures = figures_of(run := suite_result(suite_of(own), arm("x@1", "facts", samples)))
    found = next(item for item in suite_cautions(run, figures) if item.code == "scorer-uneven")
    assert found.message.startswith("scorer valid did not give the same values for every answer")
    assert found.message.endswith("(facts, style in 1; style in 1)")
