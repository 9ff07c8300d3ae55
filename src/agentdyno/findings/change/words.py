"""What the changes come to, in sentences that carry their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agentdyno.findings.change.model import INCONCLUSIVE, NO_BASELINE, SAME, WORSE, ChangeRow
from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.duel.words import describe, p_text, row_name
from agentdyno.findings.engine.pairing import Pairing
from agentdyno.findings.gate.words import broke_words
from agentdyno.findings.history.model_regression import Regression
from agentdyno.model import Verdict
from agentdyno.model.case import CaseKey


def summary_text(
    verdict: str,
    rows: Sequence[PairedRow],
    telling: Sequence[PairedRow],
    flipped: tuple[int, int],
    pairing: Pairing,
) -> str:
    """One sentence with the numbers that decided. ``flipped`` counts cases that fell without being wrong in every
    try, and fixed ones."""
    against = pairing.labels[0]
    cases = f"{len(pairing.keys):,} {'case' if len(pairing.keys) == 1 else 'cases'}"
    if verdict == SAME:
        return f"No difference from {against} in {', '.join(map(row_name, telling))} over {cases}."
    if verdict == INCONCLUSIVE:
        if not telling:
            return f"Nothing compares with {against}: {rows[0].reason or 'no metric is known on both sides'}."
        told = "; ".join(f"{describe(row)}, {row.reason}" for row in telling)
        more = more_cases_of(telling)
        return f"Undecided against {against}: {told}{_about(more)}."
    told = "; ".join(f"{describe(row)}, {p_text(row)}" for row in telling)
    broken, fixed = (f"{number} {'case' if number == 1 else 'cases'}" for number in flipped)
    fell = f"{broken} fell below the pass threshold"
    flips = [text for text, number in zip((fell, f"{fixed} fixed"), flipped, strict=True) if number]
    return f"{verdict.capitalize()} than {against}: {'; '.join([told, *flips])}."


def facts_first(steady: Sequence[CaseKey], inferred: str) -> str:
    """What was seen of single cases, and then what it means for cases like them: two sentences."""
    seen = broke_words(steady)
    return f"{seen}. {inferred}" if seen else inferred


def history_beside_text(finding: Regression) -> str:
    """What all runs show and the two versions do not, which are of few of them."""
    return f"Its history is worse all the same (see alerts): {finding.explanation}"


def more_cases_of(rows: Iterable[PairedRow]) -> int | None:
    """What settles the most demanding of the inconclusive rows; ``None`` where one of them cannot say."""
    needed = [row.more_cases for row in rows if row.verdict is Verdict.INCONCLUSIVE]
    known = [cases for cases in needed if cases is not None]
    return max(known) if known and len(known) == len(needed) else None


def quiet_text(rows: Sequence[ChangeRow], days: int) -> str:
    """What to say when nothing is worse, and what would settle the rest; "" where something is worse.

    Cases of one suite settle the comparisons of all its agents, so that the most of each suite are added up.
    """
    if any(row.verdict == WORSE for row in rows):
        return ""
    if not rows:
        return f"No agent has been benchmarked in the last {days} days. `dyno run SUITE --agent AGENT` does it."
    parts = ["Nothing is worse than its baseline."]
    broke = [key for row in rows for key in row.steady_broken]
    if broke:
        parts = [f"{broke_words(broke)}. Beyond that, nothing is known to be worse than its baseline."]
    open_ones = [row for row in rows if row.verdict == INCONCLUSIVE]
    if open_ones:
        parts.append(_unsettled(open_ones))
    alone = sum(row.verdict == NO_BASELINE for row in rows)
    if alone == len(rows):
        parts = ["Nothing has a baseline yet: the next version of an agent is held against this one."]
    elif alone:
        parts.append(f"{alone} {'has' if alone == 1 else 'have'} no baseline.")
    return " ".join(parts)


def _about(more: int | None) -> str:
    return "" if more is None else f"; about {more:,} more {'case' if more == 1 else 'cases'} would settle it"


def _unsettled(rows: Sequence[ChangeRow]) -> str:
    many = len(rows)
    text = f"{many} {'comparison is' if many == 1 else 'comparisons are'} inconclusive"
    known = [row for row in rows if row.more_cases is not None]
    most: dict[str, int] = {}
    for row in known:
        most[row.suite_id] = max(most.get(row.suite_id, 0), row.more_cases or 0)
    if not known:
        return f"{text}."
    which = ("it" if many == 1 else "them") if len(known) == many else f"{len(known)} of them"
    total = sum(most.values())
    return f"{text}: about {total:,} more {'case' if total == 1 else 'cases'} would settle {which}."
