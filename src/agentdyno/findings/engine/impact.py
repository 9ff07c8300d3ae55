"""What a change of one metric does: the cases that it hit, and what it takes from the overall score."""

from __future__ import annotations

import math
from collections.abc import Sequence

from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.figures.dimensions import DIMENSIONS, WEIGHTS
from agentdyno.findings.history.model_regression import Impact
from agentdyno.model.case import CaseKey
from agentdyno.model.record import AgentRecord, CaseRecord

MOST_CASES = 20
"""Cases that a finding names."""
PARTS = " · "
"""Between the names of resources that a row takes together."""
_SHARES = ("accuracy", "reliability", "error_rate")
CasePair = tuple[CaseRecord, CaseRecord]


def paired_cases(baseline: AgentRecord, candidate: AgentRecord) -> list[CasePair]:
    """The cases that both answered and that ask the same."""
    others = {case.key: case for case in candidate.cases}
    return [
        (case, other)
        for case in baseline.cases
        if (other := others.get(case.key)) is not None and other.digest == case.digest
    ]


def impact_of(row: PairedRow, pairs: Sequence[CasePair], baseline: AgentRecord, threshold: float) -> Impact:
    """Of a row for the worse. ``pairs`` are of the whole suite; a row of one benchmark takes its own."""
    own = [pair for pair in pairs if row.benchmark in ("", pair[0].benchmark)]
    # A case is hit by any loss of a score; of time and money by more than the threshold.
    least = 0.0 if row.metric in _SHARES else threshold
    hit = [(loss, pair) for pair in own if (loss := case_loss(row, *pair)) is not None and loss > least]
    hit.sort(key=lambda item: (-item[0], item[1][0].benchmark, item[1][0].case_id))
    keys = tuple(CaseKey(pair[0].benchmark, pair[0].case_id) for _, pair in hit[:MOST_CASES])
    overall = overall_loss(row, baseline)
    text = f"{len(hit)} of {len(own)} cases became worse" if hit else ""
    if hit and row.metric == "accuracy":
        broken = sum(_broke(pair, baseline) for _, pair in hit)
        text += f", {broken} of them no longer pass" if broken else ", all of them still pass"
    if overall is not None and round(100 * overall, 1) > 0:
        text += f"{'; ' if text else ''}takes {100 * overall:.1f} points of 100 from the overall score"
    return Impact(keys, overall, text)


def case_loss(row: PairedRow, before: CaseRecord, after: CaseRecord) -> float | None:
    """By how much one case became worse in the row's metric: points for scores and rates, else a share.

    Money and resources are per success; infinite where a case that succeeded no longer does.
    """
    if row.metric == "accuracy":
        return None if before.score is None or after.score is None else before.score - after.score
    if not before.tries or not after.tries:
        return None
    if row.metric == "reliability":
        return before.passed / before.tries - after.passed / after.tries
    if row.metric == "error_rate":
        return after.errors / after.tries - before.errors / before.tries
    if row.metric == "speed":
        return _growth(before.used.get("duration_s"), after.used.get("duration_s"))
    if not before.passed:
        return None
    if not after.passed:
        return math.inf  # nothing that is spent on it buys a success any more
    shares = before.tries / before.passed, after.tries / after.passed
    found = []
    for name in row.quantity.split(PARTS):
        old, new = before.used.get(name), after.used.get(name)
        growth = _growth(old * shares[0], new * shares[1]) if old is not None and new is not None else None
        if growth is not None:
            found.append(growth)
    return math.fsum(found) / len(found) if found else None


def overall_loss(row: PairedRow, baseline: AgentRecord) -> float | None:
    """What the change alone takes from the overall score of the suite, in 0..1; negative for an improvement.

    The loss of the dimension's score times its weight among the dimensions that the baseline has; of one benchmark
    the share that it has in the mean over benchmarks. ``None`` for what is no dimension and without both scores.
    """
    if row.metric not in WEIGHTS:
        return None
    before, after = row.baseline_score, row.candidate_score
    if row.metric in ("accuracy", "reliability"):  # they are their own scores
        before = row.baseline if before is None else before
        after = row.candidate if after is None else after
    if before is None or after is None:
        return None
    having = [item for item in baseline.benchmarks if item.scores.get(row.metric) is not None]
    known = {name for name in DIMENSIONS for item in baseline.benchmarks if item.scores.get(name) is not None}
    weight = WEIGHTS[row.metric] / math.fsum(WEIGHTS[name] for name in known | {row.metric})
    return weight * (before - after) / (max(1, len(having)) if row.benchmark else 1)


def _growth(before: float | None, after: float | None) -> float | None:
    if before is None or after is None:
        return None
    if before <= 0.0:
        return math.inf if after > 0.0 else 0.0
    return after / before - 1.0


def _broke(pair: CasePair, baseline: AgentRecord) -> bool:
    before, after = pair
    threshold = next((b.pass_threshold for b in baseline.benchmarks if b.benchmark_id == before.benchmark), 0.5)
    return before.score is not None and after.score is not None and after.score < threshold <= before.score
