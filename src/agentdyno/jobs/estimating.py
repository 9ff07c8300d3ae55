"""What a run will come to, before somebody asks for it: the plan and the prices that the run itself would use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentdyno.agents.versioning import version_of
from agentdyno.jobs.catalogue import Catalogue, check_configuration
from agentdyno.jobs.submitting import RunOptions
from agentdyno.pricing import PriceBook
from agentdyno.runs.lineup import Entrant
from agentdyno.runs.suite.forecast import expect
from agentdyno.specs.suite.plan import plan_suite
from agentdyno.store import Store
from agentdyno.store.rows import ExecutionFilter

_LOOKED_AT = 20
"""Executions of the agent in the suite that tell how long a call takes."""


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """``calls`` of the agent, warm-ups included, for ``cases`` asked ``epochs`` times. ``usd`` is ``None`` where the
    agent costs money and nobody knows how much; 0 where it costs nothing. ``seconds`` rests on the agent's last
    executions of the suite, ``None`` where there are none."""

    agent: str
    calls: int
    cases: int
    epochs: int
    usd: float | None
    seconds: float | None


def estimate(
    store: Store,
    catalogue: Catalogue,
    *,
    agent: str,
    suite: str,
    configuration: Mapping[str, object],
    options: Mapping[str, object],
) -> RunEstimate:
    """Raises ``SpecError`` for what cannot be run, as ``submit`` does."""
    wanted, chosen = catalogue.find_agent(agent), catalogue.find_suite(suite)
    use = wanted.configured(check_configuration(wanted, configuration))
    loaded = RunOptions.of(options).load(chosen)
    entrant = Entrant(use, version_of(use, git=False))
    plan = plan_suite(
        loaded.suite,
        [(use, entrant.version.version)],
        seed=loaded.settings.seed,
        paid={entrant.label: wanted.paid},
    )
    workspace = catalogue.workspace
    arms = {arm.arm_id: (arm, loaded.suite.benchmark(arm.benchmark or ""), entrant) for arm in plan.arms}
    prices = PriceBook(workspace.prices, workspace.compute_price_per_cpu_hour)
    expected = expect(arms, {entrant.label: wanted.paid}, prices)
    calls = len(plan.trials) + sum(plan.warmups.values())
    each_s = _seconds_per_call(store, wanted.name, chosen.suite_id)
    return RunEstimate(
        agent=wanted.label,
        calls=calls,
        cases=sum(len(item.cases) for item in loaded.suite.benchmarks),
        epochs=loaded.suite.epochs,
        usd=expected.usd_of(plan),
        seconds=None if each_s is None else calls * each_s / loaded.suite.concurrency,
    )


def _seconds_per_call(store: Store, agent: str, suite_id: str) -> float | None:
    rows = store.boards.executions(ExecutionFilter(agent=agent, suite=suite_id), limit=_LOOKED_AT)
    known = [(row.duration_s, row.samples) for row in rows if row.duration_s is not None and row.samples]
    return sum(spent for spent, _ in known) / sum(count for _, count in known) if known else None
