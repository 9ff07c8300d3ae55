"""Judging as a rubric says: scorers together, what each said, what judging cost."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from agentdyno.contracts import Agent
from agentdyno.errors import DynoError, SpecError
from agentdyno.model import Benchmark, Case, Price, Response, Rubric, ScorerUse, Status, Usage
from agentdyno.pricing import PriceBook
from agentdyno.runner.cases.call import CaseJudgement
from agentdyno.runs.suite.marking import marking_for

CASES = (Case("a", "What?", "Yes"), Case("b", "Why?", "3"))


class Judge:
    """A model that always says the same."""

    def __init__(self) -> None:
        self.name, self.version, self.paid = "judge", "1", True
        self.config: Mapping[str, object] = {}

    async def start(self) -> None:
        pass

    async def run(self, case: Case) -> Response:
        return Response('{"correctness": 1.0, "explanation": "fine"}', Usage(1000, 1000), model="m")

    async def close(self) -> None:
        pass


def nobody(reference: str) -> Agent:
    raise AssertionError(reference)


def judge(rubric: Rubric, output: object, prices: PriceBook | None = None) -> CaseJudgement:
    marking = marking_for(Benchmark("b", CASES, rubric=rubric), Path(), lambda _: Judge(), prices)

    async def judged() -> CaseJudgement:
        return await marking(CASES[0], Response(output))

    return asyncio.run(judged())


def test_scorers_are_weighted_and_each_says_what_it_saw() -> None:
    rubric = Rubric((ScorerUse("exact", 3.0), ScorerUse("includes", 1.0)))
    judgement = judge(rubric, "Yes, indeed")
    assert judgement.scores["score"] == pytest.approx(0.25)
    assert [(said["scorer"], said["weight"]) for said in judgement.scoring] == [("exact", 3.0), ("includes", 1.0)]
    assert "want" in str(judgement.scoring[0]["explanation"])
    assert judgement.cost_usd == 0.0, "judging without a model is free"


def test_what_a_model_charges_for_judging_is_counted_apart_and_unknown_without_a_price() -> None:
    rubric = Rubric((ScorerUse("model_graded", options={"agent": "judge"}),))
    priced = judge(rubric, "Yes", PriceBook({"m": Price(100.0, 300.0)}))
    assert priced.cost_usd == pytest.approx(0.4)
    assert priced.scoring[0]["usage"]
    unpriced = judge(rubric, "Yes", PriceBook())
    assert unpriced.cost_usd is None


def test_a_target_that_cannot_be_judged_is_found_before_anything_runs() -> None:
    benchmark = Benchmark("sums", CASES, rubric=Rubric((ScorerUse("numeric"),)))
    with pytest.raises(SpecError, match="benchmark sums, case a: the scorer numeric cannot judge it"):
        marking_for(benchmark, Path(), nobody)


def test_a_case_without_a_target_is_told_which_other_columns_it_has() -> None:
    cases = (Case("a", "capital of Peru?", None, {"Expected Answer": "Lima", "kind": "geo"}),)
    with pytest.raises(SpecError) as refused:
        marking_for(Benchmark("b", cases, rubric=Rubric((ScorerUse("includes"),))), Path(), nobody)
    assert "`columns: {target: Expected Answer}`" in str(refused.value.remedy)
    assert "Expected Answer, kind" in str(refused.value.remedy)


def test_without_scorers_there_is_no_opinion() -> None:
    judgement = judge(Rubric(()), "anything")
    assert judgement.scores.get("score") is None


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (ScorerUse("exat"), "unknown scorer 'exat'"),
        (ScorerUse("exact", options={"ignore_cas": True}), "no option 'ignore_cas'"),
        (ScorerUse("judge.py@x"), "no file judge.py"),
    ],
)
def test_a_scorer_that_is_not_there_is_told(use: ScorerUse, words: str, tmp_path: Path) -> None:
    with pytest.raises(DynoError, match=words):
        marking_for(Benchmark("b", CASES, rubric=Rubric((use,))), tmp_path, nobody)


RAISING = """from agentdyno import Unscorable

def strict(output):
    return 1 / 0

def unsure(output):
    raise Unscorable("no")
"""


def judged_in(folder: Path, *scorers: ScorerUse, output: object = "Yes") -> CaseJudgement:
    (folder / "raising.py").write_text(RAISING)
    marking = marking_for(Benchmark("b", CASES, rubric=Rubric(scorers)), folder, nobody)

    async def judged() -> CaseJudgement:
        return await marking(CASES[0], Response(output))

    return asyncio.run(judged())


def test_where_one_scorer_raises_the_verdicts_of_the_others_stay(tmp_path: Path) -> None:
    judgement = judged_in(tmp_path, ScorerUse("exact", 3.0), ScorerUse("raising.py@strict", 1.0))
    assert judgement.scores == {"score": 0.75, "correctness": 0.75}
    assert [said["values"] for said in judgement.scoring] == [{"correctness": 1.0}, {"correctness": 0.0}]
    assert "raised ZeroDivisionError: division by zero (raising.py:4)" in str(judgement.scoring[1]["explanation"])
    assert judgement.status(0.5) is Status.FAILED, "whatever the others say: one of the judges could not judge"


def test_a_scorer_that_does_not_count_may_raise_and_the_answer_still_pass(tmp_path: Path) -> None:
    judgement = judged_in(tmp_path, ScorerUse("exact"), ScorerUse("raising.py@strict", 0.0))
    assert judgement.scores["score"] == 1.0
    assert judgement.status(0.5) is Status.OK


def test_no_verdict_of_one_scorer_leaves_the_score_unknown_and_the_other_values_as_they_are(tmp_path: Path) -> None:
    judgement = judged_in(tmp_path, ScorerUse("token_f1"), ScorerUse("raising.py@unsure"))
    assert judgement.scores["score"] is None
    assert judgement.scores["completeness"] == 1.0
    assert judgement.status(0.5) is Status.OK
