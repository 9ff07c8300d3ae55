"""A scorer that raises on every answer of every agent is a mistake of the suite, and no verdict about the agents.

It is told early, while there is time to stop, and decided when the run closes: the answers are kept, and ``dyno
rescore`` judges them once the scorer is mended.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentdyno.findings.figures.cases import ArmFigures
from agentdyno.findings.figures.scorer_tallies import BrokenScorer, broken_scorers
from agentdyno.findings.figures.traces import SCORER, message_class
from agentdyno.model import RunResult, RunWarning, Sample, Suite
from agentdyno.model.form import INTERRUPTED
from agentdyno.model.record import AgentRecord
from agentdyno.model.sample import RAISED, SCORER_BROKEN, problem_code, scoring_items
from agentdyno.runner.cases.loops import LoopThread
from agentdyno.runs.kind import Say
from agentdyno.runs.suite.marking import Marking, stored_answer

if TYPE_CHECKING:
    from agentdyno.store import Store

TOLD_AFTER = 5
"""Answers on all of which a scorer has raised before that is told while the run goes on."""


@dataclass(frozen=True, slots=True)
class Baselines:
    """What a run is to be held against, and how the answers of it are judged now."""

    records: tuple[AgentRecord, ...]
    markings: Mapping[str, Marking]
    suite: Suite

    def can_be_judged(self, store: Store, broken: BrokenScorer) -> bool:
        """Whether the scorer copes with an answer of a baseline.

        It is tried on the answers that are stored, until it copes with one; of a baseline file only its own word is
        known, that of the time when it was written.
        """
        return any(
            self._copes(store, record, benchmark, broken.scorer)
            for record in self.records
            for benchmark in broken.benchmarks
            if any(item.benchmark_id == benchmark for item in record.benchmarks)
        )

    def _copes(self, store: Store, record: AgentRecord, benchmark: str, scorer: str) -> bool:
        run_id = record.benchmark(benchmark).run_id
        if not store.runs.has(run_id):
            return _was_judged(record, benchmark, scorer)
        loop = LoopThread("dyno-judges")
        try:
            return any(
                loop.call(self._copes_with(sample, benchmark, scorer))
                for sample in _answers(store, run_id, record.arm_agent, benchmark)
            )
        finally:
            loop.close()

    async def _copes_with(self, sample: Sample, benchmark: str, scorer: str) -> bool:
        case = next((case for case in self.suite.benchmark(benchmark).cases if case.id == sample.case_id), None)
        if case is None:
            return False
        for use, judging in self.markings[benchmark].scorers:
            if use.name == scorer:
                score = await judging.score(case, stored_answer(sample))
                if problem_code({"details": score.details}) != RAISED:
                    return True
        return False


def _answers(store: Store, run_id: str, agent: str, benchmark: str) -> Iterator[Sample]:
    for arm in store.runs.load(run_id, samples=False).arms:
        if arm.agent == agent and arm.benchmark == benchmark:
            samples = store.runs.iter_samples(run_id, arm_id=arm.arm_id, details=True)
            yield from (sample for sample in samples if sample.usable)


def _was_judged(record: AgentRecord, benchmark: str, scorer: str) -> bool:
    """Whether some answer had been judged by the scorer when the record was made."""
    said = message_class(f"scorer {scorer} raised")
    errors = [error for error in record.benchmark(benchmark).errors if error.kind == SCORER]
    raised = sum(error.count for error in errors if error.message.startswith(said))
    answered = sum(case.tries - case.errors for case in record.cases if case.benchmark == benchmark)
    return answered > raised


def broken_warnings(
    header: RunResult, figures: Mapping[str, ArmFigures], store: Store, baselines: Baselines | None
) -> list[RunWarning]:
    """One for each scorer that has judged nothing. Of a run that was interrupted nothing is said: it may go on."""
    if header.stopped_because == INTERRUPTED:
        return []
    found = broken_scorers((own.benchmark, own.scorers) for own in figures.values())
    if baselines is not None:
        found = [item for item in found if not baselines.can_be_judged(store, item)]
    return [_warning(item, header.run_id) for item in found]


def _warning(item: BrokenScorer, run_id: str) -> RunWarning:
    answers = "the only answer" if item.answers == 1 else f"all {item.answers:,} answers of all agents"
    return RunWarning(
        SCORER_BROKEN,
        f"{item.why} on {answers}: nothing was judged",
        f"Mend the scorer, then `dyno rescore {run_id[:13]}` judges the stored answers; no agent is called again. "
        "Where no answer can be judged, let it return 0 or raise Unscorable.",
    )


@dataclass(slots=True)
class EarlyWarning:
    """Tells once of a scorer that raised on each of the first few answers; the run goes on."""

    say: Say
    raised: dict[str, int] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)

    def add(self, sample: Sample) -> None:
        for _, item in scoring_items(sample.details):
            scorer = str(item.get("scorer", ""))
            if scorer in self.settled:
                continue
            if problem_code(item) != RAISED:
                self.settled.add(scorer)
                continue
            self.raised[scorer] = self.raised.get(scorer, 0) + 1
            if self.raised[scorer] == TOLD_AFTER:
                self.settled.add(scorer)
                why = f"{item.get('explanation', '')}, as on each of the first {TOLD_AFTER} answers"
                kept = "its answers are kept, and `dyno rescore` judges them again once the scorer is mended"
                self.say(f"\nWarning: {why}. The run goes on; {kept}.")
