"""A candidate against its baseline, by a policy: may the change pass, and which cases broke."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from agentdyno.errors import NotComparable
from agentdyno.findings.engine.judgement import judgement
from agentdyno.findings.engine.one_model import refuse_one_model
from agentdyno.findings.engine.pairing import Pairing, pair_records
from agentdyno.findings.figures.traces import SCORER
from agentdyno.findings.gate.judge_cases import SeenCases, gated_cases, judge_cases, quarantined_cases, tries_of
from agentdyno.findings.gate.judge_doubt import doubt_warnings, policies_without_blocks, without_blocks
from agentdyno.findings.gate.judge_names import NamedCases
from agentdyno.findings.gate.judge_rules import judge_rows, overall_verdict, spelled
from agentdyno.findings.gate.model import BrokenCase, GateReport, GateRow, GateVerdict, PolicyRow, Tries
from agentdyno.findings.gate.words import broke_words, deciding_words
from agentdyno.model.case import CaseKey
from agentdyno.model.form import RunWarning
from agentdyno.model.metric import format_value
from agentdyno.model.policy import AGENT_METRICS, GatePolicy, Tier
from agentdyno.model.record import UNKNOWN_SPREAD, AgentRecord, RunSpread

EXPLAINING = ("accuracy", "error_rate")
"""Shown per benchmark; these rows do not decide."""
_MOST_NAMED = 3
"""Cases that a warning names."""
_TIMES = ("speed", "duration_s", "ttft_s", "cpu_s", "efficiency", "overall")


@dataclass(frozen=True, slots=True)
class CaseKnowledge:
    """What is known of single cases beside the records: which ones the policy names, further tries of some, and why
    the model that judged them is in doubt ("": it is not, or none judged)."""

    named: NamedCases = field(default_factory=NamedCases)
    repeats: Mapping[CaseKey, Tries] = field(default_factory=dict)
    doubt: str = ""


def judge_gate(
    baseline: AgentRecord,
    candidate: AgentRecord,
    policy: GatePolicy,
    spread: RunSpread = UNKNOWN_SPREAD,
    *,
    known: CaseKnowledge | None = None,
) -> GateReport:
    """Every rule of the policy that is for agents, over the cases that both were asked in the same form.

    The rows are those of the engine's one judgement; tolerances, tiers and the stricter level come after it.
    Of the broken cases only the scores are known here. Raises ``NotComparable`` where there is no common case,
    and where both turn out to be one model.
    """
    known, asked = known or CaseKnowledge(), candidate
    baseline, candidate = (known.named.without_quarantined(record) for record in (baseline, candidate))
    pairing = _paired(baseline, candidate)
    rules = [rule for rule in policy.rules if rule.metric in AGENT_METRICS]
    judged = judgement(baseline, candidate, policy, spread)
    pairs = [(rule, judged.row(rule.metric)) for rule in rules]
    rows = tuple(
        _of_cases(row, pairing) for row in judge_rows(pairs, policy.alpha, _silent(pairing), judged.cases_needed)
    )
    rows = without_blocks(rows, known.doubt)
    explaining = [metric for metric in EXPLAINING if policy.rule(metric) is not None]
    benchmark_rows = tuple(
        judged.parts[benchmark, metric]
        for benchmark in (pairing.benchmarks if len(pairing.benchmarks) > 1 else ())
        for metric in explaining
    )
    broken, fixed = changed_cases(pairing)
    seen = SeenCases(pairing, candidate, policy, known.named, known.repeats)
    found = judge_cases(seen)
    found = replace(found, rows=policies_without_blocks(found.rows, known.doubt))
    verdict = overall_verdict((*rows, *found.rows))
    first, second = _labels(baseline, candidate)
    return GateReport(
        baseline=first,
        candidate=second,
        suite=candidate.suite_name,
        verdict=verdict,
        summary=_facts_first(verdict, found.rows, broken, _inferred(verdict, rows, broken, fixed)),
        rows=rows,
        benchmark_rows=benchmark_rows,
        broken=broken,
        fixed=fixed,
        policy=policy,
        paired=pairing.same_run,
        warnings=(*_raising(baseline), *_raising(candidate), *_warnings(pairing, rows), *doubt_warnings(known.doubt)),
        policies=found.rows,
        quarantined=quarantined_cases(known.named),
        cases=gated_cases(asked, seen, found.rows, broken),
        open_cases=found.open_cases,
    )


def _paired(baseline: AgentRecord, candidate: AgentRecord) -> Pairing:
    refuse_one_model(baseline, candidate)
    pairing = pair_records(baseline, candidate)
    if not pairing.keys:
        raise NotComparable(
            f"{baseline.agent} and {candidate.agent} have no case in common",
            where=candidate.suite_name or None,
            remedy="Run the same version of the suite for both, or export the baseline again.",
        )
    return pairing


def _facts_first(
    verdict: GateVerdict, policies: Sequence[PolicyRow], broken: Sequence[BrokenCase], inferred: str
) -> str:
    """What was seen of single cases, which rule about them decided, and then what it means for cases like them."""
    facts = broke_words([item.key for item in broken if item.steady])
    deciding = [row for row in policies if row.verdict is verdict is not GateVerdict.PASS]
    return "; ".join(filter(None, (facts, deciding_words(deciding), inferred)))


def _inferred(
    verdict: GateVerdict, rows: Sequence[GateRow], broken: Sequence[BrokenCase], fixed: Sequence[CaseKey]
) -> str:
    """What the rows say; where cases broke, of accuracy too, even if that does not decide."""
    unsteady = sum(not item.steady for item in broken)
    told = summarise(verdict, rows, unsteady, len(fixed))
    accuracy = next((row for row in rows if row.rule.metric == "accuracy"), None)
    if accuracy is None or unsteady == len(broken) or (accuracy.verdict is verdict is not GateVerdict.PASS):
        return told
    return "; ".join(filter(None, (_told(accuracy), told)))


def changed_cases(pairing: Pairing) -> tuple[tuple[BrokenCase, ...], tuple[CaseKey, ...]]:
    """Cases that only the baseline passes, and those that only the candidate does; the largest change first, before
    it those that were right in every try and are wrong in every one.

    A case without a score, because all its executions ended in errors, does not pass.
    """
    broken: list[BrokenCase] = []
    fixed: list[tuple[float, CaseKey]] = []
    thresholds = {item.benchmark_id: item.pass_threshold for item in pairing.baseline.benchmarks}
    for before, after, alike in zip(pairing.first.cases, pairing.second.cases, pairing.judged_alike, strict=True):
        known = [item.score is not None or item.errors == item.tries for item in (before, after)]
        if not alike or not all(known):
            continue
        threshold = thresholds[before.benchmark]
        passed = [item.score is not None and item.score >= threshold for item in (before, after)]
        if passed == [True, False] and before.score is not None:
            tried = tries_of(before), tries_of(after)
            broken.append(BrokenCase(before.key, before.score, after.score, before=tried[0], after=tried[1]))
        elif passed == [False, True]:
            fixed.append(((after.score or 0.0) - (before.score or 0.0), after.key))
    broken.sort(key=_place)
    fixed.sort(key=lambda item: (-item[0], item[1].benchmark, item[1].case_id))
    return tuple(broken), tuple(key for _, key in fixed)


def _place(item: BrokenCase) -> tuple[bool, float, str, str]:
    return not item.steady, (item.candidate or 0.0) - item.baseline, item.key.benchmark, item.key.case_id


def summarise(verdict: GateVerdict, rows: Sequence[GateRow], broken: int = 0, fixed: int = 0) -> str:
    """One sentence: what decided, in numbers; for a pass, what was looked at."""
    telling = [row for row in rows if row.verdict is verdict] if verdict is not GateVerdict.PASS else []
    parts = [_told(row) for row in telling[:3]]
    if len(telling) > 3:
        parts.append(f"{len(telling) - 3} more")
    if verdict is GateVerdict.PASS:
        judged = [row for row in rows if row.exceeded is not None and row.rule.tier is not Tier.ADVISORY]
        parts = [f"none of {len(judged)} judged metrics is worse" if judged else "nothing had to be judged"]
    warned = [row.rule.metric for row in rows if row.verdict is GateVerdict.WARN]
    if warned and verdict is not GateVerdict.WARN:
        parts.append(f"{', '.join(warned)} {'is' if len(warned) == 1 else 'are'} worse too")
    if broken:
        parts.append(f"{broken} {'case' if broken == 1 else 'cases'} fell below the pass threshold")
    if fixed:
        parts.append(f"{fixed} {'case' if fixed == 1 else 'cases'} fixed")
    return "; ".join(parts)


def _told(row: GateRow) -> str:
    where = f" of {row.row.benchmark}" if row.row.benchmark else ""
    if row.exceeded is None or row.row.worsening is None:
        return f"{row.rule.metric}{where}: {row.reason}"
    sides = f"{format_value(row.row.baseline, row.row.unit)} → {format_value(row.row.candidate, row.row.unit)}"
    if row.row.worsening <= 0:
        return f"{row.rule.metric}{where} {sides} is not worse"
    doubt = "" if row.significant else " and may be chance"
    return f"{row.rule.metric}{where} {sides} is worse by {spelled(row.row.worsening, row.row)}{_range(row)}{doubt}"


def _range(row: GateRow) -> str:
    """`` (95 %: 12.0 to 37.1 points worse)``, of answers; "" where there is no interval."""
    found = row.row
    if found.interval is None or found.relative or found.metric not in EXPLAINING:
        return ""
    low, high = sorted(-end if found.higher_is_better else end for end in found.interval)
    ends = (round(100 * end, 1) + 0.0 for end in (low, high))  # adding 0 makes a negative zero a plain one
    return " (95 %: {:.1f} to {:.1f} points)".format(*ends)


def _silent(pairing: Pairing) -> str:
    """Why nothing was answered, where all executions of the candidate, and not the baseline's, ended in errors."""
    tries = sum(case.tries for case in pairing.second.cases)
    answered = any(case.scored for case in pairing.first.cases)
    if not answered or any(case.errors < case.tries for case in pairing.second.cases):
        return ""
    return f"all {tries:,} executions ended in errors"


def _of_cases(row: GateRow, pairing: Pairing) -> GateRow:
    """The row of the accuracy with what it is of: all cases, or those that have a score on both sides."""
    if row.rule.metric != "accuracy":
        return row
    cases = len(pairing.keys)
    scored = int((~np.isnan(pairing.first.score) & ~np.isnan(pairing.second.score)).sum())
    told = (
        f"accuracy is of {cases:,} cases"
        if scored == cases
        else f"scored {scored:,} of {cases:,} cases on both sides"
    )
    return replace(row, reason="; ".join(filter(None, (row.reason, told))))


def _raising(record: AgentRecord) -> list[RunWarning]:
    """Which scorers raised on answers of the agent, why, and how often."""
    found = []
    for item in record.benchmarks:
        tries = sum(case.tries for case in record.cases if case.benchmark == item.benchmark_id)
        for error in item.errors:
            if error.kind != SCORER:
                continue
            what = f"{error.example or error.message} on {error.count:,} of {tries:,} answers in {item.benchmark_id}"
            cases = ", ".join(error.cases[:_MOST_NAMED])
            found.append(
                RunWarning(
                    "scorer-raised",
                    f"{record.agent}: {what}, each of which counts as 0: {cases}",
                    "Let it return 0 for what it cannot read, or raise Unscorable where the answer is not to blame.",
                )
            )
    return found


def _labels(baseline: AgentRecord, candidate: AgentRecord) -> tuple[str, str]:
    """What tells the two apart where name and version do not."""
    if baseline.agent != candidate.agent:
        return baseline.agent, candidate.agent
    if baseline.commit and candidate.commit and baseline.commit[:9] != candidate.commit[:9]:
        return f"{baseline.agent} at {baseline.commit[:9]}", f"{candidate.agent} at {candidate.commit[:9]}"
    return f"{baseline.agent} (baseline)", candidate.agent


def _warnings(pairing: Pairing, rows: Sequence[GateRow]) -> tuple[RunWarning, ...]:
    found = []
    if pairing.missed or pairing.changed:
        left = f"{pairing.missed} that only one side has and {pairing.changed} that are asked in another form"
        found.append(
            RunWarning(
                "cases-left-out",
                f"{len(pairing.keys)} common cases are judged; left out: {left}",
                "Make the baseline again with this version of the suite to judge them all.",
            )
        )
    if not pairing.judged_alike.all():
        count = int((~pairing.judged_alike).sum())
        found.append(
            RunWarning(
                "judged-otherwise", f"{count} cases are scored by other rules than the baseline's: not compared"
            )
        )
    timed = any(row.rule.metric in _TIMES and row.exceeded is not None for row in rows)
    if timed and not pairing.same_run:
        found.append(
            RunWarning(
                "unpaired",
                "the two sides were measured in different runs: times may differ for other reasons than the change",
                "`--against GITREF` measures both sides in turn.",
            )
        )
    if pairing.baseline.simulated or pairing.candidate.simulated:
        found.append(RunWarning("simulated", "values of a simulated model are among what was judged"))
    return tuple(found)
