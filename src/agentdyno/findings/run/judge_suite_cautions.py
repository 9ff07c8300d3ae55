"""What a reader of a suite's result should know before believing it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from agentdyno.findings.figures.cases import ArmFigures
from agentdyno.model import ArmResult, RunResult, RunWarning, Status
from agentdyno.model.identity import canonical_json

_ENOUGH_ALIKE = 5
"""Answers from which two versions that give the same ones are worth a word."""


def suite_cautions(result: RunResult, figures: Mapping[str, ArmFigures]) -> tuple[RunWarning, ...]:
    """Typed warnings about closed arms, each with its remedy."""
    arms = [arm for arm in result.arms if arm.arm_id in figures]
    found = [warning for arm in arms for warning in _arm_cautions(arm, figures[arm.arm_id])]
    return (
        *_simulated(arms, figures),
        *found,
        *_unknown_prices(arms, figures),
        *_observed_alike(arms),
        *_answered_alike(arms, figures),
    )


def _arm_cautions(arm: ArmResult, figures: ArmFigures) -> Iterator[RunWarning]:
    counted = figures.figures()
    why = f" (first: {figures.remarks.first_failure})" if figures.remarks.first_failure else ""
    errors = figures.statuses[Status.ERROR.value]
    show = "`dyno show last` lists the errors; `dyno resume RUN --retry-errors` runs those cases again."
    if not counted.samples:
        yield RunWarning("no-answers", "no case was answered", "`dyno resume RUN` runs what is missing.", arm.arm_id)
    elif errors == counted.samples:
        if arm.planned > sum(figures.statuses.values()):
            message = f"the agent was given up after {errors} errors and no answer{why}"
            yield RunWarning("given-up", message, "Try it alone: `dyno try AGENT TEXT`.", arm.arm_id)
        else:
            message = f"all {errors} executions ended in an error{why}"
            yield RunWarning("all-errors", message, "Try it alone: `dyno try AGENT TEXT`.", arm.arm_id)
    elif not counted.passed:
        message = f"none of {counted.samples} executions passed{why}"
        yield RunWarning("all-failed", message, "Check the scorer and the targets: `dyno show last`.", arm.arm_id)
    elif counted.scored < len(figures.tallies):
        message = f"scored {counted.scored} of {counted.cases} cases; {errors} executions ended in an error{why}"
        yield RunWarning("unscored", message, show, arm.arm_id)
    if figures.remarks.unscored:
        message = f"{figures.remarks.unscored} answers could not be judged"
        remedy = "`dyno rescore last` judges the stored answers again."
        yield RunWarning("not-judged", message, remedy, arm.arm_id)
    if len(figures.remarks.models) > 1:
        models = ", ".join(name for name, _ in figures.remarks.models.most_common(3))
        yield RunWarning(
            "several-models",
            f"more than one model answered: {models}",
            "Name an exact version of the model, so that the run measures one thing.",
            arm.arm_id,
        )


def _simulated(arms: Sequence[ArmResult], figures: Mapping[str, ArmFigures]) -> Iterator[RunWarning]:
    agents = dict.fromkeys(arm.agent or arm.name for arm in arms if figures[arm.arm_id].remarks.simulated)
    if agents:
        yield RunWarning(
            "simulated",
            f"answers of {', '.join(agents)} come from a simulated model: their figures measure no real one",
            "They never enter a leaderboard. Run the suite against a real model for that.",
        )


def _unknown_prices(arms: Sequence[ArmResult], figures: Mapping[str, ArmFigures]) -> Iterator[RunWarning]:
    """Once per model."""
    models: Counter[str] = Counter()
    for arm in arms:
        models.update(figures[arm.arm_id].remarks.unpriced)
    for model, times in models.items():
        yield RunWarning(
            "unknown-price",
            f"no price is known for {model}: what {times} of its answers cost is unknown",
            f"Add it to dyno.yaml under `prices:` (`{model}: {{input: …, output: …}}`, dollars per million tokens).",
        )


def _observed_alike(arms: Sequence[ArmResult]) -> Iterator[RunWarning]:
    """Agents that were asked to differ in something and reported the same of it."""
    seen: dict[str, ArmResult] = {}
    warned: set[tuple[str | None, str | None, str]] = set()
    for arm in arms:
        for name in sorted(arm.params.keys() & arm.observed.keys()):
            others = {key: value for key, value in arm.params.items() if key != name}
            key = canonical_json([arm.benchmark, name, others, arm.observed[name]])
            before = seen.setdefault(key, arm)
            pair = (before.agent, arm.agent, name)
            if before is not arm and before.params[name] != arm.params[name] and pair not in warned:
                warned.add(pair)
                yield _alike(before, arm, f"reported the same {name} ({arm.observed[name]})")


def _answered_alike(arms: Sequence[ArmResult], figures: Mapping[str, ArmFigures]) -> Iterator[RunWarning]:
    """Two versions of one agent that gave the same answer everywhere: perhaps the same code ran twice."""
    prints: defaultdict[str, dict[str, tuple[int, int]]] = defaultdict(dict)
    arm_of: dict[str, ArmResult] = {}
    for arm in arms:
        remarks = figures[arm.arm_id].remarks
        if arm.agent is not None and arm.benchmark is not None:
            prints[arm.agent][arm.benchmark] = (remarks.answers, remarks.answered)
            arm_of.setdefault(arm.agent, arm)
    agents = list(prints)
    for place, first in enumerate(agents):
        for second in agents[place + 1 :]:
            same_name = first.rpartition("@")[0] == second.rpartition("@")[0] != ""
            answered = sum(number for _, number in prints[first].values())
            if same_name and prints[first] == prints[second] and answered >= _ENOUGH_ALIKE:
                yield _alike(arm_of[first], arm_of[second], f"gave the same {answered} answers")


def _alike(first: ArmResult, second: ArmResult, how: str) -> RunWarning:
    return RunWarning(
        "identical-arms",
        f"{first.agent or first.name} and {second.agent or second.name} {how}",
        "Their difference is noise. Check that the version or the setting really takes effect.",
    )
