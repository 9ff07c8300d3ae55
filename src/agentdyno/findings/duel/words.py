"""What a head-to-head comes down to, in sentences that carry their numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.engine.measure_separate import NOT_JUDGED
from agentdyno.findings.figures.normalised import IN_PLACE_OF
from agentdyno.findings.standing.model import HeadToHead
from agentdyno.model import Verdict
from agentdyno.model.case import CaseKey
from agentdyno.model.metric import format_value

_NAMES = {
    "accuracy": "accuracy",
    "speed": "time per case",
    "efficiency": "resources per success",
    "cost": "cost per case",
    "reliability": "reliability",
    "overall": "overall score",
    "duration_s": "time per case",
    "ttft_s": "time to first token",
    "cost_usd": "cost per case",
    "total_tokens": "tokens per success",
    "cpu_s": "CPU time per success",
    "duration_norm_s": "normalised time per case",
    "cpu_norm_s": "normalised CPU time per success",
    "peak_rss_bytes": "memory per success",
    "error_rate": "error rate",
    "unscored": "cases without a score",
    "pass_hat_3": "three tries in a row",
}
_LISTED = 5
_UNRELIABLE_GAP = 0.15
_MANY_ERRORS = 0.05
_BLIND_BELOW = 0.10
_DECIDED = (Verdict.BETTER, Verdict.WORSE)
_HEADLINE = ("accuracy", "error_rate", "reliability", "cost", "speed")
"""What decides a winner. The overall score and resources are shown and do not: they count the pass rate again."""
_FAMILIES = 2


def row_name(row: PairedRow) -> str:
    """What the numbers of a row are of: ``time per case``; efficiency by its one resource where it has one, and times
    that are normalised say so."""
    normalised = row.quantity in IN_PLACE_OF.values()
    if normalised or (row.metric == "efficiency" and row.quantity in _NAMES and row.quantity != row.metric):
        return _NAMES[row.quantity]
    return _NAMES.get(row.metric, row.metric)


def is_unjudged(row: PairedRow | None) -> bool:
    """Whether it is a figure of separate runs that no known noise between runs could be held against."""
    return row is not None and row.verdict is None and row.reason.startswith(NOT_JUDGED)


def change_text(row: PairedRow, value: float | None) -> str:
    """A change, or an end of its interval: ``+6.0 points``, ``+12 %``, ``-$0.002``."""
    if value is None:
        return "-"
    if row.relative:
        return f"{_plus(100 * value)} %"
    if row.unit == "ratio":
        return f"{_plus(100 * value)} points"
    return f"{'+' if value > 0 else ''}{format_value(value, row.unit)}"


def interval_text(row: PairedRow) -> str:
    """``-3.0 to +5.4``, in the unit of the change."""
    if row.interval is None:
        return ""
    texts = [change_text(row, end) for end in row.interval]
    return " to ".join(text.removesuffix(" points").removesuffix(" %") for text in texts)


def describe(row: PairedRow) -> str:
    """``accuracy +1.2 points (95 %: -3.0 to +5.4)``; 99 % where runs were tested."""
    between = interval_text(row)
    text = f"{row_name(row)} {change_text(row, row.change)}"
    return f"{text} ({100 * (1 - row.level):.0f} %: {between})" if between else text


def decide_winner(
    labels: tuple[str, str], rows: Sequence[PairedRow], flipped: tuple[int, int] = (0, 0)
) -> tuple[str | None, str]:
    """The winner's label and why, or ``None`` and why not. ``flipped`` counts the cases that only the baseline, and
    only the candidate, gets right, each in every try.

    Who is better in accuracy, reliability, cost or time and worse in none of them wins. The error rate counts
    where an execution ended in an error, for such a case has no score. A case that costs less does not count where a
    success does not. These rows are of two families, which share the level between them: a winner takes half of it.
    Nobody wins by time or money who was seen to lose cases while accuracy is not settled.
    """
    telling = [row for row in rows if row.metric in _HEADLINE and not saves_on_failures(row)]
    sure = [row for row in telling if row.verdict in _DECIDED and _decides(row)]
    ahead = [row for row in sure if row.verdict is Verdict.BETTER]
    behind = [row for row in sure if row.verdict is Verdict.WORSE]
    if ahead and behind:
        better, worse = ("; ".join(map(describe, found)) for found in (ahead, behind))
        return None, f"no winner: {labels[1]} is better in {better}; and worse in {worse}"
    if ahead or behind:
        found = "; ".join(f"{describe(row)}, {p_text(row)}" for row in ahead or behind)
        lost = flipped[0] if ahead else flipped[1]
        if lost and accuracy_is_open(rows):
            word, cases = "better" if ahead else "worse", f"{lost} {'case' if lost == 1 else 'cases'}"
            first, other = (labels[1], labels[0]) if ahead else labels
            broke = f"{first} gets {cases} wrong in every try that {other} gets right in every one"
            return None, f"no winner: {labels[1]} is {word} in {found}; but {broke}, and accuracy is not settled"
        if ahead:
            return labels[1], f"better in {found}; and worse in nothing"
        return labels[0], f"{labels[1]} is worse in {found}; and better in nothing"
    return None, f"no winner: {_undecided(telling or rows)}"


def accuracy_is_open(rows: Iterable[PairedRow]) -> bool:
    """Whether the cases are too few to say of accuracy that it changed or stayed."""
    return any(row.metric == "accuracy" and row.verdict is Verdict.INCONCLUSIVE for row in rows)


def _decides(row: PairedRow) -> bool:
    return row.adjusted_p is None or row.adjusted_p < row.level / _FAMILIES


def saves_on_failures(row: PairedRow) -> bool:
    """Whether a case costs less only because fewer are answered rightly: a success costs as much as before or more,
    or there is none any more."""
    if row.per_success is None or row.change is None or row.change >= 0.0:
        return False
    before, after = row.per_success
    return after is None or (before is not None and after >= before)


def success_text(row: PairedRow) -> str | None:
    """What a success costs on both sides, where that is more than a case does because not every one succeeds."""
    if row.per_success is None:
        return None
    sides = zip(row.per_success, (row.baseline, row.candidate), strict=True)
    if all(usd is not None and of is not None and math.isclose(usd, of) for usd, of in sides):
        return None
    first, second = ("never succeeded" if usd is None else format_value(usd, "usd") for usd in row.per_success)
    told = (
        "not less, so that what a case saves counts for nobody" if saves_on_failures(row) else "shown and not tested"
    )
    return f"A success costs {first} → {second}: cost per case over the pass rate, {told}."


def p_text(row: PairedRow) -> str:
    """``p = 0.012`` after correction where there was one."""
    p_value = row.p_value if row.adjusted_p is None else row.adjusted_p
    if p_value is None:
        return "not tested"
    # Two digits would round what is just under the level up to it.
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.{3 if 0.045 < p_value < 0.055 else 2}g}"


def recommend(
    labels: tuple[str, str], rows: Sequence[PairedRow], flips: HeadToHead, errors: tuple[float, float]
) -> tuple[str, ...]:
    """What to do about it, each with the numbers it rests on; ``errors`` are the error rates of both."""
    by_name = {row.metric: row for row in rows}
    return (
        *_broken(labels, flips),
        *_trades(labels, by_name),
        *_unreliable(labels, by_name, errors),
        *_too_few(by_name),
    )


def _undecided(rows: Sequence[PairedRow]) -> str:
    judged = [row for row in rows if row.verdict is not None]
    if not judged:
        reasons = dict.fromkeys(row.reason for row in rows if row.reason)
        return f"nothing compares ({'; '.join(reasons)})" if reasons else "nothing compares"
    nearly = [row for row in judged if row.verdict in _DECIDED and row.metric in _HEADLINE]
    if nearly:
        told = "; ".join(f"{describe(row)}, {p_text(row)}" for row in nearly)
        return f"{told}, and a winner takes p < {nearly[0].level / _FAMILIES:g}"
    open_rows = [row for row in judged if row.verdict is Verdict.INCONCLUSIVE]
    if not open_rows:
        names = ", ".join(row.metric for row in judged)
        return f"the two are the same within tolerance in {names}"
    # Accuracy is what most want to know; else what is nearest to a decision.
    first = next((row for row in open_rows if row.metric == "accuracy"), None) or min(
        open_rows, key=lambda row: row.p_value if row.p_value is not None else 2.0
    )
    text = describe(first)
    if first.more_cases is not None:
        return f"{text}, needs about {first.more_cases:,} more case{'s' * (first.more_cases != 1)}"
    return f"{text}, {first.reason}"


def _broken(labels: tuple[str, str], flips: HeadToHead) -> Iterator[str]:
    same_agent = labels[0].rpartition("@")[0] == labels[1].rpartition("@")[0] != ""
    if flips.broken:
        said = "broke" if same_agent else f"only {labels[0]} gets right"
        count = len(flips.broken)
        yield f"Look first at the {count} {_cases(count)} that {said}: {_listed(flips.broken)}."
    if flips.fixed and not same_agent:
        count = len(flips.fixed)
        yield f"{labels[1]} alone gets {count} {_cases(count)} right: {_listed(flips.fixed)}."


def _trades(labels: tuple[str, str], rows: Mapping[str, PairedRow]) -> Iterator[str]:
    accuracy = rows.get("accuracy")
    for name, more, less in (("cost", "costs", "more per case"), ("speed", "takes", "longer per case")):
        row = rows.get(name)
        if row is None or row.verdict not in _DECIDED or row.baseline is None or row.candidate is None:
            continue
        if accuracy is None or accuracy.verdict is None or row.change is None:
            continue
        dearer, cheaper = (1, 0) if row.verdict is Verdict.WORSE else (0, 1)
        values = (row.baseline, row.candidate)
        amount = row.change if dearer else 1.0 / (1.0 + row.change) - 1.0
        unit = format_value(values[dearer], row.unit), format_value(values[cheaper], row.unit)
        text = f"{labels[dearer]} {more} {100 * amount:.0f} % {less} ({unit[0]} against {unit[1]})"
        gain = (accuracy.change or 0.0) * (1 if dearer else -1)
        if accuracy.verdict in _DECIDED and gain > 0:
            yield f"{text} for {100 * gain:+.1f} points accuracy: decide whether that is worth it."
        elif accuracy.verdict in _DECIDED:
            yield f"Take {labels[cheaper]}: {text} and is {100 * -gain:.1f} points less accurate."
        elif accuracy.verdict is Verdict.SAME:
            yield f"Take {labels[cheaper]}: {text} at the same accuracy ({describe(accuracy)})."
        else:
            yield f"{text}; whether it is more accurate is not decided ({describe(accuracy)})."


def _unreliable(labels: tuple[str, str], rows: Mapping[str, PairedRow], errors: tuple[float, float]) -> Iterator[str]:
    accuracy, lasting = rows.get("accuracy"), rows.get("reliability")
    for place, label in enumerate(labels):
        rate = errors[place]
        if rate > _MANY_ERRORS:
            yield f"{label} ends in an error in {100 * rate:.0f} % of executions: repair that before all else."
            continue
        if accuracy is None or lasting is None:
            continue
        means = (accuracy.baseline, accuracy.candidate)[place], (lasting.baseline, lasting.candidate)[place]
        if means[0] is not None and means[1] is not None and means[0] - means[1] > _UNRELIABLE_GAP:
            yield (
                f"{label} is not reliable: accuracy {100 * means[0]:.0f}, "
                f"three tries in a row succeed for {100 * means[1]:.0f} of 100 cases."
            )


def _too_few(rows: Mapping[str, PairedRow]) -> Iterator[str]:
    row = rows.get("accuracy")
    if row is None or row.verdict is not Verdict.INCONCLUSIVE:
        return
    if row.detectable is None:
        yield f"{row.cases} {_cases(row.cases)} cannot show a difference of accuracy ({row.reason}); add cases."
    elif row.detectable > _BLIND_BELOW:
        text = f"{row.cases} cases show a difference of accuracy from {100 * row.detectable:.0f} points on"
        more = f": about {row.more_cases:,} more would decide" if row.more_cases is not None else ""
        yield f"{text}{more}."


def _plus(value: float) -> str:
    digits = 0 if abs(value) >= 99.95 else 1
    text = f"{value:+.{digits}f}"
    return text.replace("+0.0", "0.0") if text in ("+0.0", "-0.0") else text


def _cases(count: int) -> str:
    return "case" if count == 1 else "cases"


def _listed(keys: Sequence[CaseKey]) -> str:
    several = len({key.benchmark for key in keys}) > 1
    names = [f"{key.benchmark}/{key.case_id}" if several else key.case_id for key in keys[:_LISTED]]
    more = len(keys) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")
