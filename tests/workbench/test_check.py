"""The gate for one suite: what is measured, what is reused, and what it is held against."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from agentdyno.cli.bench.check import exit_code
from agentdyno.errors import NotComparable, ResultError, SpecError, StoreError
from agentdyno.findings.baseline.ask import export_baselines, set_baseline
from agentdyno.findings.gate.model import GateReport, GateVerdict
from agentdyno.model import Case, RunResult, Workspace
from agentdyno.model.policy import DEFAULT_RULES, GatePolicy, Tier
from agentdyno.runs.kind import Choices, Prepared, Tools
from agentdyno.runs.lineup import Named
from agentdyno.runs.suite.prepare import PreparedSuite
from agentdyno.specs import LoadedSuite
from agentdyno.workbench.check import Checked, SuiteCheck

from ..command import Bench
from ..suites import EMPTY, Room
from .answering import Answerer, cases, ids, put

ANSWERS = GatePolicy(tuple(rule for rule in DEFAULT_RULES if rule.tier is Tier.CRITICAL))
"""Without the rules about time: these agents answer in microseconds."""


@dataclass
class Gate:
    """Checks the suite of a room; ``announced`` are the runs that were about to be made."""

    room: Room
    announced: list[PreparedSuite]

    def suite(self, count: int = 24, **changes: object) -> LoadedSuite:
        return self.room.suite(dataset={"cases": cases(count)}, **changes)

    def check(
        self,
        *agents: Named,
        against: str | None = None,
        loaded: LoadedSuite | None = None,
        rerun: bool = False,
        workspace: Workspace = EMPTY,
        policy: GatePolicy = ANSWERS,
    ) -> Checked:
        @contextmanager
        def running(prepared: Prepared[PreparedSuite], tools: Tools) -> Iterator[Tools]:
            self.announced.append(prepared.work)
            yield tools

        tools = self.room.tools(workspace, Choices(agents))
        return SuiteCheck(loaded or self.suite(), tools, running, against, rerun=rerun, policy=policy).check()

    def baseline(self, agent: Answerer, **changes: object) -> RunResult:
        result = put(self.room, self.suite(**changes), agent)  # type: ignore[arg-type]
        set_baseline(self.room.store, agent.label)
        return result


@pytest.fixture
def gate(room: Room) -> Gate:
    return Gate(room, [])


def test_without_a_baseline_nothing_is_asked_and_the_remedies_are_named(gate: Gate) -> None:
    agent = Answerer("a")
    with pytest.raises(SpecError, match="a has no baseline for room") as caught:
        gate.check(agent)
    assert "--against main" in str(caught.value)
    assert (agent.asked, gate.announced) == ([], [])


def test_a_version_that_breaks_cases_is_measured_and_blocked(gate: Gate) -> None:
    gate.baseline(Answerer("a", "1.0"))
    done = gate.check(Answerer("a", "1.1", wrong=ids(0, 12)))
    (report,) = done.reports
    assert (report.verdict, report.baseline, report.candidate) == ("BLOCK", "a@1.0", "a@1.1")
    assert [item.key.case_id for item in report.broken] == ids(0, 12)
    assert {(item.want, item.got) for item in report.broken[:1]} == {("WORD 0", "no")}
    assert (len(done.runs), done.reused, report.paired) == (1, (), False)


def test_what_is_in_the_store_is_not_measured_again_unless_that_is_asked_for(gate: Gate) -> None:
    gate.baseline(Answerer("a", "1.0"))
    first = gate.check(Answerer("a", "1.1", wrong=ids(0, 12)))
    again = Answerer("a", "1.1", wrong=ids(0, 12))
    done = gate.check(again)
    assert again.asked == []
    assert (done.runs, done.reused) == ((), (first.runs[0].run_id,))
    assert done.reports[0].verdict == "BLOCK"
    assert done.reports[0].broken[0].got == "no", "what was answered then is still told"
    third = gate.check(again, rerun=True)
    assert (len(again.asked), len(third.runs), third.reused) == (24, 1, ())


def test_results_with_fewer_repeats_than_are_asked_for_do_not_do(gate: Gate) -> None:
    gate.baseline(Answerer("a", "1.0"))
    gate.check(Answerer("a", "1.1"))
    more = Answerer("a", "1.1")
    assert len(gate.check(more, loaded=gate.suite(epochs=2)).runs) == 1
    assert len(more.asked) == 48
    less = Answerer("a", "1.1")
    assert gate.check(less).runs == ()


def test_results_of_a_run_that_was_cut_short_do_not_do(gate: Gate) -> None:
    gate.baseline(Answerer("a", "1.0"))
    cut = gate.check(Interrupting("a", "1.1", after=5))
    assert cut.runs[0].stopped_because == "interrupted"
    assert len(cut.runs[0].arms[0].samples) < 24
    whole = Answerer("a", "1.1")
    assert len(gate.check(whole).runs) == 1
    assert len(whole.asked) == 24


def test_an_interrupted_run_is_said_to_be_one_and_exits_130(gate: Gate) -> None:
    gate.baseline(Answerer("a", "1.0"))
    done = gate.check(Interrupting("a", "1.1", after=5))
    (report,) = done.reports
    assert "stopped" in {warning.code for warning in report.warnings}
    assert exit_code(done.reports, done.runs, strict=False) == 130
    at_once = gate.check(Interrupting("a", "1.2", after=1))
    (report,) = at_once.reports
    assert report.verdict == "INCONCLUSIVE"
    assert exit_code(at_once.reports, at_once.runs, strict=False) == 130


def test_the_baseline_itself_passes_without_a_call(gate: Gate) -> None:
    agent = Answerer("a", "1.0")
    gate.baseline(agent)
    agent.asked.clear()
    (report,) = gate.check(agent).reports
    assert (report.verdict, report.summary) == ("PASS", "nothing has changed, so nothing was measured")
    assert agent.asked == []
    (again,) = gate.check(agent, rerun=True).reports
    assert (again.verdict, len(agent.asked)) == ("PASS", 24)


def test_a_stored_version_can_be_named_that_cannot_be_run_any_more(gate: Gate) -> None:
    put(gate.room, gate.suite(), Answerer("a", "1.0"))
    put(gate.room, gate.suite(), Answerer("a", "1.1", wrong=ids(0, 12)))
    (report,) = gate.check(Answerer("a", "1.2"), against="a@1.0").reports
    assert (report.baseline, report.verdict) == ("a@1.0", "PASS")
    (report,) = gate.check(Answerer("a", "1.3", wrong=ids(0, 12)), against="a@1.1").reports
    assert (report.baseline, report.verdict) == ("a@1.1", "PASS")


def test_a_stored_version_on_an_earlier_suite_is_held_against_the_cases_in_common(gate: Gate) -> None:
    put(gate.room, gate.suite(30), Answerer("a", "1.0"))
    (report,) = gate.check(Answerer("a", "1.1", wrong=ids(0, 12)), against="a@1.0").reports
    assert (report.verdict, len(report.broken)) == ("BLOCK", 12)
    put(gate.room, gate.suite(name="elsewhere"), Answerer("z", "1.0"))
    with pytest.raises(NotComparable, match=r"z@1\.0 has no results in room"):
        gate.check(Answerer("a", "1.1"), against="z@1.0")


def test_a_version_that_is_neither_stored_nor_runnable_is_a_mistake(gate: Gate) -> None:
    gate.baseline(Answerer("a", "1.0"))
    with pytest.raises(StoreError, match=r"no results of a@7 are here"):
        gate.check(Answerer("a", "1.1"), against="a@7")


def test_an_agent_that_can_be_run_is_measured_beside_the_candidate(gate: Gate) -> None:
    loaded = gate.room.suite()
    done = gate.check("agent.py@bad", against="agent.py@good", loaded=loaded)
    (report,) = done.reports
    assert report.paired
    assert report.baseline.startswith("good@")
    assert len(report.broken) == 4
    (same,) = gate.check("agent.py@good", against="agent.py@good", loaded=loaded).reports
    assert same.verdict == "PASS"
    assert "nothing has changed" in same.summary


def test_every_agent_is_held_against_its_own_baseline(gate: Gate) -> None:
    put(gate.room, gate.suite(), Answerer("a", "1.0"), Answerer("b", "1.0"))
    for name in ("a", "b"):
        set_baseline(gate.room.store, f"{name}@1.0")
    done = gate.check(Answerer("b", "1.1", wrong=ids(0, 12)), Answerer("a", "1.1"))
    assert [(item.baseline, item.verdict) for item in done.reports] == [("b@1.0", "BLOCK"), ("a@1.0", "PASS")]
    assert len(done.runs) == 1, "both in one run"


def test_a_file_gates_the_agent_of_its_name_or_the_only_one_it_holds(gate: Gate, tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    put(gate.room, gate.suite(), Answerer("a", "1.0"), Answerer("b", "1.0", wrong=ids(0, 24)))
    export_baselines(gate.room.store, path, agents=["b", "a"])
    (report,) = gate.check(Answerer("a", "1.1", wrong=ids(0, 12)), against=str(path)).reports
    assert (report.baseline, report.verdict) == ("a@1.0", "BLOCK")
    with pytest.raises(SpecError, match="has no baseline of other for room") as caught:
        gate.check(Answerer("other"), against=str(path))
    assert "It holds a@1.0, b@1.0" in str(caught.value)
    export_baselines(gate.room.store, path, agents=["a@1.0"])
    (report,) = gate.check(Answerer("other"), against=str(path)).reports
    assert (report.baseline, report.verdict) == ("a@1.0", "PASS")
    with pytest.raises(SpecError, match="no agent of this suite"):
        gate.check(Answerer("a", "1.1"), against=str(path), loaded=gate.suite(name="elsewhere"))
    with pytest.raises(ResultError, match=r"no file gone\.json"):
        gate.check(Answerer("a", "1.1"), against="gone.json")


def test_the_baseline_of_the_policy_is_the_default(gate: Gate) -> None:
    put(gate.room, gate.suite(), Answerer("a", "1.0"))
    policy = replace(ANSWERS, against="a@1.0")
    (report,) = gate.check(Answerer("a", "1.1", wrong=ids(0, 12)), policy=policy).reports
    assert (report.baseline, report.verdict) == ("a@1.0", "BLOCK")


def test_a_commit_is_measured_once_and_a_changed_tree_every_time(gate: Gate) -> None:
    bench = Bench(gate.room.folder)
    bench.write("talk.py", "def answer(text):\n    return open('word.txt').read() and text.upper()\n")
    bench.write("word.txt", "x")
    bench.git("init", "-q", "-b", "main")
    bench.git("add", "talk.py", "word.txt")
    bench.git("commit", "-qm", "first")
    gate.baseline(Answerer("base"), count=4)
    file = str(gate.room.folder / "baseline.json")
    export_baselines(gate.room.store, Path(file), agents=["base"])

    def runs() -> int:
        return len(gate.check("talk.py@answer", against=file, loaded=gate.suite(4)).runs)

    assert [runs(), runs()] == [1, 0]
    bench.write("word.txt", "y")
    assert [runs(), runs()] == [1, 1], "what the agent reads while it runs is no part of its version"
    bench.git("checkout", "word.txt")
    assert [runs(), runs()] == [1, 0], "results of a changed tree do not stand for the commit"


@dataclass
class Interrupting(Answerer):
    """The user presses Ctrl-C while the ``after``-th case is answered."""

    after: int = 1

    def run(self, case: Case) -> object:
        answer = super().run(case)
        if len(self.asked) == self.after:
            os.kill(os.getpid(), signal.SIGINT)
        return answer


def _report(verdict: GateVerdict) -> GateReport:
    return GateReport("a@1", "a@2", "room", verdict, "", ())


@pytest.mark.parametrize(
    ("verdicts", "strict", "code"),
    [
        (["PASS"], False, 0),
        (["PASS"], True, 0),
        (["WARN"], False, 0),
        (["WARN"], True, 4),
        (["INCONCLUSIVE"], False, 0),
        (["INCONCLUSIVE", "PASS"], True, 4),
        (["PASS", "BLOCK", "WARN"], True, 1),
        (["BLOCK"], False, 1),
        ([], True, 0),
    ],
)
def test_exit_codes_follow_from_the_verdicts(verdicts: list[str], strict: bool, code: int) -> None:
    assert exit_code([_report(GateVerdict(item)) for item in verdicts], [], strict=strict) == code


def test_an_agent_without_any_usable_answer_exits_5_unless_it_is_blocked(gate: Gate) -> None:
    gate.baseline(Answerer("a", "1.0"))
    done = gate.check(Answerer("a", "1.1", fails=ids(0, 24)))
    assert [item.verdict for item in done.reports] == ["BLOCK"]
    assert exit_code(done.reports, done.runs, strict=False) == 1
    assert exit_code([_report(GateVerdict.PASS)], done.runs, strict=False) == 5
