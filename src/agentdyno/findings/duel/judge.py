"""Who is better in what, who wins, or why nobody does: two agents, or all against all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

from agentdyno.errors import NotComparable
from agentdyno.findings.duel.model import AllAgainstAll, CaseScores, Duel, PairedRow
from agentdyno.findings.duel.words import decide_winner, recommend, saves_on_failures
from agentdyno.findings.engine.judge import MeasureOptions
from agentdyno.findings.engine.judgement import ERROR_RATE, MeasuredPair, PairJudgement, judge_pairs, measure_pair
from agentdyno.findings.engine.one_model import refuse_one_model
from agentdyno.findings.engine.pairing import Pairing, pair_records
from agentdyno.findings.engine.steady import steady_breaks, steady_repairs
from agentdyno.findings.figures.dimensions import DIMENSIONS, OVERALL
from agentdyno.model import RunWarning, Verdict
from agentdyno.model.case import CaseKey
from agentdyno.model.policy import DEFAULT_POLICY, GatePolicy
from agentdyno.model.record import UNKNOWN_SPREAD, AgentRecord, RunSpread

Spreads: TypeAlias = Callable[[AgentRecord, AgentRecord], RunSpread]
"""What is known of the noise between runs for two records."""


def duel(
    baseline: AgentRecord,
    candidate: AgentRecord,
    *,
    policy: GatePolicy = DEFAULT_POLICY,
    spread: RunSpread = UNKNOWN_SPREAD,
    seed: int = 0,
) -> Duel:
    """Both agents on the cases they share, as the engine judges them by the families of ``policy``.

    A winner is better in accuracy, reliability, cost or time and worse in none of them. Raises ``NotComparable``
    where no case is common, and where both turn out to be one model.
    """
    measured = measure_pair(_paired(baseline, candidate), policy, spread, MeasureOptions(seed))
    return conclude(judge_pairs([measured], policy)[0])


def all_against_all(
    records: Sequence[AgentRecord],
    *,
    policy: GatePolicy = DEFAULT_POLICY,
    spreads: Spreads | None = None,
    seed: int = 0,
) -> AllAgainstAll:
    """Every pair of agents, the earlier one as the baseline; the families of all pairs are corrected together.

    A pair without a common case, or of one model, is left out with a warning. Raises ``NotComparable`` for
    fewer than two agents, for two records of one agent, and where no pair compares.
    """
    agents = tuple(record.agent for record in records)
    twice = [agent for agent, times in Counter(agents).items() if times > 1]
    if twice:
        raise NotComparable(f"{twice[0]} is named twice", remedy="Name each version once.")
    if len(agents) < 2:
        raise NotComparable("one agent alone cannot be compared", remedy="Name at least two: `dyno compare A B`.")
    measured: list[MeasuredPair] = []
    apart: list[RunWarning] = []
    for first, second in combinations(records, 2):
        try:
            spread = UNKNOWN_SPREAD if spreads is None else spreads(first, second)
            measured.append(measure_pair(_paired(first, second), policy, spread, MeasureOptions(seed)))
        except NotComparable as error:
            text = f"{first.agent} and {second.agent}: {error.message}"
            apart.append(RunWarning("not-comparable", text, error.remedy or ""))
    if not measured:
        raise NotComparable(f"no two of {', '.join(agents)} compare: {apart[0].message}", remedy=apart[0].remedy)
    duels = tuple(conclude(judged) for judged in judge_pairs(measured, policy))
    wins = {agent: sum(item.winner == agent for item in duels) for agent in agents}
    winner, why = _winner(agents, duels, wins)
    warnings = dict.fromkeys([*apart, *(warning for item in duels for warning in item.warnings)])
    return AllAgainstAll(
        agents=agents,
        suite=suite_text(records[0]),
        duels=duels,
        wins=wins,
        winner=winner,
        why=why,
        cases=case_scores(records),
        warnings=tuple(warnings),
    )


def case_scores(records: Sequence[AgentRecord]) -> tuple[CaseScores, ...]:
    """Every case under every agent, those on which they disagree first and of these the most divided.

    A case that an agent was asked in another form, or that was judged by another rubric, has no score there.
    """
    asked: dict[CaseKey, tuple[str, str, float]] = {}
    found: dict[CaseKey, dict[str, float | None]] = {}
    for record in records:
        rubrics = {item.benchmark_id: item for item in record.benchmarks}
        for case in record.cases:
            of = rubrics[case.benchmark]
            form = asked.setdefault(case.key, (case.digest, of.rubric, of.pass_threshold))
            same = form[:2] == (case.digest, of.rubric)
            found.setdefault(case.key, {})[record.agent] = case.score if same else None
    made = []
    for key, scores in found.items():
        known = [score for score in scores.values() if score is not None]
        passes = {score >= asked[key][2] for score in known}
        row = CaseScores(key, {record.agent: scores.get(record.agent) for record in records}, len(passes) > 1)
        made.append((not row.disagree, min(known) - max(known) if known else 0.0, key.benchmark, key.case_id, row))
    return tuple(item[-1] for item in sorted(made, key=lambda item: item[:-1]))


def _winner(agents: Sequence[str], duels: Sequence[Duel], wins: dict[str, int]) -> tuple[str | None, str]:
    beaten = {_loser(item) for item in duels if item.winner is not None}
    best = [agent for agent in agents if wins[agent] and agent not in beaten]
    if len(best) == 1:
        others = [_loser(item) for item in duels if item.winner == best[0]]
        rest = len(agents) - 1 - len(others)
        text = f"beats {', '.join(others)}"
        return best[0], text if not rest else f"{text}; not told apart from the other {rest}"
    if best:
        return None, f"no winner: {' and '.join(best)} are not beaten and not told apart"
    if beaten:
        return None, "no winner: everyone who beats another is beaten too"
    undecided = duels[0].why.removeprefix("no winner: ")
    return None, f"no winner: no pair is decided ({duels[0].baseline} → {duels[0].candidate}: {undecided})"


def _loser(item: Duel) -> str:
    return item.baseline if item.winner == item.candidate else item.candidate


def duel_cautions(pairing: Pairing) -> tuple[RunWarning, ...]:
    """Typed warnings about both sides, each with its remedy."""
    return (*_suites(pairing), *_measuring(pairing), *_judging(pairing), *_partial(pairing))


def suite_text(record: AgentRecord) -> str:
    """``facts 1.2``, with its digest where there is no version."""
    return f"{record.suite_name or record.suite_id} {record.suite_version or record.suite[:10]}".strip()


def _suites(pairing: Pairing) -> Iterator[RunWarning]:
    first, second = pairing.baseline, pairing.candidate
    common, remedy = len(pairing.keys), "Run both in one run: `dyno run SUITE --agent A --agent B`."
    if first.suite != second.suite:
        sides = [suite_text(record) for record in (first, second)]
        what = " and ".join(sides) if sides[0] != sides[1] else f"two versions of {sides[0]}"
        yield RunWarning("different-suites", f"{what}: only the {common} cases in common are compared", remedy)
    if pairing.changed:
        text = f"{pairing.changed} cases have the same id and ask something else: they are left out"
        yield RunWarning("changed-cases", text, remedy)
    if pairing.missed:
        yield RunWarning("missing-cases", f"{pairing.missed} cases were tried by one of the two only", remedy)


def _measuring(pairing: Pairing) -> Iterator[RunWarning]:
    first, second = pairing.baseline, pairing.candidate
    if first.simulated != second.simulated:
        made_up = first if first.simulated else second
        text = f"answers of {made_up.agent} come from a simulated model, those of the other do not"
        yield RunWarning("simulated", f"{text}: nothing is compared", "Run both against a real model.")
    elif first.simulated:
        text = "both sides come from a simulated model: their figures measure no real one"
        yield RunWarning("simulated", text, "Run both against a real model.")
    if not pairing.same_machine:
        text = "the two were not measured on one machine: time, CPU and memory are not compared"
        yield RunWarning("different-machines", text, "Run both on one machine to compare them.")
    if not pairing.same_run and first.proxied != second.proxied:
        text = "model calls of one of the two went through the recording proxy: times are not compared"
        yield RunWarning("different-recording", text, "Run both with the same --record, or in one run.")
    if not pairing.same_run:
        text = "from separate runs, not interleaved: what changed in between looks like the agents' difference"
        yield RunWarning("separate-runs", text, "Run both in one run to compare times.")


def _judging(pairing: Pairing) -> Iterator[RunWarning]:
    sides = [
        (name, pairing.baseline.benchmark(name), pairing.candidate.benchmark(name)) for name in pairing.benchmarks
    ]
    judged = [name for name, first, second in sides if first.rubric != second.rubric]
    if judged:
        text = f"answers of {', '.join(judged)} were judged differently on the two sides: scores are not compared"
        yield RunWarning("different-rubrics", text, "`dyno rescore RUN` judges stored answers by today's rubric.")
    aimed = [name for name, first, second in sides if dict(first.targets) != dict(second.targets)]
    if aimed:
        text = f"the targets of {', '.join(aimed)} differ: both sides are scored by those of {pairing.baseline.agent}"
        yield RunWarning("different-targets", text, "Targets in the suite's rubric make scores last.")


def _partial(pairing: Pairing) -> Iterator[RunWarning]:
    for record in (pairing.baseline, pairing.candidate):
        tried = dict.fromkeys(pairing.benchmarks, 0)
        for case in record.cases:
            if case.benchmark in tried:
                tried[case.benchmark] += case.tries
        planned = sum(record.benchmark(name).planned for name in pairing.benchmarks)
        done = sum(tried.values())
        if done < planned:
            text = f"{record.agent} made {done} of {planned} planned executions"
            yield RunWarning("partial-run", text, "`dyno resume RUN` runs what is missing.")


ROWS = (*DIMENSIONS, OVERALL)
"""Of every head-to-head; the error rate joins them where an execution ended in an error."""


def _paired(baseline: AgentRecord, candidate: AgentRecord) -> Pairing:
    refuse_one_model(baseline, candidate)
    pairing = pair_records(baseline, candidate)
    if not pairing.keys:
        raise _nothing_common(pairing)
    return pairing


def conclude(judged: PairJudgement) -> Duel:
    """What the judgement of two agents comes down to."""
    pairing = judged.pairing
    labels = pairing.labels
    rows = tuple(judged.rows[metric] for metric in (*ROWS, *([ERROR_RATE] if pairing.had_errors else [])))
    benchmark_rows = tuple(row for row in judged.parts.values() if row.metric in DIMENSIONS)
    broken, fixed = steady_breaks(pairing), steady_repairs(pairing)
    winner, why = decide_winner(labels, rows, (len(broken), len(fixed)))
    first, second = (float(side.errors.sum() / side.tries.sum()) for side in (pairing.first, pairing.second))
    return Duel(
        baseline=labels[0],
        candidate=labels[1],
        suite=suite_text(pairing.baseline),
        rows=rows,
        benchmark_rows=benchmark_rows,
        flips=judged.flips,
        winner=winner,
        why=why,
        dimension_winners={
            row.metric: None if saves_on_failures(row) else _better_side(labels, [row])
            for row in rows
            if row.metric in DIMENSIONS
        },
        category_winners=_categories(pairing, labels, benchmark_rows),
        recommendations=recommend(labels, rows, judged.flips, (first, second)),
        paired=pairing.same_run,
        warnings=duel_cautions(pairing),
        baseline_runs=_runs(pairing.baseline),
        candidate_runs=_runs(pairing.candidate),
        steady_broken=broken,
        steady_fixed=fixed,
    )


def _runs(record: AgentRecord) -> dict[str, str]:
    return {item.benchmark_id: item.run_id for item in record.benchmarks if item.run_id}


def _better_side(labels: tuple[str, str], rows: Sequence[PairedRow]) -> str | None:
    """Who is better in some of the rows and worse in none."""
    verdicts = {row.verdict for row in rows} & {Verdict.BETTER, Verdict.WORSE}
    if len(verdicts) != 1:
        return None
    return labels[verdicts.pop() is Verdict.BETTER]


def _categories(pairing: Pairing, labels: tuple[str, str], rows: Sequence[PairedRow]) -> Mapping[str, str | None]:
    found: dict[str, list[PairedRow]] = {}
    for row in rows:
        if row.metric == "accuracy":
            found.setdefault(pairing.baseline.benchmark(row.benchmark).category, []).append(row)
    return {category: _better_side(labels, own) for category, own in sorted(found.items())}


def _nothing_common(pairing: Pairing) -> NotComparable:
    first, second = pairing.baseline, pairing.candidate
    sides = [f"{record.agent} ran {suite_text(record)}" for record in (first, second)]
    if pairing.changed:
        why = f"{pairing.changed} cases have the same id and ask something else"
    elif first.suite_id != second.suite_id:
        why = "their suites differ"
    elif first.suite != second.suite:
        why = "their versions of the suite differ"
    else:
        why = "they ran different benchmarks or cases of it"
    return NotComparable(
        f"no case in common: {sides[0]}, {sides[1]}; {why}",
        remedy="Run both on the same suite: `dyno run SUITE --agent A --agent B`.",
    )
