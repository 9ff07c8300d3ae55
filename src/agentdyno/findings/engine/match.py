"""Which arms of two results belong together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

from agentdyno.errors import NotComparable
from agentdyno.findings.engine.measure_samples import SampleJudging, compare_arms, correct_family
from agentdyno.findings.figures.summarise import THROUGHPUT
from agentdyno.model import ArmComparison, ArmResult, Comparison, MetricComparison, RunResult, RunWarning, Side
from agentdyno.model.record import UNKNOWN_SPREAD, RunSpread
from agentdyno.model.result import LOAD_KIND

DURATION = "duration_s"
Spreads: TypeAlias = Callable[[ArmResult, ArmResult], RunSpread]


@dataclass(frozen=True, slots=True)
class Operand:
    """One side of a comparison: a label for people, and the arms with the result they come from.

    ``named``: the user named this very arm, so that it may be another thing than the arm on the other side.
    """

    label: str
    result: RunResult
    arms: tuple[ArmResult, ...]
    named: bool = False


def compare_sides(result: RunResult, judging: SampleJudging) -> Comparison:
    """The baseline and the candidate of a run that measured both, interleaved."""
    baseline = tuple(arm for arm in result.arms if arm.side is Side.BASELINE)
    candidate = tuple(arm for arm in result.arms if arm.side is Side.CANDIDATE)
    paired = result.spec.order.value == "interleaved"
    return compare(
        Operand(_other_side(result.spec.against), result, baseline),
        Operand("candidate", result, candidate),
        replace(judging, paired=paired),
    )


def compare_with_first(result: RunResult, judging: SampleJudging) -> Comparison:
    """Every other arm of a run against its first one, all of them judged as one family."""
    first, *others = result.arms
    judging = replace(judging, paired=result.spec.order.value == "interleaved")
    measured = [
        [row for row in compare_arms(first, other, judging) if row.metric.name != THROUGHPUT] for other in others
    ]
    rows = correct_family([row for metrics in measured for row in metrics], judging.alpha)
    arms = []
    for other, metrics in zip(others, measured, strict=True):
        own, rows = rows[: len(metrics)], rows[len(metrics) :]
        arms.append(ArmComparison(other.name, first.arm_id, other.arm_id, other.params, {}, tuple(own)))
    return Comparison(
        baseline=first.name,
        candidate=others[0].name if len(others) == 1 else "the others",
        paired=judging.paired,
        arms=tuple(arms),
        noise_floor=judging.noise_floor,
        warnings=_warnings(result, result, judging, ()),
    )


def ratios_to_first(result: RunResult) -> dict[str, MetricComparison]:
    """By arm id, how the time of every other arm compares with that of the first; nothing is corrected or judged.

    Empty where the arms did not take turns, where they are two sides, which have a comparison of their own, and of
    what another tool measured.
    """
    arms = [replace(arm, metrics={DURATION: arm.metrics[DURATION]}) for arm in result.arms if DURATION in arm.metrics]
    turns = result.spec.order.value == "interleaved" and not result.origin
    if len(arms) < 2 or not turns or any(arm.side is not None or arm.agent is not None for arm in arms):
        return {}
    first, *others = arms
    found: dict[str, MetricComparison] = {}
    for other in others:
        rows = compare_arms(first, other, SampleJudging(paired=True))
        if rows and rows[0].ratio is not None and rows[0].interval is not None:
            found[other.arm_id] = rows[0]
    return found


def _other_side(against: str | None) -> str:
    """What the baseline is, in words: ``baseline (git 1a2b3c4d5e)``."""
    kind, _, what = (against or "").partition(":")
    shown = what[:10] if kind == "git" else what.strip("{}").replace('"', "") if kind == "params" else what
    return f"baseline ({kind} {shown})" if what else "baseline"


def compare(
    baseline: Operand,
    candidate: Operand,
    judging: SampleJudging,
    spreads: Spreads = lambda _first, _second: UNKNOWN_SPREAD,
) -> Comparison:
    """Arms matched by experiment and parameters; raises ``NotComparable`` when none match.

    ``spreads`` tells of two arms what is known of the noise between their runs, nothing unless given. Where these
    are separate ones, what depends on the machine is judged against that alone. Runs of load are compared as they
    are: their windows are the units, and nothing measures two of them interleaved. What another tool measured it
    measured one after the other, which is no better than separate runs.
    """
    same_machine = baseline.result.environment.machine_id == candidate.result.environment.machine_id
    same_run = baseline.result.run_id == candidate.result.run_id
    imported = bool(baseline.result.origin)
    interleaved = baseline.result.spec.order.value == "interleaved" and not imported
    judging = replace(judging, same_machine=same_machine, paired=same_run and interleaved)
    pairs = pair_arms(baseline.arms, candidate.arms, across=baseline.named and candidate.named)
    if not pairs:
        raise NotComparable(
            f"{baseline.label} and {candidate.label} have no arm in common (same experiment, same parameters)",
            remedy="Name the arms to set side by side: `dyno compare RUN:ARM RUN:ARM`.",
        )
    apart = (not same_run or imported) and LOAD_KIND not in (baseline.result.kind, candidate.result.kind)
    matched = []
    for first, second, differing in pairs:
        own_judging, elsewhere = _on_hosts(judging, (first, baseline.result), (second, candidate.result))
        known = spreads(first, second) if spreads is not None and not elsewhere else UNKNOWN_SPREAD
        matched.append((first, second, differing, compare_arms(first, second, own_judging, known if apart else None)))
    rows = correct_family([row for *_, metrics in matched for row in metrics], judging.alpha)
    arms = []
    for first, second, differing, metrics in matched:
        own, rows = rows[: len(metrics)], rows[len(metrics) :]
        arms.append(ArmComparison(second.name, first.arm_id, second.arm_id, second.params, differing, tuple(own)))
    paired_first = {first.arm_id for first, *_ in pairs}
    paired_second = {second.arm_id for _, second, _ in pairs}
    return Comparison(
        baseline=baseline.label,
        candidate=candidate.label,
        paired=judging.paired,
        arms=tuple(arms),
        only_in_baseline=tuple(arm.name for arm in baseline.arms if arm.arm_id not in paired_first),
        only_in_candidate=tuple(arm.name for arm in candidate.arms if arm.arm_id not in paired_second),
        noise_floor=judging.noise_floor,
        warnings=_warnings(baseline.result, candidate.result, judging, arms),
    )


def _on_hosts(
    judging: SampleJudging, first: tuple[ArmResult, RunResult], second: tuple[ArmResult, RunResult]
) -> tuple[SampleJudging, bool]:
    """How two arms are judged, where runs may have several hosts; and whether one is not of its run's own."""
    own = [result.environment.host_id for _, result in (first, second)]
    hosts = [str(arm.observed.get("host_id", result.environment.host_id)) for arm, result in (first, second)]
    if hosts == own:
        return judging, False
    return replace(judging, same_machine=judging.same_machine and hosts[0] == hosts[1]), True


def pair_arms(
    baseline: Sequence[ArmResult], candidate: Sequence[ArmResult], *, across: bool = False
) -> list[tuple[ArmResult, ArmResult, dict[str, tuple[object, object]]]]:
    """Equal experiment and parameters first; what remains pairs up where the choice is unambiguous.

    It is when each side has a single arm, or when a run measured two sides and a candidate has a single nearest
    baseline (fewest differing parameters): that is how a run against other parameters is matched. Where a result
    has two sides itself, its baseline is set against a baseline and its candidate against a candidate. Two sides that
    are different experiments pair by their parameters alone; so do single arms where ``across``. Arms of agents pair
    within a benchmark, and with the agent of the same name where a side has several.
    """
    pairs: list[tuple[ArmResult, ArmResult, dict[str, tuple[object, object]]]] = []
    by_name = any(len({_agent_name(arm) for arm in arms}) > 1 for arms in (baseline, candidate))
    for second in candidate:
        ranked = [
            (_differing(arm.params, second.params), _side_rank(arm, second), arm)
            for arm in baseline
            if (arm.experiment, arm.benchmark) == (second.experiment, second.benchmark)
            and (not by_name or _agent_name(arm) == _agent_name(second))
        ]
        ranked = [row for row in ranked if row[2].agent == second.agent] or ranked
        if not ranked and (across or second.side is Side.CANDIDATE):
            others = [arm for arm in baseline if across or arm.side is Side.BASELINE]
            pairs += _paired_across(others, second)
        if not ranked:
            continue
        fewest = min(len(differing) for differing, *_ in ranked)
        nearest = [row for row in ranked if len(row[0]) == fewest]
        best = min(rank for _, rank, _ in nearest)
        differing, _, first = next(row for row in nearest if row[1] == best)
        clear = len(nearest) == 1 and (second.side is not None or len(baseline) == len(candidate) == 1)
        if fewest == 0 or clear:
            pairs.append((first, second, differing))
    return pairs


def _agent_name(arm: ArmResult) -> str:
    """Without its version; empty for what is no agent."""
    agent = arm.agent or ""
    return agent.rpartition("@")[0] or agent


def _paired_across(
    baseline: Sequence[ArmResult], second: ArmResult
) -> list[tuple[ArmResult, ArmResult, dict[str, tuple[object, object]]]]:
    """The arm of another experiment that has the same parameters, or that is the only one."""
    same = [arm for arm in baseline if not _differing(arm.params, second.params)]
    found = same if len(same) == 1 else baseline if len(baseline) == 1 else []
    return [(arm, second, {}) for arm in found]


def took_turns(first: ArmResult, second: ArmResult) -> bool:
    """Whether the samples of two arms show that these were measured in rounds: each round of both before the next."""
    rounds: dict[int, list[int]] = {}
    for arm in (first, second):
        for sample in arm.samples:
            if sample.usable:
                rounds.setdefault(sample.iteration, []).append(sample.started_at_ms)
    shared = [times for _, times in sorted(rounds.items()) if len(times) > 1]
    return len(shared) > 1 and all(max(one) <= min(other) for one, other in pairwise(shared))


def _side_rank(first: ArmResult, second: ArmResult) -> int:
    """0 for the same side; else the candidate, which is the code as it stood, before the baseline."""
    if first.side is second.side:
        return 0
    return 2 if first.side is Side.BASELINE else 1


def _differing(first: Mapping[str, object], second: Mapping[str, object]) -> dict[str, tuple[object, object]]:
    keys = sorted({*first, *second})
    return {
        key: (first.get(key), second.get(key))
        for key in keys
        if first.get(key) != second.get(key) or isinstance(first.get(key), bool) != isinstance(second.get(key), bool)
    }


def _client_limited(result: RunResult) -> bool:
    return any(warning.code == "client-limited" for warning in result.warnings)


def _how_apart(baseline: RunResult, candidate: RunResult) -> str:
    if baseline.run_id == candidate.run_id or candidate.kind == LOAD_KIND:
        return "one after the other, so drift of the machine looks like change"
    return "in separate runs: what depends on the machine is judged against the spread between runs alone"


def _warnings(
    baseline: RunResult, candidate: RunResult, judging: SampleJudging, arms: Sequence[ArmComparison]
) -> tuple[RunWarning, ...]:
    warnings = []
    if not judging.same_machine:
        warnings.append(
            RunWarning(
                "different-machines",
                "the two results come from different machines: time, CPU and memory are not judged",
                "Run both on one machine: `dyno run SPEC --against REF`.",
            )
        )
    elif not judging.paired:
        warnings.append(
            RunWarning(
                "unpaired",
                f"unpaired: the sides were measured {_how_apart(baseline, candidate)}",
                "`dyno run SPEC --against REF` measures both interleaved.",
            )
        )
    if baseline.environment.python != candidate.environment.python:
        seen = f"{baseline.environment.python} and {candidate.environment.python}"
        warnings.append(RunWarning("different-pythons", f"different Python versions: {seen}"))
    if judging.same_machine and judging.noise_floor is None:
        warnings.append(
            RunWarning(
                "not-calibrated",
                "this machine's own noise is not known; only the tolerance guards against false alarms",
                "`dyno doctor --calibrate` measures it once.",
            )
        )
    limited = [result.run_id[:13] for result in (baseline, candidate) if _client_limited(result)]
    if limited:
        warnings.append(
            RunWarning(
                "client-limited",
                f"the client was too slow in {' and '.join(dict.fromkeys(limited))}: differences may be its own",
                "Measure again with more --processes, or on a machine with free cores.",
            )
        )
    for arm in arms:
        if arm.differing and candidate.run_id != baseline.run_id:
            changes = ", ".join(f"{key}: {old!r} → {new!r}" for key, (old, new) in arm.differing.items())
            warnings.append(RunWarning("different-parameters", f"{arm.name}: the parameters differ ({changes})"))
    return tuple(warnings)
