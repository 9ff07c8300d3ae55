"""The order of a run: which arm runs when, with which seed, in which fresh process."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from agentdyno.errors import SpecError
from agentdyno.model.form import RunWarning
from agentdyno.model.identity import canonical_json, derive_seed
from agentdyno.model.plan import Arm, Phase, Plan, Trial
from agentdyno.model.spec import Isolation, Iterations, Order, Spec
from agentdyno.settings.run import MAX_TRIALS
from agentdyno.specs.experiment.arms import distinct_names

MAX_LIVE_ARMS = 32
"""Arms that are interleaved with each other when each keeps a process alive."""


def make_plan(spec: Spec, arms: Sequence[tuple[Arm, Iterations]], instruments: Sequence[str]) -> Plan:
    """Every trial of a run in its order; the same spec, arms and seed give the same plan.

    Measured trials come first, in blocks with each arm once, shuffled anew for each iteration (or arm after arm
    when the order is sequential). Then each perturbing instrument of ``instruments`` gets passes of its own. The
    same iteration has the same seed in every arm.
    """
    counts = {arm.arm_id: iterations for arm, iterations in arms}
    _check(spec, arms, instruments)
    named = distinct_names([arm for arm, _ in arms])
    groups = _groups(spec, named)
    trials = [trial for group in groups for trial in _measured(spec, group, counts)]
    trials += [trial for group in groups for trial in _instrumented(spec, group, counts, instruments)]
    warmups = {arm.arm_id: counts[arm.arm_id].warmup for arm in named}
    return Plan(arms=tuple(named), trials=tuple(trials), warmups=warmups)


def plan_groups(plan: Plan) -> list[tuple[str, ...]]:
    """The arm ids that are interleaved with each other, in the order in which the groups run."""
    groups: list[dict[str, None]] = []
    last = -1
    for trial in plan.trials:
        if trial.phase is not Phase.MEASURED:
            continue
        if not groups or trial.iteration < last:
            groups.append({})
        groups[-1][trial.arm_id] = None
        last = trial.iteration
    return [tuple(group) for group in groups]


def interleaving_warning(plan: Plan) -> RunWarning | None:
    """Says that arms of different groups did not run side by side, where there are several groups."""
    groups = plan_groups(plan)
    order = [trial.arm_id for trial in plan.trials if trial.phase is Phase.MEASURED]
    one_after_the_other = sum(a != b for a, b in pairwise(order)) == len(set(order)) - 1
    if len(groups) < 2 or one_after_the_other:
        return None
    return RunWarning(
        code="interleaved_in_groups",
        message=(
            f"{len(plan.arms)} arms are interleaved in {len(groups)} groups of at most {MAX_LIVE_ARMS}: "
            "arms of different groups do not run side by side, so that drift of the machine may tell them apart"
        ),
        remedy=f"Sweep at most {MAX_LIVE_ARMS} combinations in one run, or use `isolation: inline`.",
    )


def planned(iterations: Iterations) -> int:
    """Measured iterations that are planned: the most there can be when they stop by themselves."""
    return iterations.auto.maximum if iterations.auto is not None else iterations.measured


def _check(spec: Spec, arms: Sequence[tuple[Arm, Iterations]], instruments: Sequence[str]) -> None:
    for arm_id, count in Counter(arm.arm_id for arm, _ in arms).items():
        if count > 1:
            arm = next(arm for arm, _ in arms if arm.arm_id == arm_id)
            raise SpecError(
                f"{arm.name} is in the run {count} times with the same parameters",
                where=f"{spec.source}: experiments",
                remedy="Remove one, or give them different parameters; use iterations to measure more often.",
            )
    total = sum(planned(item) + item.instrumented * len(instruments) for _, item in arms)
    if total > MAX_TRIALS:
        raise SpecError(
            f"expected at most {MAX_TRIALS:,} trials, got {total:,} for {len(arms)} arms",
            where=f"{spec.source}: iterations",
            remedy="Lower the iterations, or sweep fewer values.",
        )


def _groups(spec: Spec, arms: Sequence[Arm]) -> list[list[Arm]]:
    """Arms to interleave with each other; both sides of one configuration share a group."""
    if spec.order is Order.SEQUENTIAL:
        return [[arm] for arm in arms]
    if len(arms) <= MAX_LIVE_ARMS or spec.isolation is not Isolation.PROCESS:
        return [list(arms)]
    units: dict[str, list[Arm]] = {}
    for arm in arms:
        units.setdefault(canonical_json([arm.experiment, dict(arm.params)]), []).append(arm)
    shuffled = list(units.values())
    random.Random(derive_seed(spec.seed, "groups")).shuffle(shuffled)
    groups: list[list[Arm]] = [[] for _ in range(-(-len(arms) // MAX_LIVE_ARMS))]
    for unit in sorted(shuffled, key=len, reverse=True):  # pairs before single arms, so that no group overflows
        min(groups, key=len).extend(unit)
    return groups


def _measured(spec: Spec, group: Sequence[Arm], counts: Mapping[str, Iterations]) -> Iterator[Trial]:
    rng = random.Random(derive_seed(spec.seed, "order", [arm.arm_id for arm in group]))
    for iteration in range(max((planned(counts[arm.arm_id]) for arm in group), default=0)):
        block = [arm for arm in group if iteration < planned(counts[arm.arm_id])]
        rng.shuffle(block)
        seed = derive_seed(spec.seed, Phase.MEASURED, iteration, "")
        for arm in block:
            process = _process(spec.processes or 1, iteration, counts[arm.arm_id])
            yield Trial(arm.arm_id, Phase.MEASURED, iteration, seed=seed, process=process)


def _process(processes: int, iteration: int, iterations: Iterations) -> int:
    """With automatic stopping the first ``minimum`` iterations spread over all processes: more may not come."""
    spread = iterations.auto.minimum if iterations.auto is not None else iterations.measured
    return min(processes - 1, iteration * processes // spread)


def _instrumented(
    spec: Spec, group: Sequence[Arm], counts: Mapping[str, Iterations], instruments: Sequence[str]
) -> Iterator[Trial]:
    for name in dict.fromkeys(instruments):
        for iteration in range(max((counts[arm.arm_id].instrumented for arm in group), default=0)):
            seed = derive_seed(spec.seed, Phase.INSTRUMENTED, iteration, "")
            for arm in group:
                mine = counts[arm.arm_id]
                if iteration < mine.instrumented:
                    last = _process(spec.processes or 1, planned(mine) - 1, mine)
                    yield Trial(arm.arm_id, Phase.INSTRUMENTED, iteration, instrument=name, seed=seed, process=last)
