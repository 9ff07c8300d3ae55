"""What a reader of a result should know before believing it: typed warnings, each with its remedy."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from statistics import median

from agentdyno.findings.figures.cases import ArmFigures
from agentdyno.findings.figures.claims import Claims, Disturbed
from agentdyno.findings.figures.summarise import metric_values, per_process
from agentdyno.model import ArmResult, RunResult, RunWarning, Side, Status
from agentdyno.model.case import ASKED, MISSING_USAGE
from agentdyno.model.form import NOT_CREDIBLE
from agentdyno.model.identity import canonical_json
from agentdyno.model.metric import format_value, known_metric, money_spent

NOISY_MAD = 0.05
GROWTH = 0.05
_MOST_NAMED = 3
WARMING_UP = 0.02
FEWEST_OVER_TIME = 10
"""Samples from which a trend over them is looked for."""


def cautions(arms: Sequence[ArmResult], overhead_s: float | None) -> tuple[RunWarning, ...]:
    """Warnings about arms with their samples and metrics filled in."""
    found = [warning for arm in arms for warning in _arm_cautions(arm, overhead_s)]
    return (*found, *_identical_arms(arms), *_revision_not_loaded(arms))


def _arm_cautions(arm: ArmResult, overhead_s: float | None) -> Iterator[RunWarning]:
    bad = sum(count for status, count in arm.statuses.items() if status not in (Status.OK, Status.FAILED))
    if bad:
        yield RunWarning(
            "failures",
            f"{bad} of {sum(arm.statuses.values())} samples failed",
            f"`dyno show last` lists them ({_first_failure(arm)}).",
            arm.arm_id,
        )
    yield from _claims(arm, Claims.of(arm.samples))
    duration = arm.metrics.get("duration_s")
    if duration is None or duration.median is None:
        return
    if duration.ci is None:
        yield RunWarning(
            "few-samples",
            f"{duration.n} samples are too few for an interval",
            "Measure at least 6: `iterations: {measured: 10}` or --iterations 10.",
            arm.arm_id,
        )
    elif duration.mad is not None and duration.median > 0 and duration.mad / duration.median > NOISY_MAD:
        yield RunWarning(
            "noisy",
            f"typical deviation is {duration.mad / duration.median:.0%} of the median",
            "`dyno doctor` says what disturbs this machine; more iterations narrow the interval.",
            arm.arm_id,
        )
    values = metric_values(arm.samples)
    yield from _over_time(arm, values)
    loops = max((sample.inner_loops for sample in arm.samples if sample.usable), default=1)
    if overhead_s and loops == 1 and duration.median > 0 and overhead_s > 0.01 * duration.median:
        yield RunWarning(
            "overhead",
            f"the clock's own {format_value(overhead_s, 's')} are more than 1 % of a call",
            "`inner_loops: auto` times such calls in batches.",
            arm.arm_id,
        )
    disturbed = values.get("pressure.disturbed", [])
    if disturbed and sum(disturbed) > 0.1 * len(disturbed):
        yield RunWarning(
            "disturbed",
            f"the machine was disturbed during {sum(disturbed) / len(disturbed):.0%} of the samples",
            "Stop other work, or compare only what ran interleaved.",
            arm.arm_id,
        )


def _claims(arm: ArmResult, claims: Claims) -> Iterator[RunWarning]:
    """Figures that an agent, or the process that was measured, states otherwise than they were seen from outside."""
    who = arm.agent or arm.name
    for claim in claims.differing.values():
        unit = known_metric(claim.name).unit
        case = f" in case {claim.case_id}" if claim.case_id else ""
        yield RunWarning(
            f"reported-{claim.name}",
            f"{who} reports {claim.name} of {format_value(claim.reported, unit)}{case}, where "
            f"{format_value(claim.measured, unit)} were measured; {claim.times} of its executions differ so",
            "What was measured counts. Find out why the two differ before you rely on either.",
            arm.arm_id,
        )
    if claims.dropped:
        told = [
            f"{item.told} (case {item.case_id}, {_times(item.times, 'execution')})"
            for item in claims.dropped.values()
        ]
        more = f" and {len(told) - _MOST_NAMED} more" if len(told) > _MOST_NAMED else ""
        yield RunWarning(
            NOT_CREDIBLE,
            f"{who} gave {', '.join(told[:_MOST_NAMED])}{more}: that cannot be, and counts as unknown",
            "Mend what the agent says of itself; its answers are judged all the same.",
            arm.arm_id,
        )
    if claims.disturbed.executions or claims.disturbed.alone.executions:
        yield from _disturbed(arm, claims.disturbed)
    told_missing = arm.observed.get(MISSING_USAGE)
    if isinstance(told_missing, str):
        yield RunWarning(
            "usage-path",
            f"the tokens of {who} are unknown: {told_missing}",
            "Mend the path under `usage:` of the agent.",
            arm.arm_id,
        )
    if claims.unpriced:
        yield RunWarning(
            "reported-cost",
            f"only {who} itself says what it cost: {money_spent(claims.unpriced_usd)} for {claims.unpriced} answers",
            "That is shown as reported, and is no cost in scores, boards and comparisons. A price for its model "
            "under `prices:` in dyno.yaml makes it one.",
            arm.arm_id,
        )


def _disturbed(arm: ArmResult, seen: Disturbed) -> Iterator[RunWarning]:
    from agentdyno.findings.run.judge_disturbed import stood_still, stopped_alone

    if seen.executions:
        yield stood_still(arm, seen, f" ({_named(seen.cases)})" if any(seen.cases) else "")
    if seen.alone.executions:
        yield stopped_alone(arm, seen, f" ({_named(seen.alone.cases)})" if any(seen.alone.cases) else "")


def _over_time(arm: ArmResult, values: Mapping[str, list[float]]) -> Iterator[RunWarning]:
    durations = values.get("duration_s", [])
    # Each process starts small again, so that memory can grow within one process only.
    resident = max(per_process(arm.samples, "rss_bytes").values(), key=len, default=[])
    if max(len(durations), len(resident)) < FEWEST_OVER_TIME:
        return
    from agentdyno.stats import theil_sen, warmup_end

    steady = warmup_end(durations) if len(durations) >= FEWEST_OVER_TIME else 0
    # A difference that is certain and too small to matter is no reason to measure differently.
    if steady > 0 and abs(median(durations[:steady]) / median(durations[steady:]) - 1) > WARMING_UP:
        yield RunWarning(
            "still-warming-up",
            f"the first measured samples ({steady} of {len(durations)}) differ from the rest as a warm-up does",
            f"Raise iterations.warmup by {steady}.",
            arm.arm_id,
        )
    trend = theil_sen(resident) if len(resident) >= FEWEST_OVER_TIME else None
    if trend is not None and trend.is_growing:
        growth = trend.slope * (len(resident) - 1)
        if growth > max(GROWTH * resident[0], 2**20):
            yield RunWarning(
                "memory-grows",
                f"resident memory grows by {format_value(trend.slope, 'bytes')} a sample",
                "Look for a leak with `instrumentation: [tracemalloc]`.",
                arm.arm_id,
            )


def _revision_not_loaded(arms: Sequence[ArmResult]) -> Iterator[RunWarning]:
    """A baseline at another revision of which nothing was loaded: whatever ran, it was not that revision."""
    for arm in arms:
        if arm.side is Side.BASELINE and arm.observed.get("loaded_code") == "nothing":
            yield RunWarning(
                "revision-not-loaded",
                "no file of the other revision was loaded: both sides ran the code that is installed here",
                "Run the experiment from a file of the repository, so that its imports come from there too.",
                arm.arm_id,
            )


def _identical_arms(arms: Sequence[ArmResult]) -> Iterator[RunWarning]:
    """Arms that were asked to differ and were observed not to.

    A parameter that an experiment observes under its own name must be observed differently where it was asked to
    differ; the two sides of one configuration must have run different code where the code was fingerprinted.
    """
    seen: dict[str, ArmResult] = {}
    for arm in arms:
        asked = {name: arm.params[name] for name in arm.params if name in arm.observed}
        if arm.side is not None and "loaded_code" in arm.observed:
            asked["loaded_code"] = arm.side.value
        for name, value in asked.items():
            others = {key: item for key, item in arm.params.items() if key != name}
            before = seen.setdefault(canonical_json([arm.experiment, name, others, arm.observed[name]]), arm)
            same_request = before is arm or (name != "loaded_code" and before.params[name] == value)
            if not same_request:
                yield RunWarning(
                    "identical-arms",
                    f"{before.name} and {arm.name} were observed to be the same thing ({name}: {arm.observed[name]})",
                    "Their difference is noise. Check that the parameter or the revision really takes effect.",
                )


def _first_failure(arm: ArmResult) -> str:
    failure = next((sample.failure for sample in arm.samples if sample.failure is not None), None)
    lines = failure.message.strip().splitlines() if failure is not None else []
    return lines[0][:120] if lines else "no message"


"""Cases that a warning names."""
_ENOUGH_ALIKE = 5
"""Answers from which two versions that give the same ones are worth a word."""


def suite_cautions(result: RunResult, figures: Mapping[str, ArmFigures]) -> tuple[RunWarning, ...]:
    """Typed warnings about closed arms, each with its remedy."""
    arms = [arm for arm in result.arms if arm.arm_id in figures]
    found = [warning for arm in arms for warning in _suite_arm_cautions(arm, figures[arm.arm_id])]
    return (
        *_simulated(arms, figures),
        *found,
        *_unknown_prices(arms, figures),
        *_observed_alike(arms),
        *_one_model(arms, figures),
        *_answered_alike(arms, figures),
    )


def _suite_arm_cautions(arm: ArmResult, figures: ArmFigures) -> Iterator[RunWarning]:
    counted = figures.figures()
    why = f" (first: {figures.remarks.first_failure})" if figures.remarks.first_failure else ""
    errors = figures.statuses[Status.ERROR.value]
    if not counted.samples:
        yield RunWarning("no-answers", "no case was answered", "`dyno resume RUN` runs what is missing.", arm.arm_id)
    elif errors == counted.samples:
        if arm.planned > sum(figures.statuses.values()):
            message = f"the agent was given up after {errors} errors and no answer{why}"
            yield RunWarning("given-up", message, "Try it alone: `dyno try AGENT TEXT`.", arm.arm_id)
        else:
            what = "the only execution" if errors == 1 else f"all {errors} executions"
            message = f"{what} ended in an error{why}"
            yield RunWarning("all-errors", message, "Try it alone: `dyno try AGENT TEXT`.", arm.arm_id)
    elif not counted.passed:
        what = (
            "the only execution did not pass"
            if counted.samples == 1
            else f"none of {counted.samples} executions passed"
        )
        message = f"{what}{why}"
        yield RunWarning("all-failed", message, "Check the scorer and the targets: `dyno show last`.", arm.arm_id)
    elif counted.scored < len(figures.tallies):
        yield _unscored(arm, figures, why)
    yield from _claims(arm, figures.remarks.claims)
    recorded = figures.remarks.recorded
    if recorded.calls or recorded.unknown or recorded.faults:
        # Only now: most runs have no recorded calls.
        from agentdyno.findings.run.judge_calls import call_cautions

        yield from call_cautions(arm, recorded)
    yield from _scorer_cautions(arm, figures)
    if len(figures.remarks.models) > 1:
        models = ", ".join(name for name, _ in figures.remarks.models.most_common(3))
        yield RunWarning(
            "several-models",
            f"more than one model answered: {models}",
            "Name an exact version of the model, so that the run measures one thing.",
            arm.arm_id,
        )


def _unscored(arm: ArmResult, figures: ArmFigures, why: str) -> RunWarning:
    counted, errors = figures.figures(), figures.statuses[Status.ERROR.value]
    remedies = []
    reasons = []
    if errors:
        reasons.append(f"{_times(errors, 'execution')} ended in an error{why}")
        remedies.append("`dyno show last` lists the errors; `dyno resume RUN --retry-errors` runs those cases again.")
    if figures.remarks.unscored:
        reasons.append(f"{_times(figures.remarks.unscored, 'answer')} could not be judged")
        remedies.append("Accuracy is of the cases with a score alone.")
    message = f"scored {counted.scored} of {counted.cases} cases: {', '.join(reasons) or 'the others have no score'}"
    return RunWarning("unscored", message, " ".join(remedies), arm.arm_id)


def _scorer_cautions(arm: ArmResult, figures: ArmFigures) -> Iterator[RunWarning]:
    """What scorers raised on, and what they left without a verdict, each scorer by its name."""
    for tally in figures.scorers.values():
        if tally.raised:
            share, cases = f"{tally.raised:,} of {_times(tally.answers, 'answer')}", figures.in_order(tally.raised_on)
            yield RunWarning(
                "scorer-raised",
                f"{tally.why_raised} on {share}, each of which counts as 0: {_named(cases)}",
                "Let it return 0 for what it cannot read, or raise Unscorable where the answer is not to blame; "
                "`dyno rescore last` judges the stored answers again.",
                arm.arm_id,
            )
        if tally.uneven:
            yield RunWarning(
                "scorer-uneven",
                f"scorer {tally.scorer} did not give the same values for every answer ({tally.uneven})",
                "Its score is their mean: let it give all of them every time, or one that is called correctness.",
                arm.arm_id,
            )
    if figures.remarks.unscored:
        silent = [item for item in figures.scorers.values() if item.silent]
        told = "; ".join(f"{item.scorer} {item.silent:,} ({item.why_silent or 'no reason given'})" for item in silent)
        yield RunWarning(
            "not-judged",
            f"{_times(figures.remarks.unscored, 'answer')} could not be judged" + (f": {told}" if told else ""),
            "`dyno rescore last` judges the stored answers again.",
            arm.arm_id,
        )


def _times(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _named(cases: Sequence[str]) -> str:
    """The first few cases by name."""
    left = len(cases) - _MOST_NAMED
    return f"{'case' if len(cases) == 1 else 'cases'} {', '.join(cases[:_MOST_NAMED])}" + (
        f" and {left:,} more" if left > 0 else ""
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
            f"Add it to dyno.yaml under `prices:` (`{model}: {{input: …, output: …}}`, dollars per million tokens), "
            "or install the public list where it is missing: pip install 'agentdyno[prices]'.",
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


def _one_model(arms: Sequence[ArmResult], figures: Mapping[str, ArmFigures]) -> Iterator[RunWarning]:
    """Agents under two names that the same model answered; where ``model`` is a setting, that was said above."""
    if sum(ASKED in arm.observed for arm in arms) < 2:
        return
    from agentdyno.findings.engine.one_model import WHAT_TO_DO, AskedModel, one_model

    asked: dict[str, AskedModel] = {}
    for arm in arms:
        name = (arm.agent or "").rpartition("@")[0]
        answered = frozenset(figures[arm.arm_id].remarks.models) | (asked[name].answered if name in asked else set())
        asked[name] = AskedModel(name, str(arm.observed.get(ASKED, "")), answered, arm.params)
    for first, second in combinations(asked.values(), 2):
        same = one_model(first, second)
        if same and first.configuration.get("model") == second.configuration.get("model"):
            yield RunWarning("identical-arms", same, WHAT_TO_DO)


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
