"""Two agents measured against each other in every dimension, and what the judged rows come down to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentdyno.errors import NotComparable
from agentdyno.findings.duel.judge_cautions import duel_cautions, suite_text
from agentdyno.findings.duel.model import Duel, PairedRow
from agentdyno.findings.duel.words import decide_winner, recommend
from agentdyno.findings.engine.flips import record_flips
from agentdyno.findings.engine.judge import Measured
from agentdyno.findings.engine.measure import measure
from agentdyno.findings.engine.pairing import Pairing, pair_records
from agentdyno.findings.figures.dimensions import DIMENSIONS, OVERALL
from agentdyno.model import Verdict
from agentdyno.model.record import AgentRecord

ROWS = (*DIMENSIONS, OVERALL)


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two agents measured against each other and not yet judged: the suite's rows, and those of each benchmark."""

    pairing: Pairing
    rows: tuple[Measured, ...]
    benchmark_rows: tuple[Measured, ...]


def meet(baseline: AgentRecord, candidate: AgentRecord, *, seed: int = 0) -> Meeting:
    """Every row measured; ``NotComparable`` where no case is common."""
    pairing = pair_records(baseline, candidate)
    if not pairing.keys:
        raise _nothing_common(pairing)
    rows = suite_rows(pairing, seed=seed)
    parts = {name: pairing.within(name) for name in pairing.benchmarks}
    benchmark_rows = tuple(
        measure(part, metric, name, seed=seed) for name, part in parts.items() for metric in DIMENSIONS
    )
    return Meeting(pairing, rows, benchmark_rows)


def suite_rows(pairing: Pairing, *, seed: int = 0) -> tuple[Measured, ...]:
    """The rows over the whole suite, one family: whoever judges two agents judges these together."""
    return tuple(measure(pairing, metric, seed=seed) for metric in ROWS)


def conclude(meeting: Meeting, rows: Sequence[PairedRow], benchmark_rows: Sequence[PairedRow]) -> Duel:
    """What judged rows of a meeting come down to."""
    pairing = meeting.pairing
    labels = pairing.labels
    flips = record_flips(pairing)
    winner, why = decide_winner(labels, rows)
    first, second = (float(side.errors.sum() / side.tries.sum()) for side in (pairing.first, pairing.second))
    return Duel(
        baseline=labels[0],
        candidate=labels[1],
        suite=suite_text(pairing.baseline),
        rows=tuple(rows),
        benchmark_rows=tuple(benchmark_rows),
        flips=flips,
        winner=winner,
        why=why,
        dimension_winners={row.metric: _winner(labels, [row]) for row in rows if row.metric in DIMENSIONS},
        category_winners=_categories(pairing, labels, benchmark_rows),
        recommendations=recommend(labels, rows, flips, (first, second)),
        paired=pairing.same_run,
        warnings=duel_cautions(pairing),
        baseline_runs=_runs(pairing.baseline),
        candidate_runs=_runs(pairing.candidate),
    )


def _runs(record: AgentRecord) -> dict[str, str]:
    return {item.benchmark_id: item.run_id for item in record.benchmarks if item.run_id}


def _winner(labels: tuple[str, str], rows: Sequence[PairedRow]) -> str | None:
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
    return {category: _winner(labels, own) for category, own in sorted(found.items())}


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
