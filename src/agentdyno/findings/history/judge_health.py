"""From single findings to one statement: how an agent is, and what to do.

**Health** is 100 less what the standing regressions take:

=========  ======
critical   50
high       25
medium     10
low        4
=========  ======

An unconfirmed one takes half. Of several that tell about one dimension (accuracy in the suite and in one of its
benchmarks, ``duration_s`` and speed), the one that takes most counts in full and each other one by a quarter: they
are seldom independent. Health never goes below 0, and improvements do not raise it: they do not make good what became
worse.

**Action** goes by the worst of the standing regressions that are confirmed:

=======================  ===============================================
critical, confirmed      do not release, go back to the baseline
high, confirmed          hold the release until it is explained or fixed
medium, confirmed        look into it before the release
low, confirmed           go on, and watch it
unconfirmed ones only    run again before deciding
none                     nothing to do
=======================  ===============================================
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from agentdyno.findings.engine.severity import RANKS, dimension_of
from agentdyno.findings.history.model_regression import Detector, Regression, RegressionReport, Severity
from agentdyno.model.form import RunWarning

_TAKES = {Severity.CRITICAL: 50.0, Severity.HIGH: 25.0, Severity.MEDIUM: 10.0, Severity.LOW: 4.0}
_AGAIN = 0.25
_ACTIONS = {
    Severity.CRITICAL: "Do not release; go back to the baseline",
    Severity.HIGH: "Hold the release until this is explained or fixed",
    Severity.MEDIUM: "Look into it before the release",
    Severity.LOW: "Go on, and watch it",
}
_NAMED = 3
NOT_JUDGED = "Nothing could be judged yet: there is no version to compare with, and too short a history."


def health(regressions: Iterable[Regression]) -> int:
    """0..100 by the rules above. More or worse regressions never raise it."""
    taken: dict[str, list[float]] = {}
    for item in regressions:
        if not item.improvement and item.undone_at is None:
            takes = _TAKES[item.severity] * (1.0 if item.confirmed else 0.5)
            taken.setdefault(dimension_of(item.metric), []).append(takes)
    lost = math.fsum(max(own) + _AGAIN * (math.fsum(own) - max(own)) for own in taken.values())
    return max(0, math.floor(100.0 - lost))


def recommended_action(regressions: Iterable[Regression]) -> str:
    """What to do, with the finding that it rests on."""
    standing = sorted_worst([item for item in regressions if not item.improvement and item.undone_at is None])
    if not standing:
        return "Nothing to do: nothing became worse beyond threshold and chance."
    worst = next((item for item in standing if item.confirmed), standing[0])
    place = f" in {worst.benchmark or worst.category}" if worst.benchmark or worst.category else ""
    cause = f"{worst.metric}{place}, {worst.severity.value}"
    if not worst.confirmed:
        return f"Run again before deciding: {cause}, rests on few points that later ones may withdraw."
    cases = ", ".join(key.case_id for key in worst.impact.cases[:_NAMED])
    return f"{_ACTIONS[worst.severity]}: {cause}.{f' Start with {cases}.' if cases else ''}"


def regression_report(
    agent: str,
    baseline: str,
    current: str,
    regressions: Sequence[Regression],
    improvements: Sequence[Regression],
    *,
    suite: str = "",
    warnings: Sequence[RunWarning] = (),
    judged: bool = True,
) -> RegressionReport:
    """The findings of all detectors as one report, each change named once and the worst first.

    A history that shows the same dimension of the same benchmark as a version against its baseline is told in the
    latter's explanation, and confirms it; a drift takes the place of the steps that it was taken for. What a later
    change took back is no regression any more: a warning names it.
    """
    standing = [item for item in regressions if item.undone_at is None]
    merged = sorted_worst(merge(standing))
    kept = sorted_worst(merge([item for item in improvements if item.undone_at is None]))
    undone = [item for item in regressions if item.undone_at is not None]
    notes = list(warnings)
    if undone:
        names = ", ".join(dict.fromkeys(_name(item) for item in undone))
        count = f"{len(undone)} earlier {'regression was' if len(undone) == 1 else 'regressions were'}"
        notes.append(RunWarning("undone", f"{count} taken back by a later change: {names}"))
    return RegressionReport(
        agent=agent,
        baseline=baseline,
        current=current,
        regressions=tuple(merged),
        improvements=tuple(kept),
        health=health(merged) if judged else None,
        action=recommended_action(merged) if judged else NOT_JUDGED,
        suite=suite,
        warnings=tuple(notes),
    )


def merge(findings: Sequence[Regression]) -> list[Regression]:
    """Each change once, in the order given: see ``regression_report``."""
    drifts = [item for item in findings if item.kind == "drift"]
    rest = [item for item in findings if not any(_shows(line, item) for line in drifts)]
    versions = [item for item in rest if item.detector is Detector.VERSION]
    told: dict[int, list[Regression]] = {}
    left = []
    for item in rest:
        partner = _partner(item, versions) if item.detector is Detector.HISTORY else None
        if partner is None:
            left.append(item)
        else:
            told.setdefault(partner, []).append(item)
    places = {id(item): place for place, item in enumerate(versions)}
    return [_with_history(item, told.get(places.get(id(item), -1), [])) for item in left]


def sorted_worst(findings: Iterable[Regression]) -> list[Regression]:
    """The worst first; of equal severity the confirmed, those against a baseline, the larger by its threshold."""
    return sorted(
        findings,
        key=lambda item: (
            -RANKS[item.severity],
            not item.confirmed,
            item.detector is not Detector.VERSION,
            -abs(item.amount) / max(item.threshold, 0.01),
            item.benchmark,
            item.metric,
        ),
    )


def _shows(line: Regression, step: Regression) -> bool:
    """Whether a drift tells the same as a step of the same series."""
    return (
        step.kind == "step"
        and (line.metric, line.benchmark, line.improvement) == (step.metric, step.benchmark, step.improvement)
        and (line.since or 0) <= (step.since or 0)
    )


def _partner(step: Regression, versions: Sequence[Regression]) -> int | None:
    """The place of the version's finding of the same metric, else of the same dimension, in the same benchmark."""
    own = [
        place
        for place, item in enumerate(versions)
        if item.benchmark == step.benchmark and dimension_of(item.metric) == dimension_of(step.metric)
    ]
    return min(own, key=lambda place: versions[place].metric != step.metric, default=None)


def _with_history(item: Regression, steps: Sequence[Regression]) -> Regression:
    if not steps:
        return item
    texts = "; ".join(step.explanation for step in steps)
    return replace(
        item,
        explanation=f"{item.explanation}. The history shows it too: {texts}",
        confirmed=item.confirmed or any(step.confirmed for step in steps),
        since=min(
            [since for since in (item.since, *(step.since for step in steps)) if since is not None], default=None
        ),
    )


def _name(item: Regression) -> str:
    return f"{item.metric} in {item.benchmark}" if item.benchmark else item.metric
