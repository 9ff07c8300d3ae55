"""Agents side by side: of the store, of one run, or of two. ``policy`` is the project's, whose families correct."""

from __future__ import annotations

from collections.abc import Sequence

from agentdyno.errors import NotComparable, StoreError
from agentdyno.findings.comparison.ask import Results
from agentdyno.findings.comparison.ask_result import is_file
from agentdyno.findings.conclusions import Conclusions
from agentdyno.findings.duel.judge import all_against_all, duel
from agentdyno.findings.duel.model import AllAgainstAll, Duel
from agentdyno.findings.engine.match import Operand
from agentdyno.findings.figures.cases import ArmFigures
from agentdyno.findings.record.ask import Records
from agentdyno.findings.record.ask_labels import is_agent
from agentdyno.findings.record.ask_spread import RecordSpreads, known_spread
from agentdyno.findings.record.judge import record_of
from agentdyno.findings.reliability.judge import reliabilities
from agentdyno.findings.run.ask import figures_for
from agentdyno.model import RunResult, Side
from agentdyno.model.naming import shown_agent
from agentdyno.model.policy import DEFAULT_POLICY, GatePolicy
from agentdyno.model.record import AgentRecord
from agentdyno.store import Store


def compare_agents(
    store: Store, agents: Sequence[str], suite: str | None = None, policy: GatePolicy = DEFAULT_POLICY
) -> Conclusions:
    """Two agents head to head (the first is the baseline), or three and more all against all.

    Each is an agent of the store, or each one of a run: ``RUN:AGENT``.
    """
    known = store.boards.agents()
    if not any(is_agent(known, agent) for agent in agents) and all(_is_of_a_run(store, agent) for agent in agents):
        results = Results(lambda: store)
        return compare_named([results.operand(agent) for agent in agents], store, policy)
    return concluded(Records(store).together(agents, suite), store, policy)


def _is_of_a_run(store: Store, text: str) -> bool:
    run, colon, _ = text.partition(":")
    if not colon:
        return False
    try:
        return is_file(run) or bool(store.runs.find(run))
    except StoreError:
        return False


def compare_runs(
    baseline: RunResult, candidate: RunResult, store: Store | None, policy: GatePolicy = DEFAULT_POLICY
) -> Conclusions:
    """The agents that two runs of suites share by name, each against itself; with one agent each, those two."""
    before, after = (_records(result, store) for result in (baseline, candidate))
    if len(before) == 1 and len(after) == 1:
        return concluded([before[0], after[0]], store, policy)
    named = {record.name: record for record in before}
    pairs = [(named[record.name], record) for record in after if record.name in named]
    if not pairs:
        raise NotComparable(
            f"no agent is in both runs: {', '.join(named)} and {', '.join(record.name for record in after)}",
            remedy="Name the agents instead: dyno compare AGENT AGENT.",
        )
    found = tuple(duel_of(pair, store, policy) for pair in pairs)
    return Conclusions(duels=found, records=tuple(record for pair in pairs for record in pair))


def compare_named(
    operands: Sequence[Operand], store: Store | None, policy: GatePolicy = DEFAULT_POLICY
) -> Conclusions:
    """Agents of runs of suites, of one run or of several, on the benchmarks that are named."""
    return concluded([_named_record(operand, store) for operand in operands], store, policy)


def compare_sides(result: RunResult, store: Store | None, policy: GatePolicy = DEFAULT_POLICY) -> Conclusions | None:
    """Baseline and candidate of a run that has two sides; ``None`` for another run."""
    sides = {arm.agent: arm.side for arm in result.arms if arm.agent and arm.side}
    if set(sides.values()) != {Side.BASELINE, Side.CANDIDATE}:
        return None
    records = _records(result, store)
    old = [record for record in records if sides.get(record.arm_agent) is Side.BASELINE]
    new = [record for record in records if sides.get(record.arm_agent) is Side.CANDIDATE]
    named = {record.name: record for record in old}
    pairs = [(named.get(record.name, old[0]), record) for record in new]
    found = tuple(duel_of(pair, store, policy) for pair in pairs)
    return Conclusions(duels=found, records=tuple(records))


def concluded(
    records: Sequence[AgentRecord], store: Store | None = None, policy: GatePolicy = DEFAULT_POLICY
) -> Conclusions:
    """The comparison of these records, with how far each agent can be relied on."""
    relied = tuple(reliabilities(records))
    if len(records) == 2:
        return Conclusions(duels=(duel_of(records, store, policy),), reliabilities=relied, records=tuple(records))
    found = tournament_of(records, store, policy)
    return Conclusions(tournaments=(found,), reliabilities=relied, records=tuple(records))


def duel_of(records: Sequence[AgentRecord], store: Store | None, policy: GatePolicy = DEFAULT_POLICY) -> Duel:
    """Two agents, with what the store knows of the noise between their runs."""
    first, second = records
    return duel(first, second, policy=policy, spread=known_spread(store, first, second))


def tournament_of(
    records: Sequence[AgentRecord], store: Store | None, policy: GatePolicy = DEFAULT_POLICY
) -> AllAgainstAll:
    """Three agents and more, with what the store knows of the noise between their runs."""
    return all_against_all(records, policy=policy, spreads=RecordSpreads(store))


def _named_record(operand: Operand, store: Store | None) -> AgentRecord:
    if operand.result.suite is None:
        raise NotComparable(
            f"{operand.label} is no agent on a suite", remedy="Compare arms by twos: RUN:ARM RUN:ARM."
        )
    agents = list(dict.fromkeys(arm.agent for arm in operand.arms if arm.agent))
    if len(agents) != 1:
        shown = "; ".join(shown_agent(operand.result.suite, agent) for agent in agents)
        raise NotComparable(f"{operand.label} has {len(agents)} agents", remedy=f"Say which, as RUN:AGENT: {shown}")
    named = {arm.arm_id for arm in operand.arms}
    figures = _figures(operand.result, store)
    return record_of(operand.result, {key: own for key, own in figures.items() if key in named}, agents[0])


def _records(result: RunResult, store: Store | None) -> list[AgentRecord]:
    figures = _figures(result, store)
    labels = dict.fromkeys(arm.agent for arm in result.arms if arm.agent)
    return [record_of(result, figures, label) for label in labels]


def _figures(result: RunResult, store: Store | None) -> dict[str, ArmFigures]:
    """By arm id; raises ``NotComparable`` where the samples are not at hand."""
    figures = figures_for(result, store)
    for arm in result.arms:
        if arm.agent and arm.arm_id not in figures and len(arm.samples) < arm.samples_total:
            raise NotComparable(
                f"the result of run {result.run_id[:13]} holds {len(arm.samples)} of {arm.samples_total} samples of "
                f"{arm.agent}, too few to tell case by case",
                remedy="Compare where its store is: dyno compare RUN RUN.",
            )
    return figures
