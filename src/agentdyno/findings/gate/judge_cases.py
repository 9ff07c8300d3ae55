"""Rules about what was seen: least values, cases that must pass, cases that broke, quarantines.

These are facts about the cases of this run. What they mean for other cases is the part of ``judge_rules``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from agentdyno.findings.engine.measure import measure
from agentdyno.findings.engine.pairing import Pairing, pair_records
from agentdyno.findings.engine.steady import STEADY_TRIES, steady_breaks
from agentdyno.findings.gate.judge_names import NamedCases
from agentdyno.findings.gate.judge_requirements import judge_pass_rate
from agentdyno.findings.gate.model import (
    BrokenCase,
    CaseStanding,
    GatedCase,
    GateVerdict,
    PolicyRow,
    QuarantinedCase,
    Tries,
)
from agentdyno.findings.gate.words import case_names, tries_words
from agentdyno.model.case import CaseKey
from agentdyno.model.policy import GatePolicy, Quarantine
from agentdyno.model.record import AgentRecord, CaseRecord

_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class SeenCases:
    """What the rules about cases are asked of. ``candidate`` is without quarantined cases, as ``pairing`` is.

    ``repeats`` are further tries of cases in doubt. They decide whether those pass as often as required, and count
    nowhere else: only cases that failed have any.
    """

    pairing: Pairing
    candidate: AgentRecord
    policy: GatePolicy
    named: NamedCases = field(default_factory=NamedCases)
    repeats: Mapping[CaseKey, Tries] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CaseFindings:
    """What came of the rules about cases; ``open_cases`` need further tries."""

    rows: tuple[PolicyRow, ...]
    open_cases: tuple[CaseKey, ...]


def judge_cases(seen: SeenCases) -> CaseFindings:
    """Every rule about cases that the policy has, in a fixed order."""
    rows = [*expired_rows(seen.named), *_must_pass(seen), *_broken(seen)]
    required, open_cases = judge_pass_rate(seen.candidate, seen.policy, seen.repeats)
    return CaseFindings((*rows, *required, *_minima(seen)), open_cases)


def quarantined_cases(named: NamedCases) -> tuple[QuarantinedCase, ...]:
    """Those that do not block, by their names."""
    found = [QuarantinedCase(key, item.reason, item.until) for key, item in named.quarantined.items()]
    return tuple(sorted(found, key=lambda item: (item.key.benchmark, item.key.case_id)))


def tries_of(case: CaseRecord) -> Tries:
    return Tries(case.passed, case.tries)


def gated_cases(
    whole: AgentRecord, seen: SeenCases, rows: Sequence[PolicyRow], broken: Sequence[BrokenCase]
) -> tuple[GatedCase, ...]:
    """Every case that the candidate was asked, quarantined ones too."""
    before = {case.key: tries_of(case) for case in seen.pairing.first.cases}
    fallen = {item.key: item for item in broken}
    refused: dict[CaseKey, str] = {}
    for row in rows:
        if row.verdict is GateVerdict.BLOCK:
            for key in row.cases:
                refused.setdefault(key, row.rule)
    thresholds = {item.benchmark_id: item.pass_threshold for item in whole.benchmarks}
    found = []
    for case in whole.cases:
        again = seen.repeats.get(case.key, Tries())
        now = Tries(case.passed + again.passed, case.tries + again.tries)
        old = before.get(case.key, Tries())
        passes = case.score is not None and case.score >= thresholds[case.benchmark]
        item, held = fallen.get(case.key), seen.named.quarantined.get(case.key)
        standing = CaseStanding.PASSING if passes else CaseStanding.FAILING
        if held is not None:
            standing = CaseStanding.QUARANTINED
        elif case.key in refused:
            standing = CaseStanding.REFUSED
        elif item is not None:
            standing = CaseStanding.BROKEN if item.steady else CaseStanding.WORSE
        found.append(GatedCase(case.key, old, now, standing, _told(old, now, held, refused.get(case.key, ""))))
    return tuple(found)


def _told(before: Tries, now: Tries, held: Quarantine | None, rule: str) -> str:
    told = f"right in {tries_words(now)}"
    if before.tries:
        told = f"{told}, before in {tries_words(before)}"
    if held is not None:
        return f"quarantined until {held.until}: {held.reason}; {told}"
    return f"{rule}: {told}" if rule else told


def expired_rows(named: NamedCases) -> tuple[PolicyRow, ...]:
    """A row that blocks for each quarantine whose last day is over."""
    told = "mend the case, or give the quarantine another day"
    return tuple(
        PolicyRow(
            "quarantine",
            f"until {item.until}",
            "expired",
            GateVerdict.BLOCK,
            f"the quarantine of {item.case} ended on {item.until} ({item.reason}): {told}",
        )
        for item in named.expired
    )


def _must_pass(seen: SeenCases) -> Iterator[PolicyRow]:
    if not seen.policy.cases.must_pass:
        return
    wanted = seen.named.must_pass - seen.named.quarantined.keys()
    known = {case.key: case for case in seen.candidate.cases if case.tries}
    order = sorted(wanted, key=lambda key: (key.benchmark, key.case_id))
    wrong = tuple(key for key in order if key in known and known[key].passed < known[key].tries)
    missing = tuple(key for key in order if key not in known)
    asked, count = "right in every try", len(wanted)
    if wrong:
        first = known[wrong[0]]
        shown = f"right in {tries_words(tries_of(first))}"
        reason = f"must pass and does not: {case_names(wrong)} ({wrong[0].case_id}: {shown})"
        yield PolicyRow("must_pass", asked, f"{len(wrong)} of {count} not", GateVerdict.BLOCK, reason, wrong)
    elif missing:
        reason = f"must pass and was not asked: {case_names(missing)}"
        yield PolicyRow("must_pass", asked, "not asked", GateVerdict.INCONCLUSIVE, reason, missing)
    else:
        reason = f"all {count} are right in every try" if count else "none of these cases is in this suite"
        yield PolicyRow("must_pass", asked, f"{count} of {count}", GateVerdict.PASS, reason)


def _broken(seen: SeenCases) -> Iterator[PolicyRow]:
    most = seen.policy.cases.max_broken
    if most is None:
        return
    steady = steady_breaks(seen.pairing, STEADY_TRIES)
    hasty = tuple(key for key in steady_breaks(seen.pairing) if key not in steady)
    asked, found = f"at most {most:,}", f"{len(steady):,}"
    if len(steady) > most:
        reason = f"at most {most:,} may break, and {len(steady):,} did: {case_names(steady)}"
        yield PolicyRow("max_broken", asked, found, GateVerdict.BLOCK, reason, steady)
    elif len(steady) + len(hasty) > most:
        reason = (
            f"{len(hasty):,} more were right and are wrong, in fewer than {STEADY_TRIES} tries a side: "
            f"{case_names(hasty)}; `epochs: {STEADY_TRIES}` or more, on both sides, tells"
        )
        yield PolicyRow("max_broken", asked, found, GateVerdict.INCONCLUSIVE, reason, hasty)
    else:
        reason = f"broke, as many as may be: {case_names(steady)}" if steady else "no case broke"
        yield PolicyRow("max_broken", asked, found, GateVerdict.PASS, reason, steady)


def _minima(seen: SeenCases) -> Iterator[PolicyRow]:
    alone = pair_records(seen.candidate, seen.candidate) if seen.policy.cases.minimum else None
    for metric, least in seen.policy.cases.minimum.items():
        assert alone is not None
        row = measure(alone, metric).row
        value = row.candidate if row.candidate_score is None else row.candidate_score
        unanswered = _unanswered(seen.candidate) if metric == "accuracy" else 0
        if unanswered:
            value = _accuracy_of_all(seen.candidate)
        rule, asked = f"minimum {metric}", f"at least {least:g}"
        if value is None:
            reason = f"{metric} is not known: {row.reason or 'too few tries'}"
            yield PolicyRow(rule, asked, "not known", GateVerdict.INCONCLUSIVE, reason)
            continue
        met = value >= least - _TINY
        # Rows are over all cases together; a score of the suite, which a board shows, is the mean over benchmarks.
        of = f", the mean over {len(alone.benchmarks)} benchmarks," if len(alone.benchmarks) > 1 else ""
        reason = f"{metric}{of} is {value:.3f}" + (f", at least {least:g} is asked for" if not met else "")
        if unanswered:
            reason += f"; cases that ended in an error count as wrong: {unanswered:,}"
        yield PolicyRow(rule, asked, f"{value:.3f}", GateVerdict.PASS if met else GateVerdict.BLOCK, reason)


def _unanswered(record: AgentRecord) -> int:
    """Cases of which every try ended in an error: they have no score."""
    return sum(map(_is_unanswered, record.cases))


def _is_unanswered(case: CaseRecord) -> bool:
    return case.score is None and case.errors == case.tries > 0


def _accuracy_of_all(record: AgentRecord) -> float:
    """The mean over benchmarks, as of every score, where a case that ended in an error is a wrong one: what is asked
    for is asked of every case."""
    scores: dict[str, list[float]] = {}
    for case in record.cases:
        if case.score is not None or _is_unanswered(case):
            scores.setdefault(case.benchmark, []).append(case.score or 0.0)
    return math.fsum(math.fsum(own) / len(own) for own in scores.values()) / len(scores)
