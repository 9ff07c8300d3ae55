"""The gate: measure what is missing, hold it against a baseline, judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from agentdyno.contracts import StopRule
from agentdyno.errors import NotComparable, ResultError, SpecError, StoreError
from agentdyno.findings.baseline.ask import find_baseline
from agentdyno.findings.baseline.ask_file import read_baseline
from agentdyno.findings.calibration.ask_gate import doubt_of_judges
from agentdyno.findings.gate.judge import CaseKnowledge, judge_gate
from agentdyno.findings.gate.judge_cases import expired_rows
from agentdyno.findings.gate.judge_names import NamedCases
from agentdyno.findings.gate.judge_rules import overall_verdict
from agentdyno.findings.gate.model import BrokenCase, GateReport, GateVerdict, PolicyRow
from agentdyno.findings.gate.words import case_names, deciding_words
from agentdyno.findings.record.ask import Records
from agentdyno.findings.record.ask_labels import agents_called
from agentdyno.findings.record.ask_spread import known_spread
from agentdyno.findings.standing.judge import failed_cases
from agentdyno.findings.standing.model import FailedCase
from agentdyno.model import RunResult, RunWarning, Suite, Workspace
from agentdyno.model.case import CaseKey
from agentdyno.model.policy import GatePolicy
from agentdyno.model.record import AgentRecord
from agentdyno.runner.rules.settling import SETTLED
from agentdyno.runs.kind import Prepared, Tools
from agentdyno.runs.kinds import SUITE, kind_named
from agentdyno.runs.lineup import Entrant
from agentdyno.runs.pipeline import start
from agentdyno.runs.suite.prepare import PreparedSuite, candidates_of, suite_request
from agentdyno.runs.suite.sides import Unchanged, names_agent
from agentdyno.settings.judging import MOST_REPEATS
from agentdyno.specs import LoadedSuite, epochs_of
from agentdyno.store import Store
from agentdyno.workbench.check_cases import find_named, repeats_of, settling_rule, stored_repeats

Running = Callable[[Prepared[PreparedSuite], Tools], AbstractContextManager[Tools]]
"""Is asked before anything is spent, and may refuse by raising; gives the tools to run with."""
_NO_BASELINE = (
    "Name one: --against main (a git revision), --against baseline.json, --against AGENT@VERSION; "
    "or keep one: dyno baseline set AGENT@VERSION."
)


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of the gate for one suite. ``runs`` were made for it, ``reused`` runs were there already."""

    reports: tuple[GateReport, ...]
    runs: tuple[RunResult, ...] = ()
    reused: tuple[str, ...] = ()


@dataclass(slots=True)
class SuiteCheck:
    """Checks one suite. ``running`` is entered for each prepared run; ``rerun`` measures what is known again.

    ``against`` is what the user names; the policy's counts where it is ``None``. ``today`` is an ISO date, for what
    holds until a day. ``named`` are the cases that the policy speaks of, looked up before anything is run.
    """

    loaded: LoadedSuite
    tools: Tools
    running: Running
    against: str | None = None
    rerun: bool = False
    policy: GatePolicy = field(default_factory=GatePolicy)
    today: str = field(default_factory=lambda: datetime.now(UTC).date().isoformat())
    named: NamedCases = field(init=False, default_factory=NamedCases)

    @property
    def store(self) -> Store:
        return self.tools.kept_in

    @property
    def workspace(self) -> Workspace:
        return self.tools.project

    def check(self) -> Checked:
        """Every agent against its baseline."""
        self.named = find_named(self.policy.cases, self.loaded.suite, self.workspace, self.today)
        against = self.against or self.policy.against
        if against is None:
            return self._against_records(self._chosen)
        recorded = self.recorded_baseline(against)
        return self._against_revision(against) if recorded is None else self._against_records(recorded)

    def recorded_baseline(self, against: str) -> Callable[[Entrant], AgentRecord] | None:
        """What finds an agent's baseline in a file or in the store; ``None`` where it has to be measured."""
        records = _baseline_file(against)
        if records is not None:
            return lambda entrant: _of_file(records, entrant, against, self.loaded)
        stored = self._stored(against)
        return None if stored is None else lambda _: stored

    def _against_revision(self, against: str) -> Checked:
        """Both sides measured in one run, interleaved."""
        try:
            with kind_named(SUITE).prepare(suite_request(self.loaded, against=against), self.tools) as prepared:
                with self.running(prepared, self.tools) as tools:
                    result = start(kind_named(SUITE), prepared, tools)
                pairs = _pairs(prepared.work)
        except Unchanged as same:
            return Checked(tuple(_unchanged(label, same.sides.label, self) for label in same.sides.unchanged))
        records = {record.arm_agent: record for record in Records(self.store).of_run(result.run_id)}
        entrants = {item.label: item for item in prepared.work.entrants.values()}
        found = [self.judge(records[old], records[new], [result], entrants[new]) for old, new in pairs]
        left_out = [warning for warning in prepared.warnings if warning.code == "unchanged"]
        reports = tuple(replace(item.reports[0], warnings=(*item.reports[0].warnings, *left_out)) for item in found)
        return Checked(reports, (result, *(run for item in found for run in item.runs)))

    def _against_records(self, baseline_of: Callable[[Entrant], AgentRecord]) -> Checked:
        """Candidates from the store, those that are not there measured now."""
        entrants = candidates_of(self.loaded.suite, self.workspace, self.tools.choices)
        baselines = {entrant.label: baseline_of(entrant) for entrant in entrants}
        reports: dict[str, GateReport] = {}
        known: dict[str, AgentRecord] = {}
        missing: list[Entrant] = []
        for entrant in entrants:
            baseline = baselines[entrant.label]
            if not self.rerun and _is_baseline_itself(entrant, baseline, self.loaded):
                reports[entrant.label] = _unchanged(entrant.label, baseline.agent, self, baseline)
                continue
            found = None if self.rerun else self._measured(entrant)
            if found is None:
                missing.append(entrant)
            else:
                known[entrant.label] = found
        held_against = tuple(baselines[entrant.label] for entrant in missing)
        runs = self._measure(missing, held_against) if missing else ()
        for result in runs:
            known.update((record.arm_agent, record) for record in Records(self.store).of_run(result.run_id))
        by_run = {result.run_id: result for result in runs}
        by_label = {entrant.label: entrant for entrant in entrants}
        for label, record in known.items():
            own = [by_run.get(run) or self.store.runs.load(run, samples=False) for run in record.run_ids]
            found_here = self.judge(baselines[label], record, own, by_label[label])
            reports[label] = found_here.reports[0]
            runs = (*runs, *found_here.runs)
        reused = tuple(run for record in known.values() for run in record.run_ids if run not in by_run)
        return Checked(tuple(reports[entrant.label] for entrant in entrants), runs, tuple(dict.fromkeys(reused)))

    def _measured(self, entrant: Entrant) -> AgentRecord | None:
        """Complete results of exactly this agent on exactly this suite, made from the same commit."""
        try:
            record = Records(self.store).newest(entrant.label, self.loaded.suite.digest)
        except (NotComparable, StoreError):
            return None
        return record if _is_whole(record, self.loaded.suite) and _same_code(entrant, record) else None

    def _measure(self, entrants: Sequence[Entrant], baselines: tuple[AgentRecord, ...]) -> tuple[RunResult, ...]:
        return (self._measure_part(self.loaded, entrants, baselines),)

    def _measure_part(
        self,
        loaded: LoadedSuite,
        entrants: Sequence[Entrant],
        baselines: tuple[AgentRecord, ...] = (),
        rules: tuple[StopRule, ...] = (),
    ) -> RunResult:
        named = tuple(entrant.target if entrant.target is not None else entrant.use for entrant in entrants)
        choices = replace(self.tools.choices, agents=named, compared_with=baselines, rules=rules)
        tools = replace(self.tools, choices=choices)
        kind, request = kind_named(SUITE), suite_request(loaded)
        with kind.prepare(request, tools) as prepared, self.running(prepared, tools) as chosen:
            return start(kind, prepared, chosen)

    def _stored(self, against: str) -> AgentRecord | None:
        """Results of an agent of the store; ``None`` where the text names none, or one that can be measured here.

        Results of this very version of the suite come first. Where there are none, an agent that can be run is
        measured beside the candidate; of another, what it did on an earlier version has to do.
        """
        records, suite = Records(self.store), self.loaded.suite
        runnable = names_agent(against, self.workspace)
        try:
            records.agent_named(against)
        except StoreError:
            name = against.rpartition("@")[0]
            known = name in self.workspace.agents or agents_called(self.store.boards.agents(), name)
            if not runnable and known:
                raise StoreError(
                    f"no results of {against} are here, and no agent of that version is",
                    where="--against",
                    remedy="`dyno list agents` shows what can be run, `dyno board --matrix` what was.",
                ) from None
            return None
        for digest in (suite.digest, None if runnable else suite.suite_id):
            if digest is not None and any(
                row.run_id and row.status != "failed"
                for row in self.store.boards.agent_executions(*records.agent_named(against), digest)
            ):
                return records.newest(against, digest)
        if runnable:
            return None
        raise NotComparable(f"{against} has no results in {suite.name}", remedy=_NO_BASELINE)

    def _chosen(self, entrant: Entrant) -> AgentRecord:
        suite = self.loaded.suite
        label = self.store.runs.labels_with([entrant.use]).get(entrant.use.identity, entrant.use.name)
        found = find_baseline(self.store, label, suite.suite_id, self.workspace.name)
        if found is None:
            raise SpecError(
                f"{entrant.use.name} has no baseline for {suite.name}", where="dyno check", remedy=_NO_BASELINE
            )
        return found

    def judge(
        self, baseline: AgentRecord, candidate: AgentRecord, results: Sequence[RunResult], entrant: Entrant
    ) -> Checked:
        """One report, and the runs that cases in doubt took."""
        folder = Path(self.workspace.base_dir)
        doubt = doubt_of_judges(self.store, results, baseline, self.policy, folder)
        known = CaseKnowledge(self.named, stored_repeats(self.store, candidate) if self._repeats else {}, doubt)
        report = self._judged(baseline, candidate, results, known)
        cut = any(result.stopped_because for result in results)
        if not report.open_cases or cut:
            return Checked((report,))
        run = self._repeat(candidate, report, known, entrant)
        known = replace(known, repeats=stored_repeats(self.store, candidate))
        return Checked((self._judged(baseline, candidate, [*results, run], known),), (run,))

    @property
    def _repeats(self) -> bool:
        return self.policy.cases.pass_rate is not None

    def _repeat(
        self, candidate: AgentRecord, report: GateReport, known: CaseKnowledge, entrant: Entrant
    ) -> RunResult:
        """Tries the cases in doubt again, each until it is decided; every answer is stored as it comes."""
        again, policy = report.open_cases, self.policy
        each = "It is" if len(again) == 1 else "Each is"
        self.tools.say(f"In doubt: {case_names(again)}. {each} tried again, at most {MOST_REPEATS} times.")
        done = sum(item.tries for item in known.repeats.values())
        part = repeats_of(self.loaded, candidate, again, done)
        rule = settling_rule(candidate, policy, again, known.repeats)
        return self._measure_part(part, [entrant], rules=(rule,))

    def _judged(
        self, baseline: AgentRecord, candidate: AgentRecord, results: Sequence[RunResult], known: CaseKnowledge
    ) -> GateReport:
        results = [result for result in results if not _is_settled(result)]
        early = next((result.stopped_because for result in results if result.stopped_because), None)
        stopped = (RunWarning("stopped", f"the run stopped early: {early}"),) if early else ()
        try:
            spread = known_spread(self.store, baseline, candidate)
            report = judge_gate(baseline, candidate, self.policy, spread, known=known)
        except NotComparable as error:
            if not early:
                raise
            told = f"the run stopped early ({early}), before anything could be judged: {error.message}"
            unknown = _empty(candidate.agent, baseline.agent, self, GateVerdict.INCONCLUSIVE, told)
            return replace(unknown, warnings=stopped)
        answers = self._answers(candidate.arm_agent, results)
        broken = tuple(_told(item, answers.get((item.key.benchmark, item.key.case_id))) for item in report.broken)
        return replace(report, broken=broken, warnings=(*report.warnings, *stopped))

    def _answers(self, agent: str, results: Sequence[RunResult]) -> Mapping[tuple[str, str], FailedCase]:
        """What the candidate answered to the cases that it failed."""
        records = Records(self.store)
        return {
            (item.benchmark, item.case_id): item
            for result in results
            for arm in result.arms
            if arm.agent == agent
            for item in failed_cases(arm, records.figures(result.run_id, arm.arm_id))
        }


def _baseline_file(against: str) -> tuple[AgentRecord, ...] | None:
    """The records of a file; ``None`` where ``against`` is no file."""
    path = Path(against)
    if path.is_file():
        return read_baseline(path)
    if against.endswith(".json"):
        raise ResultError(f"no file {against}", where="--against", remedy="`dyno baseline export FILE` writes one.")
    return None


def _of_file(records: Sequence[AgentRecord], entrant: Entrant, file: str, loaded: LoadedSuite) -> AgentRecord:
    own = [record for record in records if record.suite_id == loaded.suite.suite_id]
    for record in own:
        if entrant.use.name in (record.name, record.arm_agent.rpartition("@")[0]):
            return record
    if len(own) == 1:
        return own[0]
    names = ", ".join(sorted(record.agent for record in own)) or "no agent of this suite"
    raise SpecError(
        f"{file} has no baseline of {entrant.use.name} for {loaded.suite.name}",
        where="--against",
        remedy=f"It holds {names}. `dyno baseline export` writes another.",
    )


def _pairs(prepared: PreparedSuite) -> list[tuple[str, str]]:
    """Baseline and candidate labels; one baseline may serve several candidates."""
    from agentdyno.model import Side

    entrants = {item.label: item for item in prepared.entrants.values()}
    old = [item for item in entrants.values() if item.side is Side.BASELINE]
    new = [item for item in entrants.values() if item.side is Side.CANDIDATE]
    named = {item.use.identity: item for item in old}
    return [(named.get(item.use.identity, old[0]).label, item.label) for item in new]


def _is_baseline_itself(entrant: Entrant, baseline: AgentRecord, loaded: LoadedSuite) -> bool:
    same = entrant.label == baseline.arm_agent and baseline.suite == loaded.suite.digest
    return same and _same_code(entrant, baseline)


def _same_code(entrant: Entrant, record: AgentRecord) -> bool:
    """A content hash does not see what an agent reads while it runs; the commit does, when nothing is changed."""
    if entrant.version.commit is None:
        return True
    return not entrant.version.dirty and record.commit == entrant.version.commit


def _is_whole(record: AgentRecord, suite: Suite) -> bool:
    """Whether every case was executed as often as it is asked for now; a run may have been cut short."""
    tries = {case.key: case.tries for case in record.cases}
    return all(
        tries.get(CaseKey(item.benchmark_id, case.id), 0) >= epochs_of(suite, item)
        for item in suite.benchmarks
        for case in item.cases
    )


def _is_settled(result: RunResult) -> bool:
    """Repeats that came to their end: that they ended early is as it should be."""
    return result.stopped_because == SETTLED


def _unchanged(label: str, baseline: str, check: SuiteCheck, known: AgentRecord | None = None) -> GateReport:
    """Nothing is measured; what is asked of single cases is asked of what was seen before, where that is known."""
    told = "nothing has changed, so nothing was measured"
    empty = _empty(label, baseline, check, GateVerdict.PASS, told)
    if known is None:
        rows = expired_rows(check.named)
        return replace(empty, verdict=overall_verdict(rows), policies=rows, summary=_with_blocks(rows, told))
    policy = replace(check.policy, rules=(), cases=replace(check.policy.cases, pass_rate=None))
    found = judge_gate(known, known, policy, known=CaseKnowledge(check.named))
    return replace(
        empty,
        verdict=found.verdict,
        summary=_with_blocks(found.policies, told),
        policies=found.policies,
        quarantined=found.quarantined,
        cases=found.cases,
    )


def _with_blocks(rows: Sequence[PolicyRow], told: str) -> str:
    blocks = deciding_words([row for row in rows if row.verdict is GateVerdict.BLOCK])
    return "; ".join(filter(None, (blocks, told)))


def _empty(label: str, baseline: str, check: SuiteCheck, verdict: GateVerdict, summary: str) -> GateReport:
    return GateReport(
        baseline=baseline,
        candidate=label,
        suite=check.loaded.suite.name,
        verdict=verdict,
        summary=summary,
        rows=(),
        policy=check.policy,
    )


def _told(item: BrokenCase, answer: FailedCase | None) -> BrokenCase:
    if answer is None:
        return item
    return replace(item, want=answer.want, got=answer.got, why=answer.why)
