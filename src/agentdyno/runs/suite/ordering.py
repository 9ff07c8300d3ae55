"""What the machines of a cluster are told about a suite."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agentdyno.agents.references import locate
from agentdyno.agents.versioning import files_of
from agentdyno.errors import SpecError
from agentdyno.runs.cluster.files import ShippedFiles
from agentdyno.runs.cluster.order import OrderedAgent, OrderedArm, WorkOrder, is_local
from agentdyno.runs.lineup import Entrant
from agentdyno.runs.suite.prepare import PreparedSuite


def suite_order(prepared: PreparedSuite, run_id: str) -> tuple[WorkOrder, ShippedFiles]:
    """Raises ``SpecError`` for what only this machine has."""
    _refuse_local(prepared)
    places: dict[tuple[str, int | None], int] = {}
    agents: list[OrderedAgent] = []
    arms: dict[str, OrderedArm] = {}
    for arm in prepared.plan.arms:
        entrant, job = prepared.entrants[arm.arm_id], prepared.jobs[arm.arm_id]
        limit = job.constraints.memory_limit_bytes
        place = places.setdefault((entrant.label, limit), len(agents))
        if place == len(agents):
            folder = str(Path(entrant.use.base_dir).resolve())
            use = replace(entrant.use, version=entrant.version.version, base_dir=folder)
            agents.append(OrderedAgent(use, limit, entrant.launch))
        arms[arm.arm_id] = OrderedArm(place, arm.benchmark or "", job.constraints, job.warmup)
    conduct = prepared.conduct
    order = WorkOrder(
        run_id,
        arms,
        tuple(agents),
        {item.benchmark_id: item.cases for item in prepared.suite.benchmarks},
        conduct.concurrency,
        conduct.retries,
        conduct.patience_s,
    )
    return order, ShippedFiles.of(path for item in agents for path in files_of(locate(item.use)) if is_local(path))


def _refuse_local(prepared: PreparedSuite) -> None:
    for entrant in prepared.entrants.values():
        problem = _only_here(entrant)
        if problem:
            raise SpecError(
                f"{entrant.use.name} {problem}", where="--executor", remedy="Run it here: `--executor local`."
            )
    if prepared.tracing is not None:
        raise SpecError(
            "traces are received on this machine alone", where="--executor", remedy="Leave out --otel, or --executor."
        )


def _only_here(entrant: Entrant) -> str:
    if entrant.target is not None:
        return "is a function of this very program, which no other machine has"
    if entrant.wants_local_model:
        return "asks the bundled model, which is served on this machine alone"
    return ""
