"""What the gate needs beside records: the cases that a policy names, and further tries of cases in doubt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agentdyno.errors import DynoError, SpecError, nearest
from agentdyno.findings.figures.cases import has_passed
from agentdyno.findings.gate.judge_names import AskedCase, NamedCases, asked_cases, name_cases, stands_for, words_of
from agentdyno.findings.gate.judge_requirements import requirement_tests, tries_so_far
from agentdyno.findings.gate.model import Tries
from agentdyno.model import Phase, Status, Suite, Workspace
from agentdyno.model.case import CaseKey
from agentdyno.model.identity import derive_seed
from agentdyno.model.policy import CasePolicy, GatePolicy
from agentdyno.model.record import AgentRecord
from agentdyno.runner.rules.settling import DoubtfulCase, UntilSettled
from agentdyno.settings.judging import MOST_REPEATS
from agentdyno.specs import LoadedSuite
from agentdyno.specs.suite.load import form_asked
from agentdyno.store import Store

REPEATS = "repeats"
"""The tag of runs that try cases in doubt again; a second one names the run whose cases they are."""
_MOST_RUNS = 500
"""Runs that are looked through for earlier repeats."""
_MOST_FAILURES = 1.0
"""Cases in doubt may fail every time: that is what is to be found out."""


def find_named(policy: CasePolicy, suite: Suite, workspace: Workspace, today: str) -> NamedCases:
    """What the policy's words stand for in a suite. ``SpecError`` for a word that no suite of the project knows."""
    own = asked_cases(suite)
    strange = [(place, word) for place, word in words_of(policy) if not _known(word, own)]
    if strange:
        everywhere = [*own, *_of_project(suite, workspace)]
        for place, word in strange:
            if not _known(word, everywhere):
                names = {name for case in everywhere for name in (case.key.case_id, *case.tags)}
                raise SpecError(
                    f"no case and no tag is called {word[:200]!r}",
                    where=f"{workspace.source or 'dyno.yaml'}: gate.{place}",
                    remedy=nearest(word[:200], names),
                )
    return name_cases(policy, own, today)


def _known(word: str, cases: Sequence[AskedCase]) -> bool:
    return any(stands_for(word, case) for case in cases)


def _of_project(suite: Suite, workspace: Workspace) -> Iterator[AskedCase]:
    """Cases of all suites of the project, and those of this suite that were not chosen; one that cannot be read has
    none."""
    from agentdyno.specs import load_suite

    files = [Path(workspace.base_dir) / item for item in workspace.suites]
    if suite.source and Path(suite.source).is_file():
        files.append(Path(suite.source))
    for path in files:
        try:
            yield from asked_cases(load_suite(path).suite)
        except DynoError:
            continue


def stored_repeats(store: Store, record: AgentRecord) -> dict[CaseKey, Tries]:
    """Further tries of a record's cases that earlier checks have made, whether these came to their end or not."""
    marks = {mark_of(run_id) for run_id in record.run_ids}
    right: Counter[CaseKey] = Counter()
    tried: Counter[CaseKey] = Counter()
    for row in store.runs.newest(_MOST_RUNS):
        if REPEATS not in row.tags or marks.isdisjoint(row.tags):
            continue
        header = store.runs.load(row.run_id, samples=False)
        benchmarks = {arm.arm_id: arm.benchmark or "" for arm in header.arms if arm.agent == record.arm_agent}
        for sample in store.runs.iter_samples(row.run_id):
            known = sample.arm_id in benchmarks and sample.phase is Phase.MEASURED
            if known and sample.status is not Status.CANCELLED:
                key = CaseKey(benchmarks[sample.arm_id], sample.case_id)
                tried[key] += 1
                right[key] += has_passed(sample)
    return {key: Tries(right[key], tried[key]) for key in tried}


def mark_of(run_id: str) -> str:
    return f"{REPEATS}:{run_id}"


def repeats_of(loaded: LoadedSuite, record: AgentRecord, again: Sequence[CaseKey], done: int) -> LoadedSuite:
    """The suite with the cases in doubt alone, each often enough that it can be decided; nothing is timed.

    ``done`` is how many repeats there were before: the seed follows from it, so that no luck comes twice.
    """
    wanted = set(again)
    part = replace(
        loaded.suite,
        benchmarks=tuple(
            replace(item, cases=cases, epochs=None, warmup=0)
            for item in loaded.suite.benchmarks
            if (cases := tuple(case for case in item.cases if CaseKey(item.benchmark_id, case.id) in wanted))
        ),
        epochs=MOST_REPEATS,
        warmup=0,
    )
    settings = replace(
        loaded.settings,
        seed=derive_seed(loaded.settings.seed, REPEATS, done),
        tags=(*loaded.settings.tags, REPEATS, *map(mark_of, record.run_ids)),
        max_failure_rate=_MOST_FAILURES,
        against=None,
        until_decided=False,
    )
    return LoadedSuite(part, settings, form_asked(part, loaded.suite, epochs=loaded.suite.epochs))


def settling_rule(
    record: AgentRecord, policy: GatePolicy, again: Sequence[CaseKey], known: Mapping[CaseKey, Tries]
) -> UntilSettled:
    """Ends the repeats of each case as soon as its test has an answer."""
    tests, cases = requirement_tests(record, policy), {case.key: case for case in record.cases}
    found = {}
    for key in again:
        so_far = tries_so_far(Tries(cases[key].passed, cases[key].tries), known.get(key, Tries()))
        found[key] = DoubtfulCase(tests[key], so_far.tries, so_far.wrong)
    return UntilSettled(found)
