"""Policies about cases in a check: what is looked up before anything is asked, and what is tried again."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from agentdyno.cli.bench.check import exit_code
from agentdyno.errors import SpecError
from agentdyno.findings.baseline.ask import set_baseline
from agentdyno.findings.gate.model import GateReport, Tries
from agentdyno.model import Case, RunResult
from agentdyno.model.policy import DEFAULT_RULES, CasePolicy, GatePolicy, Quarantine, Tier
from agentdyno.runner.rules.settling import SETTLED
from agentdyno.runs.kind import Choices, Prepared, Tools
from agentdyno.runs.suite.prepare import PreparedSuite
from agentdyno.specs import LoadedSuite
from agentdyno.workbench.check import Checked, SuiteCheck

from ..suites import EMPTY, Room
from .answering import Answerer, cases, put

TODAY = "2026-06-15"
ANSWERS = tuple(rule for rule in DEFAULT_RULES if rule.tier is Tier.CRITICAL)


@dataclass
class Lucky(Answerer):
    """Has given luck: the tries of a case that go wrong, counted over all runs, from 1; 0 is all of them."""

    unlucky: Mapping[str, Sequence[int]] = field(default_factory=dict)
    interrupt_at: int = 0

    def run(self, case: Case) -> object:
        super().run(case)
        if len(self.asked) == self.interrupt_at:
            os.kill(os.getpid(), signal.SIGINT)
        bad = self.unlucky.get(case.id, ())
        return "no" if self.asked.count(case.id) in bad or 0 in bad else case.target


def check(room: Room, agent: Answerer, *, today: str = TODAY, epochs: int = 5, **asked: object) -> Checked:
    @contextmanager
    def running(_prepared: Prepared[PreparedSuite], tools: Tools) -> Iterator[Tools]:
        yield tools

    policy = GatePolicy(ANSWERS, cases=CasePolicy(**asked))  # type: ignore[arg-type]
    tools = room.tools(EMPTY, Choices((agent,)))
    return SuiteCheck(suite(room, epochs), tools, running, policy=policy, today=today).check()


def suite(room: Room, epochs: int = 5) -> LoadedSuite:
    rows = [{**row, "metadata": {"tags": ["core"]}} if row["id"] == "c00" else row for row in cases(10)]
    return room.suite(dataset={"cases": rows}, epochs=epochs)


@pytest.fixture
def base(room: Room) -> Room:
    """A room with a baseline that is always right."""
    put(room, suite(room), Answerer("a", "1.0"))
    set_baseline(room.store, "a@1.0")
    return room


def only(done: Checked) -> GateReport:
    (report,) = done.reports
    return report


def seen(report: GateReport, case_id: str) -> Tries:
    return next(item.after for item in report.cases if item.key.case_id == case_id)


@pytest.mark.parametrize(
    ("asked", "place", "word", "nearest"),
    [
        ({"must_pass": ("c01", "c0x")}, "gate.must_pass[1]", "c0x", "Did you mean c0"),
        ({"must_pass": ("cor",)}, "gate.must_pass[0]", "cor", "Did you mean core?"),
        ({"quarantine": (Quarantine("c77*", "r", TODAY),)}, "gate.quarantine[0].case", "c77*", "Did you mean c07"),
    ],
)
def test_a_word_that_no_case_and_no_tag_has_is_refused_before_anything_is_asked(
    base: Room, asked: dict[str, object], place: str, word: str, nearest: str
) -> None:
    agent = Answerer("a", "1.1")
    with pytest.raises(SpecError, match="no case and no tag is called") as caught:
        check(base, agent, **asked)  # type: ignore[arg-type]
    assert (agent.asked, str(caught.value.where).endswith(place)) == ([], True)
    assert repr(word) in caught.value.message
    assert nearest in (caught.value.remedy or "")


def test_a_word_of_another_suite_of_the_project_is_known(base: Room) -> None:
    (base.folder / "other.yaml").write_text("{name: other, dataset: [{id: far-1, input: x, target: X}]}")
    workspace = base.workspace("suites: [other.yaml]\ngate: {must_pass: [far-1]}\n")

    @contextmanager
    def running(_prepared: Prepared[PreparedSuite], tools: Tools) -> Iterator[Tools]:
        yield tools

    tools = base.tools(workspace, Choices((Answerer("a", "1.1"),)))
    report = only(SuiteCheck(suite(base), tools, running, policy=workspace.gate, today=TODAY).check())
    assert report.policies[0].reason == "none of these cases is in this suite"


def test_cases_in_doubt_are_tried_again_and_no_others(base: Room) -> None:
    agent = Lucky("a", "1.1", unlucky={"c03": [2]})
    done = check(base, agent, pass_rate=0.8)
    assert len(done.runs) == 2
    assert done.runs[1].stopped_because == SETTLED
    report = only(done)
    assert report.policies[0].verdict == "PASS"
    assert set(agent.asked[50:]) == {"c03"}
    assert seen(report, "c03") == Tries(len(agent.asked[50:]) + 4, len(agent.asked[50:]) + 5)
    assert len(agent.asked[50:]) == 11, "7 more wrong ones of 9: a coin does that in 46 of 512"
    assert exit_code(done.reports, done.runs, strict=False) == 0


def test_a_case_that_fails_too_often_is_blocked_as_soon_as_that_is_certain(base: Room) -> None:
    agent = Lucky("a", "1.1", unlucky={"c03": [0], "c05": [1, 2, 3, 6, 7, 8, 9, 10, 11, 12, 13]})
    done = check(base, agent, pass_rate=0.8)
    report = only(done)
    assert (report.verdict, exit_code(done.reports, done.runs, strict=False)) == ("BLOCK", 1)
    (row,) = report.policies
    assert [key.case_id for key in row.cases] == ["c03", "c05"]
    assert (seen(report, "c03"), seen(report, "c05")) == (Tries(0, 8), Tries(2, 10))
    assert "require pass_rate: right too seldom: c03, c05 (c03: right in 0 of 8 tries;" in report.summary


def test_repeats_are_a_run_of_their_own_with_other_seeds_and_a_mark(base: Room) -> None:
    done = check(base, Lucky("a", "1.1", unlucky={"c03": [2]}), pass_rate=0.8)
    first, again = done.runs
    assert again.tags == ("repeats", f"repeats:{first.run_id}")
    assert again.seed != first.seed
    assert again.suite is not None
    assert [case.id for case in again.suite.benchmarks[0].cases] == ["c03"]
    stored = base.store.runs.load(again.run_id)
    assert len(stored.arms[0].samples) == 11
    assert base.store.runs.load(first.run_id).arms[0].samples_total == 50


def test_a_second_check_uses_the_repeats_of_the_first_and_asks_nothing(base: Room) -> None:
    agent = Lucky("a", "1.1", unlucky={"c03": [0]})
    check(base, agent, pass_rate=0.8)
    asked = len(agent.asked)
    done = check(base, agent, pass_rate=0.8)
    assert (len(agent.asked), done.runs, only(done).verdict) == (asked, (), "BLOCK")


def test_repeats_that_are_interrupted_are_kept_and_the_next_check_goes_on(base: Room) -> None:
    agent = Lucky("a", "1.1", unlucky={"c03": [2]}, interrupt_at=54)
    cut = check(base, agent, pass_rate=0.8)
    report = only(cut)
    assert exit_code(cut.reports, cut.runs, strict=False) == 130
    assert report.policies[0].reason == "in doubt, and not tried often enough: c03"
    kept = seen(report, "c03").tries
    assert 5 < kept < 16
    agent.interrupt_at = 0
    before = len(agent.asked)
    done = check(base, agent, pass_rate=0.8)
    assert seen(only(done), "c03").tries == 16
    assert len(agent.asked) - before == 16 - kept
    assert only(done).policies[0].verdict == "PASS"


def test_a_quarantine_holds_to_the_end_of_its_last_day_and_then_fails_the_check(base: Room) -> None:
    held = (Quarantine("core", "the oracle is being mended", TODAY),)
    agent = Answerer("a", "1.1", wrong=["c00"])
    on_the_day = check(base, agent, quarantine=held, max_broken=0)
    assert (only(on_the_day).verdict, len(only(on_the_day).quarantined)) == ("PASS", 1)
    after = check(base, agent, quarantine=held, today="2026-06-16")
    assert (only(after).verdict, exit_code(after.reports, after.runs, strict=False)) == ("BLOCK", 1)
    assert "the quarantine of core ended on 2026-06-15 (the oracle is being mended)" in only(after).summary


def test_an_unchanged_agent_is_not_asked_and_still_held_to_what_must_pass(base: Room) -> None:
    put(base, suite(base), Answerer("b", "1.0", wrong=["c00"]))
    set_baseline(base.store, "b@1.0")
    agent = Answerer("b", "1.0", wrong=["c00"])
    report = only(check(base, agent, must_pass=("core",)))
    assert (agent.asked, report.verdict) == ([], "BLOCK")
    assert report.summary.endswith("nothing has changed, so nothing was measured")
    over = only(check(base, agent, quarantine=(Quarantine("c01", "r", "2026-01-01"),)))
    assert (over.verdict, over.policies[0].rule) == ("BLOCK", "quarantine")


def tagged_runs(room: Room) -> list[RunResult]:
    return [room.store.runs.load(row.run_id) for row in room.store.runs.newest(10) if "repeats" in row.tags]


def test_errors_of_a_case_in_doubt_are_no_right_answers_and_do_not_end_its_tries(base: Room) -> None:
    agent = Answerer("a", "1.1", fails=["c03"])
    report = only(check(base, agent, pass_rate=0.8))
    assert (report.verdict, seen(report, "c03")) == ("BLOCK", Tries(0, 8))
    (again,) = tagged_runs(base)
    assert again.arms[0].samples_total == 3
