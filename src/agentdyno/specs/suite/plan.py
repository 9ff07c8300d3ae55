"""The order of a suite's run: which agent answers which case when, with which seed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b

from agentdyno.errors import SpecError
from agentdyno.model.identity import derive_seed, suite_arm_id
from agentdyno.model.plan import Arm, Phase, Plan, Trial
from agentdyno.model.suite import AgentUse, Benchmark, Suite
from agentdyno.settings.run import MAX_TRIALS
from agentdyno.settings.suite import SUITE_WARMUP


def plan_suite(
    suite: Suite,
    agents: Sequence[tuple[AgentUse, str]],
    *,
    seed: int,
    paid: Mapping[str, bool] | None = None,
    by_case: bool = False,
) -> Plan:
    """Every trial in its order; the same suite, agents (each with its version) and seed give the same plan.

    Epoch by epoch; within an epoch the cases of all benchmarks in random order; each case is answered by all agents
    one after the other, in random order, so that drift hits all alike. A case has the same seed for every agent.
    ``paid`` says by ``name@version`` or name which agents cost money: they get no warm-ups unless the suite says so.
    With ``by_case`` all epochs of a case, or of a group of related cases, come together, so that a run that ends
    early leaves finished cases.
    """
    labels = [f"{use.name}@{version}" for use, version in agents]
    _check(suite, agents, labels)
    content = suite.digest
    arms: dict[tuple[str, str], Arm] = {}
    warmups: dict[str, int] = {}
    for benchmark in suite.benchmarks:
        for (use, _), label in zip(agents, labels, strict=True):
            arm = _arm(suite, benchmark, use, label, suite_arm_id(content, benchmark.benchmark_id, label))
            arms[benchmark.benchmark_id, label] = arm
            costs = (paid or {}).get(label, (paid or {}).get(use.name, False))
            warmups[arm.arm_id] = _warmup(suite, benchmark, costs)
    blocks = {
        item.benchmark_id: [arms[item.benchmark_id, label].arm_id for label in labels] for item in suite.benchmarks
    }
    order = _case_by_case if by_case else _epoch_by_epoch
    trials = tuple(order(suite, blocks, seed))
    return Plan(arms=_distinct(list(arms.values()), agents), trials=trials, warmups=warmups)


def epochs_of(suite: Suite, benchmark: Benchmark) -> int:
    """Repeats of each case of a benchmark: its own, else the suite's."""
    return suite.epochs if benchmark.epochs is None else benchmark.epochs


def trial_count(suite: Suite, agents: int) -> int:
    """Measured calls of a run with that many agents."""
    return agents * sum(len(item.cases) * epochs_of(suite, item) for item in suite.benchmarks)


def _check(suite: Suite, agents: Sequence[tuple[AgentUse, str]], labels: Sequence[str]) -> None:
    where = suite.source or suite.name
    if not agents:
        raise SpecError("no agent to run", where=where, remedy="Add `agents:` to the suite, or give --agent NAME.")
    for label, count in Counter(labels).items():
        if count > 1:
            raise SpecError(
                f"{label} is in the run {count} times",
                where=f"{where}: agents",
                remedy="Remove one, or give one another name; use epochs to ask more often.",
            )
    total = trial_count(suite, len(agents))
    if total > MAX_TRIALS:
        cases = sum(len(item.cases) for item in suite.benchmarks)
        raise SpecError(
            f"expected at most {MAX_TRIALS:,} calls, got {total:,} for {cases:,} cases and {len(agents)} agents",
            where=f"{where}: epochs",
            remedy="Lower the epochs, or select cases with --limit.",
        )


def _arm(suite: Suite, benchmark: Benchmark, use: AgentUse, label: str, arm_id: str) -> Arm:
    return Arm(
        arm_id=arm_id,
        name=f"{benchmark.benchmark_id} · {use.name}",
        experiment=f"{suite.suite_id}/{benchmark.benchmark_id}",
        params=dict(use.config),
        benchmark=benchmark.benchmark_id,
        agent=label,
    )


def _distinct(arms: Sequence[Arm], agents: Sequence[tuple[AgentUse, str]]) -> tuple[Arm, ...]:
    """Two versions of one agent are told apart by them."""
    names = Counter(use.name for use, _ in agents)
    return tuple(
        replace(arm, name=f"{arm.benchmark} · {arm.agent}") if names[arm.name.partition(" · ")[2]] > 1 else arm
        for arm in arms
    )


def _warmup(suite: Suite, benchmark: Benchmark, costs: bool) -> int:
    if benchmark.warmup is not None:
        return benchmark.warmup
    if suite.warmup is not None:
        return suite.warmup
    return 0 if costs else SUITE_WARMUP.default


def _case_seed(seed: int, epoch: int, case_id: str) -> int:
    """32 bits, the same for every agent; there may be a hundred thousand cases, so by plain text."""
    text = f"{seed}/{epoch}/{case_id}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=4).digest(), "big")


def _epoch_by_epoch(suite: Suite, blocks: Mapping[str, Sequence[str]], seed: int) -> Iterator[Trial]:
    rng = random.Random(derive_seed(seed, "order"))
    for epoch in range(max((epochs_of(suite, item) for item in suite.benchmarks), default=0)):
        rows = [
            (item.benchmark_id, case.id)
            for item in suite.benchmarks
            if epoch < epochs_of(suite, item)
            for case in item.cases
        ]
        rng.shuffle(rows)
        for benchmark_id, case_id in rows:
            yield from _block(blocks[benchmark_id], epoch, case_id, seed, rng)


def _case_by_case(suite: Suite, blocks: Mapping[str, Sequence[str]], seed: int) -> Iterator[Trial]:
    """Groups of cases of all benchmarks in random order; within one, epoch by epoch."""
    rng = random.Random(derive_seed(seed, "order"))
    groups: list[tuple[Benchmark, list[str]]] = []
    for item in suite.benchmarks:
        together: dict[tuple[bool, str], list[str]] = {}
        for case in item.cases:
            key = (False, case.id) if case.group is None else (True, case.group)
            together.setdefault(key, []).append(case.id)
        groups += [(item, case_ids) for case_ids in together.values()]
    rng.shuffle(groups)
    for item, case_ids in groups:
        for epoch in range(epochs_of(suite, item)):
            rng.shuffle(case_ids)
            for case_id in case_ids:
                yield from _block(blocks[item.benchmark_id], epoch, case_id, seed, rng)


def _block(arm_ids: Sequence[str], epoch: int, case_id: str, seed: int, rng: random.Random) -> Iterator[Trial]:
    """One case under every agent, in random order."""
    block = list(arm_ids)
    rng.shuffle(block)
    case_seed = _case_seed(seed, epoch, case_id)
    for arm_id in block:
        yield Trial(arm_id, Phase.MEASURED, epoch, case_id, seed=case_seed)
