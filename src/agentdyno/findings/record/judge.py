"""From the figures of a run to what an agent did, case by case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from agentdyno.errors import NotComparable
from agentdyno.findings.figures.cases import SPENT, ArmFigures
from agentdyno.findings.figures.dimensions import targets_for
from agentdyno.findings.figures.normalised import CPU_NORMALISED, NORMALISED, least_place
from agentdyno.findings.figures.traces import classes_of
from agentdyno.model import ArmResult, Case, Provenance, RunResult
from agentdyno.model.case import ASKED
from agentdyno.model.codec import to_plain
from agentdyno.model.identity import digest
from agentdyno.model.naming import shown_agent, shown_agents
from agentdyno.model.record import AgentRecord, BenchmarkRecord, CaseRecord
from agentdyno.stats.samples import medians_of

PERTURBS = "perturbs"
"""The key of a case's metadata that names the case it asks in another form."""
_MEDIANS = ("duration_s", "ttft_s")
_LEAST = (NORMALISED, CPU_NORMALISED)


def record_of(result: RunResult, figures: Mapping[str, ArmFigures], agent: str) -> AgentRecord:
    """One agent (``name@version``) of a run, from the figures of its arms by id."""
    return combined([(result, figures)], agent)


def combined(parts: Sequence[tuple[RunResult, Mapping[str, ArmFigures]]], agent: str, suite: str = "") -> AgentRecord:
    """One agent's benchmarks from several runs of the same suite version; of a benchmark the first run that has it.

    ``suite`` is the digest of that version where all are known to be of it: to make it takes as long as the rest.
    Raises ``NotComparable`` where no run has figures of the agent, and for runs of different versions of a suite.
    """
    found: dict[str, tuple[RunResult, ArmResult, ArmFigures]] = {}
    for result, figures in parts:
        shown = shown_agents(result.suite)
        for arm in result.arms:
            if arm.agent is not None and agent in (arm.agent, shown.get(arm.agent)) and arm.arm_id in figures:
                found.setdefault(arm.benchmark or "", (result, arm, figures[arm.arm_id]))
    if not found:
        raise NotComparable(f"{agent} has no recorded sample", remedy="`dyno list runs` shows what was run.")
    runs = list({result.run_id: result for result, _, _ in found.values()}.values())
    suites = [result.suite for result in runs if result.suite is not None]
    if not suites:
        raise NotComparable(f"the runs of {agent} are of no suite")
    digests = {suite} if suite else {item.digest for item in suites}
    if len(digests) > 1:
        raise NotComparable(f"the runs of {agent} are of different versions of a suite")
    machines = {result.environment.machine_id for result in runs}
    newest = max(runs, key=lambda result: result.finished_at or result.started_at)
    arms = [arm for _, arm, _ in found.values()]
    label = shown_agent(newest.suite, arms[0].agent or agent)
    name, _, version = label.rpartition("@")
    return AgentRecord(
        agent=label,
        name=name or label,
        version=version if name else "",
        suite=digests.pop(),
        suite_id=suites[0].suite_id,
        suite_name=suites[0].name,
        suite_version=suites[0].version,
        finished_at=newest.finished_at or newest.started_at,
        machine_id=machines.pop() if len(machines) == 1 else "",
        benchmarks=tuple(_benchmark(*item) for item in found.values()),
        cases=tuple(record for _, _, own in found.values() for record in case_records(own)),
        simulated=any(_simulated(arm, own) for _, arm, own in found.values()),
        commit=_commit(arms),
        configuration=dict(arms[0].params),
        disturbed=max((own.disturbed.share for _, _, own in found.values()), default=0.0),
        proxied=any(own.proxied for _, _, own in found.values()),
        models=tuple(sorted({name for _, _, own in found.values() for name in own.remarks.models})),
        asked=str(arms[0].observed.get(ASKED, "")),
        called=(arms[0].agent or "") if arms[0].agent != label else "",
        origin=", ".join(filter(None, (newest.origin.get("tool", ""), newest.origin.get("file", "")))),
    )


def case_records(figures: ArmFigures) -> list[CaseRecord]:
    """Every case that was tried."""
    cases = {case.id: case for case in figures.benchmark.cases}
    used, spread = _readings(figures)
    found = []
    for case_id, tally in figures.tallies.items():
        case = cases.get(case_id)
        perturbs = case.metadata.get(PERTURBS) if case is not None else None
        found.append(
            CaseRecord(
                benchmark=figures.benchmark.benchmark_id,
                case_id=case_id,
                digest=case_digest(case),
                tries=tally.tries,
                scored=tally.scored,
                passed=tally.passed,
                score=tally.score(figures.benchmark.rubric),
                statuses=dict(sorted(tally.statuses.items())),
                used=used.get(case_id, {}),
                spread=spread.get(case_id, {}),
                group=case.group if case is not None else None,
                perturbs=perturbs if isinstance(perturbs, str) else None,
            )
        )
    return found


def case_digest(case: Case | None) -> str:
    """Of what is asked: input, target and turns."""
    if case is None:
        return ""
    if isinstance(case.input, str) and isinstance(case.target, str) and not case.turns:
        return _digest_of_texts(case.input, case.target)
    return digest(to_plain([case.input, case.target, case.turns]), 16)


@lru_cache(maxsize=4_096)  # every agent of a suite is asked the same
def _digest_of_texts(asked: str, target: str) -> str:
    return digest([asked, target, []], 16)


def _readings(figures: ArmFigures) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """Per case what an execution uses, and how much executions of it differ."""
    names = list(figures.positions)
    used: dict[str, dict[str, float]] = {name: {} for name in names}
    spread: dict[str, dict[str, float]] = {name: {} for name in names}
    groups: dict[bytes, _Groups] = {}  # hardly ever more than one: whoever has one reading has them all
    for metric, values in figures.values.items():
        held = figures.owners[metric].tobytes()
        if held not in groups:
            groups[held] = _Groups.of(np.frombuffer(held, dtype=np.dtype("l")))
        numbers = np.frombuffer(values, dtype=np.float64)
        for place, middle, scatter in zip(*_of_cases(groups[held], numbers, metric), strict=True):
            used[names[place]][metric] = middle
            if scatter is not None:
                spread[names[place]][metric] = scatter
    for place, metric in enumerate(SPENT[1:], start=1):  # also what failed executions used
        for case_id, tally in figures.tallies.items():
            if figures.unknown[metric]:
                used[case_id].pop(metric, None)
            elif tally.tries and (metric in figures.values or tally.spent[place] or tally.errors):
                # An error that leaves nothing unknown was a refusal: it is known to have used nothing.
                used[case_id][metric] = tally.spent[place] / tally.tries
    return used, spread


@dataclass(frozen=True, slots=True)
class _Groups:
    """Values by the case that they are of: the ``order`` that sorts them, and each case's place, start and count."""

    order: npt.NDArray[np.int64]
    places: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, owners: npt.NDArray[np.int64]) -> _Groups:
        numbers = np.bincount(owners)
        places = np.flatnonzero(numbers)
        counts = numbers[places]
        return cls(np.argsort(owners, kind="stable"), places, np.cumsum(counts) - counts, counts)


def _of_cases(
    groups: _Groups, numbers: npt.NDArray[np.float64], metric: str
) -> tuple[list[int], list[float], list[float | None]]:
    """Cases by their place, each with the figure of its values and their standard deviation.

    Cases with equally many values are looked at together: there are thousands of cases and few such counts.
    """
    places, starts, counts = groups.places, groups.starts, groups.counts
    ordered = numbers[groups.order]
    middles, scatters = np.empty(places.size), np.full(places.size, np.nan)
    for count in set(counts.tolist()):
        own = np.flatnonzero(counts == count)
        parts = ordered[starts[own, None] + np.arange(count)]
        middles[own] = _figure(parts, metric)
        if count > 1:
            scatters[own] = parts.std(axis=1, ddof=1)
    told = [scatter if several else None for scatter, several in zip(scatters.tolist(), counts > 1, strict=True)]
    return places.tolist(), middles.tolist(), told


def _figure(tries: npt.NDArray[np.float64], metric: str) -> npt.NDArray[np.float64]:
    """One number for the values of a row: the mean, the median of times, the least disturbed of normalised ones."""
    if metric in _LEAST:
        return np.asarray(np.sort(tries, axis=1)[:, least_place(tries.shape[1])])
    return np.asarray(medians_of(tries) if metric in _MEDIANS else tries.mean(axis=1))


def _benchmark(result: RunResult, arm: ArmResult, figures: ArmFigures) -> BenchmarkRecord:
    item = figures.benchmark
    return BenchmarkRecord(
        benchmark_id=item.benchmark_id,
        name=item.name,
        category=item.category.value,
        rubric=digest(
            to_plain([item.rubric.scorers, item.rubric.pass_threshold, item.rubric.reducer, item.rubric.k])
        ),
        pass_threshold=item.rubric.pass_threshold,
        cases=max(len(item.cases), len(figures.tallies)),
        planned=arm.planned,
        run_id=result.run_id,
        scores=dict(arm.scores),
        targets=dict(result.targets.get(item.benchmark_id) or targets_for(item)),
        errors=classes_of(figures.remarks.classes),
    )


def _commit(arms: Sequence[ArmResult]) -> str:
    commits = {str(arm.observed.get("commit", "")) for arm in arms}
    return commits.pop() if len(commits) == 1 else ""


def _simulated(arm: ArmResult, figures: ArmFigures) -> bool:
    """From the samples too: an arm that was never closed has no metrics."""
    marked = any(metric.provenance is Provenance.SIMULATED for metric in arm.metrics.values())
    return marked or figures.remarks.simulated > 0
